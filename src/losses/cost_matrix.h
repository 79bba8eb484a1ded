// Costs of classes: CostMatrix, means of costs over examples and sequences, and the same costs as solvers see them
// (SimplexLoss).
//
// What a mistake costs on the simplex: cost[true][predicted], as users write it (the convention of confusion
// matrices). Internally A = cost^T, so that L(y, t) = phi(y)^T A phi(t) is the loss of PREDICTING y when the TRUTH
// is t, and h(mu) = min_y (A mu)_y is the Bayes risk of mu.
//
// Predictions are the classes, or ACTIONS: there may be others beside the classes (reject, refer) or instead of them
// (treat, wait), so that cost is k x K and A is K x k. Where a class is among the predictions, no other class may cost
// as little when it is the truth: cost[t][p] > cost[t][t]. Actions may cost anything. No entry is beyond 1e30 in
// absolute value, and the largest is at least 1e-30 above the smallest.
//
// Entries may differ from example to example: they then name a column of the data, and the matrix holds their means
// (losses/example_costs.h has the costs of single examples).
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

// The mean of a column of the data that costs may name; none: there is no such column.
using ColumnMean = std::function<std::optional<double>(const std::string& column)>;

enum class LossKind { zero_one, absolute, matrix };

class CostMatrix {
 public:
  // The named losses: zero-one, absolute |t - p|, squared (t - p)^2; hamming is zero-one at one of several places.
  static CostMatrix named(const std::string& name, std::size_t k);
  // From a full matrix, row-major by true class; `origin` is named in messages. Recognises multiples of zero-one and
  // absolute, so that they get the closed forms too. `predictions`: the names of its columns; none: the classes, and
  // behind them, where there are more columns, reject or action1, action2, ... `columns`: for every entry the column of
  // the data that it is the mean of, or nothing; none: no entry is.
  static CostMatrix from_values(std::vector<double> cost, std::size_t k, const std::string& name,
                                const std::vector<std::string>& classes, const std::string& origin,
                                std::vector<std::string> predictions = {}, std::vector<std::string> columns = {});
  // A CSV file: numbers, one row per class, optionally with a header row of predictions and a first column of class
  // names (any order; they are matched with `classes`). With names on one side only, the other side has the same order.
  // Predictions are numbered: classes in their order, then the other columns in that of the file. A cell may name a
  // column of the data that has a mean.
  static CostMatrix read(const std::string& path, const std::vector<std::string>& classes, const ColumnMean& mean = {});
  // The same from text in memory.
  static CostMatrix from_csv(std::string_view text, const std::vector<std::string>& classes, const std::string& origin,
                             const ColumnMean& mean = {});
  // The way between two nodes of a tree, which has the classes among its nodes. CSV rows child,parent,length (1 unless
  // given), a header allowed. `inner`: nodes that are no class can be predicted too.
  static CostMatrix from_tree(std::string_view text, const std::vector<std::string>& classes, bool inner,
                              const std::string& origin);
  // `spec` is a name, the path of a CSV file, or tree: and such a path. absolute and squared want classes that are
  // numbers.
  static CostMatrix parse(const std::string& spec, const std::vector<std::string>& classes, bool inner = false,
                          const ColumnMean& mean = {});

  // With one more prediction that always costs as much.
  CostMatrix with_reject(double cost, const std::vector<std::string>& classes) const;
  // The same game on max(k, K) truths and predictions: further truths (of which no example may be) cost what the first
  // does, further predictions are copies of the first.
  CostMatrix squared() const;
  // Other numbers in place of these: no checks, no names, nothing allocated.
  void replace(std::span<const double> cost);
  // Becomes what other.squared() is; both have their sizes already.
  void replace_by_square(const CostMatrix& other);

