// JSON values kept by nlohmann's library (json.h).
#include "core/json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace m4n::detail {

using Tree = nlohmann::ordered_json;

struct Json::Value {
  Tree tree;
};

namespace {

std::string dumped(const Tree& tree, int indent) {
  return tree.dump(indent, ' ', false, Tree::error_handler_t::replace);
}

}  // namespace

Json::Json(std::unique_ptr<Value> value) : value_(std::move(value)) {}
Json::Json(std::nullptr_t) : value_(std::make_unique<Value>()) {}
Json::Json(const char* text) : value_(new Value{text}) {}
Json::Json(std::string_view text) : value_(new Value{text}) {}
Json::Json(const std::string& text) : value_(new Value{text}) {}
Json::Json(std::span<const double> values) : value_(new Value{values}) {}
Json::Json(std::span<const std::int32_t> values) : value_(new Value{values}) {}
Json::Json(std::span<const std::uint64_t> values) : value_(new Value{values}) {}
Json::Json(std::span<const std::string> values) : value_(new Value{values}) {}
Json::Json(const Json& other) : value_(std::make_unique<Value>(*other.value_)) {}
Json::Json(Json&& other) noexcept : value_(std::move(other.value_)) {}
Json& Json::operator=(Json other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}
Json::~Json() = default;

Json Json::from_bool(bool value) { return Json(std::make_unique<Value>(Value{value})); }
Json Json::from_signed(std::int64_t value) { return Json(std::make_unique<Value>(Value{value})); }
Json Json::from_unsigned(std::uint64_t value) { return Json(std::make_unique<Value>(Value{value})); }
Json Json::from_real(double value) { return Json(std::make_unique<Value>(Value{value})); }

Json Json::array() { return Json(std::make_unique<Value>(Value{Tree::array()})); }

Json Json::object(std::initializer_list<Member> members) {
  Json out(std::make_unique<Value>(Value{Tree::object()}));
  for (const Member& member : members) out.set(member.key, member.value);
  return out;
}

Json& Json::set(std::string_view key, Json value) {
  value_->tree[std::string(key)] = std::move(value.value_->tree);
  return *this;
}

Json& Json::push(Json value) {
  value_->tree.push_back(std::move(value.value_->tree));
  return *this;
}

std::size_t Json::size() const { return value_->tree.size(); }
std::string Json::text() const { return dumped(value_->tree, -1); }
std::string Json::pretty() const { return dumped(value_->tree, 1); }

}  // namespace m4n::detail
