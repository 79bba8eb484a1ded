// M4N and M3N on permutations: block ascent on the dual with atoms (solver/permutation_atoms.h).
//
//   full visit     v = scores of example i; ask the oracle; append its answer if it is better than the atoms there
//                  are; re-optimise their weights; move w along
//   cached visit   the same without the oracle
//   pass           all examples, in a fresh random order
//
// After a full pass, cached passes follow as long as the dual gains at least as much per counted operation as in that
// full pass: operations, not seconds, so that the result does not depend on the machine. The weights of about the last
// passes are averaged (solver/recent_mean.h); the certificate looks at that mean, and its dual value is that of the
// atoms, with w rebuilt from them.
#pragma once
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/rng.h"
#include "solver/certificate.h"
#include "solver/permutation_atoms.h"
#include "solver/permutation_oracles.h"
#include "solver/recent_mean.h"

namespace m4n {

// The dual point, which a path of lambdas hands on.
template <class Oracle>
struct PermutationDual {
  std::vector<PermutationAtoms> block;
  std::vector<typename Oracle::Seeds> seeds;

  template <class Scorer>
  PermutationDual(const Problem<Scorer>& problem, const PositionLosses& losses) : seeds(problem.examples()) {
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      const LabelView y = problem.y(i);
      block.emplace_back(losses.of(y.size())(y, y), problem.scorer->image_size(i));
    }
  }
};

template <class Scorer, class Oracle>
class PermutationAscent {
 public:
  PermutationAscent(const Problem<Scorer>& problem, const Oracle& oracle, const PermutationParts& parts,
                    PermutationDual<Oracle>& dual, const SolverOptions& options, const Context& context)
      : problem_(problem),
        oracle_(&oracle),
        parts_(parts),
        dual_(&dual),
        options_(options),
        context_(&context),
        watch_(context, options_),
        scores_(problem.scorer->largest_padded_parts()),
        delta_(scores_.size()),
        against_(problem.scorer->largest_image()),
        image_(against_.size()),
        mean_(problem, true),
        order_(problem.examples()),
        rng_(options.seed, 1) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  SolveResult run() {
    // Without a sign that the tolerance is reached, certificates wait for this share of all full passes so far.
    constexpr double patience = 0.1;
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
    PermutationAtoms& block = dual_->block[i];
    if (!full && block.size() == 1) return;
    const double share = problem_.weight[i], c = share * scorer.image_scale(i) / problem_.lambda;
    const std::size_t length = scorer.image_size(i);
    const std::span<double> image = std::span(image_).first(length);
    const std::span<const double> against = scorer.against(i, std::span(against_).first(length));
    total.work += static_cast<double>(scorer.image_work(i) + 2 * length * block.size());
    const double current = block.gains(against, scratch_);
    if (full) ask(i, current, total);
    if (block.size() == 1) return;
    const double value = block.reweigh(c, scratch_);
    total.work += static_cast<double>(scorer.image_work(i) + length * block.size());
    if (value > 0) {
      total.gain += share * value;
      block.combine(scratch_.change, image);
      scorer.update_image(i, image, -share / problem_.lambda);
    }
    if (full) block.forget(memory);
  }

  // Asks the oracle and appends its answer if it is any better than the atoms are.
  void ask(std::size_t i, double current, Pass& total) {
    const Scorer& scorer = *problem_.scorer;
    PermutationAtoms& block = dual_->block[i];
    const LabelView y = problem_.y(i);
    const std::size_t count = scorer.parts(i), length = scorer.image_size(i);
    scorer.scores(i, scores_);
    const std::span<const double> v = std::span<const double>(scores_).first(count);
    const PermutationAnswer answer = oracle_->answer(v, y, negligible(), dual_->seeds[i], workspace_);
    ++result_.oracle_calls;
    total.work += static_cast<double>(scorer.work(i)) + scalar * static_cast<double>(count * y.size());
    const double own = parts_.score(v, y);
    total.gap += problem_.weight[i] * (answer.upper - own - current);
    parts_.embed(y, std::span(delta_).first(count));
    double gain = answer.risk;
    for (std::size_t e = 0; e < count; ++e) {
      delta_[e] = answer.mu[e] - delta_[e];
      gain += v[e] * delta_[e];
    }
    if (!(gain > *std::max_element(scratch_.gain.begin(), scratch_.gain.end()))) return;
    scorer.image(i, delta_, std::span(image_).first(length));
    block.append(answer.risk, std::span<const double>(image_).first(length), gain, scratch_);
  }

  // A gap of a block that would not keep the whole from its tolerance.
  double negligible() const { return std::max(1e-12, 0.05 * options_.tol * std::abs(value_)); }

  // w := w(mu) afresh, and the dual value of the atoms.
  void rebuild() {
    Scorer& scorer = *problem_.scorer;
    scorer.reset();
    value_ = 0;
    for (std::size_t i = 0; i < problem_.examples(); ++i) {
      const PermutationAtoms& block = dual_->block[i];
      value_ += problem_.weight[i] * block.risk();
      if (block.size() == 1) continue;
      const std::span<double> image = std::span(image_).first(scorer.image_size(i));
      block.combine(image);
      scorer.update_image(i, image, -problem_.weight[i] / problem_.lambda);
    }
    value_ -= 0.5 * problem_.lambda * scorer.norm_squared();
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
      AlignedVector<double> scores;
    };
    const std::size_t n = problem_.examples();
    std::vector<double> sums((n + chunk - 1) / chunk);
    std::vector<Worker> scratch(std::min<std::size_t>(thread_count(context_->threads), sums.size()));
    for (Worker& worker : scratch) worker.scores.resize(scores_.size());
    const double gap = 0.2 * negligible();
    std::atomic<bool> given_up{false};
    parallel_chunks(n, chunk, static_cast<unsigned>(scratch.size()),
                    [&](std::size_t at, std::size_t first, std::size_t last, unsigned worker) {
                      auto& [workspace, scores] = scratch[worker];
                      double sum = 0;
                      for (std::size_t i = first; i < last && !given_up; ++i) {
                        if (patience != nullptr && i % 16 == 0 && patience->expired()) given_up = true;
                        weights.scores(i, scores);
                        const std::span<const double> v = std::span<const double>(scores).first(weights.parts(i));
                        const LabelView y = problem_.y(i);
                        typename Oracle::Seeds seeds = dual_->seeds[i];
                        sum += problem_.weight[i] *
                               (oracle_->answer(v, y, gap, seeds, workspace).upper - parts_.score(v, y));
                      }
                      sums[at] = sum;
                    });
    if (given_up) return std::nullopt;
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  Problem<Scorer> problem_;
  const Oracle* oracle_;
  PermutationParts parts_;
  PermutationDual<Oracle>* dual_;
  SolverOptions options_;
  const Context* context_;
  Watch watch_;
  SolveResult result_;
  typename Oracle::Workspace workspace_;
  PermutationAtoms::Scratch scratch_;
  AlignedVector<double> scores_, delta_, against_, image_;
  RecentMean<Scorer> mean_;
  BestPoint<Scorer> best_;
  std::vector<std::uint32_t> order_;
  Rng rng_;
  double value_ = 0;  // the dual, as the gains of the visits sum up
};

}  // namespace m4n
