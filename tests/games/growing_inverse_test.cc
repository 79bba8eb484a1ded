// Every update of the inverse against the inverse computed afresh.
#include "games/growing_inverse.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace m4n::detail {
namespace {

using Matrix = std::vector<std::vector<double>>;

class GrowingInverseTest : public ::testing::Test {
 protected:
  double draw() { return normal_(random_); }
  void start(std::size_t n) {
    b_.assign(n, std::vector<double>(n));
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n; ++c) b_[r][c] = draw() + (r == c ? 3 + static_cast<double>(n) : 0);
    ASSERT_TRUE(inverse_.invert(n, [&](std::size_t r, std::size_t c) { return b_[r][c]; }));
  }
  // W b, padded to the stride; and d^T W.
  AlignedVector<double> image(const std::vector<double>& b) {
    AlignedVector<double> in(inverse_.stride()), out(inverse_.stride());
    std::copy(b.begin(), b.end(), in.begin());
    inverse_.apply(in, out);
    return out;
  }
  AlignedVector<double> border(const std::vector<double>& d) {
    AlignedVector<double> in(inverse_.stride()), out(inverse_.stride());
    std::copy(d.begin(), d.end(), in.begin());
    inverse_.apply_transposed(in, out);
    return out;
  }
  // B W = 1
  void expect_inverse() {
    const std::size_t n = b_.size();
    ASSERT_EQ(inverse_.size(), n);
    for (std::size_t r = 0; r < n; ++r) {
      for (std::size_t c = 0; c < n; ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += b_[r][i] * inverse_(i, c);
        EXPECT_NEAR(sum, r == c, 1e-9) << r << ' ' << c << " of " << n;
      }
    }
  }
  std::vector<double> random_vector() {
    std::vector<double> out(b_.size());
    for (double& x : out) x = draw();
    return out;
  }

  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
  Matrix b_;
  GrowingInverse inverse_;
};

TEST_F(GrowingInverseTest, InvertsAndRefusesSingularMatrices) {
  for (const std::size_t n : {1, 2, 3, 8, 15, 16, 17, 40}) {
    start(n);
    expect_inverse();
  }
  EXPECT_FALSE(inverse_.invert(3, [](std::size_t r, std::size_t) { return static_cast<double>(r); }));
  // Zeros on the diagonal need an exchange of rows.
  b_ = {{0, 2, 0}, {0, 0, 4}, {1, 0, 0}};
  ASSERT_TRUE(inverse_.invert(3, [&](std::size_t r, std::size_t c) { return b_[r][c]; }));
  expect_inverse();
}

TEST_F(GrowingInverseTest, EveryUpdateKeepsTheInverse) {
  for (int step = 0; step < 2000; ++step) {
    if (step % 5 == 0) start(1 + random_() % 40);  // a new matrix before roundings add up
    const std::size_t n = b_.size(), q = random_() % n, p = random_() % n;
    inverse_.reserve(n + 1);
    const std::vector<double> fresh = random_vector(), other = random_vector();
    switch (random_() % 5) {
      case 0: {
        const AlignedVector<double> z = image(fresh), w = border(other);
        double corner = 3;
        for (std::size_t i = 0; i < n; ++i) corner += other[i] * z[i];
        inverse_.grow(z, w, 3);
        for (std::size_t r = 0; r < n; ++r) b_[r].push_back(fresh[r]);
        b_.push_back(other);
        b_.back().push_back(corner);
        break;
      }
      case 1: {
        AlignedVector<double> z = image(fresh);
        if (std::abs(z[q]) < 0.05) break;
        inverse_.replace_column(q, z);
        for (std::size_t r = 0; r < n; ++r) b_[r][q] = fresh[r];
        break;
      }
      case 2: {
        AlignedVector<double> w = border(fresh);
        if (std::abs(w[p]) < 0.05) break;
        inverse_.replace_row(p, w);
        b_[p] = fresh;
        break;
      }
      case 3: {
        if (n < 2 || std::abs(inverse_(q, p)) < 0.01) break;
        inverse_.shrink(q, p);
        for (auto& row : b_) {
          row[q] = row.back();
          row.pop_back();
        }
        b_[p] = b_.back();
        b_.pop_back();
        break;
      }
      default: {
        std::vector<std::size_t> others;
        for (std::size_t r = 0; r < n; ++r)
          if (r != p && random_() % 3 == 0) others.push_back(r);
        inverse_.reflect(p, others);
        for (const std::size_t r : others)
          for (std::size_t c = 0; c < n; ++c) b_[r][c] -= b_[p][c];
        for (double& x : b_[p]) x = -x;
        break;
      }
    }
    expect_inverse();
  }
}

}  // namespace
}  // namespace m4n::detail
