// Screening, start, iterations and labellings of a game on a tree (tree_game.h).
#include "games/tree_game.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace m4n::detail {
namespace {

using kernels::TreeBlock;

constexpr int most_iterations = 60;
constexpr double refine_below = 0.1;  // gap in units
constexpr int most_rounds = 12;
constexpr double least_share = 1e-15;  // of a share of [0, 1]
// Labels of edges in pairs, of about 100 bytes each: larger games are left to the simplex method.
constexpr std::size_t most_pairs = 1'000'000;
// Nodes of an output in which what is dropped at every one of them does not add up.
constexpr std::size_t longest_thinned = 100;
// How far the messages begin above the best labellings, in units.
constexpr double first_margin = 0.3, later_margin = 0.1;

}  // namespace

void TreeGame::lay_out(const Task& task) {
  const std::size_t count = task.nodes.size();
  full_.resize(count);
  nodes_.assign(task.nodes.begin(), task.nodes.end());
  std::size_t size = 0;
  for (std::size_t c = 0; c < count; ++c) {
    const TreeNode& node = nodes_[c];
    Full& f = full_[c];
    f.labels = node.costs->truths();
    f.above = node.parent == TreeBlock::none ? 1 : nodes_[node.parent].costs->truths();
    size += node.costs->of_prediction(0).size() + kernels::padded(f.labels) + kernels::padded(f.above);
    if (node.parent_stride != 1) size += f.labels * kernels::padded(f.above);
  }
  if (full_memory_.size() < size) full_memory_.resize(size);
  double* at = full_memory_.data();
  const auto take = [&](std::size_t n) { return std::exchange(at, at + n); };
  for (std::size_t c = 0; c < count; ++c) {
    const TreeNode& node = nodes_[c];
    Full& f = full_[c];
    f.score = take(node.costs->of_prediction(0).size());
    f.best = take(kernels::padded(f.labels));
    f.message = take(kernels::padded(f.above));
    f.kept.clear();
    f.is_kept.assign(f.labels, 0);
    if (node.parent_stride == 1) {
      f.table = node.table;
      f.stride = node.own_stride;
      continue;
    }
    f.stride = kernels::padded(f.above);
    double* own = take(f.labels * f.stride);
    for (std::size_t k = 0; k < f.labels; ++k)
      for (std::size_t i = 0; i < f.stride; ++i) own[k * f.stride + i] = i < f.above ? node.table_at(k, i) : -1e30;
    f.table = own;
  }
}

// For every label the best labelling of its tree that has it, at nu.
void TreeGame::screen(const Task& task, PaddedRows<const double> nu) {
  const std::size_t count = nodes_.size();
  for (std::size_t c = 0; c < count; ++c) {
    Full& f = full_[c];
    const std::size_t position = nodes_[c].position;
    const UnitCosts& costs = *nodes_[c].costs;
    if (costs.zero_one()) {
      for (std::size_t k = 0; k < f.labels; ++k) f.score[k] = task.unit * (1 - nu(position, k));
    } else {
      index_.clear();
      mass_.clear();
      for (std::size_t p = 0; p < costs.predictions(); ++p) {
        if (nu(position, p) == 0) continue;
        index_.push_back(static_cast<std::uint32_t>(p));
        mass_.push_back(task.unit * nu(position, p));
      }
      costs.apply_transposed(index_, mass_, {f.score, costs.of_prediction(0).size()});
    }
    for (std::size_t k = 0; k < f.labels; ++k) f.score[k] += task.own(position, k);
  }
  for (std::size_t c = 0; c < count; ++c) {
    Full& f = full_[c];
    kernels::tree_best_of_rows(f.table, f.stride, f.labels, f.above, f.score, f.message);
    if (nodes_[c].parent == TreeBlock::none) continue;
    double* to = full_[nodes_[c].parent].score;
    for (std::size_t i = 0; i < f.above; ++i) to[i] += f.message[i];
  }
  for (std::size_t c = count; c-- > 0;) {
    Full& f = full_[c];
    const double zero = 0;
    const double* rest = &zero;
    if (nodes_[c].parent != TreeBlock::none) {
      const double* above = full_[nodes_[c].parent].best;
      for (std::size_t i = 0; i < f.above; ++i) f.message[i] = above[i] - f.message[i];
      rest = f.message;
    }
    kernels::tree_best_of_columns(f.table, f.stride, f.labels, f.above, rest, f.best);
    for (std::size_t k = 0; k < f.labels; ++k) f.best[k] += f.score[k];
  }
}

