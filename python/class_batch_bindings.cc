// Losses and decoders of classes for whole batches, shared among threads.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "batches.h"
#include "bindings.h"
#include "class_bench.h"
#include "core/enum_names.h"
#include "core/parallel.h"
#include "structures/classes/decoder.h"

namespace m4n::python {
namespace {

using namespace m4n::detail;

constexpr std::size_t chunk = 64;

// Values and (sub)gradients of a batch. Examples whose target is `ignored` have none. `shape` is that of the scores,
// for messages.
template <class Real>
nb::tuple class_loss(const RealBatch<Real, 2>& scores, const Whole& y, const Square& costs, const std::string& name,
                     double smoothing, std::int64_t ignored, Starts* starts, const Whole& index,
                     const std::vector<std::size_t>& shape, unsigned threads) {
  const std::size_t n = scores.shape(0), k = scores.shape(1);
  const CostMatrix cost = rectangular_cost(costs, k);
  const auto kind = parse_name<SurrogateKind>(name, "surrogate");
  if (kind == SurrogateKind::m3n && cost.has_actions())
    throw UsageError("m3n scores labels against labels; costs of other predictions need m4n or crf");
  if (y.shape(0) != n) throw Error(fmt::format("{} labels for {} score vectors", y.shape(0), n));
  const std::vector<std::size_t> batch(shape.begin(), shape.end() - 1);
  std::vector<Real> value(n, Real{0}), gradient(n * k, Real{0});
  const auto evaluate = [&]<class S>(const S& surrogate) {
    const auto kept = checked_index(surrogate.state_size() > 0 ? starts : nullptr, index, n);
    std::unique_lock<std::mutex> lock;
    if (!kept.empty()) lock = starts->open<Starts::MatrixBasis>(kept);
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      ClassBench<S> bench(surrogate);
      Starts::MatrixBasis cold;
      for (std::size_t i = first; i < last; ++i) {
        if (y.data()[i] == ignored) continue;
        if (y.data()[i] < 0 || y.data()[i] >= static_cast<std::int64_t>(k))
          throw Error(fmt::format("y{} is {}; expected 0 to {}", place(i, batch), y.data()[i], k - 1));
        for (std::size_t j = 0; j < k; ++j) require_score(scores.data()[i * k + j], "scores", i * k + j, shape);
        const auto label = static_cast<std::int32_t>(y.data()[i]);
        const LabelView truth(&label, 1);
        bench.read(scores.data() + i * k);
        if constexpr (std::is_same_v<typename S::StateUnit, std::uint8_t>) {
          if (!kept.empty()) {
            Starts::MatrixBasis& basis = starts->of(i, cold);
            if (basis.size() == bench.state.size()) bench.state = basis;
          }
        }
        surrogate.argmax(bench.v, truth, bench.mu, bench.state, bench.workspace);
        Real* const row = gradient.data() + i * k;
        for (std::size_t j = 0; j < k; ++j) row[j] = static_cast<Real>(bench.mu[j]);
        row[truth[0]] = static_cast<Real>(bench.mu[static_cast<std::size_t>(label)] - 1);
        value[i] = static_cast<Real>(surrogate.conjugate(bench.v, truth, bench.state, bench.workspace) -
                                     surrogate.space().score(bench.v, truth));
        if constexpr (std::is_same_v<typename S::StateUnit, std::uint8_t>)
          if (!kept.empty()) starts->of(i, cold) = bench.state;
      }
    });
  };
  {
    const nb::gil_scoped_release released;
    if (kind == SurrogateKind::crf)
      evaluate(Crf(k));
    else if (kind == SurrogateKind::m3n)
      evaluate(Margin(cost));
    else if (kind == SurrogateKind::qs)
      throw UsageError("qs is a regression on the costs, not a loss of this kind; use m4n, m3n or crf");
    else
      with_maxmin(cost, MatrixMaxMin::all_solves, [&](const auto& maxmin) {
        if (smoothing > 0)
          evaluate(Smoothed(maxmin, smoothing_in_costs(smoothing, cost)));
        else
          evaluate(maxmin);
      });
  }
  return nb::make_tuple(to_numpy(std::move(value), {n}), to_numpy(std::move(gradient), {n, k}));
}

std::vector<std::int64_t> as_whole(const std::vector<std::int32_t>& labels) { return {labels.begin(), labels.end()}; }

NewArray<std::int64_t> class_decode(const Batch2& scores, const Square& costs, const std::string& surrogate,
                                    const std::string& decode, double smoothing, const std::vector<std::size_t>& shape,
                                    unsigned threads) {
  const std::size_t n = scores.shape(0), k = scores.shape(1);
  const CostMatrix cost = rectangular_cost(costs, k);
  const DecodingRule rule{parse_name<SurrogateKind>(surrogate, "surrogate"), parse_name<Decoder>(decode, "decode"),
                          smoothing, &cost};
  std::vector<std::int32_t> out;
  {
    const nb::gil_scoped_release released;
    for (std::size_t e = 0; e < n * k; ++e) require_score(scores.data()[e], "scores", e, shape);
    out = decode_rows({scores.data(), n * k}, rule, with_threads(threads));
  }
  return to_numpy(as_whole(out), {n});
}

}  // namespace

void bind_class_batches(nb::module_& module) {
  nb::class_<Starts>(module, "Starts", "What oracles keep of examples between visits.").def(nb::init<>());
  const auto loss = [&]<class Real>(Real) {
    module.def("class_loss", &class_loss<Real>, nb::arg("scores").noconvert(), nb::arg("y"), nb::arg("cost"),
               nb::arg("surrogate"), nb::arg("smoothing"), nb::arg("ignored"), nb::arg("starts").none(),
               nb::arg("index"), nb::arg("shape"), nb::arg("threads"));
  };
  loss(float{});
  loss(double{});
  module.def("class_decode", &class_decode, nb::arg("scores"), nb::arg("cost"), nb::arg("surrogate"), nb::arg("decode"),
             nb::arg("smoothing"), nb::arg("shape"), nb::arg("threads"));
}

}  // namespace m4n::python
