// Newton steps on a tree (tree_steps.h).
#include "games/tree_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "games/tree_steps.cc"
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::kernels::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, lane_block>;
constexpr std::size_t lanes = hn::MaxLanes(D());

// D = P / (S + P / most_ratio), and e likewise: larger ratios would only be rounded away. Where that counts, masses
// hesitate to move; slacks go to zero all the same.
constexpr double most_ratio = 1e6;

template <std::size_t Vectors>
HWY_INLINE void add_rows_block(double* HWY_RESTRICT out, const double* HWY_RESTRICT coefficient,
                               std::size_t coefficient_stride, const double* HWY_RESTRICT rows, std::size_t stride,
                               std::size_t count) {
  constexpr D d;
  hn::Vec<D> sum[Vectors];
  for (std::size_t a = 0; a < Vectors; ++a) sum[a] = hn::LoadU(d, out + a * lanes);
  for (std::size_t r = 0; r < count; ++r) {
    const auto c = hn::Set(d, coefficient[r * coefficient_stride]);
    for (std::size_t a = 0; a < Vectors; ++a)
      sum[a] = hn::MulAdd(c, hn::LoadU(d, rows + r * stride + a * lanes), sum[a]);
  }
  for (std::size_t a = 0; a < Vectors; ++a) hn::StoreU(sum[a], d, out + a * lanes);
}

// out[j] += sum_r coefficient[r * coefficient_stride] rows[r][j],  first <= j < last, from the vector that holds first.
HWY_INLINE void add_rows(double* out, const double* coefficient, std::size_t coefficient_stride, const double* rows,
                         std::size_t stride, std::size_t count, std::size_t first, std::size_t last) {
  std::size_t j = first / lanes * lanes;
  for (; j + 3 * lanes < last; j += 4 * lanes)
    add_rows_block<4>(out + j, coefficient, coefficient_stride, rows + j, stride, count);
  for (; j + lanes < last; j += 2 * lanes)
    add_rows_block<2>(out + j, coefficient, coefficient_stride, rows + j, stride, count);
  if (j < last) add_rows_block<1>(out + j, coefficient, coefficient_stride, rows + j, stride, count);
}

// out[j] += scale in[j]
HWY_INLINE void add(double* out, double scale, const double* in, std::size_t first, std::size_t last) {
  constexpr D d;
  const auto c = hn::Set(d, scale);
  for (std::size_t j = first / lanes * lanes; j < last; j += lanes)
    hn::StoreU(hn::MulAdd(c, hn::LoadU(d, in + j), hn::LoadU(d, out + j)), d, out + j);
}

