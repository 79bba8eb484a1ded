// One decoder for each rule of decoder.h, and the choice among them.
#include "structures/classes/decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>

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
  std::int32_t decode(std::span<const double> v, std::size_t) override { return space_.decode(v); }

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
  std::int32_t decode(std::span<const double> v, std::size_t example) override {
    if constexpr (std::is_same_v<MaxMin, ExampleMaxMin>) maxmin_.choose(example, workspace_);
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
  ExpectedCost(const CostMatrix& cost, const ExampleCosts* examples)
      : loss_(cost),
        examples_(examples),
        mu_(kernels::padded(cost.k())),
        risk_(loss_.padded_predictions()),
        row_(cost.predictions()) {}
  std::int32_t decode(std::span<const double> v, std::size_t example) override {
    kernels::softmax(v, mu_);
    if (examples_ == nullptr)
      loss_.apply(mu_, risk_);
    else
      apply(example);
    const auto end = risk_.begin() + static_cast<std::ptrdiff_t>(loss_.cost().predictions());
    return static_cast<std::int32_t>(std::min_element(risk_.begin(), end) - risk_.begin());
  }

 private:
  void apply(std::size_t example) {
    std::fill(risk_.begin(), risk_.end(), 0.0);
    for (std::size_t t = 0; t < loss_.k(); ++t) {
      examples_->scaled_of_truth(example, t, row_);
      for (std::size_t p = 0; p < row_.size(); ++p) risk_[p] += mu_[t] * row_[p];
    }
  }
  SimplexLoss loss_;
  const ExampleCosts* examples_;
  AlignedVector<double> mu_, risk_, row_;
};

// The smoothed maximiser mu(v) often sits on a kink of h, where several predictions share the least expected cost. The
// min player's strategy nu is positive only on those, so its most likely answer is the one among them.
class SmoothedExpectedCost final : public ScoreDecoder {
 public:
  explicit SmoothedExpectedCost(const DecodingRule& rule)
      : cost_(*rule.cost),
        game_(std::make_unique<ExampleMaxMin::Game>(cost_, MatrixMaxMin::all_solves)),
        g_(smoothing_in_costs(rule.smoothing, cost_)),
        shifted_(kernels::padded(cost_.k())),
        mu_(shifted_),
        state_(game_->maxmin.state_size()) {
    if (rule.examples != nullptr) examples_.emplace(*rule.examples, MatrixMaxMin::all_solves);
  }
  std::int32_t decode(std::span<const double> v, std::size_t example) override {
    solve(v, example);
    return most_likely(game_->workspace.nu, v, cost_);
  }
  // mu(v), padded.
  std::span<const double> marginals(std::span<const double> v, std::size_t example) {
    solve(v, example);
    return mu_;
  }

 private:
  void solve(std::span<const double> v, std::size_t example) {
    if (examples_) examples_->choose(example, game_);
    const std::size_t k = cost_.k();
    const double uniform = 1 / static_cast<double>(k);
    for (std::size_t j = 0; j < k; ++j) {
      mu_[j] = uniform;
      shifted_[j] = v[j] - g_ * uniform;
    }
    std::fill(state_.begin(), state_.end(), std::uint8_t{0});
    game_->maxmin.prox(shifted_, g_, {}, mu_, state_, game_->workspace);
    game_->maxmin.fold_copies(game_->workspace.nu);
  }

  const CostMatrix& cost_;
  ExampleMaxMin::Workspace game_;
  std::optional<ExampleMaxMin> examples_;
  double g_;
  AlignedVector<double> shifted_, mu_;
  std::vector<std::uint8_t> state_;
};

std::unique_ptr<ScoreDecoder> make_adversary(const DecodingRule& rule) {
  return with_maxmin(*rule.cost, rule.examples, MatrixMaxMin::few_solves,
                     [&]<class MaxMin>(MaxMin maxmin) -> std::unique_ptr<ScoreDecoder> {
                       return std::make_unique<Adversary<MaxMin>>(std::move(maxmin), *rule.cost);
                     });
}

}  // namespace

std::size_t score_count(SurrogateKind surrogate, const CostMatrix& cost) {
  return surrogate == SurrogateKind::qs ? cost.predictions() : cost.k();
}

bool knows_costs(SurrogateKind surrogate, Decoder decode) {
  return surrogate != SurrogateKind::qs && decode != Decoder::argmax;
}

std::unique_ptr<ScoreDecoder> make_decoder(const DecodingRule& rule) {
  const auto [surrogate, asked, smoothing, cost, examples] = rule;
  const Decoder decode =
      asked == Decoder::automatic ? usual_decoder(surrogate, smoothing, cost->symmetric(), Decoder::argmax) : asked;
  const bool smoothed = surrogate == SurrogateKind::m4n && smoothing > 0;
  if (decode == Decoder::adversary && surrogate == SurrogateKind::m4n) return make_adversary(rule);
  if (decode == Decoder::expected && surrogate == SurrogateKind::crf)
    return std::make_unique<ExpectedCost>(*cost, examples);
  if (decode == Decoder::expected && smoothed) return std::make_unique<SmoothedExpectedCost>(rule);
  // QS: v itself estimates minus the expected costs.
  if (decode == Decoder::argmax || (decode == Decoder::expected && surrogate == SurrogateKind::qs))
    return std::make_unique<Argmax>(score_count(surrogate, *cost));
  throw UsageError("the decoder '" + std::string(to_string(decode)) + "' does not exist for the surrogate '" +
                   to_string(surrogate) + "'");
}

std::vector<double> row_marginals(std::span<const double> scores, const DecodingRule& rule) {
  const std::size_t k = rule.cost->k();
  std::vector<double> out(scores.size());
  AlignedVector<double> v(kernels::padded(k), kernels::padding_score), mu(v.size());
  std::optional<SmoothedExpectedCost> smoothed;
  if (rule.smoothing > 0) smoothed.emplace(rule);
  for (std::size_t i = 0; i < scores.size(); i += k) {
    std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i), k, v.begin());
    if (smoothed)
      std::copy_n(smoothed->marginals(v, i / k).begin(), k, mu.begin());
    else
      kernels::softmax(v, mu);
    std::copy_n(mu.begin(), k, out.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return out;
}

std::vector<std::int32_t> decode_rows(std::span<const double> scores, const DecodingRule& rule,
                                      const Context& context) {
  constexpr std::size_t chunk = 512;
  const std::size_t k = score_count(rule.surrogate, *rule.cost);
  std::vector<std::int32_t> out(scores.size() / k);
  parallel_chunks(out.size(), chunk, context.threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
    const auto decoder = make_decoder(rule);
    AlignedVector<double> v(kernels::padded(k), kernels::padding_score);
    for (std::size_t i = first; i < last; ++i) {
      std::copy_n(scores.begin() + static_cast<std::ptrdiff_t>(i * k), k, v.begin());
      if (!std::all_of(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(k), kernels::is_score))
        throw Error(say("row {} (counted from 1) has scores beyond what can be computed with", i + 1));
      out[i] = decoder->decode(v, i);
    }
  });
  return out;
}

}  // namespace m4n::detail
