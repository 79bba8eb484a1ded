// From options to a solver: one function a surrogate, each in its own file. A request holds what they share.
#pragma once
#include <span>

#include "loss/cost_matrix.h"
#include "m4n/options.h"
#include "scorer/linear.h"
#include "solver/problem.h"

namespace m4n {

struct SolveRequest {
  FeaturesView x;  // after transforms
  bool bias;
  std::span<const std::int32_t> label;
  std::span<const double> weight;  // p_i, summing to 1
  const CostMatrix* cost;
  double lambda;
  const TrainOptions* options;
  const Context* context;
};

struct Solution {
  SolveResult result;
  std::vector<double> weights;  // (d + bias) x k
  double norm_squared = 0;
};

Solution solve_m4n(const SolveRequest& request);
Solution solve_m3n(const SolveRequest& request);
Solution solve_crf(const SolveRequest& request);
Solution solve_qs(const SolveRequest& request);

// Builds the scorer and the problem for dense or sparse features and hands both to `body(problem, view)`.
template <class Body>
Solution with_problem(const SolveRequest& request, Body&& body) {
  return std::visit(
      [&](const auto& x) {
        using View = std::remove_cvref_t<decltype(x)>;
        LinearScorer<View> scorer(x, request.cost->k(), request.bias);
        const Problem<LinearScorer<View>> problem{&scorer, request.label, Groups(request.label.size()), request.weight,
                                                  request.lambda};
        Solution out;
        out.result = body(problem, x);
        out.weights = scorer.weights();
        out.norm_squared = scorer.norm_squared();
        return out;
      },
      request.x);
}

inline SolverOptions solver_options(const TrainOptions& o) {
  return {o.tol, o.epochs, o.time_limit.value_or(0), o.seed};
}

}  // namespace m4n
