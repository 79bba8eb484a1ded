// Max-min oracles and proximal steps, one call at a time, on scores as they are met in training: those of a linear
// model after 10 epochs at lambda = 2^-10, and (for warm starts) one epoch later. Beside each exact oracle the paper's
// saddle-point mirror prox (SP-MP) runs on the same scores.
//
// The gap of an answer (mu, nu) is upper - lower with both sides evaluated here, from the plain cost matrix:
//   lower = min_y (A mu)_y + v.mu,   upper = max_j (A^T nu)_j + v_j.
#include <fmt/format.h>

#include "core/rng.h"
#include "games/mirror_prox.h"
#include "solvers/prox_ascent.h"
#include "structures/classes/surrogates.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

constexpr double lambda = 0x1.0p-10;
constexpr int epochs = 10;
constexpr std::size_t most_calls = 1000;  // examples that are timed: their scores stay in the cache, as in training

// Scores of two visits in a row, padded, one row of kp per example.
struct Scores {
  std::string origin;
  std::size_t k, count;
  AlignedVector<double> before, after;
  std::size_t stride() const { return kernels::padded(k); }
  std::span<const double> last(std::size_t i) const { return std::span(before).subspan(i * stride(), stride()); }
  std::span<const double> now(std::size_t i) const { return std::span(after).subspan(i * stride(), stride()); }
};

// Independent normal scores of standard deviation 1 that move by 0.1 between the visits.
Scores gaussian_scores(std::size_t k) {
  Scores out{"normal, sd 1", k, most_calls, {}, {}};
  out.before.assign(most_calls * out.stride(), kernels::padding_score);
  out.after = out.before;
  Rng rng(3);
  for (std::size_t i = 0; i < most_calls; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      const std::size_t at = i * out.stride() + j;
      out.before[at] = rng.normal();
      out.after[at] = out.before[at] + 0.1 * rng.normal();
    }
  }
  return out;
}

// The costs of one visit of the solver, in microseconds.
struct VisitCost {
  double score, step, update;
  double moved;  // the share of visits that lead to an update
};

// Trains with `surrogate`, then times the three parts of a visit at the point reached.
template <class View, class S>
VisitCost train_and_time(const Prepared& set, View x, const S& surrogate, double budget, Scores* scores) {
  LinearScorer scorer(x, set.k(), true);
  const Problem<LinearScorer> problem{&scorer, set.data.label, Groups(set.n()), set.share, lambda};
  DualPoint<S> dual(problem, surrogate);
  Context context;
  context.threads = 1;
  const std::size_t count = std::min(most_calls, set.n()), kp = kernels::padded(set.k());
  const auto record = [&](AlignedVector<double>& out) {
    out.resize(count * kp);
    for (std::size_t i = 0; i < count; ++i) scorer.scores(i, std::span(out).subspan(i * kp, kp));
  };
  prox_ascent(problem, surrogate, dual, {0, epochs, 0, 0}, context);
  Scores own{set.name, set.k(), count, {}, {}};
  record(own.before);
  prox_ascent(problem, surrogate, dual, {0, 1, 0, 1}, context);
  record(own.after);

  auto workspace = surrogate.workspace();
  AlignedVector<double> v(kp), old(kp), mu(kp), step(kp);
  std::vector<double> curvature(count);
  for (std::size_t i = 0; i < count; ++i) curvature[i] = problem.curvature(i);
  VisitCost cost{};
  cost.score = microseconds_each(count, budget, [&](std::size_t i) { scorer.scores(i, v); });
  std::vector<typename S::StateUnit> state(surrogate.state_size());
  cost.step = microseconds_each(count, budget, [&](std::size_t i) {
    dual.load(i, mu);
    const auto kept = dual.state_of(i);
    std::copy(kept.begin(), kept.end(), state.begin());
    surrogate.prox(own.now(i), curvature[i], problem.y(i), mu, state, workspace);
  });
  // Updates as the solver makes them: of the blocks that move, by the steps they take, here too small to matter.
  AlignedVector<double> steps;
  std::vector<std::size_t> moved;
  for (std::size_t i = 0; i < count; ++i) {
    dual.load(i, old);
    mu = old;
    const auto kept = dual.state_of(i);
    std::copy(kept.begin(), kept.end(), state.begin());
    surrogate.prox(own.now(i), curvature[i], problem.y(i), mu, state, workspace);
    if (kernels::difference(old, mu, step) <= 1e-12) continue;
    moved.push_back(i);
    steps.insert(steps.end(), step.begin(), step.end());
  }
  cost.moved = static_cast<double>(moved.size()) / static_cast<double>(count);
  cost.update = microseconds_each(moved.size(), budget, [&](std::size_t m) {
    scorer.update(moved[m], std::span<const double>(steps).subspan(m * kp, kp), 1e-12);
  });
  if (scores != nullptr) *scores = std::move(own);
  return cost;
}

