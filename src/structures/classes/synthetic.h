// Data whose best possible risk is known exactly.
//
// The input lies in one of R equally likely regions. In region r the label is t with probability P[r][t], a fixed table
// in whole percents. The features say which region it is, one 0/1 column per region, so every rule "region -> answer"
// is linear in them. For a cost matrix the expected cost of a rule f is
//
//   risk(f) = 1/R sum_r sum_t P[r][t] cost[t][f(r)],        Bayes risk = min over f, one region at a time.
//
// Both are finite sums: the excess risk of a trained model carries no noise of a test sample.
//
// multiclass: 4 classes. In 6 of the 8 regions no class has probability above 1/2. The best leads by 0.15 or more.
//
// ordinal: 5 grades. The median (best for |t - p|), the rounded mean (best for (t - p)^2) and the 3/4-quantile (best
// when a grade too low costs three times a grade too high) are far from ties, and in no region are all three the same.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/rng.h"
#include "losses/cost_matrix.h"
#include "m4n/dataset.h"
#include "structures/classes/labels.h"
#include "structures/structure.h"

namespace m4n::detail {

class SyntheticProblem {
 public:
  explicit SyntheticProblem(Order order);

  struct Draw {
    std::size_t region;
    std::int32_t label;
  };
  // Examples one after the other; the same seed gives the same ones on every machine, and a longer run begins with a
  // shorter one.
  class Sampler {
   public:
    Sampler(const SyntheticProblem& problem, std::uint64_t seed);
    Draw next();

   private:
    const SyntheticProblem& problem_;
    Rng rng_;
  };

  Order order() const { return order_; }
  const char* task() const { return order_ == Order::grades ? "ordinal" : "multiclass"; }
  std::size_t regions() const { return regions_; }
  std::size_t k() const { return k_; }
  int percent(std::size_t region, std::size_t label) const { return percent_[region * k_ + label]; }

  // The cost this task is usually judged by: zero-one, or absolute for ordinal.
  CostMatrix usual_cost() const;
  // Expected cost of the rule that answers answer[r] in region r.
  double risk(const CostMatrix& cost, std::span<const std::int32_t> answer) const;
  std::vector<std::int32_t> best_rule(const CostMatrix& cost) const;
  double bayes_risk(const CostMatrix& cost) const { return risk(cost, best_rule(cost)); }

  std::vector<std::string> feature_names() const;  // x1 .. xR
  std::vector<std::string> class_names() const;    // 0 .. k-1
  // n examples, with the region indicators as sparse features.
  Dataset sample(std::size_t n, std::uint64_t seed) const;
  // One row of features per region, in their order: predictions on them are the rule a model has learnt.
  SparseMatrix one_row_per_region() const;

 private:
  // 100 x the expected cost of answering p in region r.
  double cost_in_percent(const CostMatrix& cost, std::size_t region, std::size_t p) const;

  Order order_;
  std::size_t regions_, k_;
  std::span<const int> percent_;  // regions x k, by region
};

// Loans, each with its own costs. x1..x8 say in which of 8 equally likely regions an applicant lies; of loans in region
// r the share p_r is not paid back, and the profit of one that is paid back is the share q_r of its amount. Amounts are
// drawn from a fixed list, whatever the region. Answering "repaid" costs the amount where the truth is default;
// answering "default" costs the profit where it is repaid. So in region r the best answer is "repaid" where
// p_r < (1 - p_r) q_r, and the Bayes risk is the mean amount times the mean over regions of the smaller of the two.
namespace loans {

inline constexpr std::size_t regions = 8;
inline constexpr std::array<double, regions> default_share{0.04, 0.12, 0.25, 0.30, 0.35, 0.45, 0.60, 0.08};
inline constexpr std::array<double, regions> profit_share{0.20, 0.30, 0.15, 0.20, 0.80, 0.40, 0.30, 0.40};
inline constexpr std::array<double, 8> amounts{100, 200, 500, 1000, 2000, 5000, 10000, 20000};
inline constexpr const char* costs = ",default,repaid\ndefault,0,amount\nrepaid,profit,0\n";

// Expected cost per unit of the amount of answering `repaid` or not in a region.
constexpr double risk(std::size_t region, bool repaid) {
  return repaid ? default_share[region] : (1 - default_share[region]) * profit_share[region];
}
double mean_amount();
double bayes_risk();

}  // namespace loans

// CSV x1..x8,amount,profit,label, with the file of costs.
Generated write_loans(std::size_t n, std::uint64_t seed, TextSink& sink);

// Classes drawn from a softmax of linear scores: x standard normal in R^d, P(y | x) proportional to exp(x . W_y / 5)
// with one normal W for all seeds. CSV x1..xd,label. The Bayes risk is that of the zero-one loss given the inputs
// drawn.
Generated write_softmax(const GenerateRequest& request, TextSink& sink);

// The examples as CSV x1..xR,label, a piece at a time.
Generated write_synthetic(const SyntheticProblem& problem, std::size_t n, std::uint64_t seed, TextSink& sink);

}  // namespace m4n::detail
