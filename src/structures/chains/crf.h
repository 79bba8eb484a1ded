// CRF on chains: online exponentiated gradient in the dual. The dual variable of a sentence is the Gibbs distribution
// of natural parameters theta_i (unary M x R with start and end, transitions R x R), kept in float. A visit moves them
// towards the scores,
//
//   theta_i <- theta_i + eta (v - theta_i),    mu_i = marginals(theta_i),    w <- w - c Psi_i (change of mu_i),
//   c = p_i / lambda,
//
// which is where they end: theta_i = v. Along d = v - theta_i the dual of the block changes like
//   eta A - (eta^2/2) (A + c B),   A = d.(change of mu)/eta,   B = |Psi_i (change of mu)|^2 / eta^2,
// so every visit tries the eta that was best at the last one, measures A and B there, and keeps A / (A + c B) for the
// next; a step after which the dual would be lower is taken back and shortened. Two sum-products per visit. Where the
// Gram matrices of sentences are not kept (sparse text), B is taken as 1.3 times its diagonal.
//
// The certificate is exact: P by one sum-product per sentence, D from the entropies  log Z(theta) - theta.mu  of the
// parameters as they are kept and w rebuilt from their marginals in double.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "core/rng.h"
#include "core/views.h"
#include "solvers/certificate.h"
#include "solvers/problem.h"
#include "structures/chains/ascent.h"
#include "structures/chains/space.h"

namespace m4n::detail {

// The Gibbs distribution of natural parameters theta in the flat layout of ChainSpace, for chains of any length:
// log-partition function and marginals.   O(M R^2)

// One object per thread; nothing is allocated once the longest chain was seen.
class ChainGibbs {
 public:
  // mu = gradient of log sum_y exp(theta . phi(y)), padded with 0; returns that logarithm.
  double marginals(std::span<const double> theta, std::size_t length, std::size_t labels, std::span<double> mu) {
    const std::size_t stride = row_stride<double>(labels);
    const ChainScores v = scores(theta, length, labels);
    const double log_partition = sum_product_.solve(v, exp_);
    std::copy_n(sum_product_.marginals().data(), length * stride, mu.data());
    sum_product_.transition_counts(v, exp_, {mu.data() + length * stride, labels, labels});
    return log_partition;
  }
  double log_partition(std::span<const double> theta, std::size_t length, std::size_t labels) {
    return sum_product_.solve(scores(theta, length, labels), exp_);
  }

