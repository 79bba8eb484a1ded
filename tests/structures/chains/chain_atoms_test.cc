// Blocks of atoms against dense vectors: parts and Gram entries, the re-optimised weights, and that forgetting atoms
// without weight changes nothing else.
#include "structures/chains/ascent.h"

#include <gmock/gmock.h>

#include <vector>

#include "core/rng.h"

namespace m4n::detail {
namespace {

constexpr std::size_t length = 4, labels = 3, stride = row_stride<double>(labels);
constexpr std::size_t unary_size = length * stride, tail_size = (labels + 2) * stride;

class Blocks : public testing::Test {
 protected:
  // A random answer: three labellings with random weights.
  void append_random() {
    labelling_.clear();
    weight_ = {rng_.uniform(), rng_.uniform(), rng_.uniform()};
    const double total = weight_[0] + weight_[1] + weight_[2];
    for (double& x : weight_) x /= total;
    for (std::size_t e = 0; e < 3 * length; ++e) labelling_.push_back(static_cast<std::int32_t>(rng_.below(labels)));
    LabellingAnswer answer;
    answer.weight = weight_;
    answer.labelling = labelling_;
    answer.risk = rng_.uniform();
    chain_difference_from_truth(answer, truth_, labels, scratch_);
    gram_of_new(
        block_, length, labels, [&](std::size_t m, std::size_t o) { return kernel_[m * length + o]; }, scratch_);
    block_.append(answer.risk, stride, scratch_);
    risk_.push_back(answer.risk);
    std::vector<double> dense(unary_size + tail_size, 0.0);
    const auto add = [&](const std::int32_t* y, double amount) {
      const auto at = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
      for (std::size_t m = 0; m < length; ++m) dense[m * stride + at(m)] += amount;
      for (std::size_t m = 1; m < length; ++m) dense[unary_size + at(m - 1) * stride + at(m)] += amount;
      dense[unary_size + labels * stride + at(0)] += amount;
      dense[unary_size + (labels + 1) * stride + at(length - 1)] += amount;
    };
    add(truth_.data(), -1);
    for (std::size_t j = 0; j < 3; ++j) add(labelling_.data() + j * length, weight_[j]);
    dense_.push_back(dense);
  }
  double inner(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0;
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t o = 0; o < length; ++o)
        for (std::size_t k = 0; k < labels; ++k) sum += kernel_[m * length + o] * a[m * stride + k] * b[o * stride + k];
    for (std::size_t e = unary_size; e < a.size(); ++e) sum += a[e] * b[e];
    return sum;
  }
  // The value of weights that differ by `change` from the present ones.
  double value(const std::vector<double>& change, double c) const {
    double linear = 0, squares = 0;
    for (std::size_t a = 0; a < change.size(); ++a) {
      linear += change[a] * gain_[a];
      for (std::size_t b = 0; b < change.size(); ++b) squares += change[a] * change[b] * inner(dense_[a], dense_[b]);
    }
    return linear - 0.5 * c * squares;
  }
  void score_randomly() {
    unary_.assign(unary_size, 0.0);
    tail_.assign(tail_size, 0.0);
    for (double& x : unary_) x = rng_.normal();
    for (double& x : tail_) x = rng_.normal();
    gain_.clear();
    for (std::size_t a = 0; a < dense_.size(); ++a) {
      gain_.push_back(risk_[a]);
      for (std::size_t e = 0; e < unary_size; ++e) gain_.back() += dense_[a][e] * unary_[e];
      for (std::size_t e = 0; e < tail_size; ++e) gain_.back() += dense_[a][unary_size + e] * tail_[e];
    }
  }

  Rng rng_{11};
  std::vector<std::int32_t> truth_{0, 2, 1, 1}, labelling_;
  std::vector<double> weight_, kernel_ = random_kernel(), risk_{0.25}, unary_, tail_, gain_;
  std::vector<std::vector<double>> dense_{std::vector<double>(unary_size + tail_size, 0.0)};
  AtomBlock block_{0.25};
  AtomScratch scratch_{unary_size, tail_size};

 private:
  std::vector<double> random_kernel() {
    std::vector<double> x(length * 5), out(length * length, 0.0);
    for (double& e : x) e = rng_.normal();
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t o = 0; o < length; ++o)
        for (std::size_t j = 0; j < 5; ++j) out[m * length + o] += x[m * 5 + j] * x[o * 5 + j];
    return out;
  }
};

