// For the commands that predict: scores that are numbers, and options that go with a model.
#pragma once
#include <vector>

#include "m4n/read.h"

namespace m4n::cli {

// Model::scores, n x k. Throws Error with file and line where a row's scores are not finite: nothing can be decoded
// from them.
std::vector<double> finite_scores(const Model& model, const RawTable& table, const Context& context);

// The same of matchings, one score a pair.
std::vector<double> finite_pair_scores(const Model& model, const Dataset& examples, const std::string& path,
                                       const Context& context);

// Probabilities, which the decoder `expected` needs too, sum over all permutations. Throws Error with the matching that
// has too many points for that.
void require_probabilities(const Dataset& examples, const std::string& path);

// Options about columns mean nothing to models of matchings and graphs.
void require_matching_options(const TrainOptions& options, const std::string& name);
void require_graph_options(const TrainOptions& options, const std::string& name);

// Options about columns mean nothing to a model of sequences, and its format is that of its training.
void require_sequence_options(const Model& model, const TrainOptions& options, const std::string& name);

}  // namespace m4n::cli
