// Implements Structure for graphs whose nodes have a label each.
#include "structures/graphs/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "core/csv.h"
#include "core/message.h"
#include "structures/classes/structure.h"
#include "structures/classes/training.h"
#include "structures/graphs/synthetic.h"
#include "structures/graphs/text.h"
#include "structures/graphs/training.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {
namespace {

const GraphPart& part_of_graphs(const Model& model) { return part_of<GraphPart>(model); }

class GraphsPredictor : public Predictor {
 public:
  GraphsPredictor(const Structure& structure, const Model& model)
      : structure_(structure),
        model_(model),
        part_(part_of_graphs(model)),
        predictor_({model_cost(model)}, model.decode(), part_.edge_weights, part_.edge_features) {}

  std::vector<std::int32_t> predict(const Dataset& examples, const Examples*, const Context& context) const override {
    return predictor_.labellings(scores(examples, context), graphs(examples), context);
  }
  std::vector<double> marginals(const Dataset& examples, const Examples*, const Context& context) const override {
    return predictor_.marginals(scores(examples, context), graphs(examples), context);
  }

 private:
  static GraphExamples graphs(const Dataset& examples) {
    return {&examples.feature_rows, &examples.feature_rows, examples.graph.get()};
  }
  std::vector<double> scores(const Dataset& examples, const Context& context) const {
    if (!examples.graph) throw Error("the data have no edges; graphs come with what joins their nodes");
    const GraphStructure& structure = *examples.graph;
    structure_.require_runs(examples);
    const bool same_edges = structure.edge.empty() || (structure.edge_features.cols == part_.edge_features &&
                                                       structure.edge_types() == part_.edge_type_count());
    if (structure.edges.count() != examples.feature_rows.count() || !same_edges ||
        structure.node_types() != part_.node_type_count())
      throw Error("these graphs have other edges, types or features of edges than those of training");
    return row_scores(part_.rows, model_.d(), part_.node_type_count() * model_.k(), view(examples.x), context);
  }

  const Structure& structure_;
  const Model& model_;
  const GraphPart& part_;
  GraphPredictor predictor_;
};

class Graphs : public Structure {
 public:
  using Structure::Structure;

  void check_options(const TrainOptions& o) const override {
    if (o.oracle == OracleKind::spmp || o.solver == SolverKind::gbcfw)
      throw UsageError(say(
          "--oracle spmp and --solver gbcfw are not for --task {}, whose games are solved exactly. => Leave them out",
          name()));
    check_solver(o, "labels that depend on each other", false, false);
  }
  LossSummary loss(const TrainOptions& options, const Dataset& data) const override {
    const CostMatrix cost = chosen_fixed_cost(options, data, traits().usual_loss);
    return {cost.name(), cost.values(), cost.symmetric(), cost.mean_off_diagonal(), cost.prediction_names()};
  }

  bool recognises(const TrainOptions& options, std::string_view head) const override {
    return options.read.format == "graph" || (options.read.format.empty() && looks_like_graphs(head));
  }
  TrainingData read(LineReader& lines, TrainOptions& options, const Notes& note) const override {
    refuse_fold_column(options);
    TrainingData out;
    out.data = graphs_for_training(read_graph_text(lines));
    read_example_weights(options.read.weights, out.data);
    const GraphStructure& structure = *out.data.graph;
    note(fmt::format("{}: {}, {} with {}, {} with {}", lines.file(), counted(out.data.examples(), "graph"),
                     counted(out.data.label.size(), "node"), counted(cols(out.data.x), "feature"),
                     counted(structure.edge.size(), "edge"), counted(structure.edge_features.cols, "feature")));
    return out;
  }
  Examples read(LineReader& lines, const Model& model, const ReadOptions& options, Truth truth,
                const std::string& model_name) const override {
    require_own_format(options, model_name);
    Examples out = graphs_for_model(read_graph_text(lines), model, truth);
    read_example_weights(options.weights, out.data);
    return out;
  }

  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                       const Context& context) const override {
    return std::make_unique<GraphTrainingSet>(std::move(data), options, traits().usual_loss, context);
  }

