// Labels that depend on each other, to learn from: graphs whose nodes have features of their own, and sets of labels
// that are joined by the same edges in every example (--edges). Checked and mapped to features once; what TrainingSet
// is for classes and grades.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "structures/graphs/edges.h"
#include "losses/label_costs.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "structures/graphs/solve.h"
#include "structures/graphs/predictor.h"
#include "features/prepared.h"

namespace m4n {

class GraphTrainingSet {
 public:
  // Weights as they apply to mapped rows of nodes, (features + bias) x outputs, and to features of edges as they came.
  struct Solution {
    SolveResult result;
    std::vector<double> node, edge;
    double norm_squared = 0;
  };
  // Throws Error on data that cannot be learnt from.
  GraphTrainingSet(Dataset data, const TrainOptions& options, const Context& context);

  const Dataset& data() const { return data_; }  // without its features, which have been transformed
  const PreparedFeatures& features() const { return features_; }
  Decoder decoder(const TrainOptions& options) const;
  void describe(Model& model) const;

  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const std::function<void(Solution)>& emit) const;
  double train_loss(const Solution& solution, Decoder decode, const Context& context) const;
  double mean_loss(const Features& mapped, const Dataset& examples, const Solution& solution, SurrogateKind surrogate,
                   Decoder decode, const Context& context) const;
  void keep(Solution solution, Model& model) const;

 private:
  Model shape() const;
  double loss_of(const std::vector<double>& scores, const Dataset& examples, const std::vector<double>& edge_weights,
                 Decoder decode, const Context& context) const;
  std::size_t slots() const { return multilabel_ ? data_.class_names.size() : 1; }
  std::vector<double> by_feature(const std::vector<double>& by_type) const;
  std::vector<double> for_raw_edges(std::vector<double> weights) const;

  bool multilabel_;
  Dataset data_;
  std::vector<GraphEdge> label_edges_;  // multi-label only
  std::vector<CostMatrix> costs_;       // one, or one a label
  std::vector<double> kept_costs_;
  std::string loss_name_;
  std::vector<double> share_;  // p_i, summing to 1
  bool bias_;
  PreparedFeatures features_;
  GraphStructure structure_;  // with edge features as they are solved
  Standardizer edge_standardizer_;
};

// Whether labels are to depend on each other: a tree of a single one has no edges.
inline bool has_edges(const TrainOptions& options, const Dataset& data) {
  return has_edges(options) && (options.edges != "tree" || data.class_names.size() > 1);
}

// The edges that options ask for between the labels of these data: none, a tree of what they tell about each other, or
// those of a file or of a program.
std::vector<GraphEdge> chosen_edges(const TrainOptions& options, const Dataset& data);

}  // namespace m4n
