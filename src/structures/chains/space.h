// Inference on a chain: its scores, Viterbi, the K best labellings, and sum-product.
//
// What is predicted when there is one label at each of M >= 1 positions in a row. The score of a labelling is
//
//     score(y) = start[y_1] + sum_m unary[m][y_m] + sum_m T[y_m][y_m+1] + end[y_M]
//
// with T, start and end shared by all chains. Unary scores are kept in double, one padded row per position, as
// kernels::dense_scores writes them; each precision and each use of the transitions has its own prepared copy, made
// once per weight vector:
//   Transitions       double, by rows and by columns    Viterbi, rescoring, games      O(R^2)
//   FloatTransitions  the same in float                 fast Viterbi                   O(R^2)
//   ExpTransitions    exp(T - max T)                    sum-product                    O(R^2) exponentials
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/views.h"
#include "structures/chains/kernels.h"
#include "structures/classes/space.h"

namespace m4n::detail {

class Transitions {
 public:
  // `from_to` has R rows of R columns. Without `start` or `end` (empty) these scores are zero. `penalties`: added to
  // all of them, R x R transitions, R starts, R ends (ChainConstraints::penalties); or none.
  void prepare(PaddedRows<const double> from_to, std::span<const double> start, std::span<const double> end,
               std::span<const double> penalties = {});

  std::size_t labels() const { return from_to_.view().columns(); }
  double operator()(std::size_t from, std::size_t to) const { return from_to_.view()(from, to); }
  bool constant() const { return constant_; }  // all transitions score alike
  double start(std::size_t label) const { return start_[label]; }
  double end(std::size_t label) const { return end_[label]; }
  kernels::TransitionRows<double> rows() const {
    return {from_to_.view(), to_from_.view(), start_.data(), end_.data()};
  }

 private:
  PaddedMatrix<double> from_to_, to_from_;
  AlignedVector<double> start_, end_;
  bool constant_ = true;
};

class FloatTransitions {
 public:
  void prepare(const Transitions& exact);
  kernels::TransitionRows<float> rows() const { return {from_to_.view(), to_from_.view(), start_.data(), end_.data()}; }

 private:
  PaddedMatrix<float> from_to_, to_from_;
  AlignedVector<float> start_, end_;
};

class ExpTransitions {
 public:
  void prepare(const Transitions& exact);
  PaddedRows<const double> from_to() const { return from_to_.view(); }  // exp(T - shift), padded with 0
  PaddedRows<const double> to_from() const { return to_from_.view(); }
  double shift() const { return shift_; }    // max T
  double spread() const { return spread_; }  // max T - min T, of those that exist

 private:
  PaddedMatrix<double> from_to_, to_from_;
  double shift_ = 0, spread_ = 0;
};

// The scores of one chain: M rows of R unary scores and the shared transitions. Scores are finite.
struct ChainScores {
  PaddedRows<const double> unary;
  const Transitions* transitions;

  std::size_t length() const { return unary.rows(); }
  std::size_t labels() const { return unary.columns(); }
};

double score(const ChainScores& v, LabelView y);

// The best labellings of a chain. Ties go to the smallest label: of several best paths the one whose last label is
// smallest, then the label before, and so on to the front.
//
//   Viterbi   argmax_y score(y)               O(M R^2) adds and maxima, values only; the path is found by going back
//                                             and looking for the maximum again, O(M R)
//   KBest     the K best, in order of score   O(M R^2 K)
//
// In float the path is best up to the rounding of sums in float (relative 1e-7 of the largest partial score); its score
// is evaluated in double, and so never above the maximum. In double it is exact up to the rounding of double.

// One object per thread; nothing is allocated once the longest chain was seen.
class Viterbi {
 public:
  // Writes the best path into y (M labels) and returns its score.
  double solve(const ChainScores& v, std::span<std::int32_t> y);
  double solve_in_float(const ChainScores& v, const FloatTransitions& transitions, std::span<std::int32_t> y);

 private:
  PaddedMatrix<double> forward_;
  PaddedMatrix<float> forward_float_;
};

class KBest {
 public:
  // Finds the min(count, R^M) best paths, or as many as are allowed.
  void solve(const ChainScores& v, std::size_t count);
  std::size_t size() const { return score_.size(); }
  double score(std::size_t rank) const { return score_[rank]; }
  LabelView path(std::size_t rank) const { return {path_.data() + rank * length_, length_}; }

 private:
  // The rank-th best partial path that ends in a label at a position, and where it comes from.
  struct Partial {
    double value;
    std::int32_t label, rank;  // at the position before
  };
  std::span<Partial> cell(std::size_t m, std::size_t k) {
    return {partial_.data() + (m * labels_ + k) * count_, count_};
  }
  // Merges the ranked lists of all labels at position m - 1, each shifted by shift(j), into the `limit` best.
  template <class Shift>
  void merge(std::size_t m, std::size_t limit, Shift&& shift, std::span<Partial> out);

  std::size_t length_ = 0, labels_ = 0, count_ = 0;
  std::vector<Partial> partial_, last_;
  std::vector<std::size_t> found_;  // how many partial paths end at position m (in each of its labels)
  std::vector<std::size_t> head_;   // of each list that is merged
  std::vector<std::int32_t> path_;
  std::vector<double> score_;
};

// The Gibbs distribution p(y) ~ exp(score(y)) of a chain: log of its partition function, the marginals of every
// position and the expected number of every transition, that is the gradient of the log-partition function. O(M R^2).
//
// In linear space, each position scaled to sum 1, with the exponentials of T prepared: multiply-adds only. Nothing
// underflows while spread(T) + spread(unary row) stays below 600: then every label keeps at least e^-600 of the mass of
// its position whatever came before. Beyond that the recursion runs on logarithms, several times slower.

// One object per thread; nothing is allocated once the longest chain was seen.
class SumProduct {
 public:
  // Returns log sum_y exp(score(y)). `exp` was prepared from v.transitions.
  double solve(const ChainScores& v, const ExpTransitions& exp);

  // Of the chain solved last. Rows are padded with 0. The start and end scores have the marginals of the first and the
  // last position as their gradient.
  PaddedRows<const double> marginals() const { return marginal_.view(); }
  // Writes count[j][k] = expected number of transitions from j to k (R x R; all 0 for one position).
  void transition_counts(const ChainScores& v, const ExpTransitions& exp, PaddedRows<double> count);

  // Of the chain solved last: whether it needed logarithms.
  bool used_logarithms() const { return logarithmic_; }

 private:
  double solve_linear(const ExpTransitions& exp);
  double solve_logarithmic(const ChainScores& v);

  bool logarithmic_ = false;
  PaddedMatrix<double> unary_;    // with the start and end scores
  PaddedMatrix<double> weight_;   // exp(unary - maximum of the row)
  PaddedMatrix<double> forward_;  // alpha; or its logarithm, less the log-partition function
  PaddedMatrix<double> arrival_;  // q of structures/chains/kernels.h; or log (unary weight x beta)
  PaddedMatrix<double> marginal_, edge_;
  std::vector<double> scale_;
  double top_ = 0;  // sum of the maxima of the rows
};

}  // namespace m4n::detail
