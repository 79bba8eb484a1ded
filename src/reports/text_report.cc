// See text_report.h.
#include "reports/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/enum_names.h"
#include "core/wording.h"
#include "model/model_file.h"
#include "reports/task_words.h"
#include "structures/chains/input.h"

namespace m4n {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string aligned(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, width, value);
  return text;
}

std::string rounded(double value) { return fmt::format("{:.6g}", value); }

std::string certificate_text(const Certificate& certificate) {
  return fmt::format("{:.3g} ({}); the optimum lies in [{:.6g}, {:.6g}]", certificate.relative_gap(),
                     certificate.converged ? "converged" : "NOT converged", certificate.dual, certificate.primal);
}

std::string surrogate_text(const std::string& name, double smoothing) {
  return smoothing > 0 ? fmt::format("{}, smoothing {:.6g}", name, smoothing) : name;
}

std::string epochs_text(int epochs) { return counted(static_cast<std::uint64_t>(epochs), "epoch"); }

// The first few of a long list.
template <class Entry>
std::string abridged(const std::vector<Entry>& list) {
  constexpr std::size_t most = 30;
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most); ++i) text += fmt::format("{}{}", i > 0 ? ", " : "", list[i]);
  if (list.size() > most) text += ", ...";
  return text;
}

std::string confusion_text(const Evaluation& evaluation, const std::vector<std::string>& classes) {
  const std::size_t k = classes.size();
  const std::string corner = "true \\ predicted";
  std::size_t first = corner.size();
  for (const std::string& name : classes) first = std::max(first, name.size());
  std::string text = fmt::format("{:<{}}", corner, first);
  std::vector<std::size_t> width(k);
  for (std::size_t p = 0; p < k; ++p) {
    width[p] = classes[p].size();
    for (std::size_t t = 0; t < k; ++t)
      width[p] = std::max(width[p], fmt::formatted_size("{}", evaluation.confusion[t * k + p]));
    text += fmt::format("  {:>{}}", classes[p], width[p]);
  }
  for (std::size_t t = 0; t < k; ++t) {
    text += fmt::format("\n{:<{}}", classes[t], first);
    for (std::size_t p = 0; p < k; ++p) text += fmt::format("  {:>{}}", evaluation.confusion[t * k + p], width[p]);
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
    value = fmt::format("{:<{}}  [{}, {}]", value, width, rounded(intervals[i].low), rounded(intervals[i].high));
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

std::string input_text(const SequenceInput& input, std::size_t d) {
  if (input.format == Format::ocr)
    return input.grid
               ? fmt::format("pixels of {} x {} and products of neighbours", input.grid->height, input.grid->width)
               : counted(d, "pixel");
  const int bits = input.dictionary.hash_bits();
  const std::string kept = bits > 0 ? fmt::format("hashed to {} bits", bits) : "in a dictionary";
  return input.format == Format::conll
             ? fmt::format("{} a token by a template from {}, {}", counted(input.attributes.attributes(), "attribute"),
                           counted(input.feature_columns, "column"), kept)
             : "attributes of CRFsuite's format, " + kept;
}

// "rbf, gamma 0.05, 312 points" where there is a feature map.
std::string features_text(const Model& model) {
  if (model.input) return input_text(*model.input, model.d);
  const FeatureMap& map = model.map;
  std::string kind = to_string(map.kind);
  if (map.kind == FeatureKind::linear) return kind;
  const std::string degree = map.kernel.kind == KernelKind::poly ? fmt::format(", degree {}", map.kernel.degree) : "";
  return fmt::format("{}, gamma {}{}, {}", kind, rounded(map.kernel.gamma), degree, counted(map.points.rows, "point"));
}

// "y1-y2, y1-y4", or of graphs the features and types they may have.
std::string edges_text(const Model& model) {
  if (model.task == Task::multilabel) {
    std::vector<std::string> pairs;
    for (const GraphEdge& edge : model.graph.edges)
      pairs.push_back(fmt::format("{}-{}", model.classes[edge.u], model.classes[edge.v]));
    return abridged(pairs);
  }
  std::string out = "with " + counted(model.graph.features, "feature");
  if (!model.graph.edge_types.empty()) out += "; types " + abridged(model.graph.edge_types);
  if (!model.graph.node_types.empty()) out += "; node types " + abridged(model.graph.node_types);
  return out;
}

}  // namespace

std::string train_text(const TrainReport& report) {
  const Task task = find_by_name<Task>(report.task).value_or(Task::multiclass);
  Lines lines = {
      {"task", fmt::format("{}, loss {}", report.task, report.loss)},
      {"surrogate", surrogate_text(report.surrogate, report.smoothing) + ", decoded by " + report.decode},
      {"data", fmt::format("{}, {} ({}), {}", examples_text(task, report.n, report.tokens),
                           counted(report.d, "feature"), report.features, outputs_text(task, report.k))},
      {"lambda", rounded(report.lambda)},
      {"solver", fmt::format("{}, {}, {}, {:.3g} s ({:.3g} s in all)", report.solver, epochs_text(report.epochs),
                             counted(report.oracle_calls, "oracle call"), report.seconds, report.seconds_total)},
      {"relative gap", certificate_text(report.certificate)},
      {"train loss", rounded(report.train_loss)}};
  if (report.interrupted) lines.emplace_back("interrupted", "yes; this is the best solution found until then");
  return aligned(lines);
}

std::string info_text(const Model& model) {
  Lines lines = {
      {"format version", std::to_string(model_format_version)},
      {"task", fmt::format("{}, loss {}", to_string(model.task), model.loss_name)},
      {"surrogate", surrogate_text(to_string(model.surrogate), model.smoothing)},
      {"decode", to_string(model.decode)},
      {"trained on", fmt::format("{}, {}, {}", examples_text(model.task, model.n, model.tokens),
                                 counted(model.d, model.sparse ? "sparse feature" : "dense feature"),
                                 outputs_text(model.task, model.task == Task::matching ? model.points : model.k()))},
      {"features", fmt::format("{}, {}, {}", features_text(model), model.bias ? "with bias" : "no bias",
                               model.standardizer.inverse_scale.empty() ? "as they are" : "standardised")},
      {"lambda", rounded(model.lambda)},
      {"solver", fmt::format("{}, {}, {}, seed {}, tolerance {:.6g}", model.solver, epochs_text(model.epochs),
                             counted(model.oracle_calls, "oracle call"), model.seed, model.tol)},
      {"relative gap", certificate_text(model.certificate)},
      {"train loss", rounded(model.train_loss)},
      {"norm squared", rounded(model.norm_squared)},
  };
  if (!model.classes.empty()) lines.emplace_back(outputs_word(model.task), abridged(model.classes));
  if (!model.graph.weights.empty()) lines.emplace_back("edges", edges_text(model));
  if (model.interrupted) lines.emplace_back("interrupted", "yes; this is the best solution found until then");
  if (!model.bins.cuts.empty())
    lines.emplace_back("cuts", fmt::format("{} ({})", abridged(model.bins.cuts), to_string(model.bins.rule)));
  return aligned(lines);
}

std::string eval_text(const Evaluation& evaluation, const Model& model, const Bootstrap* bootstrap) {
  constexpr std::size_t most_classes = 30;
  const bool sequences = model.task == Task::sequence;
  const bool graphs = model.task == Task::graph;
  Lines lines = {{sequences ? "sequences" : graphs ? "graphs" : "examples", std::to_string(evaluation.n)}};
  if (sequences) lines.emplace_back("tokens", std::to_string(evaluation.tokens));
  if (graphs) lines.emplace_back("nodes", std::to_string(evaluation.nodes));
  const std::size_t first = lines.size();
  lines.emplace_back(fmt::format("loss ({})", model.loss_name), rounded(evaluation.loss));
  for (const auto& [name, value] : evaluation.metrics) lines.emplace_back(name, rounded(value));
  if (bootstrap != nullptr) add_intervals(lines, first, *bootstrap);
  std::string text = aligned(lines);
  if (bootstrap != nullptr)
    text += fmt::format("[low, high]: the middle {:.0f}% of the values on {} resamples of the examples (seed {})\n",
                        100 * Bootstrap::confidence, bootstrap->replicates, bootstrap->seed);
  text += found_text("label", evaluation.labels) + found_text("chunk", evaluation.chunks);
  const std::size_t k = model.k();
  if (evaluation.confusion.empty() || evaluation.confusion.size() != k * k || sequences || graphs) return text;
  text += k <= most_classes ? fmt::format("\n{}", confusion_text(evaluation, model.classes))
                            : fmt::format("\nthe confusion matrix of {} classes is too wide here; --json has it\n", k);
  if (evaluation.unseen > 0)
    text += fmt::format("{} of the {} with labels unseen in training: {} not in the table\n", evaluation.unseen,
                        counted(evaluation.n, "example"), evaluation.unseen == 1 ? "it is" : "they are");
  return text;
}

}  // namespace m4n
