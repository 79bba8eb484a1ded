// Training data on the way from the file to the solver: standardised, mapped to features, and for an exact kernel the
// matrix of all pairs. Fitted on these rows only; a path of lambdas and several surrogates can share it.
#pragma once
#include <optional>

#include "features/feature_map.h"
#include "features/point_kernel.h"
#include "features/row_weights.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::detail {

struct PreparedFeatures {
  Standardizer standardizer;
  FeatureKind kind = FeatureKind::linear;
  std::size_t d = 0;                // columns of the input
  bool sparse = false;              // the input was
  Features x;                       // what a linear scorer reads; for an exact kernel, the standardised rows
  std::optional<FittedMap> fitted;  // rbf-centers, nystrom, fourier, and exact kernels as rows
  std::optional<Kernel> kernel;     // rbf, laplacian, poly as pairs
  GramMatrix gram;                  // of the kernel; empty otherwise
};

// Bytes of the matrix of all pairs; 0 where the features need none.
double pair_bytes(FeatureKind kind, std::size_t examples);
// Throws Error, with the remedy, where that matrix would not fit into memory.
void require_memory_for_pairs(FeatureKind kind, std::size_t examples);
// rbf, laplacian, poly: an exact kernel.
bool is_kernel(FeatureKind kind);

// Bytes the system says can still be had; no limit where it does not say.
double available_memory();

// How the solver wants an exact kernel: as the matrix of all pairs, or as rows (features/prepared.cc).
enum class KernelForm { pairs, rows };

// weight: of the examples, empty for equal ones. Refuses what would not fit into memory, and says what would.
PreparedFeatures prepare(Features x, std::span<const double> weight, const TrainOptions& options,
                         const Context& context, KernelForm form = KernelForm::pairs);

// Puts the learnt weights into a model's terms: folds what was linear, keeps the support of a kernel expansion.
// `outputs` is the number of scores of a row.
RowWeights finished_weights(const PreparedFeatures& prepared, std::vector<double> weights, std::size_t outputs,
                            bool bias);

// The scores of the training rows by the solver's weights, as the model will give them. The rows of an exact kernel are
// not quite those that were learnt from: equal examples differ in them (features/prepared.cc), which can decide
// where scores are equal; so its points are scored instead.
std::vector<double> training_scores(const PreparedFeatures& prepared, const std::vector<double>& weights,
                                    std::size_t outputs, bool bias, const Context& context);

// Rows that were not trained on, as the solver's weights see them: standardised and mapped; for an exact kernel
// K(row, x_i) of all training rows, plus the 1 of a bias. The prepared features must outlive it.
class RowMap {
 public:
  RowMap(const PreparedFeatures& prepared, bool bias);
  std::size_t width() const;  // of the rows that come out
  Features apply(Features rows) const;

 private:
  const PreparedFeatures* prepared_;
  std::optional<PointKernel> kernel_;
  bool bias_;
};

// The features of an exact kernel, made explicit for solvers that want rows: with the Cholesky factor K + e I = L L^T
// of the training rows, row i of L is a feature vector with <L_i, L_j> = K(x_i, x_j) (+ e where i = j; e is 1e-10 of
// the mean of K's diagonal, which also lets rows occur twice). A new x has z(x) = L^{-1} (K(x_1, x), .., K(x_n, x)), so
// weights w on z are weights L^{-T} w on the kernel values, as a kernel model has them.
//
// Cost: n^2 d + n^3 / 3, memory 3 n^2 doubles.

struct KernelFeatures {
  FittedMap map;
  DenseMatrix rows;  // L
};
KernelFeatures kernel_features(const TrainOptions& options, const DenseView& x, const Context& context);
// Bytes that it needs for n rows.
double kernel_feature_bytes(std::size_t rows);

}  // namespace m4n::detail
