// What structures have in common unless they say otherwise (structure.h).
#include "structures/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/message.h"
#include "core/option_values.h"
#include "data/input.h"
#include "data/table.h"
#include "losses/cost_matrix.h"
#include "structures/parted.h"
#include "structures/rows_evaluator.h"
#include "surrogates/registry.h"

namespace m4n::detail {

bool Structure::takes(std::string_view option) const {
  return std::find(traits_.options.begin(), traits_.options.end(), option) != traits_.options.end();
}

std::vector<std::string> Structure::remarks(const Dataset& data, const TrainOptions& options) const {
  if (!options.reject || traits_.losses == LossFamily::label_sets) return {};
  TrainOptions without = options;
  without.reject.reset();
  const LossSummary others = loss(without, data);
  const std::size_t k = data.class_names.size();
  const std::vector<double> costs = others.values.empty() ? CostMatrix::named(others.name, k).values() : others.values;
  const double price = *options.reject, least = *std::min_element(costs.begin(), costs.end());
  if (price <= least)
    return {fmt::format("--reject {}: no answer costs less, so everything is rejected; give a price above {}", price,
                        least)};
  // The answer that costs least where it costs most: a rejection that costs more is never the best answer.
  double sure = *std::max_element(costs.begin(), costs.end());
  const std::size_t answers = costs.size() / k;
  for (std::size_t p = 0; p < answers; ++p) {
    double most = costs[p];
    for (std::size_t t = 1; t < k; ++t) most = std::max(most, costs[t * answers + p]);
    sure = std::min(sure, most);
  }
  if (data.costs.names.empty() && price > sure)
    return {fmt::format(
        "--reject {}: some answer never costs more than {}, so nothing is ever rejected; give a price below that, or "
        "leave it out",
        price, sure)};
  return {};
}

Decoder Structure::decoder(const TrainOptions& options, const LossSummary& loss) const {
  const Decoder largest = traits_.largest;
  if (!loss.predictions.empty()) {
    if (options.surrogate == SurrogateKind::m3n)
      throw UsageError(
          say("--surrogate m3n scores classes against classes, and some predictions are no class ({}); => use m4n, crf "
              "or qs",
              fmt::join(loss.predictions, ", ")));
    if ((options.decode == Decoder::argmax || options.decode == largest) && options.surrogate != SurrogateKind::qs)
      throw UsageError(say("--decode {} predicts a class, and some predictions are no class ({}); => leave it out",
                           to_string(options.decode), fmt::join(loss.predictions, ", ")));
  }
  if (options.decode == Decoder::automatic)
    return usual_decoder(options.surrogate, options.smoothing, loss.symmetric, largest);
  const Decoder asked = options.decode == Decoder::argmax ? largest : options.decode;
  const bool known = asked != Decoder::viterbi || largest == Decoder::viterbi;
  if (!known || !goes_with(asked, options.surrogate, options.smoothing, traits_.losses == LossFamily::classes))
    throw UsageError(say("--decode {}: {} of --surrogate {} are decoded by {}. => Leave it out", to_string(asked),
                         traits_.example.many, to_string(options.surrogate),
                         options.surrogate == SurrogateKind::m4n
                             ? fmt::format("{} or adversary", to_string(largest))
                             : to_string(usual_decoder(options.surrogate, 0, true, largest))));
  return asked;
}

std::unique_ptr<PartedTraining> Structure::in_parts(const TrainOptions&, const Dataset&) const {
  throw UsageError(say("--task {} is not trained in parts on several machines; => train it in memory", name()));
}

void Structure::read_example_weights(const std::string& path, Dataset& data) {
  if (path.empty()) return;
  if (!std::filesystem::is_regular_file(path))
    throw UsageError(
        say("--weights {}: is no file; expected one with a weight per line, as these examples have no columns",
            shown(path)));
  Input input = Input::open(path);
  LineReader lines(input);
  for (std::string_view line; lines.next(line);) {
    const std::string cell(trim(line));
    if (cell.empty()) continue;
    const auto value = finite_number(cell);
    if (!value || !is_weight(*value))
      throw Error(say("{}: line {}: found {}, expected a weight above 0, from {} to {}", input.name(),
                      lines.line_number(), shown(cell), smallest_weight, largest_weight));
    data.weight.push_back(*value);
  }
  if (data.weight.size() != data.examples())
    throw Error(say("{}: {} for {}; expected one per line and example", input.name(),
                    counted(data.weight.size(), "weight"), counted(data.examples(), "example")));
}

void refuse_quadratic(const TrainOptions& o, std::string_view why) {
  if (o.surrogate == SurrogateKind::qs) throw UsageError(say("--surrogate qs {}. => Use m4n, m3n or crf", why));
}

void Structure::check_solver(const TrainOptions& o, const char* outputs, bool crf_by_prox, bool paper) const {
  const bool crf = o.surrogate == SurrogateKind::crf;
  const SolverKind own = crf ? (crf_by_prox ? SolverKind::prox : SolverKind::lbfgs) : SolverKind::atoms;
  const bool fits = o.solver == SolverKind::automatic || o.solver == own || (crf && o.solver == SolverKind::lbfgs) ||
                    (paper && o.solver == SolverKind::gbcfw && o.oracle == OracleKind::spmp);
  if (fits) return;
  const Message solvers = crf     ? say("{}", crf_by_prox ? "prox or lbfgs" : "lbfgs")
                          : paper ? say("atoms, or with m4n by gbcfw with --oracle spmp")
                                  : say("atoms");
  throw UsageError(say("--solver {}: on {} {} is solved by {}. => Leave --solver out", to_string(o.solver), outputs,
                       to_string(o.surrogate), solvers));
}

void Structure::refuse_fold_column(const TrainOptions& options) const {
  if (!options.read.fold.empty())
    throw UsageError(say("--folds {}: files of {} have no columns; => give a number of random folds", options.read.fold,
                         traits_.example.many));
}

void Structure::refuse_weights(const PredictionRequest& request) {
  if (!request.read.weights.empty())
    throw UsageError(say("--weights: predictions have no use for weights. => Leave it out"));
}

void Structure::require_own_format(const ReadOptions& options, const std::string& model_name) const {
  const auto refuse = [&](const std::string& value, const char* name) {
    if (!value.empty())
      throw UsageError(say("{} names a column of a table, but {} is a model of {}. => Leave it out", option(name),
                           model_name, traits_.example.many));
  };
  refuse(options.target, "target");
  refuse(options.id, "id");
  const std::vector<std::string>& formats = traits_.formats;
  if (!options.format.empty() && std::find(formats.begin(), formats.end(), options.format) == formats.end())
    throw UsageError(say("--format {}: {} is a model of {} and reads the format {} only. => Leave it out",
                         options.format, model_name, traits_.example.many, fmt::join(formats, " or ")));
}

void Structure::require_probabilities(const Model& model, const std::string& model_name, const Message& instead) {
  if (defines_probabilities(model.surrogate(), model.common().smoothing)) return;
  throw UsageError(
      say("--marginals: {} was trained with --surrogate {}, which defines no class probabilities; => train with "
          "--surrogate crf{}",
          model_name, to_string(model.surrogate()), instead));
}

void Structure::refuse_k_best(const PredictionRequest& request, const Message& instead) const {
  if (request.k_best == 0) return;
  throw UsageError(say("--k-best ranks labellings of sequences, and {} is a model of the task {}. => Leave it out{}",
                       request.model_name, name(), instead));
}

void Structure::require_runs(const Dataset& examples) const {
  const Groups& runs = examples.feature_rows;
  const std::size_t all = rows(examples.x);
  std::size_t next = 0;
  for (std::size_t i = 0; i < runs.count(); ++i) {
    if (runs.begin(i) != next || runs.end(i) <= next || runs.end(i) > all)
      throw Error(
          say("{} {} (counted from 1) has the rows {} to {} of {}; expected a run of at least one, behind that of "
              "the {} before",
              traits_.example.one, i + 1, runs.begin(i), runs.end(i), all, traits_.example.one));
    next = runs.end(i);
  }
  if (next != all) throw Error(say("the {} have {} rows, the data {}", traits_.example.many, next, all));
}

std::vector<double> Structure::scores(const Model&, const FeaturesView&, const Context&) const {
  throw Error(say("a model of {} scores no single rows; => use predict() with whole {}", traits_.example.many,
                  traits_.example.many));
}

std::vector<std::int32_t> Structure::decode(const Model&, std::span<const double>, const CostColumns&,
                                            const Context&) const {
  throw Error(say("the parts of a {} are decoded together; => use predict() with whole {}", traits_.example.one,
                  traits_.example.many));
}

std::vector<double> Structure::marginals(const Model&, std::span<const double>, const CostColumns&,
                                         const Context&) const {
  throw Error(
      say("probabilities of {} are found for whole ones; => use marginals() with a dataset", traits_.example.many));
}

std::string Structure::labels_text(std::size_t count) const {
  return counted(count, traits_.label.one, traits_.label.many);
}

std::string Structure::examples_text(std::size_t n, std::size_t parts) const {
  std::string out = counted(n, traits_.example.one, traits_.example.many);
  if (traits_.part.one != nullptr) out += ", " + counted(parts, traits_.part.one, traits_.part.many);
  return out;
}

const Structure& structure_named(const std::string& task) {
  const std::vector<const Structure*>& all = structures();
  if (task.empty()) return *all.front();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Structure* s) { return s->name() == task; });
  if (found == all.end())
    throw UsageError(say("--task: {}", unknown_word_message("value", task, task_names())),
                     {"task", task, fmt::format("one of {}", fmt::join(task_names(), ", ")), {}});
  return **found;
}

