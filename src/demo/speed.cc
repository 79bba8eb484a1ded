// m4n bench: oracles, one fit of each surrogate and prediction, timed on made-up data.
#include "demo/demo.h"

#include <fmt/format.h>

#include <chrono>

#include "core/json.h"
#include "core/rng.h"
#include "core/timing.h"
#include "core/views.h"
#include "games/closed_form.h"
#include "games/matrix_game.h"
#include "games/mirror_prox.h"
#include "losses/cost_matrix.h"
#include "m4n/fit.h"
#include "m4n/version.h"
#include "structures/classes/space.h"

namespace m4n::detail {
namespace {

struct OracleTime {
  const char *loss, *method;
  double microseconds;
};
struct Fitted {
  const char* surrogate;
  TrainReport report;
};

constexpr std::size_t cloud_n = 5000, cloud_d = 16, cloud_k = 26;      // examples, columns, classes
constexpr double speed_lambda = 0x1.0p-10, tol = 1e-3, fit_limit = 3;  // at most so many seconds per fit
constexpr std::size_t calls = 500;
constexpr double call_budget = 0.1;  // seconds of CPU time for each oracle

Dataset clouds() {
  Rng rng(11);
  std::vector<double> centre(cloud_k * cloud_d);
  for (double& x : centre) x = rng.normal();
  DenseMatrix x{cloud_n, cloud_d, {}};
  Dataset out;
  for (std::size_t i = 0; i < cloud_n; ++i) {
    const auto y = static_cast<std::size_t>(rng.below(cloud_k));
    out.label.push_back(static_cast<std::int32_t>(y));
    for (std::size_t f = 0; f < cloud_d; ++f) x.values.push_back(centre[y * cloud_d + f] + rng.normal());
  }
  out.x = std::move(x);
  for (std::size_t c = 0; c < cloud_k; ++c) out.class_names.push_back(std::to_string(c));
  out.feature_rows = out.labels = Groups(cloud_n);
  return out;
}

// The scores of the model on the first examples, padded.
AlignedVector<double> padded_scores(const Model& model, const Dataset& data) {
  constexpr std::size_t kp = kernels::padded(cloud_k);
  AlignedVector<double> out(calls * kp, kernels::padding_score);
  const std::vector<double> scores = model.scores(view(data.x));
  for (std::size_t i = 0; i < calls; ++i)
    std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i * cloud_k), cloud_k,
                out.begin() + static_cast<std::ptrdiff_t>(i * kp));
  return out;
}

// Costs that are no multiple of a named loss.
CostMatrix uneven_costs(const std::vector<std::string>& classes) {
  Rng rng(12);
  std::vector<double> cost(cloud_k * cloud_k, 0.0);
  for (std::size_t t = 0; t < cloud_k; ++t)
    for (std::size_t p = 0; p < cloud_k; ++p)
      if (p != t) cost[t * cloud_k + p] = rng.uniform(0.1, 1);
  return CostMatrix::from_values(std::move(cost), cloud_k, "matrix", classes, "m4n bench");
}

