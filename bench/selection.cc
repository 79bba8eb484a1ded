// Cross-validation of a kernel machine on one and on two threads: wall-clock time, since threads are the point.
#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "m4n/cross_validate.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

double seconds(const Dataset& data, const CvOptions& options, unsigned threads) {
  Context context;
  context.threads = threads;
  const auto start = std::chrono::steady_clock::now();
  cross_validate(data, {}, options, context);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Json measure(const Settings& settings) {
  Json rows = Json::array();
  for (const char* file : {"segment.csv", "mfeat.csv.gz"}) {
    const std::optional<Prepared> set = load(settings, file);
    if (!set) continue;
    for (const FeatureKind features : {FeatureKind::linear, FeatureKind::rbf}) {
      CvOptions options;
      options.train.task = "multiclass";
      options.train.features = features;
      options.candidates = {{SurrogateKind::m4n}, {SurrogateKind::m3n}, {SurrogateKind::crf}};
      for (int e = 1; e <= 10; ++e) options.lambdas.push_back(std::ldexp(1.0, -e));
      options.extend = false;
      options.plan.splits = settings.quick ? 2 : 8;
      double one = 1e300, two = 1e300;
      for (int repeat = 0; repeat < (settings.quick ? 1 : 3); ++repeat) {
        one = std::min(one, seconds(set->data, options, 1));
        two = std::min(two, seconds(set->data, options, 2));
      }
      fmt::print(stderr, "  {} {}: {:.3f} s, two threads {:.3f} s, {:.2f}x\n", set->name, to_string(features), one, two,
                 one / two);
      rows.push_back({{"set", set->name},
                      {"features", to_string(features)},
                      {"splits", options.plan.splits},
                      {"one_thread_seconds", one},
                      {"two_threads_seconds", two},
                      {"ratio", one / two}});
    }
  }
  return {{"selection", rows}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::measure); }
