// Scores of a table, for the commands that predict.
#pragma once
#include <vector>

#include "m4n/read.h"

namespace m4n::cli {

// Model::scores, n x k. Throws Error with file and line where a row's scores are not finite: nothing can be decoded
// from them.
std::vector<double> finite_scores(const Model& model, const RawTable& table, const Context& context);

// Options about columns mean nothing to a model of sequences, and its format is that of its training.
void require_sequence_options(const Model& model, const TrainOptions& options, const std::string& name);

}  // namespace m4n::cli
