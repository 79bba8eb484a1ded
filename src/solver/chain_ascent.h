// M4N and M3N on chains: block ascent on the dual with atoms (solver/chain_atoms.h).
//
//   full visit     v = scores of sentence i; ask the oracle, to a fifth of what the block can gain; append its answer
//                  if it is better than the atoms there are; re-optimise their weights; move w along
//   cached visit   the same without the oracle
//   pass           all sentences, in a fresh random order
//
// After a full pass, cached passes follow as long as the dual gains at least as much per counted operation as in that
// full pass. Operations, not seconds: the result does not depend on the machine or on what else it does. The weights
// of about the last pass are averaged (solver/recent_mean.h); the certificate looks at that mean where there is one,
// and its dual value is that of the atoms, with w rebuilt from them in double.
#pragma once
#include <cmath>
#include <numeric>
#include <optional>

#include "core/rng.h"
#include "solver/certificate.h"
#include "solver/chain_atoms.h"
#include "solver/chain_gram.h"
#include "solver/recent_mean.h"

namespace m4n {

// The dual point, which a path of lambdas hands on.
template <class Oracle>
struct ChainDual {
  std::vector<AtomBlock> block;
  std::vector<typename Oracle::Seeds> seeds;

  template <class Scorer>
  ChainDual(const Problem<Scorer>& problem, const CostMatrix& cost) : seeds(problem.examples()) {
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      double risk = 0;
      for (const std::int32_t label : problem.y(i))
        risk += cost(static_cast<std::size_t>(label), static_cast<std::size_t>(label));
      block.emplace_back(risk / static_cast<double>(problem.y(i).size()));
    }
  }
};

template <class Scorer, class Oracle>
class ChainAscent {
 public:
  ChainAscent(const Problem<Scorer>& problem, const Oracle& oracle, const SentenceGram<Scorer>& gram,
              ChainDual<Oracle>& dual, const SolverOptions& options, const Context& context)
      : problem_(problem),
        oracle_(&oracle),
        gram_(&gram),
        dual_(&dual),
        options_(options),
        context_(&context),
        watch_(context, options_),
        scratch_(problem.scorer->longest(), problem.scorer->labels()),
        mean_(problem),
        order_(problem.examples()),
        rng_(options.seed, 1) {
    std::iota(order_.begin(), order_.end(), 0U);
    unary_.shape(problem.scorer->longest(), problem.scorer->labels());
    step_.assign(problem.scorer->longest() * problem.scorer->stride(), 0.0);
  }

  SolveResult run() {
    // Without a sign that the tolerance is reached, certificates wait for this share of all full passes so far.
    constexpr double patience = 0.5;
    constexpr int most_cached = 30;
    rebuild();
    double certified_at = -1;
    bool ended = false;
    int next = 10;
    while (!result_.certificate.converged && !ended && result_.epochs < options_.epochs) {
      const Pass full = pass(true);
      ++result_.epochs;
      ended = watch_.stopped(0);
      const double target = options_.tol * (value_ + full.gap);
      if (!ended && (full.gap <= likely * target || result_.epochs >= next)) {
        certify(&watch_);
        certified_at = result_.epochs;
        next = result_.epochs + 1 + static_cast<int>(patience * result_.epochs);
        ended = watch_.stopped(0);
      }
      for (int c = 0; c < most_cached && !ended && !result_.certificate.converged; ++c) {
        const Pass cached = pass(false);
        ended = watch_.stopped(0);
        certified_at = -1;
        if (!(cached.gain * full.work >= full.gain * cached.work)) break;
      }
    }
    if (certified_at != result_.epochs && !(ended && best_.known())) certify(nullptr);
    best_.restore(*problem_.scorer);
    result_.seconds = watch_.seconds();
    result_.interrupted = watch_.interrupted();
    result_.solver = "atoms";
    return result_;
  }

