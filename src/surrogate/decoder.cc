#include "surrogate/decoder.h"

#include <algorithm>

#include "m4n/error.h"
#include "surrogate/smoothed.h"

namespace m4n {
namespace {

class Argmax final : public ScoreDecoder {
 public:
  explicit Argmax(std::size_t k) : space_(k) {}
  std::int32_t decode(std::span<const double> v) override { return space_.decode(v); }

 private:
  Simplex space_;
};

template <class MaxMin>
class Adversary final : public ScoreDecoder {
 public:
  explicit Adversary(MaxMin maxmin)
      : maxmin_(std::move(maxmin)), workspace_(maxmin_.workspace()), nu_(maxmin_.space().padded_parts()) {}
  std::int32_t decode(std::span<const double> v) override {
    maxmin_.adversary(v, nu_, workspace_);
    // Of several equally likely answers, the one with the best score.
    std::size_t best = 0;
    for (std::size_t j = 1; j < maxmin_.space().parts(); ++j)
      if (nu_[j] > nu_[best] + tie || (nu_[j] > nu_[best] - tie && v[j] > v[best])) best = j;
    return static_cast<std::int32_t>(best);
  }

 private:
  static constexpr double tie = 1e-9;
  MaxMin maxmin_;
  typename MaxMin::Workspace workspace_;
  AlignedVector<double> nu_;
};

// `Distribution`: v -> mu.
template <class Distribution>
class Expected final : public ScoreDecoder {
 public:
  Expected(const CostMatrix& cost, Distribution distribution)
      : loss_(cost), distribution_(std::move(distribution)), mu_(kernels::padded(cost.k())), risk_(mu_.size()) {}
  std::int32_t decode(std::span<const double> v) override {
    distribution_(v, std::span<double>(mu_));
    loss_.apply(mu_, risk_);
    return static_cast<std::int32_t>(std::min_element(risk_.begin(), risk_.begin() + static_cast<std::ptrdiff_t>(loss_.k())) -
                                     risk_.begin());
  }

 private:
  SimplexLoss loss_;
  Distribution distribution_;
  AlignedVector<double> mu_, risk_;
};

template <class MaxMin>
std::unique_ptr<ScoreDecoder> expected_smoothed(const CostMatrix& cost, MaxMin maxmin, double smoothing) {
  Smoothed smoothed(std::move(maxmin), smoothing * cost.mean_off_diagonal());
  auto distribution = [smoothed, workspace = smoothed.workspace(), state = std::vector<std::uint8_t>(smoothed.state_size())](
                          std::span<const double> v, std::span<double> mu) mutable {
    std::fill(state.begin(), state.end(), std::uint8_t{0});
    smoothed.argmax(v, {}, mu, state, workspace);
  };
  return std::make_unique<Expected<decltype(distribution)>>(cost, std::move(distribution));
}

// make(maxmin) for the max-min surrogate of this cost.
template <class Make>
std::unique_ptr<ScoreDecoder> for_cost(const CostMatrix& cost, Make make) {
  switch (cost.kind()) {
    case LossKind::zero_one:
      return make(ZeroOneMaxMin(cost));
    case LossKind::absolute:
      return make(AbsoluteMaxMin(cost));
    default:
      return make(MatrixMaxMin(cost, 10'000));
  }
}

}  // namespace

Decoder default_decoder(SurrogateKind surrogate, double smoothing, const CostMatrix& cost) {
  if (surrogate == SurrogateKind::crf || (surrogate == SurrogateKind::m4n && smoothing > 0)) return Decoder::expected;
  return surrogate == SurrogateKind::m4n && !cost.symmetric() ? Decoder::adversary : Decoder::argmax;
}

std::unique_ptr<ScoreDecoder> make_decoder(SurrogateKind surrogate, Decoder decode, double smoothing,
                                           const CostMatrix& cost) {
  if (decode == Decoder::automatic) decode = default_decoder(surrogate, smoothing, cost);
  if (decode == Decoder::adversary && surrogate == SurrogateKind::m4n)
    return for_cost(cost, [](auto maxmin) -> std::unique_ptr<ScoreDecoder> {
      return std::make_unique<Adversary<decltype(maxmin)>>(std::move(maxmin));
    });
  if (decode == Decoder::expected && surrogate == SurrogateKind::crf) {
    auto softmax = [](std::span<const double> v, std::span<double> mu) { kernels::softmax(v, mu); };
    return std::make_unique<Expected<decltype(softmax)>>(cost, softmax);
  }
  if (decode == Decoder::expected && surrogate == SurrogateKind::m4n && smoothing > 0)
    return for_cost(cost, [&](auto maxmin) { return expected_smoothed(cost, std::move(maxmin), smoothing); });
  // QS: v itself estimates minus the expected costs.
  if (decode == Decoder::argmax || (decode == Decoder::expected && surrogate == SurrogateKind::qs))
    return std::make_unique<Argmax>(cost.k());
  throw UsageError("the decoder '" + std::string(to_string(decode)) + "' does not exist for the surrogate '" +
                   to_string(surrogate) + "'");
}

}  // namespace m4n
