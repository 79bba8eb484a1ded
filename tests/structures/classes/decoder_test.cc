// Decoders against what defines them.
#include "structures/classes/decoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/kernels.h"
#include "core/rng.h"
#include "core/views.h"
#include "m4n/error.h"
#include "support/clp_game.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

CostMatrix ten_to_one() {
  return CostMatrix::from_values({0, 1, 1, 10, 0, 1, 10, 1, 0}, 3, "matrix", {"a", "b", "c"}, "test");
}

AlignedVector<double> padded(std::vector<double> v) {
  v.resize(kernels::padded(v.size()), kernels::padding_score);
  return {v.begin(), v.end()};
}

TEST(Decoder, Defaults) {
  const CostMatrix symmetric = CostMatrix::named("absolute", 4), asymmetric = ten_to_one();
  EXPECT_EQ(usual_decoder(SurrogateKind::m4n, 0, symmetric.symmetric(), Decoder::argmax), Decoder::argmax);
  EXPECT_EQ(usual_decoder(SurrogateKind::m4n, 0, asymmetric.symmetric(), Decoder::argmax), Decoder::adversary);
  EXPECT_EQ(usual_decoder(SurrogateKind::m4n, 1, symmetric.symmetric(), Decoder::argmax), Decoder::expected);
  EXPECT_EQ(usual_decoder(SurrogateKind::m3n, 0, asymmetric.symmetric(), Decoder::argmax), Decoder::argmax);
  EXPECT_EQ(usual_decoder(SurrogateKind::crf, 0, asymmetric.symmetric(), Decoder::argmax), Decoder::expected);
  EXPECT_EQ(usual_decoder(SurrogateKind::qs, 0, asymmetric.symmetric(), Decoder::argmax), Decoder::argmax);
}

TEST(Decoder, CombinationsWithoutMeaningAreRefused) {
  const CostMatrix cost = ten_to_one();
  EXPECT_THROW(make_decoder({SurrogateKind::m4n, Decoder::expected, 0, &cost}), UsageError);
  EXPECT_THROW(make_decoder({SurrogateKind::m3n, Decoder::adversary, 0, &cost}), UsageError);
  EXPECT_THROW(make_decoder({SurrogateKind::crf, Decoder::adversary, 0, &cost}), UsageError);
}

TEST(Decoder, ExpectedCostOfTheCrf) {
  Rng rng(1);
  const CostMatrix cost = ten_to_one();
  const auto decoder = make_decoder({SurrogateKind::crf, Decoder::automatic, 0, &cost});
  for (int trial = 0; trial < 500; ++trial) {
    const AlignedVector<double> v = padded({rng.normal(), rng.normal(), rng.normal()});
    double risk[3] = {0, 0, 0};
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t p = 0; p < 3; ++p) risk[p] += std::exp(v[t]) * cost(t, p);
    const auto y = static_cast<std::size_t>(decoder->decode(v, 0));
    for (const double r : risk) EXPECT_LE(risk[y], r * (1 + 1e-12));
  }
}

// The min player's most likely answer carries mass at least 1/k, so without it the min player must do worse.
TEST(Decoder, TheAdversarysAnswerMatters) {
  Rng rng(2);
  const CostMatrix cost = ten_to_one();
  const auto decoder = make_decoder({SurrogateKind::m4n, Decoder::adversary, 0, &cost});
  int differs_from_argmax = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const AlignedVector<double> v = padded({3 * rng.normal(), 3 * rng.normal(), 3 * rng.normal()});
    const auto y = static_cast<std::size_t>(decoder->decode(v, 0));
    const double value = test::clp_game_value(cost, std::span(v).first(3));
    double best = 1e300;
    for (int step = 0; step <= 1000; ++step) {  // nu on the two other answers
      const double share = step / 1000.0;
      const std::size_t a = (y + 1) % 3, b = (y + 2) % 3;
      double worst = -1e300;
      for (std::size_t t = 0; t < 3; ++t) worst = std::max(worst, v[t] + share * cost(t, a) + (1 - share) * cost(t, b));
      best = std::min(best, worst);
    }
    EXPECT_GT(best, value + 1e-9);
    if (v[y] < std::max({v[0], v[1], v[2]})) ++differs_from_argmax;
  }
  EXPECT_GT(differs_from_argmax, 10);
}

// Where scores are minus the expected costs of a distribution (the ideal scores of M4N are -A^T phi(f*)), every decoder
// returns the best answer.
TEST(Decoder, IdealScoresDecodeToTheirClass) {
  for (const CostMatrix& cost : {ten_to_one(), CostMatrix::named("absolute", 5), CostMatrix::named("zero-one", 4)}) {
    for (std::size_t best = 0; best < cost.k(); ++best) {
      AlignedVector<double> v(kernels::padded(cost.k()), kernels::padding_score);
      for (std::size_t t = 0; t < cost.k(); ++t) v[t] = -cost(t, best);  // -A^T phi(best)
      const auto expected = static_cast<std::int32_t>(best);
      EXPECT_EQ(make_decoder({SurrogateKind::m4n, Decoder::adversary, 0, &cost})->decode(v, 0), expected);
      EXPECT_EQ(make_decoder({SurrogateKind::m4n, Decoder::expected, 0.5, &cost})->decode(v, 0), expected);
      EXPECT_EQ(make_decoder({SurrogateKind::m4n, Decoder::argmax, 0, &cost})->decode(v, 0), expected);
    }
  }
}

}  // namespace
}  // namespace m4n::detail
