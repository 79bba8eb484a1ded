// Consistency and constants of losses (loss_analysis.h).
#include "games/loss_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "core/assignment.h"
#include "core/dense_lp.h"

namespace m4n::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(), close = 1e-9;

// Costs in units of their range, so that tolerances mean the same for all.
class ScaledCosts {
 public:
  explicit ScaledCosts(const CostMatrix& cost) : truths(cost.k()), answers(cost.predictions()) {
    const double least = *std::min_element(cost.values().begin(), cost.values().end());
    unit = cost.range() > 0 ? cost.range() : 1;
    for (const double c : cost.values()) values_.push_back((c - least) / unit);
  }
  double operator()(std::size_t answer, std::size_t truth) const { return values_[truth * answers + answer]; }
  double expected(std::size_t answer, const std::vector<double>& p) const {
    double sum = 0;
    for (std::size_t t = 0; t < truths; ++t) sum += p[t] * (*this)(answer, t);
    return sum;
  }
  double risk(const std::vector<double>& p) const {
    double least = infinite;
    for (std::size_t y = 0; y < answers; ++y) least = std::min(least, expected(y, p));
    return least;
  }

  std::size_t truths, answers;
  double unit = 1;

 private:
  std::vector<double> values_;
};

std::vector<double> uniform_on(const std::vector<std::size_t>& labels, std::size_t k) {
  std::vector<double> p(k);
  for (const std::size_t t : labels) p[t] = 1 / static_cast<double>(labels.size());
  return p;
}

// The label that max-margin may predict, wrongly, at the uniform distribution on a set of labels.
std::optional<std::size_t> misled(const ScaledCosts& cost, const std::vector<std::size_t>& labels) {
  const std::size_t m = labels.size();
  const std::vector<double> p = uniform_on(labels, cost.truths);
  const double best = cost.risk(p);
  std::vector<double> weight(m * m);
  Assignment assignment;
  const auto largest_coupling = [&](std::optional<std::size_t> j) {
    for (std::size_t a = 0; a < m; ++a)
      for (std::size_t b = 0; b < m; ++b) {
        const double own = cost(labels[b], labels[a]);
        weight[a * m + b] = j ? std::max(own, cost(*j, labels[a])) : own;
      }
    return assignment.solve(weight, m);
  };
  const double least = largest_coupling(std::nullopt);
  for (std::size_t j = 0; j < cost.answers; ++j)
    if (cost.expected(j, p) > best + close && largest_coupling(j) <= least + close * static_cast<double>(m)) return j;
  return std::nullopt;
}

// Whether costs are the distances of points on a line: then those to an end of it are their places.
bool are_distances_on_a_line(const ScaledCosts& cost) {
  const std::size_t k = cost.truths;
  std::size_t end = 0;
  for (std::size_t t = 0; t < k; ++t)
    if (cost(0, t) > cost(0, end)) end = t;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = 0; b < k; ++b)
      if (std::abs(std::abs(cost(end, a) - cost(end, b)) - cost(a, b)) > close) return false;
  return true;
}

void decide_max_margin(const ScaledCosts& cost, LossAnalysis& out) {
  const std::size_t k = cost.truths;
  const auto found = [&](const std::vector<std::size_t>& labels) {
    const auto wrong = misled(cost, labels);
    if (!wrong) return false;
    out.m3n_consistent = false;
    out.m3n_why = "at the counterexample a worse answer is among the minimisers of the max-margin risk";
    out.counterexample = uniform_on(labels, k);
    out.wrong = *wrong;
    return true;
  };
  // Small sets first: simple counterexamples.
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = a + 1; b < k; ++b)
      if (found({a, b})) return;
  if (k <= most_subsets_of) {
    for (std::size_t size = 1; size <= k; ++size)
      for (std::uint32_t set = 1; set < (1U << k); ++set) {
        if (static_cast<std::size_t>(std::popcount(set)) != size) continue;
        std::vector<std::size_t> labels;
        for (std::size_t t = 0; t < k; ++t)
          if (set >> t & 1U) labels.push_back(t);
        if (found(labels)) return;
      }
    out.m3n_consistent = true;
    out.m3n_why = fmt::format("the linear programs of all {} sets of labels agree", (1U << k) - 1);
    return;
  }
  if (are_distances_on_a_line(cost)) {
    out.m3n_consistent = true;
    out.m3n_why = "the costs are distances on a line";
    return;
  }
  constexpr std::size_t most_triples_of = 40;
  for (std::size_t a = 0; a < k && k <= most_triples_of; ++a)
    for (std::size_t b = a + 1; b < k; ++b)
      for (std::size_t c = b + 1; c < k; ++c)
        if (found({a, b, c})) return;
  out.m3n_why = fmt::format("{} labels are too many to try all sets of them, and small sets show nothing", k);
}