// Every label whose best labelling falls short of the best of its tree by at most `slack` takes part.
void TreeGame::keep_from(double slack) {
  for (Full& f : full_) {
    const double level = *std::max_element(f.best, f.best + f.labels) - slack;
    for (std::size_t k = 0; k < f.labels; ++k) {
      if (f.is_kept[k] != 0 || !(f.best[k] >= level)) continue;
      f.is_kept[k] = 1;
      f.kept.push_back(static_cast<std::uint32_t>(k));
    }
  }
}

// Memory and tables for the labels that take part.
void TreeGame::build(const Task& task) {
  const std::size_t count = nodes_.size();
  blocks_.resize(count);
  std::size_t size = 0, square = 0, tall = 0, wide = 0;
  for (int round = 0; round < 2; ++round) {
    double* at = memory_.data();
    const auto take = [&](std::size_t n) {
      size += n;
      return round == 0 ? nullptr : std::exchange(at, at + n);
    };
    pairs_ = 0;
    for (std::size_t c = 0; c < count; ++c) {
      const Full& f = full_[c];
      TreeBlock& b = blocks_[c];
      const UnitCosts& costs = *nodes_[c].costs;
      b.parent = nodes_[c].parent;
      b.labels = f.kept.size();
      b.above = b.parent == TreeBlock::none ? 1 : full_[b.parent].kept.size();
      b.zero_one = costs.zero_one();
      b.predictions = b.zero_one ? b.labels : costs.predictions();
      b.stride = kernels::padded(b.labels);
      b.stride_above = kernels::padded(b.above);
      const std::size_t table = b.labels * b.stride_above;
      pairs_ += b.labels * b.above + b.predictions;
      for (double** p :
           {&b.table, &b.mass, &b.slack, &b.inverse, &b.ratio, &b.product, &b.fresh, &b.mass_step, &b.slack_step})
        *p = take(table);
      for (double** p : {&b.unary, &b.f, &b.mu, &b.mu_step, &b.f_step, &b.mu_kept, &b.f_kept, &b.row_sum, &b.pull,
                         &b.reply_sum, &b.fresh_mu, &b.middle, &b.pivot})
        *p = take(b.stride);
      for (double** p : {&b.beta, &b.beta_step, &b.beta_kept, &b.reply, &b.gradient}) *p = take(b.stride_above);
      for (double** p :
           {&b.nu, &b.z, &b.weight, &b.fresh_z, &b.nu_step, &b.z_step, &b.nu_kept, &b.z_kept, &b.product_z, &b.risk})
        *p = take(kernels::padded(b.predictions));
      b.loss = b.zero_one ? nullptr : take(b.predictions * b.stride);
      b.factor = take(b.labels * b.stride);
      b.hessian = take(b.above * b.stride_above);
      square = std::max({square, b.labels * b.stride_above, b.above * b.stride_above});
      tall = std::max(tall, b.zero_one ? 0 : b.predictions * b.stride);
      wide = std::max({wide, b.stride, b.stride_above});
    }
    for (double** p : {&scratch_.scaled, &scratch_.solved, &scratch_.gap, &scratch_.root}) *p = take(square);
    scratch_.centred = take(tall);
    scratch_.mean = take(wide);
    if (round == 0) memory_.assign(std::max(size, memory_.size()), 0.0);
  }
  for (std::size_t c = 0; c < count; ++c) {
    const Full& f = full_[c];
    TreeBlock& b = blocks_[c];
    const std::vector<std::uint32_t>* above = b.parent == TreeBlock::none ? nullptr : &full_[b.parent].kept;
    for (std::size_t k = 0; k < b.labels; ++k) {
      b.unary[k] = task.own(nodes_[c].position, f.kept[k]) / task.unit;
      for (std::size_t i = 0; i < b.above; ++i)
        b.table[k * b.stride_above + i] = f.table[f.kept[k] * f.stride + (above ? (*above)[i] : 0)] / task.unit;
      std::fill_n(b.slack + k * b.stride_above, b.stride_above, 1.0);
    }
    for (std::size_t p = 0; !b.zero_one && p < b.predictions; ++p)
      for (std::size_t k = 0; k < b.labels; ++k) b.loss[p * b.stride + k] = (*nodes_[c].costs)(p, f.kept[k]);
  }
}

