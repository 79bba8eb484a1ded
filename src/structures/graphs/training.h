// Graphs to learn from: data and options to solutions.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "losses/cost_matrix.h"
#include "structures/graphs/solve.h"
#include "structures/training_set.h"

namespace m4n::detail {

class GraphTrainingSet : public RowTrainingSet {
 public:
  GraphTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss, const Context& context);
  void solve(const TrainOptions& options, Decoder decode, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override;
  void describe(ModelCommon& common) const override;
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override;

 private:
  // Weights as they apply to mapped rows of nodes, (features + bias) x outputs, and to features of edges as they came.
  struct Found : RowSolution {
    std::vector<double> edge_weights;
  };
  std::size_t outputs() const override { return structure_.node_types() * cost_.k(); }
  double mean_loss(std::span<const double> scores, const Dataset& examples, const Solution& solution,
                   const TrainOptions& options, Decoder decode, const Context& context) const override;
  std::vector<double> by_feature(const std::vector<double>& by_type) const;
  std::vector<double> for_raw_edges(std::vector<double> weights) const;

  CostMatrix cost_;
  GraphStructure structure_;  // with edge features as they are solved
  Standardizer edge_standardizer_;
};

}  // namespace m4n::detail
