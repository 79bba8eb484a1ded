// M4N and M3N on outputs with a label at every position: block ascent (solvers/atom_ascent.h) with sparse atoms
// (solvers/labelling_atoms.h). The oracle is asked to a fifth of what the block can gain; cached visits score only what
// atoms contest.
//
// Parts says what depends on the structure (structures/chains/ascent.h, structures/graphs/ascent.h):
//   Scorer, Scores, Buffer             the scores of one example, as the oracle sees them, and the memory they are in
//   mean_whatever_it_costs             see solvers/recent_mean.h
//   steps_of_weights                   steps that re-optimising the weights of atoms takes, for the count of operations
//   buffer(scorer), unary_size(scorer)
//   prepare(scorer)                    makes weights ready for several threads
//   score(scorer, i, buffer)           all scores of example i
//   score_contested(scorer, i, rows, buffer)   those of some rows of unary parts; returns their share of all, about
//   unary(buffer), view(scorer, i, buffer)
//   oracle_work(scorer, i, v)          operations of one labelling asked of the decoder
//   rows(scorer, i), gram(scorer, i, a, b)     rows of unary parts, and inner products of the features of two of them
//   difference_from_truth(scorer, i, answer, y, scratch)
//   add(scorer, i, step, scale, buffer)        w += scale Psi_i step for the unary parts
//   checksum(scorer, i)                of what joins the labels of example i
//   rebuild(problem, blocks)           optional: w := w(mu) at once; returns |w|^2
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/checksum.h"
#include "solvers/atom_ascent.h"
#include "solvers/labelling_atoms.h"
#include "solvers/labelling_oracles.h"
#include "solvers/warm_start.h"

namespace m4n::detail {

// The dual point, which a path of lambdas hands on.
template <class Oracle>
struct LabellingDual {
  std::vector<AtomBlock> block;
  std::vector<typename Oracle::Seeds> seeds;

  LabellingDual() = default;
  template <class Archive>
  void archive(Archive& a) {
    a(block, seeds);
  }

  // cost(i, m) is the matrix of position m of example i.
  template <class Scorer, class CostOf>
  LabellingDual(const Problem<Scorer>& problem, const CostOf& cost) : seeds(problem.examples()) {
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      const LabelView y = problem.y(i);
      double risk = 0;
      for (std::size_t m = 0; m < y.size(); ++m) {
        const std::span<const double> own = cost(i, m).of_truth(static_cast<std::size_t>(y[m]));
        risk += *std::min_element(own.begin(), own.end());
      }
      block.emplace_back(risk / static_cast<double>(y.size()));
    }
  }
};

// The dual point of an earlier fit, and checksums of the outputs that its atoms belong to: labels, and what joins them.
template <class Oracle>
struct EarlierAtoms {
  LabellingDual<Oracle> dual;
  std::vector<std::uint64_t> outputs;

  template <class Archive>
  void archive(Archive& a) {
    a(dual, outputs);
    a.expect(dual.block.size() == outputs.size() && dual.seeds.size() == outputs.size());
  }
};

template <class Parts, class Oracle>
class LabellingAscent : public AtomAscent<LabellingAscent<Parts, Oracle>, typename Parts::Scorer> {
  using Scorer = typename Parts::Scorer;
  using Base = AtomAscent<LabellingAscent<Parts, Oracle>, Scorer>;
  friend Base;
  using Base::give_up_, Base::keeps_state_, Base::memory, Base::negligible, Base::problem_, Base::result_, Base::stop_,
      Base::told_to_stop_, Base::value_;
  using typename Base::Pass;

 public:
  LabellingAscent(const Problem<Scorer>& problem, const Oracle& oracle, const Parts& parts, LabellingDual<Oracle>& dual,
                  const SolverOptions& options, const Context& context)
      : Base(problem, options, context, Parts::mean_whatever_it_costs),
        oracle_(&oracle),
        parts_(&parts),
        dual_(&dual),
        scratch_(parts.unary_size(*problem.scorer), problem.scorer->tail().size()),
        buffer_(parts.buffer(*problem.scorer)),
        step_(parts.unary_size(*problem.scorer), 0.0) {}

  // Takes over the atoms of an earlier fit, of the examples whose outputs are the same; their features may be others.
  void adopt(const EarlierAtoms<Oracle>& earlier, std::span<const std::uint64_t> outputs) {
    const Scorer& scorer = *problem_.scorer;
    for (std::size_t i = 0; i < std::min(outputs.size(), earlier.outputs.size()); ++i) {
      if (outputs[i] != earlier.outputs[i] || !fits(i, earlier.dual.block[i])) continue;
      const AtomBlock& from = earlier.dual.block[i];
      AtomBlock& block = dual_->block[i];
      for (std::size_t a = 1; a < from.size(); ++a) {
        const auto unary = from.unary_parts(a), tail = from.tail_parts(a);
        scratch_.parts.assign(unary.begin(), unary.end());
        scratch_.unary_parts = unary.size();
        scratch_.parts.insert(scratch_.parts.end(), tail.begin(), tail.end());
        gram_of_new(i);
        block.append(from.risk(a), scorer.stride(), scratch_);
      }
      for (std::size_t a = 0; a < from.size(); ++a) block.set_weight(a, from.weight(a));
      dual_->seeds[i] = earlier.dual.seeds[i];
    }
  }

