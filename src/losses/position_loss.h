// What a wrong permutation costs, for losses that look at one item at a time:
//
//     L(t, y) = c0 + sum_i w_i B[t_i][y_i]
//
// A permutation y gives the position of every item, all counted from 0: item i is at position y[i]. Its matrix has
// P[i][y_i] = 1, by rows of M, one row an item. B[k][j] is what an item costs that is truly at position k and predicted
// at position j. With the means P of the truth and Q of the prediction (both doubly stochastic) the expected loss is
// c0 + <Q, A P> with
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
#include <cstddef>
#include <cstdint>
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

}  // namespace m4n::detail
