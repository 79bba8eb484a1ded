// Products of neighbouring pixels.
#include "features/pixel_products.h"

#include <rapidcheck.h>

#include <map>

#include "core/rng.h"
#include "support/read_text.h"

namespace m4n::detail {
namespace {

using testing::ElementsAre;

TEST(PixelProducts, TwoByThree) {
  const PixelGrid grid{2, 3};
  const std::vector<double> pixels{1, 2, 3, 5, 7, 11};
  EXPECT_EQ(grid.columns(), 6U + 4 + 3 + 4);
  std::vector<double> out(grid.columns());
  pixel_products(grid, pixels, out);
  EXPECT_THAT(out, ElementsAre(1, 2, 3, 5, 7, 11,  //
                               2, 6, 35, 77,       // right
                               5, 14, 33,          // below
                               7, 22,              // to the right and below
                               10, 21));           // to the left and below
}

TEST(PixelProducts, NamesTellThePixels) {
  const PixelGrid grid{2, 3};
  EXPECT_EQ(grid.name(0), "1");
  EXPECT_EQ(grid.name(5), "6");
  EXPECT_EQ(grid.name(6), "1*2");
  EXPECT_EQ(grid.name(16), "3*5");
}

TEST(PixelProducts, SixteenByEight) { EXPECT_EQ((PixelGrid{16, 8}).columns(), 570U); }

// Every pair of pixels whose rows and columns differ by at most one occurs exactly once: with distinct primes as pixels
// the products tell the pairs.
TEST(PixelProducts, EveryPairOfNeighboursOnce) {
  for (const PixelGrid grid : {PixelGrid{1, 1}, PixelGrid{1, 5}, PixelGrid{5, 1}, PixelGrid{2, 2}, PixelGrid{4, 3}}) {
    std::vector<double> primes;
    for (int p = 2; primes.size() < grid.pixels(); ++p) {
      bool prime = true;
      for (int q = 2; q * q <= p; ++q) prime = prime && p % q != 0;
      if (prime) primes.push_back(p);
    }
    std::map<double, int> expected, found;
    for (std::size_t a = 0; a < grid.pixels(); ++a)
      for (std::size_t b = a + 1; b < grid.pixels(); ++b) {
        const auto apart = [](std::size_t u, std::size_t v) { return u < v ? v - u : u - v; };
        if (apart(a / grid.width, b / grid.width) <= 1 && apart(a % grid.width, b % grid.width) <= 1)
          ++expected[primes[a] * primes[b]];
      }
    std::vector<double> out(grid.columns());
    pixel_products(grid, primes, out);
    for (std::size_t c = grid.pixels(); c < out.size(); ++c) ++found[out[c]];
    EXPECT_EQ(found, expected) << grid.height << "x" << grid.width;
  }
}

TEST(PixelProducts, SparseIsDenseWithoutZeros) {
  Rng rng(1);
  const PixelGrid grid{4, 5};
  DenseMatrix pixels{7, 20, std::vector<double>(140)};
  for (double& p : pixels.values) p = rng.uniform() < 0.5 ? 0 : rng.normal();
  DenseMatrix dense_rows{7, grid.columns(), std::vector<double>(7 * grid.columns())};
  for (std::size_t i = 0; i < 7; ++i)
    pixel_products(grid, pixels.view().row(i),
                   std::span(dense_rows.values).subspan(i * dense_rows.cols, dense_rows.cols));
  const SparseMatrix sparse_rows = with_pixel_products(grid, pixels.view());
  ASSERT_EQ(sparse_rows.rows, 7U);
  ASSERT_EQ(sparse_rows.cols, grid.columns());
  DenseMatrix back{7, grid.columns(), std::vector<double>(7 * grid.columns())};
  for (std::size_t i = 0; i < 7; ++i) {
    const SparseRow row = sparse_rows.view().row(i);
    for (std::size_t e = 0; e < row.column.size(); ++e) {
      EXPECT_NE(row.value[e], 0);
      if (e > 0) {
        EXPECT_LT(row.column[e - 1], row.column[e]);
      }
      back.values[i * back.cols + row.column[e]] = row.value[e];
    }
  }
  EXPECT_EQ(back.values, dense_rows.values);
}

TEST(PixelProducts, GridsAreChecked) {
  const PixelGrid grid = PixelGrid::parse("16x8");
  EXPECT_EQ(grid.height, 16U);
  EXPECT_EQ(grid.width, 8U);
  grid.check(128, "file");
  expect_says(refusal([&] { grid.check(64, "file"); }), {"file: 64 pixels", "16x8", "128"});
  for (const std::string bad : {"", "16", "16x", "x8", "16X8", "0x8", "16x0", "-1x8", "16x8x1", "16 x 8", "99999x1",
                                "99999999999999999999999x1"})
    expect_says(refusal<UsageError>([&] { PixelGrid::parse(bad); }), {"--pixel-products '" + bad + "'", "16x8"});
}

}  // namespace
}  // namespace m4n::detail
