// CRC-64/XZ against its published check value and against the bit-by-bit definition.
#include "core/checksum.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace m4n::detail {
namespace {

std::uint64_t one_bit_at_a_time(std::string_view bytes) {
  std::uint64_t rest = ~std::uint64_t{0};
  for (const char c : bytes)
    for (unsigned bit = 0; bit < 8; ++bit) {
      const std::uint64_t in = (static_cast<unsigned char>(c) >> bit) & 1U;
      rest = ((rest ^ in) & 1) != 0 ? (rest >> 1) ^ 0xC96C5795D7870F42 : rest >> 1;
    }
  return ~rest;
}

TEST(Checksum, HasThePublishedCheckValue) {
  EXPECT_EQ(crc64(std::string_view("123456789")), 0x995DC9BBDF1939FA);
  EXPECT_EQ(crc64({}), 0U);
}

TEST(Checksum, IsTheBitwiseDefinitionAtEveryLength) {
  std::mt19937 random(1);
  std::string bytes;
  for (int length = 0; length < 70; ++length) {
    EXPECT_EQ(crc64(bytes), one_bit_at_a_time(bytes)) << length;
    bytes.push_back(static_cast<char>(random()));
  }
}

TEST(Checksum, Continues) {
  const std::string_view bytes = "the quick brown fox jumps over the lazy dog";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut)
    EXPECT_EQ(crc64(bytes.substr(cut), crc64(bytes.substr(0, cut))), crc64(bytes));
}

}  // namespace
}  // namespace m4n::detail
