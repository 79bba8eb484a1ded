// CRC-64/XZ, eight bytes per step. Bits are reflected (the first bit of a byte is its least significant one), the
// register starts as all ones and is inverted at the end.
//
// table[0][b] is the register after the byte b alone; table[j][b] the same followed by j zero bytes. The CRC is
// linear, so eight bytes advance the register by the xor of eight look-ups, one for each byte's distance to the end.
#include "core/checksum.h"

#include <fmt/format.h>
#include <array>
#include <cstddef>

namespace m4n::detail {

namespace {

constexpr std::uint64_t reflected_polynomial = 0xC96C5795D7870F42;
using Tables = std::array<std::array<std::uint64_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables table{};
  for (std::uint64_t byte = 0; byte < 256; ++byte) {
    std::uint64_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? reflected_polynomial : 0);
    table[0][byte] = rest;
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t zeros = 1; zeros < 8; ++zeros) {
      const std::uint64_t shorter = table[zeros - 1][byte];
      table[zeros][byte] = (shorter >> 8) ^ table[0][shorter & 0xFF];
    }
  return table;
}

constexpr Tables crc_table = make_tables();

}  // namespace

std::uint64_t crc64(std::span<const char> bytes, std::uint64_t before) {
  const auto at = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])); };
  std::uint64_t rest = ~before;
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t j = 0; j < 8; ++j) word |= at(i + j) << (8 * j);
    word ^= rest;
    rest = 0;
    for (std::size_t j = 0; j < 8; ++j) rest ^= crc_table[7 - j][(word >> (8 * j)) & 0xFF];
  }
  for (; i < bytes.size(); ++i) rest = (rest >> 8) ^ crc_table[0][(rest ^ at(i)) & 0xFF];
  return ~rest;
}

std::string checksum_text(std::span<const double> values, std::uint64_t before) {
  // NOLINTNEXTLINE(*-reinterpret-cast): bytes
  return fmt::format("{:016x}", crc64({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, before));
}

}  // namespace m4n::detail
