// The vector kernels against plain loops and sorts.
#include "core/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "core/views.h"

namespace m4n::detail {
namespace {

AlignedVector<double> padded_scores(const std::vector<double>& values) {
  AlignedVector<double> out(kernels::padded(values.size()), kernels::padding_score);
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

std::vector<double> random_scores(Rng& rng, std::size_t k) {
  const int kind = static_cast<int>(rng.below(5));
  std::vector<double> v(k);
  for (double& x : v) {
    x = rng.normal();
    if (kind == 1) x = std::floor(3 * x);  // ties
    if (kind == 2) x = 0;
    if (kind == 3) x *= 1e9;
    if (kind == 4) x *= 1e-9;
  }
  return v;
}

// tau by sorting: the largest m with u_(m) > (u_(1) + .. + u_(m) - mass) / m.
double sorted_threshold(std::vector<double> u, double mass) {
  std::sort(u.rbegin(), u.rend());
  const double top = u[0];
  double sum = 0, tau = 0;
  for (std::size_t m = 0; m < u.size(); ++m) {
    sum += u[m] - top;
    const double t = (sum - mass) / static_cast<double>(m + 1);
    if (u[m] - top > t) tau = t;
  }
  return top + tau;
}

TEST(Kernels, ThresholdEqualsTheSortedOne) {
  Rng rng(1);
  for (int trial = 0; trial < 5000; ++trial) {
    const std::size_t k = 1 + rng.below(60);
    const std::vector<double> u = random_scores(rng, k);
    const double mass = std::exp(rng.uniform(-8, 8)),
                 scale = 1 + std::abs(*std::max_element(u.begin(), u.end())) + mass;
    EXPECT_NEAR(kernels::threshold(padded_scores(u), mass), sorted_threshold(u, mass), 1e-12 * scale);
  }
}

TEST(Kernels, ProjectionIsFeasibleAndOptimal) {
  Rng rng(2);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t k = 1 + rng.below(40);
    const AlignedVector<double> u = padded_scores(random_scores(rng, k));
    AlignedVector<double> mu(u.size(), -1.0);
    kernels::project_simplex(u, mu);
    EXPECT_NEAR(std::accumulate(mu.begin(), mu.end(), 0.0), 1, 1e-14);
    const double top = *std::max_element(u.begin(), u.end());
    // Optimality: u_j - mu_j is the same, and the largest, on the support.
    double tau = -1e300;
    for (std::size_t j = 0; j < k; ++j)
      if (mu[j] > 0) tau = std::max(tau, u[j] - mu[j]);
    for (std::size_t j = 0; j < u.size(); ++j) {
      EXPECT_GE(mu[j], 0);
      const double eps = 1e-13 * (1 + std::abs(top));
      if (mu[j] > 0) {
        EXPECT_NEAR(u[j] - mu[j], tau, eps);
      } else {
        EXPECT_LE(u[j], tau + eps);
      }
    }
  }
}

TEST(Kernels, ScoresAndUpdatesAreMatrixProducts) {
  Rng rng(3);
  for (const std::size_t k : {1, 2, 7, 8, 9, 16, 17, 26, 33, 70}) {
    for (const std::size_t d : {1, 2, 3, 5, 17}) {
      const std::size_t stride = kernels::padded(k);
      AlignedVector<double> w(d * stride, 0.0), bias(stride, 0.0), v(stride), sparse(stride), delta(stride, 0.0);
      std::vector<double> x(d), expected(k);
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t c = 0; c < k; ++c) w[j * stride + c] = rng.normal();
      for (std::size_t c = 0; c < k; ++c) expected[c] = bias[c] = rng.normal();
      std::vector<std::uint32_t> column;
      std::vector<double> value;
      for (std::size_t j = 0; j < d; ++j) {
        x[j] = j % 3 == 1 ? 0 : rng.normal();
        if (x[j] != 0) {
          column.push_back(static_cast<std::uint32_t>(j));
          value.push_back(x[j]);
        }
        for (std::size_t c = 0; c < k; ++c) expected[c] += x[j] * w[j * stride + c];
      }
      kernels::dense_scores(x, w.data(), bias.data(), v);
      kernels::sparse_scores(column, value, w.data(), bias.data(), sparse);
      for (std::size_t c = 0; c < k; ++c) {
        EXPECT_NEAR(v[c], expected[c], 1e-12);
        EXPECT_NEAR(sparse[c], expected[c], 1e-12);
        delta[c] = rng.normal();
      }
      AlignedVector<double> dense_w = w, sparse_w = w;
      kernels::dense_update(x, delta, 1, dense_w.data(), nullptr);
      kernels::sparse_update(column, value, delta, 1, sparse_w.data(), nullptr);
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t c = 0; c < stride; ++c) {
          EXPECT_NEAR(dense_w[j * stride + c], w[j * stride + c] + x[j] * delta[c], 1e-12);
          EXPECT_EQ(dense_w[j * stride + c], sparse_w[j * stride + c]);
        }
    }
  }
}

