// Second moments  A = sum over i in J of p_i Phi(x_i) Phi(x_i)^T  of a set J of examples that changes little from one
// use to the next, and the solution of (lambda I + A/g) z = b: what Newton's method needs (newton.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/feature_rows.h"
#include "core/views.h"

namespace m4n::detail {

class FreeMoments {
 public:
  FreeMoments(const FeatureRows& x, bool bias, std::span<const double> weight);
  ~FreeMoments();
  FreeMoments(FreeMoments&&) noexcept;
  FreeMoments(const FreeMoments&) = delete;
  FreeMoments& operator=(const FreeMoments&) = delete;

  std::size_t size() const { return size_; }
  // J is empty.
  void clear();
  // J becomes the examples that are marked.
  void follow(std::span<const std::uint8_t> marked);
  // b <- (lambda I + A/g)^-1 b. False where rounding has left no positive definite matrix.
  bool solve(double lambda, double g, std::span<double> b);

 private:
  static constexpr std::size_t block = 32;

  void add(std::size_t i, double sign);
  void flush();

  FeatureRows x_;
  bool bias_;
  std::span<const double> weight_;
  std::size_t size_, stride_, pending_ = 0;
  std::vector<std::uint8_t> in_;
  AlignedVector<double> moments_, rows_, steps_;  // size x stride; block x stride
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

}  // namespace m4n::detail
