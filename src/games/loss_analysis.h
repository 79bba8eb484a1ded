// What a loss asks of a surrogate: whether max-margin (M3N) is consistent for it, and how much excess risk an excess of
// the surrogate's risk can mean. L(y, t) is the cost of predicting y where t is true, l_y(p) = sum_t p_t L(y, t) the
// expected cost of y, h(p) = min_y l_y(p).
//
// Max-margin. At p the least expected loss of M3N is the largest mean cost of a coupling of p with itself,
//     min_v R(v; p) = max { sum pi(t, y) L(y, t) :  both margins of pi are p },
// and among scores for which j is (one of) the largest,
//     min_v R(v; p) = max { sum pi(t, y) max(L(y, t), L(j, t)) :  both margins of pi are p }.
// M3N is inconsistent where both agree for a j that is not optimal at p. The first is linear in p on cones spanned by
// the uniform distributions on cycles of labels; on such a cone the second, which is concave, is nowhere below it. So
// if they agree at p, they agree all over the face of the cone that p is inside of, and j, whose excess risk is convex,
// is not optimal at one of its corners. It is enough to look at uniform distributions on sets of labels, where both
// linear programs are assignment problems: 2^k of them decide it. Beyond `most_subsets_of` labels sets of two and three
// are tried, and distances on a line (absolute) are consistent. Distances in a tree that branches are not: where three
// labels surround a node, the nearest of them may be predicted when the truth is one of the other two.
//
// M4N, decoded by the largest score: E(d o g) - E* <= C (R(g) - R*). At p the least risk with j among the largest
// scores is max h(q) over the q that come from p by moving mass to j. On a cell of h (one best answer) the gap of that
// is concave and the excess risk of j linear, so the largest ratio C is at a corner of the cells: these are the
// vertices of { (q, s) : s <= L q, q a distribution }, and each takes a linear program per j. The paper's theorem has
// instead the C of the condition alpha_y >= 1/C wherever y is optimal, which is never smaller.
//
// CRF, decided by expected cost: E(d o g) - E* <= c sqrt(R(g) - R*). For i against j, with M and -m the largest and
// least L(j, t) - L(i, t), the divergence needed for an excess e is that of two truths (Hoeffding's argument), which
// gives
//     c_ij^2 = (M + m)^2 (1 - 2q) / log((1 - q) / q),    q = m / (M + m)   (q = 1/2:  (M + m)^2 / 2)
// QS: E(d o g) - E* <= sqrt(2) sqrt(R(g) - R*) for every loss, as |v - v*|^2 >= e^2 / 2 where two scores change places.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"

namespace m4n::detail {

// Bounds of a constant; equal where it is exact, infinite where no finite one is known (or there is none).
struct ConstantBounds {
  double lower = 0, upper = 0;
  bool exact() const { return lower == upper; }
};

struct LossAnalysis {
  // Of max-margin: nothing where it is not known, or where `why` says that it does not apply.
  std::optional<bool> m3n_consistent;
  std::string m3n_why;                 // what decided it, or why it is open
  std::vector<double> counterexample;  // a distribution of truths, where it is inconsistent
  std::size_t wrong = 0;               // a label that max-margin may predict there, and that costs more than another

  std::optional<ConstantBounds> m4n;  // nothing: predictions are not the truths, and no largest score is decoded
  ConstantBounds theorem;             // of the paper's condition; infinite where it does not hold
  ConstantBounds crf, qs;
};

inline constexpr std::size_t most_subsets_of = 13;

LossAnalysis analyse_loss(const CostMatrix& cost);

}  // namespace m4n::detail