// From nu, moved inside: messages that exceed the best labellings by a margin, and consistent masses in proportion to
// 1 / slack, the label of the parent given.
void TreeGame::start(PaddedRows<const double> nu, double margin) {
  constexpr double inside = 0.2;
  for (std::size_t c = 0; c < blocks_.size(); ++c) {
    TreeBlock& b = blocks_[c];
    const double* from = nu.row(nodes_[c].position);
    double total = 0;
    for (std::size_t p = 0; p < b.predictions; ++p) total += b.nu[p] = from[b.zero_one ? full_[c].kept[p] : p];
    const double scale = total > 0 ? (1 - inside) / total : 0,
                 rest = (1 - scale * total) / static_cast<double>(b.predictions);
    for (std::size_t p = 0; p < b.predictions; ++p) b.nu[p] = scale * b.nu[p] + rest;
    for (std::size_t k = 0; k < b.labels; ++k) {
      double charge = b.zero_one ? -b.nu[k] : 0;
      for (std::size_t p = 0; !b.zero_one && p < b.predictions; ++p) charge += b.nu[p] * b.loss[p * b.stride + k];
      b.f[k] = b.unary[k] + charge;
    }
  }
  for (TreeBlock& b : blocks_) {
    for (std::size_t i = 0; i < b.above; ++i) {
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      for (std::size_t k = 0; k < b.labels; ++k) top = std::max(top, b.table[k * b.stride_above + i] + b.f[k]);
      b.beta[i] = top + margin;
      for (std::size_t k = 0; k < b.labels; ++k) {
        const std::size_t at = k * b.stride_above + i;
        b.slack[at] = b.beta[i] - b.table[at] - b.f[k];
        sum += b.mass[at] = 1 / b.slack[at];
      }
      for (std::size_t k = 0; k < b.labels; ++k) b.mass[k * b.stride_above + i] /= sum;
      if (b.parent != TreeBlock::none) blocks_[b.parent].f[i] += b.beta[i];
    }
  }
  gap_ = 0;
  for (std::size_t c = blocks_.size(); c-- > 0;) {
    TreeBlock& b = blocks_[c];
    const double one = 1;
    const double* above = b.parent == TreeBlock::none ? &one : blocks_[b.parent].mu;
    for (std::size_t k = 0; k < b.labels; ++k) {
      b.mu[k] = 0;
      for (std::size_t i = 0; i < b.above; ++i) {
        const std::size_t at = k * b.stride_above + i;
        b.mu[k] += b.mass[at] *= above[i];
        gap_ += b.mass[at] * b.slack[at];
      }
    }
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < b.predictions; ++p) {
      b.risk[p] = b.zero_one ? -b.mu[p] : 0;
      for (std::size_t k = 0; !b.zero_one && k < b.labels; ++k) b.risk[p] += b.mu[k] * b.loss[p * b.stride + k];
      least = std::min(least, b.risk[p]);
    }
    for (std::size_t p = 0; p < b.predictions; ++p) {
      b.z[p] = b.risk[p] - least + margin / static_cast<double>(b.predictions);
      gap_ += b.nu[p] * b.z[p];
    }
  }
}

