// Implements Structure for sets of labels.
#include "structures/label_sets/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/csv.h"
#include "core/message.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/structure.h"
#include "structures/label_sets/synthetic.h"
#include "structures/label_sets/training.h"

namespace m4n::detail {
namespace {

class LabelSets : public MarkStructure {
 public:
  using MarkStructure::MarkStructure;

  void check_options(const TrainOptions& o) const override {
    const bool joined = has_edges(o);
    if (joined) refuse_quadratic(o, edges_change_nothing);
    if (o.oracle == OracleKind::spmp || o.solver == SolverKind::gbcfw)
      throw UsageError(say(
          "--oracle spmp and --solver gbcfw are not for --task {}, whose games are solved exactly. => Leave them out",
          name()));
    if (joined) check_solver(o, "labels that depend on each other", false, false);
    if (!joined && o.solver == SolverKind::atoms)
      throw UsageError(say("--solver atoms is for labels that depend on each other (--edges). => Leave it out"));
  }
  LossSummary loss(const TrainOptions& options, const Dataset& data) const override {
    const LabelCosts costs = chosen_label_costs(options, data.class_names);
    return {loss_name(costs), kept_costs(costs), costs.symmetric(), costs.mean(),
            costs.has_unsure() ? LabelCosts::answers : std::vector<std::string>{}};
  }
  std::vector<std::pair<std::string, std::string>> files(const TrainOptions& o) const override {
    if (o.edges.empty() || o.edges == "none" || o.edges == "tree") return {};
    return {{"edges", o.edges}};
  }
  // "tree", or what a file or a program says.
  std::vector<std::pair<std::string, std::string>> settings(const TrainOptions& o, const Dataset& data) const override {
    if (!has_edges(o)) return {};
    if (o.edges == "tree") return {{"edges", o.edges}};
    std::vector<std::string> out;
    for (const GraphEdge& edge : chosen_edges(o, data))
      out.push_back(fmt::format("{}-{}", data.class_names[edge.u], data.class_names[edge.v]));
    return {{"edges", fmt::format("{}", fmt::join(out, " "))}};
  }

  bool recognises(const RawTable& table, const TrainOptions&) const override {
    return !table.output_names.empty() && table.output_names[0][0] == 'y';
  }

  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                       const Context& context) const override {
    if (has_edges(options, data)) return std::make_unique<JoinedLabelTrainingSet>(std::move(data), options, context);
    return std::make_unique<LabelSetTrainingSet>(std::move(data), options, context);
  }

  std::vector<std::string> kinds() const override { return {"labels"}; }
  void write_part(const Model& model, ModelFileWriter& file) const override;
  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override;
  void check(const Model& model, const std::string& name) const override;

  std::vector<std::string> output_names(const Model& model) const override {
    if (part_of<LabelSetPart>(model).edges.empty()) return model.classes();
    std::vector<std::string> out;
    for (const std::string& label : model.classes())
      for (const char* value : {"0", "1"}) out.push_back(fmt::format("{}_{}", label, value));
    return out;
  }
  std::vector<std::int32_t> decode(const Model& model, std::span<const double> scores, const CostColumns&,
                                   const Context& context) const override {
    const auto& part = part_of<LabelSetPart>(model);
    const LabelCosts costs = remembered_costs(model.cost(), model.classes());
    if (part.edges.empty()) return by_thresholds(scores, label_thresholds(model.surrogate(), model.decode(), costs));
    return decode_joined(joined_predictor(costs, model.decode(), part.edge_weights), scores, model.k(), part.edges,
                         context);
  }
  std::vector<double> marginals(const Model& model, std::span<const double> scores, const CostColumns&,
                                const Context& context) const override;
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override {
    return label_set_evaluator(model, remembered_costs(model.cost(), model.classes()), examples, predicted);
  }

  WeightList weights(const Model& model) const override;
  std::vector<NamedArray> arrays(const Model& model) const override;
  void describe(const Model& model, Json& info) const override;
  std::vector<std::pair<std::string, std::string>> description(const Model& model) const override;
  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    return write_synthetic_labels(request.n, request.seed, sink);
  }
};

