// The page of a model (model_page.h). Every section is a pass over the predictions at most; what is shown of single
// examples is asked for after the twenty costliest were found.
#include "reports/model_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/message.h"
#include "m4n/version.h"
#include "reports/report.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

constexpr std::size_t costliest = 20, most_scores = 4;

// Whether the examples have labels: all or none.
bool are_labelled(const Examples& examples, const PageRequest& request) {
  const auto unknown =
      static_cast<std::size_t>(std::count(examples.truth.begin(), examples.truth.end(), unknown_label));
  if (unknown == examples.truth.size()) return false;
  if (unknown > 0)
    throw Error(say("{}: {} of the {} labels are missing; expected all of them, or none", request.data, unknown,
                    examples.truth.size()));
  return true;
}

std::string scores_text(const Model& model, const Dataset& data) {
  const Structure& structure = structure_of(model);
  const std::vector<std::string> names = structure.output_names(model);
  if (names.empty() || rows(data.x) != 1) return {};
  const std::vector<double> scores = structure.scores(model, view(data.x), {});
  if (scores.size() != names.size()) return {};
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::string out;
  for (std::size_t s = 0; s < std::min(order.size(), most_scores); ++s)
    out += fmt::format("{}{} {}", s > 0 ? ", " : "", names[order[s]], shown_number(scores[order[s]]));
  return out + (order.size() > most_scores ? ", .." : "");
}

Section costliest_section(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                          std::span<const double> losses) {
  const Structure& structure = structure_of(model);
  const Noun noun = structure.traits().example;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (losses[i] > 0) order.push_back(i);
  const auto count = static_cast<std::ptrdiff_t>(std::min(order.size(), costliest));
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](std::size_t a, std::size_t b) {
    return losses[a] != losses[b] ? losses[a] > losses[b] : a < b;
  });
  order.resize(static_cast<std::size_t>(count));
  Section out{fmt::format("The costliest {}", noun.many), {}};
  if (order.empty()) {
    out.exhibits.emplace_back(Words{fmt::format("None of the {} cost anything.", noun.many)});
    return out;
  }
  const bool ids = !examples.ids.empty(), lines = !ids && !examples.line.empty();
  Table table{"", {{ids ? "id" : lines ? "line" : noun.one, !ids}, {"truth"}, {"prediction"}, {"cost", true}}, {}, {}};
  std::vector<std::string> scores;
  for (const std::size_t i : order) {
    const std::size_t first = examples.data.labels.begin(i), size = examples.data.labels.end(i) - first;
    const auto truth = std::span(examples.data.label).subspan(first, size), own = predicted.subspan(first, size);
    table.rows.push_back({ids ? examples.ids[i] : std::to_string(lines ? examples.line[i] : i + 1),
                          structure.answer_text(model, truth, own, true),
                          structure.answer_text(model, own, truth, false), shown_number(losses[i])});
    scores.push_back(scores_text(model, subset(examples.data, std::span(&i, 1))));
  }
  if (!scores[0].empty()) {
    table.columns.push_back({"scores"});
    for (std::size_t r = 0; r < scores.size(); ++r) table.rows[r].push_back(scores[r]);
  }
  if (structure.traits().several_parts)
    table.note = "Where an example has many labels, those that differ are shown, by their places in it.";
  out.exhibits.emplace_back(std::move(table));
  return out;
}

