// Whole fits, against the paper's own way in the same binary (M4N) and against L-BFGS (CRF). One thread; cold starts.
#include <fmt/format.h>

#include <cmath>

#include "support.h"

namespace m4n::detail::bench {
namespace {

struct Method {
  std::string name;
  SolverKind solver;
  OracleKind oracle = OracleKind::exact;
  StepRule step = StepRule::automatic;
};

Json row(const Prepared& set, double lambda, const std::string& method, double seconds, const SolveResult& result) {
  fmt::print(stderr, "  {} lambda {:.2g} {}: {:.3f} s, gap {:.2g}\n", set.name, lambda, method, seconds,
             result.certificate.relative_gap());
  return {{"set", set.name},
          {"lambda", lambda},
          {"method", method},
          {"seconds", seconds},
          {"passes", result.epochs},
          {"relative_gap", result.certificate.relative_gap()},
          {"converged", result.certificate.converged}};
}

TrainOptions options_of(const Method& method, SurrogateKind surrogate, double time_limit) {
  TrainOptions options;
  options.surrogate = surrogate;
  options.solver = method.solver;
  options.oracle = method.oracle;
  options.step = method.step;
  options.epochs = 1'000'000;
  options.time_limit = time_limit;
  return options;
}

// Solves to the tolerance of the options; the fastest of three unless it takes long.
Json measure(const Prepared& set, const CostMatrix& cost, double lambda, const std::string& name,
             const TrainOptions& options) {
  Timed best = solve(set, cost, lambda, options);
  for (int repeat = 1; repeat < 3 && best.seconds < 5; ++repeat) {
    Timed other = solve(set, cost, lambda, options);
    if (other.seconds < best.seconds) best = std::move(other);
  }
  return row(set, lambda, name, best.seconds, best.last().result);
}

const Method prox{"prox (default)", SolverKind::prox};
const Method line_search{"exact oracle, line search", SolverKind::gbcfw, OracleKind::exact, StepRule::line_search};
const Method paper{"paper: SP-MP K = 20, 2n/(t+2n), averaged", SolverKind::gbcfw, OracleKind::spmp, StepRule::paper};

// All passes of a path, and its worst gap.
SolveResult sum_up(const Timed& path) {
  SolveResult out = path.solutions.front().result;
  out.epochs = 0;
  for (const ClassSolution& solution : path.solutions) {
    out.epochs += solution.result.epochs;
    if (solution.result.certificate.relative_gap() > out.certificate.relative_gap())
      out.certificate = solution.result.certificate;
  }
  return out;
}

Json m4n_rows(const Settings& settings) {
  Json rows = Json::array();
  const std::optional<Prepared> set = load(settings, "letter.csv.gz");
  if (!set) return rows;
  const CostMatrix cost = CostMatrix::named("zero-one", set->k());
  const double limit = settings.quick ? 1 : 60;
  constexpr double smallest = 0x1.0p-10;
  for (const Method& method : {prox, line_search, paper})
    rows.push_back(measure(*set, cost, smallest, method.name, options_of(method, SurrogateKind::m4n, limit)));

  // The whole path of the paper's protocol, beside its 50 passes at one lambda.
  std::vector<double> lambdas;
  for (int power = -1; power >= -10; --power) lambdas.push_back(std::ldexp(1.0, power));
  const TrainOptions options = options_of(prox, SurrogateKind::m4n, limit);
  Timed cold;
  for (const double lambda : lambdas) {
    Timed run = solve(*set, cost, lambda, options);
    cold.seconds += run.seconds;
    cold.solutions.push_back(std::move(run.solutions.back()));
  }
  rows.push_back(row(*set, smallest, "prox, the path 2^-1 .. 2^-10, each cold", cold.seconds, sum_up(cold)));
  const Timed warm = solve_path(*set, cost, lambdas, options);
  rows.push_back(row(*set, smallest, "prox, the path 2^-1 .. 2^-10, warm starts", warm.seconds, sum_up(warm)));
  TrainOptions protocol = options_of(paper, SurrogateKind::m4n, limit);
  protocol.epochs = settings.quick ? 1 : 50;
  const Timed passes = solve(*set, cost, smallest, protocol);
  rows.push_back(row(*set, smallest, "paper, 50 passes at 2^-10", passes.seconds, passes.last().result));
  return rows;
}

Json crf_rows(const Settings& settings) {
  Json rows = Json::array();
  for (const char* file : {"segment.csv", "letter.csv.gz"}) {
    const std::optional<Prepared> set = load(settings, file);
    if (!set) continue;
    const CostMatrix cost = CostMatrix::named("zero-one", set->k());
    for (const double lambda : {0x1.0p-4, 0x1.0p-10, 1 / static_cast<double>(set->n())})
      for (const Method& method : {Method{"SDCA", SolverKind::prox}, Method{"L-BFGS", SolverKind::lbfgs},
                                   Method{"default", SolverKind::automatic}})
        rows.push_back(measure(*set, cost, lambda, method.name,
                               options_of(method, SurrogateKind::crf, settings.quick ? 0.5 : 60)));
  }
  return rows;
}

Json training(const Settings& settings) { return {{"m4n", m4n_rows(settings)}, {"crf", crf_rows(settings)}}; }

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::training); }
