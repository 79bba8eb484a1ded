// Small models of rankings and matchings, made as in sample_models.h. sample_ranking() is
// tests/golden/permutation_v1.m4n and must never change.
#pragma once
#include <limits>

#include "support/flat_model.h"

namespace m4n::detail::test {

// Costs that are not symmetric, features of a kernel, standardised, with names of all columns; not converged.
inline FlatModel sample_ranking() {
  FlatModel model;
  model.task = "ranking";
  model.surrogate = SurrogateKind::m4n;
  model.decode = Decoder::adversary;
  model.loss_name = "matrix";
  model.cost = {0, 1.5, 4, 1, -0.25, 2, 0.5, 1, 0.125};
  model.classes = {"r1", "r2", "r3"};
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
  model.weights = {1.0 / 3, -0.0, 5e-324, 1e-7, -2.25, 1e300, 0.7, -0.7, 12345678.9, 1, 2, 3, 4, 5, 6, 7, 8, -9.5};
  model.solver = "atoms";
  model.lambda = 1.0 / 1024;
  model.tol = 1e-4;
  model.n = 5;
  model.parts = 15;
  model.epochs = 12;
  model.oracle_calls = 18446744073709551615ULL;
  model.seed = 9007199254740993ULL;
  model.train_loss = -0.123456789012345678;
  model.norm_squared = 6.02214076e23;
  model.certificate = {0.5000000000000001, 0.4999, false};
  model.interrupted = true;
  return model;
}

// One score per item; linear; named losses have no numbers.
inline FlatModel sample_item_ranking() {
  FlatModel model;
  model.task = "ranking";
  model.surrogate = SurrogateKind::m3n;
  model.decode = Decoder::argmax;
  model.loss_name = "precision@2";
  model.classes = {"r1", "r2", "r3", "r4"};
  model.d = 1;
  model.bias = false;
  model.weights = {3, -1, 2.5, 0};
  model.solver = "atoms";
  model.n = 2;
  model.parts = 8;
  return model;
}

// Weights of items; sparse features, which are never centred.
inline FlatModel sample_weighted_ranking() {
  FlatModel model;
  model.task = "ranking";
  model.surrogate = SurrogateKind::crf;
  model.decode = Decoder::expected;
  model.loss_name = "weighted";
  model.cost = {2, 0};
  model.classes = {"r1", "r2"};
  model.d = 1;
  model.sparse = true;
  model.standardizer.inverse_scale = {4};
  model.weights = {1, -1, 0.5, 2, 0.25, 0, -3, 1};
  model.solver = "lbfgs";
  model.certificate = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), false};
  return model;
}

inline FlatModel sample_matching() {
  FlatModel model;
  model.task = "matching";
  model.surrogate = SurrogateKind::qs;
  model.decode = Decoder::argmax;
  model.loss_name = "hamming";
  model.feature_names = {"near", "like"};
  model.points = 7;
  model.d = 2;
  model.standardizer = {{1, 2}, {0.5, 0.25}};
  model.bias = false;
  model.weights = {1.25, -3};
  model.solver = "lbfgs";
  model.lambda = 0.5;
  model.n = 3;
  model.parts = 12;
  model.certificate = {0.75, 0.75, true};
  return model;
}

}  // namespace m4n::detail::test
