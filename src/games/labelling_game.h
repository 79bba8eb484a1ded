// Exact max-min oracle over labellings of M positions, for any output that can be decoded and any cost matrices. What
// is predicted at a position need not be a label: a matrix may have more predictions than truths, or others.
//
//     max over mu in the marginal polytope of  h(mu) + v.mu,     h(mu) = (1/M) sum_m min_y (A_m mu_m)_y
//
// with A_m = cost^T of position m and the loss averaged over positions. Over weights alpha of labellings y_j it is a
// linear program, here in units of range/M, with L_m = (A_m - min A_m) / range, range the largest of all matrices, and
// c_j the score of labelling j:
//
//     max sum_j c_j alpha_j + sum_m t_m    s.t.  sum alpha = 1,  t_m <= sum_j alpha_j L_m[y][y_jm]  for all m and y
//
// Primal simplex method with column generation. The basis: labellings S and, in every position, the active rows Y_m
// (one of them the reference), with |S| = 1 + sum_m (|Y_m| - 1); rows are all implicit, columns are kept in a pool, and
// the best column outside is found by decoding v + A^T nu / M, which also bounds the value from above. The working
// inverse is |S| x |S|: 2 to 16 on scores met in training. A pivot costs O(|S|^2 + M R), general costs O(|S| M R).
// Scores enter the objective only, so the basis of the last visit stays feasible: the warm start.
//
// Where scores are so flat that this takes long, and the positions are joined by a tree, an interior-point method goes
// on (games/tree_game.h): it takes as long whatever the scores are. Long outputs on a tree are left to it from the
// start: bases and labellings would be as many as positions.
//
// Bounds are evaluated at the feasible mu and nu that are returned: valid however early the method ends. They meet to
// rounding, except where predictions whose costs nearly agree make the basis useless: then costs closer than 1e-6 of
// their range are taken for equal.
//
// A Problem says what is decoded:
//   Scores       length(), unary (a padded row per position), and score(v, y) for it
//   Decoder      scratch of a decoder
//   one_cost     all positions have the first cost matrix
//   kinds(v, costs)               which cost matrix each position has (checks that they fit); null if one_cost
//   apart(v)                      no pair of labels scores: positions can be solved one by one
//   own(v, m, label)              what a label scores by itself
//   decode(decoder, v, unary, y)  the best labelling with other unary scores, and its score
//   most(v)                       no labelling scores more; without decoding
//   tree(v, nodes)                optional: the nodes of the tree that joins the labels, but for their costs; false if
//                                 it is none; own(v, m, label) and the tables make up all scores
// The two of the library are in structures/chains/oracles.h and structures/graphs/oracles.h; the .cc file beside each
// compiles the game for it.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/kernels.h"
#include "core/rng.h"
#include "core/views.h"
#include "games/growing_inverse.h"
#include "games/matrix_game.h"
#include "games/tree_game.h"
#include "games/unit_costs.h"
#include "losses/cost_matrix.h"

namespace m4n::detail {

// A row of the game: predicting `label` at `position`.
struct GameRow {
  std::uint32_t position, label;
};

// The basis of the last visit of an example: its labellings, the reference row of every position and the other active
// rows. Empty = cold. One from another output, or one that was tampered with, costs time and never correctness.
struct GameSeeds {
  std::vector<std::uint16_t> sequence;   // M labels each
  std::vector<std::uint16_t> reference;  // M labels
  std::vector<GameRow> row;
  void clear() {
    sequence.clear();
    reference.clear();
    row.clear();
  }
  template <class Archive>
  void archive(Archive& a) {
    a(sequence, reference, row);
  }
};

// When to stop: upper - lower <= max(gap, relative * (upper - current)), where current is what the caller has already,
// or after as many rounds (labellings asked for), or when `stop` says so, which is asked every few pivots. The bounds
// are true whatever ended it.
struct GameLimits {
  double gap = 1e-6, relative = 0, current = -std::numeric_limits<double>::infinity();
  int rounds = 1000;
  const std::function<bool()>* stop = nullptr;
};

// What solve() found; views of its workspace, valid until the next call.
struct GameAnswer {
  Bounds bounds;
  double risk = 0;  // h(mu); lower = risk + v.mu
  int rounds = 0;
  std::span<const double> weight;          // of every labelling: positive, summing to 1
  std::span<const std::int32_t> sequence;  // M labels each
  // Of long outputs on a tree, instead of labellings.
  std::span<const TreeNode> nodes;
  std::span<const TreeMass> mass;
  PaddedRows<const double> nu;  // M distributions over predictions, padded with 0
  std::size_t size() const { return weight.size(); }
  LabelView labels(std::size_t j) const { return sequence.subspan(j * nu.rows(), nu.rows()); }
};

template <class Problem>
class LabellingGame {
 public:
  using Scores = typename Problem::Scores;
  class Workspace;

