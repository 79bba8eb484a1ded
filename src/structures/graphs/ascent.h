// M4N and M3N on graphs: block ascent (solvers/atom_ascent.h) with sparse atoms (solvers/labelling_atoms.h). The oracle
// is asked to a fifth of what the block can gain; cached visits score only the nodes and edges that atoms contest.
#pragma once
#include <algorithm>
#include <cmath>

#include "solvers/atom_ascent.h"
#include "solvers/labelling_atoms.h"
#include "structures/graphs/gram.h"
#include "structures/graphs/oracles.h"
#include "structures/graphs/scorer.h"
#include "structures/graphs/shapes.h"

namespace m4n::detail {

// The dual point, which a path of lambdas hands on.
template <class Oracle>
struct GraphDual {
  std::vector<AtomBlock> block;
  std::vector<typename Oracle::Seeds> seeds;

  template <class Scorer>
  GraphDual(const Problem<Scorer>& problem, const GraphShapes& shapes, std::span<const CostMatrix> costs)
      : seeds(problem.examples()) {
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      const LabelView y = problem.y(i);
      double risk = 0;
      for (std::size_t m = 0; m < y.size(); ++m) {
        const auto label = static_cast<std::size_t>(y[m]);
        risk += costs[shapes.cost(i)[m]](label, label);
      }
      block.emplace_back(risk / static_cast<double>(y.size()));
    }
  }
};

template <class Scorer, class Oracle>
class GraphAscent : public AtomAscent<GraphAscent<Scorer, Oracle>, Scorer> {
  using Base = AtomAscent<GraphAscent<Scorer, Oracle>, Scorer>;
  friend Base;
  using Base::give_up_, Base::memory, Base::negligible, Base::problem_, Base::result_, Base::scalar, Base::stop_,
      Base::value_;
  using typename Base::Pass;

 public:
  GraphAscent(const Problem<Scorer>& problem, const Oracle& oracle, const GraphShapes& shapes,
              const GraphGram<Scorer>& gram, GraphDual<Oracle>& dual, const SolverOptions& options,
              const Context& context)
      : Base(problem, options, context, true),
        oracle_(&oracle),
        shapes_(&shapes),
        gram_(&gram),
        dual_(&dual),
        scratch_(problem.scorer->largest_padded_parts(), problem.scorer->tail().size()),
        buffer_(problem.scorer->buffer()),
        step_(problem.scorer->largest_padded_parts(), 0.0),
        scored_(problem.scorer->most_rows(), 0) {}

 private:
  static constexpr double patience = 0.5;
  // How well the oracle is asked, relative to what the block can gain. Better answers cost more and take fewer passes.
  static constexpr double of_the_gain = 0.2;
  // Steps that re-optimising the weights of atoms takes, each a look at all of them, about.
  static constexpr double steps_of_weights = 40;

  void visit(std::size_t i, bool full, Pass& total) {
    const Scorer& scorer = *problem_.scorer;
    AtomBlock& block = dual_->block[i];
    if (!full && block.size() == 1) return;
    const double share = problem_.weight[i], c = share / problem_.lambda;
    double scoring = static_cast<double>(scorer.work(i));
    if (full) {
      scorer.score(i, buffer_);
    } else {
      scoring *= score_contested(i, block);
    }
    total.work += scoring + scalar * static_cast<double>(block.parts());
    const double current = block.gains(buffer_.rows.data(), scorer.tail().data(), scratch_);
    if (full) ask(i, current, total);
    if (block.size() == 1) return;
    const double value = block.reweigh(c, scratch_);
    total.work += scalar * steps_of_weights * static_cast<double>(block.size());
    if (value > 0) {
      total.gain += share * value;
      total.work += scoring;
      move(i, c);
    }
    if (full) block.forget(memory, scorer.stride());
  }

  // Asks the oracle and appends its answer if it is any better than the atoms are.
  void ask(std::size_t i, double current, Pass& total) {
    const Scorer& scorer = *problem_.scorer;
    AtomBlock& block = dual_->block[i];
    const LabelView y = problem_.y(i);
    const GraphGameScores v = shapes_->view(i, scorer, buffer_);
    const double own = score(v, y);
    const LabellingAccuracy accuracy{negligible(0.1), of_the_gain, current + own, &stop_};
    const LabellingAnswer answer = oracle_->answer(v, y, accuracy, dual_->seeds[i], workspace_);
    ++result_.oracle_calls;
    total.gap += problem_.weight[i] * (answer.upper - own - current);
    total.work += static_cast<double>(answer.paths) *
                  (2 * v.tree->table_entries() + 2 * scalar * static_cast<double>(y.size() * scorer.stride()));
    const double gain = answer.lower - own;
    if (!(gain > *std::max_element(scratch_.gain.begin(), scratch_.gain.end()))) return;
    difference_from_truth(i, answer, y);
    gram_of_new(
        block, scorer.unary_rows(i), scorer.labels(), [&](std::size_t a, std::size_t b) { return (*gram_)(i, a, b); },
        scratch_);
    block.append(answer.risk, scorer.stride(), scratch_);
    scratch_.gain.push_back(gain);
  }