  std::vector<std::string> kinds() const override { return {"labels"}; }
  void write_part(const Model& model, ModelFileWriter& file) const override;
  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override;
  void check(const Model& model, const std::string& name) const override;

  std::unique_ptr<Predictor> predictor(const Model& model) const override {
    return std::make_unique<GraphsPredictor>(*this, model);
  }
  std::vector<std::string> output_names(const Model& model) const override {
    const GraphPart& part = part_of_graphs(model);
    if (part.node_types.empty()) return model.classes();
    std::vector<std::string> out;
    for (const std::string& type : part.node_types)
      for (const std::string& label : model.classes()) out.push_back(fmt::format("{}:{}", type, label));
    return out;
  }
  std::vector<double> scores(const Model& model, const FeaturesView& x, const Context& context) const override {
    const GraphPart& part = part_of_graphs(model);
    return row_scores(part.rows, model.d(), part.node_type_count() * model.k(), x, context);
  }
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override;
  std::vector<Exhibit> exhibits(const Judged& judged) const override;
  using Structure::exhibits;
  void predict(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) const override;
  WeightList weights(const Model& model) const override;
  std::vector<NamedArray> arrays(const Model& model) const override;
  FeatureSummary features(const Model& model) const override { return summary_of(part_of_graphs(model).rows); }
  Standardizer standardizer(const Model& model) const override { return part_of_graphs(model).rows.standardizer; }
  std::string features_text(const Model& model) const override { return row_features_text(part_of_graphs(model).rows); }
  void describe(const Model& model, Json& info) const override {
    const GraphPart& part = part_of_graphs(model);
    info.set("graph", Json::object({{"node_types", part.node_types},
                                    {"edge_types", part.edge_types},
                                    {"edge_features", part.edge_features}}));
  }
  std::vector<std::pair<std::string, std::string>> description(const Model& model) const override {
    const GraphPart& part = part_of_graphs(model);
    std::string out = "with " + counted(part.edge_features, "feature");
    if (!part.edge_types.empty()) out += "; types " + abridged(part.edge_types);
    if (!part.node_types.empty()) out += "; node types " + abridged(part.node_types);
    return {{"edges", out}};
  }
  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    return write_synthetic_graphs(request.n, request.seed, sink);
  }
};

void Graphs::write_part(const Model& model, ModelFileWriter& file) const {
  const GraphPart& part = part_of_graphs(model);
  file.field("mapped", part.rows.map.kind != FeatureKind::linear);
  file.field("labels", std::uint64_t{model.common().parts});
  file.field("edges", std::uint64_t{0});  // what label sets have instead: files of both are of one kind
  file.field("node_types", std::uint64_t{part.node_types.size()});
  file.field("edge_types", std::uint64_t{part.edge_types.size()});
  file.field("edge_features", std::uint64_t{part.edge_features});
  file.own_array("edge_ends", {});
  file.array("node_type_names", part.node_types);
  file.array("edge_type_names", part.edge_types);
  file.array("edge_feature_names", part.edge_feature_names);
  file.array("edge_weights", part.edge_weights);
  write_predictions(model.common(), file);
  write_rows(model.common(), part.rows, {}, file);
}

std::shared_ptr<const ModelPart> Graphs::read_part(ModelFileReader& file, ModelCommon& common) const {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  constexpr auto or_none = ModelFileReader::Length::exact_or_none;
  const std::uint64_t k = common.classes.size(), table = product_or_largest(k, k);
  auto part = std::make_shared<GraphPart>();
  const bool mapped = file.flag("mapped");
  common.parts = static_cast<std::size_t>(file.natural("labels", 0, std::numeric_limits<std::size_t>::max()));
  if (file.natural("edges", 0, most) != 0) file.fail("it has edges of its own, but graphs bring theirs");
  const std::uint64_t node_types = file.natural("node_types", 0, most),
                      edge_types = file.natural("edge_types", 0, most);
  part->edge_features = static_cast<std::size_t>(file.natural("edge_features", 0, most));
  file.doubles("edge_ends", 0);
  part->node_types = file.strings("node_type_names", node_types);
  part->edge_types = file.strings("edge_type_names", edge_types);
  part->edge_feature_names = file.strings("edge_feature_names", part->edge_features, or_none);
  const std::uint64_t tables = product_or_largest(std::max<std::uint64_t>(edge_types, 1), part->edge_features + 1);
  part->edge_weights = file.doubles("edge_weights", product_or_largest(tables, table));
  read_predictions_and_cost(file, common);
  part->rows = read_rows(file, common, part->node_type_count() * common.classes.size(), mapped, nullptr);
  return part;
}

