// M4N and M3N on chains: block ascent (solvers/atom_ascent.h) with sparse atoms (solvers/labelling_atoms.h). The oracle
// is asked to a fifth of what the block can gain; cached visits score only the positions that atoms contest.
#pragma once
#include "solvers/atom_ascent.h"
#include "solvers/labelling_atoms.h"
#include "structures/chains/gram.h"
#include "structures/chains/oracles.h"

namespace m4n::detail {

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
class ChainAscent : public AtomAscent<ChainAscent<Scorer, Oracle>, Scorer> {
  using Base = AtomAscent<ChainAscent<Scorer, Oracle>, Scorer>;
  friend Base;
  using Base::give_up_, Base::memory, Base::negligible, Base::problem_, Base::result_, Base::scalar, Base::stop_,
      Base::value_;
  using typename Base::Pass;

 public:
  ChainAscent(const Problem<Scorer>& problem, const Oracle& oracle, const SentenceGram<Scorer>& gram,
              ChainDual<Oracle>& dual, const SolverOptions& options, const Context& context)
      : Base(problem, options, context, false),
        oracle_(&oracle),
        gram_(&gram),
        dual_(&dual),
        scratch_(problem.scorer->longest() * problem.scorer->stride(), problem.scorer->tail().size()) {
    unary_.shape(problem.scorer->longest(), problem.scorer->labels());
    step_.assign(problem.scorer->longest() * problem.scorer->stride(), 0.0);
  }

 private:
  static constexpr double patience = 0.5;
  // How well the oracle is asked, relative to what the block can gain. Better answers cost more and take fewer passes.
  static constexpr double of_the_gain = 0.2;

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
      const LabellingAccuracy accuracy{negligible(0.1), of_the_gain, current + own, &stop_};
      const LabellingAnswer answer = oracle_->answer(v, y, accuracy, dual_->seeds[i], workspace_);
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

  struct Worker {
    typename Oracle::Workspace workspace;
    PaddedMatrix<double> unary;
  };
  Worker worker(const Scorer& weights) const {
    weights.transitions();
    return {};
  }
  double upper(std::size_t i, const Scorer& weights, Worker& own) const {
    const PaddedRows<double> unary = own.unary.shape(weights.length(i), weights.labels());
    weights.unary(i, unary);
    const ChainScores v{unary, &weights.prepared()};
    const LabelView y = problem_.y(i);
    typename Oracle::Seeds seeds = dual_->seeds[i];
    const LabellingAccuracy accuracy{.gap = 0.05 * negligible(0.1), .stop = &give_up_};
    return oracle_->answer(v, y, accuracy, seeds, own.workspace).upper - score(v, y);
  }

  const Oracle* oracle_;
  const SentenceGram<Scorer>* gram_;
  ChainDual<Oracle>* dual_;
  typename Oracle::Workspace workspace_;
  AtomScratch scratch_;
  PaddedMatrix<double> unary_;
  AlignedVector<double> step_;
};

}  // namespace m4n::detail