// Until the gap (in units) is at most `goal`.
bool TreeGame::iterate(const Task& task, double goal) {
  int short_steps = 0;
  while (gap_ > goal) {
    if (iterations_++ >= most_iterations || (task.stop != nullptr && (*task.stop)())) return false;
    if (!kernels::tree_factor(blocks_, scratch_)) return false;
    const auto length = [](double longest, double share) { return std::min(1.0, longest > 0 ? share / longest : 1.0); };
    kernels::TreeSums sums = kernels::tree_direction(blocks_, 0, true, 0);
    const double mass = length(sums.longest_mass, 1), slack = length(sums.longest_slack, 1);
    const double ahead = gap_ + slack * sums.mass_slack + mass * sums.slack_mass + mass * slack * sums.both;
    const double share = std::clamp(ahead / gap_, 0.0, 1.0);
    const double target = share * share * share * gap_ / static_cast<double>(pairs_);
    sums = kernels::tree_direction(blocks_, target, false, gap_ < refine_below ? 2 : 0);
    constexpr double of_the_way = 0.99;
    const double mass_length = length(sums.longest_mass, of_the_way),
                 slack_length = length(sums.longest_slack, of_the_way);
    gap_ = kernels::tree_move(blocks_, mass_length, slack_length);
    known_ = true;
    if (!std::isfinite(gap_)) return known_ = false;
    short_steps = std::min(mass_length, slack_length) < 0.05 ? short_steps + 1 : 0;
    if (short_steps > 3) return false;
  }
  return true;
}

void TreeGame::give(PaddedRows<double> nu) const {
  for (std::size_t c = 0; c < blocks_.size(); ++c) {
    const TreeBlock& b = blocks_[c];
    double* to = nu.row(nodes_[c].position);
    std::fill_n(to, nu.stride(), 0.0);
    double total = 0;
    for (std::size_t p = 0; p < b.predictions; ++p) total += b.nu[p];
    for (std::size_t p = 0; p < b.predictions; ++p) to[b.zero_one ? full_[c].kept[p] : p] = b.nu[p] / total;
  }
}

// By how much the best labelling exceeds the best of the labels that take part, at most in a tree.
double TreeGame::missed() const {
  double short_by = 0;
  for (std::size_t c = 0; c < full_.size(); ++c) {
    const Full& f = full_[c];
    double top = -std::numeric_limits<double>::infinity(), kept = top;
    for (std::size_t k = 0; k < f.labels; ++k) {
      top = std::max(top, f.best[k]);
      if (f.is_kept[k] != 0) kept = std::max(kept, f.best[k]);
    }
    short_by = std::max(short_by, top - kept);
  }
  return short_by;
}

bool TreeGame::solve(const Task& task, PaddedRows<double> nu) {
  known_ = false;
  iterations_ = 0;
  lay_out(task);
  screen(task, nu);
  keep_from(task.promise);
  std::size_t pairs = 0;
  for (std::size_t c = 0; c < full_.size(); ++c)
    pairs += full_[c].kept.size() * (nodes_[c].parent == TreeBlock::none ? 1 : full_[nodes_[c].parent].kept.size());
  if (pairs > most_pairs) return false;
  const double goal = goal_ = task.gap / task.unit, coarse = std::max(goal, 0.02 * static_cast<double>(nodes_.size()));
  double margin = first_margin;
  for (int round = 0; round < most_rounds; ++round) {
    build(task);
    start(nu, margin);
    for (double next = coarse;; next = goal) {
      if (!iterate(task, next)) {
        if (known_) give(nu);
        return false;
      }
      give(nu);
      screen(task, nu);
      const double short_by = missed();
      const bool last = next == goal;
      if (short_by > 0.25 * task.gap || (!last && short_by > 0)) {
        keep_from(short_by + (last ? 0 : 0.3 * gap_ * task.unit));
        margin = later_margin;
        break;
      }
      if (last) return true;
    }
  }
  return false;
}

