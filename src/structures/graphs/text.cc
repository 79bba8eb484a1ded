// The reader and writer of graphs as text, and graphs to datasets (text.h).
#include "structures/graphs/text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "core/message.h"
#include "data/table.h"
#include "structures/graphs/structure.h"

namespace m4n::detail {

namespace {

constexpr std::string_view unknown = "?";

// Numbers for names, in the order in which they occur.
class Names {
 public:
  explicit Names(std::vector<std::string>& list) : list_(list) {}
  std::uint32_t operator()(std::string_view name) {
    const auto [place, fresh] = number_.try_emplace(std::string(name), static_cast<std::uint32_t>(list_.size()));
    if (fresh) list_.emplace_back(name);
    return place->second;
  }

 private:
  std::vector<std::string>& list_;
  std::unordered_map<std::string, std::uint32_t> number_;
};

class GraphTextReader {
 public:
  explicit GraphTextReader(LineReader& lines)
      : lines_(lines),
        labels_(out_.label_names),
        node_types_(out_.structure.node_type_names),
        edge_types_(out_.structure.edge_type_names) {
    out_.file = lines.file();
  }

  GraphText read() {
    for (std::string_view line; lines_.next(line);) {
      split(line);
      if (!fields_.empty()) add();
    }
    if (out_.graph_line.empty())
      throw Error(say("{}: no graph in this file; expected a line `graph` and nodes behind it", lines_.file()));
    end_graph();
    out_.nodes = Groups(std::move(node_start_));
    out_.structure.edges = Groups(std::move(edge_start_));
    out_.x.rows = out_.node_line.size();
    out_.structure.edge_features.rows = out_.structure.edge.size();
    return std::move(out_);
  }

 private:
  std::string where() const { return fmt::format("{}: line {}", lines_.file(), lines_.line_number()); }

  void split(std::string_view line) {
    fields_.clear();
    const auto blank = [](char c) { return c == ' ' || c == '\t'; };
    for (std::size_t at = 0; at < line.size();) {
      if (blank(line[at])) {
        ++at;
        continue;
      }
      const std::size_t start = at;
      while (at < line.size() && !blank(line[at])) ++at;
      fields_.push_back(line.substr(start, at - start));
    }
    if (!fields_.empty() && fields_[0].front() == '#') fields_.clear();
  }

  void add() {
    const std::string_view first = fields_[0], word = first.substr(0, first.find(':'));
    std::optional<std::string_view> type;
    if (word.size() < first.size()) type = first.substr(word.size() + 1);
    if (first == "graph") return begin_graph();
    if ((word != "node" && word != "edge") || (type && type->empty()))
      throw Error(
          say("{}: found {}; expected graph, node, edge, node:TYPE, edge:TYPE or a # comment", where(), shown(first)));
    if (out_.graph_line.empty()) throw Error(say("{}: {} before the first line `graph`", where(), word));
    word == "node" ? add_node(type) : add_edge(type);
  }

  void begin_graph() {
    if (fields_.size() > 1)
      throw Error(say("{}: found {} behind graph; expected nothing there", where(), shown(fields_[1])));
    if (!out_.graph_line.empty()) end_graph();
    out_.graph_line.push_back(lines_.line_number());
    node_.clear();
    edge_line_.clear();
  }

  void end_graph() {
    if (out_.node_line.size() == node_start_.back())
      throw Error(say("{}: line {}: this graph has no nodes", lines_.file(), out_.graph_line.back()));
    node_start_.push_back(out_.node_line.size());
    edge_start_.push_back(out_.structure.edge.size());
  }

  // All or none have a type.
  void add_type(std::optional<std::string_view> type, const char* what, std::size_t before,
                std::vector<std::uint32_t>& types, Names& names) {
    if (before > 0 && types.empty() == type.has_value())
      throw Error(say("{}: this {} has {} type, but the ones before have {}; => give all of them one, or none", where(),
                      what, type ? "a" : "no", type ? "none" : "one"));
    if (type) types.push_back(names(*type));
  }

  void add_numbers(std::size_t from, const char* what, std::size_t before, DenseMatrix& out) {
    const std::size_t count = fields_.size() - from;
    if (before > 0 && count != out.cols)
      throw Error(
          say("{}: {} with {}, but the ones before have {}", where(), what, counted(count, "feature"), out.cols));
    out.cols = count;
    for (std::size_t f = from; f < fields_.size(); ++f) {
      const std::optional<double> value = finite_number(fields_[f]);
      if (!value || std::abs(*value) > largest_value)
        throw Error(say("{}: feature {} is {}; expected a number of at most {} in size", where(), f - from + 1,
                        shown(fields_[f]), largest_value));
      out.values.push_back(*value);
    }
  }