  std::size_t k() const { return k_; }                // truths
  std::size_t predictions() const { return width_; }  // K
  // Names of the predictions where they are not just the classes.
  const std::vector<std::string>& prediction_names() const { return prediction_names_; }
  bool has_actions() const { return !prediction_names_.empty(); }
  // The class that prediction p is, or none.
  std::optional<std::size_t> class_of(std::size_t p) const {
    if (!has_actions()) return p;
    return class_of_[p] < 0 ? std::optional<std::size_t>() : static_cast<std::size_t>(class_of_[p]);
  }
  // For every entry the column of the data that holds it, or nothing; none: the costs are the same for all examples.
  const std::vector<std::string>& columns() const { return columns_; }
  bool varies() const { return !columns_.empty(); }
  const std::string& name() const { return name_; }  // zero-one, absolute, squared, hamming or matrix
  LossKind kind() const { return kind_; }
  double scale() const { return scale_; }  // cost = scale * (zero-one or absolute) for those kinds
  bool symmetric() const { return symmetric_; }
  double largest() const { return largest_; }
  double range() const { return largest_ - smallest_; }  // largest - smallest entry, the diagonal included
  // The mean cost of a mistake: of cost[t][p] - min cost[t] over t and all p but one that is best; positive unless
  // there is one prediction only, whatever the sign of the costs. Predictions that nobody would make, because another
  // one never costs more, do not count: a column nobody uses does not change the unit of the costs.
  double mean_off_diagonal() const { return mean_off_diagonal_; }
  double operator()(std::size_t truth, std::size_t predicted) const { return by_truth_[truth * width_ + predicted]; }
  // cost[t][.]: what each prediction costs when the truth is t (a column of A).
  std::span<const double> of_truth(std::size_t t) const { return {by_truth_.data() + t * width_, width_}; }
  // cost[.][p]: what predicting p costs under each truth (a row of A).
  std::span<const double> of_prediction(std::size_t p) const { return {by_prediction_.data() + p * k_, k_}; }
  const std::vector<double>& values() const { return by_truth_; }

 private:
  void set_values(std::vector<double> cost);
  void find_pointless();
  void derive();  // everything that follows from the entries by truth
  std::size_t k_ = 0, width_ = 0;
  std::vector<std::string> prediction_names_, columns_;
  std::vector<std::int32_t> class_of_;  // of every prediction where some are no classes; -1: it is none
  std::vector<char> pointless_;         // 1: another prediction never costs more, and for some truth less
  std::string name_;
  LossKind kind_ = LossKind::matrix;
  double scale_ = 1, largest_ = 0, smallest_ = 0, mean_off_diagonal_ = 0;
  bool symmetric_ = true;
  std::vector<double> by_truth_, by_prediction_;
};

// The words in a file of costs that are no names of classes and predictions: they may be columns of the data.
std::vector<std::string> words_in_costs(const std::string& path);

// Mean over sequences of the mean cost of their tokens; weighted unless `weight` is empty. All labels are known.
double mean_sequence_cost(const CostMatrix& cost, const Groups& tokens, std::span<const std::int32_t> truth,
                          std::span<const std::int32_t> predicted, std::span<const double> weight = {});

// Mean cost of predictions; weighted unless `weight` is empty. All labels are known.
double mean_cost(const CostMatrix& cost, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                 std::span<const double> weight);

// A cost matrix as the solvers see it: padded rows ready for vector instructions.
//   apply            A mu     expected cost of every prediction under mu     O(k^2)
//   apply_transposed A^T nu   expected cost of every truth under nu          O(k^2)

class SimplexLoss {
 public:
  explicit SimplexLoss(const CostMatrix& cost)
      : cost_(&cost),
        width_(kernels::padded(cost.predictions())),
        height_(kernels::padded(cost.k())),
        truth_(cost.k() * width_, 0.0),
        prediction_(cost.predictions() * height_, 0.0) {
    read();
  }
  // Reads the numbers of the cost matrix again.
  void read() {
    for (std::size_t t = 0; t < k(); ++t)
      for (std::size_t p = 0; p < cost_->predictions(); ++p)
        truth_[t * width_ + p] = prediction_[p * height_ + t] = (*cost_)(t, p);
  }
  const CostMatrix& cost() const { return *cost_; }
  std::size_t k() const { return cost_->k(); }
  std::size_t padded_predictions() const { return width_; }

  // cost[t][.], padded with zeros.
  std::span<const double> of_truth(std::size_t t) const { return {truth_.data() + t * width_, width_}; }
  // Of k numbers, to the first K of `out`, padded.
  void apply(std::span<const double> mu, std::span<double> out) const {
    kernels::dense_scores(mu.first(k()), truth_.data(), nullptr, out.first(width_));
  }
  // Of K numbers, to the first k of `out`, padded.
  void apply_transposed(std::span<const double> nu, std::span<double> out) const {
    kernels::dense_scores(nu.first(cost_->predictions()), prediction_.data(), nullptr, out.first(height_));
  }
  // h(mu) = min_y (A mu)_y; `scratch` receives A mu.
  double bayes_risk(std::span<const double> mu, std::span<double> scratch) const {
    apply(mu, scratch);
    return *std::min_element(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(cost_->predictions()));
  }

 private:
  const CostMatrix* cost_;
  std::size_t width_, height_;  // of rows: padded predictions, padded truths
  AlignedVector<double> truth_, prediction_;
};

}  // namespace m4n::detail
