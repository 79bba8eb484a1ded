// A solver's dual point handed on from one fit to the next (WarmStart in m4n/context.h).
#pragma once
#include <any>
#include <utility>

#include "m4n/context.h"

namespace m4n::detail {

// The point that an earlier fit of the same kind left; null: there is none.
template <class Dual>
const Dual* earlier_point(const Context& context) {
  return context.start ? std::any_cast<Dual>(&context.start->point) : nullptr;
}

// Leaves the point for the next fit, where one is asked for.
template <class Dual>
void leave_point(Dual dual, const Context& context) {
  if (context.start) context.start->point = std::move(dual);
}

}  // namespace m4n::detail
