// Losses of permutations: PositionLoss, the choice that options make (PositionLossChoice), and the losses and parts of
// examples of different sizes (PositionLosses, PermutationParts).
//
// What a wrong permutation costs, for losses that look at one item at a time:
//
//     L(t, y) = c0 + sum_i w_i B[t_i][y_i]
//
// A permutation y gives the position of every item, all counted from 0: item i is at position y[i]. Its matrix has
// P[i][y_i] = 1, by rows of M, one row per item. B[k][j] is what an item costs that is truly at position k and
// predicted at position j. With the means P of the truth and Q of the prediction (both doubly stochastic) the expected
// loss is c0 + <Q, A P> with
//
//     (A P)[i][j] = w_i sum_k P[i][k] B[k][j],        (A^T Q)[i][k] = w_i sum_j B[k][j] Q[i][j]
//
// Losses are averages over items, or shares of the best:
//
//     hamming            1/M sum_i [t_i != y_i]
//     weighted hamming   1/M sum_i weight_i [t_i != y_i]
//     footrule           1/M sum_i |t_i - y_i|
//     squared            1/M sum_i (t_i - y_i)^2                                   (Spearman)
//     precision at k     1 - 1/k sum_i [t_i < k] [y_i < k]
//     dcg                1 - sum_i gain[t_i] discount[y_i] / sum_j gain[j] discount[j]
//     matrix             1/M sum_i cost[t_i][y_i]
//
// Squared, precision and dcg are of rank one: L = c0 - sum_i gain[t_i] discount[y_i], with gains and discounts that
// fall along the positions.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace m4n::detail {

class PositionLoss {
 public:
  enum class Form { hamming, rank_one, general };  // hamming: B = 1 - identity, with any weights w >= 0

  static PositionLoss hamming(std::size_t size);
  static PositionLoss weighted_hamming(std::span<const double> weights);
  static PositionLoss footrule(std::size_t size);
  static PositionLoss squared(std::size_t size);
  static PositionLoss precision_at(std::size_t size, std::size_t k);
  // Both must be nonnegative and never rise from one position to the next.
  static PositionLoss dcg(std::span<const double> gains, std::span<const double> discounts);
  // The usual discount, 1 / log2(2 + position).
  static PositionLoss dcg(std::span<const double> gains);
  // Any costs, cost[true][predicted] by rows; no wrong permutation may be cheaper than the right one.
  static PositionLoss matrix(std::span<const double> costs, std::size_t size);

  std::size_t size() const { return size_; }
  const std::string& name() const { return name_; }
  Form form() const { return form_; }
  double constant() const { return constant_; }                                                              // c0
  std::span<const double> weights() const { return weights_; }                                               // w
  double cost(std::size_t truth, std::size_t predicted) const { return costs_[truth * size_ + predicted]; }  // B
  std::span<const double> gains() const { return gains_; }          // rank one only: of true positions
  std::span<const double> discounts() const { return discounts_; }  // rank one only: of predicted positions

  double operator()(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) const;
  // c0 is in neither of these.
  void apply(std::span<const double> truth, std::span<double> out) const;                 // A P
  void apply_transposed(std::span<const double> predicted, std::span<double> out) const;  // A^T Q

  double minimum() const { return minimum_; }  // of L over all pairs of permutations: that of a right prediction
  double maximum() const { return maximum_; }
  double range() const { return maximum_ - minimum_; }
  // What an item at a wrong position costs in the mean, if the loss were a mean over items: M/(M-1) times the expected
  // loss of a random permutation above that of a right one. 1 for hamming.
  double mean_mistake() const;

 private:
  PositionLoss(std::string name, Form form, std::size_t size);
  static PositionLoss rank_one(std::string name, double constant, std::vector<double> gains,
                               std::vector<double> discounts);
  void find_extremes();
  void multiply(std::span<const double> p, bool transposed, std::span<double> out) const;

  std::string name_;
  Form form_;
  std::size_t size_;
  bool equal_ = true;  // all weights are
  double constant_ = 0, minimum_ = 0, maximum_ = 0;
  std::vector<double> weights_, costs_, gains_, discounts_;
};

