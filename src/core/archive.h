// What a computation knows, to bytes and back. A class names its members once for both directions:
//
//   template <class Archive>
//   void archive(Archive& a) { a(weights_, order_, rng_); }
//
// Numbers and plain structs go as they lie in memory, vectors behind their length, optionals behind a flag. So the
// bytes are for the machine and the version that wrote them. Whoever reads them has checked them against damage before;
// what does not fit is an Error all the same:
//
//   a.fixed(weights_)      as long as it is now
//   a.expect(condition)    of what was read: places and lengths that would lead out of memory
//
// A vector never takes more memory than the bytes that are left can fill.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/message.h"

namespace m4n::detail {

namespace archives {

template <class T>
inline constexpr bool is_sequence = false;
template <class T, class A>
inline constexpr bool is_sequence<std::vector<T, A>> = true;
template <class T>
inline constexpr bool is_sequence<std::deque<T>> = true;
template <>
inline constexpr bool is_sequence<std::string> = true;

template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// Lies in one piece, and means the same wherever it lies.
template <class T>
inline constexpr bool is_plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>;
template <class T>
inline constexpr bool is_plain<std::span<T>> = false;

}  // namespace archives

// Whether all are places in something of that length.
inline bool all_below(std::size_t length, std::span<const std::uint32_t> places) {
  return std::all_of(places.begin(), places.end(), [&](std::uint32_t place) { return place < length; });
}

class StateSaver {
 public:
  static constexpr bool loading = false;
  using Sink = std::function<void(std::span<const char>)>;
  explicit StateSaver(Sink sink) : sink_(std::move(sink)) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  template <class... T>
  void fixed(T&... values) {
    (one(values), ...);
  }
  void expect(bool /*fits*/) const {}

 private:
  template <class T>
  void one(T& x) {
    using namespace archives;
    if constexpr (requires { x.archive(*this); }) {
      x.archive(*this);
    } else if constexpr (is_sequence<T>) {
      std::uint64_t size = x.size();
      one(size);
      if constexpr (requires { x.data(); } && is_plain<typename T::value_type>) {
        sink_({reinterpret_cast<const char*>(x.data()), x.size() * sizeof(typename T::value_type)});
      } else {
        for (auto& item : x) one(item);
      }
    } else if constexpr (is_pair<T>) {
      (*this)(x.first, x.second);
    } else if constexpr (is_optional<T>) {
      std::uint8_t there = x.has_value() ? 1 : 0;
      one(there);
      if (x) one(*x);
    } else {
      static_assert(is_plain<T>, "name its members in archive()");
      sink_({reinterpret_cast<const char*>(&x), sizeof x});
    }
  }

  Sink sink_;
};

class StateLoader {
 public:
  static constexpr bool loading = true;
  // `name` stands in messages.
  StateLoader(std::span<const char> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  template <class... T>
  void fixed(T&... values) {
    (one_fixed(values), ...);
  }
  void expect(bool fits) const {
    if (!fits) misfit();
  }
  // How much was read.
  std::size_t position() const { return position_; }
  [[noreturn]] void misfit() const {
    throw Error(say("{}: it does not fit these data and options; => start without it", name_));
  }

 private:
  std::span<const char> take(std::size_t count) {
    if (count > bytes_.size() - position_) misfit();
    return bytes_.subspan(std::exchange(position_, position_ + count), count);
  }
  template <class T>
  void one_fixed(T& x) {
    if constexpr (archives::is_sequence<T>) {
      const std::size_t size = x.size();
      one(x);
      expect(x.size() == size);
    } else {
      one(x);
    }
  }
  template <class T>
  void one(T& x) {
    using namespace archives;
    if constexpr (requires { x.archive(*this); }) {
      x.archive(*this);
    } else if constexpr (is_sequence<T>) {
      using Item = typename T::value_type;
      constexpr bool in_one_piece = requires { x.data(); }
      &&is_plain<Item>;
      std::uint64_t size = 0;
      one(size);
      expect(size <= (bytes_.size() - position_) / (in_one_piece ? sizeof(Item) : 1));
      if constexpr (in_one_piece) {
        x.resize(size);
        const std::span<const char> from = take(size * sizeof(Item));
        std::copy(from.begin(), from.end(), reinterpret_cast<char*>(x.data()));
      } else if constexpr (std::is_default_constructible_v<Item>) {
        // One by one: an item may take more memory than its bytes here.
        x.resize(std::min<std::size_t>(size, x.size()));
        for (auto& item : x) one(item);
        while (x.size() < size) one(x.emplace_back());
      } else {
        expect(size == x.size());
        for (auto& item : x) one(item);
      }
    } else if constexpr (is_pair<T>) {
      (*this)(x.first, x.second);
    } else if constexpr (is_optional<T>) {
      bool there = false;
      one(there);
      if (!there) {
        x.reset();
        return;
      }
      if constexpr (std::is_default_constructible_v<typename T::value_type>) {
        if (!x) x.emplace();
      } else if (!x) {
        misfit();
      }
      one(*x);
    } else if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      one(byte);
      expect(byte <= 1);
      x = byte == 1;
    } else {
      static_assert(is_plain<T>, "name its members in archive()");
      const std::span<const char> from = take(sizeof x);
      std::memcpy(&x, from.data(), sizeof x);
    }
  }

  std::span<const char> bytes_;
  std::size_t position_ = 0;
  std::string name_;
};

}  // namespace m4n::detail
