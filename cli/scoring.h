// Scores of a table, for the commands that predict.
#pragma once
#include <vector>

#include "m4n/read.h"

namespace m4n::cli {

// Model::scores, n x k. Throws Error with file and line where a row's scores are not finite: nothing can be decoded
// from them.
std::vector<double> finite_scores(const Model& model, const RawTable& table, const Context& context);

}  // namespace m4n::cli
