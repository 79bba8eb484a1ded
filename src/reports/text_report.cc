// The reports of train, info and eval as text for people.
#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/interval.h"
#include "core/message.h"
#include "model/model_file.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string aligned(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

std::string short_number(double value) { return fmt::format("{:.6g}", value); }

std::string certificate_text(const Certificate& certificate) {
  return fmt::format("{:.3g} ({}); the optimum lies in [{:.6g}, {:.6g}]", certificate.relative_gap(),
                     certificate.converged ? "converged" : "NOT converged", certificate.dual, certificate.primal);
}

std::string surrogate_text(const std::string& name, double smoothing) {
  return smoothing > 0 ? fmt::format("{}, smoothing {:.6g}", name, smoothing) : name;
}

std::string epochs_text(int epochs) { return counted(static_cast<std::uint64_t>(epochs), "epoch"); }

std::string confusion_text(const Evaluation& evaluation, const Model& model) {
  const std::vector<std::string>&classes = model.classes(), &predictions = model.predictions();
  const std::size_t columns = predictions.size();
  const std::string corner = "true \\ predicted";
  std::size_t first = corner.size();
  for (const std::string& name : classes) first = std::max(first, name.size());
  std::string text = fmt::format("{:<{}}", corner, first);
  std::vector<std::size_t> width(columns);
  for (std::size_t p = 0; p < columns; ++p) {
    width[p] = predictions[p].size();
    for (std::size_t t = 0; t < classes.size(); ++t)
      width[p] = std::max(width[p], fmt::formatted_size("{}", evaluation.confusion[t * columns + p]));
    text += fmt::format("  {:>{}}", predictions[p], width[p]);
  }
  for (std::size_t t = 0; t < classes.size(); ++t) {
    text += fmt::format("\n{:<{}}", classes[t], first);
    for (std::size_t p = 0; p < columns; ++p)
      text += fmt::format("  {:>{}}", evaluation.confusion[t * columns + p], width[p]);
  }
  return text + "\n";
}

// "0.25      [0.2, 0.3125]": intervals behind the values of the lines from `first` on, in a column of their own.
void add_intervals(Lines& lines, std::size_t first, const Bootstrap& bootstrap) {
  std::vector<Interval> intervals = {bootstrap.loss};
  for (const auto& [name, interval] : bootstrap.metrics) intervals.push_back(interval);
  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, value.size());
  for (std::size_t i = 0; i < intervals.size() && first + i < lines.size(); ++i) {
    std::string& value = lines[first + i].second;
    value =
        fmt::format("{:<{}}  [{}, {}]", value, width, short_number(intervals[i].low), short_number(intervals[i].high));
  }
}

// A table of precision, recall and F1; nothing where there is nothing to count.
std::string found_text(const char* what, const std::vector<std::pair<std::string, FoundCounts>>& counts) {
  if (counts.empty()) return {};
  std::size_t width = std::string_view(what).size();
  for (const auto& [name, found] : counts) width = std::max(width, name.size());
  std::string text = fmt::format("\n{:<{}}  precision  recall      F1     true  predicted\n", what, width);
  for (const auto& [name, found] : counts)
    text += fmt::format("{:<{}}  {:>9.4f}  {:>6.4f}  {:>6.4f}  {:>7}  {:>9}\n", name, width, found.precision(),
                        found.recall(), found.f1(), found.actual, found.predicted);
  return text;
}

}  // namespace

std::string train_text(const TrainReport& report) {
  const Structure& structure = structure_named(report.task);
  Lines lines = {
      {"task", fmt::format("{}, loss {}", report.task, report.loss)},
      {"surrogate", surrogate_text(report.surrogate, report.smoothing) + ", decoded by " + report.decode},
      {"data", fmt::format("{}, {} ({}), {}", structure.examples_text(report.n, report.parts),
                           counted(report.d, "feature"), report.features, structure.labels_text(report.k))},
      {"lambda", short_number(report.lambda)},
      {"solver", fmt::format("{}, {}, {}, {:.3g} s ({:.3g} s in all)", report.solver, epochs_text(report.epochs),
                             counted(report.oracle_calls, "oracle call"), report.seconds, report.seconds_total)},
      {"relative gap", certificate_text(report.certificate)},
      {"train loss", short_number(report.train_loss)}};
  if (report.interrupted) lines.emplace_back("interrupted", "yes; this is the best solution found until then");
  return aligned(lines);
}

