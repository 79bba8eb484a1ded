#include "structures/permutations/birkhoff_blocks.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/permutations/birkhoff_blocks.cc"
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)

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

void ComputeBlocks(BirkhoffBlocks& f, const double* p, const double* d, const double* weight, BirkhoffNewton& newton) {
  const std::size_t m = f.size;
  for (auto* sums : {&newton.sum_alpha, &newton.sum_beta, &newton.sum_gamma, &newton.alpha, &newton.beta,
                     &newton.beta_across, &newton.gamma})
    std::fill(sums->begin(), sums->end(), 0.0);
  double *HWY_RESTRICT x = f.x.data(), *HWY_RESTRICT xt = f.wx.data(), *HWY_RESTRICT inverse = f.xx.data();
  double *HWY_RESTRICT rp = f.root_p.data(), *HWY_RESTRICT rd = f.root_d.data();
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < m; ++j) {
      rp[j] = std::sqrt(p[i * m + j]);
      rd[j] = std::sqrt(d[i * m + j]);
    }
    for (std::size_t k = 0; k < m; ++k)
      for (std::size_t j = 0; j < m; ++j) x[k * m + j] = weight[i] * rp[k] * f.costs[k * m + j] * rd[j];
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

HWY_EXPORT(ComputeBlocks);
HWY_EXPORT(ApplyBlocks);

void BirkhoffBlocks::shape(std::size_t m) {
  if (m == size) return;
  size = m;
  for (auto* matrices : {&alpha, &beta, &gamma}) matrices->resize(m * m * m);
  for (auto* matrix : {&costs, &x, &xx, &wx}) matrix->resize(m * m);
  for (auto* vector : {&root_p, &root_d}) vector->resize(m);
}

void compute_blocks(BirkhoffBlocks& blocks, std::span<const double> p, std::span<const double> d,
                    std::span<const double> weight, BirkhoffNewton& newton) {
  HWY_DYNAMIC_DISPATCH(ComputeBlocks)(blocks, p.data(), d.data(), weight.data(), newton);
}
void apply_blocks(const BirkhoffBlocks& blocks, std::span<const double> x, std::span<const double> y,
                  std::span<double> out_p, std::span<double> out_q) {
  HWY_DYNAMIC_DISPATCH(ApplyBlocks)(blocks, x.data(), y.data(), out_p.data(), out_q.data());
}

}  // namespace m4n::detail
#endif
