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

  static double sign(std::int32_t label) { return label == 1 ? 1 : -1; }

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

  // One label.
  struct Label {
    double rise, fall;      // slopes of h: rise left of the kinks, -fall right of them
    double low, high, top;  // where they are, the same unless there is a plateau, and the value there

    double neg_omega(double m) const { return std::min({rise * (1 + m), fall * (1 - m), top}); }
    double conjugate(double s) const { return std::max(std::abs(s), top + s * (s > 0 ? high : low)); }
    // The step with the slope of each piece; the one that ends in its piece is right, or the kink between two that do
    // not.
    double prox(double s, double c, double m) const {
      const double step = 1 / c, left = m + (s + rise) * step, right = m + (s - fall) * step;
      const double plateau = std::min(m + s * step, std::max(high, right));
      return std::clamp(std::min(std::max(low, plateau), left), -1.0, 1.0);
    }
    // Whether m is at none of the kinks.
    bool free(double m) const { return m != low && m != high && m > -1 && m < 1; }
  };
  const Label& output(std::size_t j, LabelView) const { return labels_[j]; }

  double neg_omega(MarginalView m, LabelView, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < labels_.size(); ++j) sum += labels_[j].neg_omega(m[j]);
    return sum;
  }
  double conjugate(ScoreView s, LabelView, std::span<StateUnit>, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < labels_.size(); ++j) sum += labels_[j].conjugate(s[j]);
    return sum;
  }
  void argmax(ScoreView s, LabelView, Marginals m, std::span<StateUnit>, Workspace&) const {
    std::fill(m.begin(), m.end(), 0.0);
    for (std::size_t j = 0; j < labels_.size(); ++j)
      m[j] = s[j] > labels_[j].fall ? 1 : s[j] < -labels_[j].rise ? -1 : s[j] > 0 ? labels_[j].high : labels_[j].low;
  }
  void prox(ScoreView s, double c, LabelView, Marginals m, std::span<StateUnit>, Workspace&) const {
    for (std::size_t j = 0; j < labels_.size(); ++j) m[j] = labels_[j].prox(s[j], c, m[j]);
  }

 private:
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

  // One label: -Omega has the slope `slope` and is 0 at the truth.
  struct Label {
    double slope;

    double neg_omega(double m) const { return std::abs(slope) + slope * m; }
    double conjugate(double s) const { return std::abs(slope) + std::abs(s + slope); }
    double prox(double s, double c, double m) const { return std::clamp(m + (s + slope) * (1 / c), -1.0, 1.0); }
    bool free(double m) const { return m > -1 && m < 1; }
  };
  Label output(std::size_t j, LabelView y) const { return {y[j] == 1 ? slope_[j].on : slope_[j].off}; }

  double neg_omega(MarginalView m, LabelView y, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < slope_.size(); ++j) sum += output(j, y).neg_omega(m[j]);
    return sum;
  }
  double conjugate(ScoreView s, LabelView y, std::span<StateUnit>, Workspace&) const {
    double sum = 0;
    for (std::size_t j = 0; j < slope_.size(); ++j) sum += output(j, y).conjugate(s[j]);
    return sum;
  }
  void argmax(ScoreView s, LabelView y, Marginals m, std::span<StateUnit>, Workspace&) const {
    std::fill(m.begin(), m.end(), 0.0);
    for (std::size_t j = 0; j < slope_.size(); ++j) m[j] = s[j] + output(j, y).slope > 0 ? 1 : -1;
  }
  void prox(ScoreView s, double c, LabelView y, Marginals m, std::span<StateUnit>, Workspace&) const {
    for (std::size_t j = 0; j < slope_.size(); ++j) m[j] = output(j, y).prox(s[j], c, m[j]);
  }

 private:
  struct Slopes {
    double off, on;  // by the truth
  };
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