TEST(Kernels, BlocksOfRowsAreRowsOneByOne) {
  Rng rng(4);
  for (const std::size_t k : {1, 8, 10, 17, 26}) {
    for (const std::size_t rows : {1, 3, 4, 8, 13, 16}) {
      const std::size_t d = 5, x_stride = 7, kp = kernels::padded(k);
      AlignedVector<double> w(d * kp, 0.0), bias(kp, 0.0), step(rows * kp, 0.0), v(rows * kp), one(kp);
      std::vector<double> x(rows * x_stride);
      for (double& value : x) value = rng.normal();
      for (AlignedVector<double>* filled : {&w, &bias, &step})
        for (std::size_t row = 0; row < filled->size(); row += kp)
          for (std::size_t e = row; e < row + k; ++e) (*filled)[e] = rng.normal();
      kernels::dense_scores(x.data(), x_stride, d, rows, w.data(), bias.data(), kp, v.data());
      AlignedVector<double> block_w = w, block_bias = bias, single_w = w, single_bias = bias;
      kernels::dense_update(x.data(), x_stride, d, rows, step.data(), kp, block_w.data(), block_bias.data());
      for (std::size_t r = 0; r < rows; ++r) {
        const std::span<const double> row(x.data() + r * x_stride, d);
        kernels::dense_scores(row, w.data(), bias.data(), one);
        for (std::size_t c = 0; c < k; ++c) EXPECT_NEAR(v[r * kp + c], one[c], 1e-13);
        kernels::dense_update(row, std::span<const double>(step).subspan(r * kp, kp), 1, single_w.data(),
                              single_bias.data());
      }
      for (std::size_t e = 0; e < w.size(); ++e) EXPECT_NEAR(block_w[e], single_w[e], 1e-12);
      for (std::size_t c = 0; c < kp; ++c) EXPECT_NEAR(block_bias[c], single_bias[c], 1e-12);
    }
  }
}

TEST(Kernels, DotTakesFloatsToo) {
  Rng rng(5);
  for (const std::size_t n : {0, 1, 7, 8, 33}) {
    AlignedVector<float> a(n);
    AlignedVector<double> b(n);
    double expected = 0;
    for (std::size_t j = 0; j < n; ++j) {
      a[j] = static_cast<float>(rng.normal());
      b[j] = rng.normal();
      expected += static_cast<double>(a[j]) * b[j];
    }
    EXPECT_NEAR(kernels::dot(a, b), expected, 1e-12);
  }
}

TEST(Kernels, ProxLinearIsAProjection) {
  Rng rng(6);
  for (int trial = 0; trial < 3000; ++trial) {
    const std::size_t k = 1 + rng.below(40);
    AlignedVector<double> v = padded_scores(random_scores(rng, k)), cost(v.size(), 0.0), mu(v.size(), 0.0), u(v.size()),
                          expected(v.size());
    for (std::size_t j = 0; j < k; ++j) cost[j] = rng.uniform();
    if (rng.below(2) == 0) {
      mu[rng.below(k)] = 1;
    } else {
      kernels::project_simplex(padded_scores(random_scores(rng, k)), mu);
    }
    const double step = std::exp(rng.uniform(-6, 6));
    for (std::size_t j = 0; j < v.size(); ++j) u[j] = mu[j] + step * (v[j] + cost[j]);
    const double size = 1 + std::abs(*std::max_element(u.begin(), u.end()));
    kernels::project_simplex(u, expected);
    kernels::prox_linear(v, cost, step, mu, u);
    for (std::size_t j = 0; j < v.size(); ++j) EXPECT_NEAR(mu[j], expected[j], 1e-13 * size);
  }
}

TEST(Kernels, UpdatesAreScaledAndReachTheBias) {
  AlignedVector<double> w(16, 1.0), bias(8, 2.0), delta(8, 0.0);
  delta[3] = 5;
  kernels::dense_update(std::vector<double>{10, 100}, delta, 0.5, w.data(), bias.data());
  EXPECT_EQ(w[3], 26);
  EXPECT_EQ(w[8 + 3], 251);
  EXPECT_EQ(bias[3], 4.5);
  EXPECT_EQ(bias[2], 2);
}