 private:
  static constexpr double patience = 0.5;
  // How well the oracle is asked, relative to what the block can gain. Better answers cost more and take fewer passes.
  static constexpr double of_the_gain = 0.2;
  // Rows of unary parts whose inner products are taken in pairs.
  static constexpr std::size_t longest_by_pairs = 256;

  // Whether the atoms can be those of example i; of all examples.
  bool fits(std::size_t i, const AtomBlock& block) const {
    const Scorer& scorer = *problem_.scorer;
    return block.fits(parts_->rows(scorer, i), scorer.stride(), scorer.tail().size());
  }
  bool fits() const {
    const std::size_t n = problem_.examples();
    if (dual_->block.size() != n || dual_->seeds.size() != n) return false;
    for (std::size_t i = 0; i < n; ++i)
      if (!fits(i, dual_->block[i])) return false;
    return true;
  }

  bool visit(std::size_t i, bool full, Pass& total) {
    const Scorer& scorer = *problem_.scorer;
    AtomBlock& block = dual_->block[i];
    if (!full && block.size() == 1) return true;
    const double share = problem_.weight[i], c = share / problem_.lambda;
    auto scoring = static_cast<double>(scorer.work(i));
    if (full) {
      parts_->score(scorer, i, buffer_);
    } else {
      scoring *= parts_->score_contested(scorer, i, block.contested(), buffer_);
    }
    total.work += scoring + scalar_work * static_cast<double>(block.parts());
    const double current = block.gains(parts_->unary(buffer_), scorer.tail().data(), scratch_);
    if (full && !ask(i, current, total)) return false;
    if (block.size() == 1) return true;
    const double value = block.reweigh(c, scratch_);
    total.work += scalar_work * Parts::steps_of_weights * static_cast<double>(block.size());
    if (value > 0) {
      total.gain += share * value;
      total.work += scoring;
      add_atoms(
          i, [&](std::size_t a) { return scratch_.change[a]; }, -c);
    }
    if (full) block.forget(memory, scorer.stride());
    return true;
  }

  // Asks the oracle and appends its answer if it is any better than the atoms are. False if it was told to stop.
  bool ask(std::size_t i, double current, Pass& total) {
    const Scorer& scorer = *problem_.scorer;
    AtomBlock& block = dual_->block[i];
    const LabelView y = problem_.y(i);
    const auto v = parts_->view(scorer, i, buffer_);
    const double own = score(v, y);
    const LabellingAccuracy accuracy{negligible(0.1), of_the_gain, current + own, &stop_};
    if (keeps_state_) seeds_before_ = dual_->seeds[i];
    const LabellingAnswer answer = oracle_->answer(v, y, accuracy, dual_->seeds[i], workspace_);
    if (told_to_stop_) {
      if (keeps_state_) dual_->seeds[i] = std::move(seeds_before_);
      return false;
    }
    ++result_.oracle_calls;
    total.gap += problem_.weight[i] * (answer.upper - own - current);
    total.work += static_cast<double>(answer.paths) * parts_->oracle_work(scorer, i, v);
    const double gain = answer.lower - own;
    if (!(gain > *std::max_element(scratch_.gain.begin(), scratch_.gain.end()))) return true;
    parts_->difference_from_truth(scorer, i, answer, y, scratch_);
    gram_of_new(i);
    block.append(answer.risk, scorer.stride(), scratch_);
    scratch_.gain.push_back(gain);
    return true;
  }

  // Gram entries of the atom in scratch_. The image of the atom of a long output comes from its features: as weights,
  // Psi_i delta scores Psi_i^T Psi_i delta.
  void gram_of_new(std::size_t i) {
    const Scorer& scorer = *problem_.scorer;
    const AtomBlock& block = dual_->block[i];
    const std::size_t rows = parts_->rows(scorer, i);
    if (rows <= longest_by_pairs) {
      detail::gram_of_new(
          block, rows, scorer.labels(), [&](std::size_t a, std::size_t b) { return parts_->gram(scorer, i, a, b); },
          scratch_);
      return;
    }
    if (!atom_weights_) {
      atom_weights_.emplace(scorer);
      atom_scores_ = parts_->buffer(scorer);
    }
    atom_weights_->reset();
    for (const AtomPart& p : std::span<const AtomPart>(scratch_.parts).first(scratch_.unary_parts))
      step_[p.part] = p.amount;
    parts_->add(*atom_weights_, i, step_.data(), 1, atom_scores_);
    std::fill_n(step_.data(), rows * scorer.stride(), 0.0);
    parts_->score(*atom_weights_, i, atom_scores_);
    detail::gram_of_new(block, parts_->unary(atom_scores_), scratch_);
  }

