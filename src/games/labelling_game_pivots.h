// The simplex steps of a labelling game. Notation of labelling_game.h; B is the matrix of the basis: its first row is
// all ones, row p says that the risk of row p equals the risk of the reference of its position,
//     B[p][q] = L[y_p][label of q at m_p] - L[reference of m_p][label of q at m_p].
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "games/closed_form.h"
#include "games/labelling_game.h"
#include "games/labelling_game_loop.h"

namespace m4n::detail {

namespace game {

// How far below zero a weight or a slack may be pushed so that the step can choose the steadiest pivot.
inline constexpr double slip = 1e-11;
// Slower than this does not count as falling.
inline constexpr double least_pivot = 1e-9;
// A basis whose weights or slacks are further below zero is not worth going on with.
inline constexpr double largest_error = 1e-8;
// Weights of nu below minus this are worth a step.
inline constexpr double least_violation = 1e-10;

}  // namespace game

template <class Problem>
double LabellingGame<Problem>::entry(const GameRow& row, const std::int32_t* y, const Workspace& ws) const {
  const auto label = static_cast<std::size_t>(y[row.position]);
  const UnitCosts& costs = at(row.position, ws);
  return costs(row.label, label) - costs(ws.reference[row.position], label);
}

// out[m] = L_m mass[m] for the positions given, less the sum of the masses where the loss is zero-one.
template <class Problem>
void LabellingGame<Problem>::risks(const UnitCosts* kinds, std::span<const std::uint32_t> positions,
                                   PaddedRows<const double> mass, PaddedRows<double> out, Workspace& ws) const {
  for (const std::size_t m : positions) {
    const double* from = mass.row(m);
    const UnitCosts& costs = kinds[kind(m, ws)];
    if (costs.zero_one()) {
      for (std::size_t y = 0; y < mass.stride(); ++y) out.row(m)[y] = -from[y];
      continue;
    }
    ws.index.clear();
    ws.mass.clear();
    for (std::size_t t = 0; t < costs.truths(); ++t) {
      if (from[t] == 0) continue;
      ws.index.push_back(static_cast<std::uint32_t>(t));
      ws.mass.push_back(from[t]);
    }
    costs.apply(ws.index, ws.mass, out.padded_row(m));
  }
}

// The risks of alpha at the positions that play a part.
template <class Problem>
void LabellingGame<Problem>::expected_risks(Workspace& ws) const {
  const PaddedRows<double> mass = ws.shift.view();
  for (const std::size_t m : ws.varied) std::fill_n(mass.row(m), mass.stride(), 0.0);
  for (std::size_t q = 0; q < ws.support.size(); ++q) {
    const std::int32_t* y = ws.labels_of(ws.support[q]);
    for (const std::size_t m : ws.varied) mass(m, static_cast<std::size_t>(y[m])) += ws.alpha[q];
  }
  risks(ws.costs, ws.varied, mass, ws.risk.view(), ws);
}

// Inverse, weights and risks from scratch; false if the basis is singular or infeasible.
template <class Problem>
bool LabellingGame<Problem>::refresh(Workspace& ws) const {
  const auto element = [&](std::size_t p, std::size_t q) {
    return p == 0 ? 1.0 : entry(ws.rows[p], ws.labels_of(ws.support[q]), ws);
  };
  ws.age = 0;
  if (!ws.inverse.invert(ws.support.size(), element)) return false;
  weigh(ws);
  for (std::size_t q = 0; q < ws.support.size(); ++q)
    if (!(ws.alpha[q] > -game::largest_error)) return false;
  expected_risks(ws);
  if (ws.shaken) ease_risks(ws);
  const PaddedRows<const double> risk = std::as_const(ws.risk).view();
  for (const std::size_t m : ws.varied) {
    const double level = risk(m, ws.reference[m]) - game::largest_error;
    if (*std::min_element(risk.row(m), risk.row(m) + predictions(m, ws)) < level) return false;
  }
  return true;
}

// The weights, the multipliers of the rows: nu, and the value of the program.
template <class Problem>
void LabellingGame<Problem>::price_rows(Workspace& ws) const {
  const std::size_t size = ws.support.size();
  ws.inverse.reserve(size + 1);
  for (AlignedVector<double>* vector : {&ws.objective, &ws.price, &ws.image, &ws.border, &ws.column})
    vector->resize(ws.inverse.stride());
  for (std::size_t q = 0; q < size; ++q) {
    const std::int32_t* y = ws.labels_of(ws.support[q]);
    double sum = ws.gain[ws.support[q]] + ws.constant;
    for (const std::size_t m : ws.varied) sum += at(m, ws)(ws.reference[m], static_cast<std::size_t>(y[m]));
    ws.objective[q] = sum;
  }
  ws.inverse.apply_transposed(ws.objective, ws.price);
  ws.value = ws.price[0];
  weigh(ws);
  ws.attained = ws.value;
  if (ws.shaken) {
    ws.attained = 0;
    for (std::size_t q = 0; q < size; ++q) ws.attained += ws.objective[q] * ws.alpha[q];
    for (const std::size_t m : ws.varied) ws.attained += ws.ease.view()(m, ws.reference[m]);
  }
  const PaddedRows<double> nu = ws.nu.view();
  for (const std::size_t m : ws.varied) {
    std::fill_n(nu.row(m), nu.stride(), 0.0);
    nu(m, ws.reference[m]) = 1;
  }
  for (std::size_t p = 1; p < size; ++p) {
    const auto [position, label] = ws.rows[p];
    nu(position, label) = -ws.price[p];
    nu(position, ws.reference[position]) += ws.price[p];
  }
}

template <class Problem>
double LabellingGame<Problem>::charge_of(const std::int32_t* y, const Workspace& ws) const {
  const PaddedRows<const double> nu = ws.nu.view();
  double sum = ws.constant;
  if (zero_one_) {
    for (const std::size_t m : ws.varied) sum += 1 - nu(m, static_cast<std::size_t>(y[m]));
  } else {
    for (const std::size_t m : ws.varied) sum += at(m, ws)(ws.reference[m], static_cast<std::size_t>(y[m]));
    for (std::size_t p = 1; p < ws.rows.size(); ++p) sum -= ws.price[p] * entry(ws.rows[p], y, ws);
  }
  return sum;
}

// What a violation must exceed: `least`, and ten times that for every long stretch of steps without progress.
template <class Problem>
double LabellingGame<Problem>::tolerance(double least, const Workspace& ws) {
  if (ws.stalls < game::long_patience) return least;
  return least * std::pow(10.0, std::min(ws.stalls / game::long_patience, 3));
}

template <class Problem>
typename LabellingGame<Problem>::Entering LabellingGame<Problem>::choose_entering(Workspace& ws) const {
  Entering best;
  double rank = 0;
  const auto offer = [&](Kind kind, std::size_t index, double violation) {
    const double own = ws.stalls > game::patience ? violation * ws.rng.uniform() : violation;
    if (own <= rank) return;
    rank = own;
    best = {kind, index};
  };
  const double least_price = tolerance(game::least_violation, ws), least_reduced = tolerance(ws.noise, ws);
  for (std::size_t p = 1; p < ws.rows.size(); ++p)
    if (ws.price[p] > least_price) offer(Kind::row, p, ws.price[p]);
  for (const std::size_t m : ws.varied) {
    const double weight = ws.nu.view()(m, ws.reference[m]);
    if (weight < -least_price) offer(Kind::reference, m, -weight);
  }
  if (ws.pool_size() > ws.support.size()) {
    for (std::size_t j = 0; j < ws.pool_size(); ++j) {
      if (ws.basic[j] != 0) continue;
      const double reduced = ws.gain[j] + charge_of(ws.labels_of(j), ws) - ws.value;
      if (reduced > least_reduced) offer(Kind::sequence, j, reduced);
    }
  }
  return best;
}

// Makes another active row of the position its reference; the old one takes its place in the basis, and is what enters.
template <class Problem>
typename LabellingGame<Problem>::Entering LabellingGame<Problem>::change_reference(std::size_t position,
                                                                                   Workspace& ws) const {
  std::size_t heir = 0;
  ws.others.clear();
  for (std::size_t p = 1; p < ws.rows.size(); ++p) {
    if (ws.rows[p].position != position) continue;
    if (heir == 0 || ws.price[p] < ws.price[heir]) heir = p;
    ws.others.push_back(p);
  }
  std::erase(ws.others, heir);
  ws.inverse.reflect(heir, ws.others);
  std::swap(ws.rows[heir].label, ws.reference[position]);
  return {Kind::row, heir};
}

// image = how fast the basic weights fall along the step; rate = how fast the risks rise.
template <class Problem>
void LabellingGame<Problem>::direct(const Entering& entering, Workspace& ws) const {
  const std::size_t size = ws.support.size();
  const PaddedRows<double> mass = ws.shift.view();
  for (const std::size_t m : ws.varied) std::fill_n(mass.row(m), mass.stride(), 0.0);
  if (entering.kind == Kind::sequence) {
    const std::int32_t* y = ws.labels_of(entering.index);
    ws.column[0] = 1;
    for (std::size_t p = 1; p < size; ++p) ws.column[p] = entry(ws.rows[p], y, ws);
    ws.inverse.apply(ws.column, ws.image);
    for (const std::size_t m : ws.varied) mass(m, static_cast<std::size_t>(y[m])) = 1;
  } else {
    for (std::size_t q = 0; q < size; ++q) ws.image[q] = -ws.inverse(q, entering.index);
    std::fill(ws.image.begin() + static_cast<std::ptrdiff_t>(size), ws.image.end(), 0.0);
  }
  for (std::size_t q = 0; q < size; ++q) {
    const std::int32_t* y = ws.labels_of(ws.support[q]);
    if (ws.image[q] == 0) continue;
    for (const std::size_t m : ws.varied) mass(m, static_cast<std::size_t>(y[m])) -= ws.image[q];
  }
  risks(ws.costs, ws.varied, mass, ws.rate.view(), ws);
}

// The ratio test, in two passes: how long a step is allowed if everything may game::slip a little below zero, then the
// steadiest of what blocks within that length. Rows are measured by how much they differ from the reference at all.
template <class Problem>
typename LabellingGame<Problem>::Leaving LabellingGame<Problem>::choose_leaving(Workspace& ws) const {
  double longest = std::numeric_limits<double>::infinity();
  for (std::size_t q = 0; q < ws.support.size(); ++q)
    if (ws.image[q] > game::least_pivot)
      longest = std::min(longest, (std::max(ws.alpha[q], 0.0) + game::slip) / ws.image[q]);
  const PaddedRows<const double> risk = ws.risk.view(), rate = ws.rate.view(), active = ws.active.view();
  ws.blocking.clear();
  for (const std::size_t m : ws.varied) {
    const std::uint32_t reference = ws.reference[m];
    const double level = risk(m, reference), rise = rate(m, reference);
    const double* unit = at(m, ws).contrast(reference).data();
    for (std::size_t y = 0; y < predictions(m, ws); ++y) {
      const double slack = std::max(risk(m, y) - level, 0.0), falling = rise - rate(m, y);
      if (falling <= game::least_pivot * unit[y] || slack > longest * falling || active(m, y) != 0) continue;
      longest = std::min(longest, (slack + game::slip * unit[y]) / falling);
      ws.blocking.push_back({static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(y)});
    }
  }
  Leaving best;
  double steadiest = 0;
  for (std::size_t q = 0; q < ws.support.size(); ++q) {
    const double pivot = ws.image[q];
    if (pivot <= game::least_pivot || pivot <= steadiest) continue;
    const double step = std::max(ws.alpha[q], 0.0) / pivot;
    if (step > longest) continue;
    best = {Kind::sequence, q, {}, step, pivot};
    steadiest = pivot;
  }
  for (const GameRow& row : ws.blocking) {
    const std::uint32_t reference = ws.reference[row.position];
    const double falling = rate(row.position, reference) - rate(row.position, row.label);
    const double relative = falling / at(row.position, ws).contrast(reference)[row.label];
    if (relative <= steadiest) continue;
    const double step = std::max(risk(row.position, row.label) - risk(row.position, reference), 0.0) / falling;
    if (step > longest) continue;
    best = {Kind::row, 0, row, step, falling};
    steadiest = relative;
  }
  return best;
}

template <class Problem>
void LabellingGame<Problem>::pivot(const Entering& entering, const Leaving& leaving, Workspace& ws) const {
  ++ws.age;
  const PaddedRows<double> risk = ws.risk.view(), rate = ws.rate.view();
  for (const std::size_t m : ws.varied)
    for (std::size_t y = 0; y < risk.stride(); ++y) risk.row(m)[y] += leaving.step * rate.row(m)[y];
  if (leaving.kind == Kind::row) {
    for (std::size_t q = 0; q < ws.support.size(); ++q)
      ws.column[q] = entry(leaving.row, ws.labels_of(ws.support[q]), ws);
    ws.inverse.apply_transposed(ws.column, ws.border);
    ws.active.view()(leaving.row.position, leaving.row.label) = 1;
  }
  if (entering.kind == Kind::row) {
    const auto [position, label] = ws.rows[entering.index];
    ws.active.view()(position, label) = 0;
  }
  const std::size_t q = leaving.index;
  if (leaving.kind == Kind::sequence) ws.basic[ws.support[q]] = 0;
  if (entering.kind == Kind::sequence) ws.basic[entering.index] = 1;

  if (entering.kind == Kind::sequence && leaving.kind == Kind::sequence) {
    ws.inverse.replace_column(q, ws.image);
    ws.support[q] = entering.index;
  } else if (entering.kind == Kind::sequence) {
    ws.inverse.grow(ws.image, ws.border, -leaving.pivot);
    ws.support.push_back(entering.index);
    ws.rows.push_back(leaving.row);
  } else if (leaving.kind == Kind::row) {
    ws.inverse.replace_row(entering.index, ws.border);
    ws.rows[entering.index] = leaving.row;
  } else {
    ws.inverse.shrink(q, entering.index);
    ws.support[q] = ws.support.back();
    ws.support.pop_back();
    ws.rows[entering.index] = ws.rows.back();
    ws.rows.pop_back();
  }
}

// The game where no pair of labels scores, as before training has begun: every position is a matrix game of its own.
// Their solutions are joined by laying the masses of all positions side by side on [0, 1]: each piece in which no
// position changes its label is a sequence, at most 1 + sum_m (|S_m| - 1) of them for supports S_m. The simplex method
// would come to the same end, but slowly, for there the support is large and many steps have no length.

template <class Problem>
void LabellingGame<Problem>::solve_apart(const Scores& v, Workspace& ws) const {
  ws.position.resize(exact_.size());
  const PaddedRows<double> mu = ws.risk.view(), nu = ws.query_nu.view(), scores = ws.augmented.view();
  const auto length = static_cast<double>(ws.length);
  for (std::optional<Position>& position : ws.position)
    if (position) std::fill(position->state.begin(), position->state.end(), std::uint8_t{0});
  for (std::size_t m = 0; m < ws.length; ++m) {
    std::fill_n(scores.row(m), scores.stride(), kernels::padding_score);
    const std::size_t count = truths(m, ws);
    for (std::size_t k = 0; k < count; ++k) scores(m, k) = length * Problem::own(v, m, k);
    if (exact_at(m, ws).zero_one()) {
      closed_form::zero_one(scores.padded_row(m), exact_at(m, ws).range(), mu.padded_row(m), nu.padded_row(m));
    } else {
      // The basis of one position is a good start for the next with the same costs.
      std::optional<Position>& position = ws.position[kind(m, ws)];
      if (!position) position.emplace(count);
      std::fill_n(nu.row(m), nu.stride(), 0.0);
      position_games_[kind(m, ws)].solve({scores.row(m), count}, {mu.row(m), count}, {nu.row(m), count},
                                         position->state, position->workspace);
    }
  }
  ws.upper = query(v, nu, ws);
  ++ws.rounds;
  std::swap(ws.best_nu, ws.query_nu);

  const auto next = [&](std::size_t m, std::size_t from) {
    while (from < truths(m, ws) && !(mu(m, from) > 0)) ++from;
    return from;
  };
  for (std::size_t m = 0; m < ws.length; ++m)  // (there is mass somewhere, unless a score is not a number)
    ws.path[m] = static_cast<std::int32_t>(std::min(next(m, 0), truths(m, ws) - 1));
  ws.weight.clear();
  ws.sequence.clear();
  for (bool changed = true; changed;) {
    double width = 1;
    for (std::size_t m = 0; m < ws.length; ++m) width = std::min(width, mu(m, static_cast<std::size_t>(ws.path[m])));
    if (width > 0) {
      ws.weight.push_back(width);
      ws.sequence.insert(ws.sequence.end(), ws.path.begin(), ws.path.end());
    }
    changed = false;
    for (std::size_t m = 0; m < ws.length; ++m) {
      double& left = mu(m, static_cast<std::size_t>(ws.path[m]));
      left -= width;
      const std::size_t following = left > 0 ? truths(m, ws) : next(m, static_cast<std::size_t>(ws.path[m]) + 1);
      if (following == truths(m, ws)) continue;
      ws.path[m] = static_cast<std::int32_t>(following);
      changed = true;
    }
  }
}

}  // namespace m4n::detail