// How much max h rises above h(p) where mass may move to j.
double rise(const ScaledCosts& cost, const std::vector<double>& p, std::size_t j) {
  const double h = cost.risk(p);
  std::vector<std::size_t> from;
  for (std::size_t i = 0; i < cost.truths; ++i)
    if (i != j && p[i] > 0) from.push_back(i);
  const std::size_t columns = from.size() + 1;
  std::vector<double> gain(columns), rows, bound;
  gain[0] = 1;
  for (std::size_t y = 0; y < cost.answers; ++y) {
    rows.push_back(1);
    for (const std::size_t i : from) rows.push_back(cost(y, i) - cost(y, j));
    bound.push_back(std::max(0.0, cost.expected(y, p) - h));
  }
  for (std::size_t c = 0; c < from.size(); ++c) {
    rows.resize(rows.size() + columns);
    rows[rows.size() - columns + 1 + c] = 1;
    bound.push_back(p[from[c]]);
  }
  return maximise_dense(gain, rows, bound);
}

// The vertex with this support and these active answers: their expected costs are equal, the others no smaller.
std::optional<std::vector<double>> vertex_of(const ScaledCosts& cost, const std::vector<std::size_t>& support,
                                             const std::vector<std::size_t>& active) {
  const std::size_t m = support.size(), width = m + 2;  // the masses, the level, the right-hand side
  std::vector<double> a((m + 1) * width);
  for (std::size_t r = 0; r < m; ++r) {
    for (std::size_t c = 0; c < m; ++c) a[r * width + c] = cost(active[r], support[c]);
    a[r * width + m] = -1;
  }
  for (std::size_t c = 0; c < m; ++c) a[m * width + c] = 1;
  a[m * width + m + 1] = 1;
  for (std::size_t c = 0; c <= m; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c; r <= m; ++r)
      if (std::abs(a[r * width + c]) > std::abs(a[pivot * width + c])) pivot = r;
    if (std::abs(a[pivot * width + c]) < 1e-10) return std::nullopt;
    for (std::size_t x = 0; x < width; ++x) std::swap(a[c * width + x], a[pivot * width + x]);
    for (std::size_t r = 0; r <= m; ++r) {
      const double factor = a[r * width + c] / a[c * width + c];
      for (std::size_t x = c; x < width && r != c; ++x) a[r * width + x] -= factor * a[c * width + x];
    }
  }
  std::vector<double> p(cost.truths);
  for (std::size_t c = 0; c < m; ++c) {
    const double mass = a[c * width + m + 1] / a[c * width + c];
    if (mass < -close) return std::nullopt;
    p[support[c]] = std::max(0.0, mass);
  }
  const double level = a[m * width + m + 1] / a[m * width + m];
  return cost.risk(p) >= level - close ? std::optional(p) : std::nullopt;
}

// All sets of `size` of 0..n-1, in turn.
template <class Body>
void each_set(std::size_t n, std::size_t size, Body&& body) {
  std::vector<std::size_t> set(size);
  std::iota(set.begin(), set.end(), std::size_t{0});
  for (;;) {
    body(set);
    std::size_t at = size;
    while (at > 0 && set[at - 1] == n - size + at - 1) --at;
    if (at == 0) return;
    ++set[at - 1];
    for (std::size_t i = at; i < size; ++i) set[i] = set[i - 1] + 1;
  }
}

// The largest ratio over vertices with a support of at most `most`.
double largest_ratio(const ScaledCosts& cost, std::size_t most) {
  std::vector<std::vector<double>> seen;
  double ratio = 0;
  const auto judge = [&](const std::vector<double>& p) {
    const double h = cost.risk(p);
    for (std::size_t j = 0; j < cost.answers; ++j) {
      const double excess = cost.expected(j, p) - h;
      if (excess <= close) continue;
      const double gap = rise(cost, p, j);
      ratio = std::max(ratio, gap > close ? excess / gap : infinite);
    }
  };
  for (std::size_t size = 1; size <= std::min({most, cost.truths, cost.answers}); ++size)
    each_set(cost.truths, size, [&](const std::vector<std::size_t>& support) {
      each_set(cost.answers, size, [&](const std::vector<std::size_t>& active) {
        const auto p = vertex_of(cost, support, active);
        if (!p) return;
        const bool known = std::any_of(seen.begin(), seen.end(), [&](const std::vector<double>& q) {
          for (std::size_t t = 0; t < q.size(); ++t)
            if (std::abs(q[t] - (*p)[t]) > close) return false;
          return true;
        });
        if (known) return;
        seen.push_back(*p);
        judge(*p);
      });
    });
  return ratio;
}

