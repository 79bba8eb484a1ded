// Sets of labels: each of M labels is on or off.
#pragma once
#include "losses/label_costs.h"
#include "structures/rows_evaluator.h"
#include "structures/table_structure.h"

namespace m4n::detail {

struct LabelSetPart : RowPart {
  std::vector<GraphEdge> edges;      // between labels that depend on each other, the same in all examples
  std::vector<double> edge_weights;  // 2 x 2 by edge, row the value of its first label
};

// Loss and metrics of marks 0 and 1, and a table of labels.
std::unique_ptr<Evaluator> label_set_evaluator(const Model& model, const LabelCosts& costs, const Examples& examples,
                                               std::span<const std::int32_t> predicted);

// Examples and predictions as tables have them: a column of marks by label.
class MarkStructure : public TableStructure {
 public:
  using TableStructure::TableStructure;

  Strata strata(const Dataset& data) const override;            // the labels that are on
  AnswerKinds answer_kinds(const Model& model) const override;  // of every label: on or off
  void each_answer(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                   const AnswerVisitor& visit) const override;
  std::vector<std::int32_t> best_constant(const Model& model, const Examples& examples) const override;
  std::string answer_text(const Model& model, std::span<const std::int32_t> labels, std::span<const std::int32_t>,
                          bool truth) const override;
  std::size_t outcomes(const Model&, std::size_t) const override { return 1; }
  std::vector<Exhibit> exhibits(const Judged& judged) const override;
  using TableStructure::exhibits;

 protected:
  OutputColumns output_columns() const override { return OutputColumns::marks; }
  Dataset label(RawTable table, const TrainOptions&, const Notes&, std::vector<double>&) const override {
    return with_outputs(table, OutputColumns::marks);
  }
  void label(RawTable table, const Model& model, Examples& out) const override;
  std::vector<std::string> prediction_columns(const Model& model) const override { return model.classes(); }
  void append_cells(const Model& model, std::span<const std::int32_t> labels, std::string& out) const override;
  void add_json(const Model& model, std::span<const std::int32_t> labels, const PredictionRequest& request,
                Json& out) const override;
};

// M labels of a table without labels are not there; else they are taken over.
void label_outputs(RawTable table, const Model& model, OutputColumns outputs, Examples& out);

}  // namespace m4n::detail
