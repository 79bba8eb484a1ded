// Inner products of the features of the nodes, and of the edges, of a graph: kept for all graphs where they fit into
// `most_kept` numbers, computed when asked for otherwise.
#pragma once
#include <cstddef>
#include <vector>

namespace m4n::detail {

template <class Scorer>
class GraphGram {
 public:
  static constexpr std::size_t most_kept = std::size_t{1} << 22;

  explicit GraphGram(const Scorer& scorer) : scorer_(&scorer) {
    std::size_t total = 0;
    for (std::size_t i = 0; i < scorer.examples(); ++i) {
      begin_.push_back(total);
      total += pairs(scorer.feature_rows(i)) + pairs(edges(i));
    }
    if (total > most_kept) return;
    kept_.reserve(total);
    for (std::size_t i = 0; i < scorer.examples(); ++i) {
      for (std::size_t r = 0; r < scorer.feature_rows(i); ++r)
        for (std::size_t other = 0; other <= r; ++other) kept_.push_back(scorer.row_gram(i, r, other));
      for (std::size_t e = 0; e < edges(i); ++e)
        for (std::size_t other = 0; other <= e; ++other) kept_.push_back(scorer.edge_gram(i, e, other));
    }
  }
  // Of two rows of unary parts (structures/graphs/scorer.h): labels of a node meet those of another in the same slot, a
  // row of an edge's table meets the same row of another.
  double operator()(std::size_t i, std::size_t a, std::size_t b) const {
    const std::size_t nodes = scorer_->nodes(i), slots = scorer_->slots(), labels = scorer_->labels();
    if ((a < nodes) != (b < nodes)) return 0;
    if (a < nodes) return a % slots == b % slots ? rows(i, a / slots, b / slots) : 0;
    a -= nodes;
    b -= nodes;
    if (a % labels != b % labels) return 0;
    a /= labels;
    b /= labels;
    return kept_.empty() ? scorer_->edge_gram(i, a, b)
                         : kept_[begin_[i] + pairs(scorer_->feature_rows(i)) + place(a, b)];
  }

 private:
  static std::size_t pairs(std::size_t count) { return count * (count + 1) / 2; }
  static std::size_t place(std::size_t a, std::size_t b) { return a >= b ? pairs(a) + b : pairs(b) + a; }
  std::size_t edges(std::size_t i) const { return scorer_->edge_features() ? scorer_->edges(i) : 0; }
  double rows(std::size_t i, std::size_t a, std::size_t b) const {
    return kept_.empty() ? scorer_->row_gram(i, a, b) : kept_[begin_[i] + place(a, b)];
  }

  const Scorer* scorer_;
  std::vector<std::size_t> begin_;
  std::vector<double> kept_;
};

}  // namespace m4n::detail
