// Rankings to a relative gap of 1e-2, cold: passes over the examples and CPU seconds of every surrogate on the label
// ranking sets, Hamming loss, features standardised, with a bias, at lambda = 0.01 and 2^-10. QS is solved in closed
// form. For CRF a pass is an evaluation of the objective and its gradient.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "m4n/read.h"
#include "solver/solve_permutations.h"
#include "support.h"
#include "transform/standardize.h"

namespace m4n::bench {
namespace {

struct Rankings {
  std::string name;
  Features x;
  std::vector<std::int32_t> position;
  std::size_t size = 0;
  std::size_t n() const { return rows(x); }
};

// Features x1..xd, then the ranks r1..rM of the items, from 1. The reader takes one column for a target: x1, which is
// put back in its place.
std::optional<Rankings> load_rankings(const Settings& settings, const std::string& name) {
  std::filesystem::path path = std::filesystem::path(settings.data) / ("lr_" + name + ".csv");
  if (!std::filesystem::exists(path)) path += ".gz";
  if (!std::filesystem::exists(path)) {
    fmt::print(stderr, "skipped: {} is not there; set M4N_DATA to the folder with the data sets\n", path.string());
    return std::nullopt;
  }
  ReadOptions options;
  options.target = "x1";
  const RawTable table = read_table(path.string(), options, true);
  const std::vector<double> x1 = raw_targets(table);
  const auto& others = std::get<DenseMatrix>(table.x);
  const auto ranks = static_cast<std::size_t>(std::find(table.feature_names.begin(), table.feature_names.end(), "r1") -
                                              table.feature_names.begin());
  Rankings out{name, {}, {}, others.cols - ranks};
  DenseMatrix x{others.rows, ranks + 1, {}};
  for (std::size_t i = 0; i < others.rows; ++i) {
    const double* row = others.values.data() + i * others.cols;
    x.values.push_back(x1[i]);
    x.values.insert(x.values.end(), row, row + ranks);
    for (std::size_t j = ranks; j < others.cols; ++j) out.position.push_back(static_cast<std::int32_t>(row[j]) - 1);
  }
  out.x = std::move(x);
  apply_in_place(fit_standardizer(view(out.x), {}), out.x);
  return out;
}

void measure(const Rankings& set, SurrogateKind surrogate, double lambda, double budget, Json& rows) {
  const std::vector<double> share(set.n(), 1 / static_cast<double>(set.n()));
  const Groups items(set.n(), set.size);
  TrainOptions options;
  options.surrogate = surrogate;
  options.tol = 1e-2;
  options.epochs = 2000;
  options.time_limit = budget;
  Context context;
  context.threads = 1;
  const double start = cpu_seconds();
  solve_permutations({.x = view(set.x),
                      .pairs = nullptr,
                      .bias = true,
                      .items = &items,
                      .position = set.position,
                      .weight = share,
                      .loss = [](std::size_t m) { return PositionLoss::hamming(m); },
                      .lambdas = {&lambda, 1},
                      .options = &options,
                      .context = &context},
                     [&](const PermutationSolution& solution) {
                       const double seconds = cpu_seconds() - start;
                       const SolveResult& r = solution.result;
                       rows.push_back({{"set", set.name},
                                       {"n", set.n()},
                                       {"items", set.size},
                                       {"surrogate", to_string(surrogate)},
                                       {"lambda", lambda},
                                       {"passes", r.epochs},
                                       {"seconds", seconds},
                                       {"relative_gap", r.certificate.relative_gap()},
                                       {"converged", r.certificate.converged}});
                       fmt::print(stderr, "  {} ({} x {}), {}, lambda {:.4f}: {} passes, {:.3f} s, gap {:.1e}\n",
                                  set.name, set.n(), set.size, to_string(surrogate), lambda, r.epochs, seconds,
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
  return out;
}

}  // namespace
}  // namespace m4n::bench

int main(int argc, char** argv) { return m4n::bench::run_program(argc, argv, m4n::bench::run); }