void LabelSets::write_part(const Model& model, ModelFileWriter& file) const {
  const auto& part = part_of<LabelSetPart>(model);
  std::vector<double> ends;
  for (const GraphEdge& edge : part.edges)
    ends.insert(ends.end(), {static_cast<double>(edge.u), static_cast<double>(edge.v)});
  file.field("mapped", part.rows.map.kind != FeatureKind::linear);
  file.field("labels", std::uint64_t{model.common().parts});
  file.field("edges", std::uint64_t{part.edges.size()});
  // What graphs have instead (structures/graphs): files of both are of one kind.
  for (const char* count : {"node_types", "edge_types", "edge_features"}) file.field(count, std::uint64_t{0});
  file.own_array("edge_ends", std::move(ends));
  for (const char* names : {"node_type_names", "edge_type_names", "edge_feature_names"})
    file.array(names, std::vector<std::string>{});
  file.array("edge_weights", part.edge_weights);
  if (model.cost().size() > 2 * model.k()) file.array("answers", LabelCosts::answers);
  write_rows(model.common(), part.rows, {}, file);
}

std::shared_ptr<const ModelPart> LabelSets::read_part(ModelFileReader& file, ModelCommon& common) const {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  constexpr auto or_none = ModelFileReader::Length::exact_or_none;
  const std::uint64_t k = common.classes.size();
  auto part = std::make_shared<LabelSetPart>();
  const bool mapped = file.flag("mapped");
  common.parts = static_cast<std::size_t>(file.natural("labels", 0, std::numeric_limits<std::size_t>::max()));
  const std::uint64_t edges = file.natural("edges", 0, most);
  for (const char* count : {"node_types", "edge_types", "edge_features"})
    if (file.natural(count, 0, most) != 0) file.fail("it has types or features of edges, which label sets have not");
  // Numbers of labels are kept as reals, as all numbers of arrays are.
  const auto end_of = [&](double value) {
    if (!(value >= 0 && value < static_cast<double>(k)) || value != std::floor(value))
      file.fail(fmt::format("an edge joins the label {}, but there are {}", value, k));
    return static_cast<std::uint32_t>(value);
  };
  const std::vector<double> ends = file.doubles("edge_ends", 2 * edges);
  for (std::size_t e = 0; e + 1 < ends.size(); e += 2) part->edges.push_back({end_of(ends[e]), end_of(ends[e + 1])});
  for (const char* names : {"node_type_names", "edge_type_names", "edge_feature_names"}) file.strings(names, 0);
  part->edge_weights = file.doubles("edge_weights", product_or_largest(edges, 4));
  const bool unsure = file.has_array("answers");
  if (unsure && file.strings("answers", LabelCosts::answers.size()) != LabelCosts::answers)
    file.fail(fmt::format("the answers to a label are not {}", fmt::join(LabelCosts::answers, ", ")));
  common.cost = file.doubles("cost", (unsure ? 3 : 2) * k, or_none);
  part->rows =
      read_rows(file, common, part->edges.empty() ? common.classes.size() : 2 * common.classes.size(), mapped, nullptr);
  return part;
}

void LabelSets::check(const Model& model, const std::string& name) const {
  const ModelCheck check(name);
  const auto& part = part_of<LabelSetPart>(model);
  const std::size_t k = model.k();
  check.require(model.loss_name() == (model.cost().empty() ? "hamming" : "costs"),
                fmt::format("the loss is '{}'; expected hamming without costs, or costs", model.loss_name()));
  check.require_made([&] { return remembered_costs(model.cost(), model.classes()); });
  check.require(model.surrogate() != SurrogateKind::qs || part.edges.empty(),
                "its surrogate qs is not one of labels with edges");
  check.require_length("edge_weights", part.edge_weights.size(), 4 * part.edges.size());
  check.require_finite("edge_weights", part.edge_weights);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const GraphEdge& edge : part.edges)
    check.require(edge.u < k && edge.v < k && edge.u != edge.v && seen.insert(std::minmax(edge.u, edge.v)).second,
                  "an edge joins labels that are not there, a label with itself, or occurs twice");
  check_rows(model.common(), part.rows, part.edges.empty() ? k : 2 * k, check);
}

std::vector<double> LabelSets::marginals(const Model& model, std::span<const double> scores, const CostColumns&,
                                         const Context& context) const {
  const auto& part = part_of<LabelSetPart>(model);
  const std::size_t k = model.k(), n = scores.size() / (part.edges.empty() ? k : 2 * k);
  std::vector<double> out(n * k);
  if (part.edges.empty()) {
    for (std::size_t e = 0; e < out.size(); ++e) out[e] = 1 / (1 + std::exp(-2 * scores[e]));
    return out;
  }
  const GraphPredictor predictor =
      joined_predictor(remembered_costs(model.cost(), model.classes()), model.decode(), part.edge_weights);
  const GraphStructure structure = shared_edges(part.edges, n);
  const Groups rows(n), nodes(n, k);
  const std::vector<double> both = predictor.marginals(scores, {&rows, &nodes, &structure}, context);
  for (std::size_t e = 0; e < out.size(); ++e) out[e] = both[2 * e + 1];
  return out;
}

