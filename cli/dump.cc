// m4n dump: the weights as text, the largest in absolute value first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "csv_out.h"
#include "m4n/model.h"
#include "messages.h"
#include "structures/chains/input.h"

namespace m4n::cli {
namespace {

struct DumpArguments {
  std::string model;
  bool json = false;
};

struct Weight {
  std::size_t feature, label;  // features are numbered; behind the last one come the bias and what chains have
  double value;
};

constexpr std::size_t edge_place = std::size_t{1} << 40;  // beyond all features

// "(edge y1 y2)"; of graphs "(edge)" for the constant table and "(edge 1)" for that of a feature, or "(edge:TYPE 1)".
std::string edge_name(const Model& model, std::size_t table) {
  const GraphPart& part = model.graph;
  if (model.task == Task::multilabel)
    return fmt::format("(edge {} {})", model.classes[part.edges[table].u], model.classes[part.edges[table].v]);
  const std::size_t type = table / (part.features + 1), feature = table % (part.features + 1);
  const std::string of = part.edge_types.empty() ? "edge" : "edge:" + part.edge_types[type];
  if (feature == part.features) return fmt::format("({})", of);
  return fmt::format("({} {})", of,
                     part.feature_names.empty() ? std::to_string(feature + 1) : part.feature_names[feature]);
}

// The two labels that an entry of a table is of.
std::string pair_name(const Model& model, std::size_t entry) {
  if (model.task == Task::multilabel) return fmt::format("{}{}", entry / 2, entry % 2);
  return fmt::format("{} {}", model.classes[entry / model.k()], model.classes[entry % model.k()]);
}

// Those that are not zero, the largest first; ties stay in the model's order.
std::vector<Weight> by_size(const Model& model) {
  std::vector<Weight> out;
  const std::size_t k = model.outputs();
  std::size_t first = 0;
  const auto add = [&](const auto& rows) {
    for (std::size_t e = 0; e < rows.size(); ++e)
      if (rows[e] != 0) out.push_back({first + e / k, e % k, static_cast<double>(rows[e])});
    first += rows.size() / k;
  };
  if (model.task == Task::sequence) {
    std::visit(add, model.chain.features);
    first = model.d;
    add(model.chain.bias);
    first = model.d + 1;
    add(model.chain.transitions);
    add(model.chain.start);
    add(model.chain.end);
  } else {
    add(model.weights);
  }
  // Tables of edges stand behind all rows of features, one "feature" a table.
  const std::size_t table = model.task == Task::multilabel ? 4 : model.k() * model.k();
  for (std::size_t e = 0; e < model.graph.weights.size(); ++e)
    if (model.graph.weights[e] != 0) out.push_back({edge_place + e / table, e % table, model.graph.weights[e]});
  std::stable_sort(out.begin(), out.end(),
                   [&](const Weight& a, const Weight& b) { return std::abs(a.value) > std::abs(b.value); });
  return out;
}

// The names of what lies behind the features of a chain.
std::string chain_name(const Model& model, std::size_t place) {
  if (place < model.k()) return fmt::format("(after {})", model.classes[place]);
  return place == model.k() ? "(start)" : "(end)";
}

std::string name_of(const Model& model, std::size_t feature) {
  if (feature >= edge_place) return edge_name(model, feature - edge_place);
  if (feature == model.width()) return "(bias)";
  if (feature > model.width()) return chain_name(model, feature - model.width() - 1);
  if (model.input) return feature_name(*model.input, feature);
  if (model.map.kind != FeatureKind::linear) return fmt::format("({} {})", to_string(model.map.kind), feature + 1);
  return model.feature_names.empty() ? std::to_string(feature + 1) : model.feature_names[feature];
}

std::string class_of(const Model& model, const std::vector<std::string>& outputs, const Weight& w) {
  return w.feature >= edge_place ? pair_name(model, w.label) : outputs[w.label];
}

std::string as_csv(const Model& model) {
  const std::vector<std::string> outputs = model.output_names();
  std::string out = "feature,class,weight\n";
  for (const Weight& w : by_size(model))
    fmt::format_to(std::back_inserter(out), "{},{},{}\n", csv_cell(name_of(model, w.feature)),
                   csv_cell(class_of(model, outputs, w)), w.value);
  return out;
}

std::string as_json(const Model& model) {
  const std::vector<std::string> outputs = model.output_names();
  nlohmann::ordered_json weights = nlohmann::ordered_json::array();
  for (const Weight& w : by_size(model))
    weights.push_back(
        {{"feature", name_of(model, w.feature)}, {"class", class_of(model, outputs, w)}, {"weight", w.value}});
  const nlohmann::ordered_json dump{{"d", model.d},
                                    {"k", model.k()},
                                    {"bias", model.bias},
                                    {"mean", model.standardizer.mean},
                                    {"inverse_scale", model.standardizer.inverse_scale},
                                    {"weights", std::move(weights)}};
  // Names may hold bytes that are not UTF-8; JSON may not.
  return dump.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run(const DumpArguments& arguments) {
  const Model model = Model::load(arguments.model);
  if (!model.standardizer.inverse_scale.empty())
    note(false, "these weights apply to standardised features, (x - mean) * inverse_scale; --json gives both");
  print(arguments.json ? as_json(model) : as_csv(model));
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<DumpArguments>();
  add_argument(app, "MODEL", "a model saved by train", arguments->model);
  app.add_flag("--json", arguments->json, "print one JSON object, with the standardisation (mean, inverse_scale)");
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command dump_command() {
  return {
      "dump", "MODEL", "print the weights as text, the largest first",
      "A CSV feature,class,weight, sorted by the absolute value; weights that are zero are left out, and (bias) is the "
      "constant feature. On sequences (after L) is a transition from the label L to the class, and (start) and (end) "
      "are for the first and the last token. On rankings the class is item_rank, or the item where the loss needs one "
      "score an item; on matchings it is pair. Of labels that depend on each other (edge A B) is a table, its class "
      "the two labels (01: A "
      "off, B on); of graphs (edge) is the table of every edge, (edge N) that of its feature N, (edge:TYPE N) with "
      "types, and "
      "TYPE:LABEL the class of a node with a type. The weights are those of the model, which apply AFTER its "
      "transforms: "
      "where it standardises, "
      "to "
      "(x - mean) * inverse_scale; on sequences, and for features of edges, that is folded into them, and they apply "
      "to the data as they came.\n",
      declare};
}

}  // namespace m4n::cli
