// Gzip'd files are found by content, read whole, and refused when damaged.
#include <zlib.h>

#include "support/read_text.h"

namespace m4n::detail {
namespace {

std::string gzip(const std::string& text) {
  z_stream zip{};
  EXPECT_EQ(deflateInit2(&zip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&zip, text.size()) + 64, '\0');
  zip.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  zip.avail_in = static_cast<uInt>(text.size());
  zip.next_out = reinterpret_cast<Bytef*>(packed.data());
  zip.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&zip, Z_FINISH), Z_STREAM_END);
  packed.resize(zip.total_out);
  deflateEnd(&zip);
  return packed;
}

// Text that packs neither very well nor very badly, larger than every buffer of the reader.
std::string long_table(std::size_t rows) {
  std::string text = "a,b,label\n";
  unsigned state = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    state = state * 1664525U + 1013904223U;
    text += std::to_string(state >> 8) + "," + std::to_string(i) + ",k" + std::to_string(i % 5) + "\n";
  }
  return text;
}

TEST(Gzip, ReadsWhatWasPacked) {
  const std::string text = long_table(200000), packed = gzip(text);
  ASSERT_GT(text.size(), std::size_t{1} << 21);
  ASSERT_GT(packed.size(), std::size_t{1} << 19);
  EXPECT_EQ(dense(read_text(packed)).values, dense(read_text(text)).values);
  EXPECT_EQ(read_text(packed).target, read_text(text).target);
  const TemporaryFile file(packed);  // no .gz in its name
  EXPECT_EQ(dense(read_table(file.path(), {}, Truth::required)).values, dense(read_text(text)).values);
}

TEST(Gzip, ReadsConcatenatedMembers) {
  const std::string text = long_table(1000);
  for (const std::size_t cut : {std::size_t{0}, std::size_t{3}, text.size() / 2, text.size()}) {
    const std::string packed = gzip(text.substr(0, cut)) + gzip(text.substr(cut));
    EXPECT_EQ(dense(read_text(packed)).values, dense(read_text(text)).values) << cut;
  }
}

TEST(Gzip, RefusesEveryTruncation) {
  const std::string packed = gzip("a,b,label\n1,2,x\n3,4,y\n5,6,z\n");
  for (std::size_t size = 2; size < packed.size(); ++size)
    expect_says(refusal_of(packed.substr(0, size)), {"file", "gzip data end too early"});
}

TEST(Gzip, RefusesDamage) {
  std::string packed = gzip("a,b,label\n1,2,x\n3,4,y\n");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // in the CRC
  expect_says(refusal_of(packed), {"damaged gzip data"});
  expect_says(refusal_of(gzip("a,label\n1,2\n") + "garbage"), {"damaged gzip data"});
}

TEST(Gzip, AnEmptyMemberIsAnEmptyFile) { expect_says(refusal_of(gzip("")), {"empty"}); }

}  // namespace
}  // namespace m4n::detail
