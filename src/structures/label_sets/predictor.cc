#include "structures/label_sets/predictor.h"

#include <cmath>

#include "losses/label_costs.h"
#include "structures/label_sets/thresholds.h"

namespace m4n {
GraphPredictor graph_predictor(const Model& model) {
  std::vector<CostMatrix> costs;
  if (model.task == Task::graph) {
    costs.push_back(
        CostMatrix::from_values(model.cost, model.k(), model.loss_name, model.classes, "the model's cost matrix"));
  } else {
    const LabelCosts own = remembered_costs(model.cost, model.classes);
    for (std::size_t j = 0; j < own.labels(); ++j) costs.push_back(own.matrix(j));
  }
  return {std::move(costs), model.decode, model.graph.weights, model.graph.features};
}

std::vector<std::int32_t> decode_label_sets(const Model& model, std::span<const double> scores,
                                            const Context& context) {
  const std::size_t k = model.k(), n = scores.size() / model.outputs();
  if (!model.graph.edges.empty()) {
    const GraphStructure structure = shared_edges(model.graph.edges, n);
    const Groups rows(n), nodes(n, k);
    return graph_predictor(model).labellings(scores, {&rows, &nodes, &structure}, context);
  }
  const std::vector<double> threshold =
      label_thresholds(model.surrogate, model.decode, remembered_costs(model.cost, model.classes));
  std::vector<std::int32_t> out(scores.size());
  for (std::size_t e = 0; e < scores.size(); ++e) out[e] = scores[e] > threshold[e % k] ? 1 : 0;
  return out;
}

std::vector<double> label_set_marginals(const Model& model, std::span<const double> scores, const Context& context) {
  const std::size_t k = model.k(), n = scores.size() / model.outputs();
  std::vector<double> out(n * k);
  if (model.graph.edges.empty()) {
    for (std::size_t e = 0; e < out.size(); ++e) out[e] = 1 / (1 + std::exp(-2 * scores[e]));
    return out;
  }
  const GraphStructure structure = shared_edges(model.graph.edges, n);
  const Groups rows(n), nodes(n, k);
  const std::vector<double> both = graph_predictor(model).marginals(scores, {&rows, &nodes, &structure}, context);
  for (std::size_t e = 0; e < out.size(); ++e) out[e] = both[2 * e + 1];
  return out;
}

}  // namespace m4n
