// The loops of birkhoff_cells.h, compiled once for every vector width.
#include "structures/permutations/birkhoff_cells.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/permutations/birkhoff_cells.cc"
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

// Mostly plain loops that the compiler makes vectors of. Sums run in eight lanes, however wide vectors are.
constexpr std::size_t lanes = 8;

void Weigh(const BirkhoffCells& c, BirkhoffNewton& newton) {
  const double *p = c.p.data(), *q = c.q.data(), *r = c.r.data(), *t = c.t.data(), *w = c.weight.data();
  double *HWY_RESTRICT al = newton.alpha.data(), *HWY_RESTRICT be = newton.beta.data(),
                       *HWY_RESTRICT ga = newton.gamma.data();
  for (std::size_t e = 0; e < c.size * c.size; ++e) {
    const double rk = r[e] + c.kappa * p[e], inverse = 1 / (rk * t[e] + w[e] * w[e] * p[e] * q[e]);
    al[e] = t[e] * p[e] * inverse;
    be[e] = w[e] * p[e] * q[e] * inverse;
    ga[e] = rk * q[e] * inverse;
  }
}

void Aim(BirkhoffCells& c, double target, bool corrector) {
  const double *p = c.p.data(), *q = c.q.data(), *r = c.r.data(), *t = c.t.data();
  const double *dp = c.dp.data(), *dq = c.dq.data(), *dr = c.dr.data(), *dt = c.dt.data();
  double *HWY_RESTRICT x = c.x.data(), *HWY_RESTRICT y = c.y.data();
  const std::size_t count = c.size * c.size;
  if (!corrector) {
    for (std::size_t e = 0; e < count; ++e) {
      x[e] = target / p[e] - r[e];
      y[e] = target / q[e] - t[e];
    }
    return;
  }
  for (std::size_t e = 0; e < count; ++e) {
    x[e] = (target - dp[e] * dr[e]) / p[e] - r[e];
    y[e] = (target - dq[e] * dt[e]) / q[e] - t[e];
  }
}

void Multiply(const BirkhoffNewton& newton, BirkhoffCells& c) {
  const double *al = newton.alpha.data(), *be = newton.beta.data(), *ga = newton.gamma.data();
  const double *x = c.x.data(), *y = c.y.data();
  double *HWY_RESTRICT dp = c.dp.data(), *HWY_RESTRICT dq = c.dq.data();
  for (std::size_t e = 0; e < c.size * c.size; ++e) {
    dp[e] = al[e] * x[e] - be[e] * y[e];
    dq[e] = be[e] * x[e] + ga[e] * y[e];
  }
}

// The sums of the rows and columns of a + b, less 1.
HWY_INLINE void add_up(const double* a, const double* b, std::size_t m, double* HWY_RESTRICT rows,
                       double* HWY_RESTRICT columns) {
  std::fill(columns, columns + m, -1.0);
  for (std::size_t i = 0; i < m; ++i) {
    double lane[4] = {-1, 0, 0, 0};
    std::size_t j = 0;
    for (; j + 4 <= m; j += 4)
      for (std::size_t l = 0; l < 4; ++l) lane[l] += a[i * m + j + l] + b[i * m + j + l];
    for (; j < m; ++j) lane[j % 4] += a[i * m + j] + b[i * m + j];
    rows[i] = (lane[0] + lane[1]) + (lane[2] + lane[3]);
    for (j = 0; j < m; ++j) columns[j] += a[i * m + j] + b[i * m + j];
  }
}

double SumErrors(const BirkhoffCells& c, BirkhoffNewton& newton) {
  add_up(c.p.data(), c.dp.data(), c.size, newton.row_s.data(), newton.column_s.data());
  add_up(c.q.data(), c.dq.data(), c.size, newton.row_t.data(), newton.column_t.data());
  double worst = 0;
  for (std::size_t i = 0; i < c.size; ++i)
    worst = std::max(worst, std::max(std::max(std::abs(newton.row_s[i]), std::abs(newton.row_t[i])),
                                     std::max(std::abs(newton.column_s[i]), std::abs(newton.column_t[i]))));
  return worst;
}

void MoveSums(const BirkhoffNewton& newton, BirkhoffCells& c) {
  const std::size_t m = c.size;
  const double *dv = newton.column_s.data(), *db = newton.column_t.data();
  for (std::size_t i = 0; i < m; ++i) {
    const double du = newton.row_s[i], da = newton.row_t[i];
    double *HWY_RESTRICT x = c.x.data() + i * m, *HWY_RESTRICT y = c.y.data() + i * m;
    double *HWY_RESTRICT dr = c.dr.data() + i * m, *HWY_RESTRICT dt = c.dt.data() + i * m;
    for (std::size_t j = 0; j < m; ++j) {
      const double uv = du + dv[j], ab = da + db[j];
      x[j] -= uv;
      dr[j] += uv;
      y[j] -= ab;
      dt[j] += ab;
    }
  }
}

