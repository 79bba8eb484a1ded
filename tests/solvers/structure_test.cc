// The loop knows nothing of the simplex: here it learns permutations of three items (six outputs, nine parts) and pairs
// of labels with an edge between them, with surrogates that enumerate their outputs. This is the whole of what a new
// structure has to bring: a space, and a surrogate's four functions.
#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.h"
#include "solvers/gbcfw.h"
#include "solvers/linear_scorer.h"
#include "solvers/prox_ascent.h"

namespace m4n::detail {
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
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      ListedSpace::Output o{std::vector<double>(15, 0.0), {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b)}};
      o.parts[a] = o.parts[3 + b] = o.parts[6 + 3 * a + b] = 1;
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
  std::size_t work() const { return space_->outputs().size() * space_->parts(); }
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
      const ListedSpace::Output* best = space.outputs().data();
      for (const auto& o : space.outputs())
        if (space.score(v, o) > space.score(v, *best)) best = &o;
      label.insert(label.end(), best->label.begin(), best->label.end());
    }
    const std::vector<double> weight(n, 1.0 / static_cast<double>(n));
    LinearScorer scorer(x.view(), space.parts(), true);
    const Problem<LinearScorer> problem{&scorer, label, Groups(n, label.size() / n), weight, 0.01};
    DualPoint dual(problem, surrogate);
    const SolveResult r = gbcfw(problem, surrogate, dual, {1e-2, 3000, 0, 1}, {true, false}, Context{1, {}, {}});
    EXPECT_TRUE(r.certificate.converged) << r.certificate.relative_gap();
    EXPECT_GE(r.certificate.primal, r.certificate.dual);
    double wrong = 0;
    AlignedVector<double> v(scorer.largest_padded_parts());
    for (std::size_t i = 0; i < n; ++i) {
      scorer.scores(i, v);
      const ListedSpace::Output* best = space.outputs().data();
      for (const auto& o : space.outputs())
        if (space.score(v, o) > space.score(v, *best)) best = &o;
      wrong += ListedSpace::hamming(best->label, problem.y(i));
    }
    EXPECT_LT(wrong / static_cast<double>(n), 0.1);
  }
}

// Words of one or two letters in one problem: 3 parts, or 3 + 3 + 9. The letters of all words share the weights of
// their features; the edge has nine weights of its own.
ListedSpace letters() {
  std::vector<ListedSpace::Output> out;
  for (std::int32_t a = 0; a < 3; ++a) {
    out.push_back({std::vector<double>(3, 0.0), {a}});
    out.back().parts[static_cast<std::size_t>(a)] = 1;
  }
  return ListedSpace(out);
}

class WordSpace {
 public:
  const ListedSpace& of(std::size_t length) const { return length == 1 ? one_ : two_; }
  void embed(LabelView y, std::span<double> mu) const { of(y.size()).embed(y, mu); }
  double score(std::span<const double> v, LabelView y) const { return of(y.size()).score(v, y); }
  double marginals(std::span<const double> v, std::span<double> mu) const {
    return of(v.size() < two_.parts() ? 1 : 2).marginals(v, mu);
  }

 private:
  ListedSpace one_ = letters(), two_ = chains();
};
static_assert(OutputSpace<WordSpace>);

class WordMargin {
 public:
  using StateUnit = std::uint8_t;
  using Workspace = ListedMargin::Workspace;
  explicit WordMargin(const WordSpace& space) : space_(&space), one_(space.of(1), 3), two_(space.of(2), 6) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const WordSpace& space() const { return *space_; }
  double scale() const { return 1; }
  std::size_t work() const { return 1000; }
  double neg_omega(MarginalView mu, LabelView y, Workspace& ws) const { return of(y).neg_omega(mu, y, ws); }
  double conjugate(ScoreView v, LabelView y, std::span<StateUnit> state, Workspace& ws) const {
    return of(y).conjugate(v, y, state, ws);
  }
  void argmax(ScoreView v, LabelView y, Marginals mu, std::span<StateUnit> state, Workspace& ws) const {
    of(y).argmax(v, y, mu, state, ws);
  }

 private:
  const ListedMargin& of(LabelView y) const { return y.size() == 1 ? one_ : two_; }
  const WordSpace* space_;
  ListedMargin one_, two_;
};
static_assert(Surrogate<WordMargin>);