// Of what was predicted with a probability of about p, how much is true. Of outcomes that exclude each other the most
// probable one counts.
Section reliability_section(const Model& model, const Examples& examples, const PageRequest& request) {
  constexpr std::size_t bins = 10, most_examples = 20'000, most_probabilities = 4'000'000;
  const Structure& structure = structure_of(model);
  const std::size_t n = examples.data.examples();
  const std::size_t wide = std::max<std::size_t>(1, structure.label_count(model));
  const std::size_t parts = std::max<std::size_t>(1, examples.data.label.size() / std::max<std::size_t>(n, 1));
  const std::size_t most = std::clamp<std::size_t>(most_probabilities / (wide * parts), 100, most_examples);
  const std::size_t step = (n + most - 1) / most;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < n; i += std::max<std::size_t>(step, 1)) chosen.push_back(i);
  const Dataset data = subset(examples.data, chosen);
  const std::vector<double> p = structure.predictor(model)->marginals(data, nullptr, request.context);
  std::vector<double> count(bins), sum(bins), hits(bins);
  std::size_t at = 0;
  for (std::size_t i = 0; i < data.examples(); ++i) {
    const std::size_t first = data.labels.begin(i), size = data.labels.end(i) - first;
    const std::size_t outcomes = structure.outcomes(model, size);
    for (std::size_t m = 0; m < size; ++m, at += outcomes) {
      const auto own = std::span(p).subspan(at, outcomes);
      const auto best = std::max_element(own.begin(), own.end());
      const std::int32_t truth = data.label[first + m];
      const bool right = outcomes == 1 ? truth == 1 : truth == static_cast<std::int32_t>(best - own.begin());
      const auto bin = std::min(bins - 1, static_cast<std::size_t>(std::max(0.0, *best) * static_cast<double>(bins)));
      ++count[bin];
      sum[bin] += *best;
      hits[bin] += right;
    }
  }
  Series line;
  line.name = "observed";
  Table table{"", {{"probability", false}, {"count", true}, {"mean probability", true}, {"true", true}}, {}, {}};
  double error = 0, all = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    if (count[b] == 0) continue;
    const double mean = sum[b] / count[b], rate = hits[b] / count[b];
    // The interval of Wilson, at 95%: good for few, and for rates at 0 and 1.
    constexpr double z = 1.96;
    const double centre = (rate + z * z / (2 * count[b])) / (1 + z * z / count[b]);
    const double half =
        z / (1 + z * z / count[b]) * std::sqrt(rate * (1 - rate) / count[b] + z * z / (4 * count[b] * count[b]));
    line.x.push_back(mean);
    line.y.push_back(rate);
    line.low.push_back(std::max(0.0, centre - half));
    line.high.push_back(std::min(1.0, centre + half));
    table.rows.push_back(
        {fmt::format("{:.1f} to {:.1f}", static_cast<double>(b) / bins, static_cast<double>(b + 1) / bins),
         fmt::format("{:.0f}", count[b]), fmt::format("{:.3f}", mean), fmt::format("{:.3f}", rate)});
    error += std::abs(sum[b] - hits[b]);
    all += count[b];
  }
  Section out{"Are its probabilities right?", {}};
  out.exhibits.emplace_back(Words{
      fmt::format("In the mean a probability is off by {:.3f} (expected calibration error over {} bins{}). On the "
                  "line, what is said "
                  "with a probability of 0.8 is true in 80% of the cases; below it, the model is too sure of itself.",
                  error / all, bins, chosen.size() < n ? fmt::format(", on {} of the {}", chosen.size(), n) : "")});
  out.exhibits.emplace_back(Chart{"Reliability",
                                  structure.outcomes(model, parts) == 1 ? "probability that a label is on"
                                                                        : "probability of the most probable label",
                                  "share that is true",
                                  false,
                                  false,
                                  true,
                                  {std::move(line)},
                                  {}});
  out.exhibits.emplace_back(std::move(table));
  return out;
}

// How often every answer was given, where nobody knows what is right.
Section answers_section(const Model& model, std::span<const std::int32_t> predicted) {
  const std::vector<std::string>& names = model.predictions();
  std::map<std::int32_t, std::uint64_t> count;
  for (const std::int32_t y : predicted) ++count[y];
  Section out{"What it predicts", {Words{"The data have no labels, so nobody can say what the predictions cost."}}};
  if (!structure_of(model).traits().labels_are_classes) return out;
  Bars bars{"How often every label is predicted", "share of the predictions", {}, {}};
  for (const auto& [label, found] : count)
    if (bars.bars.size() < 40 && static_cast<std::size_t>(label) < names.size())
      bars.bars.push_back(
          {names[static_cast<std::size_t>(label)], static_cast<double>(found) / static_cast<double>(predicted.size())});
  out.exhibits.emplace_back(std::move(bars));
  return out;
}

