// A model with all its fields in the open, to be written down, changed or damaged one by one: tests make models of it,
// and look into models with it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "m4n/model.h"
#include "structures/chains/structure.h"
#include "structures/classes/structure.h"
#include "structures/graphs/structure.h"
#include "structures/label_sets/structure.h"
#include "structures/permutations/structure.h"
#include "structures/structure.h"

namespace m4n::detail::test {

// What joins labels that depend on each other.
struct FlatGraph {
  std::vector<GraphEdge> edges;  // of label sets
  std::vector<double> weights;
  std::vector<std::string> node_types, edge_types, feature_names;  // of graphs
  std::size_t features = 0;
};

inline Features copied(const FeaturesView& x) {
  if (const auto* dense = std::get_if<DenseView>(&x)) {
    DenseMatrix out{dense->rows, dense->cols, {}};
    for (std::size_t i = 0; i < dense->rows; ++i)
      out.values.insert(out.values.end(), dense->row(i).begin(), dense->row(i).end());
    return out;
  }
  const auto& sparse = std::get<SparseView>(x);
  return SparseMatrix{sparse.rows,
                      sparse.cols,
                      {sparse.row_start.begin(), sparse.row_start.end()},
                      {sparse.column.begin(), sparse.column.end()},
                      {sparse.value.begin(), sparse.value.end()}};
}

// Rows that belong together, without labels.
inline Dataset grouped(const FeaturesView& x, const Groups& groups) {
  Dataset out;
  out.x = copied(x);
  out.feature_rows = out.labels = groups;
  return out;
}

struct FlatModel : ModelCommon {
  // Of all but sequences.
  Standardizer standardizer;
  FeatureMap map;
  bool bias = true;
  std::vector<double> weights;
  // Of one structure each.
  OrdinalBins bins;
  ChainWeights chain;
  std::shared_ptr<const SequenceInput> input;
  FlatGraph graph;
  std::size_t points = 0;

  FlatModel() { task = "multiclass"; }
  FlatModel(const Model& model) : ModelCommon(model.common()) {  // NOLINT(google-explicit-constructor)
    const ModelPart* const part = model.part();
    if (const auto* rows = dynamic_cast<const RowPart*>(part)) {
      standardizer = rows->rows.standardizer;
      map = rows->rows.map;
      bias = rows->rows.bias;
      weights = rows->rows.weights;
    }
    if (const auto* own = dynamic_cast<const ClassPart*>(part)) bins = own->bins;
    if (const auto* own = dynamic_cast<const LabelSetPart*>(part)) {
      graph.edges = own->edges;
      graph.weights = own->edge_weights;
    }
    if (const auto* own = dynamic_cast<const GraphPart*>(part))
      graph = {{}, own->edge_weights, own->node_types, own->edge_types, own->edge_feature_names, own->edge_features};
    if (const auto* own = dynamic_cast<const PermutationPart*>(part)) points = own->points;
    if (const auto* own = dynamic_cast<const ChainPart*>(part)) {
      chain = own->weights;
      input = own->input;
      bias = !chain.bias.empty();
    }
  }

  Model model() const {
    const auto with_rows = [&](auto part) {
      part->rows = {standardizer, map, bias, weights};
      return part;
    };
    if (task == "sequence") {
      auto part = std::make_shared<ChainPart>();
      part->weights = chain;
      part->input = input;
      return Model(*this, part);
    }
    if (task == "multilabel") {
      auto part = with_rows(std::make_shared<LabelSetPart>());
      part->edges = graph.edges;
      part->edge_weights = graph.weights;
      return Model(*this, part);
    }
    if (task == "graph") {
      auto part = with_rows(std::make_shared<GraphPart>());
      part->edge_weights = graph.weights;
      part->node_types = graph.node_types;
      part->edge_types = graph.edge_types;
      part->edge_feature_names = graph.feature_names;
      part->edge_features = graph.features;
      return Model(*this, part);
    }
    if (task == "ranking" || task == "matching") {
      auto part = with_rows(std::make_shared<PermutationPart>());
      part->points = points;
      return Model(*this, part);
    }
    auto part = with_rows(std::make_shared<ClassPart>());
    part->bins = bins;
    return Model(*this, part);
  }
  operator Model() const {
    return model();
  }  // NOLINT(google-explicit-constructor): a model is wanted nearly everywhere

  std::size_t k() const { return classes.size(); }
  std::size_t width() const { return map.kind == FeatureKind::linear ? d : map.points.rows; }
  std::size_t outputs() const { return model().output_names().size(); }
  std::vector<std::string> output_names() const { return model().output_names(); }
  std::vector<double> scores(const FeaturesView& x, const Context& context = {}) const {
    return model().scores(x, context);
  }
  std::vector<std::int32_t> decode_scores(std::span<const double> v) const { return model().decode_scores(v); }
  std::vector<std::int32_t> predict(const FeaturesView& x, const Context& context = {}) const {
    return model().predict(x, context);
  }
  std::vector<std::int32_t> predict(const Dataset& examples, const Context& context = {}) const {
    return model().predict(examples, context);
  }
  // Sequences, matchings and graphs: which rows belong together, and what joins them.
  std::vector<std::int32_t> predict(const FeaturesView& x, const Groups& groups, const Context& context = {}) const {
    return model().predict(grouped(x, groups), context);
  }
  std::vector<std::int32_t> predict(const FeaturesView& x, const Groups& graphs, const GraphStructure& structure,
                                    const Context& context = {}) const {
    Dataset examples = grouped(x, graphs);
    examples.graph = std::make_shared<const GraphStructure>(structure);
    return model().predict(examples, context);
  }
  std::vector<double> marginals(std::span<const double> v) const { return model().marginals(v); }
  std::string to_bytes() const { return model().to_bytes(); }
  void save(const std::string& path) const { model().save(path); }
  static FlatModel load(const std::string& path) { return Model::load(path); }
  static FlatModel from_bytes(std::span<const char> bytes, const std::string& name) {
    return Model::from_bytes(bytes, name);
  }
};

}  // namespace m4n::detail::test
