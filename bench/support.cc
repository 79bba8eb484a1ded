#include "support.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/rng.h"
#include "data/table.h"
#include "features/standardize.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "structures/classes/labels.h"
#include "surrogates/registry.h"

namespace m4n::detail::bench {

int run_program(int argc, char** argv, Json (*body)(const Settings&)) {
  try {
    Settings settings;
    const char* folder = std::getenv("M4N_DATA");
    settings.data = folder != nullptr ? folder : "../shared/data";
    for (int a = 1; a < argc; ++a) {
      const std::string argument = argv[a];
      if (argument == "--quick") {
        settings.quick = true;
      } else if (argument.starts_with("-")) {
        throw UsageError(fmt::format("unknown option {}; there is --quick", argument));
      } else {
        settings.others.push_back(argument);
      }
    }
    fmt::print("{}\n", body(settings).dump(1));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
}

std::optional<std::filesystem::path> data_file(const Settings& settings, const std::string& name) {
  std::filesystem::path path = std::filesystem::path(settings.data) / name;
  if (std::filesystem::exists(path)) return path;
  fmt::print(stderr, "skipped: {} is not there; set M4N_DATA to the folder with the data sets\n", path.string());
  return std::nullopt;
}

std::optional<Prepared> load(const Settings& settings, const std::string& file) {
  const auto path = data_file(settings, file);
  if (!path) return std::nullopt;
  Prepared out;
  out.name = file.substr(0, file.find('.'));
  out.data = label_for_training(read_table(path->string(), {}, Truth::required), Order::none);
  if (std::holds_alternative<DenseMatrix>(out.data.x))
    apply_in_place(fit_standardizer(view(out.data.x), {}), out.data.x);
  out.share.assign(out.n(), 1 / static_cast<double>(out.n()));
  return out;
}

CostMatrix random_cost(std::size_t k) {
  Rng rng(7);
  std::vector<double> cost(k * k, 0.0);
  std::vector<std::string> classes;
  for (std::size_t t = 0; t < k; ++t) {
    classes.push_back(std::to_string(t));
    for (std::size_t p = 0; p < k; ++p)
      if (p != t) cost[t * k + p] = rng.uniform(0.1, 1);
  }
  return CostMatrix::from_values(std::move(cost), k, "matrix", classes, "random costs");
}

Timed solve_path(const Prepared& set, const CostMatrix& cost, std::span<const double> lambdas,
                 const TrainOptions& options, const Observer& observe) {
  Context context;
  context.threads = 1;
  bool enough = false;
  const double start = cpu_seconds();
  if (observe) {
    context.observe = [&](const Progress& progress) { enough = enough || observe(cpu_seconds() - start, progress); };
    context.cancelled = [&] { return enough; };
  }
  const ClassRequest request{
      .x = view(set.data.x),
      .gram = nullptr,
      .bias = true,
      .label = set.data.label,
      .weight = set.share,
      .cost = &cost,
      .lambdas = lambdas,
      .decode = usual_decoder(options.surrogate, options.smoothing, cost.symmetric(), Decoder::argmax),
      .options = &options,
      .context = &context};
  Timed out;
  const auto keep = [&](std::unique_ptr<ClassSolution> solution) { out.solutions.push_back(std::move(*solution)); };
  switch (options.surrogate) {
    case SurrogateKind::m4n:
      solve_m4n(request, keep);
      break;
    case SurrogateKind::m3n:
      solve_m3n(request, keep);
      break;
    case SurrogateKind::crf:
      solve_crf(request, keep);
      break;
    case SurrogateKind::qs:
      solve_qs(request, keep);
      break;
  }
  out.seconds = cpu_seconds() - start;
  return out;
}

Timed solve(const Prepared& set, const CostMatrix& cost, double lambda, const TrainOptions& options,
            const Observer& observe) {
  return solve_path(set, cost, {&lambda, 1}, options, observe);
}

}  // namespace m4n::detail::bench
