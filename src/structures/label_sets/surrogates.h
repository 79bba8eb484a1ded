// Labels that are on or off: their output space, and below it their surrogates M4N, M3N and CRF.
//
// The output space of M labels that are on or off. A label has two scores, (v_0, v_1), of which only the difference
// matters; since every step in the dual adds as much to one as it takes from the other, w_0 = -w_1 throughout, and
//
//   v = (-s, s),   v.mu = s m  with  m = mu_1 - mu_0 in [-1, 1],   |w_0|^2 + |w_1|^2 = 2 |w_1|^2.
//
// So one score s per label is all that is kept, phi(y)_j = +1 (on) or -1 (off), and lambda/2 |w|^2 is (2 lambda)/2
// |w_1|^2: the problem that solvers see has twice the lambda.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/views.h"
#include "losses/label_costs.h"
#include "structures/classes/space.h"
#include "structures/label_sets/kernels.h"
#include "surrogates/surrogate.h"

namespace m4n::detail {

class OnOffSpace {
 public:
  explicit OnOffSpace(std::size_t labels) : labels_(labels) {}
  std::size_t parts() const { return labels_; }
  std::size_t padded_parts() const { return kernels::padded(labels_); }

  // m = phi(y)
  void embed(LabelView y, std::span<double> m) const {
    std::fill(m.begin(), m.end(), 0.0);
    for (std::size_t j = 0; j < labels_; ++j) m[j] = sign(y[j]);
  }
  // s . phi(y)
  double score(std::span<const double> s, LabelView y) const {
    double sum = 0;
    for (std::size_t j = 0; j < labels_; ++j) sum += sign(y[j]) * s[j];
    return sum;
  }
  // m = gradient of log sum_y exp(s . phi(y)); returns that logarithm.
  double marginals(std::span<const double> s, std::span<double> m) const {
    return kernels::on_off_log_sum(s, labels_, m);
  }

 private:
  static double sign(std::int32_t label) { return label == 1 ? 1 : -1; }
  std::size_t labels_;
};

// The surrogates of M labels that are on or off, with a loss that is the mean over the labels (losses/label_costs.h).
// Everything decomposes: with the scores s and the means m of OnOffSpace, a = miss_j / M and b =
// false_alarm_j / M
//
//   M4N   h(m) = sum_j min(a (1 + m_j)/2, b (1 - m_j)/2)        a kink at m = (b - a)/(a + b), worth ab/(a + b);
//         with a third answer that costs c < ab/(a + b) there is a plateau of that height between two kinks
//   M3N   sum_j  a (1 - m_j)/2 if the label is on, b (1 + m_j)/2 if it is off
//   CRF   entropy: M independent logistic regressions
//
// The argmax, the value and the proximal step of each label have a formula; O(M).

class OnOffMaxMin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {};
  explicit OnOffMaxMin(const LabelCosts& costs)
      : space_(costs.labels()), scale_(costs.most() / static_cast<double>(costs.labels())) {
    for (std::size_t j = 0; j < costs.labels(); ++j) {
      const double m = static_cast<double>(costs.labels()), a = costs.miss(j) / m, b = costs.false_alarm(j) / m;
      labels_.push_back({a / 2, b / 2, (b - a) / (a + b), (b - a) / (a + b), a * (b / (a + b))});
      if (!costs.unsure_pays(j)) continue;
      const double c = costs.unsure(j) / m;
      labels_.back() = {a / 2, b / 2, 2 * c / a - 1, 1 - 2 * c / b, c};
    }
  }
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const OnOffSpace& space() const { return space_; }
  double scale() const { return scale_; }
  std::size_t work() const { return 8 * space_.padded_parts(); }

