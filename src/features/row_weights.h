// From a row of features to scores, as a model keeps it: standardise, map, multiply by weights.
//
//   v(x) = W^T z(x) + bias,    z(x) = x after standardising; or K(x, c) for points c; or cos(points x + phase)
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "core/enum_names.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::detail {

// x -> (x - mean) * inverse_scale, column by column. Sparse features are scaled but not centred (mean is empty).
// Empty vectors: the identity.
struct Standardizer {
  std::vector<double> mean, inverse_scale;
};

enum class KernelKind { rbf, laplacian, poly };
const char* to_string(KernelKind);
template <>
std::span<const EnumName<KernelKind>> enum_names();
struct Kernel {
  KernelKind kind = KernelKind::rbf;
  double gamma = 1;
  int degree = 3;
};

// From a (standardised) input to what the weights multiply: the input itself; K(x, c) for the rows c of `points` (the
// support examples of a kernel, RBF centres, Nystrom landmarks, whatever was done to them in training being folded into
// the weights); or cos(points x + phase) for random Fourier features.
struct FeatureMap {
  FeatureKind kind = FeatureKind::linear;
  Kernel kernel;
  DenseMatrix points;
  std::vector<double> phase;
};

struct RowWeights {
  Standardizer standardizer;
  FeatureMap map;
  bool bias = true;
  std::vector<double> weights;  // (width + bias) x outputs, feature-major, last the bias

  // How many features the weights apply to, of an input with d columns.
  std::size_t width(std::size_t d) const { return map.kind == FeatureKind::linear ? d : map.points.rows; }
};

// Scores by weights made ready once. May be used from several threads; the weights must outlive it.
class RowScores {
 public:
  // `d`: features of the input.
  RowScores(const RowWeights& rows, std::size_t d, std::size_t outputs);
  RowScores(RowScores&&) noexcept;
  ~RowScores();
  // Of every row of x, rows x outputs, in parallel over rows. Throws Error where numbers of features do not fit.
  std::vector<double> of(const FeaturesView& x, const Context& context) const;

 private:
  struct Ready;
  std::unique_ptr<const Ready> ready_;
};

// The same, of weights that are used once.
std::vector<double> row_scores(const RowWeights& rows, std::size_t d, std::size_t outputs, const FeaturesView& x,
                               const Context& context);

}  // namespace m4n::detail