 private:
  ChainScores scores(std::span<const double> theta, std::size_t length, std::size_t labels) {
    transitions_.prepare({theta.data() + length * row_stride<double>(labels), labels, labels}, {}, {});
    exp_.prepare(transitions_);
    return {{theta.data(), length, labels}, &transitions_};
  }
  Transitions transitions_;
  ExpTransitions exp_;
  SumProduct sum_product_;
};

// The dual point of a CRF on chains: the natural parameters of the Gibbs distribution of every sentence, in float. They
// define the distribution exactly as they are kept, so that nothing is lost by rounding them.

// theta_i of all sentences, without padding, and their steps.
class GibbsDual {
 public:
  GibbsDual() = default;
  template <class Scorer>
  explicit GibbsDual(const Problem<Scorer>& problem) : labels_(problem.scorer->labels()) {
    begin_.push_back(0);
    for (std::size_t i = 0; i < problem.examples(); ++i)
      begin_.push_back(begin_.back() + (problem.y(i).size() + labels_) * labels_);
    theta_.assign(begin_.back(), 0.0F);
    step_.assign(problem.examples(), 0.0F);
  }
  std::size_t length(std::size_t i) const { return (begin_[i + 1] - begin_[i]) / labels_ - labels_; }
  // Into the flat layout, padded with 0; and back, rounding the flat values to what is kept.
  void load(std::size_t i, std::span<double> flat) const {
    const std::size_t stride = row_stride<double>(labels_), rows = length(i) + labels_;
    const float* from = theta_.data() + begin_[i];
    for (std::size_t r = 0; r < rows; ++r, from += labels_) {
      std::copy_n(from, labels_, flat.data() + r * stride);
      std::fill(flat.data() + r * stride + labels_, flat.data() + (r + 1) * stride, 0.0);
    }
  }
  void store(std::size_t i, std::span<const double> flat) {
    const std::size_t stride = row_stride<double>(labels_), rows = length(i) + labels_;
    float* to = theta_.data() + begin_[i];
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t k = 0; k < labels_; ++k) *to++ = static_cast<float>(flat[r * stride + k]);
  }
  // Takes over what an earlier point has of sequences in the same places that are as long: any distribution will do.
  void adopt(const GibbsDual& earlier) {
    for (std::size_t i = 0; i < std::min(step_.size(), earlier.step_.size()); ++i) {
      if (earlier.length(i) != length(i)) continue;
      std::copy(earlier.theta_.begin() + static_cast<std::ptrdiff_t>(earlier.begin_[i]),
                earlier.theta_.begin() + static_cast<std::ptrdiff_t>(earlier.begin_[i + 1]),
                theta_.begin() + static_cast<std::ptrdiff_t>(begin_[i]));
      step_[i] = earlier.step_[i];
    }
  }
  template <class Archive>
  void archive(Archive& a) {
    const auto shape = [&] { return std::make_pair(begin_, labels_); };
    const auto before = shape();
    a(labels_, begin_, theta_, step_);
    a.expect(before.first.empty() || shape() == before);
    a.expect(labels_ > 0 && begin_.size() == step_.size() + 1 && std::is_sorted(begin_.begin(), begin_.end()) &&
             begin_.front() == 0 && begin_.back() == theta_.size());
  }
  // The step of the next visit; 0 where there was none yet: then the dual variable is the truth itself, which has no
  // natural parameters.
  float& step(std::size_t i) { return step_[i]; }

 private:
  std::size_t labels_ = 0;
  std::vector<std::size_t> begin_;
  std::vector<float> theta_, step_;
};

// theta_i = v_i: the dual point that goes with weights found in the primal.
template <class Scorer>
void adopt_scores(const Problem<Scorer>& problem, GibbsDual& dual) {
  AlignedVector<double> v(problem.scorer->largest_padded_parts());
  for (std::size_t i = 0; i < problem.examples(); ++i) {
    problem.scorer->scores(i, v);
    dual.store(i, v);
    dual.step(i) = 1;
  }
}

template <class Scorer>
class ChainGradient {
 public:
  ChainGradient(const Problem<Scorer>& problem, const TokenGram<Scorer>& gram, GibbsDual& dual,
                const SolverOptions& options, const Context& context)
      : problem_(problem),
        gram_(&gram),
        dual_(&dual),
        options_(options),
        context_(&context),
        watch_(context, options_),
        rng_(options.seed, 1) {
    for (AlignedVector<double>* x :
         {&v_all_, &theta_all_, &moved_all_, &mu_all_, &mu_moved_all_, &ahead_all_, &rest_all_})
      x->assign(problem.scorer->largest_padded_parts(), 0.0);
  }