std::vector<OracleTime> time_oracles(const Model& model, const Dataset& data) {
  constexpr std::size_t kp = kernels::padded(cloud_k);
  const AlignedVector<double> scores = padded_scores(model, data);
  const auto v = [&](std::size_t i) { return std::span<const double>(scores).subspan(i * kp, kp); };
  AlignedVector<double> mu(kp), nu(kp);
  const auto time = [](auto&& body) { return microseconds_each(calls, call_budget, body); };
  std::vector<OracleTime> out;
  out.push_back({"zero-one", "closed form", time([&](std::size_t i) { closed_form::zero_one(v(i), 1, mu, nu); })});
  out.push_back({"absolute", "closed form", time([&](std::size_t i) { closed_form::absolute(v(i), 1, cloud_k, mu); })});

  const CostMatrix cost = uneven_costs(data.class_names);
  const MatrixGame game(cost);
  MatrixGame::Workspace workspace(cloud_k);
  std::vector<std::uint8_t> state(calls * cloud_k);
  const auto play = [&](std::size_t i) {
    const auto own = std::span(state).subspan(i * cloud_k, cloud_k);
    game.solve(v(i).first(cloud_k), std::span(mu).first(cloud_k), std::span(nu).first(cloud_k), own, workspace);
  };
  out.push_back({"matrix", "exact, cold", time([&](std::size_t i) {
                   std::fill_n(state.begin() + static_cast<std::ptrdiff_t>(i * cloud_k), cloud_k, std::uint8_t{0});
                   play(i);
                 })});
  out.push_back({"matrix", "exact, warm", time(play)});

  const Simplex space(cloud_k);
  const SimplexLoss loss(cost);
  const MirrorProx<Simplex, SimplexLoss> mirror(space, loss, cost.largest(), 20);
  auto mirror_workspace = mirror.workspace();
  out.push_back({"matrix", "paper: mirror prox, K = 20", time([&](std::size_t i) {
                   std::fill_n(mu.begin(), cloud_k, 1.0 / cloud_k);
                   std::fill_n(nu.begin(), cloud_k, 1.0 / cloud_k);
                   mirror.solve(v(i), mu, nu, mirror_workspace);
                 })});
  return out;
}

}  // namespace

std::string speed_report(bool json) {
  const auto start = std::chrono::steady_clock::now();
  const Dataset data = clouds();
  Context context;
  context.threads = 1;
  std::vector<Fitted> fits;
  Model model;
  for (const SurrogateKind surrogate :
       {SurrogateKind::qs, SurrogateKind::crf, SurrogateKind::m3n, SurrogateKind::m4n}) {
    TrainOptions options;
    options.surrogate = surrogate;
    options.lambda = speed_lambda;
    options.tol = tol;
    options.time_limit = fit_limit;
    FitResult fitted = fit(data, options, context);
    fits.push_back({to_string(surrogate), fitted.report});
    model = std::move(fitted.model);
  }
  const std::vector<OracleTime> oracles = time_oracles(model, data);
  const double predict = static_cast<double>(cloud_n) / fastest(5, [&] { model.predict(view(data.x), context); });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  if (json) {
    Json times = Json::array(), fitted = Json::array();
    for (const OracleTime& o : oracles)
      times.push(Json::object({{"loss", o.loss}, {"method", o.method}, {"microseconds", o.microseconds}}));
    for (const Fitted& f : fits)
      fitted.push(Json::object({{"surrogate", f.surrogate},
                                {"seconds", f.report.seconds},
                                {"epochs", f.report.epochs},
                                {"relative_gap", f.report.certificate.relative_gap()},
                                {"converged", f.report.certificate.converged}}));
    return Json::object({{"version", M4N_VERSION},
                         {"n", cloud_n},
                         {"d", cloud_d},
                         {"k", cloud_k},
                         {"lambda", speed_lambda},
                         {"oracles", std::move(times)},
                         {"fits", std::move(fitted)},
                         {"predictions_per_second", predict},
                         {"seconds", seconds}})
               .text() +
           "\n";
  }
  std::string text = fmt::format("m4n {}, one thread, {} examples, {} features, {} classes\n\n", M4N_VERSION, cloud_n,
                                 cloud_d, cloud_k);
  text += fmt::format("max-min oracle, one call{:26}microseconds\n", "");
  for (const OracleTime& o : oracles) text += fmt::format("  {:10}{:38}{:12.3f}\n", o.loss, o.method, o.microseconds);
  text += fmt::format("\nfit, lambda 2^-10{:22}seconds  epochs  relative gap\n", "");
  for (const Fitted& f : fits)
    text += fmt::format("  {:34}{:10.4f}{:8}{:14.1e}{}\n", f.surrogate, f.report.seconds, f.report.epochs,
                        f.report.certificate.relative_gap(),
                        f.report.certificate.converged ? "" : "  (stopped before 1e-3)");
  text += fmt::format("\npredictions a second {:41.0f}\n", predict);
  return text;
}

}  // namespace m4n::detail
