// The features of an exact kernel, made explicit for solvers that want rows: with the Cholesky factor K + e I = L L^T
// of the training rows, row i of L is a feature vector with <L_i, L_j> = K(x_i, x_j) (+ e where i = j; e is 1e-10 of
// the mean of K's diagonal, which also lets rows occur twice). A new x has z(x) = L^{-1} (K(x_1, x), .., K(x_n, x)), so
// weights w on z are weights L^{-T} w on the kernel values, as a kernel model has them.
//
// Cost: n^2 d + n^3 / 3, memory 3 n^2 doubles.
#pragma once
#include "features/feature_map.h"
#include "m4n/context.h"

namespace m4n::detail {

struct KernelFeatures {
  FittedMap map;
  DenseMatrix rows;  // L
};
KernelFeatures kernel_features(const TrainOptions& options, const DenseView& x, const Context& context);
// Bytes that it needs for n rows.
double kernel_feature_bytes(std::size_t rows);

}  // namespace m4n::detail
