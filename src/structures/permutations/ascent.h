// M4N and M3N on permutations: block ascent (solvers/atom_ascent.h) with dense atoms (structures/permutations/atoms.h).
#pragma once
#include "core/checksum.h"
#include "solvers/atom_ascent.h"
#include "structures/permutations/atoms.h"
#include "structures/permutations/oracles.h"

namespace m4n::detail {

// The dual point, which a path of lambdas hands on.
template <class Oracle>
struct PermutationDual {
  std::vector<PermutationAtoms> block;
  std::vector<typename Oracle::Seeds> seeds;

  PermutationDual() = default;
  template <class Archive>
  void archive(Archive& a) {
    a(block, seeds);
  }

  template <class Scorer>
  PermutationDual(const Problem<Scorer>& problem, const PositionLosses& losses) : seeds(problem.examples()) {
    for (std::size_t i = 0; i < problem.examples(); ++i) {
      const LabelView y = problem.y(i);
      block.emplace_back(losses.of(y.size())(y, y), problem.scorer->image_size(i));
    }
  }
};

// The dual point of an earlier fit, and checksums of what its atoms belong to: labels, and what images are made of.
template <class Oracle>
struct EarlierPermutations {
  PermutationDual<Oracle> dual;
  std::vector<std::uint64_t> outputs;

  template <class Archive>
  void archive(Archive& a) {
    a(dual, outputs);
    a.expect(dual.block.size() == outputs.size() && dual.seeds.size() == outputs.size());
  }
  // Takes over what an earlier point has of the examples in the same places that are still the same.
  void adopt(const EarlierPermutations& earlier) {
    for (std::size_t i = 0; i < std::min(outputs.size(), earlier.outputs.size()); ++i) {
      if (outputs[i] != earlier.outputs[i] || earlier.dual.block[i].length() != dual.block[i].length()) continue;
      dual.block[i] = earlier.dual.block[i];
      dual.seeds[i] = earlier.dual.seeds[i];
    }
  }
};

template <class Scorer, class Oracle>
class PermutationAscent : public AtomAscent<PermutationAscent<Scorer, Oracle>, Scorer> {
  using Base = AtomAscent<PermutationAscent<Scorer, Oracle>, Scorer>;
  friend Base;
  using Base::context_, Base::give_up_, Base::hasty_, Base::keeps_state_, Base::memory, Base::negligible,
      Base::problem_, Base::result_, Base::stop_, Base::told_to_stop_, Base::value_;
  using typename Base::Pass;

 public:
  PermutationAscent(const Problem<Scorer>& problem, const Oracle& oracle, const PermutationParts& parts,
                    PermutationDual<Oracle>& dual, const SolverOptions& options, const Context& context)
      : Base(problem, options, context, true),
        oracle_(&oracle),
        parts_(parts),
        dual_(&dual),
        scores_(problem.scorer->largest_padded_parts()),
        delta_(scores_.size()),
        against_(problem.scorer->largest_image()),
        image_(against_.size()) {}

 private:
  static constexpr double patience = 0.1;

  // Whether the atoms can be those of the examples.
  bool fits() const {
    const std::size_t n = problem_.examples();
    if (dual_->block.size() != n || dual_->seeds.size() != n) return false;
    for (std::size_t i = 0; i < n; ++i)
      if (dual_->block[i].length() != problem_.scorer->image_size(i)) return false;
    return true;
  }

  bool visit(std::size_t i, bool full, Pass& total) {
    Scorer& scorer = *problem_.scorer;
    PermutationAtoms& block = dual_->block[i];
    if (!full && block.size() == 1) return true;
    const double share = problem_.weight[i], c = share * scorer.image_scale(i) / problem_.lambda;
    const std::size_t length = scorer.image_size(i);
    const std::span<double> image = std::span(image_).first(length);
    const std::span<const double> against = scorer.against(i, std::span(against_).first(length));
    total.work += static_cast<double>(scorer.image_work(i) + 2 * length * block.size());
    const double current = block.gains(against, scratch_);
    if (full && !ask(i, current, total)) return false;
    if (block.size() == 1) return true;
    const double value = block.reweigh(c, scratch_);
    total.work += static_cast<double>(scorer.image_work(i) + length * block.size());
    if (value > 0) {
      total.gain += share * value;
      block.combine(scratch_.change, image);
      scorer.update_image(i, image, -share / problem_.lambda);
    }
    if (full) block.forget(memory);
    return true;
  }

