// The best labellings of a chain. Ties go to the smallest label: of several best paths the one whose last label is
// smallest, then the label before, and so on to the front.
//
//   Viterbi   argmax_y score(y)               O(M R^2) adds and maxima, values only; the path is found by going back
//                                             and looking for the maximum again, O(M R)
//   KBest     the K best, in order of score   O(M R^2 K)
//
// In float the path is best up to the rounding of sums in float (relative 1e-7 of the largest partial score); its score
// is evaluated in double, and so never above the maximum. In double it is exact up to the rounding of double.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/padded_rows.h"
#include "structures/chains/chain.h"

namespace m4n::detail {

// One object a thread; nothing is allocated once the longest chain was seen.
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
  // Finds the min(count, R^M) best paths.
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

}  // namespace m4n::detail
