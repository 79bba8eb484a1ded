// The loop of a labelling game: when it asks the decoder, what it answers, and what it does when its steps stall. How
// it starts is in labelling_game_parts.h, the simplex steps are in labelling_game_pivots.h.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/views.h"
#include "games/labelling_game.h"

namespace m4n::detail::game {

// The inverse is computed again after this many pivots.
inline constexpr int refresh_interval = 100, careful_interval = 1;

// Steps that do not raise the value by this (in units of range/M) stall. After `patience` of them in a row the rows are
// shaken, so that steps have a length again; should it stall even so, what enters is chosen at random, and the rows are
// shaken anew a few times; after `long_patience` small violations count less, which ends a chase after roundings; in
// the end the method gives up.
inline constexpr double least_progress = 1e-13;
inline constexpr int patience = 30, long_patience = 500, most_shakes = 30;

inline void zero(PaddedRows<double> rows) { std::fill_n(rows.data(), rows.rows() * rows.stride(), 0.0); }

}  // namespace m4n::detail::game

namespace m4n::detail {
namespace game {

// The query point is kept near the best one so far after this many rounds (long labellings need fewer rounds so).
inline constexpr int plain_rounds = 5;
inline constexpr double trust = 0.7;
inline constexpr unsigned steps_between_questions = 4;  // whether to stop
// The pool is cleared when it is larger than this.
inline constexpr std::size_t pool_limit = 96;
// Costs closer than this (in units of their range) count as equal after a restart.
inline constexpr double coarse_cost = 1e-6;

// Multiply-adds after which the game is played on its tree, about what that costs: a node, and cubes of its labels.
inline constexpr double of_a_node = 4000, of_labels = 4;
// The gap (in units of range/M) that it is trusted to reach, and how much of the gap asked for it may leave.
inline constexpr double finest_of_tree = 2e-6;
inline constexpr double share_of_tree = 0.3;
// Long outputs are answered more exactly than they were asked: an iteration or two more, and fewer labels with mass.
inline constexpr double share_of_long_tree = 0.01;
// Longer outputs on a tree know no simplex method.
inline constexpr std::size_t longest_by_simplex = 100;

inline bool enough(const Bounds& bounds, const GameLimits& limits) {
  return bounds.upper - bounds.lower <= std::max(limits.gap, limits.relative * (bounds.upper - limits.current));
}

}  // namespace game

template <class Problem>
LabellingGame<Problem>::LabellingGame(std::span<const CostMatrix> costs) {
  double unit = 0;
  for (const CostMatrix& cost : costs) {
    most_truths_ = std::max(most_truths_, cost.k());
    most_predictions_ = std::max(most_predictions_, cost.predictions());
    square_ = square_ && !cost.has_actions();
    unit = std::max(unit, UnitCosts::unit_of(cost));
  }
  for (const CostMatrix& cost : costs) {
    if (square_) position_games_.emplace_back(cost);
    exact_.emplace_back(cost, 0, unit, most_truths_, most_predictions_);
    rounded_.emplace_back(cost, game::coarse_cost, unit, most_truths_, most_predictions_);
    zero_one_ = zero_one_ && exact_.back().zero_one();
  }
}

template <class Problem>
GameAnswer LabellingGame<Problem>::solve(const Scores& v, const GameLimits& limits, GameSeeds& seeds,
                                         Workspace& ws) const {
  ws.kind_of = Problem::kinds(v, exact_);
  ws.length = v.length();
  ws.unit = exact_[0].range() / static_cast<double>(ws.length);
  ws.least = exact_[0].least();
  if constexpr (!Problem::one_cost) {
    ws.least = 0;
    for (std::size_t m = 0; m < ws.length; ++m) ws.least += exact_at(m, ws).least() / static_cast<double>(ws.length);
  }
  ws.upper = std::numeric_limits<double>::infinity();
  ws.rounds = ws.stalls = ws.shakes = 0;
  ws.work = 0;
  ws.patience = static_cast<double>(ws.length) *
                (game::of_a_node + game::of_labels * std::pow(std::min(static_cast<double>(most_truths_), 64.0), 3));
  ws.tried_tree = ws.tired = false;
  ws.rng = Rng(1);
  ws.path.resize(ws.length);
  ws.tree_mass.clear();
  for (PaddedMatrix<double>* matrix : {&ws.active, &ws.nu, &ws.risk, &ws.rate, &ws.ease, &ws.best_nu, &ws.query_nu})
    matrix->shape(ws.length, most_predictions_);
  for (PaddedMatrix<double>* matrix : {&ws.shift, &ws.augmented}) matrix->shape(ws.length, most_truths_);
  ws.costs = exact_.data();
  ws.shaken = false;
  if (ws.length > game::longest_by_simplex && solve_long(v, limits, ws)) {
    seeds.clear();
    return certify(v, ws);
  }
  if (square_ && Problem::apart(v)) {
    solve_apart(v, ws);
    const GameAnswer answer = certify(v, ws);
    if (game::enough(answer.bounds, limits)) return answer;
  }
  if (!start_warm(v, seeds, ws)) start_cold(v, ws);
  ws.noise = 1e-12 * static_cast<double>(ws.length) * (1 + 1e-3 * std::abs(ws.top) / ws.unit);
  GameAnswer answer;
  for (;;) {
    const bool sound = improve(v, limits, ws);
    if (ws.tired) {
      ws.tired = false;
      ws.tried_tree = true;
      if (solve_tree(v, limits, ws)) {
        ws.tree.labellings(ws.weight, ws.sequence);
        answer = certify(v, ws);
        if (game::enough(answer.bounds, limits)) break;
      }
      continue;
    }
    if (!std::isfinite(ws.upper)) {  // given up before the first labelling was asked for
      ws.upper = query(v, clean_nu(0, ws), ws);
      std::swap(ws.best_nu, ws.query_nu);
    }
    gather(ws);
    answer = certify(v, ws);
    // What counts is what the weights attain, not what the inverse promised for rows that may have been shaken.
    if (!sound || ws.rounds >= limits.rounds || game::enough(answer.bounds, limits)) break;
    if (ws.age == 0 && !ws.shaken) break;
    ws.shaken = false;
    if (!refresh(ws) && !restart(v, ws)) break;
  }
  save_seeds(seeds, ws);
  if (ws.costs != exact_.data() &&
      ws.first_try.bounds.lower > answer.bounds.lower) {  // the second try has come to nothing
    ws.first_try.bounds.upper = std::max(ws.upper, ws.first_try.bounds.lower);
    ws.first_try.rounds = ws.rounds;
    ws.first_try.weight = ws.first_weight;
    ws.first_try.sequence = ws.first_sequence;
    ws.first_try.nu = answer.nu;
    return ws.first_try;
  }
  return answer;
}

// Simplex steps and labellings until the gap seems closed, rounds are used up or nothing gains any more. False if the
// basis fell to rounding errors, or the caller asks to stop.
template <class Problem>
bool LabellingGame<Problem>::improve(const Scores& v, const GameLimits& limits, Workspace& ws) const {
  ws.finished = false;
  double peak = -std::numeric_limits<double>::infinity();
  for (ws.stalls = 0; ws.stalls < 4 * game::long_patience; ++ws.stalls) {
    if (limits.stop != nullptr && ++ws.steps % game::steps_between_questions == 0 && (*limits.stop)()) return false;
    price_rows(ws);
    if (ws.attained > peak + game::least_progress) {
      peak = ws.attained;
      ws.stalls = 0;
    } else if (ws.stalls > (ws.shaken ? 4 : 1) * game::patience && ws.shakes < game::most_shakes) {
      shake(ws);
      peak = ws.attained;
      ws.stalls = 0;
    }
    Entering entering = choose_entering(ws);
    if (entering.kind == Kind::none) entering = ask_for_path(v, limits, ws);
    if (ws.finished) return true;
    if (entering.kind == Kind::reference) entering = change_reference(entering.index, ws);
    direct(entering, ws);
    const Leaving leaving = choose_leaving(ws);
    const bool blocked = leaving.kind != Kind::none;
    const std::size_t size = ws.support.size(), varied = ws.varied.size();
    ws.work += static_cast<double>(2 * size * size + 4 * varied * (size + most_predictions_));
    const double wanted = std::max(limits.gap, limits.relative * (ws.upper - limits.current));
    if (!ws.tried_tree && ws.work > ws.patience && std::isfinite(ws.upper) &&
        wanted >= game::finest_of_tree * ws.unit) {
      ws.tired = true;
      return true;
    }
    if (blocked) pivot(entering, leaving, ws);
    if (blocked && ws.age < (ws.costs == exact_.data() ? game::refresh_interval : game::careful_interval)) continue;
    // Time for a fresh inverse; or nothing blocks the step, and it has lost its precision.
    if (ws.age > 0 && refresh(ws)) continue;
    if (!restart(v, ws)) return false;
    peak = -std::numeric_limits<double>::infinity();
  }
  return false;
}

// The game on a tree by its own method. False if it is none, or nothing came of it.
template <class Problem>
bool LabellingGame<Problem>::solve_tree([[maybe_unused]] const Scores& v, [[maybe_unused]] const GameLimits& limits,
                                        [[maybe_unused]] Workspace& ws) const {
  if constexpr (requires { Problem::tree(v, ws.nodes); }) {
    if (!Problem::tree(v, ws.nodes)) return false;
    for (TreeNode& node : ws.nodes) node.costs = &exact_at(node.position, ws);
    const PaddedRows<double> own = ws.shift.view();
    for (std::size_t m = 0; m < ws.length; ++m)
      for (std::size_t k = 0; k < truths(m, ws); ++k) own(m, k) = Problem::own(v, m, k);
    const double lower = ws.top + ws.least + ws.unit * ws.value;
    const PaddedRows<double> nu = ws.query_nu.view();
    std::copy_n(ws.best_nu.view().data(), nu.rows() * nu.stride(), nu.data());
    const double wanted =
        std::max({limits.gap, limits.relative * (ws.upper - limits.current), game::finest_of_tree * ws.unit});
    const double share = ws.length > game::longest_by_simplex ? game::share_of_long_tree : game::share_of_tree;
    ws.tree.solve({ws.nodes, own, ws.unit, share * wanted, ws.upper - lower, limits.stop}, nu);
    if (!ws.tree.known()) return false;
    const double bound = query(v, nu, ws);
    ++ws.rounds;
    if (bound < ws.upper) {
      ws.upper = bound;
      std::swap(ws.best_nu, ws.query_nu);
    }
    return true;
  } else {
    return false;
  }
}

// A long output: the best labelling, or the masses of its tree if that does not do. False if it is no tree, or too
// large a one.
template <class Problem>
bool LabellingGame<Problem>::solve_long(const Scores& v, const GameLimits& limits, Workspace& ws) const {
  start_cold(v, ws);
  price_rows(ws);
  ws.upper = query(v, clean_nu(0, ws), ws);
  ++ws.rounds;
  std::swap(ws.best_nu, ws.query_nu);
  gather(ws);
  const GameAnswer answer = certify(v, ws);
  const auto stopped = [&] { return limits.stop != nullptr && (*limits.stop)(); };
  if (game::enough(answer.bounds, limits) || stopped()) return true;
  if (!solve_tree(v, limits, ws)) return stopped();
  ws.weight.clear();
  ws.sequence.clear();
  ws.tree.masses(ws.tree_mass);
  return true;
}

// When rounding errors have made the basis useless: once more from the start, with costs that agree where they nearly
// did, and a fresh inverse at every pivot. The bounds stay true: they are evaluated with the exact costs.
template <class Problem>
bool LabellingGame<Problem>::restart(const Scores& v, Workspace& ws) const {
  if (ws.costs != exact_.data()) return false;
  ws.costs = rounded_.data();
  gather(ws);
  ws.first_try = certify(v, ws);
  std::swap(ws.weight, ws.first_weight);
  std::swap(ws.sequence, ws.first_sequence);
  ws.shaken = false;
  start_cold(v, ws);
  return true;
}

// out[m] = L_m^T nu_m.
template <class Problem>
void LabellingGame<Problem>::expected_costs(PaddedRows<const double> nu, PaddedRows<double> out, Workspace& ws) const {
  for (std::size_t m = 0; m < nu.rows(); ++m) {
    const double* weight = nu.row(m);
    double* charge = out.row(m);
    const UnitCosts& costs = exact_at(m, ws);
    if (costs.zero_one()) {
      for (std::size_t t = 0; t < nu.stride(); ++t) charge[t] = 1 - weight[t];
      continue;
    }
    ws.index.clear();
    ws.mass.clear();
    for (std::size_t p = 0; p < costs.predictions(); ++p) {
      if (weight[p] == 0) continue;
      ws.index.push_back(static_cast<std::uint32_t>(p));
      ws.mass.push_back(weight[p]);
    }
    costs.apply_transposed(ws.index, ws.mass, out.padded_row(m));
  }
}

// nu as distributions: what the simplex method left below zero is cut off. A part of the best nu so far is mixed in.
template <class Problem>
PaddedRows<const double> LabellingGame<Problem>::clean_nu(double share_of_best, Workspace& ws) const {
  const PaddedRows<double> out = ws.query_nu.view();
  const PaddedRows<const double> best = std::as_const(ws.best_nu).view(), now = std::as_const(ws.nu).view();
  for (std::size_t m = 0; m < ws.length; ++m) {
    double total = 0;
    for (std::size_t y = 0; y < predictions(m, ws); ++y) total += std::max(now(m, y), 0.0);
    if (!(std::isfinite(total) && total > 0)) {  // the inverse is of no use: any distribution will do
      std::fill_n(out.row(m), out.stride(), 0.0);
      out(m, ws.reference[m]) = 1;
      continue;
    }
    const double scale = (1 - share_of_best) / total;
    for (std::size_t y = 0; y < out.stride(); ++y) out.row(m)[y] = scale * std::max(now.row(m)[y], 0.0);
    if (share_of_best > 0)
      for (std::size_t y = 0; y < out.stride(); ++y) out.row(m)[y] += share_of_best * best.row(m)[y];
  }
  return out;
}

// The best response to nu, left in ws.path; returns its value, an upper bound of the game.
template <class Problem>
double LabellingGame<Problem>::query(const Scores& v, PaddedRows<const double> nu, Workspace& ws) const {
  const PaddedRows<double> augmented = ws.augmented.view();
  expected_costs(nu, augmented, ws);
  for (std::size_t e = 0; e < augmented.rows() * augmented.stride(); ++e)
    augmented.data()[e] = v.unary.data()[e] + ws.unit * augmented.data()[e];
  return ws.least + Problem::decode(ws.decoder, v, augmented, ws.path);
}

template <class Problem>
typename LabellingGame<Problem>::Entering LabellingGame<Problem>::ask_for_path(const Scores& v,
                                                                               const GameLimits& limits,
                                                                               Workspace& ws) const {
  const double lower = ws.top + ws.least + ws.unit * ws.value;
  // At the second attempt, if any, the plain nu is asked: where no path gains, the game is solved.
  for (bool mixed = ws.rounds >= game::plain_rounds;; mixed = false) {
    const PaddedRows<const double> nu = clean_nu(mixed ? 1 - game::trust : 0, ws);
    const double bound = query(v, nu, ws);
    ++ws.rounds;
    if (bound < ws.upper) {
      ws.upper = bound;
      std::swap(ws.best_nu, ws.query_nu);
    }
    ws.finished = game::enough({lower, ws.upper}, limits) || ws.rounds >= limits.rounds;
    if (ws.finished) return {};
    const double gain = (score(v, ws.path) - ws.top) / ws.unit;
    if (ws.pool_size() > std::max(game::pool_limit, 2 * ws.support.size())) purge(ws);
    add_to_pool(ws.path.data(), gain, false, ws);
    const std::size_t last = ws.pool_size() - 1;
    const double reduced = gain + charge_of(ws.labels_of(last), ws) - ws.value;
    if (reduced > tolerance(ws.noise, ws)) return {Kind::sequence, last};
    ws.pool.resize(last * ws.length);
    ws.gain.pop_back();
    ws.basic.pop_back();
    if (!mixed) {  // solved, as far as the inverse can tell
      ws.finished = true;
      return {};
    }
  }
}

// The sequences with weight, from the basis.
template <class Problem>
void LabellingGame<Problem>::gather(Workspace& ws) const {
  ws.weight.clear();
  ws.sequence.clear();
  weigh(ws);
  for (std::size_t q = 0; q < ws.support.size(); ++q) {
    const double weight = ws.alpha[q];
    if (!(weight > 1e-13)) continue;
    ws.weight.push_back(weight);
    ws.sequence.insert(ws.sequence.end(), ws.labels_of(ws.support[q]), ws.labels_of(ws.support[q]) + ws.length);
  }
  if (ws.weight.empty()) {  // the inverse is of no use: any one sequence will do
    ws.weight.assign(1, 1.0);
    ws.sequence.assign(ws.path.begin(), ws.path.end());
  }
}

// Makes the weights a distribution and evaluates what they attain.
template <class Problem>
GameAnswer LabellingGame<Problem>::certify(const Scores& v, Workspace& ws) const {
  double total = 0;
  for (const double weight : ws.weight) total += weight;
  const PaddedRows<double> mass = ws.shift.view(), risk = ws.risk.view();
  game::zero(mass);
  double linear = 0;
  for (const TreeMass& part : ws.tree_mass) {
    const TreeNode& node = ws.nodes[part.node];
    mass(node.position, part.label) += part.mass;
    linear += part.mass * (Problem::own(v, node.position, part.label) + node.table_at(part.label, part.above));
  }
  for (std::size_t j = 0; j < ws.weight.size(); ++j) {
    const double weight = ws.weight[j] /= total;
    const std::int32_t* y = ws.sequence.data() + j * ws.length;
    linear += weight * score(v, {y, ws.length});
    for (std::size_t m = 0; m < ws.length; ++m) mass(m, static_cast<std::size_t>(y[m])) += weight;
  }
  ws.index_of_all.resize(ws.length);
  std::iota(ws.index_of_all.begin(), ws.index_of_all.end(), 0U);
  risks(exact_.data(), ws.index_of_all, mass, risk, ws);
  double least_risks = 0;
  for (std::size_t m = 0; m < ws.length; ++m)
    least_risks +=
        *std::min_element(risk.row(m), risk.row(m) + predictions(m, ws)) + (exact_at(m, ws).zero_one() ? 1 : 0);
  GameAnswer out;
  out.risk = ws.least + ws.unit * least_risks;
  out.bounds.lower = out.risk + linear;
  out.bounds.upper = std::max(ws.upper, out.bounds.lower);
  out.rounds = ws.rounds;
  out.weight = ws.weight;
  out.sequence = ws.sequence;
  if (!ws.tree_mass.empty()) out.nodes = ws.nodes;
  out.mass = ws.tree_mass;
  out.nu = std::as_const(ws.best_nu).view();
  return out;
}

}  // namespace m4n::detail