void Graphs::check(const Model& model, const std::string& name) const {
  const ModelCheck check(name);
  const GraphPart& part = part_of_graphs(model);
  const std::size_t k = model.k();
  check_cost(model, check);
  check.require_distinct("node type", part.node_types);
  check.require_distinct("edge type", part.edge_types);
  check.require_distinct("edge feature", part.edge_feature_names);
  check.require(part.rows.map.kind == FeatureKind::linear, "graphs have no feature map");
  check.require_length(
      "edge_weights", part.edge_weights.size(),
      product_or_largest(product_or_largest(part.edge_type_count(), part.edge_features + 1), product_or_largest(k, k)));
  check.require_finite("edge_weights", part.edge_weights);
  check_rows(model.common(), part.rows, part.node_type_count() * k, check);
}

// One row per example: cost, nodes, right ones, rejected ones, whole graphs. Labels the model has never seen cost the
// most.
std::unique_ptr<Evaluator> Graphs::evaluator(const Model& model, const Examples& examples,
                                             std::span<const std::int32_t> predicted) const {
  const LabelView truth = examples.data.label;
  const LabelledPredictions parts(examples, truth, predicted);
  const std::size_t k = model.k(), width = model.predictions().size();
  const std::vector<double>& cost = model.cost();
  const bool actions = !model.common().predictions.empty();
  const std::vector<std::size_t> class_of = classes_of_predictions(model);
  const double largest = *std::max_element(cost.begin(), cost.end());
  ExampleRows rows;
  rows.names = {"node_accuracy", "graph_accuracy"};
  if (actions) rows.names.insert(rows.names.end(), {"rejected", "error_of_rest"});
  rows.width = 5;
  rows.measure = [actions](std::span<const double> sum, double weight) {
    std::vector<double> out{sum[0] / weight, sum[2] / sum[1], sum[4] / weight};
    if (actions)
      for (const double metric : rejection_metrics(sum[1], sum[3], sum[2])) out.push_back(metric);
    return out;
  };
  for (std::size_t i = 0; i < parts.examples(); ++i) {
    const LabelView t = parts.truth_of(i), y = parts.predicted_of(i);
    const auto nodes = static_cast<double>(t.size());
    double sum = 0, right = 0, rejected = 0;
    for (std::size_t m = 0; m < t.size(); ++m) {
      if (t[m] < unknown_label || t[m] >= static_cast<std::int32_t>(k) || y[m] < 0 ||
          y[m] >= static_cast<std::int32_t>(width))
        throw Error(say("evaluation: node {} of graph {} has a label beyond the model's {}", m + 1, i + 1, k));
      const auto at = static_cast<std::size_t>(y[m]);
      sum += (t[m] == unknown_label ? largest : cost[static_cast<std::size_t>(t[m]) * width + at]) / nodes;
      right += t[m] != unknown_label && static_cast<std::size_t>(t[m]) == class_of[at] ? 1 : 0;
      rejected += class_of[at] == k ? 1 : 0;
    }
    rows.values.insert(rows.values.end(), {sum, nodes, right, rejected, right == nodes ? 1.0 : 0.0});
  }
  return rows_evaluator(std::move(rows), examples.data.weight, [&model, truth, predicted](Evaluation& out) {
    add_class_tables(model, truth, predicted, out);
  });
}