// w = (d x 3 weights of letters, 9 of the edge).
class WordScorer {
 public:
  WordScorer(DenseView x, Groups letters) : x_(x), letters_(std::move(letters)), w_(3 * x.cols + 9, 0.0) {}
  std::size_t examples() const { return letters_.count(); }
  std::size_t parts(std::size_t i) const { return length(i) == 1 ? 3 : 15; }
  std::size_t padded_parts(std::size_t i) const { return kernels::padded(parts(i)); }
  std::size_t largest_padded_parts() const { return kernels::padded(15); }
  std::size_t work(std::size_t i) const { return length(i) * x_.cols * 3; }
  void scores(std::size_t i, std::span<double> v) const {
    std::fill(v.begin(), v.end(), kernels::padding_score);
    std::fill_n(v.begin(), parts(i), 0.0);
    visit(i, [&](std::size_t part, std::size_t weight, double x) { v[part] += x * w_[weight]; });
  }
  void update(std::size_t i, std::span<const double> delta, double scale) {
    visit(i, [&](std::size_t part, std::size_t weight, double x) { w_[weight] += scale * x * delta[part]; });
  }
  // |Phi_i delta|^2 <= max(sum of |x|^2 over the letters, 1 for the edge) |delta|^2
  double squared_norm(std::size_t i) const {
    double sum = 0;
    for (std::size_t m = letters_.begin(i); m < letters_.end(i); ++m)
      for (const double x : x_.row(m)) sum += x * x;
    return std::max(sum, 1.0);
  }
  double norm_squared() const { return kernels::dot(w_, w_); }
  void reset() { std::fill(w_.begin(), w_.end(), 0.0); }
  template <class Archive>
  void archive(Archive& a) {
    a(w_);
  }
  std::vector<double>& raw() { return w_; }
  const std::vector<double>& raw() const { return w_; }

 private:
  std::size_t length(std::size_t i) const { return letters_.end(i) - letters_.begin(i); }
  // What each part of the score is made of: body(part, index into w, factor).
  template <class Body>
  void visit(std::size_t i, Body&& body) const {
    for (std::size_t m = 0; m < length(i); ++m)
      for (std::size_t j = 0; j < x_.cols; ++j)
        for (std::size_t c = 0; c < 3; ++c) body(3 * m + c, 3 * j + c, x_.row(letters_.begin(i) + m)[j]);
    for (std::size_t e = 0; e + 6 < parts(i); ++e) body(6 + e, 3 * x_.cols + e, 1.0);
  }
  DenseView x_;
  Groups letters_;
  std::vector<double> w_;
};

TEST(Structure, TheLoopLearnsWordsOfTwoLengths) {
  Rng rng(3);
  const std::size_t n = 80, d = 3;
  const WordSpace space;
  const WordMargin surrogate(space);
  DenseMatrix x{0, d, {}};
  std::vector<std::size_t> offsets{0};
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t length = 1 + rng.below(2);
    offsets.push_back(offsets.back() + length);
    for (std::size_t j = 0; j < length * d; ++j) x.values.push_back(rng.normal());
  }
  x.rows = offsets.back();
  const Groups groups(offsets);
  WordScorer truth(x.view(), groups), scorer(x.view(), groups);
  for (double& w : truth.raw()) w = rng.normal();
  AlignedVector<double> v(scorer.largest_padded_parts());
  const auto decode = [&](const WordScorer& s, std::size_t i) -> const ListedSpace::Output& {
    const ListedSpace& listed = space.of(offsets[i + 1] - offsets[i]);
    s.scores(i, std::span(v).first(s.padded_parts(i)));
    const ListedSpace::Output* best = listed.outputs().data();
    for (const auto& o : listed.outputs())
      if (listed.score(v, o) > listed.score(v, *best)) best = &o;
    return *best;
  };
  std::vector<std::int32_t> label;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& y = decode(truth, i).label;
    label.insert(label.end(), y.begin(), y.end());
  }
  const std::vector<double> weight(n, 1.0 / static_cast<double>(n));
  const double lambda = 0.01;
  const Problem<WordScorer> problem{&scorer, label, groups, weight, lambda};
  for (const bool line_search : {true, false}) {
    scorer.reset();
    DualPoint dual(problem, surrogate);
    const SolveResult r =
        gbcfw(problem, surrogate, dual, {1e-2, 3000, 0, 1}, {line_search, !line_search}, Context{1, {}, {}});
    EXPECT_TRUE(r.certificate.converged) << r.certificate.relative_gap();
    double wrong = 0, loss = 0;
    for (std::size_t i = 0; i < n; ++i) {
      wrong += ListedSpace::hamming(decode(scorer, i).label, problem.y(i)) / static_cast<double>(n);
      const ListedSpace& listed = space.of(problem.y(i).size());
      double top = -1e300;
      for (const auto& o : listed.outputs())
        top = std::max(top, listed.score(v, o) + ListedSpace::hamming(o.label, problem.y(i)));
      loss += (top - listed.score(v, problem.y(i))) / static_cast<double>(n);
    }
    EXPECT_NEAR(r.certificate.primal, loss + 0.5 * lambda * scorer.norm_squared(), 1e-12);
    EXPECT_GE(r.certificate.primal, r.certificate.dual);
    EXPECT_LT(wrong, 0.1);
  }
}

}  // namespace
}  // namespace m4n::detail
