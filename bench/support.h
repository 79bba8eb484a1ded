// What the benchmark programs share: their arguments, the data as solvers see them, a timed solve, and JSON.
#pragma once
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/timing.h"
#include "losses/cost_matrix.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/classes/solve.h"

namespace m4n::detail::bench {

using Json = nlohmann::ordered_json;

struct Settings {
  bool quick = false;               // a smoke run: small budgets, numbers of no worth
  std::string data;                 // folder of the data sets: M4N_DATA, or ../shared/data
  std::vector<std::string> others;  // arguments that are not options
};

// Runs `body(settings)`, prints the JSON object it returns; errors go to stderr and give exit code 1.
int run_program(int argc, char** argv, Json (*body)(const Settings&));

// Where this file of the data folder is; nothing, with a message on stderr, if it is not there.
std::optional<std::filesystem::path> data_file(const Settings& settings, const std::string& name);

// A data set ready for a solver: labelled, standardised if dense, all examples with the weight 1/n.
struct Prepared {
  std::string name;
  Dataset data;
  std::vector<double> share;
  std::size_t n() const { return data.examples(); }
  std::size_t k() const { return data.class_names.size(); }
};

// Nothing, with a message on stderr, if the file is not there.
std::optional<Prepared> load(const Settings& settings, const std::string& file);

// Costs uniform in [0.1, 1] off the diagonal, zero on it.
CostMatrix random_cost(std::size_t k);

struct Timed {
  std::vector<ClassSolution> solutions;  // one a lambda
  double seconds = 0;                    // CPU time of the whole call, one thread
  const ClassSolution& last() const { return solutions.back(); }
};
// A cold solve of the surrogate in `options`. With `observe`: called at every certificate with the CPU seconds so far
// and the progress; the solve ends when it returns true.
using Observer = std::function<bool(double, const Progress&)>;
Timed solve(const Prepared& set, const CostMatrix& cost, double lambda, const TrainOptions& options,
            const Observer& observe = {});
// One lambda after the other, each started from the solution of the one before.
Timed solve_path(const Prepared& set, const CostMatrix& cost, std::span<const double> lambdas,
                 const TrainOptions& options, const Observer& observe = {});

}  // namespace m4n::detail::bench
