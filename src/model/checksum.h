// CRC-64/XZ: the remainder of the bytes, read as a polynomial over GF(2), modulo the ECMA-182 polynomial. It finds
// every damage that lies within 64 consecutive bits (so any changed byte), and any other with probability
// 1 - 2^-64. It guards against accidents, not against forgery. About one table look-up a byte, eight at a time.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace m4n::detail {

// crc64("123456789") = 0x995DC9BBDF1939FA. `before` continues: crc64(b, crc64(a)) = crc64(a followed by b).
std::uint64_t crc64(std::span<const char> bytes, std::uint64_t before = 0);

// Of numbers, in memory order, as text: to compare settings by.
std::string checksum_text(std::span<const double> values, std::uint64_t before = 0);

}  // namespace m4n::detail
