// Small models of label sets and graphs, made as in sample_models.h. sample_joined_labels() is
// tests/golden/labels_v1.m4n and sample_graphs() is tests/golden/labels_graph_v1.m4n; they must never change.
#pragma once
#include <limits>

#include "support/flat_model.h"

namespace m4n::detail::test {

// Labels with edges and costs of their own, features of a kernel, standardised, with names of all columns; not
// converged.
inline FlatModel sample_joined_labels() {
  FlatModel model;
  model.task = "multilabel";
  model.surrogate = SurrogateKind::m4n;
  model.decode = Decoder::adversary;
  model.loss_name = "costs";
  model.cost = {1, 2.5, 1e-30, 1, 1e30, 0.125};
  model.classes = {"y1", "y2", "y3"};
  model.feature_names = {"h\xc3\xb6he", "\xff, \"b\""};
  model.weights_column = "w";
  model.id_column = "name";
  model.fold_column = "part";
  model.d = 2;
  model.standardizer = {{0.1, -1e300}, {2.5, 0}};
  model.map.kind = FeatureKind::laplacian;
  model.map.kernel = {KernelKind::laplacian, 0.3, 4};
  model.map.points = {1, 2, {-1.5, 2.25}};
  model.bias = true;
  model.weights = {1.0 / 3, -0.0, 5e-324, 1e-7, -2.25, 1e100, 0.7, -0.7, 12345678.9, 1, 2, -9.5};
  model.graph.edges = {{2, 0}, {1, 2}};
  model.graph.weights = {0.5, -0.0, -1.0 / 7, 3, 4, 5, 6e-300, -7};
  model.solver = "atoms";
  model.lambda = 1.0 / 1024;
  model.tol = 1e-4;
  model.n = 5;
  model.parts = 15;
  model.epochs = 12;
  model.oracle_calls = 18446744073709551615ULL;
  model.seed = 9007199254740993ULL;
  model.train_loss = 0.123456789012345678;
  model.norm_squared = 6.02214076e23;
  model.certificate = {0.5000000000000001, 0.4999, false};
  model.interrupted = true;
  return model;
}

// One score per label, Hamming loss, no names of features.
inline FlatModel sample_label_sets() {
  FlatModel model;
  model.task = "multilabel";
  model.surrogate = SurrogateKind::crf;
  model.decode = Decoder::argmax;
  model.loss_name = "hamming";
  model.classes = {"y1", "y2", "y3"};
  model.d = 1;
  model.bias = true;
  model.weights = {1, -2, 0.5, 0, 1, -0.25};
  model.solver = "prox";
  model.n = model.parts = 2;
  return model;
}

// A single label; sparse features, which are never centred.
inline FlatModel sample_one_label() {
  FlatModel model;
  model.task = "multilabel";
  model.surrogate = SurrogateKind::qs;
  model.decode = Decoder::argmax;
  model.loss_name = "hamming";
  model.classes = {"y1"};
  model.d = 2;
  model.sparse = true;
  model.bias = false;
  model.standardizer.inverse_scale = {4, 0.5};
  model.weights = {1, -1};
  model.solver = "cg";
  model.certificate = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), false};
  return model;
}

// Types of nodes and edges, features of edges, costs that are not symmetric.
inline FlatModel sample_graphs() {
  FlatModel model;
  model.task = "graph";
  model.surrogate = SurrogateKind::crf;
  model.decode = Decoder::expected;
  model.loss_name = "matrix";
  model.cost = {0, 1, 4, -0.5};
  model.classes = {"C", "\xc3\xb6"};
  model.d = 1;
  model.standardizer = {{1}, {0.5}};
  model.bias = true;
  model.graph.node_types = {"atom", "bond", "\xff"};
  model.graph.edge_types = {"near", "far"};
  model.graph.features = 1;
  model.graph.weights = {1, -1, 0.5, 2, 0, -0.0, 1e-9, 3, 7, 6, 5, 4, 3, 2, 1, 1.0 / 3};
  model.weights = {1, -1, 2, -2, 0.25, 4, 0, 1e-5, 9, -8, 7, 1.0 / 7};
  model.solver = "lbfgs";
  model.lambda = 0.25;
  model.n = 3;
  model.parts = 11;
  model.certificate = {0.75, 0.75, true};
  return model;
}

// Neither types nor features of edges.
inline FlatModel sample_plain_graphs() {
  FlatModel model;
  model.task = "graph";
  model.surrogate = SurrogateKind::m4n;
  model.decode = Decoder::argmax;
  model.loss_name = "hamming";
  model.cost = {0, 1, 1, 1, 0, 1, 1, 1, 0};
  model.classes = {"A", "B", "C"};
  model.d = 1;
  model.bias = false;
  model.weights = {1, 0, -1};
  model.graph.weights = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  model.solver = "atoms";
  return model;
}

}  // namespace m4n::detail::test