// Of the paper's condition: 1 over the least probability of a truth that is also the best answer.
double theorem_constant(const ScaledCosts& cost) {
  const std::size_t k = cost.truths;
  double least = 1;
  for (std::size_t y = 0; y < k; ++y) {
    // From certainty of y, mass z_i moves to i: max sum z while y stays optimal.
    std::vector<double> gain(k, 1), rows, bound;
    gain[y] = 0;
    for (std::size_t z = 0; z < k; ++z) {
      for (std::size_t i = 0; i < k; ++i)
        rows.push_back(i == y ? 0 : (cost(y, i) - cost(y, y)) - (cost(z, i) - cost(z, y)));
      bound.push_back(std::max(0.0, cost(z, y) - cost(y, y)));
    }
    rows.insert(rows.end(), k, 1.0);
    rows[rows.size() - k + y] = 0;
    bound.push_back(1);
    least = std::min(least, 1 - maximise_dense(gain, rows, bound));
  }
  return least > close ? 1 / least : infinite;
}

double binomial(std::size_t n, std::size_t m) {
  double out = 1;
  for (std::size_t i = 1; i <= m; ++i) out *= static_cast<double>(n - m + i) / static_cast<double>(i);
  return out;
}

// c_ij of the crf; the upper bound is over all pairs, the lower one over those for which j is among the best answers
// at the distribution that attains it.
ConstantBounds crf_constant(const ScaledCosts& cost) {
  ConstantBounds out;
  for (std::size_t i = 0; i < cost.answers; ++i)
    for (std::size_t j = 0; j < cost.answers; ++j) {
      std::size_t high = 0, low = 0;
      const auto difference = [&](std::size_t t) { return cost(j, t) - cost(i, t); };
      for (std::size_t t = 0; t < cost.truths; ++t) {
        if (difference(t) > difference(high)) high = t;
        if (difference(t) < difference(low)) low = t;
      }
      const double most = difference(high), least = -difference(low);
      if (most <= close || least <= close) continue;  // one of the two is never better
      const double q = least / (most + least);
      const double inner = std::abs(q - 0.5) < 1e-6 ? 0.5 : (1 - 2 * q) / std::log((1 - q) / q);
      const double constant = (most + least) * std::sqrt(inner) * cost.unit;
      out.upper = std::max(out.upper, constant);
      std::vector<double> p(cost.truths);
      p[high] = q;
      p[low] = 1 - q;
      if (cost.expected(j, p) <= cost.risk(p) + close) out.lower = std::max(out.lower, constant);
    }
  if (out.lower > out.upper * (1 - 1e-12)) out.lower = out.upper;
  return out;
}

// sqrt(2) wherever two answers can change places as the best ones with all others worse; that some do is found with the
// same distributions of two truths.
ConstantBounds qs_constant(const ScaledCosts& cost) {
  ConstantBounds out{0, std::sqrt(2.0)};
  constexpr std::size_t most_tries = 2'000'000;
  std::size_t tries = 0;
  for (std::size_t s = 0; s < cost.truths; ++s)
    for (std::size_t t = 0; t < cost.truths; ++t)
      for (std::size_t i = 0; i < cost.answers; ++i)
        for (std::size_t j = i + 1; j < cost.answers && tries < most_tries; ++j) {
          ++tries;
          const double at_s = cost(j, s) - cost(i, s), at_t = cost(j, t) - cost(i, t);
          if (at_s <= close || at_t >= -close) continue;
          std::vector<double> p(cost.truths);
          p[s] = at_t / (at_t - at_s);
          p[t] = 1 - p[s];
          const double tie = cost.expected(i, p);
          bool alone = true;
          for (std::size_t y = 0; y < cost.answers && alone; ++y)
            alone = y == i || y == j || cost.expected(y, p) > tie + close;
          if (alone) return {out.upper, out.upper};
        }
  return out;
}

}  // namespace

LossAnalysis analyse_loss(const CostMatrix& costs) {
  const ScaledCosts cost(costs);
  const std::size_t k = cost.truths;
  LossAnalysis out;
  out.theorem = {infinite, infinite};
  if (costs.has_actions()) {
    out.m3n_why = "max-margin scores labels against labels, and some predictions are none";
  } else {
    decide_max_margin(cost, out);
    constexpr std::size_t most_of_theorem = 50, most_of_pairs = 30;  // of their linear programs: seconds beyond
    if (costs.symmetric() && k <= most_of_theorem) {
      const double theorem = theorem_constant(cost);
      out.theorem = {theorem, theorem};
    }
    constexpr double most_bases = 50'000;
    if (binomial(2 * k, k) <= most_bases) {
      const double constant = largest_ratio(cost, k);
      out.m4n = {constant, constant};
    } else {
      out.m4n = {k <= most_of_pairs ? largest_ratio(cost, 2) : 0, out.theorem.upper};
    }
  }
  out.crf = crf_constant(cost);
  out.qs = qs_constant(cost);
  return out;
}

}  // namespace m4n::detail
