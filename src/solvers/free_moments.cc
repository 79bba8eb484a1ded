// Sums of outer products by the kernels, factors by Eigen (free_moments.h).
#include "solvers/free_moments.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>

#include "core/kernels.h"

namespace m4n::detail {

struct FreeMoments::Factor {
  Eigen::MatrixXd matrix;
};

FreeMoments::FreeMoments(const FeatureRows& x, bool bias, std::span<const double> weight)
    : x_(x),
      bias_(bias),
      weight_(weight),
      size_(x.cols() + (bias ? 1 : 0)),
      stride_(kernels::padded(size_)),
      in_(x.rows()),
      moments_(size_ * stride_, 0.0),
      rows_(block * stride_, 0.0),
      steps_(rows_),
      factor_(std::make_unique<Factor>()) {}
FreeMoments::~FreeMoments() = default;
FreeMoments::FreeMoments(FreeMoments&&) noexcept = default;

void FreeMoments::clear() {
  std::fill(in_.begin(), in_.end(), std::uint8_t{0});
  std::fill(moments_.begin(), moments_.end(), 0.0);
}

void FreeMoments::follow(std::span<const std::uint8_t> marked) {
  std::size_t changes = 0, count = 0;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    changes += marked[i] != in_[i] ? 1 : 0;
    count += marked[i];
  }
  if (changes >= count) clear();  // afresh is cheaper, and forgets the rounding of what left
  for (std::size_t i = 0; i < marked.size(); ++i)
    if (marked[i] != in_[i]) add(i, marked[i] != 0 ? 1 : -1);
  flush();
  std::copy(marked.begin(), marked.end(), in_.begin());
}

void FreeMoments::add(std::size_t i, double sign) {
  const std::span<double> row = std::span(rows_).subspan(pending_ * stride_, stride_),
                          step = std::span(steps_).subspan(pending_ * stride_, stride_);
  std::fill(row.begin(), row.end(), 0.0);
  x_.for_entries(i, [&](std::size_t column, double value) { row[column] = value; });
  if (bias_) row[size_ - 1] = 1;
  for (std::size_t f = 0; f < stride_; ++f) step[f] = sign * weight_[i] * row[f];
  if (++pending_ == block) flush();
}

void FreeMoments::flush() {
  kernels::dense_update(rows_.data(), stride_, size_, pending_, steps_.data(), stride_, moments_.data(), nullptr);
  pending_ = 0;
}

bool FreeMoments::solve(double lambda, double g, std::span<double> b) {
  const auto size = static_cast<Eigen::Index>(size_);
  const Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>> moments(
      moments_.data(), size, size, Eigen::OuterStride<>(static_cast<Eigen::Index>(stride_)));
  factor_->matrix = moments / g;
  factor_->matrix.diagonal().array() += lambda;
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(factor_->matrix);  // in place
  if (factor.info() != Eigen::Success) return false;
  Eigen::Map<Eigen::VectorXd> z(b.data(), size);
  factor.solveInPlace(z);
  return z.allFinite();
}

}  // namespace m4n::detail
