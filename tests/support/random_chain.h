// Chains for the tests: random scores in many styles, and all their labellings by counting.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "structures/chains/space.h"

namespace m4n::detail::test {

enum class ScoreStyle { normal, integer, zero, no_transitions, constant };
inline constexpr ScoreStyle score_styles[] = {ScoreStyle::normal, ScoreStyle::integer, ScoreStyle::zero,
                                              ScoreStyle::no_transitions, ScoreStyle::constant};

// A chain that owns its scores. The padding of the unary rows is zero, as scorers without a bias leave it.
class Chain {
 public:
  Chain(std::size_t length, std::size_t labels, double scale, ScoreStyle style, std::mt19937_64& random,
        double transition_scale = 1) {
    std::normal_distribution<double> normal;
    const auto draw = [&](double factor) {
      switch (style) {
        case ScoreStyle::zero:
          return 0.0;
        case ScoreStyle::constant:
          return scale;
        case ScoreStyle::integer:
          return scale * factor * std::round(normal(random));
        default:
          return scale * factor * normal(random);
      }
    };
    const double factor = style == ScoreStyle::no_transitions ? 0 : transition_scale;
    fill(unary_.shape(length, labels), [&] { return draw(1); });
    fill(table_.shape(labels, labels), [&] { return draw(factor); });
    start_.resize(labels);
    end_.resize(labels);
    for (double& x : start_) x = draw(1);
    for (double& x : end_) x = draw(1);
    transitions_.prepare(std::as_const(table_).view(), start_, end_);
  }
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  ChainScores scores() const { return {unary_.view(), &transitions_}; }
  const Transitions& transitions() const { return transitions_; }
  PaddedRows<double> unary() { return unary_.view(); }
  PaddedRows<double> table() { return table_.view(); }
  void prepare() { transitions_.prepare(std::as_const(table_).view(), start_, end_); }

  // The definition of the score, in long double.
  long double score(const std::vector<std::int32_t>& y) const {
    const auto at = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
    const std::size_t length = unary_.view().rows();
    long double sum = static_cast<long double>(start_[at(0)]) + end_[at(length - 1)];
    for (std::size_t m = 0; m < length; ++m) sum += unary_.view()(m, at(m));
    for (std::size_t m = 1; m < length; ++m) sum += table_.view()(at(m - 1), at(m));
    return sum;
  }

 private:
  template <class Draw>
  static void fill(PaddedRows<double> rows, Draw&& draw) {
    for (std::size_t r = 0; r < rows.rows(); ++r)
      for (std::size_t c = 0; c < rows.stride(); ++c) rows.row(r)[c] = c < rows.columns() ? draw() : 0.0;
  }
  PaddedMatrix<double> unary_, table_;
  std::vector<double> start_, end_;
  Transitions transitions_;
};

// body(y) for all R^M labellings. The last label turns slowest, so that of equal labellings the one that Viterbi
// prefers comes first.
template <class Body>
void for_labellings(std::size_t length, std::size_t labels, Body&& body) {
  std::vector<std::int32_t> y(length, 0);
  for (;;) {
    body(std::as_const(y));
    std::size_t m = 0;
    while (m < length && ++y[m] == static_cast<std::int32_t>(labels)) y[m++] = 0;
    if (m == length) return;
  }
}

// Lengths and numbers of labels with at most 10^5 labellings; among them single positions and single labels.
struct ChainShape {
  std::size_t length, labels;
};
inline constexpr ChainShape enumerable_shapes[] = {{1, 1}, {1, 2}, {1, 5},  {1, 26}, {1, 40}, {2, 1},
                                                   {2, 2}, {2, 9}, {2, 26}, {2, 70}, {3, 3},  {3, 17},
                                                   {4, 5}, {5, 8}, {6, 4},  {7, 1},  {8, 3},  {12, 2}};

}  // namespace m4n::detail::test
