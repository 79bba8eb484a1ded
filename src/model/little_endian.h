// Numbers as little-endian bytes, on every machine.
#pragma once
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace m4n {

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

inline void append_little_endian(std::string* out, std::span<const double> values) {
  if (values.empty()) return;
  if constexpr (std::endian::native == std::endian::little) {
    out->append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  } else {
    for (const double value : values) append_little_endian(out, std::bit_cast<std::uint64_t>(value));
  }
}

// bytes.size() must be a multiple of 8.
inline std::vector<double> read_little_endian_doubles(std::span<const char> bytes) {
  std::vector<double> values(bytes.size() / sizeof(double));
  if (values.empty()) return values;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::bit_cast<double>(read_little_endian<std::uint64_t>(bytes.subspan(8 * i).first<8>()));
  }
  return values;
}

}  // namespace m4n