 private:
  struct Pass {
    double gain = 0, gap = 0, work = 0;
  };
  // How well the oracle is asked, relative to what the block can gain. Better answers cost more and take fewer passes.
  static constexpr double of_the_gain = 0.2;
  // How far above the gap at the end of a pass the sum of the gaps met during it lies, about.
  static constexpr double likely = 1.7;
  // The mean follows the weights of about the last so many passes.
  static constexpr double passes_of_mean = 3;
  // Operations that are not vectorised, in multiply-adds of those that are.
  static constexpr double scalar = 8;
  // Atoms without weight are kept for that many visits: scores come back to them.
  static constexpr unsigned memory = 12;

  Pass pass(bool full) {
    rng_.shuffle(std::span(order_));
    const std::size_t n = order_.size(), slice = std::max<std::size_t>(1, n / 16);
    Pass total;
    std::size_t followed = 0;
    for (std::size_t place = 0; place < n; ++place) {
      const double before = total.work;
      visit(order_[place], full, total);
      if (watch_.stopped(static_cast<std::size_t>(total.work - before))) break;
      if (place + 1 - followed == slice || place + 1 == n) {
        mean_.follow(static_cast<double>(place + 1 - followed) / (passes_of_mean * static_cast<double>(n)));
        followed = place + 1;
      }
    }
    value_ += total.gain;
    return total;
  }

  void visit(std::size_t i, bool full, Pass& total) {
    Scorer& scorer = *problem_.scorer;
    AtomBlock& block = dual_->block[i];
    const double share = problem_.weight[i], c = share / problem_.lambda;
    const std::size_t length = scorer.length(i), labels = scorer.labels();
    const LabelView y = problem_.y(i);
    const PaddedRows<double> unary = unary_.view().first(length);
    double scoring = static_cast<double>(scorer.work(i));
    if (full) {
      scorer.unary(i, unary);
    } else {
      for (const std::uint32_t m : block.contested()) scorer.unary(i, {unary.row(m), 1, labels}, m);
      scoring *= static_cast<double>(block.contested().size()) / static_cast<double>(length);
    }
    total.work += scoring + scalar * static_cast<double>(block.parts());
    const double current = block.gains(unary.data(), scorer.tail().data(), scratch_);
    if (full) {
      const ChainScores v{unary, &scorer.transitions()};
      const double own = score(v, y);
      const ChainAccuracy accuracy{negligible(), of_the_gain, current + own};
      const ChainAnswer answer = oracle_->answer(v, y, accuracy, dual_->seeds[i], workspace_);
      ++result_.oracle_calls;
      total.gap += share * (answer.upper - own - current);
      total.work += static_cast<double>(answer.paths) * static_cast<double>(length * scorer.stride()) *
                    (2 * static_cast<double>(labels) + 2 * scalar);
      const double gain = answer.lower - own;
      if (gain > *std::max_element(scratch_.gain.begin(), scratch_.gain.end())) {
        difference_from_truth(answer, y, labels, scratch_);
        gram_of_new(
            block, length, labels, [&](std::size_t m, std::size_t o) { return (*gram_)(i, m, o); }, scratch_);
        block.append(answer.risk, scorer.stride(), scratch_);
        scratch_.gain.push_back(gain);
      }
    }
    if (block.size() == 1) return;
    const double value = block.reweigh(c, scratch_);
    if (value > 0) {
      total.gain += share * value;
      total.work += scoring;
      move(i, c);
    }
    if (full) block.forget(memory, scorer.stride());
  }

  // w -= c Psi_i sum_a change_a delta_a
  void move(std::size_t i, double c) {
    Scorer& scorer = *problem_.scorer;
    const AtomBlock& block = dual_->block[i];
    const PaddedRows<double> step(step_.data(), scorer.length(i), scorer.labels());
    for (std::size_t a = 1; a < block.size(); ++a) {
      const double change = scratch_.change[a];
      if (change == 0) continue;
      for (const AtomPart& p : block.unary_parts(a)) step.data()[p.part] += change * p.amount;
      for (const AtomPart& p : block.tail_parts(a)) scorer.update_tail(p.part, -c * change * p.amount);
    }
    scorer.update_unary(i, step, -c);
    std::fill_n(step.data(), step.rows() * step.stride(), 0.0);
  }