// Accuracy by the type of nodes, by how many edges they have, and by label.
std::vector<Exhibit> Graphs::exhibits(const Judged& judged) const {
  struct Tried {
    std::uint64_t nodes = 0, right = 0;
  };
  constexpr std::size_t most_degrees = 20;
  const Dataset& data = judged.examples.data;
  const GraphStructure& graph = *data.graph;
  const std::vector<std::size_t> class_of = classes_of_predictions(judged.model);
  std::vector<Tried> by_type(graph.node_types()), by_degree;
  std::vector<std::size_t> degree;
  for (std::size_t i = 0; i < data.examples(); ++i) {
    const std::size_t first = data.labels.begin(i), nodes = data.labels.end(i) - first;
    degree.assign(nodes, 0);
    for (std::size_t e = graph.edges.begin(i); e < graph.edges.end(i); ++e) {
      ++degree[graph.edge[e].u];
      ++degree[graph.edge[e].v];
    }
    for (std::size_t m = 0; m < nodes; ++m) {
      const std::int32_t truth = data.label[first + m];
      const bool right = truth != unknown_label && static_cast<std::size_t>(truth) ==
                                                       class_of[static_cast<std::size_t>(judged.predicted[first + m])];
      const std::size_t place = std::min(degree[m], most_degrees);
      if (place >= by_degree.size()) by_degree.resize(place + 1);
      for (Tried* own : {&by_type[graph.type_of_row(data.feature_rows.begin(i) + m)], &by_degree[place]}) {
        ++own->nodes;
        own->right += right;
      }
    }
  }
  const auto table = [](const std::string& title, const Column& column) {
    return Table{title, {column, {"nodes", true}, {"accuracy", true}}, {}, {}};
  };
  const auto row = [](const std::string& name, const Tried& own) {
    return std::vector<std::string>{
        name, std::to_string(own.nodes),
        shown_percent(ratio(static_cast<double>(own.right), static_cast<double>(own.nodes)))};
  };
  std::vector<Exhibit> out;
  if (!graph.node_type_names.empty()) {
    Table types = table("Accuracy by type of node", {"type"});
    for (std::size_t t = 0; t < by_type.size(); ++t) types.rows.push_back(row(graph.node_type_names[t], by_type[t]));
    out.emplace_back(std::move(types));
  }
  Table degrees = table("Accuracy by number of edges", {"edges of the node", true});
  for (std::size_t d = 0; d < by_degree.size(); ++d)
    if (by_degree[d].nodes > 0)
      degrees.rows.push_back(row(fmt::format("{}{}", d, d == most_degrees ? " or more" : ""), by_degree[d]));
  out.emplace_back(std::move(degrees));
  Evaluation counts;
  add_class_tables(judged.model, data.label, judged.predicted, counts);
  for (Exhibit& labels : found_exhibits("How well every label is found", "label", counts.labels))
    out.push_back(std::move(labels));
  return out;
}