  // w += scale Psi_i sum_a amount(a) delta_a
  template <class Amount>
  void add_atoms(std::size_t i, Amount&& amount, double scale) {
    Scorer& scorer = *problem_.scorer;
    const AtomBlock& block = dual_->block[i];
    bool any = false;
    for (std::size_t a = 1; a < block.size(); ++a) {
      const double own = amount(a);
      if (own == 0) continue;
      any = true;
      for (const AtomPart& p : block.unary_parts(a)) step_[p.part] += own * p.amount;
      for (const AtomPart& p : block.tail_parts(a)) scorer.update_tail(p.part, scale * own * p.amount);
    }
    if (!any) return;
    parts_->add(scorer, i, step_.data(), scale, buffer_);
    std::fill_n(step_.data(), parts_->rows(scorer, i) * scorer.stride(), 0.0);
  }

  // w := w(mu) afresh, and the dual value of the atoms.
  void rebuild() {
    if constexpr (requires { parts_->rebuild(problem_, dual_->block); }) {
      value_ = -0.5 * problem_.lambda * parts_->rebuild(problem_, dual_->block);
      for (std::size_t i = 0; i < problem_.examples(); ++i) value_ += problem_.weight[i] * dual_->block[i].risk();
    } else {
      problem_.scorer->reset();
      value_ = 0;
      for (std::size_t i = 0; i < problem_.examples(); ++i) {
        const AtomBlock& block = dual_->block[i];
        value_ += problem_.weight[i] * block.risk();
        add_atoms(
            i, [&](std::size_t a) { return block.weight(a); }, -problem_.weight[i] / problem_.lambda);
      }
      value_ -= 0.5 * problem_.lambda * problem_.scorer->norm_squared();
    }
  }

  struct Worker {
    typename Oracle::Workspace workspace;
    typename Parts::Buffer buffer;
  };
  Worker worker(const Scorer& weights) const {
    parts_->prepare(weights);
    return {{}, parts_->buffer(weights)};
  }
  double upper(std::size_t i, const Scorer& weights, Worker& own) const {
    parts_->score(weights, i, own.buffer);
    const auto v = parts_->view(weights, i, own.buffer);
    const LabelView y = problem_.y(i);
    typename Oracle::Seeds seeds = dual_->seeds[i];
    const LabellingAccuracy accuracy{.gap = 0.05 * negligible(0.1), .stop = &give_up_};
    return oracle_->answer(v, y, accuracy, seeds, own.workspace).upper - score(v, y);
  }
  double upper_at_once(std::size_t i, const Scorer& weights, Worker& own) const {
    parts_->score(weights, i, own.buffer);
    const auto v = parts_->view(weights, i, own.buffer);
    return oracle_->upper_at_once(v) - score(v, problem_.y(i));
  }

  const Oracle* oracle_;
  const Parts* parts_;
  LabellingDual<Oracle>* dual_;
  typename Oracle::Workspace workspace_;
  typename Oracle::Seeds seeds_before_;
  AtomScratch scratch_;
  typename Parts::Buffer buffer_;
  AlignedVector<double> step_;
  // Of one atom alone; there once an output was long.
  std::optional<Scorer> atom_weights_;
  typename Parts::Buffer atom_scores_;
};

// The lambdas in turn, each from the dual point of the one before, the first from that of an earlier fit if there is
// one.
template <class Scorer, class Oracle, class Parts>
void path_of_ascents(Problem<Scorer> problem, const Oracle& oracle, const Parts& parts, LabellingDual<Oracle> dual,
                     const PathRequest& request, const EmitResult& emit) {
  EarlierAtoms<Oracle> point{std::move(dual), {}};
  if (request.context->start || request.context->checkpoint)
    for (std::size_t i = 0; i < problem.examples(); ++i)
      point.outputs.push_back(crc64(bytes_of(problem.y(i)), parts.checksum(*problem.scorer, i)));
  const CheckpointScope scope(*request.context, point);
  auto earlier = earlier_point<EarlierAtoms<Oracle>>(*request.context);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    const SolverOptions options = solver_options(*request.options);
    LabellingAscent ascent(problem, oracle, parts, point.dual, options, *request.context);
    if (const auto start = std::exchange(earlier, nullptr)) ascent.adopt(*start, point.outputs);
    emit(ascent.run());
  }
  leave_point(std::move(point), *request.context);
}

}  // namespace m4n::detail
