// Learning: data and options in, a model with its certificate out.
#pragma once
#include <span>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "m4n/report.h"

namespace m4n {

struct FitResult {
  Model model;
  TrainReport report;
};

// Minimises P(w) = 1/W sum_i s_i S(w^T Phi(x_i), y_i) + lambda/2 |w|^2 (docs/math.md).
// requires: every label known, at least two classes, weights positive and finite.
// ensures:  report.certificate brackets the optimum of P; it is converged if relative_gap <= tol.
FitResult fit(Dataset data, const TrainOptions& options, const Context& context = {});

// The same for several lambdas in turn (requested.lambda is not used), each started from the solution of the one
// before; descending ones save the most work.
std::vector<FitResult> fit_path(Dataset data, const TrainOptions& requested, std::span<const double> lambdas,
                                const Context& context = {});

}  // namespace m4n