// A CSV graph,node,label[,p_<label>...], a line per node; or one JSON object with one list per graph.
void Graphs::predict(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) const {
  refuse_weights(request);
  require_own_format(request.read, request.model_name);
  refuse_k_best(request, {});
  if (request.marginals) require_probabilities(model, request.model_name, {});
  if (request.scores)
    throw UsageError(say("--scores: the labels of a graph are scored together. => Use --marginals with a crf"));
  GraphText text = read_graph_text(lines);
  const std::vector<std::string> names = text.node_name;
  const Examples examples = graphs_for_model(std::move(text), model, Truth::optional);
  const GraphsPredictor own(*this, model);
  const std::vector<std::int32_t> labels = own.predict(examples.data, &examples, request.context);
  const std::vector<double> probabilities =
      request.marginals ? own.marginals(examples.data, &examples, request.context) : std::vector<double>{};
  const std::size_t k = model.k();
  const Groups& nodes = examples.data.labels;
  const auto label_of = [&](std::size_t m) { return model.predictions()[static_cast<std::size_t>(labels[m])]; };
  const auto row_of = [&](std::size_t m) { return std::span(probabilities).subspan(m * k, k); };

  if (request.json) {
    Json all_nodes = Json::array(), all_labels = Json::array(), all_marginals = Json::array();
    for (std::size_t g = 0; g < nodes.count(); ++g) {
      Json own_nodes = Json::array(), own_labels = Json::array(), own_marginals = Json::array();
      for (std::size_t m = nodes.begin(g); m < nodes.end(g); ++m) {
        own_nodes.push(names[m]);
        own_labels.push(label_of(m));
        if (request.marginals) own_marginals.push(row_of(m));
      }
      all_nodes.push(std::move(own_nodes));
      all_labels.push(std::move(own_labels));
      all_marginals.push(std::move(own_marginals));
    }
    Json object =
        Json::object({{"n", nodes.count()}, {"node", std::move(all_nodes)}, {"label", std::move(all_labels)}});
    if (request.marginals) object.set("classes", model.classes()).set("marginals", std::move(all_marginals));
    sink.write(object.text() + "\n");
    return;
  }
  std::string out = "graph,node,label";
  for (const std::string& label : model.classes())
    if (request.marginals) out += "," + csv_cell("p_" + label);
  out += '\n';
  for (std::size_t g = 0; g < nodes.count(); ++g)
    for (std::size_t m = nodes.begin(g); m < nodes.end(g); ++m) {
      fmt::format_to(std::back_inserter(out), "{},{},{}", g + 1, csv_cell(names[m]), csv_cell(label_of(m)));
      if (request.marginals) append_numbers(out, row_of(m));
      out += '\n';
    }
  sink.write(out);
}

// Behind the rows of features, a "feature" by table of edges, whose class is a pair of labels.
WeightList Graphs::weights(const Model& model) const {
  const GraphPart& part = part_of_graphs(model);
  WeightList out = row_weight_list(model, part.rows, output_names(model));
  const std::size_t first = rows_of_weights(model.common(), part.rows), k = model.k();
  for (std::size_t e = 0; e < part.edge_weights.size(); ++e)
    if (part.edge_weights[e] != 0) out.entries.push_back({first + e / (k * k), e % (k * k), part.edge_weights[e]});
  // "(edge)" for the constant table and "(edge 1)" for that of a feature, or "(edge:TYPE 1)".
  out.feature_name = [=, &part, rows = out.feature_name](std::size_t place) {
    if (place < first) return rows(place);
    const std::size_t type = (place - first) / (part.edge_features + 1),
                      feature = (place - first) % (part.edge_features + 1);
    const std::string of = part.edge_types.empty() ? "edge" : "edge:" + part.edge_types[type];
    if (feature == part.edge_features) return fmt::format("({})", of);
    return fmt::format(
        "({} {})", of,
        part.edge_feature_names.empty() ? std::to_string(feature + 1) : part.edge_feature_names[feature]);
  };
  out.output_name = [=, &model, rows = out.output_name](const WeightEntry& entry) {
    if (entry.feature < first) return rows(entry);
    return fmt::format("{} {}", model.classes()[entry.output / k], model.classes()[entry.output % k]);
  };
  return out;
}

std::vector<NamedArray> Graphs::arrays(const Model& model) const {
  const GraphPart& part = part_of_graphs(model);
  std::vector<NamedArray> out = row_arrays(model.common(), part.rows, part.node_type_count() * model.k());
  out.push_back(
      {"edge_weights", {part.edge_type_count(), part.edge_features + 1, model.k(), model.k()}, part.edge_weights});
  return out;
}

}  // namespace

std::vector<std::unique_ptr<Structure>> graph_structures() {
  StructureTraits traits;
  traits.name = "graph";
  traits.summary = "a label for every node of a graph";
  traits.example = {"graph", "graphs"};
  traits.label = {"label", "labels"};
  traits.part = {"node", "nodes"};
  traits.no_quadratic = edges_change_nothing;
  traits.options = {"reject", "inner", "weights"};
  traits.formats = {"graph"};
  traits.losses = LossFamily::parts;
  traits.usual_loss = "hamming";
  std::vector<std::unique_ptr<Structure>> out;
  out.push_back(std::make_unique<Graphs>(std::move(traits)));
  return out;
}

}  // namespace m4n::detail
