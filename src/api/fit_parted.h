// fit() where the examples lie in parts on several machines: what a program needs that moves parts, weights and sums
// around (python/m4n/_distributed.py).
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "features/standardize.h"
#include "m4n/context.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "structures/parted.h"

namespace m4n::detail {

// What is known of all examples together.
struct PartedData {
  std::size_t examples = 0;
  double weight = 0;  // of all examples: what the usual lambda is of
  std::size_t d = 0;
  bool sparse = false;
  Standardizer standardizer;  // what was done to the rows
};

// The mean cost of a model's predictions for the examples, whose rows it takes as they are in the parts.
using JudgeParts = std::function<double(const Model& model)>;

// `names`: classes and features; no examples. Throws UsageError, with the reason, where the options ask for something
// that is not trained in parts.
std::unique_ptr<PartedTraining> parted_training(const TrainOptions& requested, const Dataset& names);

Model fit_parted(const TrainOptions& requested, const Dataset& names, const PartedData& data, const Round& round,
                 const JudgeParts& judge, const Context& context);

}  // namespace m4n::detail