// How far apart lower and upper are, over all answers.
class GapRecord {
 public:
  explicit GapRecord(const CostMatrix& cost) : cost_(&cost) {}
  void add(std::span<const double> v, std::span<const double> mu, std::span<const double> nu) {
    const std::size_t k = cost_->k();
    double lower = std::numeric_limits<double>::infinity(), upper = -lower, linear = 0;
    for (std::size_t j = 0; j < k; ++j) {
      lower = std::min(lower, kernels::dot(cost_->of_prediction(j), mu.first(k)));
      upper = std::max(upper, kernels::dot(cost_->of_truth(j), nu.first(k)) + v[j]);
      linear += v[j] * mu[j];
    }
    const double gap = (upper - lower - linear) / cost_->largest();
    sum_ += gap;
    largest_ = std::max(largest_, gap);
    ++count_;
  }
  double mean() const { return sum_ / count_; }
  double largest() const { return largest_; }

 private:
  const CostMatrix* cost_;
  double sum_ = 0, largest_ = 0, count_ = 0;
};

class OracleTable {
 public:
  OracleTable(const CostMatrix& cost, const Scores& scores, double budget, Json* rows)
      : cost_(&cost), scores_(&scores), budget_(budget), rows_(rows), mu_(scores.stride()), nu_(scores.stride()) {}

  // answer(i, mu, nu) fills both. `timed(i)` is what is measured: the answer, or less where training needs less.
  template <class Timed, class Answer>
  void add(const std::string& method, Timed&& timed, Answer&& answer) {
    const double us = microseconds_each(scores_->count, budget_, timed);
    GapRecord gap(*cost_);
    for (std::size_t i = 0; i < scores_->count; ++i) {
      answer(i);
      gap.add(scores_->now(i), mu_, nu_);
    }
    rows_->push_back({{"loss", cost_->name() == "matrix" ? "random asymmetric" : cost_->name()},
                      {"k", scores_->k},
                      {"scores", scores_->origin},
                      {"method", method},
                      {"microseconds", us},
                      {"gap_mean", gap.mean()},
                      {"gap_max", gap.largest()}});
    fmt::print(stderr, "  {} {} {}: {:.3f} us\n", cost_->name(), scores_->k, method, us);
  }

  void closed_form() {
    const double s = cost_->scale();
    const std::size_t k = scores_->k;
    if (cost_->kind() == LossKind::zero_one) {
      const auto both = [&](std::size_t i) { closed_form::zero_one(scores_->now(i), s, mu_, nu_); };
      add("closed form", both, both);
    } else if (cost_->kind() == LossKind::absolute) {
      add(
          "closed form", [&](std::size_t i) { closed_form::absolute(scores_->now(i), s, k, mu_); },
          [&](std::size_t i) {
            closed_form::absolute(scores_->now(i), s, k, mu_);
            closed_form::absolute_adversary(scores_->now(i), s, k, nu_);
          });
    }
  }

  void matrix_game() {
    const std::size_t k = scores_->k;
    const MatrixGame game(*cost_);
    MatrixGame::Workspace workspace(k);
    std::vector<std::uint8_t> kept(k * scores_->count), state(k);
    const auto play = [&](std::span<const double> v, std::span<std::uint8_t> start) {
      game.solve(v.first(k), std::span(mu_).first(k), std::span(nu_).first(k), start, workspace);
    };
    for (std::size_t i = 0; i < scores_->count; ++i) play(scores_->last(i), std::span(kept).subspan(i * k, k));
    const auto cold = [&](std::size_t i) {
      std::fill(state.begin(), state.end(), std::uint8_t{0});
      play(scores_->now(i), state);
    };
    const auto warm = [&](std::size_t i) {
      std::copy_n(kept.begin() + static_cast<std::ptrdiff_t>(i * k), k, state.begin());
      play(scores_->now(i), state);
    };
    add("matrix game, warm", warm, warm);
    add("matrix game, cold", cold, cold);
  }

