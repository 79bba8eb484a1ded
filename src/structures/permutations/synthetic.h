// Rankings and matchings whose best possible loss is known. Each example has a right permutation t(x), which its
// features determine and a linear model can find; with probability `noise` the label is not t(x) but any permutation,
// all alike. For a position loss L(t, y) = c0 + sum_i w_i B[t_i][y_i] whose items all weigh the same, a random truth
// costs every prediction the same,
//
//   mean = c0 + w/M sum_kj B[k][j],          so  t(x) is best and expects  (1 - noise) L(t, t) + noise mean.
//
// Rankings: x standard normal in R^d, utilities u = W x with one W for all seeds, the item of the largest utility
// first.
//
// Matchings: M points uniform in the unit cube of R^4, any two further apart than 8 h in the sum of absolute
// differences; the second set holds them in random order, every coordinate moved by at most h. The features of a pair
// are the absolute differences of its coordinates and two standard normal distractors. The sum of the differences is
// at most 4 h for points that belong together and more than 4 h for others: weights -1 on them find every right one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/rng.h"
#include "losses/position_loss.h"
#include "m4n/dataset.h"
#include "structures/structure.h"

namespace m4n::detail {

// Of a loss whose items weigh the same, over uniformly random truths, whatever the prediction; or predictions, whatever
// the truth.
double mean_random_loss(const PositionLoss& loss);

class SyntheticRankings {
 public:
  explicit SyntheticRankings(double noise = 0.2, std::size_t features = 8, std::size_t items = 5);

  // Examples one after the other, in pieces: the same seed gives the same ones on every machine.
  class Sampler {
   public:
    Sampler(const SyntheticRankings& rankings, std::uint64_t seed);
    // The next n: features x1 .. xd, labels the positions of the items r1 .. rM (the class names), from 0.
    Dataset next(std::size_t n);

   private:
    const SyntheticRankings& rankings_;
    Rng rng_;
  };
  Dataset sample(std::size_t n, std::uint64_t seed) const { return Sampler(*this, seed).next(n); }

  std::size_t items() const { return items_; }
  // t(x)
  std::vector<std::int32_t> best(std::span<const double> x) const;
  double best_loss(const PositionLoss& loss) const;

 private:
  double noise_;
  std::size_t features_, items_;
  std::vector<double> weights_;  // W, one row per item
};

class SyntheticMatchings {
 public:
  static constexpr std::size_t coordinates = 4, distractors = 2, largest_size = 50;

  // All sizes from `smallest` to `largest` are alike.
  explicit SyntheticMatchings(double noise = 0.2, std::size_t smallest = 4, std::size_t largest = 10);

  class Sampler {
   public:
    Sampler(const SyntheticMatchings& matchings, std::uint64_t seed);
    // As read_matchings gives them; the features are d1 .. d4, noise1, noise2.
    Dataset next(std::size_t n);

   private:
    using Points = std::vector<double>;
    Points points(std::size_t size);
    void add_pairs(const Points& first, const Points& second, DenseMatrix& x);

    const SyntheticMatchings& matchings_;
    Rng rng_;
  };
  Dataset sample(std::size_t n, std::uint64_t seed) const { return Sampler(*this, seed).next(n); }

  std::size_t smallest() const { return smallest_; }
  std::size_t largest() const { return largest_; }
  // For the loss of every size from the smallest to the largest.
  double best_loss(std::span<const PositionLoss> losses) const;

 private:
  double noise_;
  std::size_t smallest_, largest_;
};

// Rankings as CSV x1..xd,r1..rM, and matchings as text.
Generated write_synthetic_rankings(const GenerateRequest& request, TextSink& sink);
Generated write_synthetic_matchings(std::size_t n, std::uint64_t seed, TextSink& sink);

}  // namespace m4n::detail
