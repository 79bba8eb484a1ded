// One decoder for each rule of decoder.h, and the choice among them.
#include "structures/classes/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/kernels.h"
#include "core/message.h"
#include "core/parallel.h"
#include "games/matrix_prox.h"
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

// The most likely answer of the min player; of several, the one with the best score.
std::int32_t most_likely(std::span<const double> nu, std::span<const double> v, std::size_t k) {
  constexpr double tie = 1e-9;
  std::size_t best = 0;
  for (std::size_t j = 1; j < k; ++j)
    if (nu[j] > nu[best] + tie || (nu[j] > nu[best] - tie && v[j] > v[best])) best = j;
  return static_cast<std::int32_t>(best);
}

template <class MaxMin>
class Adversary final : public ScoreDecoder {
 public:
  explicit Adversary(MaxMin maxmin)
      : maxmin_(std::move(maxmin)), workspace_(maxmin_.workspace()), nu_(maxmin_.space().padded_parts()) {}
  std::int32_t decode(std::span<const double> v) override {
    maxmin_.adversary(v, nu_, workspace_);
    return most_likely(nu_, v, maxmin_.space().parts());
  }

 private:
  MaxMin maxmin_;
  typename MaxMin::Workspace workspace_;
  AlignedVector<double> nu_;
};

// argmin_y (A softmax(v))_y
class ExpectedCost final : public ScoreDecoder {
 public:
  explicit ExpectedCost(const CostMatrix& cost) : loss_(cost), mu_(kernels::padded(cost.k())), risk_(mu_.size()) {}
  std::int32_t decode(std::span<const double> v) override {
    kernels::softmax(v, mu_);
    loss_.apply(mu_, risk_);
    const auto end = risk_.begin() + static_cast<std::ptrdiff_t>(loss_.k());
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
      : prox_(cost), workspace_(cost.k()), g_(g), shifted_(cost.k()), mu_(cost.k()), nu_(cost.k()), state_(cost.k()) {}
  std::int32_t decode(std::span<const double> v) override {
    const std::size_t k = mu_.size();
    const double uniform = 1 / static_cast<double>(k);
    for (std::size_t j = 0; j < k; ++j) {
      mu_[j] = uniform;
      shifted_[j] = v[j] - g_ * uniform;
      state_[j] = 0;
    }
    prox_.step(shifted_, g_, mu_, nu_, state_, MatrixMaxMin::all_solves, workspace_);
    return most_likely(nu_, v, k);
  }

 private:
  MatrixProx prox_;
  MatrixProx::Workspace workspace_;
  double g_;
  std::vector<double> shifted_, mu_, nu_;
  std::vector<std::uint8_t> state_;
};

std::unique_ptr<ScoreDecoder> make_adversary(const CostMatrix& cost) {
  return with_maxmin(cost, MatrixMaxMin::few_solves, []<class MaxMin>(MaxMin maxmin) -> std::unique_ptr<ScoreDecoder> {
    return std::make_unique<Adversary<MaxMin>>(std::move(maxmin));
  });
}

}  // namespace

std::unique_ptr<ScoreDecoder> make_decoder(SurrogateKind surrogate, Decoder decode, double smoothing,
                                           const CostMatrix& cost) {
  if (decode == Decoder::automatic) decode = usual_decoder(surrogate, smoothing, cost.symmetric(), Decoder::argmax);
  const bool smoothed = surrogate == SurrogateKind::m4n && smoothing > 0;
  if (decode == Decoder::adversary && surrogate == SurrogateKind::m4n) return make_adversary(cost);
  if (decode == Decoder::expected && surrogate == SurrogateKind::crf) return std::make_unique<ExpectedCost>(cost);
  if (decode == Decoder::expected && smoothed)
    return std::make_unique<SmoothedExpectedCost>(cost, smoothing * cost.mean_off_diagonal());
  // QS: v itself estimates minus the expected costs.
  if (decode == Decoder::argmax || (decode == Decoder::expected && surrogate == SurrogateKind::qs))
    return std::make_unique<Argmax>(cost.k());
  throw UsageError("the decoder '" + std::string(to_string(decode)) + "' does not exist for the surrogate '" +
                   to_string(surrogate) + "'");
}

std::vector<std::int32_t> decode_rows(std::span<const double> scores, SurrogateKind surrogate, Decoder decode,
                                      double smoothing, const CostMatrix& cost, const Context& context) {
  constexpr std::size_t chunk = 512;
  const std::size_t k = cost.k();
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
