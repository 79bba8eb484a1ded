// Costs of classes: CostMatrix, means of costs over examples and sequences, and the same costs as solvers see them
// (SimplexLoss).
//
// What a mistake costs on the simplex: cost[true][predicted], as users write it (the convention of confusion
// matrices). Internally A = cost^T, so that L(y, t) = phi(y)^T A phi(t) is the loss of PREDICTING y when the TRUTH
// is t, and h(mu) = min_y (A mu)_y is the Bayes risk of mu.
//
// A must not be degenerate: in every row t, cost[t][p] > cost[t][t] for p != t. No entry is beyond 1e30 in absolute
// value, and the largest is at least 1e-30 above the smallest.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernels.h"
#include "core/views.h"
#include "m4n/dataset.h"

namespace m4n::detail {

// Costs beyond these cannot be computed with: absolutely, and the largest minus the smallest.
inline constexpr double largest_cost = 1e30, smallest_range = 1e-30;

enum class LossKind { zero_one, absolute, matrix };

class CostMatrix {
 public:
  // The named losses: zero-one, absolute |t - p|, squared (t - p)^2; hamming is zero-one at one of several places.
  static CostMatrix named(const std::string& name, std::size_t k);
  // From a full matrix, row-major by true class; `origin` is named in messages. Recognises multiples of zero-one and
  // absolute, so that they get the closed forms too.
  static CostMatrix from_values(std::vector<double> cost, std::size_t k, const std::string& name,
                                const std::vector<std::string>& classes, const std::string& origin);
  // A CSV file: k x k numbers, optionally with a header row and a first column of class names (any order; they are
  // matched with `classes`). With names on one side only, the other side has the same order.
  static CostMatrix read(const std::string& path, const std::vector<std::string>& classes);
  // The same from text in memory.
  static CostMatrix from_csv(std::string_view text, const std::vector<std::string>& classes, const std::string& origin);
  // `spec` is a name or the path of a CSV file. absolute and squared want classes that are numbers.
  static CostMatrix parse(const std::string& spec, const std::vector<std::string>& classes);

  std::size_t k() const { return k_; }
  const std::string& name() const { return name_; }  // zero-one, absolute, squared, hamming or matrix
  LossKind kind() const { return kind_; }
  double scale() const { return scale_; }  // cost = scale * (zero-one or absolute) for those kinds
  bool symmetric() const { return symmetric_; }
  double largest() const { return largest_; }
  double range() const { return largest_ - smallest_; }  // largest - smallest entry, the diagonal included
  // Mean over t and p != t of cost[t][p] - cost[t][t], positive for k >= 2 whatever the sign of the costs; 0 for k = 1.
  double mean_off_diagonal() const { return mean_off_diagonal_; }
  double operator()(std::size_t truth, std::size_t predicted) const { return by_truth_[truth * k_ + predicted]; }
  // cost[t][.]: what each prediction costs when the truth is t (a column of A).
  std::span<const double> of_truth(std::size_t t) const { return {by_truth_.data() + t * k_, k_}; }
  // cost[.][p]: what predicting p costs under each truth (a row of A).
  std::span<const double> of_prediction(std::size_t p) const { return {by_prediction_.data() + p * k_, k_}; }
  const std::vector<double>& values() const { return by_truth_; }

 private:
  void set_values(std::vector<double> cost);
  std::size_t k_ = 0;
  std::string name_;
  LossKind kind_ = LossKind::matrix;
  double scale_ = 1, largest_ = 0, smallest_ = 0, mean_off_diagonal_ = 0;
  bool symmetric_ = true;
  std::vector<double> by_truth_, by_prediction_;
};

// Mean over sequences of the mean cost of their tokens. All labels are known.
double mean_sequence_cost(const CostMatrix& cost, const Groups& tokens, std::span<const std::int32_t> truth,
                          std::span<const std::int32_t> predicted);

// Mean cost of predictions; weighted unless `weight` is empty. All labels are known.
double mean_cost(const CostMatrix& cost, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight);

// A cost matrix as the solvers see it: padded rows ready for vector instructions.
//   apply            A mu     expected cost of every prediction under mu     O(k^2)
//   apply_transposed A^T nu   expected cost of every truth under nu          O(k^2)

class SimplexLoss {
 public:
  explicit SimplexLoss(const CostMatrix& cost)
      : cost_(&cost), stride_(kernels::padded(cost.k())), truth_(cost.k() * stride_, 0.0), prediction_(truth_) {
    for (std::size_t t = 0; t < cost.k(); ++t)
      for (std::size_t p = 0; p < cost.k(); ++p) truth_[t * stride_ + p] = prediction_[p * stride_ + t] = cost(t, p);
  }
  const CostMatrix& cost() const { return *cost_; }
  std::size_t k() const { return cost_->k(); }

  // cost[t][.], padded with zeros.
  std::span<const double> of_truth(std::size_t t) const { return {truth_.data() + t * stride_, stride_}; }
  void apply(std::span<const double> mu, std::span<double> out) const {
    kernels::dense_scores(mu.first(k()), truth_.data(), nullptr, out);
  }
  void apply_transposed(std::span<const double> nu, std::span<double> out) const {
    kernels::dense_scores(nu.first(k()), prediction_.data(), nullptr, out);
  }
  // h(mu) = min_y (A mu)_y; `scratch` receives A mu.
  double bayes_risk(std::span<const double> mu, std::span<double> scratch) const {
    apply(mu, scratch);
    return *std::min_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(k()));
  }

 private:
  const CostMatrix* cost_;
  std::size_t stride_;
  AlignedVector<double> truth_, prediction_;
};

}  // namespace m4n::detail