  double neg_omega(MarginalView m, LabelView, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < labels_.size(); ++j)
      sum += std::min({labels_[j].rise * (1 + m[j]), labels_[j].fall * (1 - m[j]), labels_[j].top});
    return sum;
  }
  double conjugate(ScoreView s, LabelView, std::span<StateUnit>, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < labels_.size(); ++j)
      sum += std::max(std::abs(s[j]), labels_[j].top + s[j] * (s[j] > 0 ? labels_[j].high : labels_[j].low));
    return sum;
  }
  void argmax(ScoreView s, LabelView, Marginals m, std::span<StateUnit>, Workspace&) const {
    std::fill(m.begin(), m.end(), 0.0);
    for (std::size_t j = 0; j < labels_.size(); ++j)
      m[j] = s[j] > labels_[j].fall ? 1 : s[j] < -labels_[j].rise ? -1 : s[j] > 0 ? labels_[j].high : labels_[j].low;
  }
  // The step with the slope of each piece; the one that ends in its piece is right, or the kink between two that do
  // not.
  void prox(ScoreView s, double c, LabelView, Marginals m, std::span<StateUnit>, Workspace&) const {
    const double step = 1 / c;
    for (std::size_t j = 0; j < labels_.size(); ++j) {
      const double left = m[j] + (s[j] + labels_[j].rise) * step, right = m[j] + (s[j] - labels_[j].fall) * step;
      const double plateau = std::min(m[j] + s[j] * step, std::max(labels_[j].high, right));
      m[j] = std::clamp(std::min(std::max(labels_[j].low, plateau), left), -1.0, 1.0);
    }
  }

 private:
  struct Label {
    double rise, fall;      // slopes of h: rise left of the kinks, -fall right of them
    double low, high, top;  // where they are, the same unless there is a plateau, and the value there
  };
  OnOffSpace space_;
  double scale_;
  std::vector<Label> labels_;
};

class OnOffMargin {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {};
  explicit OnOffMargin(const LabelCosts& costs)
      : space_(costs.labels()), scale_(costs.most() / static_cast<double>(costs.labels())) {
    const auto m = static_cast<double>(costs.labels());
    for (std::size_t j = 0; j < costs.labels(); ++j)
      slope_.push_back({costs.false_alarm(j) / (2 * m), -costs.miss(j) / (2 * m)});
  }
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const OnOffSpace& space() const { return space_; }
  double scale() const { return scale_; }
  std::size_t work() const { return 8 * space_.padded_parts(); }

  double neg_omega(MarginalView m, LabelView y, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < slope_.size(); ++j) sum += std::abs(slope(j, y)) + slope(j, y) * m[j];
    return sum;
  }
  double conjugate(ScoreView s, LabelView y, std::span<StateUnit>, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < slope_.size(); ++j) sum += std::abs(slope(j, y)) + std::abs(s[j] + slope(j, y));
    return sum;
  }
  void argmax(ScoreView s, LabelView y, Marginals m, std::span<StateUnit>, Workspace&) const {
    std::fill(m.begin(), m.end(), 0.0);
    for (std::size_t j = 0; j < slope_.size(); ++j) m[j] = s[j] + slope(j, y) > 0 ? 1 : -1;
  }
  void prox(ScoreView s, double c, LabelView y, Marginals m, std::span<StateUnit>, Workspace&) const {
    const double step = 1 / c;
    for (std::size_t j = 0; j < slope_.size(); ++j) m[j] = std::clamp(m[j] + (s[j] + slope(j, y)) * step, -1.0, 1.0);
  }

 private:
  struct Slopes {
    double off, on;  // of -Omega in m, by the truth; its value at the truth is 0
  };
  double slope(std::size_t j, LabelView y) const { return y[j] == 1 ? slope_[j].on : slope_[j].off; }
  OnOffSpace space_;
  double scale_;
  std::vector<Slopes> slope_;
};

class OnOffCrf {
 public:
  using StateUnit = std::uint8_t;
  struct Workspace {};
  explicit OnOffCrf(std::size_t labels) : space_(labels) {}
  std::size_t state_size() const { return 0; }
  Workspace workspace() const { return {}; }
  const OnOffSpace& space() const { return space_; }
  double scale() const { return 0; }  // any curvature will do
  std::size_t work() const { return 128 * space_.padded_parts(); }

  double neg_omega(MarginalView m, LabelView, Workspace&) const { return kernels::on_off_entropy(m, space_.parts()); }
  double conjugate(ScoreView s, LabelView, std::span<StateUnit>, Workspace&) const {
    return kernels::on_off_log_sum(s, space_.parts());
  }
  void argmax(ScoreView s, LabelView, Marginals m, std::span<StateUnit>, Workspace&) const { space_.marginals(s, m); }
  void prox(ScoreView s, double c, LabelView, Marginals m, std::span<StateUnit>, Workspace&) const {
    kernels::on_off_entropy_prox(s, c, space_.parts(), m);
  }
  // S(s, y) and its gradient in s.
  double slope(ScoreView s, LabelView y, std::span<double> gradient) const {
    const double value = space_.marginals(s, gradient) - space_.score(s, y);
    for (std::size_t j = 0; j < y.size(); ++j) gradient[j] -= y[j] == 1 ? 1 : -1;
    return value;
  }

 private:
  OnOffSpace space_;
};

}  // namespace m4n::detail
