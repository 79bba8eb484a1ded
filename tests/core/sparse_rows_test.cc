// The kernels of consecutive sparse rows against plain loops: both precisions of the weights, with and without values,
// near and far weights, empty rows.
#include "core/sparse_rows.h"

#include <gmock/gmock.h>

#include <vector>

#include "core/rng.h"

namespace m4n::detail {
namespace {

struct Case {
  SparseMatrix x;
  std::size_t labels, stride;
};

Case random_case(Rng& rng, std::size_t rows, std::size_t cols, std::size_t labels, bool values) {
  Case out{{}, labels, row_stride<double>(labels)};
  out.x.rows = rows;
  out.x.cols = cols;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = rng.below(5); r % 4 != 3 && c < cols; c += 1 + rng.below(cols / 3 + 1)) {
      out.x.column.push_back(static_cast<std::uint32_t>(c));
      if (values) out.x.value.push_back(rng.normal());
    }
    out.x.row_start.push_back(out.x.column.size());
  }
  return out;
}

template <class Weight>
void check(bool values) {
  Rng rng(3);
  for (const std::size_t labels : {1, 8, 9, 22, 26, 40, 70}) {
    for (const std::size_t cols : {7, 30'000}) {
      const Case c = random_case(rng, 9, cols, labels, values);
      AlignedVector<Weight> w(cols * c.stride, Weight{0});
      AlignedVector<double> bias(c.stride);
      for (std::size_t k = 0; k < labels; ++k) bias[k] = rng.normal();
      for (std::size_t j = 0; j < cols; ++j)
        for (std::size_t k = 0; k < labels; ++k) w[j * c.stride + k] = static_cast<Weight>(rng.normal());
      constexpr std::size_t first = 2, count = 6;
      PaddedMatrix<double> out, delta;
      const PaddedRows<double> scores = out.shape(count, labels), step = delta.shape(count, labels);
      for (const double* shift : {static_cast<const double*>(nullptr), static_cast<const double*>(bias.data())}) {
        kernels::rows_scores(c.x.view(), first, w.data(), shift, scores);
        for (std::size_t r = 0; r < count; ++r)
          for (std::size_t k = 0; k < labels; ++k) {
            double sum = shift != nullptr ? bias[k] : 0;
            for (std::size_t e = c.x.row_start[first + r]; e < c.x.row_start[first + r + 1]; ++e)
              sum += (values ? c.x.value[e] : 1) * static_cast<double>(w[c.x.column[e] * c.stride + k]);
            ASSERT_NEAR(scores(r, k), sum, 1e-12) << labels << " " << cols;
          }
      }
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t k = 0; k < c.stride; ++k) step.row(r)[k] = k < labels && rng.below(2) == 0 ? rng.normal() : 0;
      std::vector<double> expected(w.begin(), w.end());
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t e = c.x.row_start[first + r]; e < c.x.row_start[first + r + 1]; ++e)
          for (std::size_t k = 0; k < labels; ++k)
            expected[c.x.column[e] * c.stride + k] += 0.3 * (values ? c.x.value[e] : 1) * step(r, k);
      kernels::rows_update(c.x.view(), first, step, 0.3, w.data());
      const double rounding = std::is_same_v<Weight, float> ? 2e-6 : 1e-13;
      for (std::size_t j = 0; j < w.size(); ++j) ASSERT_NEAR(static_cast<double>(w[j]), expected[j], rounding);
      for (std::size_t a = 0; a < 9; ++a)
        for (std::size_t b = 0; b < 9; ++b) {
          double sum = 0;
          for (std::size_t e = c.x.row_start[a]; e < c.x.row_start[a + 1]; ++e)
            for (std::size_t f = c.x.row_start[b]; f < c.x.row_start[b + 1]; ++f)
              if (c.x.column[e] == c.x.column[f]) sum += values ? c.x.value[e] * c.x.value[f] : 1;
          ASSERT_NEAR(kernels::rows_dot(c.x.view(), a, b), sum, 1e-12);
        }
    }
  }
}

TEST(SparseRows, DoubleWeights) { check<double>(true); }
TEST(SparseRows, DoubleWeightsAllValuesOne) { check<double>(false); }
TEST(SparseRows, FloatWeights) { check<float>(true); }
TEST(SparseRows, FloatWeightsAllValuesOne) { check<float>(false); }

}  // namespace
}  // namespace m4n::detail
