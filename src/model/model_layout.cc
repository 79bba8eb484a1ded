// See model_layout.h. A later kind or field gets its own branch here.
#include "model/model_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/model_check.h"
#include "structures/chains/input.h"

namespace m4n {
namespace {

constexpr const char* linear_kind = "linear";
constexpr const char* mapped_kind = "mapped";  // linear in features that are computed from the input
constexpr const char* chain_kind = "chain";
constexpr const char* permutation_kind = "permutation";
constexpr const char* labels_kind = "labels";  // sets of labels, and labels of graphs
constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr auto or_none = ModelFileReader::Length::exact_or_none;

// What every kind says of the task and of the training.
void write_common(ModelFileWriter& file, const Model& model) {
  file.field("task", to_string(model.task));
  file.field("surrogate", to_string(model.surrogate));
  file.field("decode", to_string(model.decode));
  file.field("loss", model.loss_name);
  file.field("k", model.k());
  file.field("d", model.d);
  file.field("sparse", model.sparse);
  file.field("solver", model.solver);
  file.real("lambda", model.lambda);
  file.real("tol", model.tol);
  file.field("n", model.n);
  file.field("epochs", model.epochs);
  file.field("oracle_calls", model.oracle_calls);
  file.field("seed", model.seed);
  file.real("train_loss", model.train_loss);
  file.real("norm_squared", model.norm_squared);
  file.real("primal", model.certificate.primal);
  file.real("dual", model.certificate.dual);
  file.field("converged", model.certificate.converged);
  file.field("interrupted", model.interrupted);
  file.array("classes", model.classes);
  file.array("feature_names", model.feature_names);
}

void read_common(ModelFileReader& file, Model& model) {
  model.task = file.choice<Task>("task");
  model.surrogate = file.choice<SurrogateKind>("surrogate");
  model.decode = file.choice<Decoder>("decode");
  model.loss_name = file.text("loss");
  const bool matching = model.task == Task::matching;  // its points have no names
  const std::uint64_t least = matching ? 0 : model.task == Task::multilabel ? 1 : 2;
  const std::uint64_t k = file.natural("k", least, matching ? 0 : std::numeric_limits<std::int32_t>::max());
  const std::uint64_t d = file.natural("d", 0, std::numeric_limits<std::uint32_t>::max());
  model.d = static_cast<std::size_t>(d);
  model.sparse = file.flag("sparse");
  model.solver = file.text("solver");
  model.lambda = file.real("lambda");
  model.tol = file.real("tol");
  model.n = model.tokens = static_cast<std::size_t>(file.natural("n", 0, std::numeric_limits<std::size_t>::max()));
  model.epochs = static_cast<int>(file.natural("epochs", 0, std::numeric_limits<int>::max()));
  model.oracle_calls = file.natural("oracle_calls", 0, any);
  model.seed = file.natural("seed", 0, any);
  model.train_loss = file.real("train_loss");
  model.norm_squared = file.real("norm_squared");
  model.certificate = {file.real("primal"), file.real("dual"), file.flag("converged")};
  model.interrupted = file.flag("interrupted");
  model.classes = file.strings("classes", k);
  model.feature_names = file.strings("feature_names", d, or_none);
  if (file.has_array("fold_column")) model.fold_column = file.strings("fold_column", 1)[0];
}

std::vector<std::string> columns_of(const Model& model) {
  return {model.target_column, model.weights_column, model.id_column};
}

// Of rows of features and what was done to them; the map only where there is one.
// `columns` must live until the bytes are made.
void write_rows(ModelFileWriter& file, const Model& model, const std::vector<std::string>& columns) {
  file.field("bias", model.bias);
  file.array("columns", columns);
  if (!model.fold_column.empty()) file.array("fold_column", {&model.fold_column, 1});
  file.array("cost", model.cost);
  file.array("cuts", model.bins.cuts);
  file.array("mean", model.standardizer.mean);
  file.array("inverse_scale", model.standardizer.inverse_scale);
  file.array("weights", model.weights);
  if (model.map.kind != FeatureKind::linear) {
    file.field("features", to_string(model.map.kind));
    file.field("kernel", to_string(model.map.kernel.kind));
    file.real("gamma", model.map.kernel.gamma);
    file.field("degree", model.map.kernel.degree);
    file.field("width", model.width());
    file.array("points", model.map.points.values);
    file.array("phase", model.map.phase);
  }
}

std::string classes_bytes(const Model& model) {
  ModelFileWriter file(model.map.kind == FeatureKind::linear ? linear_kind : mapped_kind);
  write_common(file, model);
  file.real("smoothing", model.smoothing);
  file.field("binning", to_string(model.bins.rule));
  const std::vector<std::string> columns = columns_of(model);
  write_rows(file, model, columns);
  return file.to_bytes();
}

std::string permutation_bytes(const Model& model) {
  ModelFileWriter file(permutation_kind);
  write_common(file, model);
  file.field("mapped", model.map.kind != FeatureKind::linear);
  file.field("items", model.tokens);
  file.field("most_points", model.points);
  const std::vector<std::string> columns = columns_of(model);
  write_rows(file, model, columns);
  return file.to_bytes();
}

std::string labels_bytes(const Model& model) {
  std::vector<double> ends;
  for (const GraphEdge& edge : model.graph.edges)
    ends.insert(ends.end(), {static_cast<double>(edge.u), static_cast<double>(edge.v)});
  ModelFileWriter file(labels_kind);
  write_common(file, model);
  file.field("mapped", model.map.kind != FeatureKind::linear);
  file.field("labels", model.tokens);
  file.field("edges", model.graph.edges.size());
  file.field("node_types", model.graph.node_types.size());
  file.field("edge_types", model.graph.edge_types.size());
  file.field("edge_features", model.graph.features);
  file.array("edge_ends", ends);
  file.array("node_type_names", model.graph.node_types);
  file.array("edge_type_names", model.graph.edge_types);
  file.array("edge_feature_names", model.graph.feature_names);
  file.array("edge_weights", model.graph.weights);
  const std::vector<std::string> columns = columns_of(model);
  write_rows(file, model, columns);
  return file.to_bytes();
}

void read_rows(ModelFileReader& file, bool linear, Model& model) {
  const std::uint64_t d = model.d;
  model.bias = file.flag("bias");
  const std::vector<std::string> columns = file.strings("columns", 3);
  model.target_column = columns[0];
  model.weights_column = columns[1];
  model.id_column = columns[2];
  model.bins.cuts = file.doubles("cuts", model.k() > 0 ? model.k() - 1 : 0, or_none);
  model.standardizer.mean = file.doubles("mean", d, or_none);
  model.standardizer.inverse_scale = file.doubles("inverse_scale", d, or_none);
  std::uint64_t width = d;
  if (!linear) {
    model.map.kind = file.choice<FeatureKind>("features");
    model.map.kernel.kind = file.choice<KernelKind>("kernel");
    model.map.kernel.gamma = file.real("gamma");
    model.map.kernel.degree = static_cast<int>(file.natural("degree", 1, largest_degree));
    width = file.natural("width", 0, std::numeric_limits<std::uint32_t>::max());
    model.map.points = {static_cast<std::size_t>(width), model.d, file.doubles("points", product_or_largest(width, d))};
    model.map.phase = file.doubles("phase", width, or_none);
  }
  // k is bounded by its array of names, and so is k x k.
  model.weights = file.doubles("weights", product_or_largest(width + (model.bias ? 1 : 0), model.outputs()));
}

void read_classes(ModelFileReader& file, bool linear, Model& model) {
  model.smoothing = file.real("smoothing");
  model.bins.rule = file.choice<Binning>("binning");
  model.cost = file.doubles("cost", product_or_largest(model.k(), model.k()));
  read_rows(file, linear, model);
}

void read_permutation(ModelFileReader& file, Model& model) {
  const std::uint64_t k = model.k();
  const bool mapped = file.flag("mapped");
  model.tokens = static_cast<std::size_t>(file.natural("items", 0, std::numeric_limits<std::size_t>::max()));
  model.points = static_cast<std::size_t>(file.natural("most_points", 0, std::numeric_limits<std::int32_t>::max()));
  const bool weighted = model.loss_name == "weighted", matrix = model.loss_name == "matrix";
  model.cost = file.doubles("cost", matrix ? product_or_largest(k, k) : weighted ? k : 0);
  read_rows(file, !mapped, model);
}

// Numbers of labels are kept as reals, as all numbers of arrays are.
std::uint32_t edge_end(ModelFileReader& file, double value, std::uint64_t k) {
  if (!(value >= 0 && value < static_cast<double>(k)) || value != std::floor(value))
    file.fail(fmt::format("an edge joins the label {}, but there are {}", value, k));
  return static_cast<std::uint32_t>(value);
}

void read_labels(ModelFileReader& file, Model& model) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t k = model.k();
  const bool graph = model.task == Task::graph, mapped = file.flag("mapped");
  GraphPart& part = model.graph;
  model.tokens = static_cast<std::size_t>(file.natural("labels", 0, std::numeric_limits<std::size_t>::max()));
  const std::uint64_t edges = file.natural("edges", 0, most), nodes = file.natural("node_types", 0, most),
                      types = file.natural("edge_types", 0, most);
  part.features = static_cast<std::size_t>(file.natural("edge_features", 0, most));
  const std::vector<double> ends = file.doubles("edge_ends", 2 * edges);
  for (std::size_t e = 0; e + 1 < ends.size(); e += 2)
    part.edges.push_back({edge_end(file, ends[e], k), edge_end(file, ends[e + 1], k)});
  part.node_types = file.strings("node_type_names", nodes);
  part.edge_types = file.strings("edge_type_names", types);
  part.feature_names = file.strings("edge_feature_names", part.features, or_none);
  const std::uint64_t tables = graph ? product_or_largest(std::max<std::uint64_t>(types, 1), part.features + 1) : edges;
  part.weights = file.doubles("edge_weights", product_or_largest(tables, graph ? product_or_largest(k, k) : 4));
  model.cost = graph ? file.doubles("cost", product_or_largest(k, k)) : file.doubles("cost", 2 * k, or_none);
  read_rows(file, !mapped, model);
}

std::string chain_bytes(const Model& model) {
  ModelFileWriter file(chain_kind);
  write_common(file, model);
  file.field("tokens", model.tokens);
  if (!model.fold_column.empty()) file.array("fold_column", {&model.fold_column, 1});
  file.array("cost", model.cost);
  std::visit([&](const auto& features) { file.array("features", features); }, model.chain.features);
  file.array("bias", model.chain.bias);
  file.array("transitions", model.chain.transitions);
  file.array("start", model.chain.start);
  file.array("end", model.chain.end);
  // A template and names of attributes may hold any bytes.
  std::vector<std::string> texts;
  if (model.input) {
    const SequenceInput& input = *model.input;
    texts = {input.attributes.text(), input.format == Format::ocr ? "" : input.dictionary.to_bytes()};
    file.field("format", to_string(input.format));
    file.field("feature_columns", input.feature_columns);
    file.field("grid_height", input.grid ? input.grid->height : 0);
    file.field("grid_width", input.grid ? input.grid->width : 0);
  }
  file.array("input", texts);
  return file.to_bytes();
}

void read_input(ModelFileReader& file, const std::string& name, Model& model) {
  std::vector<std::string> texts = file.strings("input", 2, or_none);
  if (texts.empty()) return;
  SequenceInput input;
  input.format = file.choice<Format>("format");
  input.feature_columns = static_cast<std::size_t>(file.natural("feature_columns", 0, any));
  if (!texts[0].empty()) input.attributes = TextTemplate::parse(texts[0], name + ": its template");
  if (!texts[1].empty()) input.dictionary = AttributeDictionary::from_bytes(texts[1], name);
  const auto height = static_cast<std::size_t>(file.natural("grid_height", 0, PixelGrid::largest_side));
  const auto width = static_cast<std::size_t>(file.natural("grid_width", 0, PixelGrid::largest_side));
  if (height > 0 || width > 0) input.grid = PixelGrid{height, width};
  model.input = std::make_shared<const SequenceInput>(std::move(input));
}

void read_chain(ModelFileReader& file, const std::string& name, Model& model) {
  const std::uint64_t k = model.k(), weights = product_or_largest(model.d, k);
  model.cost = file.doubles("cost", product_or_largest(k, k));
  model.tokens = static_cast<std::size_t>(file.natural("tokens", 0, std::numeric_limits<std::size_t>::max()));
  if (file.is_float("features"))
    model.chain.features = file.floats("features", weights);
  else
    model.chain.features = file.doubles("features", weights);
  model.chain.bias = file.doubles("bias", k, or_none);
  model.bias = !model.chain.bias.empty();
  model.chain.transitions = file.doubles("transitions", product_or_largest(k, k));
  model.chain.start = file.doubles("start", k);
  model.chain.end = file.doubles("end", k);
  read_input(file, name, model);
}

}  // namespace