TEST(Kernels, SoftmaxAndEntropy) {
  Rng rng(4);
  for (int trial = 0; trial < 1000; ++trial) {
    const std::size_t k = 1 + rng.below(40);
    const std::vector<double> u = random_scores(rng, k);
    const AlignedVector<double> v = padded_scores(u);
    AlignedVector<double> mu(v.size());
    const double top = *std::max_element(u.begin(), u.end());
    double total = 0, entropy = 0;
    for (const double x : u) total += std::exp(x - top);
    EXPECT_NEAR(kernels::softmax(v, mu), top + std::log(total), 1e-12 * (1 + std::abs(top)));
    for (std::size_t j = 0; j < k; ++j) {
      const double p = std::exp(u[j] - top) / total;
      EXPECT_NEAR(mu[j], p, 1e-14);
      if (p > 0) entropy -= p * std::log(p);
    }
    EXPECT_NEAR(kernels::entropy(mu), entropy, 1e-12);
    for (std::size_t j = k; j < mu.size(); ++j) EXPECT_EQ(mu[j], 0);
  }
}

TEST(Kernels, EntropySlopeIsTheDerivative) {
  Rng rng(5);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t k = 2 + rng.below(20);
    AlignedVector<double> mu(kernels::padded(k)), target(mu.size()), delta(mu.size()), moved(mu.size());
    kernels::softmax(padded_scores(random_scores(rng, k)), target);
    std::vector<double> flat(k);
    for (double& x : flat) x = rng.normal();
    kernels::softmax(padded_scores(flat), mu);
    kernels::difference(target, mu, delta);
    const double t = rng.uniform(0.1, 0.9), step = 1e-6;
    const auto value = [&](double s) {
      for (std::size_t j = 0; j < mu.size(); ++j) moved[j] = mu[j] + s * delta[j];
      return kernels::entropy(moved);
    };
    const kernels::Slope slope = kernels::entropy_slope(mu, delta, t);
    EXPECT_NEAR(slope.first, (value(t + step) - value(t - step)) / (2 * step), 1e-6);
    const double before = kernels::entropy_slope(mu, delta, t - step).first;
    const double after = kernels::entropy_slope(mu, delta, t + step).first;
    EXPECT_NEAR(slope.second, (after - before) / (2 * step), 1e-4 * (1 + std::abs(slope.second)));
  }
}

TEST(Kernels, DistancesBecomeSimilarities) {
  AlignedVector<double> inner{0, 1, -1, 2, 0.5, 0, 0, 1e200}, norm{0, 1, 1, 4, 1, 100, 1e300, 1};
  AlignedVector<double> squared = inner, plain;
  kernels::squared_distances(1, norm.data(), squared);
  for (std::size_t j = 0; j < 8; ++j) EXPECT_EQ(squared[j], 1 + norm[j] - 2 * inner[j]);
  plain = squared;
  kernels::decay(plain, 0.5);
  for (const float shift : {0.0F, 1.0F}) {
    float rounded[8];
    kernels::decay(squared, 0.5, shift, rounded);
    for (std::size_t j = 0; j < 8; ++j) {
      const double expected = std::exp(-0.5 * std::max(squared[j], 0.0));
      EXPECT_NEAR(plain[j], expected, 1e-15);
      EXPECT_NEAR(rounded[j], expected + static_cast<double>(shift), 2e-7);
    }
  }
}

TEST(Kernels, ScaledRowsAddUp) {
  Rng rng(7);
  constexpr std::size_t tile = kernels::row_tile<double>, classes = 5, rows = 9, stride = tile + 8;
  AlignedVector<float> narrow(rows * stride);
  for (float& x : narrow) x = static_cast<float>(rng.normal());
  AlignedVector<double> wide(narrow.size()), out(classes * tile, 0.5), expected = out;
  kernels::to_double(narrow.data(), wide);
  std::vector<kernels::ScaledRow<double>> entries;
  std::vector<std::size_t> begin{0};
  for (std::size_t c = 0; c < classes; ++c) {
    for (std::size_t e = 0; e < 3 * c; ++e) {  // none for the first class
      entries.push_back({static_cast<std::uint32_t>(rng.below(rows)), rng.normal()});
      for (std::size_t j = 0; j < tile; ++j)
        expected[c * tile + j] += entries.back().scale * static_cast<double>(narrow[entries.back().row * stride + j]);
    }
    begin.push_back(entries.size());
  }
  kernels::add_scaled_rows(begin, entries.data(), wide.data(), stride, out.data());
  for (std::size_t j = 0; j < out.size(); ++j) EXPECT_NEAR(out[j], expected[j], 1e-13);
}

TEST(Kernels, DifferenceReturnsTheLargestStep) {
  AlignedVector<double> now(8, 0.0), old(8, 0.0), step(8);
  now[3] = 0.25;
  old[5] = 0.75;
  EXPECT_EQ(kernels::difference(now, old, step), 0.75);
  EXPECT_EQ(step[3], 0.25);
  EXPECT_EQ(step[5], -0.75);
}

}  // namespace
}  // namespace m4n::detail
