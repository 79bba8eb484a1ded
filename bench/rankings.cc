// Rankings to a relative gap of 1e-2, cold: passes over the examples and CPU seconds of every surrogate on the label
// ranking sets, Hamming loss, features standardised, with a bias, at lambda = 0.01 and 2^-10. QS is solved in closed
// form. For CRF a pass is an evaluation of the objective and its gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "data/table.h"
#include "features/standardize.h"
#include "m4n/read.h"
#include "structures/permutations/training.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

struct Rankings {
  std::string name;
  Dataset data;
  std::size_t n() const { return data.examples(); }
  std::size_t size() const { return data.class_names.size(); }
};

std::optional<Rankings> load_rankings(const Settings& settings, const std::string& name) {
  std::filesystem::path path = std::filesystem::path(settings.data) / ("lr_" + name + ".csv");
  if (!std::filesystem::exists(path)) path += ".gz";
  if (!std::filesystem::exists(path)) {
    fmt::print(stderr, "skipped: {} is not there; set M4N_DATA to the folder with the data sets\n", path.string());
    return std::nullopt;
  }
  ReadOptions options;
  options.outputs = OutputColumns::ranks;
  RawTable table = read_table(path.string(), options, Truth::required);
  Dataset data = with_outputs(table, *options.outputs);
  apply_in_place(fit_standardizer(view(data.x), {}), data.x);
  return Rankings{name, std::move(data)};
}

void measure(const Rankings& set, SurrogateKind surrogate, double lambda, double budget, Json& rows) {
  const std::vector<double> share(set.n(), 1 / static_cast<double>(set.n()));
  TrainOptions options;
  options.surrogate = surrogate;
  options.tol = 1e-2;
  options.epochs = 2000;
  options.time_limit = budget;
  Context context;
  context.threads = 1;
  const double start = cpu_seconds();
  solve_permutations({.x = view(set.data.x),
                      .pairs = nullptr,
                      .bias = true,
                      .items = &set.data.labels,
                      .position = set.data.label,
                      .weight = share,
                      .loss = [](std::size_t m) { return PositionLoss::hamming(m); },
                      .lambdas = {&lambda, 1},
                      .options = &options,
                      .context = &context},
                     [&](const std::unique_ptr<RowSolution>& solution) {
                       const double seconds = cpu_seconds() - start;
                       const SolveResult& r = solution->result;
                       rows.push_back({{"set", set.name},
                                       {"n", set.n()},
                                       {"items", set.size()},
                                       {"surrogate", to_string(surrogate)},
                                       {"lambda", lambda},
                                       {"passes", r.epochs},
                                       {"seconds", seconds},
                                       {"relative_gap", r.certificate.relative_gap()},
                                       {"converged", r.certificate.converged}});
                       fmt::print(stderr, "  {} ({} x {}), {}, lambda {:.4f}: {} passes, {:.3f} s, gap {:.1e}\n",
                                  set.name, set.n(), set.size(), to_string(surrogate), lambda, r.epochs, seconds,
                                  r.certificate.relative_gap());
                     });
}

Json run(const Settings& settings) {
  std::vector<std::string> names = settings.others;
  if (names.empty())
    names = {"iris", "wine",    "glass", "wisconsin", "bodyfat", "housing",    "vehicle",   "stock",
             "cold", "segment", "spo",   "cpu_small", "fried",   "calhousing", "elevators", "pendigits"};
  if (settings.quick) names.resize(std::min<std::size_t>(names.size(), 2));
  Json out = Json::array();
  for (const std::string& name : names) {
    const std::optional<Rankings> set = load_rankings(settings, name);
    if (!set) continue;
    for (const SurrogateKind surrogate :
         {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs})
      for (const double lambda : {0.01, std::ldexp(1.0, -10)})
        measure(*set, surrogate, lambda, settings.quick ? 1 : 120, out);
  }
  return {{"rankings", out}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::run); }
