#include "scoring.h"

#include <fmt/format.h>

#include <cmath>

#include "m4n/error.h"

namespace m4n::cli {

std::vector<double> finite_scores(const Model& model, const RawTable& table, const Context& context) {
  std::vector<double> scores = model.scores(view(table.x), context);
  for (std::size_t e = 0; e < scores.size(); ++e)
    if (!std::isfinite(scores[e]))
      throw Error(
          fmt::format("{}: line {}: the score of class '{}' is {}, not a finite number: a value of this line is too "
                      "large for the model; correct it, or leave the line out",
                      table.path, table.line[e / model.k()], model.classes[e % model.k()], scores[e]));
  return scores;
}

}  // namespace m4n::cli
