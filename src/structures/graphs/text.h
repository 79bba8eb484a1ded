// Graphs as text: one thing per line, fields separated by blanks or tabs. Lines that are blank or start with `#` are
// passed over.
//
//     graph                              starts an example
//     node NAME LABEL v1 .. vd           LABEL `?`: not known; all nodes of the file have d >= 1 features
//     edge NAME NAME v1 .. ve            between two nodes of this graph named before; e >= 0, the same for all edges
//
// node:TYPE and edge:TYPE say which weights a node or an edge shares; then all nodes, or all edges, have a type. The
// first node of an edge is the row of its table of scores, the second the column.
//
// Refused with file and line: anything else, a graph without nodes, a node or an edge that stands twice, an edge from a
// node to itself or to one that is not there, features that are missing, too many or no finite numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/text.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/read.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/junction_tree.h"

namespace m4n::detail {

struct GraphText {
  std::string file;
  DenseMatrix x;  // a row per node
  Groups nodes;   // which nodes belong to which graph
  GraphStructure structure;
  std::vector<std::string> node_name;
  std::vector<std::int32_t> label;       // into label_names, or unknown_label
  std::vector<std::string> label_names;  // as they occur
  std::vector<std::size_t> node_line;    // of every node in the file
  std::vector<std::size_t> graph_line;

  std::size_t graphs() const { return nodes.count(); }
  // Throws Error with the line of the first node whose label is not known.
  void require_labels() const;
  // Throws Error with the line of the first graph whose junction tree would take more memory than allowed, where every
  // node has `labels` labels.
  void require_low_treewidth(std::size_t labels, double memory_limit = JunctionTree::default_limit) const;
};

// Whether a text begins like this format: its first word, comments aside, is `graph`.
bool looks_like_graphs(std::string_view beginning);

// At least one graph.
GraphText read_graph_text(LineReader& lines);

// The lines of one graph; nodes are named 1, 2, ... `edge_features` may have no columns.
std::string graph_to_text(std::span<const std::string> labels, const DenseMatrix& x, std::span<const GraphEdge> edges,
                          const DenseMatrix& edge_features);

// Graphs as read from a file to examples for training, or for a model.

// For training: every label must be known. Labels sort as numbers where all are numbers, as words otherwise.
Dataset graphs_for_training(GraphText text);

// For a trained model: its labels, types and numbers of features. Labels the file does not know are refused where they
// are required.
Examples graphs_for_model(GraphText text, const Model& model, Truth truth);

}  // namespace m4n::detail