  // Asks the oracle and appends its answer if it is any better than the atoms are. False if it was told to stop.
  bool ask(std::size_t i, double current, Pass& total) {
    const Scorer& scorer = *problem_.scorer;
    PermutationAtoms& block = dual_->block[i];
    const LabelView y = problem_.y(i);
    const std::size_t count = scorer.parts(i), length = scorer.image_size(i);
    scorer.scores(i, scores_);
    const std::span<const double> v = std::span<const double>(scores_).first(count);
    if (keeps_state_) seeds_before_ = dual_->seeds[i];
    const PermutationAnswer answer = oracle_->answer(v, y, {negligible(0.05), &stop_}, dual_->seeds[i], workspace_);
    if (told_to_stop_) {
      if (keeps_state_) dual_->seeds[i] = std::move(seeds_before_);
      return false;
    }
    ++result_.oracle_calls;
    total.work += static_cast<double>(scorer.work(i)) + scalar_work * static_cast<double>(count * y.size());
    const double own = parts_.score(v, y);
    total.gap += problem_.weight[i] * (answer.upper - own - current);
    parts_.embed(y, std::span(delta_).first(count));
    double gain = answer.risk;
    for (std::size_t e = 0; e < count; ++e) {
      delta_[e] = answer.mu[e] - delta_[e];
      gain += v[e] * delta_[e];
    }
    if (!(gain > *std::max_element(scratch_.gain.begin(), scratch_.gain.end()))) return true;
    scorer.image(i, delta_, std::span(image_).first(length));
    block.append(answer.risk, std::span<const double>(image_).first(length), gain, scratch_);
    return true;
  }

  // w := w(mu) afresh, and the dual value of the atoms.
  void rebuild() {
    Scorer& scorer = *problem_.scorer;
    AlignedVector<double> coefficients;
    if constexpr (HasCoefficients<Scorer>) {
      coefficients.assign(problem_.examples() * scorer.largest_image(), 0.0);
    } else {
      scorer.reset();
    }
    value_ = 0;
    for (std::size_t i = 0; i < problem_.examples(); ++i) {
      const PermutationAtoms& block = dual_->block[i];
      value_ += problem_.weight[i] * block.risk();
      if (block.size() == 1) continue;
      const std::span<double> image = std::span(image_).first(scorer.image_size(i));
      block.combine(image);
      const double scale = -problem_.weight[i] / problem_.lambda;
      if constexpr (HasCoefficients<Scorer>) {
        for (std::size_t j = 0; j < image.size(); ++j) coefficients[i * image.size() + j] = scale * image[j];
      } else {
        scorer.update_image(i, image, scale);
      }
    }
    if constexpr (HasCoefficients<Scorer>) scorer.set_coefficients(std::move(coefficients), context_->threads);
    value_ -= 0.5 * problem_.lambda * scorer.norm_squared();
  }

  struct Worker {
    typename Oracle::Workspace workspace;
    AlignedVector<double> scores;
  };
  Worker worker(const Scorer&) const { return {{}, AlignedVector<double>(scores_.size())}; }
  double upper(std::size_t i, const Scorer& weights, Worker& own) const {
    weights.scores(i, own.scores);
    const std::span<const double> v = std::span<const double>(own.scores).first(weights.parts(i));
    const LabelView y = problem_.y(i);
    typename Oracle::Seeds seeds = hasty_ ? typename Oracle::Seeds{} : dual_->seeds[i];
    const PermutationAccuracy accuracy{0.2 * negligible(0.05), &give_up_};
    return oracle_->answer(v, y, accuracy, seeds, own.workspace).upper - parts_.score(v, y);
  }
  // Every item at the position where it scores most, and the largest loss.
  double upper_at_once(std::size_t i, const Scorer& weights, Worker& own) const {
    weights.scores(i, own.scores);
    const std::span<const double> v = std::span<const double>(own.scores).first(weights.parts(i));
    const LabelView y = problem_.y(i);
    return parts_.most(v, y.size()) + oracle_->largest_loss(y.size()) - parts_.score(v, y);
  }

  const Oracle* oracle_;
  PermutationParts parts_;
  PermutationDual<Oracle>* dual_;
  typename Oracle::Workspace workspace_;
  typename Oracle::Seeds seeds_before_;
  PermutationAtoms::Scratch scratch_;
  AlignedVector<double> scores_, delta_, against_, image_;
};

}  // namespace m4n::detail
