// Chains: Viterbi beside the peak of the machine, sum-product, and the max-min oracle on the scores met while an M4N is
// trained on the OCR words (lambda = 2^-7, the first 60% of the words) and on random scores, with the paper's SP-MP.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "add_max_peak.h"
#include "core/rng.h"
#include "games/mirror_prox.h"
#include "ocr_words.h"
#include "structures/chains/oracles.h"
#include "structures/chains/paper.h"
#include "structures/chains/space.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

// A chain with normal scores.
struct RandomChain {
  RandomChain(std::size_t length, std::size_t labels, double sd, Rng& rng) {
    const PaddedRows<double> rows = unary.shape(length, labels), table = matrix.shape(labels, labels);
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t k = 0; k < labels; ++k) rows(m, k) = sd * rng.normal();
    for (std::size_t j = 0; j < labels; ++j)
      for (std::size_t k = 0; k < labels; ++k) table(j, k) = sd * rng.normal();
    transitions.prepare(table, {}, {});
  }
  ChainScores scores() const { return {unary.view(), &transitions}; }
  PaddedMatrix<double> unary, matrix;
  Transitions transitions;
};

Json kernel_rows(double budget) {
  Json rows = Json::array();
  const double peak_float = add_max_peak_float(), peak_double = add_max_peak_double();
  Rng rng(1);
  for (const std::size_t labels : {8, 22, 26, 50}) {
    for (const std::size_t length : {8, 100}) {
      const RandomChain chain(length, labels, 1, rng);
      const ChainScores v = chain.scores();
      FloatTransitions in_float;
      in_float.prepare(chain.transitions);
      ExpTransitions exp;
      exp.prepare(chain.transitions);
      const RandomChain wide(length, labels, 1000, rng);  // scores beyond what linear space holds
      ExpTransitions wide_exp;
      wide_exp.prepare(wide.transitions);
      Viterbi viterbi;
      SumProduct sum_product, logarithmic;
      KBest best;
      PaddedMatrix<double> count;
      count.shape(labels, labels);
      std::vector<std::int32_t> y(length);
      const auto edges = static_cast<double>(length - 1), pairs = static_cast<double>(labels * labels);
      const auto time = [&](auto&& body) { return 1e3 * microseconds_each(64, budget, body); };
      const double fast = time([&](std::size_t) { viterbi.solve_in_float(v, in_float, y); }) / edges,
                   exact = time([&](std::size_t) { viterbi.solve(v, y); }) / edges;
      rows.push_back(
          {{"labels", labels},
           {"length", length},
           {"peak_float_ns", pairs / peak_float},
           {"viterbi_float_ns", fast},
           {"peak_double_ns", pairs / peak_double},
           {"viterbi_double_ns", exact},
           {"marginals_us", 1e-3 * time([&](std::size_t) { sum_product.solve(v, exp); })},
           {"log_marginals_us", 1e-3 * time([&](std::size_t) { logarithmic.solve(wide.scores(), wide_exp); })},
           {"counts_us", 1e-3 * time([&](std::size_t) { sum_product.transition_counts(v, exp, count.view()); })},
           {"k_best_10_us", 1e-3 * time([&](std::size_t) { best.solve(v, 10); })}});
      fmt::print(stderr, "  R {} M {}: viterbi {:.1f} ns an edge (peak {:.1f}), in double {:.1f} ({:.1f})\n", labels,
                 length, fast, pairs / peak_float, exact, pairs / peak_double);
    }
  }
  return rows;
}

// Times of single calls, in microseconds.
class Times {
 public:
  // The least of three calls; prepare() restores what a call changes.
  template <class Prepare, class Call>
  void add(Prepare&& prepare, Call&& call) {
    double best = 1e300;
    for (int repeat = 0; repeat < 3; ++repeat) {
      prepare();
      const auto start = std::chrono::steady_clock::now();
      call();
      best =
          std::min(best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    }
    values_.push_back(best);
  }
  double quantile(double share) {
    std::sort(values_.begin(), values_.end());
    return values_[std::min(values_.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values_.size())))];
  }
  std::size_t count() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

// Calls of the oracle at the gap 1e-6 on a stream of scores, cold and warm.
class OracleTimes {
 public:
  explicit OracleTimes(const CostMatrix& cost) : game_(cost) {}

  // Leaves the answer of the warm call.
  GameAnswer add(const ChainScores& v, GameSeeds& seeds) {
    cold_.add([&] { scratch_.clear(); }, [&] { game_.solve(v, limits_, scratch_, workspace_); });
    GameAnswer answer;
    warm_.add([&] { scratch_ = seeds; }, [&] { answer = game_.solve(v, limits_, scratch_, workspace_); });
    seeds = scratch_;
    largest_gap_ = std::max(largest_gap_, answer.bounds.upper - answer.bounds.lower);
    rounds_ += answer.rounds;
    size_ += static_cast<double>(answer.size());
    return answer;
  }
  Json row(const std::string& scores, const std::string& loss) {
    const auto count = static_cast<double>(warm_.count());
    fmt::print(stderr, "  {}, {}: cold {:.1f} / {:.1f}, warm {:.1f} / {:.1f} us (median / 99%), gap {:.1e}\n", scores,
               loss, cold_.quantile(0.5), cold_.quantile(0.99), warm_.quantile(0.5), warm_.quantile(0.99),
               largest_gap_);
    return {{"scores", scores},
            {"loss", loss},
            {"calls", warm_.count()},
            {"cold_median_us", cold_.quantile(0.5)},
            {"cold_99_us", cold_.quantile(0.99)},
            {"cold_most_us", cold_.quantile(1)},
            {"warm_median_us", warm_.quantile(0.5)},
            {"warm_99_us", warm_.quantile(0.99)},
            {"warm_most_us", warm_.quantile(1)},
            {"largest_gap", largest_gap_},
            {"rounds", rounds_ / count},
            {"sequences", size_ / count}};
  }