  // Gives up, with what it has, where it would need more than `patient` epochs at the pace of its certificates.
  SolveResult run(double patient) {
    SolverStage stage(*context_);
    if (const SolveResult* over = stage.over()) return *over;
    const std::size_t n = problem_.examples();
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    CertificateSchedule schedule(n, options_.tol);
    rebuild();
    bool stopped = false, hopeless = false;
    int certified_at = -1, last_at = 0;
    double last_gap = 1;
    std::size_t place = 0;  // of this epoch
    bool looking = false;   // an epoch is over, and a certificate is due
    const auto state = [&](auto& a) {
      a(watch_, result_, *problem_.scorer, dual_value_, rng_, schedule, place, looking, hopeless, certified_at, last_at,
        last_gap);
      a.fixed(order);
      a.expect(all_below(n, order) && place <= n);
      best_.archive(a, *problem_.scorer);
    };
    stage.begin(state);
    while (!result_.certificate.converged && !stopped && !hopeless && result_.epochs < options_.epochs) {
      if (place == 0 && !looking) rng_.shuffle(std::span(order));
      while (place < n && !looking && !stopped) {
        const std::size_t i = order[place++];
        visit(i);
        stopped = watch_.stopped(4 * problem_.scorer->work(i));
        stage.pause(state);
      }
      const double visits = static_cast<double>(result_.epochs + (looking ? 0 : 1)) * static_cast<double>(n);
      if (place == n) {
        place = 0;
        ++result_.epochs;
        looking = schedule.due(visits);
      }
      if (!looking || stopped) continue;
      stopped = !certify(&watch_);
      if (stopped) continue;
      looking = false;
      certified_at = result_.epochs;
      const double gap = result_.certificate.relative_gap();
      schedule.seen(visits, gap);
      if (result_.epochs >= least_epochs && last_at > 0) {
        const double rate = std::log(last_gap / gap) / (result_.epochs - last_at);
        hopeless = !(std::log(gap / options_.tol) <= rate * patient);
      }
      last_at = result_.epochs;
      last_gap = gap;
    }
    stage.pause_at_end(state);
    if (place > 0) ++result_.epochs;
    // A certificate that was interrupted leaves no point.
    if (!best_.known() || (certified_at != result_.epochs && !stopped)) certify(nullptr);
    best_.restore(*problem_.scorer);
    result_.seconds = watch_.seconds();
    result_.interrupted = watch_.interrupted();
    result_.solver = "prox";
    return stage.finish(result_);
  }

 private:
  static constexpr int least_epochs = 10;  // before the pace is judged
  static constexpr double off_diagonal = 1.3;