Section metrics_section(const Evaluation& evaluation) {
  Table table{"All metrics of the task", {{"metric"}, {"value", true}}, {}, {}};
  for (const auto& [name, value] : evaluation.metrics) table.rows.push_back({name, shown_number(value)});
  if (evaluation.unseen > 0)
    table.note = fmt::format("{} had a label that was never seen in training; each counts as the largest cost.",
                             counted(evaluation.unseen, "prediction"));
  return {"", {std::move(table)}};
}

}  // namespace

Section certificate_section(const Model& model, const std::vector<Progress>& log) {
  const Certificate& certificate = model.certificate();
  Section out{"How well it is trained", {}};
  out.exhibits.emplace_back(Words{fmt::format(
      "Training lowers one number: the mean surrogate loss plus a charge for large weights. It is proved that the "
      "lowest "
      "value there is lies between {:.6g} and {:.6g}, and this model is at {:.6g}. So training for longer could lower "
      "it by at most {:.3g}%. {}",
      certificate.dual, certificate.primal, certificate.primal, 100 * certificate.relative_gap(),
      certificate.converged
          ? fmt::format("That is within the tolerance of {:.3g}% that was asked for.", 100 * model.common().tol)
          : fmt::format("That is more than the tolerance of {:.3g}% that was asked for: training was stopped early.",
                        100 * model.common().tol))});
  if (log.empty()) return out;
  Series best{"this far", {}, {}}, bound{"cannot be lower", {}, {}}, gap{"relative gap", {}, {}};
  for (const Progress& step : log) {
    best.x.push_back(step.epoch);
    best.y.push_back(step.primal);
    bound.x.push_back(step.epoch);
    bound.y.push_back(step.dual);
    gap.x.push_back(step.seconds);
    gap.y.push_back(step.relative_gap);
  }
  out.exhibits.emplace_back(Chart{"The interval that holds the optimum, by passes over the data",
                                  "passes",
                                  "objective",
                                  false,
                                  false,
                                  false,
                                  {std::move(best), std::move(bound)},
                                  {}});
  out.exhibits.emplace_back(
      Chart{"The relative gap, by seconds", "seconds", "relative gap", false, true, false, {std::move(gap)}, {}});
  return out;
}

Section weight_section(const Model& model) {
  constexpr std::size_t most_outputs = 25, most_features = 6;
  const Structure& structure = structure_of(model);
  Section out{"What it goes by", {}};
  if (structure.features(model).kind != FeatureKind::linear) {
    out.exhibits.emplace_back(
        Words{fmt::format("Its weights are not those of single features: {}.", structure.features_text(model))});
    return out;
  }
  const WeightList weights = structure.weights(model);
  std::map<std::string, std::vector<const WeightEntry*>> by_output;
  std::vector<std::string> order;
  std::map<std::size_t, std::string> names;
  for (const WeightEntry& entry : weights.entries) {
    auto [at, fresh] = names.try_emplace(entry.output);
    // Names of what lies behind the features (edges, say) may depend on the feature.
    if (fresh) at->second = weights.output_name(entry);
    auto [own, first] = by_output.try_emplace(at->second);
    if (first) order.push_back(at->second);
    own->second.push_back(&entry);
  }
  Table table{"The largest weights", {{"for"}, {"raised most by"}, {"lowered most by"}}, {}, {}};
  const auto list = [&](std::vector<const WeightEntry*>& entries, double sign) {
    const auto count = static_cast<std::ptrdiff_t>(std::min(entries.size(), most_features));
    std::partial_sort(entries.begin(), entries.begin() + count, entries.end(),
                      [&](const WeightEntry* a, const WeightEntry* b) {
                        return a->value != b->value ? sign * a->value > sign * b->value : a->feature < b->feature;
                      });
    std::string text;
    for (std::ptrdiff_t e = 0; e < count; ++e)
      if (const WeightEntry& entry = *entries[static_cast<std::size_t>(e)]; sign * entry.value > 0)
        text += fmt::format("{}{} {:+.3g}", text.empty() ? "" : ", ", cut(weights.feature_name(entry.feature), 60),
                            entry.value);
    return text;
  };
  for (std::size_t o = 0; o < std::min(order.size(), most_outputs); ++o) {
    auto& entries = by_output[order[o]];
    const std::string raised = list(entries, 1), lowered = list(entries, -1);
    table.rows.push_back({order[o], raised, lowered});
  }
  if (!structure.standardizer(model).mean.empty())
    table.note = "Of features that were standardised: what one standard deviation adds to a score. ";
  if (order.size() > most_outputs) table.note += fmt::format("The first {} of {}.", most_outputs, order.size());
  if (table.rows.empty())
    out.exhibits.emplace_back(Words{"All weights are zero."});
  else
    out.exhibits.emplace_back(std::move(table));
  return out;
}