HWY_INLINE double dot_of(const double* a, const double* b, std::size_t first, std::size_t last) {
  constexpr D d;
  auto sum = hn::Zero(d);
  for (std::size_t j = first / lanes * lanes; j < last; j += lanes)
    sum = hn::MulAdd(hn::LoadU(d, a + j), hn::LoadU(d, b + j), sum);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

// A = U^T U in place, from the upper half of A. The diagonal of U is left as `pivot` = 1 / U[i][i], and zero in U
// itself, as is what lies before it in the same vector.
HWY_INLINE bool factorise(double* a, std::size_t n, std::size_t stride, double* pivot) {
  constexpr D d;
  for (std::size_t i = 0; i < n; ++i) {
    double* row = a + i * stride;
    for (double& below : std::span(row + i / lanes * lanes, i % lanes)) below = 0;
    // Rows are subtracted by minus their entries, which are negated once.
    const std::size_t first = i / lanes * lanes;
    for (std::size_t j = first; j < n; j += lanes) hn::StoreU(hn::Neg(hn::LoadU(d, row + j)), d, row + j);
    add_rows(row, a + i, stride, a, stride, i, i, n);
    const double square = -row[i];
    if (!(square > 0 && square < 1e300)) return false;
    pivot[i] = 1 / std::sqrt(square);
    const auto scale = hn::Set(d, -pivot[i]);
    for (std::size_t j = first; j < n; j += lanes) hn::StoreU(hn::Mul(scale, hn::LoadU(d, row + j)), d, row + j);
    for (std::size_t j = first; j <= i; ++j) row[j] = 0;
  }
  return true;
}

// B <- U^-T B for the rows of B.
HWY_INLINE void solve_rows(const double* u, std::size_t n, std::size_t stride, const double* pivot, double* b,
                           std::size_t b_stride, std::size_t columns) {
  constexpr D d;
  for (std::size_t i = 0; i < n; ++i) {
    double* row = b + i * b_stride;
    for (std::size_t j = 0; j < columns; j += lanes) hn::StoreU(hn::Neg(hn::LoadU(d, row + j)), d, row + j);
    add_rows(row, u + i, stride, b, b_stride, i, 0, columns);
    const auto scale = hn::Set(d, -pivot[i]);
    for (std::size_t j = 0; j < columns; j += lanes) hn::StoreU(hn::Mul(scale, hn::LoadU(d, row + j)), d, row + j);
  }
}

// x <- (U^T U)^-1 x
HWY_INLINE void solve(const double* u, std::size_t n, std::size_t stride, const double* pivot, double* x) {
  for (std::size_t i = 0; i < n; ++i) {
    const double own = x[i] *= pivot[i];
    add(x, -own, u + i * stride, i, n);
  }
  for (std::size_t i = n; i-- > 0;) x[i] = (x[i] - dot_of(u + i * stride, x, i, n)) * pivot[i];
}

HWY_INLINE hn::Mask<D> inside(std::size_t j, std::size_t n) { return hn::FirstN(D(), n - j); }

// K = L^T (e - e e^T / sum e) L added to G.
HWY_INLINE void add_curvature(TreeBlock& b, const TreeScratch& scratch) {
  const std::size_t n = b.labels, stride = b.stride;
  if (b.zero_one) {
    for (std::size_t k = 0; k < n; ++k) {
      add(b.factor + k * stride, -b.weight[k] / b.total_weight, b.weight, 0, n);
      b.factor[k * stride + k] += b.weight[k];
    }
    return;
  }
  std::fill_n(scratch.mean, stride, 0.0);
  add_rows(scratch.mean, b.weight, 1, b.loss, stride, b.predictions, 0, n);
  for (std::size_t k = 0; k < n; ++k) scratch.mean[k] /= b.total_weight;
  // Rows of L less their mean, times sqrt(e).
  for (std::size_t p = 0; p < b.predictions; ++p) {
    const double root = std::sqrt(b.weight[p]);
    double* row = scratch.centred + p * stride;
    for (std::size_t k = 0; k < stride; ++k) row[k] = root * (b.loss[p * stride + k] - scratch.mean[k]);
  }
  for (std::size_t k = 0; k < n; ++k)
    add_rows(b.factor + k * stride, scratch.centred + k, stride, scratch.centred, stride, b.predictions, k, n);
}

bool Factor(std::span<TreeBlock> blocks, const TreeScratch& scratch) {
  constexpr D d;
  for (TreeBlock& b : blocks) std::fill_n(b.factor, b.labels * b.stride, 0.0);
  for (TreeBlock& b : blocks) {
    const std::size_t n = b.labels, above = b.above, wide = b.stride_above;
    // J in the upper half of scratch.gap, from R on its diagonal.
    double* const column_sum = scratch.mean;
    std::fill_n(column_sum, wide, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t at = k * wide;
      auto sum = hn::Zero(d);
      for (std::size_t i = 0; i < above; i += lanes) {
        const auto mass = hn::LoadU(d, b.mass + at + i);
        const auto inverse =
            hn::Div(hn::Set(d, 1), hn::MulAdd(mass, hn::Set(d, 1 / most_ratio), hn::LoadU(d, b.slack + at + i)));
        const auto ratio = hn::Mul(mass, inverse);
        hn::StoreU(inverse, d, b.inverse + at + i);
        hn::StoreU(ratio, d, b.ratio + at + i);
        hn::StoreU(hn::Add(ratio, hn::LoadU(d, column_sum + i)), d, column_sum + i);
        sum = hn::Add(sum, ratio);
      }
      b.row_sum[k] = hn::GetLane(hn::SumOfLanes(d, sum));
      if (!(b.row_sum[k] > 0)) return false;
    }
    std::fill_n(scratch.gap, above * wide, 0.0);
    for (std::size_t i = 0; i < above; ++i) scratch.gap[i * wide + i] = column_sum[i];
    b.total_weight = 0;
    for (std::size_t p = 0; p < b.predictions; ++p)
      b.total_weight += b.weight[p] = b.nu[p] / (b.z[p] + b.nu[p] / most_ratio);
    if (!(b.total_weight > 0)) return false;
    add_curvature(b, scratch);
    for (std::size_t k = 0; k < n; ++k) b.factor[k * b.stride + k] += 1 / b.row_sum[k];
    if (!factorise(b.factor, n, b.stride, b.pivot)) return false;
    for (std::size_t k = 0; k < n; ++k) {
      const auto half = hn::Set(d, 1 / std::sqrt(b.row_sum[k])), whole = hn::Set(d, 1 / b.row_sum[k]);
      for (std::size_t i = 0; i < above; i += lanes) {
        const auto ratio = hn::LoadU(d, b.ratio + k * wide + i);
        hn::StoreU(hn::Mul(half, ratio), d, scratch.scaled + k * wide + i);
        hn::StoreU(hn::Mul(whole, ratio), d, scratch.solved + k * wide + i);
      }
    }
    solve_rows(b.factor, n, b.stride, b.pivot, scratch.solved, wide, above);
    for (std::size_t i = 0; i < above; ++i) {
      double* row = scratch.gap + i * wide;
      for (std::size_t j = i / lanes * lanes; j < above; j += lanes)
        hn::StoreU(hn::Neg(hn::LoadU(d, row + j)), d, row + j);
      add_rows(row, scratch.scaled + i, wide, scratch.scaled, wide, n, i, above);
      for (std::size_t j = i / lanes * lanes; j < above; j += lanes)
        hn::StoreU(hn::Neg(hn::LoadU(d, row + j)), d, row + j);
      add_rows(row, scratch.solved + i, wide, scratch.solved, wide, n, i, above);
    }
    if (!factorise(scratch.gap, above, wide, scratch.mean)) return false;
    // H = J^-1 = Z^T Z with Z = U^-T.
    std::fill_n(scratch.root, above * wide, 0.0);
    for (std::size_t i = 0; i < above; ++i) scratch.root[i * wide + i] = 1;
    solve_rows(scratch.gap, above, wide, scratch.mean, scratch.root, wide, above);
    std::fill_n(b.hessian, above * wide, 0.0);
    for (std::size_t i = 0; i < above; ++i)
      add_rows(b.hessian + i * wide, scratch.root + i * wide + i, wide, scratch.root + i * wide, wide, above - i, 0,
               above);
    if (b.parent == TreeBlock::none) continue;
    double* const to = blocks[b.parent].factor;
    for (std::size_t i = 0; i < above; ++i) add(to + i * wide, 1, b.hessian + i * wide, 0, above);
  }
  return true;
}

// Where a step wants to go, in `fresh_mu` (sums over i of what masses P' would be with no step of the slacks),
// `gradient` (sums over k) and `fresh_z` (the same for z').
HWY_INLINE void aim_at(std::span<TreeBlock> blocks, double target, bool plain) {
  constexpr D d;
  const auto aim = hn::Set(d, target);
  for (TreeBlock& b : blocks) {
    std::fill_n(b.gradient, b.stride_above, 0.0);
    std::fill_n(b.fresh_mu, b.stride, 0.0);
    for (std::size_t p = 0; p < b.predictions; ++p) b.fresh_z[p] = (target - (plain ? 0 : b.product_z[p])) / b.nu[p];
    for (std::size_t k = 0; k < b.labels; ++k) {
      auto sum = hn::Zero(d);
      for (std::size_t i = 0; i < b.above; i += lanes) {
        const std::size_t at = k * b.stride_above + i;
        const auto mass = hn::LoadU(d, b.mass + at);
        auto rest = hn::NegMulAdd(mass, hn::LoadU(d, b.slack + at), aim);
        if (!plain) rest = hn::Sub(rest, hn::LoadU(d, b.product + at));
        const auto fresh = hn::IfThenElseZero(inside(i, b.above), hn::MulAdd(rest, hn::LoadU(d, b.inverse + at), mass));
        hn::StoreU(fresh, d, b.fresh + at);
        hn::StoreU(hn::Add(fresh, hn::LoadU(d, b.gradient + i)), d, b.gradient + i);
        sum = hn::Add(sum, fresh);
      }
      b.fresh_mu[k] = hn::GetLane(hn::SumOfLanes(d, sum));
    }
  }
}

// risk = L mu
HWY_INLINE void risks_of(const TreeBlock& b, const double* mu) {
  for (std::size_t p = 0; p < b.predictions; ++p)
    b.risk[p] = b.zero_one ? -mu[p] : dot_of(b.loss + p * b.stride, mu, 0, b.labels);
}

// out = L^T nu
HWY_INLINE void charges_of(const TreeBlock& b, const double* nu, double* out) {
  std::fill_n(out, b.stride, 0.0);
  if (b.zero_one) {
    for (std::size_t k = 0; k < b.labels; ++k) out[k] = -nu[k];
  } else {
    add_rows(out, nu, 1, b.loss, b.stride, b.predictions, 0, b.labels);
  }
}

// The linear system: replies h going up, then mu' (in mu_step) and the steps of beta, nu, f and z' (in z_step) going
// down. Above a root the mass is `mass`.
HWY_INLINE void solve_tree(std::span<TreeBlock> blocks, double mass) {
  for (TreeBlock& b : blocks) std::fill_n(b.reply_sum, b.stride, 0.0);
  for (TreeBlock& b : blocks) {
    const std::size_t n = b.labels, above = b.above, wide = b.stride_above;
    double weighted = 0;
    for (std::size_t p = 0; p < b.predictions; ++p) weighted += b.weight[p] * b.fresh_z[p];
    const double mean = weighted / b.total_weight;
    for (std::size_t p = 0; p < b.predictions; ++p) b.risk[p] = b.weight[p] * (b.fresh_z[p] - mean);
    charges_of(b, b.risk, b.pull);
    add(b.pull, 1, b.reply_sum, 0, n);
    for (std::size_t k = 0; k < n; ++k) b.middle[k] = b.fresh_mu[k] / b.row_sum[k] + b.pull[k];
    solve(b.factor, n, b.stride, b.pivot, b.middle);
    for (std::size_t k = 0; k < n; ++k) b.middle[k] = (b.middle[k] - b.fresh_mu[k]) / b.row_sum[k];
    add_rows(b.gradient, b.middle, 1, b.ratio, wide, n, 0, above);
    std::fill_n(b.reply, wide, 0.0);
    add_rows(b.reply, b.gradient, 1, b.hessian, wide, above, 0, above);
    if (b.parent != TreeBlock::none) add(blocks[b.parent].reply_sum, 1, b.reply, 0, above);
  }
  for (std::size_t place = blocks.size(); place-- > 0;) {
    TreeBlock& b = blocks[place];
    const std::size_t n = b.labels, above = b.above, wide = b.stride_above;
    const double* mass_above = b.parent == TreeBlock::none ? &mass : blocks[b.parent].mu_step;
    std::fill_n(b.beta_step, wide, 0.0);
    add_rows(b.beta_step, mass_above, 1, b.hessian, wide, above, 0, above);
    for (std::size_t i = 0; i < above; ++i) b.beta_step[i] = b.reply[i] - b.beta_step[i];
    for (std::size_t k = 0; k < n; ++k)
      b.mu_step[k] = (b.fresh_mu[k] - dot_of(b.ratio + k * wide, b.beta_step, 0, above)) / b.row_sum[k] + b.pull[k];
    solve(b.factor, n, b.stride, b.pivot, b.mu_step);
    // The level t keeps the sum of nu.
    risks_of(b, b.mu_step);
    double weighted = 0;
    for (std::size_t p = 0; p < b.predictions; ++p) weighted += b.weight[p] * (b.risk[p] - b.fresh_z[p]);
    const double level = weighted / b.total_weight;
    for (std::size_t p = 0; p < b.predictions; ++p) {
      b.nu_step[p] = b.weight[p] * (b.fresh_z[p] - b.risk[p] + level);
      b.z_step[p] = b.risk[p] - level;
    }
    charges_of(b, b.nu_step, b.f_step);
  }
  for (TreeBlock& b : blocks)
    if (b.parent != TreeBlock::none) add(blocks[b.parent].f_step, 1, b.beta_step, 0, b.above);
}

// Rounding in J, whose entries are large where slacks are small, leaves masses that do not quite agree: the same system
// once more for what is missing.
HWY_INLINE void refine(std::span<TreeBlock> blocks) {
  constexpr D d;
  for (TreeBlock& b : blocks) {
    std::fill_n(b.gradient, b.stride_above, 0.0);
    for (std::size_t k = 0; k < b.labels; ++k) {
      auto sum = hn::Zero(d);
      const auto step_of_f = hn::Set(d, b.f_step[k]);
      for (std::size_t i = 0; i < b.above; i += lanes) {
        const std::size_t at = k * b.stride_above + i;
        const auto mass = hn::NegMulAdd(hn::LoadU(d, b.ratio + at), hn::Sub(hn::LoadU(d, b.beta_step + i), step_of_f),
                                        hn::LoadU(d, b.fresh + at));
        hn::StoreU(hn::Add(mass, hn::LoadU(d, b.gradient + i)), d, b.gradient + i);
        sum = hn::Add(sum, mass);
      }
      b.fresh_mu[k] = hn::GetLane(hn::SumOfLanes(d, sum));  // the masses as they are
    }
  }
  for (TreeBlock& b : blocks) {
    const double one = 1;
    const double* mass_above = b.parent == TreeBlock::none ? &one : blocks[b.parent].fresh_mu;
    for (std::size_t i = 0; i < b.above; ++i) b.gradient[i] -= mass_above[i];
  }
  for (TreeBlock& b : blocks) {
    for (std::size_t k = 0; k < b.labels; ++k) b.middle[k] = b.fresh_mu[k] - b.mu_step[k];
    std::copy_n(b.fresh_mu, b.labels, b.mu_step);
    risks_of(b, b.middle);
    for (std::size_t p = 0; p < b.predictions; ++p) b.fresh_z[p] = -b.risk[p];
    std::fill_n(b.fresh_mu, b.stride, 0.0);
    std::swap(b.beta_step, b.beta_kept);
    std::swap(b.mu_step, b.mu_kept);
    std::swap(b.f_step, b.f_kept);
    std::swap(b.nu_step, b.nu_kept);
    std::swap(b.z_step, b.z_kept);
  }
  solve_tree(blocks, 0);
  for (TreeBlock& b : blocks) {
    add(b.beta_step, 1, b.beta_kept, 0, b.above);
    add(b.mu_step, 1, b.mu_kept, 0, b.labels);
    add(b.f_step, 1, b.f_kept, 0, b.labels);
    add(b.nu_step, 1, b.nu_kept, 0, b.predictions);
    for (std::size_t p = 0; p < b.predictions; ++p) b.z_step[p] += b.z_kept[p] - b.fresh_z[p];
  }
}

TreeSums Direction(std::span<TreeBlock> blocks, double target, bool plain, int refinements) {
  constexpr D d;
  aim_at(blocks, target, plain);
  solve_tree(blocks, 1);
  for (int round = 0; round < refinements; ++round) refine(blocks);
  for (TreeBlock& b : blocks)
    for (std::size_t p = 0; p < b.predictions; ++p) b.z_step[p] -= b.z[p];
  TreeSums out;
  auto longest_mass = hn::Zero(d), longest_slack = hn::Zero(d), mass_slack = hn::Zero(d), slack_mass = hn::Zero(d),
       both = hn::Zero(d);
  for (TreeBlock& b : blocks) {
    const std::size_t above = b.above, wide = b.stride_above;
    for (std::size_t k = 0; k < b.labels; ++k) {
      const auto step_of_f = hn::Set(d, b.f_step[k]);
      for (std::size_t i = 0; i < above; i += lanes) {
        const std::size_t at = k * wide + i;
        const auto there = inside(i, above);
        const auto mass = hn::LoadU(d, b.mass + at), slack = hn::LoadU(d, b.slack + at);
        const auto slack_step = hn::IfThenElseZero(there, hn::Sub(hn::LoadU(d, b.beta_step + i), step_of_f));
        // P' = fresh - D dS
        const auto mass_step =
            hn::Sub(hn::NegMulAdd(hn::LoadU(d, b.ratio + at), slack_step, hn::LoadU(d, b.fresh + at)), mass);
        hn::StoreU(slack_step, d, b.slack_step + at);
        hn::StoreU(mass_step, d, b.mass_step + at);
        const auto product = hn::Mul(mass_step, slack_step);
        if (plain) hn::StoreU(product, d, b.product + at);
        mass_slack = hn::MulAdd(mass, slack_step, mass_slack);
        slack_mass = hn::MulAdd(slack, mass_step, slack_mass);
        both = hn::Add(both, product);
        longest_slack = hn::Max(longest_slack, hn::Neg(hn::Div(slack_step, slack)));
        longest_mass = hn::Max(longest_mass, hn::IfThenElseZero(there, hn::Neg(hn::Div(mass_step, mass))));
      }
    }
    for (std::size_t p = 0; p < b.predictions; ++p) {
      if (plain) b.product_z[p] = b.nu_step[p] * b.z_step[p];
      out.mass_slack += b.z[p] * b.nu_step[p];
      out.slack_mass += b.nu[p] * b.z_step[p];
      out.both += b.nu_step[p] * b.z_step[p];
      out.longest_slack = std::max(out.longest_slack, -b.nu_step[p] / b.nu[p]);
      out.longest_mass = std::max(out.longest_mass, -b.z_step[p] / b.z[p]);
    }
  }
  out.mass_slack += hn::GetLane(hn::SumOfLanes(d, mass_slack));
  out.slack_mass += hn::GetLane(hn::SumOfLanes(d, slack_mass));
  out.both += hn::GetLane(hn::SumOfLanes(d, both));
  out.longest_slack = std::max(out.longest_slack, hn::GetLane(hn::MaxOfLanes(d, longest_slack)));
  out.longest_mass = std::max(out.longest_mass, hn::GetLane(hn::MaxOfLanes(d, longest_mass)));
  return out;
}

void BestOfRows(const double* table, std::size_t stride, std::size_t labels, std::size_t above, const double* score,
                double* message) {
  constexpr D d;
  for (std::size_t i = 0; i < above; i += lanes) {
    auto best = hn::Set(d, -1e308);
    for (std::size_t k = 0; k < labels; ++k)
      best = hn::Max(best, hn::Add(hn::LoadU(d, table + k * stride + i), hn::Set(d, score[k])));
    hn::StoreU(best, d, message + i);
  }
}

void BestOfColumns(const double* table, std::size_t stride, std::size_t labels, std::size_t above, const double* rest,
                   double* best) {
  constexpr D d;
  const std::size_t whole = above / lanes * lanes;
  for (std::size_t k = 0; k < labels; ++k) {
    const double* row = table + k * stride;
    auto top = hn::Set(d, -1e308);
    for (std::size_t i = 0; i < whole; i += lanes)
      top = hn::Max(top, hn::Add(hn::LoadU(d, row + i), hn::LoadU(d, rest + i)));
    best[k] = hn::GetLane(hn::MaxOfLanes(d, top));
    for (std::size_t i = whole; i < above; ++i) best[k] = std::max(best[k], row[i] + rest[i]);
  }
}

double Move(std::span<TreeBlock> blocks, double mass_length, double slack_length) {
  constexpr D d;
  const auto along_mass = hn::Set(d, mass_length), along_slack = hn::Set(d, slack_length);
  auto sum = hn::Zero(d);
  double gap = 0;
  for (TreeBlock& b : blocks) {
    for (std::size_t k = 0; k < b.labels; ++k) {
      for (std::size_t i = 0; i < b.above; i += lanes) {
        const std::size_t at = k * b.stride_above + i;
        const auto mass = hn::MulAdd(along_mass, hn::LoadU(d, b.mass_step + at), hn::LoadU(d, b.mass + at));
        const auto slack = hn::MulAdd(along_slack, hn::LoadU(d, b.slack_step + at), hn::LoadU(d, b.slack + at));
        hn::StoreU(mass, d, b.mass + at);
        hn::StoreU(slack, d, b.slack + at);
        sum = hn::MulAdd(mass, slack, sum);
      }
    }
    for (std::size_t p = 0; p < b.predictions; ++p) {
      b.nu[p] += slack_length * b.nu_step[p];
      b.z[p] += mass_length * b.z_step[p];
      gap += b.nu[p] * b.z[p];
    }
  }
  return gap + hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace m4n::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail::kernels {

M4N_KERNEL(Factor);
M4N_KERNEL(Direction);
M4N_KERNEL(Move);
M4N_KERNEL(BestOfRows);
M4N_KERNEL(BestOfColumns);

void tree_best_of_rows(const double* table, std::size_t stride, std::size_t labels, std::size_t above,
                       const double* score, double* message) {
  M4N_DISPATCH(BestOfRows)(table, stride, labels, above, score, message);
}
void tree_best_of_columns(const double* table, std::size_t stride, std::size_t labels, std::size_t above,
                          const double* rest, double* best) {
  M4N_DISPATCH(BestOfColumns)(table, stride, labels, above, rest, best);
}
bool tree_factor(std::span<TreeBlock> blocks, const TreeScratch& scratch) {
  return M4N_DISPATCH(Factor)(blocks, scratch);
}
TreeSums tree_direction(std::span<TreeBlock> blocks, double target, bool plain, int refinements) {
  return M4N_DISPATCH(Direction)(blocks, target, plain, refinements);
}
double tree_move(std::span<TreeBlock> blocks, double mass_length, double slack_length) {
  return M4N_DISPATCH(Move)(blocks, mass_length, slack_length);
}

}  // namespace m4n::detail::kernels
#endif
