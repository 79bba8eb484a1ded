// Small models with every field set to something that is not its default. All numbers are written down or made with
// exact arithmetic, so that the bytes are the same on every machine. sample_linear() is tests/golden/linear_v1.m4n and
// sample_mapped() is mapped_v1.m4n; they must never change.
#pragma once
#include <limits>

#include "support/flat_model.h"

namespace m4n::detail::test {

// Dense, ordinal, binned, standardised, with names; not converged.
inline FlatModel sample_linear() {
  FlatModel model;
  model.task = "ordinal";
  model.surrogate = SurrogateKind::m4n;
  model.decode = Decoder::expected;
  model.smoothing = 0.3;
  model.loss_name = "absolute";
  model.cost = {0, 1, 2, 1, 0, 1, 2, 1, 0};
  model.classes = {"low", "middle, \"so so\"", "h\xc3\xb6her"};
  model.bins = {Binning::width, {-1.5, 2.1}};
  model.feature_names = {"age", "weight [kg]"};
  model.target_column = "grade";
  model.weights_column = "w";
  model.id_column = "name";
  model.d = 2;
  model.sparse = false;
  model.standardizer = {{0.1, -1e300}, {2.5, 0}};
  model.bias = true;
  model.weights = {1.0 / 3, -0.0, 5e-324, 1e-7, -2.25, 1.7976931348623157e308, 0.7, -0.7, 12345678.9};
  model.solver = "prox";
  model.lambda = 1.0 / 1024;
  model.tol = 1e-3;
  model.n = 1000;
  model.epochs = 17;
  model.oracle_calls = 18446744073709551615ULL;
  model.seed = 9007199254740993ULL;
  model.train_loss = 0.123456789012345678;
  model.norm_squared = 6.02214076e23;
  model.certificate = {0.5000000000000001, 0.4999, false};
  model.interrupted = true;
  return model;
}

// Sparse, multiclass, no names, no bias, a cost matrix that is not symmetric; converged.
inline FlatModel sample_sparse() {
  FlatModel model;
  model.surrogate = SurrogateKind::crf;
  model.decode = Decoder::expected;
  model.loss_name = "matrix";
  model.cost = {0, 1, 10, -0.5};
  model.classes = {"-1", std::string("\xff\x00 not UTF-8", 12)};
  model.d = 3;
  model.sparse = true;
  model.standardizer.inverse_scale = {1, 2, 4};
  model.bias = false;
  model.weights = {1, 2, 3, 4, 5, 6};
  model.solver = "lbfgs";
  model.lambda = 1;
  model.tol = 1e-6;
  model.n = 2;
  model.certificate = {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(), true};
  return model;
}

// An rbf kernel with two points, one feature; a column name that is not UTF-8.
inline FlatModel sample_mapped() {
  FlatModel model;
  model.loss_name = "zero-one";
  model.cost = {0, 1, 1, 0};
  model.classes = {"a", "b"};
  model.d = 1;
  model.id_column = "\xff";
  model.map.kind = FeatureKind::rbf;
  model.map.kernel = {KernelKind::rbf, 0.25, 3};
  model.map.points = {2, 1, {-1.5, 2}};
  model.weights = {1, -1, 0.5, -0.5, 0.125, -0.125};
  model.solver = "prox";
  model.lambda = 0.5;
  model.n = 2;
  model.certificate = {0.75, 0.75, true};
  return model;
}

// Nothing but what must be there: the bias of two classes.
inline FlatModel sample_smallest() {
  FlatModel model;
  model.loss_name = "zero-one";
  model.cost = {0, 1, 1, 0};
  model.classes = {"a", "b"};
  model.weights = {0.5, -0.5};
  return model;
}

}  // namespace m4n::detail::test
