// Chains as the atoms solver of labellings sees them (solvers/labelling_ascent.h). Unary parts are those of tokens,
// tail parts the transitions, start and end (structures/chains/scorer.h numbers them).
#pragma once
#include <algorithm>
#include <span>

#include "solvers/labelling_ascent.h"
#include "structures/chains/oracles.h"
#include "structures/chains/scorer.h"

namespace m4n::detail {

// Of the tokens of a sentence.
template <class Scorer>
using TokenGram = KeptGram<Scorer, &Scorer::gram>;
template <class Scorer>
TokenGram<Scorer> token_gram(const Scorer& scorer) {
  return {scorer, [&](std::size_t i) { return scorer.length(i); }};
}

// The parts of mu - phi(truth) for the answer mu, collected in `scratch`. The tail is labels + 2 padded rows: the
// transitions from every label, the start and the end.
inline void chain_difference_from_truth(const LabellingAnswer& answer, LabelView truth, std::size_t labels,
                                        AtomScratch& scratch) {
  const std::size_t length = truth.size(), stride = row_stride<double>(labels);
  const auto add_labelling = [&](const std::int32_t* y, double amount) {
    auto label = static_cast<std::size_t>(y[0]);
    add_part(scratch.tail, scratch.touched_tail, labels * stride + label, amount);
    for (std::size_t m = 0;; ++m) {
      add_part(scratch.unary, scratch.touched_unary, m * stride + label, amount);
      if (m + 1 == length) break;
      const auto next = static_cast<std::size_t>(y[m + 1]);
      add_part(scratch.tail, scratch.touched_tail, label * stride + next, amount);
      label = next;
    }
    add_part(scratch.tail, scratch.touched_tail, (labels + 1) * stride + label, amount);
  };
  add_labelling(truth.data(), -1);
  for (std::size_t j = 0; j < answer.weight.size(); ++j)
    add_labelling(answer.labelling.data() + j * length, answer.weight[j]);
  for (const TreeMass& part : answer.mass) {
    const std::size_t m = answer.nodes[part.node].position;
    add_part(scratch.unary, scratch.touched_unary, m * stride + part.label, part.mass);
    add_part(scratch.tail, scratch.touched_tail, (m == 0 ? labels : part.above) * stride + part.label, part.mass);
    if (m + 1 == length) add_part(scratch.tail, scratch.touched_tail, (labels + 1) * stride + part.label, part.mass);
  }
  collect_parts(scratch);
}

template <class OwnScorer>
class ChainParts {
 public:
  using Scorer = OwnScorer;
  using Scores = ChainScores;
  using Buffer = PaddedMatrix<double>;
  static constexpr bool mean_whatever_it_costs = false;
  static constexpr double steps_of_weights = 0;

  explicit ChainParts(const Scorer& scorer) : gram_(token_gram(scorer)) {}

  Buffer buffer(const Scorer& scorer) const {
    Buffer out;
    out.shape(scorer.longest(), scorer.labels());
    return out;
  }
  std::size_t unary_size(const Scorer& scorer) const { return scorer.longest() * scorer.stride(); }
  void prepare(const Scorer& scorer) const { scorer.transitions(); }

  void score(const Scorer& scorer, std::size_t i, Buffer& buffer) const {
    scorer.unary(i, buffer.shape(scorer.length(i), scorer.labels()));
  }
  double score_contested(const Scorer& scorer, std::size_t i, std::span<const std::uint32_t> tokens,
                         Buffer& buffer) const {
    const PaddedRows<double> unary = buffer.shape(scorer.length(i), scorer.labels());
    for (const std::uint32_t m : tokens) scorer.unary(i, {unary.row(m), 1, scorer.labels()}, m);
    return static_cast<double>(tokens.size()) / static_cast<double>(scorer.length(i));
  }
  const double* unary(const Buffer& buffer) const { return buffer.view().data(); }
  ChainScores view(const Scorer& scorer, std::size_t, const Buffer& buffer) const {
    return {buffer.view(), &scorer.transitions()};
  }
  double oracle_work(const Scorer& scorer, std::size_t i, const ChainScores&) const {
    return static_cast<double>(scorer.length(i) * scorer.stride()) *
           (2 * static_cast<double>(scorer.labels()) + 2 * scalar_work);
  }

  std::uint64_t checksum(const Scorer&, std::size_t) const { return 0; }
  std::size_t rows(const Scorer& scorer, std::size_t i) const { return scorer.length(i); }
  double gram(const Scorer&, std::size_t i, std::size_t m, std::size_t other) const { return gram_(i, m, other); }
  void difference_from_truth(const Scorer& scorer, std::size_t, const LabellingAnswer& answer, LabelView truth,
                             AtomScratch& scratch) const {
    chain_difference_from_truth(answer, truth, scorer.labels(), scratch);
  }
  void add(Scorer& scorer, std::size_t i, const double* step, double scale, Buffer&) const {
    scorer.update_unary(i, {step, scorer.length(i), scorer.labels()}, scale);
  }

  double rebuild(const Problem<Scorer>& problem, const std::vector<AtomBlock>& blocks) const {
    return problem.scorer->rebuild([&](std::size_t i, PaddedRows<double> unary, std::span<double> tail) {
      const AtomBlock& block = blocks[i];
      for (std::size_t a = 1; a < block.size(); ++a) {
        const double amount = -problem.weight[i] / problem.lambda * block.weight(a);
        if (amount == 0) continue;
        for (const AtomPart& p : block.unary_parts(a)) unary.data()[p.part] += amount * p.amount;
        for (const AtomPart& p : block.tail_parts(a)) tail[p.part] += amount * p.amount;
      }
    });
  }

 private:
  TokenGram<Scorer> gram_;
};

}  // namespace m4n::detail
