// What cross-validation asks of a task: learn from the training part of a split, judge on its other two parts. One
// class a kind of output; the features of a split are prepared once for all surrogates and lambdas.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "m4n/context.h"
#include "m4n/cross_validate.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "solvers/problem.h"

namespace m4n {

struct SplitData {
  Dataset train, validation, test;
  const Split* examples;  // their numbers in all the data, for messages
};

// What one lambda gave: mean task losses, one a decoder.
struct LearntPoint {
  SolveResult result;
  std::vector<double> validation, test;
};

class SplitLearner {
 public:
  virtual ~SplitLearner() = default;
  // One point a lambda, each started from the one before. `decoders` are those to be judged. Stops early, with fewer
  // points, where the context is cancelled.
  virtual std::vector<LearntPoint> learn(const TrainOptions& options, const std::vector<Decoder>& decoders,
                                         std::span<const double> lambdas, const Context& context) const = 0;
};

// By the task of `options`, which also say how features are made.
std::unique_ptr<SplitLearner> make_split_learner(SplitData data, const TrainOptions& options, const Context& context);

// The most labels an example has.
std::size_t largest_example(const Dataset& data);

// What a mistake costs by these options, in the terms of their task.
struct LossSummary {
  std::string name;
  std::vector<double> values;  // costs, or what the loss of permutations remembers
  bool symmetric;              // as far as decoders care
};
LossSummary chosen_loss(const TrainOptions& options, const std::vector<std::string>& classes);

// The decoder that is asked for, or the usual one of the task.
Decoder chosen_decoder(const TrainOptions& options, const std::vector<std::string>& classes);

}  // namespace m4n
