#include "structures/graphs/data.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/message.h"
#include "data/label_names.h"
#include "structures/graphs/structure.h"

namespace m4n::detail {
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
    throw Error(say("{}: its {}s {} types, those of the model's training data {}; write {}", file, what,
                    names.empty() ? "have no" : "have", known.empty() ? "had none" : "did",
                    known.empty() ? fmt::format("{} without a type", what) : fmt::format("{}:TYPE", what)));
  std::vector<std::uint32_t> place;
  for (const std::string& name : names) {
    const auto at = std::find(known.begin(), known.end(), name);
    if (at == known.end())
      throw Error(say("{}: the {} type {} is unknown to the model, which has {}", file, what, shown(name),
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
    throw Error(say("{}: all nodes have the label {}; learning needs at least two labels", text.file,
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

Examples graphs_for_model(GraphText text, const Model& model, Truth truth) {
  const auto& part = part_of<GraphPart>(model);
  if (truth == Truth::required) text.require_labels();
  if (text.x.cols != model.d())
    throw Error(say("{}: nodes have {} features, the model was trained on {}", text.file, text.x.cols, model.d()));
  text.require_low_treewidth(model.k());
  GraphStructure& structure = text.structure;
  if (structure.edge_features.cols != part.edge_features && !structure.edge.empty())
    throw Error(say("{}: edges have {} features, the model was trained on {}", text.file, structure.edge_features.cols,
                    part.edge_features));
  match_types(text.file, "node", part.node_types, structure.node_type_names, structure.node_type);
  if (!structure.edge.empty())
    match_types(text.file, "edge", part.edge_types, structure.edge_type_names, structure.edge_type);
  Examples out;
  out.path = text.file;
  out.line = text.graph_line;
  out.names = model.classes();
  const ClassIndex index(model.classes());
  std::vector<std::int32_t> known;  // of the file's labels, into out.names
  for (const std::string& name : text.label_names) {
    const auto at = index.find(name);
    known.push_back(static_cast<std::int32_t>(at ? *at : out.names.size()));
    if (!at) out.names.push_back(name);
  }
  out.truth = std::move(text.label);
  for (std::int32_t& l : out.truth) l = l == unknown_label ? l : known[static_cast<std::size_t>(l)];
  out.data = with_structure(text);
  out.data.label = known_labels(out.truth, model.k());
  out.data.class_names = model.classes();
  return out;
}

}  // namespace m4n::detail
