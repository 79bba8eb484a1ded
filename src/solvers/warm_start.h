// A solver's dual point handed on from one fit to the next (WarmStart in m4n/context.h), in memory or from a
// checkpoint.
#pragma once
#include <any>
#include <memory>
#include <string>
#include <utility>

#include "core/archive.h"
#include "m4n/context.h"

namespace m4n::detail {

// A dual point as a checkpoint holds it.
struct SavedPoint {
  std::string bytes, file;
};

// The point that an earlier fit of the same kind left; null: there is none.
template <class Dual>
std::shared_ptr<const Dual> earlier_point(const Context& context) {
  if (!context.start) return nullptr;
  if (const auto* saved = std::any_cast<SavedPoint>(&context.start->point)) {
    auto out = std::make_shared<Dual>();
    StateLoader load(saved->bytes, saved->file);
    load(*out);
    return out;
  }
  // It lives as long as `start` does.
  return {context.start, std::any_cast<Dual>(&context.start->point)};
}

// Leaves the point for the next fit, where one is asked for.
template <class Dual>
void leave_point(Dual dual, const Context& context) {
  if (context.start) context.start->point = std::move(dual);
}

}  // namespace m4n::detail
