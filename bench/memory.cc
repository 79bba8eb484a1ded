// bench_memory FILE SURROGATE: resident memory of reading FILE (in M4N_DATA) and of one fit, in a process of its own.
// The operating system keeps the peak; it is reset between the two (Linux: 5 into /proc/self/clear_refs).
#include <fmt/format.h>
#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "data/table.h"
#include "m4n/error.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "structures/classes/labels.h"
#include "structures/row_part.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

// A line of /proc/self/status, in bytes: VmRSS (now) or VmHWM (peak).
double resident(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field + ":")) continue;
    std::istringstream words(line.substr(field.size() + 1));
    double kilobytes = 0;
    words >> kilobytes;
    return 1024 * kilobytes;
  }
  throw Error(fmt::format("/proc/self/status has no line {}; this measurement needs Linux", field));
}

void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5\n"; }

double feature_bytes(const Features& x) {
  if (const auto* dense = std::get_if<DenseMatrix>(&x)) return 8.0 * static_cast<double>(dense->values.size());
  const auto& sparse = std::get<SparseMatrix>(x);
  return 12.0 * static_cast<double>(sparse.value.size()) + 8.0 * static_cast<double>(sparse.row_start.size());
}

SurrogateKind surrogate_of(const std::string& name) {
  for (const SurrogateKind kind : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs})
    if (name == to_string(kind)) return kind;
  throw UsageError(fmt::format("found surrogate {}, expected m4n, m3n, crf or qs", name));
}

Json memory(const Settings& settings) {
  if (settings.others.size() != 2) throw UsageError("expected FILE SURROGATE");
  const std::filesystem::path path = std::filesystem::path(settings.data) / settings.others[0];
  TrainOptions options;
  options.surrogate = surrogate_of(settings.others[1]);
  options.lambda = 0x1.0p-10;
  options.epochs = 30;  // memory does not grow with the number of passes
  Context context;
  context.threads = 1;

  const double start = resident("VmRSS");
  Dataset data = label_for_training(read_table(path.string(), {}, Truth::required), Order::none);
  const double reading = resident("VmHWM") - start;
  const double bytes = feature_bytes(data.x);
  const auto n = static_cast<double>(data.examples()), k = static_cast<double>(data.class_names.size());
  malloc_trim(0);
  reset_peak();
  const FitResult fitted = fit(std::move(data), options, context);
  const double training = resident("VmHWM") - start;
  const double weights =
      8.0 * static_cast<double>(dynamic_cast<const RowPart&>(*fitted.model.part()).rows.weights.size());
  return {{"set", settings.others[0].substr(0, settings.others[0].find('.'))},
          {"surrogate", settings.others[1]},
          {"n", n},
          {"d", fitted.model.d()},
          {"k", k},
          {"data_bytes", bytes},
          {"weight_bytes", weights},
          {"peak_reading_bytes", reading},
          {"peak_training_bytes", training},
          {"bytes_per_n_k", (training - bytes - weights) / (n * k)}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::memory); }
