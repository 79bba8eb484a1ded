// The loop knows nothing of the simplex: here it learns permutations of three items (six outputs, nine parts) and pairs
// of labels with an edge between them, with surrogates that enumerate their outputs. This is the whole of what a new
// structure has to bring: a space, and a surrogate's four functions.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "scorer/linear.h"
#include "solver/gbcfw.h"
#include "solver/prox_ascent.h"

namespace m4n {
namespace {

// Any structure whose outputs can be listed: each a 0/1 vector of parts and a row of labels.
class ListedSpace {
 public:
  struct Output {
    std::vector<double> parts;
    std::vector<std::int32_t> label;
  };
  explicit ListedSpace(std::vector<Output> outputs) : outputs_(std::move(outputs)) {}
  const std::vector<Output>& outputs() const { return outputs_; }
  std::size_t parts() const { return outputs_[0].parts.size(); }

  void embed(LabelView y, std::span<double> mu) const {
    std::fill(mu.begin(), mu.end(), 0.0);
    const Output& o = find(y);
    std::copy(o.parts.begin(), o.parts.end(), mu.begin());
  }
  double score(std::span<const double> v, LabelView y) const { return score(v, find(y)); }
  double score(std::span<const double> v, const Output& o) const {
    return kernels::dot(v.first(parts()), std::span<const double>(o.parts));
  }
  double marginals(std::span<const double> v, std::span<double> mu) const {
    double top = -1e300, total = 0;
    for (const Output& o : outputs_) top = std::max(top, score(v, o));
    for (const Output& o : outputs_) total += std::exp(score(v, o) - top);
    std::fill(mu.begin(), mu.end(), 0.0);
    for (const Output& o : outputs_)
      for (std::size_t j = 0; j < parts(); ++j) mu[j] += o.parts[j] * std::exp(score(v, o) - top) / total;
    return top + std::log(total);
  }
  // Share of labels that differ.
  static double hamming(LabelView a, LabelView b) {
    double wrong = 0;
    for (std::size_t m = 0; m < a.size(); ++m) wrong += a[m] != b[m] ? 1 : 0;
    return wrong / static_cast<double>(a.size());
  }

 private:
  const Output& find(LabelView y) const {
    for (const Output& o : outputs_)
      if (std::equal(y.begin(), y.end(), o.label.begin())) return o;
    throw std::logic_error("no such output");
  }
  std::vector<Output> outputs_;
};
static_assert(OutputSpace<ListedSpace>);

ListedSpace permutations() {
  std::vector<ListedSpace::Output> out;
  std::vector<std::int32_t> p{0, 1, 2};
  do {
    ListedSpace::Output o{std::vector<double>(9, 0.0), p};
    for (std::size_t m = 0; m < 3; ++m) o.parts[3 * m + static_cast<std::size_t>(p[m])] = 1;
    out.push_back(o);
  } while (std::next_permutation(p.begin(), p.end()));
  return ListedSpace(out);
}

// Two positions with three labels each: 3 + 3 unary parts and 9 for the edge, as a chain of length two has.
ListedSpace chains() {
  std::vector<ListedSpace::Output> out;
  for (std::int32_t a = 0; a < 3; ++a)
    for (std::int32_t b = 0; b < 3; ++b) {
      ListedSpace::Output o{std::vector<double>(15, 0.0), {a, b}};
      o.parts[static_cast<std::size_t>(a)] = o.parts[static_cast<std::size_t>(3 + b)] =
          o.parts[static_cast<std::size_t>(6 + 3 * a + b)] = 1;
      out.push_back(o);
    }
  return ListedSpace(out);
}

// M3N with the Hamming loss: loss-augmented decoding by enumeration. The Hamming loss against a known truth is linear
// in the unary parts; here it is read off the outputs, so -Omega is evaluated through the linear form c.mu + constant.
class ListedMargin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {};
  ListedMargin(const ListedSpace& space, std::size_t unary) : space_(&space), unary_(unary) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const ListedSpace& space() const { return *space_; }
  double scale() const { return 1; }
  // 1 - (share of unary parts of mu that agree with y).
  double neg_omega(MarginalView mu, LabelView y, Workspace&) const {
    AlignedVector<double> truth(mu.size());
    space_->embed(y, truth);
    double agree = 0;
    for (std::size_t j = 0; j < unary_; ++j) agree += truth[j] * mu[j];
    return 1 - agree / static_cast<double>(y.size());
  }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit>, Workspace&) const {
    double best = -1e300;
    for (const auto& o : space_->outputs())
      best = std::max(best, space_->score(v, o) + ListedSpace::hamming(o.label, y));
    return best;
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    const double best = conjugate(v, y, state, ws);
    for (const auto& o : space_->outputs())
      if (space_->score(v, o) + ListedSpace::hamming(o.label, y) == best) return space_->embed(o.label, mu);
  }

 private:
  const ListedSpace* space_;
  std::size_t unary_;
};
static_assert(Surrogate<ListedMargin>);

TEST(Structure, TheLoopLearnsPermutationsAndChains) {
  for (const bool chain : {false, true}) {
    const ListedSpace space = chain ? chains() : permutations();
    const ListedMargin surrogate(space, chain ? 6 : 9);
    Rng rng(chain ? 1 : 2);
    const std::size_t n = 60, d = 3;
    DenseMatrix x{n, d, {}};
    std::vector<std::int32_t> label;
    std::vector<double> rule(d * space.parts());
    for (double& r : rule) r = rng.normal();
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> v(space.parts(), 0.0);
      for (std::size_t j = 0; j < d; ++j) {
        x.values.push_back(rng.normal());
        for (std::size_t p = 0; p < v.size(); ++p) v[p] += x.values.back() * rule[j * v.size() + p];
      }
      const ListedSpace::Output* best = &space.outputs()[0];
      for (const auto& o : space.outputs())
        if (space.score(v, o) > space.score(v, *best)) best = &o;
      label.insert(label.end(), best->label.begin(), best->label.end());
    }
    const std::vector<double> weight(n, 1.0 / static_cast<double>(n));
    LinearScorer<DenseView> scorer(x.view(), space.parts(), true);
    const Problem<LinearScorer<DenseView>> problem{&scorer, label, Groups(n, label.size() / n), weight, 0.01};
    DualPoint dual(problem, surrogate);
    const SolveResult r = gbcfw(problem, surrogate, dual, {1e-2, 3000, 0, 1}, {true, false}, Context{1, {}, {}});
    EXPECT_TRUE(r.certificate.converged) << r.certificate.relative_gap();
    EXPECT_GE(r.certificate.primal, r.certificate.dual);
    double wrong = 0;
    AlignedVector<double> v(scorer.largest_padded_parts());
    for (std::size_t i = 0; i < n; ++i) {
      scorer.scores(i, v);
      const ListedSpace::Output* best = &space.outputs()[0];
      for (const auto& o : space.outputs())
        if (space.score(v, o) > space.score(v, *best)) best = &o;
      wrong += ListedSpace::hamming(best->label, problem.y(i));
    }
    EXPECT_LT(wrong / static_cast<double>(n), 0.1);
  }
}

}  // namespace
}  // namespace m4n
