#include "structures/permutations/assignment.h"

#include <fmt/format.h>

#include <cmath>

#include "core/message.h"

namespace m4n::detail {

void Assignment::load(std::span<const double> scores, std::size_t size) {
  row_dual_.resize(size);
  // The sum of the absolute values is not a number, or too large, as soon as one of them is: only then a closer look.
  if (load_scores(scores.data(), size, table_) <= largest_score) return;
  for (std::size_t e = 0; e < size * size; ++e)
    if (!(std::abs(scores[e]) <= largest_score))
      throw Error(
          say("the score of item {} at position {} is {}; expected a number between -{} and {}; look for "
              "features or weights that are not finite or far too large (--standardize yes scales features)",
              e / size, e % size, scores[e], largest_score, largest_score));
}

double Assignment::solve(std::span<const double> scores, std::size_t size) {
  load(scores, size);
  reduce_columns(table_);
  return search();
}

double Assignment::solve(std::span<const double> scores, std::size_t size, std::span<const double> column_duals) {
  // Read before the table changes its size: they may lie in it.
  const double* dual = column_duals.data();
  const std::size_t given = column_duals.size();
  const bool own = dual == table_.price.data();
  load(scores, size);
  if (own) dual = table_.price.data();
  for (std::size_t j = 0; j < table_.stride; ++j)
    table_.price[j] = j < size && j < given && std::abs(dual[j]) <= largest_score ? dual[j] : 0;
  return search();
}

double Assignment::search() {
  search_assignment(table_);
  double value = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto j = static_cast<std::size_t>(table_.position[i]);
    const double score = table_.scores[i * table_.stride + j];
    value += score;
    row_dual_[i] = score - table_.price[j];
  }
  return value;
}

}  // namespace m4n::detail