const Structure& structure_of(const Model& model) { return structure_named(model.task()); }

// ---- reports

namespace {

// The index of a label among the truths of answer_kinds(): k where the model has never seen it.
std::size_t truth_kind(std::int32_t label, std::size_t k) {
  return label == unknown_label ? k : static_cast<std::size_t>(label);
}

}  // namespace

AnswerKinds Structure::answer_kinds(const Model& model) const {
  const std::size_t k = model.k();
  if (k == 0 || model.cost().size() != k * model.predictions().size()) return {};
  AnswerKinds out{model.classes(), model.predictions(), {}, true};
  out.truths.emplace_back("(unseen in training)");
  for (const std::size_t c : classes_of_predictions(model)) out.declines.push_back(c == k);
  return out;
}

void Structure::each_answer(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                            const AnswerVisitor& visit) const {
  const std::size_t k = model.k(), width = model.predictions().size();
  const std::vector<double>& cost = model.cost();
  const double largest = *std::max_element(cost.begin(), cost.end());
  const Groups& groups = examples.data.labels;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const std::size_t first = groups.begin(i), end = groups.end(i);
    for (std::size_t m = first; m < end; ++m) {
      const std::size_t t = truth_kind(examples.data.label[m], k), y = static_cast<std::size_t>(predicted[m]);
      visit(i, t, y, (t < k ? cost[t * width + y] : largest) / static_cast<double>(end - first));
    }
  }
}

