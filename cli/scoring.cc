#include "scoring.h"

#include <fmt/format.h>

#include "core/kernels.h"
#include "m4n/error.h"
#include "structures/permutations/gibbs.h"
#include "structures/chains/input.h"

namespace m4n::cli {

std::vector<double> finite_scores(const Model& model, const RawTable& table, const Context& context) {
  std::vector<double> scores = model.scores(view(table.x), context);
  const std::size_t outputs = model.outputs();
  for (std::size_t e = 0; e < scores.size(); ++e)
    if (!kernels::is_score(scores[e]))
      throw Error(
          fmt::format("{}: line {}: the score of {} '{}' is {}, beyond what can be computed with: a value of "
                      "this line is too large for the model; correct it, or leave the line out",
                      table.path, table.line[e / outputs],
                      model.task == Task::ranking      ? "item"
                      : model.task == Task::multilabel ? "label"
                                                       : "class",
                      model.output_names()[e % outputs], scores[e]));
  return scores;
}

std::vector<double> finite_pair_scores(const Model& model, const Dataset& examples, const std::string& path,
                                       const Context& context) {
  std::vector<double> scores = model.scores(view(examples.x), context);
  for (std::size_t e = 0; e < examples.examples(); ++e)
    for (std::size_t p = examples.feature_rows.begin(e); p < examples.feature_rows.end(e); ++p)
      if (!kernels::is_score(scores[p])) {
        const std::size_t size = examples.labels.end(e) - examples.labels.begin(e),
                          pair = p - examples.feature_rows.begin(e);
        throw Error(
            fmt::format("{}: matching {}: the score of the pair {} {} is {}, beyond what can be computed with: one of "
                        "its values is too large for the model; correct it, or leave the matching out",
                        path, e + 1, pair / size + 1, pair % size + 1, scores[p]));
      }
  return scores;
}

void require_probabilities(const Dataset& examples, const std::string& path) {
  for (std::size_t e = 0; e < examples.examples(); ++e)
    if (const std::size_t size = examples.labels.end(e) - examples.labels.begin(e);
        size > PermutationGibbs::largest_size)
      throw Error(fmt::format(
          "{}: matching {} has {} points; a crf sums over all permutations, which is possible for up to {}: "
          "leave it out, or train with --decode argmax, or with another --surrogate",
          path, e + 1, size, PermutationGibbs::largest_size));
}

namespace {

void refuse_columns(const ReadOptions& read, const std::string& name, const char* what) {
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw UsageError(
          fmt::format("{} names a column of a table, but {} is a model of {}. Leave it out", option, name, what));
  };
  refuse(!read.target.empty(), "--target");
  refuse(!read.id.empty(), "--id");
  refuse(!read.weights.empty(), "--weights");
}

void require_own_format(const TrainOptions& options, const std::string& name, Format format, const char* what) {
  refuse_columns(options.read, name, what);
  if (options.read.format != Format::automatic && options.read.format != format)
    throw UsageError(fmt::format("--format {}: {} is a model of {} and reads the format {} only. Leave it out",
                                 to_string(options.read.format), name, what, to_string(format)));
}

}  // namespace

void require_matching_options(const TrainOptions& options, const std::string& name) {
  require_own_format(options, name, Format::matching, "matchings");
}

void require_graph_options(const TrainOptions& options, const std::string& name) {
  require_own_format(options, name, Format::graph, "graphs");
}

void require_sequence_options(const Model& model, const TrainOptions& options, const std::string& name) {
  const ReadOptions& read = options.read;
  refuse_columns(read, name, "sequences");
  if (!model.input) throw Error(fmt::format("{}: was not trained on a file of sequences; it cannot read one", name));
  if (read.format != Format::automatic && read.format != model.input->format)
    throw UsageError(fmt::format("--format {}: {} was trained on the format {} and reads that only. Leave it out",
                                 to_string(read.format), name, to_string(model.input->format)));
}

}  // namespace m4n::cli
