// The normal equations of the quadratic surrogate, by Eigen.
#include "solvers/quadratic.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace m4n::detail {

struct SecondMoments::Matrices {
  Eigen::MatrixXd moments;
  Eigen::LLT<Eigen::MatrixXd> factor;
};

SecondMoments::SecondMoments(const FeatureRows& x, bool bias, std::span<const double> weight)
    : matrices_(std::make_unique<Matrices>()) {
  const auto d = static_cast<Eigen::Index>(x.cols() + (bias ? 1 : 0));
  constexpr std::size_t block = 128;
  Eigen::MatrixXd& h = matrices_->moments;
  h = Eigen::MatrixXd::Zero(d, d);
  Eigen::MatrixXd rows(d, block);
  for (std::size_t first = 0; first < x.rows(); first += block) {
    const std::size_t count = std::min(block, x.rows() - first);
    rows.setZero();
    for (std::size_t r = 0; r < count; ++r) {
      const double root = std::sqrt(2 * weight[first + r]);
      const auto column = static_cast<Eigen::Index>(r);
      x.for_entries(first + r,
                    [&](std::size_t j, double value) { rows(static_cast<Eigen::Index>(j), column) = root * value; });
      if (bias) rows(d - 1, column) = root;
    }
    h.selfadjointView<Eigen::Lower>().rankUpdate(rows);
  }
}
SecondMoments::~SecondMoments() = default;

bool SecondMoments::factorise(double lambda) {
  Eigen::MatrixXd h = matrices_->moments;
  h.diagonal().array() += lambda;
  matrices_->factor.compute(h);
  return matrices_->factor.info() == Eigen::Success;
}

void SecondMoments::newton_step(std::span<const double> gradient, std::size_t stride, std::span<double> w) const {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto columns = static_cast<Eigen::Index>(stride);
  const auto features = static_cast<Eigen::Index>(w.size()) / columns;
  Eigen::Map<Rows>(w.data(), features, columns) -=
      matrices_->factor.solve(Eigen::Map<const Rows>(gradient.data(), features, columns));
}

}  // namespace m4n::detail
