// Bytes of model files: their checksum, and numbers in little-endian order.
//
// CRC-64/XZ: the remainder of the bytes, read as a polynomial over GF(2), modulo the ECMA-182 polynomial. It finds
// every damage that lies within 64 consecutive bits (so any changed byte), and any other with probability
// 1 - 2^-64. It guards against accidents, not against forgery. About one table look-up per byte, eight at a time.
#pragma once
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace m4n::detail {

// crc64("123456789") = 0x995DC9BBDF1939FA. `before` continues: crc64(b, crc64(a)) = crc64(a followed by b).
std::uint64_t crc64(std::span<const char> bytes, std::uint64_t before = 0);

// What crc64 takes of numbers in memory.
template <class Number>
std::span<const char> bytes_of(std::span<Number> numbers) {
  static_assert(std::has_unique_object_representations_v<std::remove_const_t<Number>>);
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// Of numbers, in memory order, as text: to compare settings by.
std::string checksum_text(std::span<const double> values, std::uint64_t before = 0);

// Numbers as little-endian bytes, on every machine.

template <std::unsigned_integral Number>
Number read_little_endian(std::span<const char, sizeof(Number)> bytes) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(value | static_cast<Number>(static_cast<unsigned char>(bytes[i])) << (8 * i));
  return value;
}

template <std::unsigned_integral Number>
void append_little_endian(std::string* out, Number value) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) out->push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
}

// The bits of a real number.
template <std::floating_point Real>
using BitsOf = std::conditional_t<sizeof(Real) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;

template <std::floating_point Real>
void append_little_endian(std::string* out, std::span<const Real> values) {
  if (values.empty()) return;
  if constexpr (std::endian::native == std::endian::little) {
    out->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  } else {
    for (const Real value : values) append_little_endian(out, std::bit_cast<BitsOf<Real>>(value));
  }
}

// bytes.size() must be a multiple of the size of a Real.
template <std::floating_point Real>
std::vector<Real> read_little_endian_reals(std::span<const char> bytes) {
  std::vector<Real> values(bytes.size() / sizeof(Real));
  if (values.empty()) return values;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::bit_cast<Real>(
          read_little_endian<BitsOf<Real>>(bytes.subspan(sizeof(Real) * i).template first<sizeof(Real)>()));
  }
  return values;
}

}  // namespace m4n::detail
