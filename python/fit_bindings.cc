// fit() and cross_validate() for Python: no GIL while they run, and Ctrl-C stops them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "interruptible.h"
#include "losses/cost_matrix.h"
#include "m4n/cross_validate.h"
#include "m4n/fit.h"
#include "structures/structure.h"

namespace m4n::python {
namespace {

TrainOptions options_for(const Data& data, const TextOptions& options, Costs cost) {
  TrainOptions out = train_options(options, std::move(cost));
  out.label_edges = data.label_edges;
  return out;
}

// fit() with what Ctrl-C and an observer need: the model, and the log of its training.
nb::tuple fitted(Dataset examples, const TrainOptions& train, unsigned threads, const nb::object& observe,
                 std::shared_ptr<WarmStart> start = {}) {
  std::vector<Progress> log;
  std::vector<std::string> warnings;
  Model model = run_interruptibly([&](StopFlag& flag) {
    const Observer watcher(observe, flag);
    Context context = with_threads(threads);
    context.cancelled = [&flag] { return flag.raised(); };
    context.start = start;
    context.observe = [&](const Progress& p) {
      log.push_back(p);
      if (watcher) watcher(p.epoch, p.seconds, p.primal, p.dual, p.relative_gap);
    };
    context.warn = [&](const Message& message) { warnings.push_back(message.text()); };
    FitResult result = fit(std::move(examples), train, context);
    watcher.rethrow();
    return std::move(result.model);
  });
  for (const std::string& text : warnings)
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) throw nb::python_error();
  return nb::make_tuple(std::move(model), log_columns(log));
}

// `total`: the sum of weights that stand for repeated examples, which the usual lambda is of.
nb::tuple fit_model(Data& data, const TextOptions& options, Costs cost, std::optional<double> total, unsigned threads,
                    const nb::object& observe, const std::shared_ptr<WarmStart>& start) {
  TrainOptions train = options_for(data, options, std::move(cost));
  if (!train.lambda && total) train.lambda = usual_lambda(train, data.get(), total);
  return fitted(data.take(), train, threads, observe, start);
}

// Nothing is kept back for a test: what is held out judges the choice alone.
std::vector<Split> given_splits(const std::vector<std::pair<IntVector, IntVector>>& splits) {
  std::vector<Split> out;
  const auto indices = [](const IntVector& a) { return std::vector<std::size_t>(a.data(), a.data() + a.size()); };
  for (const auto& [train, held_out] : splits) out.push_back({indices(train), indices(held_out), {}});
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
  nb::list warnings;
  for (const Message& message : result.warnings) warnings.append(pieces_of(message));
  out["warnings"] = warnings;
  return out;
}

// Chooses among the surrogates of these names (none: the one of the options) and lambdas (none: the usual ones) and
// fits the choice on all the data.
nb::tuple choose(Data& data, const TextOptions& options, Costs cost, const std::vector<std::string>& names,
                 std::vector<double> lambdas, bool extend, const std::vector<std::pair<IntVector, IntVector>>& splits,
                 unsigned threads, const nb::object& observe_search, const nb::object& observe_fit) {
  CvOptions cv;
  cv.train = options_for(data, options, std::move(cost));
  cv.gammas = {cv.train.gamma};
  cv.candidates = listed_candidates(names, cv.train, data.get());
  cv.lambdas = std::move(lambdas);
  cv.race = names == std::vector<std::string>{"auto"};
  cv.extend = extend;
  cv.plan.given = given_splits(splits);
  const Dataset& examples = data.get();
  const CvResult result = run_interruptibly([&](StopFlag& flag) {
    const Observer watcher(observe_search, flag);
    Context context = with_threads(threads);
    context.cancelled = [&flag] { return flag.raised(); };
    if (watcher) cv.observe = [&](const CvProgress& p) { watcher(p.done, p.total, p.seconds); };
    CvResult found = cross_validate(examples, {}, cv, context);
    watcher.rethrow();
    return found;
  });
  return nb::make_tuple(described(result), fitted(data.take(), refit_options(result, cv), threads, observe_fit));
}

std::pair<std::vector<double>, std::vector<std::string>> tree_costs(const std::string& rows,
                                                                    const std::vector<std::string>& classes,
                                                                    bool inner) {
  const detail::CostMatrix cost = detail::CostMatrix::from_tree(rows, classes, inner, "the tree");
  return {cost.values(), cost.has_actions() ? cost.prediction_names() : classes};
}

// Random folds of the examples, by the labels they have.
std::vector<std::int32_t> folds(const Data& data, const std::string& task, int count, std::uint64_t seed) {
  return random_folds(data.get().examples(), count, seed, strata_of(task, data.get()));
}

// The words that an option takes, as the command line lists them.
std::vector<std::string> choices(const std::string& option) {
  std::vector<std::string> out;
  for (const OptionRow& row : train_option_table()) {
    if (row.name != option) continue;
    std::string::size_type first = 0, bar = 0;
    do {
      bar = row.value.find('|', first);
      out.push_back(row.value.substr(first, bar - first));
      first = bar + 1;
    } while (bar != std::string::npos);
  }
  return out;
}

std::vector<std::string> losses(const std::string& task) {
  return detail::loss_names(detail::structure_named(task).traits().losses);
}

}  // namespace

TrainOptions train_options(const TextOptions& options, Costs cost) {
  TrainOptions out;
  const std::vector<OptionRow>& table = train_option_table();
  for (const auto& [name, value] : options) {
    const auto row = std::find_if(table.begin(), table.end(),
                                  [&name = name](const OptionRow& candidate) { return candidate.name == name; });
    if (row == table.end()) throw UsageError("unknown option --" + name);
    row->set(out, value);
  }
  std::tie(out.cost, out.predictions, out.cost_columns) = std::move(cost);
  return out;
}

void bind_fit(nb::module_& module) {
  nb::class_<WarmStart>(module, "WarmStart", "What a fit leaves for the next one.").def(nb::init<>());
  module.def("fit", &fit_model, nb::arg("data"), nb::arg("options"), nb::arg("cost"), nb::arg("total").none(),
             nb::arg("threads"), nb::arg("observe").none(), nb::arg("start") = nb::none(),
             "The model, and the log of its training.");
  module.def("choose", &choose, nb::arg("data"), nb::arg("options"), nb::arg("cost"), nb::arg("surrogates"),
             nb::arg("lambdas"), nb::arg("extend"), nb::arg("splits"), nb::arg("threads"),
             nb::arg("observe_search").none(), nb::arg("observe_fit").none(),
             "Choose a surrogate and lambda by the loss on held-out parts, and fit the choice on all the data.");
  module.def("tree_costs", &tree_costs, nb::arg("rows"), nb::arg("classes"), nb::arg("inner"),
             "The way between classes of a tree, of lines child,parent,length: costs by rows, names of predictions.");
  module.def("folds", &folds, nb::arg("data"), nb::arg("task"), nb::arg("count"), nb::arg("seed"),
             "The fold of every example, numbered from 0: random, with labels as frequent in each as in all.");
  module.def("choices", &choices, nb::arg("option"), "The words that an option takes.");
  module.def("losses", &losses, nb::arg("task"), "The names of the losses of a task; precision@K stands for all K.");
}

}  // namespace m4n::python