  // A gap of a block that would not keep the whole from its tolerance.
  double negligible() const { return std::max(1e-12, 0.1 * options_.tol * std::abs(value_)); }

  // w := w(mu) afresh, and the dual value of the atoms.
  void rebuild() {
    const double squares =
        problem_.scorer->rebuild([&](std::size_t i, PaddedRows<double> unary, std::span<double> tail) {
          const AtomBlock& block = dual_->block[i];
          for (std::size_t a = 1; a < block.size(); ++a) {
            const double amount = -problem_.weight[i] / problem_.lambda * block.weight(a);
            if (amount == 0) continue;
            for (const AtomPart& p : block.unary_parts(a)) unary.data()[p.part] += amount * p.amount;
            for (const AtomPart& p : block.tail_parts(a)) tail[p.part] += amount * p.amount;
          }
        });
    value_ = -0.5 * problem_.lambda * squares;
    for (std::size_t i = 0; i < problem_.examples(); ++i) value_ += problem_.weight[i] * dual_->block[i].risk();
  }

  // P from above at the mean weights; nothing changes if the watch says stop first.
  void certify(const Watch* patience) {
    rebuild();
    const Scorer& weights = mean_.weights();
    const std::optional<double> loss = upper_loss(weights, patience);
    if (!loss) return;
    best_.offer({*loss + 0.5 * problem_.lambda * weights.norm_squared(), value_, false}, weights);
    result_.certificate = best_.certificate(options_.tol);
    watch_.report(result_.epochs, result_.certificate);
  }

  // sum_i p_i S(v_i, y_i), from above.
  std::optional<double> upper_loss(const Scorer& weights, const Watch* patience) {
    constexpr std::size_t chunk = 64;
    struct Worker {
      typename Oracle::Workspace workspace;
      PaddedMatrix<double> unary;
    };
    const std::size_t n = problem_.examples();
    std::vector<double> sums((n + chunk - 1) / chunk);
    std::vector<Worker> scratch(std::min<std::size_t>(thread_count(context_->threads), sums.size()));
    const Transitions& transitions = weights.transitions();
    const double accuracy = 0.05 * negligible();
    std::atomic<bool> given_up{false};
    parallel_chunks(n, chunk, static_cast<unsigned>(scratch.size()),
                    [&](std::size_t at, std::size_t first, std::size_t last, unsigned worker) {
                      auto& [workspace, memory_of_unary] = scratch[worker];
                      double sum = 0;
                      for (std::size_t i = first; i < last && !given_up; ++i) {
                        if (patience != nullptr && i % 16 == 0 && patience->expired()) given_up = true;
                        const PaddedRows<double> unary = memory_of_unary.shape(weights.length(i), weights.labels());
                        weights.unary(i, unary);
                        const ChainScores v{unary, &transitions};
                        const LabelView y = problem_.y(i);
                        typename Oracle::Seeds seeds = dual_->seeds[i];
                        const ChainAnswer answer = oracle_->answer(v, y, ChainAccuracy{accuracy}, seeds, workspace);
                        sum += problem_.weight[i] * (answer.upper - score(v, y));
                      }
                      sums[at] = sum;
                    });
    if (given_up) return std::nullopt;
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  Problem<Scorer> problem_;
  const Oracle* oracle_;
  const SentenceGram<Scorer>* gram_;
  ChainDual<Oracle>* dual_;
  SolverOptions options_;
  const Context* context_;
  Watch watch_;
  SolveResult result_;
  typename Oracle::Workspace workspace_;
  AtomScratch scratch_;
  PaddedMatrix<double> unary_;
  AlignedVector<double> step_;
  RecentMean<Scorer> mean_;
  BestPoint<Scorer> best_;
  std::vector<std::uint32_t> order_;
  Rng rng_;
  double value_ = 0;  // the dual, as the gains of the visits sum up
};

}  // namespace m4n