  void visit(std::size_t i) {
    Scorer& scorer = *problem_.scorer;
    const std::size_t size = scorer.padded_parts(i), length = scorer.length(i), labels = scorer.labels();
    const double c = problem_.weight[i] / problem_.lambda;
    const std::span<double> v = std::span(v_all_).first(size), theta = std::span(theta_all_).first(size),
                            moved = std::span(moved_all_).first(size), mu = std::span(mu_all_).first(size),
                            mu_moved = std::span(mu_moved_all_).first(size), ahead = std::span(ahead_all_).first(size),
                            rest = std::span(rest_all_).first(size);
    scorer.scores(i, v);
    if (dual_->step(i) == 0) return begin(i, v, c);
    dual_->load(i, theta);
    const double before = gibbs_.marginals(theta, length, labels, mu) + excess(v, theta, mu, ahead);
    double eta = dual_->step(i);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      for (std::size_t e = 0; e < size; ++e)
        moved[e] = static_cast<float>(theta[e] + eta * ahead[e]);  // as it will be kept
      const double after = gibbs_.marginals(moved, length, labels, mu_moved) + excess(v, moved, mu_moved, rest);
      kernels::difference(mu_moved, mu, mu_moved);
      const double along = kernels::dot(ahead, mu_moved);
      ++result_.oracle_calls;
      const double bend = c * squared_step(i, mu_moved), gain = after - before - 0.5 * bend;
      const double best = along > 0 ? along * eta / (along * eta + bend) : 0;
      if (gain > 0) {
        dual_->step(i) = static_cast<float>(std::clamp(best, 0.25 * eta, std::min(1.0, 4 * eta)));
        dual_->store(i, moved);
        scorer.update(i, mu_moved, -c);
        return;
      }
      eta = std::clamp(best, 0.05 * eta, 0.5 * eta);
    }
    dual_->step(i) = static_cast<float>(std::max(eta, least_step));
  }

  // The first visit, from mu = phi(y). Were a token alone, its best parameters would be its scores with the truth
  // raised by  c |Phi(x_m)|^2 (1 - mu_truth) R/(R - 1):  a scalar equation, solved by bisection. Where the dual would
  // be lower the truth is raised further; near enough to it the dual rises.
  void begin(std::size_t i, std::span<const double> v, double c) {
    Scorer& scorer = *problem_.scorer;
    const std::size_t size = v.size(), length = scorer.length(i), labels = scorer.labels(), stride = scorer.stride();
    const std::span<double> theta = std::span(theta_all_).first(size), mu = std::span(mu_all_).first(size);
    const LabelView y = problem_.y(i);
    const double pull = c * static_cast<double>(labels) / static_cast<double>(std::max<std::size_t>(labels, 2) - 1);
    raised_.resize(length);
    for (std::size_t m = 0; m < length; ++m) {
      const double* row = v.data() + m * stride;
      const auto truth = static_cast<std::size_t>(y[m]);
      double others = 0;  // their mass over that of the truth
      for (std::size_t k = 0; k < labels; ++k) others += k == truth ? 0 : std::exp(row[k] - row[truth]);
      raised_[m] = raise(pull * (*gram_)(i, m, m), others);
    }
    for (int attempt = 0; attempt < first_attempts; ++attempt) {
      for (std::size_t e = 0; e < size; ++e) theta[e] = static_cast<float>(v[e]);
      for (std::size_t m = 0; m < length; ++m) {
        double& parameter = theta[m * stride + static_cast<std::size_t>(y[m])];
        parameter = static_cast<float>(parameter + raised_[m]);
        raised_[m] = 2 * raised_[m] + 2;
      }
      const double after =
          gibbs_.marginals(theta, length, labels, mu) + excess(v, theta, mu, std::span(ahead_all_).first(size));
      const double before = take_truth(y, v, mu);
      ++result_.oracle_calls;
      if (!(after - before - 0.5 * c * squared_step(i, mu) > 0)) continue;
      dual_->step(i) = static_cast<float>(first_step);
      dual_->store(i, theta);
      scorer.update(i, mu, -c);
      return;
    }
  }
  // The r with  r = pull (1 - mu),  1 - mu = others / (others + e^r).
  static double raise(double pull, double others) {
    if (!std::isfinite(others)) return pull;
    double low = 0, high = pull;
    for (int halving = 0; halving < 20; ++halving) {
      const double r = 0.5 * (low + high);
      (r < pull * others / (others + std::exp(r)) ? low : high) = r;
    }
    return high;
  }
  // mu -= phi(y); returns v . phi(y).
  double take_truth(LabelView y, std::span<const double> v, std::span<double> mu) const {
    const std::size_t stride = problem_.scorer->stride();
    double sum = 0;
    const auto take = [&](std::size_t part) {
      mu[part] -= 1;
      sum += v[part];
    };
    for (std::size_t m = 0; m < y.size(); ++m) {
      take(m * stride + static_cast<std::size_t>(y[m]));
      if (m > 0) take((y.size() + static_cast<std::size_t>(y[m - 1])) * stride + static_cast<std::size_t>(y[m]));
    }
    return sum;
  }

  static constexpr int most_attempts = 4, first_attempts = 10;
  static constexpr double first_step = 0.5, least_step = 0.02;

  // (v - theta).mu, which with log Z(theta) is H(mu) + v.mu for the marginals mu of theta; the difference goes to
  // `ahead`.
  static double excess(std::span<const double> v, std::span<const double> theta, std::span<const double> mu,
                       std::span<double> ahead) {
    kernels::difference(v, theta, ahead);
    return kernels::dot(ahead, mu);
  }

  // |Psi_i delta|^2
  double squared_step(std::size_t i, std::span<const double> delta) const {
    const Scorer& scorer = *problem_.scorer;
    const std::size_t length = scorer.length(i), stride = scorer.stride();
    const auto row = [&](std::size_t m) { return delta.subspan(m * stride, stride); };
    const std::span<const double> tail = delta.subspan(length * stride);
    double features = 0;
    for (std::size_t m = 0; m < length; ++m) {
      features += (*gram_)(i, m, m) * kernels::dot(row(m), row(m));
      for (std::size_t o = 0; gram_->kept() && o < m; ++o)
        features += 2 * (*gram_)(i, m, o) * kernels::dot(row(m), row(o));
    }
    if (!gram_->kept()) features *= off_diagonal;
    return features + kernels::dot(tail, tail) + kernels::dot(row(0), row(0)) +
           kernels::dot(row(length - 1), row(length - 1));
  }

  // w := w(mu) afresh, and the dual value.
  void rebuild() {
    const Scorer& scorer = *problem_.scorer;
    std::vector<double> entropy(problem_.examples());
    const double squares =
        problem_.scorer->rebuild([&](std::size_t i, PaddedRows<double> unary, std::span<double> tail) {
          const std::size_t size = scorer.padded_parts(i), length = scorer.length(i), labels = scorer.labels(),
                            stride = scorer.stride();
          const std::span<double> theta = std::span(theta_all_).first(size), mu = std::span(mu_all_).first(size);
          if (dual_->step(i) == 0) return;
          dual_->load(i, theta);
          entropy[i] = gibbs_.marginals(theta, length, labels, mu);
          entropy[i] -= kernels::dot(theta, mu);
          const double scale = problem_.weight[i] / problem_.lambda;
          take_truth(problem_.y(i), theta, mu);
          for (std::size_t e = 0; e < length * stride; ++e) unary.data()[e] -= scale * mu[e];
          for (std::size_t e = 0; e < labels * stride; ++e) tail[e] -= scale * mu[length * stride + e];
          for (std::size_t k = 0; k < labels; ++k) {
            tail[scorer.start_part(k)] -= scale * mu[k];
            tail[scorer.end_part(k)] -= scale * mu[(length - 1) * stride + k];
          }
        });
    dual_value_ = -0.5 * problem_.lambda * squares;
    for (std::size_t i = 0; i < entropy.size(); ++i) dual_value_ += problem_.weight[i] * entropy[i];
  }

  // False where it was told to stop.
  bool certify(const Watch* watch) {
    rebuild();
    constexpr std::size_t chunk = 64;
    struct Worker {
      ChainGibbs gibbs;
      AlignedVector<double> v;
    };
    const Scorer& scorer = *problem_.scorer;
    const std::size_t n = problem_.examples();
    std::vector<double> sums((n + chunk - 1) / chunk);
    std::vector<Worker> scratch(std::min<std::size_t>(thread_count(context_->threads), sums.size()));
    for (Worker& worker : scratch) worker.v.resize(scorer.largest_padded_parts());
    std::atomic<bool> given_up{false};
    parallel_chunks(n, chunk, static_cast<unsigned>(scratch.size()),
                    [&](std::size_t at, std::size_t first, std::size_t last, unsigned worker) {
                      double sum = 0;
                      Patience patience(watch);
                      for (std::size_t i = first; i < last && !given_up; ++i) {
                        if (patience.over()) given_up = true;
                        const std::span<double> v = std::span(scratch[worker].v).first(scorer.padded_parts(i));
                        scorer.scores(i, v);
                        sum += problem_.weight[i] *
                               (scratch[worker].gibbs.log_partition(v, scorer.length(i), scorer.labels()) -
                                flat_score(v, problem_.y(i), scorer.stride()));
                      }
                      sums[at] = sum;
                    });
    if (given_up) return false;
    const double loss = std::accumulate(sums.begin(), sums.end(), 0.0);
    best_.offer({loss + 0.5 * problem_.lambda * scorer.norm_squared(), dual_value_, false}, scorer);
    result_.certificate = best_.certificate(options_.tol);
    watch_.report(result_.epochs, result_.certificate);
    return true;
  }

  static double flat_score(std::span<const double> v, LabelView y, std::size_t stride) {
    double sum = 0;
    for (std::size_t m = 0; m < y.size(); ++m) {
      const auto label = static_cast<std::size_t>(y[m]);
      sum += v[m * stride + label];
      if (m > 0) sum += v[(y.size() + static_cast<std::size_t>(y[m - 1])) * stride + label];
    }
    return sum;
  }

  Problem<Scorer> problem_;
  const TokenGram<Scorer>* gram_;
  GibbsDual* dual_;
  SolverOptions options_;
  const Context* context_;
  Watch watch_;
  SolveResult result_;
  ChainGibbs gibbs_;
  AlignedVector<double> v_all_, theta_all_, moved_all_, mu_all_, mu_moved_all_, ahead_all_, rest_all_;
  std::vector<double> raised_;
  BestPoint<Scorer> best_;
  Rng rng_;
  double dual_value_ = 0;
};

}  // namespace m4n::detail
