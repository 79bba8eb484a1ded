// The labelling game (games/labelling_game.h) on a tree by an interior-point method: for large games with scores so
// flat that the simplex method would need many steps and a large basis.
//
//     max over consistent masses P >= 0 of the edges of   sum table P + sum unary mu + sum_m t_m,   t_m <= L_m mu_m
//
// with as many variables as labels of the edges have pairs. Its dual are nu and the messages of a decoding, so that any
// nu gives a strictly feasible start. Predictor and corrector steps (Mehrotra) close the gap in ten
// to twenty iterations, whatever the scores; games/tree_steps.h has the arithmetic, O(M R^3) an iteration.
//
// Only labels that may have mass take part: those whose best labelling at nu is nearly the best of all. What was left
// out is asked for at the nu found, and joins if it would gain.
//
// The masses found are made a point of the polytope from the root down, whatever the rounding: the children of a label
// share its mass in proportion. Short outputs get it as labellings, by splitting [0, 1] so; there are about as many of
// them as nodes. Long ones get the masses themselves.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/views.h"
#include "games/tree_steps.h"
#include "games/unit_costs.h"

namespace m4n::detail {

// A node of a tree, or a forest; children come before their parents.
struct TreeNode {
  std::uint32_t position = 0;                       // which position of the labelling it is
  std::uint32_t parent = kernels::TreeBlock::none;  // place of the parent
  const double* table = nullptr;  // table[k * own_stride + i * parent_stride]: label k of its own, i of the parent
  std::size_t own_stride = 0, parent_stride = 0;
  std::uint32_t edge = 0;  // that joins it to its parent, as the caller numbers them
  const UnitCosts* costs = nullptr;
  double table_at(std::size_t k, std::size_t i) const {
    return table == nullptr ? 0 : table[k * own_stride + i * parent_stride];
  }
};

// A part of a point of the polytope: the mass of label k of a node (its place in the list) with label `above` of its
// parent, 0 at a root.
struct TreeMass {
  std::uint32_t node, label, above;
  double mass;
};

// One object for a thread; nothing is allocated once a game as large was solved.
class TreeGame {
 public:
  struct Task {
    std::span<const TreeNode> nodes;
    PaddedRows<const double> own;  // the unary scores, by position
    double unit;                   // what one unit of the costs is worth in scores
    double gap;                    // asked for
    double promise;                // about how far from optimal nu is
    const std::function<bool()>* stop;
  };
  // Improves nu (rows by position, distributions). False where it was stopped, or rounding has spoilt it, before the
  // gap was reached; nu and the labellings are then as good as they came.
  bool solve(const Task& task, PaddedRows<double> nu);
  // The labellings of the masses found: weights and M labels each.
  void labellings(std::vector<double>& weight, std::vector<std::int32_t>& sequence);
  // The masses found.   O(labels of edges in pairs)
  void masses(std::vector<TreeMass>& out);
  bool known() const { return known_; }  // there are masses
  int iterations() const { return iterations_; }

 private:
  // What is known of a node when all labels take part: its scores and messages at nu.
  struct Full {
    const double* table = nullptr;  // rows of `stride`, by its own label
    std::size_t stride = 0, labels = 0, above = 0;
    double *score = nullptr, *message = nullptr, *best = nullptr;  // best: of labellings with this label
    std::vector<std::uint32_t> kept;
    std::vector<std::uint8_t> is_kept;
  };

  void lay_out(const Task& task);
  void screen(const Task& task, PaddedRows<const double> nu);
  double missed() const;
  void keep_from(double slack);
  void build(const Task& task);
  void start(PaddedRows<const double> nu, double margin);
  bool iterate(const Task& task, double goal);
  void give(PaddedRows<double> nu) const;
  double share_out(const kernels::TreeBlock& b, std::size_t above);
  void split(std::size_t c, double scale, std::vector<double>& weight, std::vector<std::int32_t>& sequence);

  std::vector<Full> full_;
  std::vector<kernels::TreeBlock> blocks_;
  std::vector<TreeNode> nodes_;
  kernels::TreeScratch scratch_{};
  AlignedVector<double> full_memory_, memory_;
  std::vector<std::uint32_t> index_;
  std::vector<double> mass_, room_;
  std::vector<std::size_t> mine_;
  double gap_ = 0, goal_ = 0;
  std::size_t pairs_ = 0;
  int iterations_ = 0;
  bool known_ = false;
};

}  // namespace m4n::detail
