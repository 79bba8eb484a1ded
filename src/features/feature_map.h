// Features beyond linear, all fitted on training data and kept in the model.
//
//   rbf-centers  m training points c; z_j = exp(-gamma |x - c_j|^2) with gamma = 1/(2 sum of the columns' standard
//                deviations), then every z_j standardised: the recipe of the authors' published code
//   nystrom      landmarks c; z = K_cc^{-1/2} K(c, x), whose inner products approximate the kernel and equal it on the
//                landmarks. Directions of K_cc below 1e-10 of the largest are dropped.
//   fourier      z_j = sqrt(2/m) cos(w_j.x + b_j): w_j Gaussian of variance 2 gamma, b_j uniform;
//                z.z' -> exp(-gamma |x-x'|^2)
//
// Whatever is linear in these maps (whitening, standardising, scaling) is folded into the weights after training, so
// that a model predicts from K(x, c) or cos(w.x + b) alone.
//
// The default gamma is 1/(2 x median squared distance of 1000 random training pairs) for rbf, nystrom and fourier,
// 1/(median L1 distance) for laplacian, 1/d for poly.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "features/point_kernel.h"
#include "features/row_weights.h"
#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::detail {

// The kernel asked for, with its gamma found from the data where none is given.
Kernel choose_kernel(const TrainOptions& options, const DenseView& x);

// An explicit feature map in training form: what is learnt from is (raw - mean) times `linear`, or column by column
// times `scale` where that is all there is to do.
struct FittedMap {
  FeatureMap map;
  std::vector<double> mean;    // empty: nothing is subtracted
  std::vector<double> linear;  // raw features x columns; empty: `scale`
  std::vector<double> scale;
  std::size_t columns = 0;
};
// rbf_centers, nystrom or fourier.
FittedMap fit_map(const TrainOptions& options, const DenseView& x);
inline constexpr std::size_t rows_mapped_at_once = 64;  // by one thread
DenseMatrix apply(const FittedMap& fitted, const DenseView& x, unsigned threads);
// Weights on the learnt columns (and bias) turned into weights on the raw features.
std::vector<double> raw_weights(const FittedMap& fitted, std::span<const double> weights, std::size_t k, bool bias);

// The raw features of a row, for prediction. The map must outlive it.
class MapEvaluator {
 public:
  explicit MapEvaluator(const FeatureMap& map);
  std::size_t width() const { return map_->points.rows; }
  void evaluate(std::span<const double> x, std::span<double> out) const;

 private:
  const FeatureMap* map_;
  std::optional<PointKernel> kernel_;  // none for fourier
};

}  // namespace m4n::detail
