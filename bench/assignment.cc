// Our assignment solver beside dlib's max_cost_assignment, on normal scores. dlib works on integers: it gets the scores
// in units of 1e-9 and its own matrix type, made outside the clock. Warm: from the column duals of the same scores
// before every entry moved by a twentieth. With a folder as argument the scores are left there, in M.f64, one matrix by
// rows after the other, for other programs to be timed on.
#include <dlib/matrix.h>
#include <dlib/optimization/max_cost_assignment.h>
#include <fmt/format.h>

#include <fstream>

#include "core/assignment.h"
#include "core/rng.h"
#include "m4n/error.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

void leave(const std::vector<std::vector<double>>& scores, const std::string& folder, std::size_t m) {
  std::ofstream file(fmt::format("{}/{}.f64", folder, m), std::ios::binary);
  for (const std::vector<double>& matrix : scores)
    file.write(reinterpret_cast<const char*>(matrix.data()),
               static_cast<std::streamsize>(matrix.size() * sizeof(double)));
  if (!file.flush()) throw Error(fmt::format("{}: the scores of size {} cannot be written there", folder, m));
}

Json assignment(const Settings& settings) {
  const double budget = settings.quick ? 0.01 : 0.5;
  Json rows = Json::array();
  for (const std::size_t m : {6, 10, 20, 50, 100}) {
    const std::size_t count = 500000 / (m * m);  // too many for the branch predictor to know by heart
    Rng rng(m);
    std::vector<std::vector<double>> now(count), duals(count);
    std::vector<dlib::matrix<long long>> integers(count);
    Assignment lap;
    for (std::size_t c = 0; c < count; ++c) {
      std::vector<double> before(m * m);
      now[c].resize(m * m);
      integers[c].set_size(static_cast<long>(m), static_cast<long>(m));
      for (std::size_t e = 0; e < m * m; ++e) {
        before[e] = rng.normal();
        now[c][e] = before[e] + 0.05 * rng.normal();
        integers[c](static_cast<long>(e / m), static_cast<long>(e % m)) = std::llround(1e9 * now[c][e]);
      }
      lap.solve(before, m);
      duals[c].assign(lap.column_duals().begin(), lap.column_duals().end());
    }
    if (!settings.others.empty()) leave(now, settings.others[0], m);
    double ours = 0, theirs = 0;  // the values agree
    const double cold = microseconds_each(count, budget, [&](std::size_t c) { lap.solve(now[c], m); });
    const double warm = microseconds_each(count, budget, [&](std::size_t c) { lap.solve(now[c], m, duals[c]); });
    const double dlib_us =
        microseconds_each(count, budget, [&](std::size_t c) { dlib::max_cost_assignment(integers[c]); });
    for (std::size_t c = 0; c < count; ++c) {
      ours += lap.solve(now[c], m);
      theirs += 1e-9 * static_cast<double>(dlib::assignment_cost(integers[c], dlib::max_cost_assignment(integers[c])));
    }
    rows.push_back({{"size", m},
                    {"cold_us", cold},
                    {"warm_us", warm},
                    {"dlib_us", dlib_us},
                    {"value", ours / static_cast<double>(count)},
                    {"value_difference", std::abs(ours - theirs) / static_cast<double>(count)}});
    fmt::print(stderr, "  M = {}: {:.2f} us cold, {:.2f} warm, dlib {:.2f}\n", m, cold, warm, dlib_us);
  }
  return {{"assignment", rows}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::assignment); }