  explicit LabellingGame(const CostMatrix& cost) : LabellingGame(std::span(&cost, 1)) {}
  // At least one matrix. Keeps pointers; the costs must outlive it.
  explicit LabellingGame(std::span<const CostMatrix> costs);
  // Nothing is allocated once outputs as long and games as large were seen, but for `seeds` that grow.
  GameAnswer solve(const Scores& v, const GameLimits& limits, GameSeeds& seeds, Workspace& ws) const;

 private:
  enum class Kind : std::uint8_t { none, sequence, row, reference };
  // What would improve the restricted program: a labelling of the pool, an active row whose weight in nu is negative
  // (index = its place in the basis) or the reference row of a position (index = the position).
  struct Entering {
    Kind kind = Kind::none;
    std::size_t index = 0;
  };
  // What blocks the step: a labelling whose weight falls to zero (index = its place in the basis) or a row that becomes
  // active.
  struct Leaving {
    Kind kind = Kind::none;
    std::size_t index = 0;
    GameRow row{};
    double step = 0;   // length of the step
    double pivot = 0;  // how fast it falls
  };
  // Scratch for games of single positions.
  struct Position {
    explicit Position(std::size_t labels) : workspace(labels), state(labels) {}
    MatrixGame::Workspace workspace;
    std::vector<std::uint8_t> state;
  };

  std::size_t kind(std::size_t m, const Workspace& ws) const {
    if constexpr (Problem::one_cost) return 0;
    return ws.kind_of[m];
  }
  const UnitCosts& at(std::size_t m, const Workspace& ws) const { return ws.costs[kind(m, ws)]; }
  const UnitCosts& exact_at(std::size_t m, const Workspace& ws) const { return exact_[kind(m, ws)]; }
  std::size_t truths(std::size_t m, const Workspace& ws) const {
    if constexpr (Problem::one_cost) return most_truths_;
    return exact_at(m, ws).truths();
  }
  std::size_t predictions(std::size_t m, const Workspace& ws) const {
    if constexpr (Problem::one_cost) return most_predictions_;
    return exact_at(m, ws).predictions();
  }

  double entry(const GameRow& row, const std::int32_t* y, const Workspace& ws) const;
  bool improve(const Scores& v, const GameLimits& limits, Workspace& ws) const;
  bool restart(const Scores& v, Workspace& ws) const;
  void start_cold(const Scores& v, Workspace& ws) const;
  void solve_apart(const Scores& v, Workspace& ws) const;
  bool solve_tree(const Scores& v, const GameLimits& limits, Workspace& ws) const;
  bool solve_long(const Scores& v, const GameLimits& limits, Workspace& ws) const;
  bool start_warm(const Scores& v, const GameSeeds& seeds, Workspace& ws) const;
  void save_seeds(GameSeeds& seeds, const Workspace& ws) const;
  void expected_costs(PaddedRows<const double> nu, PaddedRows<double> out, Workspace& ws) const;
  void risks(const UnitCosts* kinds, std::span<const std::uint32_t> positions, PaddedRows<const double> mass,
             PaddedRows<double> out, Workspace& ws) const;
  PaddedRows<const double> clean_nu(double share_of_best, Workspace& ws) const;
  double query(const Scores& v, PaddedRows<const double> nu, Workspace& ws) const;
  Entering ask_for_path(const Scores& v, const GameLimits& limits, Workspace& ws) const;
  void purge(Workspace& ws) const;
  void clear_pool(Workspace& ws) const;
  void add_to_pool(const std::int32_t* y, double gain, bool basic, Workspace& ws) const;
  void gather(Workspace& ws) const;
  GameAnswer certify(const Scores& v, Workspace& ws) const;

