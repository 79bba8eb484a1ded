// One decoder for each rule of decoder.h, and the choice among them.
#include "structures/classes/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/kernels.h"
#include "core/message.h"
#include "core/parallel.h"
#include "losses/cost_matrix.h"
#include "structures/classes/surrogates.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

class Argmax final : public ScoreDecoder {
 public:
  explicit Argmax(std::size_t k) : space_(k) {}
  std::int32_t decode(std::span<const double> v) override { return space_.decode(v); }

 private:
  Simplex space_;
};

// The most likely of K answers of the min player; of several, the one with the best score, where they have scores (the
// classes).
std::int32_t most_likely(std::span<const double> nu, std::span<const double> v, const CostMatrix& cost) {
  constexpr double tie = 1e-9;
  std::size_t best = 0;
  for (std::size_t j = 1; j < cost.predictions(); ++j)
    if (nu[j] > nu[best] + tie || (!cost.has_actions() && nu[j] > nu[best] - tie && v[j] > v[best])) best = j;
  return static_cast<std::int32_t>(best);
}

template <class MaxMin>
class Adversary final : public ScoreDecoder {
 public:
  Adversary(MaxMin maxmin, const CostMatrix& cost)
      : cost_(cost),
        maxmin_(std::move(maxmin)),
        workspace_(maxmin_.workspace()),
        nu_(kernels::padded(std::max(cost.k(), cost.predictions()))) {}
  std::int32_t decode(std::span<const double> v) override {
    maxmin_.adversary(v, nu_, workspace_);
    return most_likely(nu_, v, cost_);
  }

 private:
  const CostMatrix& cost_;
  MaxMin maxmin_;
  typename MaxMin::Workspace workspace_;
  AlignedVector<double> nu_;
};

// argmin_y (A softmax(v))_y
class ExpectedCost final : public ScoreDecoder {
 public:
  explicit ExpectedCost(const CostMatrix& cost)
      : loss_(cost), mu_(kernels::padded(cost.k())), risk_(loss_.padded_predictions()) {}
  std::int32_t decode(std::span<const double> v) override {
    kernels::softmax(v, mu_);
    loss_.apply(mu_, risk_);
    const auto end = risk_.begin() + static_cast<std::ptrdiff_t>(loss_.cost().predictions());
    return static_cast<std::int32_t>(std::min_element(risk_.begin(), end) - risk_.begin());
  }

 private:
  SimplexLoss loss_;
  AlignedVector<double> mu_, risk_;
};

// The smoothed maximiser mu(v) often sits on a kink of h, where several predictions share the least expected cost. The
// min player's strategy nu is positive only on those, so its most likely answer is the one among them.
class SmoothedExpectedCost final : public ScoreDecoder {
 public:
  SmoothedExpectedCost(const CostMatrix& cost, double g)
      : cost_(cost),
        maxmin_(cost, MatrixMaxMin::all_solves),
        workspace_(maxmin_.workspace()),
        g_(g),
        shifted_(kernels::padded(cost.k())),
        mu_(shifted_),
        state_(maxmin_.state_size()) {}
  std::int32_t decode(std::span<const double> v) override {
    solve(v);
    return most_likely(workspace_.nu, v, cost_);
  }
  // mu(v), padded.
  std::span<const double> marginals(std::span<const double> v) {
    solve(v);
    return mu_;
  }

 private:
  void solve(std::span<const double> v) {
    const std::size_t k = cost_.k();
    const double uniform = 1 / static_cast<double>(k);
    for (std::size_t j = 0; j < k; ++j) {
      mu_[j] = uniform;
      shifted_[j] = v[j] - g_ * uniform;
    }
    std::fill(state_.begin(), state_.end(), std::uint8_t{0});
    maxmin_.prox(shifted_, g_, {}, mu_, state_, workspace_);
    maxmin_.fold_copies(workspace_.nu);
  }

  const CostMatrix& cost_;
  MatrixMaxMin maxmin_;
  MatrixMaxMin::Workspace workspace_;
  double g_;
  AlignedVector<double> shifted_, mu_;
  std::vector<std::uint8_t> state_;
};

std::unique_ptr<ScoreDecoder> make_adversary(const CostMatrix& cost) {
  return with_maxmin(cost, MatrixMaxMin::few_solves, [&]<class MaxMin>(MaxMin maxmin) -> std::unique_ptr<ScoreDecoder> {
    return std::make_unique<Adversary<MaxMin>>(std::move(maxmin), cost);
  });
}

}  // namespace

std::size_t score_count(SurrogateKind surrogate, const CostMatrix& cost) {
  return surrogate == SurrogateKind::qs ? cost.predictions() : cost.k();
}

std::unique_ptr<ScoreDecoder> make_decoder(SurrogateKind surrogate, Decoder decode, double smoothing,
                                           const CostMatrix& cost) {
  if (decode == Decoder::automatic) decode = usual_decoder(surrogate, smoothing, cost.symmetric(), Decoder::argmax);
  const bool smoothed = surrogate == SurrogateKind::m4n && smoothing > 0;
  if (decode == Decoder::adversary && surrogate == SurrogateKind::m4n) return make_adversary(cost);
  if (decode == Decoder::expected && surrogate == SurrogateKind::crf) return std::make_unique<ExpectedCost>(cost);
  if (decode == Decoder::expected && smoothed)
    return std::make_unique<SmoothedExpectedCost>(cost, smoothing_in_costs(smoothing, cost));
  // QS: v itself estimates minus the expected costs.
  if (decode == Decoder::argmax || (decode == Decoder::expected && surrogate == SurrogateKind::qs))
    return std::make_unique<Argmax>(score_count(surrogate, cost));
  throw UsageError("the decoder '" + std::string(to_string(decode)) + "' does not exist for the surrogate '" +
                   to_string(surrogate) + "'");
}

std::vector<double> row_marginals(std::span<const double> scores, double smoothing, const CostMatrix& cost) {
  const std::size_t k = cost.k();
  std::vector<double> out(scores.size());
  AlignedVector<double> v(kernels::padded(k), kernels::padding_score), mu(v.size());
  std::optional<SmoothedExpectedCost> smoothed;
  if (smoothing > 0) smoothed.emplace(cost, smoothing_in_costs(smoothing, cost));
  for (std::size_t i = 0; i < scores.size(); i += k) {
    std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i), k, v.begin());
    if (smoothed)
      std::copy_n(smoothed->marginals(v).begin(), k, mu.begin());
    else
      kernels::softmax(v, mu);
    std::copy_n(mu.begin(), k, out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

std::vector<std::int32_t> decode_rows(std::span<const double> scores, SurrogateKind surrogate, Decoder decode,
                                      double smoothing, const CostMatrix& cost, const Context& context) {
  constexpr std::size_t chunk = 512;
  const std::size_t k = score_count(surrogate, cost);
  std::vector<std::int32_t> out(scores.size() / k);
  parallel_chunks(out.size(), chunk, context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    const auto decoder = make_decoder(surrogate, decode, smoothing, cost);
    AlignedVector<double> v(kernels::padded(k), kernels::padding_score);
    for (std::size_t i = first; i < last; ++i) {
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i * k), k, v.begin());
      if (!std::all_of(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k), kernels::is_score))
        throw Error(say("row {} (counted from 1) has scores beyond what can be computed with", i + 1));
      out[i] = decoder->decode(v);
    }
  });
  return out;
}

}  // namespace m4n::detail
