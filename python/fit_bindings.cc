// fit() and cross_validate() for Python: no GIL while they run, and Ctrl-C stops them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "arrays.h"
#include "data_bindings.h"
#include "interruptible.h"
#include "m4n/cross_validate.h"
#include "m4n/fit.h"

namespace m4n::python {
namespace {

using TextOptions = std::map<std::string, std::string>;

// fit() with what Ctrl-C and an observer need.
Model fitted(Dataset examples, const TrainOptions& train, unsigned threads, const nb::object& observe) {
  return run_interruptibly([&](StopFlag& flag) {
    const Observer watcher(observe, flag);
    Context context;
    context.threads = threads;
    context.cancelled = [&flag] { return flag.raised(); };
    if (watcher)
      context.observe = [&](const Progress& p) { watcher(p.epoch, p.seconds, p.primal, p.dual, p.relative_gap); };
    FitResult result = fit(std::move(examples), train, context);
    watcher.rethrow();
    return std::move(result.model);
  });
}

TrainOptions options_for(const Data& data, const TextOptions& options, std::vector<double> cost) {
  TrainOptions out = train_options(options, std::move(cost));
  out.label_edges = data.label_edges;
  return out;
}

Model fit_model(Data& data, const TextOptions& options, std::vector<double> cost, unsigned threads,
                const nb::object& observe) {
  const TrainOptions train = options_for(data, options, std::move(cost));
  return fitted(data.take(), train, threads, observe);
}

std::vector<Split> given_splits(const std::vector<std::pair<IntVector, IntVector>>& splits) {
  std::vector<Split> out;
  const auto indices = [](const IntVector& a) { return std::vector<std::size_t>(a.data(), a.data() + a.size()); };
  // Nothing is kept back for a test: what is held out judges the choice alone.
  for (const auto& [train, held_out] : splits) out.push_back({indices(train), indices(held_out), indices(held_out)});
  return out;
}

// The mean loss on what was held out, of every candidate (surrogate, smoothing, decoder), split and lambda.
nb::dict described(const CvResult& result) {
  nb::list cells;
  for (const CvCell& cell : result.cells)
    cells.append(nb::make_tuple(cell.candidate, cell.split, cell.lambda, cell.validation, cell.converged));
  nb::list candidates;
  for (const Candidate& c : result.candidates)
    candidates.append(nb::make_tuple(to_string(c.surrogate), c.smoothing, to_string(c.decode)));
  nb::dict out;
  out["candidates"] = candidates;
  out["cells"] = cells;
  out["best_loss"] = result.best.validation_mean;
  out["unconverged"] = result.unconverged();
  return out;
}

// Chooses among the surrogates of these names (none: the one of the options) and lambdas (none: the usual ones) and
// fits the choice on all the data.
nb::tuple choose(Data& data, const TextOptions& options, std::vector<double> cost,
                 const std::vector<std::string>& names, std::vector<double> lambdas, bool extend,
                 const std::vector<std::pair<IntVector, IntVector>>& splits, unsigned threads,
                 const nb::object& observe_search, const nb::object& observe_fit) {
  CvOptions cv;
  cv.train = options_for(data, options, std::move(cost));
  cv.gammas = {cv.train.gamma};
  cv.candidates = listed_candidates(names, cv.train, data.get());
  if (lambdas.empty()) cv.first_lambdas = first_usual_lambdas(*cv.train.task);
  cv.lambdas = lambdas.empty() ? usual_lambdas() : std::move(lambdas);
  cv.extend = extend;
  cv.plan.given = given_splits(splits);
  const Dataset& examples = data.get();
  const CvResult result = run_interruptibly([&](StopFlag& flag) {
    const Observer watcher(observe_search, flag);
    Context context;
    context.threads = threads;
    context.cancelled = [&flag] { return flag.raised(); };
    if (watcher) cv.observe = [&](const CvProgress& p) { watcher(p.done, p.total, p.seconds); };
    CvResult found = cross_validate(examples, {}, cv, context);
    watcher.rethrow();
    return found;
  });
  return nb::make_tuple(described(result), fitted(data.take(), refit_options(result, cv), threads, observe_fit));
}

}  // namespace

void bind_fit(nb::module_& module) {
  module.def("fit", &fit_model, nb::arg("data"), nb::arg("options"), nb::arg("cost"), nb::arg("threads"),
             nb::arg("observe").none());
  module.def("choose", &choose, nb::arg("data"), nb::arg("options"), nb::arg("cost"), nb::arg("surrogates"),
             nb::arg("lambdas"), nb::arg("extend"), nb::arg("splits"), nb::arg("threads"),
             nb::arg("observe_search").none(), nb::arg("observe_fit").none(),
             "Choose a surrogate and lambda by the loss on held-out parts, and fit the choice on all the data.");
}

}  // namespace m4n::python