TEST_F(Blocks, GainsAndStepsAreThoseOfDenseVectors) {
  for (int a = 0; a < 6; ++a) append_random();
  for (const double c : {0.0, 0.01, 1.0, 100.0}) {
    for (int round = 0; round < 20; ++round) {
      score_randomly();
      double risk = 0, current = 0, mass = 0;
      for (std::size_t a = 0; a < block_.size(); ++a) {
        risk += block_.weight(a) * risk_[a];
        current += block_.weight(a) * gain_[a];
        mass += block_.weight(a);
      }
      EXPECT_NEAR(mass, 1, 1e-12);
      EXPECT_NEAR(block_.risk(), risk, 1e-12);
      EXPECT_NEAR(block_.gains(unary_.data(), tail_.data(), scratch_), current, 1e-12);
      for (std::size_t a = 0; a < block_.size(); ++a) EXPECT_NEAR(scratch_.gain[a], gain_[a], 1e-12);
      std::vector<double> before;
      for (std::size_t a = 0; a < block_.size(); ++a) before.push_back(block_.weight(a));
      const double found = block_.reweigh(c, scratch_);
      EXPECT_GE(found, 0);
      EXPECT_NEAR(found, value(scratch_.change, c), 1e-10 * (1 + found));
      for (std::size_t a = 0; a < block_.size(); ++a) {
        EXPECT_GE(block_.weight(a), 0);
        EXPECT_NEAR(block_.weight(a), before[a] + scratch_.change[a], 1e-12);
      }
      // No other distribution is much better.
      for (int other = 0; other < 50; ++other) {
        std::vector<double> change(block_.size());
        double total = 0;
        for (double& x : change) total += x = rng_.below(2) == 0 ? 0.0 : rng_.uniform();
        if (total == 0) continue;
        for (std::size_t a = 0; a < change.size(); ++a) change[a] = change[a] / total - before[a];
        EXPECT_LE(value(change, c), found + 0.05 * (1 + found));
      }
    }
  }
}

TEST_F(Blocks, ForgettingKeepsTheRest) {
  for (int a = 0; a < 8; ++a) append_random();
  std::vector<std::size_t> kept;
  const AtomBlock fresh = block_;
  for (int attempt = 0; attempt < 100 && kept.size() < 3; ++attempt) {  // scores at which some atoms have weight
    block_ = fresh;
    score_randomly();
    block_.gains(unary_.data(), tail_.data(), scratch_);
    block_.reweigh(1, scratch_);
    kept = {0};
    for (std::size_t a = 1; a < block_.size(); ++a)
      if (block_.weight(a) > 0) kept.push_back(a);
  }
  ASSERT_LT(kept.size(), block_.size());
  ASSERT_GE(kept.size(), 3U);
  const double risk = block_.risk();
  block_.forget(2, stride);  // all were idle for one visit at most
  EXPECT_EQ(block_.size(), 9U);
  block_.forget(1, stride);
  ASSERT_EQ(block_.size(), kept.size());
  EXPECT_NEAR(block_.risk(), risk, 1e-15);
  std::vector<std::vector<double>> dense;
  std::vector<double> risks;
  for (const std::size_t a : kept) {
    dense.push_back(dense_[a]);
    risks.push_back(risk_[a]);
  }
  dense_ = dense;
  risk_ = risks;
  score_randomly();
  block_.gains(unary_.data(), tail_.data(), scratch_);
  for (std::size_t a = 0; a < block_.size(); ++a) EXPECT_NEAR(scratch_.gain[a], gain_[a], 1e-12);
  const double found = block_.reweigh(0.3, scratch_);
  EXPECT_NEAR(found, value(scratch_.change, 0.3), 1e-10 * (1 + found));
}

TEST_F(Blocks, OnlyContestedPositionsHaveParts) {
  labelling_ = truth_;
  labelling_[2] = 0;
  weight_ = {1.0};
  LabellingAnswer answer;
  answer.weight = weight_;
  answer.labelling = labelling_;
  chain_difference_from_truth(answer, truth_, labels, scratch_);
  gram_of_new(
      block_, length, labels, [&](std::size_t m, std::size_t o) { return kernel_[m * length + o]; }, scratch_);
  block_.append(0.5, stride, scratch_);
  EXPECT_THAT(block_.contested(), testing::ElementsAre(2U));
  EXPECT_EQ(block_.unary_parts(1).size(), 2U);
  EXPECT_EQ(block_.tail_parts(1).size(), 4U);  // two transitions gone, two new
}

}  // namespace
}  // namespace m4n::detail
