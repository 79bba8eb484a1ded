// Max-min oracles over permutations, one call at a time, on normal scores of standard deviation `spread` / M: 1 is
// where training begins, 10 where it ends. Warm: every score has moved by a twentieth of its deviation since the last
// visit. Gaps are certified, as a share of the range of the loss: the largest over all calls, and how many calls left
// more than 1e-6. Mirror prox runs until 1e-3, for
// 2000 iterations at most.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/rng.h"
#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/birkhoff_mirror_prox.h"
#include "structures/permutations/gibbs.h"
#include "structures/permutations/rank_one_game.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

struct Scores {
  std::size_t size;
  double spread;
  std::vector<std::vector<double>> before, now;
};

Scores normal_scores(std::size_t m, double spread, std::size_t cells, std::size_t count) {
  Scores out{m, spread, {}, {}};
  Rng rng(m);
  const double deviation = spread / static_cast<double>(m);
  for (std::size_t c = 0; c < count; ++c) {
    std::vector<double> before(cells), now(cells);
    for (std::size_t e = 0; e < cells; ++e) {
      before[e] = deviation * rng.normal();
      now[e] = before[e] + 0.05 * deviation * rng.normal();
    }
    out.before.push_back(std::move(before));
    out.now.push_back(std::move(now));
  }
  return out;
}

// Times answer(c) over all scores and looks at the gaps it leaves.
template <class Answer>
void measure(const std::string& method, const PositionLoss& loss, const Scores& scores, double budget, Json& rows,
             Answer&& answer) {
  const std::size_t count = scores.now.size();
  const double us = microseconds_each(count, budget, [&](std::size_t c) { answer(c); });
  double largest = 0, open = 0, rounds = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const BirkhoffAnswer a = answer(c);
    const double gap = (a.bounds.upper - a.bounds.lower) / loss.range();
    largest = std::max(largest, gap);
    open += gap > 1e-6 ? 1 : 0;
    rounds += a.rounds;
  }
  const auto calls = static_cast<double>(count);
  rows.push_back({{"loss", loss.name()},
                  {"size", scores.size},
                  {"spread", scores.spread},
                  {"method", method},
                  {"microseconds", us},
                  {"rounds", rounds / calls},
                  {"gap_max", largest},
                  {"open", open / calls}});
  fmt::print(stderr, "  {} M = {}, spread {}, {}: {:.2f} us, {:.1f} rounds, gap {:.1e}, {:.0f}% open\n", loss.name(),
             scores.size, scores.spread, method, us, rounds / calls, largest, 100 * open / calls);
}

void oracles(const PositionLoss& loss, const Scores& scores, double budget, bool with_mirror_prox, Json& rows) {
  const BirkhoffLimits limits;
  const std::size_t m = loss.size(), count = scores.now.size();
  BirkhoffInterior interior;
  measure("interior point", loss, scores, budget, rows,
          [&](std::size_t c) { return interior.solve(scores.now[c], loss, limits); });
  const std::vector<double> centre(m * m, 1 / static_cast<double>(m));
  measure("interior point, proximal", loss, scores, budget, rows, [&](std::size_t c) {
    return interior.prox(scores.now[c], loss, loss.range() / static_cast<double>(m), centre, limits);
  });
  BirkhoffDouble twice;
  BirkhoffSeeds seeds;
  const std::size_t room = BirkhoffDouble::usual_room(m);
  measure("double oracle, cold", loss, scores, budget, rows, [&](std::size_t c) {
    seeds.clear();
    return twice.solve(scores.now[c], loss, limits, room, seeds);
  });
  std::vector<BirkhoffSeeds> kept(count);
  for (std::size_t c = 0; c < count; ++c) twice.solve(scores.before[c], loss, limits, room, kept[c]);
  measure("double oracle, warm", loss, scores, budget, rows, [&](std::size_t c) {
    seeds = kept[c];
    return twice.solve(scores.now[c], loss, limits, room, seeds);
  });
  BirkhoffGame game;
  for (std::size_t c = 0; c < count; ++c) {
    kept[c] = {};
    game.solve(scores.before[c], loss, limits, kept[c]);
  }
  measure("chosen, warm", loss, scores, budget, rows, [&](std::size_t c) {
    seeds = kept[c];
    return game.solve(scores.now[c], loss, limits, seeds);
  });
  if (!with_mirror_prox) return;
  BirkhoffMirrorProx mirror;
  Scores few = scores;
  few.now.resize(std::min<std::size_t>(few.now.size(), 5));
  measure("mirror prox to 1e-3", loss, few, budget, rows, [&](std::size_t c) {
    return mirror.solve(few.now[c], loss, {1e-3, 2000});
  });
}

void closed_form(std::size_t m, double budget, Json& rows) {
  const PositionLoss loss = PositionLoss::squared(m);
  const Scores scores = normal_scores(m, static_cast<double>(m), m, 200);
  RankOneGame game;
  std::vector<double> gain(m), discount(m);
  measure("closed form", loss, scores, budget, rows, [&](std::size_t c) {
    BirkhoffAnswer out;
    out.bounds = game.solve(scores.now[c], loss, gain, discount);
    return out;
  });
}

Json gibbs(double budget) {
  Json rows = Json::array();
  PermutationGibbs space;
  for (const std::size_t m : {6, 8, 10, 12, 14, 16}) {
    const Scores scores = normal_scores(m, 3, m * m, 10);
    std::vector<double> p(m * m);
    const double us = microseconds_each(10, budget, [&](std::size_t c) { space.marginals(scores.now[c], m, p); });
    rows.push_back({{"size", m}, {"microseconds", us}});
    fmt::print(stderr, "  Gibbs marginals, M = {}: {:.2f} us\n", m, us);
  }
  return rows;
}

Json birkhoff(const Settings& settings) {
  const double budget = settings.quick ? 0.002 : 0.2;
  Json rows = Json::array();
  for (const std::size_t m : {6, 10, 12, 16, 20})
    for (const double spread : {1.0, 3.0, 10.0})
      oracles(PositionLoss::hamming(m), normal_scores(m, spread, m * m, 100), budget, true, rows);
  for (const std::size_t m : {6, 10})
    for (const double spread : {1.0, 3.0, 10.0}) {
      const PositionLoss loss = PositionLoss::footrule(m);
      oracles(loss, normal_scores(m, spread * loss.range(), m * m, 50), budget, false, rows);
    }
  for (const std::size_t m : {10, 100, 1000}) closed_form(m, budget, rows);
  return {{"birkhoff", rows}, {"permutation_gibbs", gibbs(budget)}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::birkhoff); }
