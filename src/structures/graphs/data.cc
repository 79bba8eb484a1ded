#include "structures/graphs/data.h"

#include <fmt/format.h>

#include <algorithm>

#include "structures/chains/sequence_labels.h"
#include "m4n/error.h"
#include "m4n/read.h"

namespace m4n {
namespace {

Dataset with_structure(GraphText& text) {
  Dataset out;
  out.x = std::move(text.x);
  out.feature_rows = out.labels = text.nodes;
  out.graph = std::make_shared<const GraphStructure>(std::move(text.structure));
  return out;
}

// The numbers of types in the file as those of the model.
void match_types(const std::string& file, const char* what, const std::vector<std::string>& known,
                 std::vector<std::string>& names, std::vector<std::uint32_t>& type) {
  if (names.empty() != known.empty())
    throw Error(fmt::format("{}: its {}s {} types, those of the model's training data {}; write {}", file, what,
                            names.empty() ? "have no" : "have", known.empty() ? "had none" : "did",
                            known.empty() ? fmt::format("{} without a type", what) : fmt::format("{}:TYPE", what)));
  std::vector<std::uint32_t> place;
  for (const std::string& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end())
      throw Error(fmt::format("{}: the {} type {} is unknown to the model, which has {}", file, what, shown(name),
                              shown_list(known, 10)));
    place.push_back(static_cast<std::uint32_t>(at - known.begin()));
  }
  for (std::uint32_t& t : type) t = place[t];
  names = known;
}

}  // namespace

Dataset graphs_for_training(GraphText text) {
  text.require_labels();
  if (text.label_names.size() < 2)
    throw Error(fmt::format("{}: all nodes have the label {}; learning needs at least two labels", text.file,
                            shown(text.label_names.at(0))));
  text.require_low_treewidth(text.label_names.size());
  LabelNumbers numbers;
  for (const std::string& name : text.label_names) numbers.number(name);
  std::vector<std::int32_t> label = std::move(text.label);
  std::vector<std::string> names = sort_classes(numbers, label, text.file);
  Dataset out = with_structure(text);
  out.label = std::move(label);
  out.class_names = std::move(names);
  return out;
}

Dataset graphs_for_model(GraphText text, const Model& model, bool labels_required, std::vector<std::string>* unseen) {
  if (labels_required) text.require_labels();
  if (text.x.cols != model.d)
    throw Error(
        fmt::format("{}: nodes have {} features, the model was trained on {}", text.file, text.x.cols, model.d));
  text.require_low_treewidth(model.k());
  GraphStructure& structure = text.structure;
  if (structure.edge_features.cols != model.graph.features && !structure.edge.empty())
    throw Error(fmt::format("{}: edges have {} features, the model was trained on {}", text.file,
                            structure.edge_features.cols, model.graph.features));
  match_types(text.file, "node", model.graph.node_types, structure.node_type_names, structure.node_type);
  if (!structure.edge.empty())
    match_types(text.file, "edge", model.graph.edge_types, structure.edge_type_names, structure.edge_type);
  const ClassIndex index(model.classes);
  std::vector<std::int32_t> known;
  for (const std::string& name : text.label_names) {
    const auto at = index.find(name);
    known.push_back(at ? static_cast<std::int32_t>(*at) : unknown_label);
    if (!at && unseen != nullptr) unseen->push_back(name);
  }
  std::vector<std::int32_t> label = std::move(text.label);
  for (std::int32_t& l : label) l = l == unknown_label ? l : known[static_cast<std::size_t>(l)];
  Dataset out = with_structure(text);
  out.label = std::move(label);
  out.class_names = model.classes;
  return out;
}

Dataset read_training_graphs(const std::string& path) {
  Input input = Input::open(path);
  LineReader lines(input);
  return graphs_for_training(read_graph_text(lines));
}

Dataset read_model_graphs(const std::string& path, const Model& model, bool labels_required,
                          std::vector<std::string>* unseen) {
  Input input = Input::open(path);
  LineReader lines(input);
  return graphs_for_model(read_graph_text(lines), model, labels_required, unseen);
}

}  // namespace m4n
