// Training data on the way from the file to the solver: standardised, mapped to features, and for an exact kernel the
// matrix of all pairs. Fitted on these rows only; a path of lambdas and several surrogates can share it.
#pragma once
#include <optional>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "scorer/kernel.h"
#include "transform/feature_map.h"

namespace m4n {

struct PreparedFeatures {
  Standardizer standardizer;
  std::size_t d = 0;                // columns of the input
  bool sparse = false;              // the input was
  Features x;                       // what a linear scorer reads; for an exact kernel, the standardised rows
  std::optional<FittedMap> fitted;  // rbf-centers, nystrom, fourier
  std::optional<Kernel> kernel;     // rbf, laplacian, poly
  GramMatrix gram;                  // of the kernel; empty otherwise
};

// weight: of the examples, empty for equal ones. Refuses what would not fit into memory, and says what would.
PreparedFeatures prepare(Features x, std::span<const double> weight, const TrainOptions& options,
                         const Context& context);

// Puts the learnt weights into the model's terms: folds what was linear, keeps the support of a kernel expansion.
void finish(const PreparedFeatures& prepared, std::vector<double> weights, Model& model);

}  // namespace m4n
