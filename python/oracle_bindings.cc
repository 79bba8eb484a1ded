// Oracles of classes and grades, for a batch of score vectors.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "class_bench.h"
#include "core/parallel.h"
#include "m4n/error.h"
#include "oracles.h"

namespace m4n::python {
namespace {

using namespace m4n::detail;

constexpr std::size_t chunk = 64;

void check_scores(const double* v, std::size_t n, std::size_t k) {
  for (std::size_t e = 0; e < n * k; ++e)
    if (!kernels::is_score(v[e]))
      throw Error(fmt::format("scores[{}, {}] is {}; expected a finite number of at most {} in size", e / k, e % k,
                              v[e], kernels::largest_score));
}

nb::tuple max_min(const Batch2& scores, const Square& costs, unsigned threads) {
  const std::size_t n = scores.shape(0), k = scores.shape(1);
  const CostMatrix cost = cost_matrix(costs, k);
  std::vector<double> lower(n), upper(n), mu(n * k), nu(n * k);
  {
    const nb::gil_scoped_release released;
    check_scores(scores.data(), n, k);
    with_maxmin(cost, MatrixMaxMin::all_solves, [&]<class S>(const S& surrogate) {
      parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
        ClassBench<S> bench(surrogate);
        const LabelView none;
        for (std::size_t i = first; i < last; ++i) {
          bench.read(scores.data() + i * k);
          surrogate.argmax(bench.v, none, bench.mu, bench.state, bench.workspace);
          upper[i] = surrogate.conjugate(bench.v, none, bench.state, bench.workspace);
          lower[i] = std::min(upper[i], surrogate.neg_omega(bench.mu, none, bench.workspace) + bench.linear());
          surrogate.adversary(bench.v, bench.nu, bench.workspace);
          std::copy_n(bench.mu.begin(), k, mu.data() + i * k);
          std::copy_n(bench.nu.begin(), k, nu.data() + i * k);
        }
      });
    });
  }
  return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}),
                        to_numpy(std::move(mu), {n, k}), to_numpy(std::move(nu), {n, k}));
}

NewArray<double> named_cost(const std::string& name, std::size_t k) {
  return to_numpy(CostMatrix::named(name, k).values(), {k, k});
}

}  // namespace

CostMatrix cost_matrix(const Square& costs, std::size_t k) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < k; ++c) names.push_back(std::to_string(c));
  if (costs.shape(0) != k || costs.shape(1) != k)
    throw Error(fmt::format("the cost matrix is {} x {}; expected {} x {}", costs.shape(0), costs.shape(1), k, k));
  return CostMatrix::from_values({costs.data(), costs.data() + costs.size()}, k, "matrix", names, "the cost matrix");
}

void bind_oracles(nb::module_& module) {
  module.def("named_cost", &named_cost, nb::arg("name"), nb::arg("k"), "The k x k costs of a name, [true][predicted].");
  module.def("max_min", &max_min, nb::arg("scores"), nb::arg("cost"), nb::arg("threads"));
}

}  // namespace m4n::python