Section origin_section(const Model* model, const PageRequest& request) {
  Table table{"", {{"what"}, {"value"}}, {}, {}};
  for (const auto& [name, value] : request.origin) table.rows.push_back({name, value});
  table.rows.push_back({"m4n", M4N_VERSION});
  if (model != nullptr)
    for (const auto& [name, value] : info_lines(*model)) table.rows.push_back({name, value});
  return {"Where this comes from", {std::move(table)}};
}

Page model_page(const Model& model, const Examples* examples, const PageRequest& request) {
  const Structure& structure = structure_of(model);
  const StructureTraits& traits = structure.traits();
  Page page;
  page.title = request.model.empty() ? fmt::format("A model of {}", traits.summary) : request.model;
  page.lead = fmt::format(
      "It predicts {} ({}, {}), by {} from {}.", traits.summary, structure.labels_text(structure.label_count(model)),
      fmt::format("loss {}", model.loss_name()), to_string(model.surrogate()), counted(model.d(), "feature"));
  std::vector<Section> closing;
  if (examples == nullptr) {
    page.lead += fmt::format(
        " On its training data ({}) a prediction costs {} in the mean; on others it will cost "
        "more. Labelled data would show how much.",
        structure.examples_text(model.common().n, model.common().parts), shown_number(model.common().train_loss));
  } else {
    const auto predicted = structure.predictor(model)->predict(examples->data, examples, request.context);
    if (!are_labelled(*examples, request)) {
      page.lead += fmt::format(" {} has {} without labels.", request.data,
                               counted(examples->data.examples(), traits.example.one, traits.example.many));
      page.sections.push_back(answers_section(model, predicted));
    } else {
      const std::unique_ptr<Evaluator> evaluator = structure.evaluator(model, *examples, predicted);
      const Evaluation evaluation = evaluator->evaluate();
      const std::vector<double> losses = evaluator->losses();
      CostFindings findings = cost_findings(model, *examples, losses, request);
      page.lead += " " + findings.sentence;
      for (Exhibit& table : metrics_section(evaluation).exhibits) findings.cost.exhibits.push_back(std::move(table));
      page.sections.push_back(std::move(findings.cost));
      std::vector<Section> answers = answer_sections(model, *examples, predicted, request);
      if (!answers.empty()) page.sections.push_back(std::move(answers.front()));
      if (auto own = structure.exhibits(Judged{model, *examples, predicted, losses}); !own.empty())
        closing.push_back({"A closer look", std::move(own)});
      if (request.examples) closing.push_back(costliest_section(model, *examples, predicted, losses));
      if (defines_probabilities(model.surrogate(), model.common().smoothing))
        closing.push_back(reliability_section(model, *examples, request));
      for (std::size_t s = 1; s < answers.size(); ++s) closing.push_back(std::move(answers[s]));
    }
  }
  page.sections.push_back(certificate_section(model, request.log));
  for (Section& section : closing) page.sections.push_back(std::move(section));
  Section weights = weight_section(model);
  for (Exhibit& own : structure.exhibits(model)) weights.exhibits.push_back(std::move(own));
  page.sections.push_back(std::move(weights));
  page.sections.push_back(origin_section(&model, request));
  return page;
}

}  // namespace m4n::detail