// What a labelling game does when it stalls. Where scores hardly differ and costs have symmetries, many weights and
// slacks of a basis are zero at once, steps have no length, and which of the bases of the same point comes next is a
// matter of chance: the way out may be longer than any patience. So the rows are eased, each by a random hair e >= 0,
//
//     t_m <= sum_j alpha_j L[y][y_jm] + e[m][y],
//
// chosen so that the present basis stays one, with all of its weights and slacks above zero. Its weights are then
// W (1, e[reference] - e[row], ...) instead of the first column of the inverse W. They still are a distribution, and
// what they attain is at most sum_m max_y e[m][y] less than what the eased rows promise.
namespace m4n::detail {
namespace game {

// The largest hair: a weight, or a slack in units of how much its row differs from the reference. Far above what a step
// may push below zero, far below the gaps that are asked for.
inline constexpr double hair = 2e-10;

}  // namespace game

// alpha, from the inverse and the right hand sides.
template <class Problem>
void LabellingGame<Problem>::weigh(Workspace& ws) const {
  const std::size_t size = ws.support.size();
  ws.alpha.resize(ws.inverse.stride());
  if (!ws.shaken) {
    for (std::size_t q = 0; q < size; ++q) ws.alpha[q] = ws.inverse(q, 0);
    return;
  }
  const PaddedRows<const double> ease = std::as_const(ws.ease).view();
  ws.side.resize(ws.inverse.stride());
  ws.side[0] = 1;
  for (std::size_t p = 1; p < size; ++p) {
    const auto [position, label] = ws.rows[p];
    ws.side[p] = ease(position, ws.reference[position]) - ease(position, label);
  }
  ws.inverse.apply(ws.side, ws.alpha);
}

template <class Problem>
void LabellingGame<Problem>::shake(Workspace& ws) const {
  ws.shaken = true;
  ++ws.shakes;
  const std::size_t size = ws.support.size();
  double total = 0;
  for (std::size_t q = 0; q < size; ++q) {
    ws.alpha[q] = std::max(ws.alpha[q], 0.0) + game::hair * ws.rng.uniform(0.5, 1);
    total += ws.alpha[q];
  }
  for (std::size_t q = 0; q < size; ++q) ws.alpha[q] /= total;
  expected_risks(ws);
  const PaddedRows<double> ease = ws.ease.view();
  game::zero(ease);
  for (std::size_t m = 0; m < ws.length; ++m) {
    const double* active = ws.active.view().row(m);
    const double* risk = ws.risk.view().row(m);
    const double* unit = at(m, ws).contrast(ws.reference[m]).data();
    double level = 0;
    if (ws.is_varied[m] != 0) {
      level = risk[ws.reference[m]];
      for (std::size_t y = 0; y < predictions(m, ws); ++y)
        if (active[y] != 0) level = std::max(level, risk[y]);
    }
    for (std::size_t y = 0; y < predictions(m, ws); ++y) {
      if (ws.is_varied[m] != 0) ease(m, y) = active[y] != 0 ? level - risk[y] : std::max(level - risk[y], 0.0);
      if (active[y] == 0) ease(m, y) += game::hair * unit[y] * ws.rng.uniform(0.5, 1);
    }
  }
  ease_risks(ws);
  price_rows(ws);
}

// The risks of the eased rows.
template <class Problem>
void LabellingGame<Problem>::ease_risks(Workspace& ws) const {
  for (const std::size_t m : ws.varied)
    for (std::size_t y = 0; y < predictions(m, ws); ++y) ws.risk.view()(m, y) += ws.ease.view()(m, y);
}

}  // namespace m4n::detail