  bool refresh(Workspace& ws) const;
  void price_rows(Workspace& ws) const;
  double charge_of(const std::int32_t* y, const Workspace& ws) const;
  static double tolerance(double least, const Workspace& ws);
  Entering choose_entering(Workspace& ws) const;
  Entering change_reference(std::size_t position, Workspace& ws) const;
  void direct(const Entering& entering, Workspace& ws) const;
  void weigh(Workspace& ws) const;
  void shake(Workspace& ws) const;
  void expected_risks(Workspace& ws) const;
  void ease_risks(Workspace& ws) const;
  Leaving choose_leaving(Workspace& ws) const;
  void pivot(const Entering& entering, const Leaving& leaving, Workspace& ws) const;

  std::vector<MatrixGame> position_games_;  // where all predictions are labels
  std::size_t most_truths_ = 0, most_predictions_ = 0;
  bool square_ = true;    // all predictions are labels
  bool zero_one_ = true;  // all costs are
  std::vector<UnitCosts> exact_,
      rounded_;  // rounded: for a second try when costs that nearly agree have spoilt the first
};

// Scratch for one thread.
template <class Problem>
class LabellingGame<Problem>::Workspace {
  friend class LabellingGame;

  std::int32_t* labels_of(std::size_t j) { return pool.data() + j * length; }
  const std::int32_t* labels_of(std::size_t j) const { return pool.data() + j * length; }
  std::size_t pool_size() const { return gain.size(); }

  std::size_t length = 0;
  const std::uint32_t* kind_of = nullptr;  // the cost matrix of every position
  const UnitCosts* costs = nullptr;        // those that the simplex method plays with; bounds come from the exact ones
  double least = 0;                        // mean over the positions of min A
  double unit = 1;                         // range / M: what one unit of the program is worth
  double top = 0;                          // the score that counts as zero in the program
  double noise = 0;                        // what rounding leaves in a reduced cost
  // The pool of labellings, and which of them are basic.
  std::vector<std::int32_t> pool;
  std::vector<double> gain;  // (score - top) / unit
  std::vector<std::uint8_t> basic;
  // Positions at which the pool holds more than one label. All others play no part but for a constant.
  std::vector<std::uint32_t> varied;
  std::vector<std::uint8_t> is_varied;
  double constant = 0;  // sum over the others of the cost of the reference row
  // The basis: inverse, sequences by row of it, rows by column of it (0 = the sum of the weights).
  GrowingInverse inverse;
  std::vector<std::size_t> support;
  std::vector<GameRow> rows;
  std::vector<std::uint32_t> reference;
  PaddedMatrix<double> active;  // 1 at active rows, 0 elsewhere
  // Prices: the value of the program and nu, which may have negative entries until the restricted game is solved.
  double value = 0;
  AlignedVector<double> objective, price;
  PaddedMatrix<double> nu;
  // The weights of the basis, the right hand sides of its rows, and the value they attain.
  AlignedVector<double> alpha, side;
  double attained = 0;
  // Risks L mu_m, and their rates along the direction of the step.
  PaddedMatrix<double> risk, rate;
  PaddedMatrix<double> shift;  // masses of labels that these are of
  // What the rows were eased by (labelling_game_loop.h), added to the risks; all zero unless shaken.
  PaddedMatrix<double> ease;
  bool shaken = false;
  AlignedVector<double> image, border, column;
  // The best upper bound, and where the decoder is asked.
  double upper = 0;
  int rounds = 0;
  bool finished = false;
  PaddedMatrix<double> best_nu, query_nu, augmented;
  typename Problem::Decoder decoder;
  std::vector<std::int32_t> path;
  // Sparse products with general costs.
  std::vector<std::uint32_t> index, index_of_all;
  std::vector<double> mass;
  std::vector<std::size_t> others;
  std::vector<GameRow> blocking;
  int stalls = 0;      // steps without progress in a row
  unsigned steps = 0;  // in all
  int shakes = 0;
  // The game on its tree, which is asked once if the simplex method takes long: multiply-adds so far, and how many to
  // wait.
  double work = 0, patience = 0;
  bool tried_tree = false, tired = false;
  TreeGame tree;
  std::vector<TreeNode> nodes;
  std::vector<TreeMass> tree_mass;  // the answer where it is not empty
  int age = 0;                      // pivots since the inverse was computed afresh
  Rng rng{1};
  std::vector<std::optional<Position>> position;  // by kind of cost
  // The answer, and the one that was there before a restart.
  std::vector<double> weight, first_weight;
  std::vector<std::int32_t> sequence, first_sequence;
  GameAnswer first_try;
};

}  // namespace m4n::detail