std::string model_bytes(const Model& model) {
  switch (model.task) {
    case Task::sequence:
      return chain_bytes(model);
    case Task::ranking:
    case Task::matching:
      return permutation_bytes(model);
    case Task::multilabel:
    case Task::graph:
      return labels_bytes(model);
    default:
      return classes_bytes(model);
  }
}

Model read_model(ModelFileReader& file) {
  const std::string& kind = file.kind();
  const std::vector<std::string> kinds{linear_kind, mapped_kind, chain_kind, permutation_kind, labels_kind};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
    file.fail(fmt::format(
        "it holds a model of the kind '{}', but this m4n knows the kinds '{}' only: it was written by a newer "
        "m4n; update m4n, or train again",
        kind, fmt::join(kinds, "', '")));
  Model model;
  read_common(file, model);
  const bool permutation = model.task == Task::ranking || model.task == Task::matching;
  const bool labels = model.task == Task::multilabel || model.task == Task::graph;
  if ((kind == chain_kind) != (model.task == Task::sequence) || (kind == permutation_kind) != permutation ||
      (kind == labels_kind) != labels)
    file.fail(fmt::format("a model of the kind '{}' cannot have the task {}", kind, to_string(model.task)));
  if (kind == chain_kind)
    read_chain(file, file.name(), model);
  else if (permutation)
    read_permutation(file, model);
  else if (labels)
    read_labels(file, model);
  else
    read_classes(file, kind == linear_kind, model);
  file.finish();
  return model;
}

}  // namespace m4n