  // Returns the share of all scores that was computed, about.
  double score_contested(std::size_t i, const AtomBlock& block) {
    const Scorer& scorer = *problem_.scorer;
    const std::size_t nodes = scorer.nodes(i), slots = scorer.slots(), labels = scorer.labels();
    std::size_t count = 0;
    for (const std::uint32_t row : block.contested()) {
      const bool node = row < nodes;
      const std::size_t first = node ? row / slots : scorer.feature_rows(i) + (row - nodes) / labels;
      if (scored_[first]++ > 0) continue;
      node ? scorer.score_row(i, first, buffer_) : scorer.score_edge(i, (row - nodes) / labels, buffer_);
      ++count;
    }
    for (const std::uint32_t row : block.contested())
      scored_[row < nodes ? row / slots : scorer.feature_rows(i) + (row - nodes) / labels] = 0;
    const std::size_t all = scorer.feature_rows(i) + (scorer.edge_features() ? scorer.edges(i) : 0);
    return static_cast<double>(count) / static_cast<double>(all);
  }

  // Writes the difference of an answer from the truth into scratch_.parts.
  void difference_from_truth(std::size_t i, const LabellingAnswer& answer, LabelView truth) {
    const Scorer& scorer = *problem_.scorer;
    const std::size_t stride = scorer.stride(), nodes = truth.size();
    const std::span<const GraphEdge> edges = scorer.edges_of(i);
    const auto add_labelling = [&](const std::int32_t* y, double amount) {
      const auto at = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
      for (std::size_t m = 0; m < nodes; ++m)
        add_part(scratch_.unary, scratch_.touched_unary, m * stride + at(m), amount);
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const std::size_t part = scorer.edge_part(i, e, at(edges[e].u), at(edges[e].v));
        if (scorer.edge_features()) {
          add_part(scratch_.unary, scratch_.touched_unary, part, amount);
        } else {
          add_part(scratch_.tail, scratch_.touched_tail, part, amount);
        }
      }
    };
    add_labelling(truth.data(), -1);
    for (std::size_t j = 0; j < answer.weight.size(); ++j)
      add_labelling(answer.labelling.data() + j * nodes, answer.weight[j]);
    collect_parts(scratch_);
  }

  // w -= c Psi_i sum_a change_a delta_a
  void move(std::size_t i, double c) {
    add_atoms(
        i, [&](std::size_t a) { return scratch_.change[a]; }, -c);
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
    scorer.update_unary(i, step_.data(), scale, buffer_.wide);
    std::fill_n(step_.data(), scorer.unary_rows(i) * scorer.stride(), 0.0);
  }

  // w := w(mu) afresh, and the dual value of the atoms.
  void rebuild() {
    problem_.scorer->reset();
    value_ = 0;
    for (std::size_t i = 0; i < problem_.examples(); ++i) {
      value_ += problem_.weight[i] * dual_->block[i].risk();
      add_atoms(
          i, [&](std::size_t a) { return dual_->block[i].weight(a); }, -problem_.weight[i] / problem_.lambda);
    }
    value_ -= 0.5 * problem_.lambda * problem_.scorer->norm_squared();
  }

  struct Worker {
    typename Oracle::Workspace workspace;
    GraphBuffer buffer;
  };
  Worker worker(const Scorer& weights) const { return {{}, weights.buffer()}; }
  double upper(std::size_t i, const Scorer& weights, Worker& own) const {
    weights.score(i, own.buffer);
    const GraphGameScores v = shapes_->view(i, weights, own.buffer);
    const LabelView y = problem_.y(i);
    typename Oracle::Seeds seeds = dual_->seeds[i];
    const LabellingAccuracy accuracy{.gap = 0.05 * negligible(0.1), .stop = &give_up_};
    return oracle_->answer(v, y, accuracy, seeds, own.workspace).upper - score(v, y);
  }

  const Oracle* oracle_;
  const GraphShapes* shapes_;
  const GraphGram<Scorer>* gram_;
  GraphDual<Oracle>* dual_;
  typename Oracle::Workspace workspace_;
  AtomScratch scratch_;
  GraphBuffer buffer_;
  AlignedVector<double> step_;
  std::vector<std::uint8_t> scored_;
};

}  // namespace m4n::detail