void TreeGame::labellings(std::vector<double>& weight, std::vector<std::int32_t>& sequence) {
  const std::size_t length = nodes_.size();
  weight.assign(1, 1.0);
  sequence.assign(length, 0);
  for (std::size_t c = length; c-- > 0;) {
    const TreeBlock& b = blocks_[c];
    for (std::size_t i = 0; i < b.above; ++i) {
      mine_.clear();
      double interval = 0;
      for (std::size_t j = 0; j < weight.size(); ++j) {
        if (b.parent != TreeBlock::none &&
            sequence[j * length + nodes_[b.parent].position] != static_cast<std::int32_t>(full_[b.parent].kept[i]))
          continue;
        mine_.push_back(j);
        interval += weight[j];
      }
      if (mine_.empty()) continue;
      split(c, interval / share_out(b, i), weight, sequence);
    }
  }
}

// room_ = the masses of the labels of a node with a label of its parent, but for small ones; returns their sum.
double TreeGame::share_out(const TreeBlock& b, std::size_t above) {
  // What is dropped of a conditional distribution is small beside the gap that was asked for; in long outputs, where it
  // adds up, what is dropped of all of them.
  const auto labels = static_cast<double>(std::max<std::size_t>(b.labels, 8));
  const double negligible = nodes_.size() <= longest_thinned
                                ? 0.2 * goal_ / labels
                                : std::min(0.2 * goal_, 0.1) / (labels * static_cast<double>(nodes_.size()));
  double total = 0, largest = 0;
  room_.resize(b.labels);
  for (std::size_t k = 0; k < b.labels; ++k) largest = std::max(largest, b.mass[k * b.stride_above + above]);
  for (std::size_t k = 0; k < b.labels; ++k) {
    const double mass = b.mass[k * b.stride_above + above];
    total += room_[k] = mass > negligible || mass == largest ? mass : 0;
  }
  return total;
}

void TreeGame::masses(std::vector<TreeMass>& out) {
  out.clear();
  for (std::size_t c = nodes_.size(); c-- > 0;) {
    const TreeBlock& b = blocks_[c];
    const bool root = b.parent == TreeBlock::none;
    std::fill_n(b.mu, b.labels, 0.0);
    for (std::size_t i = 0; i < b.above; ++i) {
      const double above = root ? 1 : blocks_[b.parent].mu[i];
      if (!(above > 0)) continue;
      const double scale = above / share_out(b, i);
      for (std::size_t k = 0; k < b.labels; ++k) {
        if (!(room_[k] > 0)) continue;
        b.mu[k] += scale * room_[k];
        out.push_back(
            {static_cast<std::uint32_t>(c), full_[c].kept[k], root ? 0 : full_[b.parent].kept[i], scale * room_[k]});
      }
    }
  }
}

// Shares the labellings `mine_` among the labels of node c, room_[k] scale to label k, cutting them where a share ends.
void TreeGame::split(std::size_t c, double scale, std::vector<double>& weight, std::vector<std::int32_t>& sequence) {
  const std::size_t length = nodes_.size(), position = nodes_[c].position;
  std::size_t k = 0, last = 0;
  for (std::size_t q = 0; q < room_.size(); ++q) {
    room_[q] *= scale;
    if (room_[q] > 0) last = q;
  }
  for (std::size_t at : mine_) {
    for (;;) {
      while (k < last && !(room_[k] > least_share)) ++k;
      sequence[at * length + position] = static_cast<std::int32_t>(full_[c].kept[k]);
      if (k == last || weight[at] <= room_[k] + least_share) {
        room_[k] -= weight[at];
        break;
      }
      weight.push_back(weight[at] - room_[k]);
      weight[at] = std::exchange(room_[k], 0.0);
      sequence.resize(sequence.size() + length);
      std::copy_n(sequence.begin() + static_cast<std::ptrdiff_t>(at * length), length,
                  sequence.end() - static_cast<std::ptrdiff_t>(length));
      at = weight.size() - 1;
    }
  }
}

}  // namespace m4n::detail