Lines info_lines(const Model& model) {
  const Structure& structure = structure_of(model);
  const FeatureSummary features = structure.features(model);
  const ModelCommon& common = model.common();
  Lines lines = {
      {"format version", std::to_string(model_format_version)},
      {"task", fmt::format("{}, loss {}", common.task, common.loss_name)},
      {"surrogate", surrogate_text(to_string(common.surrogate), common.smoothing)},
      {"decode", to_string(common.decode)},
      {"trained on", fmt::format("{}, {}, {}", structure.examples_text(common.n, common.parts),
                                 counted(common.d, common.sparse ? "sparse feature" : "dense feature"),
                                 structure.labels_text(structure.label_count(model)))},
      {"features", fmt::format("{}, {}, {}", structure.features_text(model), features.bias ? "with bias" : "no bias",
                               features.standardized ? "standardised" : "as they are")},
      {"lambda", short_number(common.lambda)},
      {"solver", fmt::format("{}, {}, {}, seed {}, tolerance {:.6g}", common.solver, epochs_text(common.epochs),
                             counted(common.oracle_calls, "oracle call"), common.seed, common.tol)},
      {"relative gap", certificate_text(common.certificate)},
      {"train loss", short_number(common.train_loss)},
      {"norm squared", short_number(common.norm_squared)},
  };
  if (!common.classes.empty()) lines.emplace_back(structure.traits().label.many, abridged(common.classes));
  if (!common.predictions.empty()) lines.emplace_back("predictions", abridged(common.predictions));
  const Lines own = structure.description(model);
  lines.insert(lines.end(), own.begin(), own.end());
  if (common.interrupted) lines.emplace_back("interrupted", "yes; this is the best solution found until then");
  return lines;
}

std::string info_text(const Model& model) { return aligned(info_lines(model)); }

std::string eval_text(const Evaluation& evaluation, const Model& model, const Bootstrap* bootstrap) {
  constexpr std::size_t most_classes = 30;
  const StructureTraits& traits = structure_of(model).traits();
  const bool many = evaluation.parts > 0;  // labels per example: a table of labels, no confusion matrix
  Lines lines = {{many ? traits.example.many : "examples", std::to_string(evaluation.n)}};
  if (many) lines.emplace_back(traits.part.many, std::to_string(evaluation.parts));
  const std::size_t first = lines.size();
  lines.emplace_back(fmt::format("loss ({})", model.loss_name()), short_number(evaluation.loss));
  for (const auto& [name, value] : evaluation.metrics) lines.emplace_back(name, short_number(value));
  const bool intervals = bootstrap != nullptr && bootstrap->loss.known();
  if (intervals) add_intervals(lines, first, *bootstrap);
  std::string text = aligned(lines);
  if (intervals)
    text += fmt::format("[low, high]: the middle {:.0f}% of the values on {} resamples of the examples (seed {})\n",
                        100 * Bootstrap::confidence, bootstrap->replicates, bootstrap->seed);
  else if (bootstrap != nullptr)
    text += fmt::format("no intervals: {}\n", one_example_has_no_interval);
  text += found_text("label", evaluation.labels) + found_text("chunk", evaluation.chunks);
  const std::size_t k = model.k(), width = model.predictions().size();
  if (evaluation.confusion.empty() || evaluation.confusion.size() != k * width || many) return text;
  text += width <= most_classes
              ? fmt::format("\n{}", confusion_text(evaluation, model))
              : fmt::format("\nthe confusion matrix of {} classes is too wide here; --json has it\n", k);
  if (evaluation.unseen > 0)
    text += fmt::format("{} of the {} with labels unseen in training: {} not in the table\n", evaluation.unseen,
                        counted(evaluation.n, "example"), evaluation.unseen == 1 ? "it is" : "they are");
  return text;
}

}  // namespace m4n::detail
