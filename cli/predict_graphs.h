// m4n predict on graphs: the label of every node.
#pragma once
#include <string>

#include "m4n/context.h"
#include "m4n/model.h"

namespace m4n::cli {

struct GraphOutput {
  bool marginals, json;
  Context context;
};

// A CSV graph,node,label[,p_<label>...], one line a node; or one JSON object: n, node, label and, where asked for,
// classes and marginals, lists of lists.
std::string predicted_graphs(const Model& model, const std::string& data, const GraphOutput& wanted);

}  // namespace m4n::cli