// max over cells of -da / a and -db / b, at least 0.
HWY_INLINE double steepest(const double* a, const double* da, const double* b, const double* db, std::size_t count) {
  const hn::CappedTag<double, kernels::lane_block> d;
  auto least = hn::Zero(d);
  std::size_t e = 0;
  for (; e + hn::Lanes(d) <= count; e += hn::Lanes(d)) {
    least = hn::Min(least, hn::Div(hn::Load(d, da + e), hn::Load(d, a + e)));
    least = hn::Min(least, hn::Div(hn::Load(d, db + e), hn::Load(d, b + e)));
  }
  double out = hn::GetLane(hn::MinOfLanes(d, least));
  for (; e < count; ++e) out = std::min(out, std::min(da[e] / a[e], db[e] / b[e]));
  return -out;
}

double PrimalSteepest(const BirkhoffCells& c) {
  return steepest(c.p.data(), c.dp.data(), c.t.data(), c.dt.data(), c.size * c.size);
}
double DualSteepest(const BirkhoffCells& c) {
  return steepest(c.q.data(), c.dq.data(), c.r.data(), c.dr.data(), c.size * c.size);
}

double GapAfter(const BirkhoffCells& c, double primal, double dual) {
  const double *p = c.p.data(), *q = c.q.data(), *r = c.r.data(), *t = c.t.data();
  const double *dp = c.dp.data(), *dq = c.dq.data(), *dr = c.dr.data(), *dt = c.dt.data();
  const std::size_t count = c.size * c.size;
  double lane[lanes] = {};
  const auto product = [&](std::size_t e) {
    return (p[e] + primal * dp[e]) * (r[e] + dual * dr[e]) + (q[e] + dual * dq[e]) * (t[e] + primal * dt[e]);
  };
  std::size_t e = 0;
  for (; e + lanes <= count; e += lanes)
    for (std::size_t l = 0; l < lanes; ++l) lane[l] += product(e + l);
  double sum = 0;
  for (; e < count; ++e) sum += product(e);
  for (const double x : lane) sum += x;
  return sum;
}

void Step(BirkhoffCells& c, double primal, double dual) {
  const auto move = [&](AlignedVector<double>& values, const AlignedVector<double>& by, double length) {
    double* HWY_RESTRICT v = values.data();
    const double* d = by.data();
    for (std::size_t e = 0; e < c.size * c.size; ++e) v[e] += length * d[e];
  };
  move(c.p, c.dp, primal);
  move(c.t, c.dt, primal);
  move(c.q, c.dq, dual);
  move(c.r, c.dr, dual);
}

// ---- blocks, for losses that are not of rank one

HWY_INLINE void add_scaled(double* HWY_RESTRICT out, double a, const double* HWY_RESTRICT x, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) out[k] += a * x[k];
}

// The inverse of a symmetric matrix with eigenvalues of at least 1, in place (Gauss-Jordan).
HWY_INLINE void invert(double* matrix, std::size_t m) {
  for (std::size_t k = 0; k < m; ++k) {
    double* HWY_RESTRICT pivot = matrix + k * m;
    const double inverse = 1 / pivot[k];
    pivot[k] = 1;
    for (std::size_t j = 0; j < m; ++j) pivot[j] *= inverse;
    for (std::size_t i = 0; i < m; ++i) {
      if (i == k) continue;
      double* row = matrix + i * m;
      const double factor = row[k];
      row[k] = 0;
      add_scaled(row, -factor, pivot, m);
    }
  }
}

// out = 1 + a^T a, for a of m x m.
HWY_INLINE void gram(const double* a, std::size_t m, double* out) {
  std::fill(out, out + m * m, 0.0);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < m; ++i) add_scaled(out + i * m, a[k * m + i], a + k * m, m);
  for (std::size_t i = 0; i < m; ++i) out[i * m + i] += 1;
}

void AddBlock(BirkhoffBlocks& f, std::size_t i, const double* p, const double* d, double weight,
              BirkhoffNewton& newton) {
  const std::size_t m = f.size;
  double *HWY_RESTRICT x = f.x.data(), *HWY_RESTRICT xt = f.wx.data(), *HWY_RESTRICT inverse = f.xx.data();
  double *HWY_RESTRICT rp = f.root_p.data(), *HWY_RESTRICT rd = f.root_d.data();
  for (std::size_t j = 0; j < m; ++j) {
    rp[j] = std::sqrt(p[i * m + j]);
    rd[j] = std::sqrt(d[i * m + j]);
  }
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t j = 0; j < m; ++j) x[k * m + j] = weight * rp[k] * f.costs[k * m + j] * rd[j];
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t j = 0; j < m; ++j) xt[j * m + k] = x[k * m + j];
  double *al = f.alpha.data() + i * m * m, *be = f.beta.data() + i * m * m, *ga = f.gamma.data() + i * m * m;
  gram(x, m, inverse);
  invert(inverse, m);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t j = 0; j < m; ++j) ga[k * m + j] = rd[k] * inverse[k * m + j] * rd[j];
  gram(xt, m, inverse);
  invert(inverse, m);
  for (std::size_t k = 0; k < m; ++k) {
    double* row = be + k * m;
    std::fill(row, row + m, 0.0);
    for (std::size_t l = 0; l < m; ++l) add_scaled(row, -inverse[k * m + l], x + l * m, m);
    for (std::size_t j = 0; j < m; ++j) {
      row[j] *= rp[k] * rd[j];
      al[k * m + j] = rp[k] * inverse[k * m + j] * rp[j];
    }
  }
  for (std::size_t k = 0; k < m; ++k) {
    for (std::size_t j = 0; j < m; ++j) {
      newton.alpha[i * m + k] += al[k * m + j];
      newton.beta[i * m + k] += be[k * m + j];
      newton.gamma[i * m + k] += ga[k * m + j];
    }
    add_scaled(newton.beta_across.data() + i * m, 1, be + k * m, m);
  }
  add_scaled(newton.sum_alpha.data(), 1, al, m * m);
  add_scaled(newton.sum_beta.data(), 1, be, m * m);
  add_scaled(newton.sum_gamma.data(), 1, ga, m * m);
}

