// What is predicted when there is one label at each of M >= 1 positions in a row. The score of a labelling is
//
//     score(y) = start[y_1] + sum_m unary[m][y_m] + sum_m T[y_m][y_m+1] + end[y_M]
//
// with T, start and end shared by all chains. Unary scores are kept in double, one padded row a position, as
// kernels::dense_scores writes them; each precision and each use of the transitions has its own prepared copy, made
// once per weight vector:
//   Transitions       double, by rows and by columns    Viterbi, rescoring, games      O(R^2)
//   FloatTransitions  the same in float                 fast Viterbi                   O(R^2)
//   ExpTransitions    exp(T - max T)                    sum-product                    O(R^2) exponentials
#pragma once
#include <cstddef>
#include <span>

#include "core/aligned.h"
#include "core/padded_rows.h"
#include "structures/chains/kernels.h"
#include "structures/classes/space.h"

namespace m4n::detail {

class Transitions {
 public:
  // `from_to` has R rows of R columns. Without `start` or `end` (empty) these scores are zero.
  void prepare(PaddedRows<const double> from_to, std::span<const double> start, std::span<const double> end);

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
  double spread() const { return spread_; }  // max T - min T

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

}  // namespace m4n::detail