 private:
  ChainGame game_;
  ChainGame::Workspace workspace_;
  GameLimits limits_;
  GameSeeds scratch_;
  Times cold_, warm_;
  double largest_gap_ = 0, rounds_ = 0, size_ = 0;
};

// The paper's oracle, K = 10 M iterations from a cold start, on the same scores.
class MirrorTimes {
 public:
  explicit MirrorTimes(const CostMatrix& cost) : cost_(&cost), loss_(cost) {}
  void add(const ChainScores& v) {
    const ChainSpace space(v.length(), v.labels());
    const ChainLoss loss(loss_, space);
    const auto length = static_cast<double>(v.length());
    const MirrorProx<ChainSpace, ChainLoss> mirror(space, loss, cost_->range() / length,
                                                   10 * static_cast<int>(v.length()));
    auto workspace = mirror.workspace();
    AlignedVector<double> flat(space.parts()), mu(flat), nu(flat), scratch(flat);
    space.flatten(v, flat);
    times_.add(
        [&] {
          space.uniform(mu);
          space.uniform(nu);
        },
        [&] { mirror.solve(flat, mu, nu, workspace); });
    const double lower = loss.bayes_risk(mu, scratch) + kernels::dot(flat, mu);
    loss.apply_transposed(nu, scratch);
    for (std::size_t e = 0; e < flat.size(); ++e) scratch[e] += flat[e];
    Transitions transitions;
    transitions.prepare(space.transitions(std::span<const double>(scratch)), {}, {});
    std::vector<std::int32_t> path(v.length());
    gap_ += viterbi_.solve({space.unary(std::span<const double>(scratch)), &transitions}, path) - lower;
  }
  void put(Json& row) {
    row["paper_median_us"] = times_.quantile(0.5);
    row["paper_mean_gap"] = gap_ / static_cast<double>(times_.count());
  }

 private:
  const CostMatrix* cost_;
  SimplexLoss loss_;
  Viterbi viterbi_;
  Times times_;
  double gap_ = 0;
};

void ocr_rows(const Settings& settings, Json& rows) {
  const auto path = data_file(settings, "ocr_letters.data.gz");
  if (!path) return;
  std::vector<OcrWord> words = read_ocr_words(*path);
  words.resize(settings.quick ? 200 : words.size() * 6 / 10);
  OcrTrainer trainer(words, 0x1p-7);
  const CostMatrix cost = CostMatrix::named("zero-one", ocr_labels);
  std::vector<GameSeeds> seeds(words.size());
  std::vector<std::size_t> order(words.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Rng rng(1);
  struct Stage {
    const char* name;
    int passes;
  };
  for (const Stage& stage :
       {Stage{"OCR, pass 1", 1}, Stage{"OCR, passes 2 to 5", 4}, Stage{"OCR, passes 6 to 10", 5}}) {
    OracleTimes times(cost);
    MirrorTimes mirror(cost);
    std::size_t visit = 0;
    for (int pass = 0; pass < stage.passes; ++pass) {
      rng.shuffle(std::span(order));
      for (const std::size_t i : order) {
        const ChainScores v = trainer.scores(i);
        if (visit++ % 200 == 0) mirror.add(v);
        trainer.step(i, times.add(v, seeds[i]));
      }
    }
    rows.push_back(times.row(stage.name, "zero-one"));
    mirror.put(rows.back());
  }
}

void random_rows(const Settings& settings, Json& rows) {
  constexpr std::size_t length = 8, labels = 26;
  const CostMatrix zero_one = CostMatrix::named("zero-one", labels), random = random_cost(labels);
  for (const CostMatrix* cost : {&zero_one, &random}) {
    for (const double sd : {3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.0}) {
      OracleTimes times(*cost);
      MirrorTimes mirror(*cost);
      Rng rng(2);
      const int count = settings.quick ? 2 : sd >= 0.1 ? 500 : 20;
      for (int c = 0; c < count; ++c) {
        RandomChain chain(length, labels, sd, rng);
        GameSeeds seeds;
        ChainGame::Workspace workspace;
        ChainGame(*cost).solve(chain.scores(), {}, seeds, workspace);
        for (std::size_t m = 0; m < length; ++m)  // warm: the scores have moved by a twentieth since
          for (std::size_t k = 0; k < labels; ++k) chain.unary.view()(m, k) += 0.05 * sd * rng.normal();
        times.add(chain.scores(), seeds);
        if (c < 40) mirror.add(chain.scores());
      }
      rows.push_back(times.row(fmt::format("normal, sd {}", sd), cost == &zero_one ? "zero-one" : "random asymmetric"));
      mirror.put(rows.back());
    }
  }
}

Json chains(const Settings& settings) {
  Json oracle = Json::array();
  Json kernels = kernel_rows(settings.quick ? 0.001 : 0.1);
  ocr_rows(settings, oracle);
  random_rows(settings, oracle);
  return {{"chain_kernels", kernels}, {"chain_oracle", oracle}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::chains); }