void ApplyBlocks(const BirkhoffBlocks& f, const double* x, const double* y, double* out_p, double* out_q) {
  const std::size_t m = f.size;
  for (std::size_t i = 0; i < m; ++i) {
    const double *al = f.alpha.data() + i * m * m, *be = f.beta.data() + i * m * m, *ga = f.gamma.data() + i * m * m;
    const double *xi = x + i * m, *yi = y + i * m;
    double *op = out_p + i * m, *oq = out_q + i * m;
    std::fill(op, op + m, 0.0);
    std::fill(oq, oq + m, 0.0);
    for (std::size_t k = 0; k < m; ++k) {
      add_scaled(op, xi[k], al + k * m, m);  // al and ga are symmetric
      add_scaled(oq, yi[k], ga + k * m, m);
      add_scaled(oq, xi[k], be + k * m, m);
      double across = 0;
      for (std::size_t j = 0; j < m; ++j) across += be[k * m + j] * yi[j];
      op[k] -= across;
    }
  }
}

}  // namespace m4n::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail {

M4N_KERNEL(Weigh);
M4N_KERNEL(Aim);
M4N_KERNEL(Multiply);
M4N_KERNEL(SumErrors);
M4N_KERNEL(MoveSums);
M4N_KERNEL(PrimalSteepest);
M4N_KERNEL(DualSteepest);
M4N_KERNEL(GapAfter);
M4N_KERNEL(Step);

void BirkhoffCells::shape(std::size_t m) {
  size = m;
  for (auto* matrix : {&weight, &p, &q, &r, &t, &dp, &dq, &dr, &dt, &x, &y}) matrix->resize(m * m);
}

void weigh(const BirkhoffCells& cells, BirkhoffNewton& newton) { M4N_DISPATCH(Weigh)(cells, newton); }
void aim(BirkhoffCells& cells, double target, bool corrector) { M4N_DISPATCH(Aim)(cells, target, corrector); }
void multiply(const BirkhoffNewton& newton, BirkhoffCells& cells) { M4N_DISPATCH(Multiply)(newton, cells); }
double sum_errors(const BirkhoffCells& cells, BirkhoffNewton& newton) { return M4N_DISPATCH(SumErrors)(cells, newton); }
void move_sums(const BirkhoffNewton& newton, BirkhoffCells& cells) { M4N_DISPATCH(MoveSums)(newton, cells); }
double primal_length(const BirkhoffCells& cells, double share) {
  const double most = M4N_DISPATCH(PrimalSteepest)(cells);
  return most <= share ? 1 : share / most;
}
double dual_length(const BirkhoffCells& cells, double share) {
  const double most = M4N_DISPATCH(DualSteepest)(cells);
  return most <= share ? 1 : share / most;
}
double gap_after(const BirkhoffCells& cells, double primal, double dual) {
  return M4N_DISPATCH(GapAfter)(cells, primal, dual);
}
void step(BirkhoffCells& cells, double primal, double dual) { M4N_DISPATCH(Step)(cells, primal, dual); }

M4N_KERNEL(AddBlock);
M4N_KERNEL(ApplyBlocks);

void BirkhoffBlocks::shape(std::size_t m) {
  if (m == size) return;
  size = m;
  for (auto* matrices : {&alpha, &beta, &gamma}) matrices->resize(m * m * m);
  for (auto* matrix : {&costs, &x, &xx, &wx}) matrix->resize(m * m);
  for (auto* vector : {&root_p, &root_d}) vector->resize(m);
}

void add_block(BirkhoffBlocks& blocks, std::size_t i, std::span<const double> p, std::span<const double> d,
               double weight, BirkhoffNewton& newton) {
  M4N_DISPATCH(AddBlock)(blocks, i, p.data(), d.data(), weight, newton);
}
void apply_blocks(const BirkhoffBlocks& blocks, std::span<const double> x, std::span<const double> y,
                  std::span<double> out_p, std::span<double> out_q) {
  M4N_DISPATCH(ApplyBlocks)(blocks, x.data(), y.data(), out_p.data(), out_q.data());
}

}  // namespace m4n::detail
#endif
