// From options to a solver: one function per surrogate. Each solves a path: the given lambdas in turn, every one
// started from the solution of the one before (the dual point stays, w(mu) is scaled along).
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "losses/cost_matrix.h"
#include "m4n/options.h"
#include "solvers/kernel_scorer.h"
#include "solvers/linear_scorer.h"
#include "solvers/problem.h"
#include "structures/classes/decoder.h"
#include "structures/training_set.h"

namespace m4n::detail {

struct ClassRequest {
  FeaturesView x;          // after transforms
  const GramMatrix* gram;  // of an exact kernel, or null: linear in x
  bool bias;
  std::span<const std::int32_t> label;
  std::span<const double> weight;  // p_i, summing to 1
  const CostMatrix* cost;
  std::span<const double> lambdas;
  Decoder decode;  // of the training examples; automatic: they are not predicted
  const TrainOptions* options;
  const Context* context;
  const ExampleCosts* examples = nullptr;  // their costs where these differ

  PathRequest path() const { return {lambdas, options, context}; }
  DecodingRule decoding() const { return {options->surrogate, decode, options->smoothing, cost, examples}; }
};

struct ClassSolution : RowSolution {
  std::vector<std::int32_t> predicted;  // for the training examples, where asked for
  std::size_t outputs = 0;              // scores of a row
};

// The scorer's training examples, decoded.
template <class Scorer>
std::vector<std::int32_t> predict_training(const Scorer& scorer, const ClassRequest& request) {
  constexpr std::size_t chunk = 512;
  if (request.decode == Decoder::automatic) return {};
  std::vector<std::int32_t> out(scorer.examples());
  parallel_chunks(out.size(), chunk, request.context->threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
                    const auto decoder = make_decoder(request.decoding());
                    AlignedVector<double> v(scorer.largest_padded_parts());
                    for (std::size_t i = first; i < last; ++i) {
                      scorer.scores(i, v);
                      out[i] = decoder->decode(v, i);
                    }
                  });
  return out;
}

using EmitClasses = std::function<void(std::unique_ptr<ClassSolution>)>;
void solve_m4n(const ClassRequest& request, const EmitClasses& emit);
void solve_m3n(const ClassRequest& request, const EmitClasses& emit);
void solve_crf(const ClassRequest& request, const EmitClasses& emit);
void solve_qs(const ClassRequest& request, const EmitClasses& emit);

// Builds the scorer and the problem (its lambda is for `body` to set) and calls body(problem, emit), where
// emit(result) hands over what the scorer holds. Labels are classes, or, where costs differ from example to example,
// pairs of a class and the number of its example.
template <class Body>
void with_problem(const ClassRequest& request, const EmitClasses& emit, Body&& body) {
  std::vector<std::int32_t> pairs;
  if (request.examples != nullptr)
    for (const std::int32_t label : request.label)
      pairs.insert(pairs.end(), {label, static_cast<std::int32_t>(pairs.size() / 2)});
  const std::span<const std::int32_t> labels = pairs.empty() ? request.label : std::span<const std::int32_t>(pairs);
  const auto run = [&](auto scorer) {
    using Scorer = decltype(scorer);
    const Problem<Scorer> problem{&scorer, labels, Groups(request.label.size(), pairs.empty() ? 1 : 2), request.weight,
                                  0};
    body(problem, [&](const SolveResult& result) {
      auto out = std::make_unique<ClassSolution>();
      out->result = result;
      out->weights = scorer.weights();
      out->norm_squared = scorer.norm_squared();
      out->predicted = predict_training(scorer, request);
      out->outputs = score_count(request.options->surrogate, *request.cost);
      emit(std::move(out));
    });
  };
  const std::size_t outputs = score_count(request.options->surrogate, *request.cost);
  if (request.gram == nullptr) {
    run(LinearScorer(request.x, outputs, request.bias));
  } else {
    run(KernelScorer(*request.gram, outputs));
  }
}

}  // namespace m4n::detail