  void mirror_prox(int iterations) {
    const std::size_t k = scores_->k;
    const Simplex space(k);
    const SimplexLoss loss(*cost_);
    const MirrorProx<Simplex, SimplexLoss> mirror(space, loss, cost_->largest(), iterations);
    auto workspace = mirror.workspace();
    AlignedVector<double> uniform(mu_.size());
    std::fill_n(uniform.begin(), k, 1 / static_cast<double>(k));
    const auto cold = [&](std::size_t i) {
      mu_ = uniform;
      nu_ = uniform;
      mirror.solve(scores_->now(i), mu_, nu_, workspace);
    };
    add(fmt::format("SP-MP, K = {}, cold", iterations), cold, cold);
    // The pair of the visit before, as paper mode keeps it.
    std::vector<AlignedVector<double>> pairs;
    for (std::size_t i = 0; i < scores_->count; ++i) {
      mu_ = uniform;
      nu_ = uniform;
      mirror.solve(scores_->last(i), mu_, nu_, workspace);
      pairs.push_back(mu_);
      pairs.push_back(nu_);
    }
    const auto warm = [&](std::size_t i) {
      mu_ = pairs[2 * i];
      nu_ = pairs[2 * i + 1];
      mirror.solve(scores_->now(i), mu_, nu_, workspace);
    };
    add(fmt::format("SP-MP, K = {}, warm", iterations), warm, warm);
  }

  void all() {
    closed_form();
    matrix_game();
    for (const int iterations : {20, 100}) mirror_prox(iterations);
  }

 private:
  const CostMatrix* cost_;
  const Scores* scores_;
  double budget_;
  Json* rows_;
  AlignedVector<double> mu_, nu_;
};

Json oracles(const Settings& settings) {
  const double budget = settings.quick ? 0.002 : 0.2;
  Json oracle_rows = Json::array(), visit_rows = Json::array();
  struct Case {
    const char* file;
    std::size_t classes;
  };
  for (const Case& with : {Case{"mfeat.csv.gz", 10}, Case{"letter.csv.gz", 26}, Case{"trec_qc_train.libsvm.gz", 50}}) {
    const std::size_t classes = with.classes;
    const CostMatrix zero_one = CostMatrix::named("zero-one", classes),
                     absolute = CostMatrix::named("absolute", classes), random = random_cost(classes);
    const std::optional<Prepared> set = load(settings, with.file);
    const auto visit = [&](const char* name, const auto& surrogate, Scores* scores) {
      fmt::print(stderr, "{}: {}\n", set->name, name);
      const VisitCost cost = std::visit(
          [&](const auto& x) { return train_and_time(*set, x, surrogate, budget, scores); }, view(set->data.x));
      visit_rows.push_back({{"set", set->name},
                            {"k", classes},
                            {"surrogate", name},
                            {"score_us", cost.score},
                            {"step_us", cost.step},
                            {"update_us", cost.update},
                            {"moved", cost.moved}});
    };
    const auto oracle = [&](const CostMatrix& cost, const Scores& scores) {
      OracleTable(cost, scores, budget, &oracle_rows).all();
    };
    if (set) {
      Scores scores{};
      visit("M4N zero-one", ZeroOneMaxMin(zero_one), &scores);
      oracle(zero_one, scores);
      visit("M4N absolute", AbsoluteMaxMin(absolute), &scores);
      oracle(absolute, scores);
      visit("M4N random asymmetric", MatrixMaxMin(random), &scores);
      oracle(random, scores);
      visit("M3N zero-one", Margin(zero_one), nullptr);
      visit("CRF", Crf(classes), nullptr);
    }
    const Scores normal = gaussian_scores(classes);
    for (const CostMatrix* cost : {&zero_one, &absolute, &random}) oracle(*cost, normal);
  }
  return {{"oracles", oracle_rows}, {"visits", visit_rows}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::oracles); }
