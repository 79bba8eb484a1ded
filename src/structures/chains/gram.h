// Inner products of the tokens of a sentence, Phi(x_m) . Phi(x_m'): kept for all sentences where they fit into
// `most_kept` numbers, computed when asked for otherwise.
#pragma once
#include <cstddef>
#include <vector>

namespace m4n::detail {

template <class Scorer>
class SentenceGram {
 public:
  static constexpr std::size_t most_kept = std::size_t{1} << 21;

  explicit SentenceGram(const Scorer& scorer) : scorer_(&scorer) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < scorer.examples(); ++i) {
      begin_.push_back(total);
      total += scorer.length(i) * (scorer.length(i) + 1) / 2;
    }
    if (total > most_kept) return;
    kept_.reserve(total);
    for (std::size_t i = 0; i < scorer.examples(); ++i)
      for (std::size_t m = 0; m < scorer.length(i); ++m)
        for (std::size_t other = 0; other <= m; ++other) kept_.push_back(scorer.gram(i, m, other));
  }
  bool kept() const { return !kept_.empty(); }
  double operator()(std::size_t i, std::size_t m, std::size_t other) const {
    if (kept_.empty()) return scorer_->gram(i, m, other);
    return kept_[begin_[i] + (m >= other ? m * (m + 1) / 2 + other : other * (other + 1) / 2 + m)];
  }

 private:
  const Scorer* scorer_;
  std::vector<std::size_t> begin_;
  std::vector<double> kept_;
};

}  // namespace m4n::detail
