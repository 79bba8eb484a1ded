#include "features/standardize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/random_dataset.h"

namespace m4n::detail {
namespace {

TEST(Standardize, DenseColumnsGetMeanZeroAndVarianceOne) {
  Rng rng(1);
  Dataset data = test::random_dataset(rng, 50, 4, 2);
  auto& x = std::get<DenseMatrix>(data.x);
  for (std::size_t i = 0; i < 50; ++i) {
    x.values[i * 4 + 1] = 1e9 + x.values[i * 4 + 1];  // small spread on a large offset
    x.values[i * 4 + 2] = 7;                          // constant
    x.values[i * 4 + 3] *= 1e200;                     // whose square overflows
  }
  const Standardizer s = fit_standardizer(x.view(), {});
  apply_in_place(s, data.x);
  for (std::size_t j = 0; j < 4; ++j) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < 50; ++i) {
      mean += x.values[i * 4 + j] / 50;
      square += x.values[i * 4 + j] * x.values[i * 4 + j] / 50;
    }
    EXPECT_NEAR(mean, 0, 1e-6);
    EXPECT_NEAR(square, j == 2 ? 0 : 1, 1e-6);
  }
}

TEST(Standardize, SparseColumnsAreScaledOnly) {
  Rng rng(2);
  const Dataset data = test::random_dataset(rng, 60, 3, 2);
  const auto& dense = std::get<DenseMatrix>(data.x);
  Features sparse = test::to_sparse(dense);
  const Standardizer a = fit_standardizer(dense.view(), {}), b = fit_standardizer(view(sparse), {});
  EXPECT_TRUE(b.mean.empty());
  ASSERT_EQ(a.inverse_scale.size(), b.inverse_scale.size());
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(a.inverse_scale[j], b.inverse_scale[j], 1e-12 * a.inverse_scale[j]);
  const std::size_t entries = std::get<SparseMatrix>(sparse).value.size();
  apply_in_place(b, sparse);
  EXPECT_EQ(std::get<SparseMatrix>(sparse).value.size(), entries);
}

// Whatever the parts: of one row, with columns of which a part has no entries, of very different sizes.
TEST(Standardize, PartsTogetherAreTheWhole) {
  Rng rng(5);
  Dataset data = test::random_dataset(rng, 60, 4, 2);
  auto& x = std::get<DenseMatrix>(data.x);
  std::vector<double> weight;
  for (std::size_t i = 0; i < 60; ++i) {
    x.values[i * 4 + 1] *= i < 20 ? 1e-8 : 1e8;
    x.values[i * 4 + 2] = 0.1;
    if (i < 20) x.values[i * 4 + 3] = 0;
    weight.push_back(rng.uniform(0.1, 5));
  }
  const SparseMatrix sparse = test::to_sparse(x);
  const std::size_t ends[] = {0, 20, 21, 60};
  const auto expect_same = [&](const FeaturesView& whole, auto&& part_of) {
    std::vector<ColumnMoments> parts;
    for (std::size_t c = 0; c < 3; ++c)
      parts.push_back(
          column_moments(part_of(ends[c], ends[c + 1]), std::span(weight).subspan(ends[c], ends[c + 1] - ends[c])));
    const Standardizer a = fit_standardizer(whole, weight), b = standardizer_of(merged(parts));
    ASSERT_EQ(a.mean.size(), b.mean.size());
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(b.inverse_scale[j], a.inverse_scale[j], 1e-12 * a.inverse_scale[j]);
      if (!a.mean.empty()) {
        EXPECT_NEAR(b.mean[j] * a.inverse_scale[j], a.mean[j] * a.inverse_scale[j], 1e-12);
      }
    }
    EXPECT_EQ(b.inverse_scale[2], 1);
    const std::vector<ColumnMoments> one{column_moments(whole, weight)};
    EXPECT_EQ(standardizer_of(merged(one)).inverse_scale, a.inverse_scale);
    EXPECT_EQ(standardizer_of(merged(one)).mean, a.mean);
  };
  expect_same(x.view(), [&](std::size_t first, std::size_t last) -> FeaturesView {
    return DenseView{x.values.data() + first * 4, last - first, 4, 4};
  });
  std::vector<std::size_t> starts;
  expect_same(sparse.view(), [&](std::size_t first, std::size_t last) -> FeaturesView {
    const std::size_t begin = sparse.row_start[first], count = sparse.row_start[last] - begin;
    starts.assign(sparse.row_start.begin() + static_cast<std::ptrdiff_t>(first),
                  sparse.row_start.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    for (std::size_t& start : starts) start -= begin;
    return SparseView{starts, std::span(sparse.column).subspan(begin, count),
                      std::span(sparse.value).subspan(begin, count), last - first, 4};
  });
}

TEST(Standardize, ConstantSparseColumnsAreLeftAlone) {
  SparseMatrix x{300, 2, {0}, {}, {}};
  for (std::size_t i = 0; i < 300; ++i) {
    x.column.insert(x.column.end(), {0, 1});
    x.value.insert(x.value.end(), {0.1, static_cast<double>(i % 7)});
    x.row_start.push_back(x.column.size());
  }
  EXPECT_EQ(fit_standardizer(x.view(), {}).inverse_scale[0], 1);
  EXPECT_NEAR(fit_standardizer(x.view(), {}).inverse_scale[1], 0.5, 0.01);
  // A spread too small to divide by counts as none.
  const DenseMatrix tiny{2, 1, {1e-320, -1e-320}};
  EXPECT_EQ(fit_standardizer(tiny.view(), {}).inverse_scale[0], 1);
}

// The mean of equal numbers is off by their rounding, which is large beside 1 where they are.
TEST(Standardize, LargeConstantsVanish) {
  for (const double value : {-3.0, 1.7e18, -1e200}) {
    const DenseMatrix x{30, 1, std::vector<double>(30, value)};
    const std::vector<double> row{value};
    std::vector<double> scaled(1);
    standardize_row(fit_standardizer(x.view(), {}), row, scaled);
    EXPECT_NEAR(scaled[0], 0, 1e-12) << value;
  }
}

TEST(Standardize, OneRowIsTreatedAsInTraining) {
  Rng rng(3);
  Dataset data = test::random_dataset(rng, 20, 3, 2);
  const auto original = std::get<DenseMatrix>(data.x);
  const Standardizer s = fit_standardizer(original.view(), {});
  apply_in_place(s, data.x);
  std::vector<double> row(3);
  for (std::size_t i = 0; i < 20; ++i) {
    standardize_row(s, original.view().row(i), row);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(row[j], std::get<DenseMatrix>(data.x).values[i * 3 + j]);
  }
}

}  // namespace
}  // namespace m4n::detail
