// Classes and grades: one label per example.
#pragma once
#include "losses/cost_matrix.h"
#include "structures/table_structure.h"

namespace m4n::detail {

struct ClassPart : RowPart {
  OrdinalBins bins;  // where the grades are cut from a raw target
};

// What a model of classes, or of labels of tokens and nodes, remembers of its costs.
CostMatrix model_cost(const Model& model);
// k x k finite numbers with cost[t][p] > cost[t][t] for p != t, equal to the named loss where it has a name.
void check_cost(const Model& model, const ModelCheck& check);

// The names of the predictions in a model file, where they are not just the classes; and the costs, k x K.
void write_predictions(const ModelCommon& common, ModelFileWriter& file);
void read_predictions_and_cost(ModelFileReader& file, ModelCommon& common);

// Loss and metrics of predictions of classes (evaluation.cc). `grades`: with those of grades.
std::unique_ptr<Evaluator> class_evaluator(const Model& model, const Examples& examples,
                                           std::span<const std::int32_t> predicted, bool grades);

}  // namespace m4n::detail
