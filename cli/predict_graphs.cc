#include "predict_graphs.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "csv_out.h"
#include "structures/graphs/data.h"
#include "scoring.h"
#include "structures/label_sets/predictor.h"

namespace m4n::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Found {
  Groups nodes;
  std::vector<std::string> name;
  std::vector<std::int32_t> label;
  std::vector<double> marginals;  // nodes x k, where asked for
};

std::string as_csv(const Found& found, const Model& model) {
  std::string out = "graph,node,label";
  const bool marginals = !found.marginals.empty();
  for (const std::string& label : model.classes)
    if (marginals) out += "," + csv_cell("p_" + label);
  out += '\n';
  for (std::size_t g = 0; g < found.nodes.count(); ++g)
    for (std::size_t m = found.nodes.begin(g); m < found.nodes.end(g); ++m) {
      fmt::format_to(std::back_inserter(out), "{},{},{}", g + 1, csv_cell(found.name[m]),
                     csv_cell(model.classes[static_cast<std::size_t>(found.label[m])]));
      for (std::size_t a = 0; marginals && a < model.k(); ++a)
        fmt::format_to(std::back_inserter(out), ",{}", found.marginals[m * model.k() + a]);
      out += '\n';
    }
  return out;
}

std::string as_json(const Found& found, const Model& model) {
  Json nodes = Json::array(), labels = Json::array(), marginals = Json::array();
  for (std::size_t g = 0; g < found.nodes.count(); ++g) {
    Json own_nodes = Json::array(), own_labels = Json::array(), own_marginals = Json::array();
    for (std::size_t m = found.nodes.begin(g); m < found.nodes.end(g); ++m) {
      own_nodes.push_back(found.name[m]);
      own_labels.push_back(model.classes[static_cast<std::size_t>(found.label[m])]);
      if (!found.marginals.empty())
        own_marginals.push_back(std::span(found.marginals).subspan(m * model.k(), model.k()));
    }
    nodes.push_back(std::move(own_nodes));
    labels.push_back(std::move(own_labels));
    marginals.push_back(std::move(own_marginals));
  }
  Json object = {{"n", found.nodes.count()}, {"node", std::move(nodes)}, {"label", std::move(labels)}};
  if (!found.marginals.empty()) {
    object["classes"] = model.classes;
    object["marginals"] = std::move(marginals);
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string predicted_graphs(const Model& model, const std::string& data, const GraphOutput& wanted) {
  Input input = Input::open(data);
  LineReader lines(input);
  GraphText text = read_graph_text(lines);
  Found found;
  found.name = text.node_name;
  const Dataset examples = graphs_for_model(std::move(text), model, false, nullptr);
  found.nodes = examples.labels;
  const std::vector<double> scores = model.scores(view(examples.x), wanted.context);
  const GraphPredictor predictor = graph_predictor(model);
  const GraphExamples graphs{&examples.feature_rows, &examples.labels, examples.graph.get()};
  found.label = predictor.labellings(scores, graphs, wanted.context);
  if (wanted.marginals) found.marginals = predictor.marginals(scores, graphs, wanted.context);
  return wanted.json ? as_json(found, model) : as_csv(found, model);
}

}  // namespace m4n::cli
