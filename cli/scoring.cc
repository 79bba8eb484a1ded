#include "scoring.h"

#include <fmt/format.h>

#include <cmath>

#include "m4n/error.h"
#include "transform/sequence_input.h"

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

void require_sequence_options(const Model& model, const TrainOptions& options, const std::string& name) {
  const ReadOptions& read = options.read;
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw UsageError(
          fmt::format("{} names a column of a table, but {} is a model of sequences. Leave it out", option, name));
  };
  refuse(!read.target.empty(), "--target");
  refuse(!read.id.empty(), "--id");
  refuse(!read.weights.empty(), "--weights");
  if (!model.input) throw Error(fmt::format("{}: was not trained on a file of sequences; it cannot read one", name));
  if (read.format != Format::automatic && read.format != model.input->format)
    throw UsageError(fmt::format("--format {}: {} was trained on the format {} and reads that only. Leave it out",
                                 to_string(read.format), name, to_string(model.input->format)));
}

}  // namespace m4n::cli
