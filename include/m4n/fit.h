// Learning: data and options in, a model with its certificate out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"

namespace m4n {

// The report of a fit.
struct TrainReport {
  std::string task, surrogate, loss, features, solver, decode;
  std::size_t n = 0, parts = 0, d = 0, k = 0;  // parts: labels in all
  double lambda = 0, smoothing = 0;
  int epochs = 0;
  std::uint64_t oracle_calls = 0, seed = 0;
  double seconds = 0, seconds_total = 0;  // solving only; everything in fit
  Certificate certificate;
  double train_loss = 0, norm_squared = 0;
  bool interrupted = false;
};

struct FitResult {
  Model model;
  TrainReport report;
};

// Minimises P(w) = 1/W sum_i s_i S(w^T Phi(x_i), y_i) + lambda/2 |w|^2 (docs/math.md).
// requires: every label known, at least two classes, weights positive and finite.
// ensures:  report.certificate brackets the optimum of P; it is converged if relative_gap <= tol.
M4N_API FitResult fit(Dataset data, const TrainOptions& options, const Context& context = {});

// The same for several lambdas in turn (requested.lambda is not used), each started from the solution of the one
// before; descending ones save the most work.
M4N_API std::vector<FitResult> fit_path(Dataset data, const TrainOptions& requested, std::span<const double> lambdas,
                                        const Context& context = {});

// The unit of lambda for these costs and data. A surrogate whose loss contains the costs (m4n, m3n) is s times as large
// at scores that are s times as large when all costs are, and |w|^2 is s^2 times as large: lambda / s gives the same
// predictions. Likewise for a loss that is a mean over the M parts of an output, 1/M of their sum. So the unit is
// M / (mean cost of a mistake), with M the mean number of parts; 1 for crf and qs, whose scores do not grow so.
M4N_API double lambda_unit(const TrainOptions& options, const Dataset& data);
// The default lambda: lambda_unit / n. `examples` counts as n, where weights stand for repeated examples; nullopt:
// their number.
M4N_API double usual_lambda(const TrainOptions& options, const Dataset& data,
                            std::optional<double> examples = std::nullopt);

}  // namespace m4n