// Behind the rows of features, a "feature" by edge, whose class is the two values: 01 for off and on.
WeightList LabelSets::weights(const Model& model) const {
  const auto& part = part_of<LabelSetPart>(model);
  WeightList out = MarkStructure::weights(model);
  const std::size_t first = rows_of_weights(model.common(), part.rows);
  for (std::size_t e = 0; e < part.edge_weights.size(); ++e)
    if (part.edge_weights[e] != 0) out.entries.push_back({first + e / 4, e % 4, part.edge_weights[e]});
  out.feature_name = [=, &model, &part, rows = out.feature_name](std::size_t feature) {
    if (feature < first) return rows(feature);
    const GraphEdge& edge = part.edges[feature - first];
    return fmt::format("(edge {} {})", model.classes()[edge.u], model.classes()[edge.v]);
  };
  out.output_name = [=, rows = out.output_name](const WeightEntry& entry) {
    return entry.feature < first ? rows(entry) : fmt::format("{}{}", entry.output / 2, entry.output % 2);
  };
  return out;
}

std::vector<NamedArray> LabelSets::arrays(const Model& model) const {
  const auto& part = part_of<LabelSetPart>(model);
  std::vector<NamedArray> out = MarkStructure::arrays(model);
  std::vector<double> ends;
  for (const GraphEdge& edge : part.edges)
    ends.insert(ends.end(), {static_cast<double>(edge.u), static_cast<double>(edge.v)});
  out.push_back({"edges", {part.edges.size(), 2}, std::move(ends)});
  out.push_back({"edge_weights", {part.edges.size(), 2, 2}, part.edge_weights});
  return out;
}

void LabelSets::describe(const Model& model, Json& info) const {
  MarkStructure::describe(model, info);
  const auto& part = part_of<LabelSetPart>(model);
  if (part.edges.empty()) return;
  Json edges = Json::array();
  for (const GraphEdge& edge : part.edges)
    edges.push(std::vector<std::string>{model.classes()[edge.u], model.classes()[edge.v]});
  info.set("graph", Json::object({{"edges", std::move(edges)}}));
}

std::vector<std::pair<std::string, std::string>> LabelSets::description(const Model& model) const {
  const auto& part = part_of<LabelSetPart>(model);
  if (part.edges.empty()) return {};
  std::vector<std::string> pairs;
  for (const GraphEdge& edge : part.edges)
    pairs.push_back(fmt::format("{}-{}", model.classes()[edge.u], model.classes()[edge.v]));
  return {{"edges", abridged(pairs)}};
}

}  // namespace

std::vector<std::unique_ptr<Structure>> label_set_structures() {
  StructureTraits traits;
  traits.name = "multilabel";
  traits.summary = "sets of the labels y1, y2, ..";
  traits.label = {"label", "labels"};
  traits.options = {"reject", "features", "weights", "id", "ignore", "edges"};
  traits.formats = {"csv", "libsvm"};
  traits.losses = LossFamily::label_sets;
  traits.usual_loss = "hamming";
  traits.labels_are_classes = false;
  traits.fewest_labels = 1;
  std::vector<std::unique_ptr<Structure>> out;
  out.push_back(std::make_unique<LabelSets>(std::move(traits)));
  return out;
}

void label_outputs(RawTable table, const Model& model, OutputColumns outputs, Examples& out) {
  out.path = table.path;
  out.line = std::move(table.line);
  out.ids = std::move(table.ids);
  out.names = model.classes();
  if (table.output_names.empty()) {
    out.data = unlabelled(table);
    out.data.class_names = model.classes();
    return;
  }
  out.data = with_outputs(table, outputs);
  out.truth = out.data.label;
}

Strata MarkStructure::strata(const Dataset& data) const {
  std::vector<std::int32_t> tag;
  std::vector<std::size_t> ends{0};
  for (std::size_t i = 0; i < data.examples(); ++i) {
    for (std::size_t l = data.labels.begin(i); l < data.labels.end(i); ++l)
      if (data.label[l] == 1) tag.push_back(static_cast<std::int32_t>(l - data.labels.begin(i)));
    ends.push_back(tag.size());
  }
  return {std::move(tag), Groups(std::move(ends))};
}

