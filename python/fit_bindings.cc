// fit() and cross_validate() for Python: no GIL while they run, and Ctrl-C stops them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "arrays.h"
#include "core/enum_names.h"
#include "data_bindings.h"
#include "eval/split_learner.h"
#include "interruptible.h"
#include "m4n/cross_validate.h"
#include "m4n/fit.h"

namespace m4n::python {
namespace {

using TextOptions = std::map<std::string, std::string>;

// surrogate, smoothing, decode ("auto": the usual one)
using CandidateNames = std::tuple<std::string, double, std::string>;

FitResult fit_data(Data& data, const TextOptions& options, std::vector<double> cost, unsigned threads,
                   const nb::object& observe) {
  TrainOptions train = train_options(options, std::move(cost));
  train.label_edges = data.label_edges;
  Dataset examples = data.take();
  return run_interruptibly([&](StopFlag& flag) {
    const Observer watcher(observe, flag);
    Context context;
    context.threads = threads;
    context.cancelled = [&flag] { return flag.raised(); };
    if (watcher)
      context.observe = [&](const Progress& p) { watcher(p.epoch, p.seconds, p.primal, p.dual, p.relative_gap); };
    FitResult result = fit(std::move(examples), train, context);
    watcher.rethrow();
    return result;
  });
}

Model fit_model(Data& data, const TextOptions& options, std::vector<double> cost, unsigned threads,
                const nb::object& observe) {
  return fit_data(data, options, std::move(cost), threads, observe).model;
}

std::vector<Split> given_splits(const std::vector<std::pair<IntVector, IntVector>>& splits) {
  std::vector<Split> out;
  const auto indices = [](const IntVector& a) { return std::vector<std::size_t>(a.data(), a.data() + a.size()); };
  // Nothing is kept back for a test: what is held out judges the choice alone.
  for (const auto& [train, held_out] : splits) out.push_back({indices(train), indices(held_out), indices(held_out)});
  return out;
}

std::vector<Candidate> candidates(const std::vector<CandidateNames>& names, const TrainOptions& train,
                                  const Dataset& data) {
  if (names.empty()) return automatic_candidates(train, data, usual_smoothing);
  std::vector<Candidate> out;
  for (const auto& [surrogate, smoothing, decode] : names)
    out.push_back({parse_name<SurrogateKind>(surrogate, "--surrogate"), smoothing,
                   decode == "auto" ? Decoder::automatic : parse_name<Decoder>(decode, "--decode")});
  return out;
}

// The mean loss on what was held out, of every candidate and lambda that was tried in all splits.
nb::dict described(const CvResult& result) {
  nb::list cells;
  for (const CvCell& cell : result.cells)
    cells.append(nb::make_tuple(cell.candidate, cell.split, cell.lambda, cell.validation));
  nb::list names;
  for (const Candidate& c : result.candidates)
    names.append(
        nb::make_tuple(name_of(c, result.candidates), to_string(c.surrogate), c.smoothing, to_string(c.decode)));
  nb::dict out;
  out["candidates"] = names;
  out["cells"] = cells;
  out["best_candidate"] = result.best.candidate;
  out["best_lambda"] = result.best.lambda;
  out["best_loss"] = result.best.validation_mean;
  return out;
}

nb::dict choose(Data& data, const TextOptions& options, std::vector<double> cost,
                const std::vector<CandidateNames>& names, std::vector<double> lambdas, std::size_t first, bool extend,
                const std::vector<std::pair<IntVector, IntVector>>& splits, unsigned threads,
                const nb::object& observe) {
  CvOptions cv;
  cv.train = train_options(options, std::move(cost));
  cv.train.label_edges = data.label_edges;
  cv.gammas = {cv.train.gamma};
  cv.candidates = candidates(names, cv.train, data.get());
  cv.lambdas = std::move(lambdas);
  cv.first_lambdas = first;
  cv.extend = extend;
  cv.plan.given = given_splits(splits);
  const Dataset& examples = data.get();
  return described(run_interruptibly([&](StopFlag& flag) {
    const Observer watcher(observe, flag);
    Context context;
    context.threads = threads;
    context.cancelled = [&flag] { return flag.raised(); };
    if (watcher) cv.observe = [&](const CvProgress& p) { watcher(p.done, p.total, p.seconds); };
    CvResult result = cross_validate(examples, {}, cv, context);
    watcher.rethrow();
    return result;
  }));
}

}  // namespace

void bind_fit(nb::module_& module) {
  module.def("fit", &fit_model, nb::arg("data"), nb::arg("options"), nb::arg("cost"), nb::arg("threads"),
             nb::arg("observe").none());
  module.def("choose", &choose, nb::arg("data"), nb::arg("options"), nb::arg("cost"), nb::arg("candidates"),
             nb::arg("lambdas"), nb::arg("first"), nb::arg("extend"), nb::arg("splits"), nb::arg("threads"),
             nb::arg("observe").none(),
             "Choose a candidate and lambda by the loss on held-out parts; no candidates: the usual ones.");
}

}  // namespace m4n::python
