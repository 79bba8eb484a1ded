// All of the labelling game, for the source files that compile it for one problem; here is how it starts, from one
// labelling or from the basis of the last visit, and its pool of labellings.
#pragma once
#include <algorithm>

#include "games/labelling_game.h"
#include "games/labelling_game_loop.h"    // IWYU pragma: export
#include "games/labelling_game_pivots.h"  // IWYU pragma: export
namespace m4n::detail {
namespace game {

// Larger bases are not kept: to invert them costs more than to start anew.
inline constexpr std::size_t seed_limit = 256;
// Sequences that are this far from entering the basis (in units of range/M) are forgotten when the pool is cleared.
inline constexpr double hopeless = -0.3;

}  // namespace game

// S = {best path}, in every position the row of least cost for it.
template <class Problem>
void LabellingGame<Problem>::start_cold(const Scores& v, Workspace& ws) const {
  ws.top = Problem::decode(ws.decoder, v, v.unary, ws.path);
  ws.support.assign(1, 0);
  ws.rows.assign(1, {});
  ws.reference.resize(ws.length);
  ws.inverse.set_one();
  ws.age = 0;
  game::zero(ws.active.view());
  for (std::size_t m = 0; m < ws.length; ++m) {
    const double* risk = at(m, ws).of_truth(static_cast<std::size_t>(ws.path[m])).data();
    ws.reference[m] = static_cast<std::uint32_t>(std::min_element(risk, risk + predictions(m, ws)) - risk);
    ws.active.view()(m, ws.reference[m]) = 1;
  }
  clear_pool(ws);
  add_to_pool(ws.path.data(), 0, true, ws);
}

template <class Problem>
bool LabellingGame<Problem>::start_warm(const Scores& v, const GameSeeds& seeds, Workspace& ws) const {
  const std::size_t size = seeds.row.size() + 1;
  if (seeds.reference.size() != ws.length || seeds.sequence.size() != size * ws.length) return false;
  for (std::size_t m = 0; m < ws.length; ++m) {
    if (seeds.reference[m] >= predictions(m, ws)) return false;
    for (std::size_t j = 0; j < size; ++j)
      if (seeds.sequence[j * ws.length + m] >= truths(m, ws)) return false;
  }
  ws.reference.assign(seeds.reference.begin(), seeds.reference.end());
  ws.rows.assign(1, {});
  game::zero(ws.active.view());
  for (std::size_t m = 0; m < ws.length; ++m) ws.active.view()(m, ws.reference[m]) = 1;
  for (const GameRow& row : seeds.row) {
    if (row.position >= ws.length || row.label >= predictions(row.position, ws) ||
        ws.active.view()(row.position, row.label) != 0)
      return false;
    ws.active.view()(row.position, row.label) = 1;
    ws.rows.push_back(row);
  }
  clear_pool(ws);
  ws.support.resize(size);
  for (std::size_t j = 0; j < size; ++j) {
    std::copy_n(seeds.sequence.begin() + static_cast<std::ptrdiff_t>(j * ws.length), ws.length, ws.path.begin());
    ws.support[j] = j;
    add_to_pool(ws.path.data(), score(v, ws.path), true, ws);
  }
  ws.top = *std::max_element(ws.gain.begin(), ws.gain.end());
  for (double& gain : ws.gain) gain = (gain - ws.top) / ws.unit;
  for (std::size_t m = 0; m < ws.length; ++m) {  // where all sequences agree, the reference must be a best prediction
    const double* risk = at(m, ws).of_truth(static_cast<std::size_t>(ws.labels_of(0)[m])).data();
    if (ws.is_varied[m] == 0 && risk[ws.reference[m]] > *std::min_element(risk, risk + predictions(m, ws)))
      return false;
  }
  return refresh(ws);
}

// The pool is empty and the references are set.
template <class Problem>
void LabellingGame<Problem>::clear_pool(Workspace& ws) const {
  ws.pool.clear();
  ws.gain.clear();
  ws.basic.clear();
  ws.varied.clear();
  ws.is_varied.assign(ws.length, 0);
  ws.constant = 0;
  const PaddedRows<double> nu = ws.nu.view();
  game::zero(nu);
  for (std::size_t m = 0; m < ws.length; ++m) nu(m, ws.reference[m]) = 1;
}

template <class Problem>
void LabellingGame<Problem>::add_to_pool(const std::int32_t* y, double gain, bool basic, Workspace& ws) const {
  ws.pool.insert(ws.pool.end(), y, y + ws.length);
  ws.gain.push_back(gain);
  ws.basic.push_back(basic);
  const std::int32_t* first = ws.labels_of(0);
  for (std::size_t m = 0; m < ws.length; ++m) {
    const auto label = static_cast<std::size_t>(first[m]);
    const double cost_of_reference = at(m, ws)(ws.reference[m], label);
    if (ws.pool_size() == 1) ws.constant += cost_of_reference;
    if (y[m] == first[m] || ws.is_varied[m] != 0) continue;
    std::ranges::copy(at(m, ws).of_truth(label), ws.risk.view().row(m));
    if (ws.shaken)
      for (std::size_t e = 0; e < predictions(m, ws); ++e) ws.risk.view()(m, e) += ws.ease.view()(m, e);
    ws.is_varied[m] = 1;
    ws.varied.push_back(static_cast<std::uint32_t>(m));
    ws.constant -= cost_of_reference;
  }
}

template <class Problem>
void LabellingGame<Problem>::save_seeds(GameSeeds& seeds, const Workspace& ws) const {
  seeds.clear();
  if (ws.support.size() > game::seed_limit) return;
  for (const std::size_t j : ws.support)
    for (std::size_t m = 0; m < ws.length; ++m)
      seeds.sequence.push_back(static_cast<std::uint16_t>(ws.labels_of(j)[m]));
  for (const std::uint32_t label : ws.reference) seeds.reference.push_back(static_cast<std::uint16_t>(label));
  seeds.row.assign(ws.rows.begin() + 1, ws.rows.end());
}

// Forgets the sequences outside the basis that have little hope to enter it again.
template <class Problem>
void LabellingGame<Problem>::purge(Workspace& ws) const {
  std::vector<std::size_t>& place = ws.others;
  place.assign(ws.pool_size(), 0);
  std::size_t kept = 0;
  for (std::size_t j = 0; j < ws.pool_size(); ++j) {
    if (ws.basic[j] == 0 && ws.gain[j] + charge_of(ws.labels_of(j), ws) - ws.value < game::hopeless) continue;
    place[j] = kept;
    std::copy_n(ws.labels_of(j), ws.length, ws.labels_of(kept));
    ws.gain[kept] = ws.gain[j];
    ws.basic[kept] = ws.basic[j];
    ++kept;
  }
  for (std::size_t& j : ws.support) j = place[j];
  ws.gain.resize(kept);
  ws.basic.resize(kept);
  ws.pool.resize(kept * ws.length);
}

}  // namespace m4n::detail