// A position loss as users name it, before or after the number of items is known:
//
//     hamming, footrule, spearman (squared), precision@K, dcg     by name, for any number of items
//     weighted                                                    one weight per item: Hamming with weights
//     matrix                                                      cost[true position][predicted position]
//
// The gain of dcg is M - 1 - j at position j, its discount 1 / log2(2 + j).

// Items of a ranking: scores and costs grow with their square.
inline constexpr std::size_t largest_ranking = 1000;

class PositionLossChoice {
 public:
  // `spec`: a name, or a CSV file with one row of weights or M rows of costs, perhaps below a row with the names of the
  // items. `items`: their names; none where their number varies (matching).
  static PositionLossChoice parse(const std::string& spec, const std::vector<std::string>& items);
  // Weights (M numbers) or costs (M x M).
  static PositionLossChoice from_values(const std::vector<double>& values, std::size_t items,
                                        const std::string& origin);
  // What a model remembers: its loss by name, and the numbers of those that have any. Throws Error where they do not
  // belong together.
  static PositionLossChoice remembered(const std::string& name, const std::vector<double>& values, std::size_t items);

  const std::string& name() const { return name_; }
  const std::vector<double>& values() const { return values_; }
  PositionLoss make(std::size_t items) const;
  // One score per item is enough, as the loss is of rank one; otherwise one per cell (item, position).
  bool scores_items() const { return scores_items(name_); }
  static bool scores_items(const std::string& name);

 private:
  std::string name_;
  std::vector<double> values_;
};

// One loss for permutations of every size that occurs, and the parts in which its solvers think.

class PositionLosses {
 public:
  // A loss for a number of items.
  using Make = std::function<PositionLoss(std::size_t)>;

  explicit PositionLosses(Make make) : make_(std::move(make)) {}
  void prepare(std::size_t size) {
    if (!losses_.contains(size)) losses_.emplace(size, make_(size));
  }
  // Of a size that was prepared. May be asked from several threads.
  const PositionLoss& of(std::size_t size) const { return losses_.at(size); }

 private:
  Make make_;
  std::map<std::size_t, PositionLoss> losses_;
};

// The cells of a permutation's matrix, M x M by rows; or, where parts are items, what a position gains.
class PermutationParts {
 public:
  // Null: cells.
  explicit PermutationParts(const PositionLoss* rank_one = nullptr) : rank_one_(rank_one) {}
  bool items() const { return rank_one_ != nullptr; }
  std::size_t count(std::size_t size) const { return items() ? size : size * size; }

  // mu = phi(y); what lies beyond its parts is set to zero.
  void embed(std::span<const std::int32_t> y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto j = static_cast<std::size_t>(y[i]);
      if (items()) {
        mu[i] = rank_one_->gains()[j];
      } else {
        mu[i * y.size() + j] = 1;
      }
    }
  }
  // v . phi(y)
  double score(std::span<const double> v, std::span<const std::int32_t> y) const {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto j = static_cast<std::size_t>(y[i]);
      sum += items() ? v[i] * rank_one_->gains()[j] : v[i * y.size() + j];
    }
    return sum;
  }
  // No permutation scores more: every item where it likes best to be.
  double most(std::span<const double> v, std::size_t size) const {
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double best = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < size; ++j)
        best = std::max(best, items() ? v[i] * rank_one_->gains()[j] : v[i * size + j]);
      sum += best;
    }
    return sum;
  }
  // The score of every cell.
  void cells(std::span<const double> v, std::size_t size, std::span<double> out) const {
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        out[i * size + j] = items() ? v[i] * rank_one_->gains()[j] : v[i * size + j];
  }
  // From the mean p of cells to that of parts.
  void gather(std::span<const double> p, std::size_t size, std::span<double> mu) const {
    if (!items()) {
      std::copy_n(p.begin(), size * size, mu.begin());
      return;
    }
    for (std::size_t i = 0; i < size; ++i) {
      mu[i] = 0;
      for (std::size_t j = 0; j < size; ++j) mu[i] += p[i * size + j] * rank_one_->gains()[j];
    }
  }

 private:
  const PositionLoss* rank_one_;
};

// Rankings with a loss of rank one need one score per item; everything else one score per cell. `loss` must outlive it.
inline PermutationParts ranking_parts(const PositionLoss& loss, bool ranking) {
  return PermutationParts(ranking && loss.form() == PositionLoss::Form::rank_one ? &loss : nullptr);
}

}  // namespace m4n::detail
