// Oracles and losses of classes and grades, for a batch of score vectors.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "core/enum_names.h"
#include "core/parallel.h"
#include "m4n/error.h"
#include "oracles.h"
#include "structures/classes/surrogates.h"

namespace m4n::python {
namespace {

using namespace m4n::detail;

constexpr std::size_t chunk = 64;

// A surrogate with what one thread needs to use it.
template <class S>
struct Bench {
  explicit Bench(const S& s)
      : surrogate(s),
        workspace(s.workspace()),
        v(s.space().padded_parts(), kernels::padding_score),
        mu(v.size()),
        nu(v.size()),
        state(s.state_size()) {}
  // Every example starts cold, so that answers do not depend on the company it is in.
  void read(const double* row) {
    std::copy_n(row, surrogate.space().parts(), v.begin());
    std::fill(state.begin(), state.end(), typename S::StateUnit{});
  }
  double linear() const {
    const std::size_t k = surrogate.space().parts();
    return kernels::dot(std::span<const double>(v).first(k), std::span<const double>(mu).first(k));
  }
  const S& surrogate;
  typename S::Workspace workspace;
  AlignedVector<double> v, mu, nu;
  std::vector<typename S::StateUnit> state;
};

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
        Bench<S> bench(surrogate);
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

nb::tuple loss(const Batch2& scores, const IntVector& y, const Square& costs, const std::string& name, double smoothing,
               unsigned threads) {
  const std::size_t n = scores.shape(0), k = scores.shape(1);
  const CostMatrix cost = cost_matrix(costs, k);
  const auto kind = parse_name<SurrogateKind>(name, "surrogate");
  if (y.shape(0) != n) throw Error(fmt::format("{} labels for {} score vectors", y.shape(0), n));
  for (std::size_t i = 0; i < n; ++i)
    if (y.data()[i] < 0 || static_cast<std::size_t>(y.data()[i]) >= k)
      throw Error(fmt::format("y[{}] is {}; expected 0 to {}", i, y.data()[i], k - 1));
  std::vector<double> value(n), gradient(n * k);
  const auto evaluate = [&]<class S>(const S& surrogate) {
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      Bench<S> bench(surrogate);
      for (std::size_t i = first; i < last; ++i) {
        const LabelView truth(y.data() + i, 1);
        bench.read(scores.data() + i * k);
        surrogate.argmax(bench.v, truth, bench.mu, bench.state, bench.workspace);
        double* const row = gradient.data() + i * k;
        std::copy_n(bench.mu.begin(), k, row);
        row[truth[0]] -= 1;
        value[i] =
            surrogate.conjugate(bench.v, truth, bench.state, bench.workspace) - surrogate.space().score(bench.v, truth);
      }
    });
  };
  {
    const nb::gil_scoped_release released;
    check_scores(scores.data(), n, k);
    if (kind == SurrogateKind::crf)
      evaluate(Crf(k));
    else if (kind == SurrogateKind::m3n)
      evaluate(Margin(cost));
    else if (kind == SurrogateKind::qs)
      throw UsageError("qs is a regression on the costs, not a loss of this kind; use m4n, m3n or crf");
    else
      with_maxmin(cost, MatrixMaxMin::all_solves, [&](const auto& maxmin) {
        if (smoothing > 0)
          evaluate(Smoothed(maxmin, smoothing * cost.mean_off_diagonal()));
        else
          evaluate(maxmin);
      });
  }
  return nb::make_tuple(to_numpy(std::move(value), {n}), to_numpy(std::move(gradient), {n, k}));
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
  module.def("loss", &loss, nb::arg("scores"), nb::arg("y"), nb::arg("cost"), nb::arg("surrogate"),
             nb::arg("smoothing"), nb::arg("threads"));
}

}  // namespace m4n::python
