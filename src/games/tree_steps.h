// The arithmetic of an interior-point method on a tree (games/tree_game.h), compiled for every vector width.
//
// Every node c has a table with the labels k of its own as rows and those i of its parent (one label above a root) as
// columns:
//
//     mass P[k][i],   slack S[k][i] = beta[i] - table[k][i] - f[k],   f = unary + L^T nu + sum of beta over children
//
// and for every prediction p of it nu[p] and its slack z[p] = (L mu)[p] - t, mu[k] = sum_i P[k][i]. Rows are padded;
// the padding holds mass 0 and slack 1.
//
// A Newton step aims at P' S = `target` - X and nu z' = `target` - x, entry by entry, with consistent masses. Going up,
// the step of beta of a node is h - H mu' as far as the subtree below it is concerned, with mu' the masses at its
// parent. With D = P / S, C and R its sums over rows and columns, e = nu / z:
//
//     G = 1/C + K + sum of H of the children,     K = L^T (e - e e^T / sum e) L
//     J = R - D^T (1/C - 1/C G^-1 1/C) D,         H = J^-1
//
// O(labels^3) a node; the two steps of an iteration (predictor and corrector) share G and H. J is a small matrix beside
// what it is the difference of: refinements solve for what rounding left.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace m4n::detail::kernels {

struct TreeBlock {
  static constexpr std::uint32_t none = 0xffffffff;
  std::uint32_t parent = none;             // its place; children come before their parents
  std::size_t labels, above, predictions;  // above: labels of the parent
  std::size_t stride, stride_above, stride_of_predictions;
  bool zero_one;  // L = 1 off the diagonal: then L is taken as -1, predictions = labels
  double *table, *mass, *slack, *inverse, *ratio, *product, *fresh, *mass_step, *slack_step;  // labels x above
  double *unary, *f, *mu, *mu_step, *f_step, *mu_kept, *f_kept, *row_sum, *pull, *reply_sum, *fresh_mu,
      *middle;                                                                                 // labels
  double *beta, *beta_step, *beta_kept, *reply, *gradient;                                     // above
  double *nu, *z, *weight, *fresh_z, *nu_step, *z_step, *nu_kept, *z_kept, *product_z, *risk;  // predictions
  double* loss;            // predictions x labels: L, null where zero_one
  double *factor, *pivot;  // of G: labels x labels, and the inverses of its pivots
  double* hessian;         // H: above x above
  double total_weight;     // sum of e
};

// Scratch of all nodes: `square` has room for four matrices of the largest node, labels x labels (padded).
struct TreeScratch {
  double *scaled, *solved, *gap, *root, *centred, *mean;
};

struct TreeSums {
  double gap = 0;                                   // sum P S + sum nu z
  double mass_slack = 0, slack_mass = 0, both = 0;  // sums of P dS, S dP and dP dS, those of nu and z included
  double longest_mass = 0, longest_slack = 0;       // largest of -dP / P and -dS / S: inverses of the longest steps
};

// message[i] = max_k table[k][i] + score[k], and best[k] = max_i table[k][i] + rest[i]. The padding of the table is far
// below all else, but may not be read where there is one column.
void tree_best_of_rows(const double* table, std::size_t stride, std::size_t labels, std::size_t above,
                       const double* score, double* message);
void tree_best_of_columns(const double* table, std::size_t stride, std::size_t labels, std::size_t above,
                          const double* rest, double* best);

// D, e, G and H of all nodes; false where rounding has spoilt them.
bool tree_factor(std::span<TreeBlock> blocks, const TreeScratch& scratch);
// The step towards `target`, without the products where target = 0 and `plain`; and its sums.
TreeSums tree_direction(std::span<TreeBlock> blocks, double target, bool plain, int refinements);
// Moves along, leaves the gap.
double tree_move(std::span<TreeBlock> blocks, double mass_length, double slack_length);

}  // namespace m4n::detail::kernels