void MarkStructure::label(RawTable table, const Model& model, Examples& out) const {
  label_outputs(std::move(table), model, OutputColumns::marks, out);
}

void MarkStructure::append_cells(const Model&, std::span<const std::int32_t> labels, std::string& out) const {
  for (std::size_t j = 0; j < labels.size(); ++j) {
    if (j > 0) out += ',';
    out += labels[j] == LabelCosts::not_sure ? LabelCosts::answers[LabelCosts::not_sure] : std::to_string(labels[j]);
  }
}

void MarkStructure::add_json(const Model& model, std::span<const std::int32_t> labels, const PredictionRequest&,
                             Json& out) const {
  out.set("labels", model.classes());
  Json rows = Json::array();
  for (std::size_t first = 0; first < labels.size(); first += model.k()) {
    Json row = Json::array();
    for (const std::int32_t label : labels.subspan(first, model.k()))
      if (label == LabelCosts::not_sure)
        row.push(nullptr);
      else
        row.push(label);
    rows.push(std::move(row));
  }
  out.set("marks", std::move(rows));
}

// One row per example: cost, wrong labels, whole sets, answers unsure (which are wrong, too), then for each label how
// often it is on, predicted, and both.
std::unique_ptr<Evaluator> label_set_evaluator(const Model& model, const LabelCosts& costs, const Examples& examples,
                                               std::span<const std::int32_t> predicted) {
  const LabelledPredictions parts(examples, examples.data.label, predicted);
  const std::size_t k = model.k();
  ExampleRows rows;
  rows.names = {"hamming", "subset_accuracy", "micro_f1", "macro_f1"};
  constexpr std::size_t common = 4;
  const bool unsure = costs.has_unsure();
  if (unsure) rows.names.insert(rows.names.end(), {"rejected", "error_of_rest"});
  rows.width = common + 3 * k;
  rows.measure = [k, unsure](std::span<const double> sum, double weight) {
    double actual = 0, guessed = 0, found = 0, macro = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double* own = sum.data() + common + 3 * j;
      actual += own[0];
      guessed += own[1];
      found += own[2];
      macro += ratio(2 * own[2], own[0] + own[1]) / static_cast<double>(k);
    }
    std::vector<double> out{sum[0] / weight, sum[1] / weight, sum[2] / weight, ratio(2 * found, actual + guessed),
                            macro};
    if (unsure)
      for (const double metric : rejection_metrics(weight, sum[3], weight - sum[1])) out.push_back(metric);
    return out;
  };
  for (std::size_t i = 0; i < parts.examples(); ++i) {
    const LabelView t = parts.truth_of(i), y = parts.predicted_of(i);
    if (t.size() != k) throw Error(say("evaluation: example {} has {} labels, the model {}", i + 1, t.size(), k));
    double wrong = 0, not_sure = 0;
    std::vector<double> counts;
    for (std::size_t j = 0; j < k; ++j) {
      if ((t[j] != 0 && t[j] != 1) || y[j] < 0 || y[j] > (unsure ? LabelCosts::not_sure : LabelCosts::on))
        throw Error(say("evaluation: example {} has a mark that is neither 0 nor 1", i + 1));
      const bool on = y[j] == LabelCosts::on;
      wrong += t[j] != y[j] ? 1 : 0;
      not_sure += y[j] == LabelCosts::not_sure ? 1 : 0;
      counts.insert(counts.end(), {double(t[j]), on ? 1.0 : 0.0, on ? double(t[j]) : 0.0});
    }
    rows.values.insert(rows.values.end(), {mean_label_cost(costs, t, y, {}), wrong / static_cast<double>(k),
                                           wrong == 0 ? 1.0 : 0.0, not_sure / static_cast<double>(k)});
    rows.values.insert(rows.values.end(), counts.begin(), counts.end());
  }
  return rows_evaluator(std::move(rows), examples.data.weight, [&model, &examples, predicted, k](Evaluation& out) {
    for (const std::string& name : model.classes()) out.labels.emplace_back(name, FoundCounts{});
    for (std::size_t e = 0; e < predicted.size(); ++e) {
      FoundCounts& own = out.labels[e % k].second;
      const bool on = examples.data.label[e] == 1, guessed = predicted[e] == 1;
      own.actual += on;
      own.predicted += guessed;
      own.found += on && guessed;
    }
  });
}

}  // namespace m4n::detail