  void add_node(std::optional<std::string_view> type) {
    const std::size_t before = out_.node_line.size();
    if (fields_.size() < 3)
      throw Error(say("{}: expected node NAME LABEL and features; LABEL is ? where it is not known", where()));
    if (fields_.size() < 4) throw Error(say("{}: node {} has no features", where(), shown(fields_[1])));
    const auto [place, fresh] =
        node_.try_emplace(std::string(fields_[1]), static_cast<std::uint32_t>(before - node_start_.back()));
    if (!fresh)
      throw Error(say("{}: node {} stands in line {} already", where(), shown(fields_[1]),
                      out_.node_line[node_start_.back() + place->second]));
    add_type(type, "node", before, out_.structure.node_type, node_types_);
    add_numbers(3, "a node", before, out_.x);
    out_.label.push_back(fields_[2] == unknown ? unknown_label : static_cast<std::int32_t>(labels_(fields_[2])));
    out_.node_name.emplace_back(fields_[1]);
    out_.node_line.push_back(lines_.line_number());
  }

  std::uint32_t end_of_edge(std::string_view name) const {
    const auto place = node_.find(std::string(name));
    if (place == node_.end())
      throw Error(
          say("{}: no node {} in this graph; nodes stand before the edges that name them", where(), shown(name)));
    return place->second;
  }

  void add_edge(std::optional<std::string_view> type) {
    const std::size_t before = out_.structure.edge.size();
    if (fields_.size() < 3) throw Error(say("{}: expected edge NAME NAME, and features if edges have any", where()));
    const std::uint32_t u = end_of_edge(fields_[1]), v = end_of_edge(fields_[2]);
    if (u == v) throw Error(say("{}: this edge joins node {} with itself", where(), shown(fields_[1])));
    const std::uint64_t key = (std::uint64_t{std::min(u, v)} << 32) | std::max(u, v);
    const auto [place, fresh] = edge_line_.try_emplace(key, lines_.line_number());
    if (!fresh)
      throw Error(say("{}: nodes {} and {} are joined in line {} already", where(), shown(fields_[1]),
                      shown(fields_[2]), place->second));
    add_type(type, "edge", before, out_.structure.edge_type, edge_types_);
    add_numbers(3, "an edge", before, out_.structure.edge_features);
    out_.structure.edge.push_back({u, v});
  }

  LineReader& lines_;
  GraphText out_;
  Names labels_, node_types_, edge_types_;
  std::vector<std::string_view> fields_;  // of the present line
  std::vector<std::size_t> node_start_{0}, edge_start_{0};
  // Of the present graph.
  std::unordered_map<std::string, std::uint32_t> node_;
  std::unordered_map<std::uint64_t, std::size_t> edge_line_;  // by both ends
};

}  // namespace

void GraphText::require_labels() const {
  const auto missing = std::find(label.begin(), label.end(), unknown_label);
  if (missing == label.end()) return;
  const auto m = static_cast<std::size_t>(missing - label.begin());
  throw Error(say("{}: line {}: the label of node {} is not known (?); training and evaluation need all labels", file,
                  node_line[m], shown(node_name[m])));
}

void GraphText::require_low_treewidth(std::size_t labels, double memory_limit) const {
  JunctionTreeCache trees(memory_limit);
  for (std::size_t i = 0; i < graphs(); ++i) {
    const std::size_t first = structure.edges.begin(i);
    const std::span<const GraphEdge> own = std::span(structure.edge).subspan(first, structure.edges.end(i) - first);
    const std::vector<std::uint32_t> counts(nodes.end(i) - nodes.begin(i), static_cast<std::uint32_t>(labels));
    try {
      trees.find(FactorGraph(counts, {own.begin(), own.end()}));
    } catch (const Error& e) {
      throw Error(say("{}: line {}: {}", file, graph_line[i], e.what()));
    }
  }
}

bool looks_like_graphs(std::string_view beginning) {
  while (!beginning.empty()) {
    const std::size_t end = beginning.find('\n');
    std::string_view line = beginning.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line = trim(line);
    if (!line.empty() && line.front() != '#') return line == "graph";
    if (end == std::string_view::npos) return false;
    beginning.remove_prefix(end + 1);
  }
  return false;
}

GraphText read_graph_text(LineReader& lines) { return GraphTextReader(lines).read(); }

std::string graph_to_text(std::span<const std::string> labels, const DenseMatrix& x, std::span<const GraphEdge> edges,
                          const DenseMatrix& edge_features) {
  std::string out = "graph\n";
  for (std::size_t m = 0; m < labels.size(); ++m) {
    out += fmt::format("node {} {}", m + 1, labels[m]);
    for (const double value : x.view().row(m)) out += fmt::format(" {}", value);
    out += '\n';
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    out += fmt::format("edge {} {}", edges[e].u + 1, edges[e].v + 1);
    for (const double value : edge_features.view().row(e)) out += fmt::format(" {}", value);
    out += '\n';
  }
  return out;
}

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
    throw Error(say("{}: its {}s {} types, those of the model's training data {}; => write {}", file, what,
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
