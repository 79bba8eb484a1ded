// JSON text, put together value by value. Keys stay in the order in which they were set; numbers read back exactly;
// bytes that are no UTF-8 are replaced. A thin cover over nlohmann's library, whose header is a second of compiling:
// only json.cc and the files that read JSON include it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace m4n::detail {

class Json {
 public:
  struct Member;

  Json(std::nullptr_t = nullptr);  // NOLINT(google-explicit-constructor): values are JSON, here and below
  template <class Number>
  requires std::is_arithmetic_v<Number> Json(Number value)  // NOLINT(google-explicit-constructor)
      : Json(from(value)) {}
  Json(const char* text);                       // NOLINT(google-explicit-constructor)
  Json(std::string_view text);                  // NOLINT(google-explicit-constructor)
  Json(const std::string& text);                // NOLINT(google-explicit-constructor)
  Json(std::span<const double> values);         // NOLINT(google-explicit-constructor)
  Json(std::span<const std::int32_t> values);   // NOLINT(google-explicit-constructor)
  Json(std::span<const std::uint64_t> values);  // NOLINT(google-explicit-constructor)
  Json(std::span<const std::string> values);    // NOLINT(google-explicit-constructor)
  template <class T>
  Json(const std::vector<T>& values)  // NOLINT(google-explicit-constructor)
      : Json(std::span<const T>(values)) {}
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json array();
  static Json object(std::initializer_list<Member> members = {});
  // Values by rows of `columns` as a list of rows.
  template <class T>
  static Json rows(std::span<const T> values, std::size_t columns) {
    Json out = array();
    for (std::size_t first = 0; columns > 0 && first + columns <= values.size(); first += columns)
      out.push(Json(values.subspan(first, columns)));
    return out;
  }

  Json& set(std::string_view key, Json value);
  Json& push(Json value);
  std::size_t size() const;

  std::string text() const;    // on one line
  std::string pretty() const;  // a line per value

 private:
  struct Value;
  explicit Json(std::unique_ptr<Value> value);
  static Json from_bool(bool value);
  static Json from_signed(std::int64_t value);
  static Json from_unsigned(std::uint64_t value);
  static Json from_real(double value);
  template <class Number>
  static Json from(Number value) {
    if constexpr (std::is_same_v<Number, bool>)
      return from_bool(value);
    else if constexpr (std::is_floating_point_v<Number>)
      return from_real(value);
    else if constexpr (std::is_signed_v<Number>)
      return from_signed(value);
    else
      return from_unsigned(value);
  }
  std::unique_ptr<Value> value_;
};

struct Json::Member {
  std::string_view key;
  Json value;
};

}  // namespace m4n::detail
