// Predictions of models whose labels may depend on each other: label sets and graphs.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "m4n/context.h"
#include "m4n/model.h"
#include "structures/graphs/predictor.h"

namespace m4n {

// Of label sets: marks 0 and 1, n x k, from scores n x outputs.
std::vector<std::int32_t> decode_label_sets(const Model& model, std::span<const double> scores, const Context& context);
// Of a CRF: the probability that each label is on, n x k.
std::vector<double> label_set_marginals(const Model& model, std::span<const double> scores, const Context& context);

// Of a model of graphs, or of label sets with edges.
GraphPredictor graph_predictor(const Model& model);

}  // namespace m4n