std::vector<std::int32_t> Structure::best_constant(const Model& model, const Examples& examples) const {
  const std::size_t k = model.k(), width = model.predictions().size();
  if (answer_kinds(model).answers.empty()) return {};
  std::vector<double> mass(k), total(width);  // of every truth, and what every answer costs
  const Groups& groups = examples.data.labels;
  for (std::size_t i = 0; i < groups.count(); ++i) {
    const double weight = examples.data.weight.empty() ? 1 : examples.data.weight[i];
    for (std::size_t m = groups.begin(i); m < groups.end(i); ++m)
      if (const std::int32_t t = examples.data.label[m]; t != unknown_label)
        mass[static_cast<std::size_t>(t)] += weight / static_cast<double>(groups.end(i) - groups.begin(i));
  }
  for (std::size_t t = 0; t < k; ++t)
    for (std::size_t y = 0; y < width; ++y) total[y] += mass[t] * model.cost()[t * width + y];
  const auto best = std::min_element(total.begin(), total.end()) - total.begin();
  return std::vector<std::int32_t>(examples.data.label.size(), static_cast<std::int32_t>(best));
}

// Of outputs of many parts only those that differ, by their places; at most a dozen.
std::string Structure::answer_text(const Model& model, std::span<const std::int32_t> labels,
                                   std::span<const std::int32_t> other, bool truth) const {
  constexpr std::size_t most = 12;
  const auto name = [&](std::int32_t label, bool of_truth) -> std::string {
    const std::vector<std::string>& names = of_truth ? model.classes() : model.predictions();
    return label >= 0 && static_cast<std::size_t>(label) < names.size() ? names[static_cast<std::size_t>(label)]
                                                                        : "(unseen in training)";
  };
  if (labels.size() == 1) return name(labels[0], truth);
  std::string out;
  std::size_t found = 0;
  for (std::size_t m = 0; m < labels.size(); ++m) {
    const std::string own = name(labels[m], truth);
    if (own == name(other[m], !truth)) continue;
    if (++found <= most) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", m + 1, own);
  }
  if (found > most) out += fmt::format(" and {} more", found - most);
  return out.empty() ? "all right" : out;
}

}  // namespace m4n::detail

namespace m4n {

std::vector<std::string> task_names() {
  std::vector<std::string> out;
  for (const detail::Structure* structure : detail::structures()) out.push_back(structure->name());
  return out;
}

}  // namespace m4n
