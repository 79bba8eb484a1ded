// What reports show of sets of labels: what every label's answers cost, and which labels are wrong together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "structures/label_sets/structure.h"

namespace m4n::detail {
namespace {

// Kinds of truths and answers: label 1 off, label 1 on, label 2 off, ..; behind them label 1 unsure, label 2 unsure, ..
std::size_t kind_of_answer(std::size_t label, std::int32_t answer, std::size_t labels) {
  return answer == LabelCosts::not_sure ? 2 * labels + label : 2 * label + static_cast<std::size_t>(answer);
}

}  // namespace

AnswerKinds MarkStructure::answer_kinds(const Model& model) const {
  AnswerKinds out;
  out.any_pair = false;
  for (const std::string& label : model.classes())
    for (const std::int32_t value : {LabelCosts::off, LabelCosts::on})
      out.truths.push_back(fmt::format("{}: {}", label, LabelCosts::answers[static_cast<std::size_t>(value)]));
  out.answers = out.truths;
  if (remembered_costs(model.cost(), model.classes()).has_unsure())
    for (const std::string& label : model.classes())
      out.answers.push_back(fmt::format("{}: {}", label, LabelCosts::answers[LabelCosts::not_sure]));
  out.declines.resize(out.answers.size());
  std::fill(out.declines.begin() + static_cast<std::ptrdiff_t>(out.truths.size()), out.declines.end(), true);
  return out;
}

void MarkStructure::each_answer(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                                const AnswerVisitor& visit) const {
  const LabelCosts costs = remembered_costs(model.cost(), model.classes());
  const std::size_t k = model.k();
  for (std::size_t e = 0; e < predicted.size(); ++e) {
    const std::size_t j = e % k;
    const std::int32_t t = examples.data.label[e], y = predicted[e];
    visit(e / k, kind_of_answer(j, t, k), kind_of_answer(j, y, k), costs.of(j, t, y) / static_cast<double>(k));
  }
}

std::vector<std::int32_t> MarkStructure::best_constant(const Model& model, const Examples& examples) const {
  const LabelCosts costs = remembered_costs(model.cost(), model.classes());
  const std::size_t k = model.k();
  std::vector<double> on(k), all(k);
  std::vector<std::int32_t> out(examples.data.label.size());
  for (std::size_t e = 0; e < out.size(); ++e) {
    const double weight = examples.data.weight.empty() ? 1 : examples.data.weight[e / k];
    all[e % k] += weight;
    if (examples.data.label[e] == LabelCosts::on) on[e % k] += weight;
  }
  for (std::size_t j = 0; j < k; ++j) {
    const double as_off = on[j] * costs.miss(j), as_on = (all[j] - on[j]) * costs.false_alarm(j);
    std::int32_t best = as_on < as_off ? LabelCosts::on : LabelCosts::off;
    if (costs.has_unsure() && all[j] * costs.unsure(j) < std::min(as_on, as_off)) best = LabelCosts::not_sure;
    for (std::size_t e = j; e < out.size(); e += k) out[e] = best;
  }
  return out;
}

std::string MarkStructure::answer_text(const Model& model, std::span<const std::int32_t> labels,
                                       std::span<const std::int32_t>, bool) const {
  constexpr std::size_t most = 20;
  std::string out;
  std::size_t found = 0;
  for (std::size_t j = 0; j < labels.size(); ++j) {
    if (labels[j] == LabelCosts::off) continue;
    if (++found <= most)
      out += fmt::format("{}{}{}", out.empty() ? "" : ", ", model.classes()[j],
                         labels[j] == LabelCosts::not_sure ? "?" : "");
  }
  if (found > most) out += fmt::format(" and {} more", found - most);
  return out.empty() ? "(none)" : out;
}

std::vector<Exhibit> MarkStructure::exhibits(const Judged& judged) const {
  constexpr std::size_t most_labels = 25;
  const std::size_t k = judged.model.k(), n = judged.predicted.size() / k;
  const std::vector<std::string>& names = judged.model.classes();
  std::vector<std::pair<std::string, FoundCounts>> counts;
  for (const std::string& name : names) counts.emplace_back(name, FoundCounts{});
  std::vector<std::uint64_t> wrong(k);
  const auto is_wrong = [&](std::size_t e) { return judged.predicted[e] != judged.examples.data.label[e]; };
  for (std::size_t e = 0; e < judged.predicted.size(); ++e) {
    FoundCounts& own = counts[e % k].second;
    const bool on = judged.examples.data.label[e] == LabelCosts::on, guessed = judged.predicted[e] == LabelCosts::on;
    own.actual += on;
    own.predicted += guessed;
    own.found += on && guessed;
    wrong[e % k] += is_wrong(e);
  }
  std::vector<Exhibit> out = found_exhibits("How well every label is found", "label", counts);
  // The labels that are wrong most often, and in how many examples two of them are wrong together.
  std::vector<std::size_t> shown_labels(k);
  for (std::size_t j = 0; j < k; ++j) shown_labels[j] = j;
  std::stable_sort(shown_labels.begin(), shown_labels.end(), [&](auto a, auto b) { return wrong[a] > wrong[b]; });
  shown_labels.resize(std::min(k, most_labels));
  std::sort(shown_labels.begin(), shown_labels.end());
  const std::size_t width = shown_labels.size();
  if (width < 2) return out;
  HeatMap together{"Labels that are wrong together", "label", "label", {}, {}, std::vector<double>(width * width), {}};
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < n; ++i) {
    at.clear();
    for (std::size_t c = 0; c < width; ++c)
      if (is_wrong(i * k + shown_labels[c])) at.push_back(c);
    for (const std::size_t a : at)
      for (const std::size_t b : at) ++together.values[a * width + b];
  }
  for (const std::size_t j : shown_labels) together.rows.push_back(names[j]);
  together.columns = together.rows;
  together.note =
      "The number of examples in which both are wrong; on the diagonal, in which the label is." +
      (width < k ? fmt::format(" The {} of {} labels that are wrong most often.", width, k) : std::string());
  out.emplace_back(std::move(together));
  return out;
}

}  // namespace m4n::detail
