#include "oracle/birkhoff_newton.h"

#include <algorithm>

#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracle/birkhoff_newton.cc"
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)

constexpr double least_pivot = 1e-13;  // of what it was before the elimination
constexpr double skipped = 1e200;

// out_k -= a x_k + b y_k.
HWY_INLINE void subtract(double* HWY_RESTRICT out, double a, const double* HWY_RESTRICT x, double b,
                         const double* HWY_RESTRICT y, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) out[k] -= a * x[k] + b * y[k];
}

// Unknowns in the order dv_0 .. dv_{M-2}, db_0 .. db_{M-2}; the second equation is taken with a minus sign:
//     block of row i  D = [ra, -rb; -rb, -rg],   its coupling with the columns  K = [al_i, -ba_i; -be_i, -ga_i]
//     D^-1 = [rg, -rb; -rb, -ra] / (ra rg + rb^2),   rest = [sum al, -sum be; ., -sum ga] - sum_i K^T D^-1 K
void Factor(BirkhoffNewton& f) {
  const std::size_t m = f.size, c = m - 1;
  std::fill(f.factor.begin(), f.factor.end(), 0.0);
  for (std::size_t j = 0; !f.diagonal && j < c; ++j) {
    double *v = f.factor.data() + j * f.stride, *b = v + c * f.stride;
    for (std::size_t k = j; k < c; ++k) v[k] = f.sum_alpha[j * m + k];
    for (std::size_t k = 0; k < c; ++k) v[c + k] = -f.sum_beta[j * m + k];
    for (std::size_t k = j; k < c; ++k) b[c + k] = -f.sum_gamma[j * m + k];
  }
  for (std::size_t i = 0; i < m; ++i) {
    const double *al = f.alpha.data() + i * m, *be = f.beta.data() + i * m, *ga = f.gamma.data() + i * m;
    const double* ba = f.diagonal ? be : f.beta_across.data() + i * m;
    double ra = 0, rb = 0, rg = 0;
    for (std::size_t j = 0; j < m; ++j) {
      ra += al[j];
      rb += be[j];
      rg += ga[j];
    }
    f.row_alpha[i] = ra;
    f.row_beta[i] = rb;
    f.row_gamma[i] = rg;
    const double inverse = 1 / (f.determinant[i] = ra * rg + rb * rb);
    double *HWY_RESTRICT x = f.first.data(), *HWY_RESTRICT y = f.second.data();
    for (std::size_t j = 0; j < c; ++j) {
      x[j] = (rg * al[j] + rb * be[j]) * inverse;
      x[c + j] = (rb * ga[j] - rg * ba[j]) * inverse;
      y[j] = (ra * be[j] - rb * al[j]) * inverse;
      y[c + j] = (rb * ba[j] + ra * ga[j]) * inverse;
    }
    for (std::size_t j = 0; j < c; ++j) {
      double *v = f.factor.data() + j * f.stride, *b = v + c * f.stride;
      if (f.diagonal) {
        v[j] += al[j];
        v[c + j] -= be[j];
        b[c + j] -= ga[j];
      }
      subtract(v + j, al[j], x + j, -be[j], y + j, 2 * c - j);
      subtract(b + c + j, -ba[j], x + c + j, -ga[j], y + c + j, c - j);
    }
  }
  for (std::size_t k = 0; k < f.order; ++k) f.rest[k] = f.factor[k * f.stride + k];
  for (std::size_t k = 0; k < f.order; ++k) {
    double* HWY_RESTRICT pivot = f.factor.data() + k * f.stride;
    // All that is left of a pivot is rounding: its equation follows from the others, and its unknown may be 0.
    const double sign = k < c ? 1 : -1;
    if (!(sign * pivot[k] > least_pivot * sign * f.rest[k])) pivot[k] = sign * skipped;
    const double inverse = f.inverse_pivot[k] = 1 / pivot[k];
    for (std::size_t i = k + 1; i < f.order; ++i) {
      double* HWY_RESTRICT row = f.factor.data() + i * f.stride;
      const double scale = pivot[i] * inverse;
      for (std::size_t j = i; j < f.order; ++j) row[j] -= scale * pivot[j];
    }
  }
}

void Solve(BirkhoffNewton& f) {
  const std::size_t m = f.size, c = m - 1;
  double* HWY_RESTRICT rest = f.rest.data();
  for (std::size_t j = 0; j < c; ++j) {
    rest[j] = f.column_s[j];
    rest[c + j] = -f.column_t[j];
  }
  for (std::size_t i = 0; i < m; ++i) {  // rest -= K^T D^-1 (s_i, -t_i)
    const double *al = f.alpha.data() + i * m, *be = f.beta.data() + i * m, *ga = f.gamma.data() + i * m;
    const double* ba = f.diagonal ? be : f.beta_across.data() + i * m;
    const double x = (f.row_gamma[i] * f.row_s[i] + f.row_beta[i] * f.row_t[i]) / f.determinant[i];
    const double y = (f.row_alpha[i] * f.row_t[i] - f.row_beta[i] * f.row_s[i]) / f.determinant[i];
    subtract(rest, x, al, -y, be, c);
    subtract(rest + c, -x, ba, -y, ga, c);
  }
  for (std::size_t k = 0; k < f.order; ++k) {
    const double* HWY_RESTRICT row = f.factor.data() + k * f.stride;
    const double scale = rest[k] * f.inverse_pivot[k];
    for (std::size_t j = k + 1; j < f.order; ++j) rest[j] -= scale * row[j];
  }
  for (std::size_t k = f.order; k-- > 0;) {
    const double* row = f.factor.data() + k * f.stride;
    double lane[8] = {};
    std::size_t j = k + 1;
    for (; j + 8 <= f.order; j += 8)
      for (std::size_t l = 0; l < 8; ++l) lane[l] += row[j + l] * rest[j + l];
    for (std::size_t l = 0; j < f.order; ++j, ++l) lane[l] += row[j] * rest[j];
    const double sum = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    rest[k] = (rest[k] - sum) * f.inverse_pivot[k];
  }
  for (std::size_t j = 0; j < c; ++j) {
    f.column_s[j] = rest[j];
    f.column_t[j] = rest[c + j];
  }
  f.column_s[c] = f.column_t[c] = 0;
  for (std::size_t i = 0; i < m; ++i) {
    const double *al = f.alpha.data() + i * m, *be = f.beta.data() + i * m, *ga = f.gamma.data() + i * m;
    const double* ba = f.diagonal ? be : f.beta_across.data() + i * m;
    double s = f.row_s[i], t = f.row_t[i];
    for (std::size_t j = 0; j < c; ++j) {
      s -= al[j] * rest[j] - ba[j] * rest[c + j];
      t -= be[j] * rest[j] + ga[j] * rest[c + j];
    }
    f.row_s[i] = (f.row_gamma[i] * s + f.row_beta[i] * t) / f.determinant[i];
    f.row_t[i] = (f.row_alpha[i] * t - f.row_beta[i] * s) / f.determinant[i];
  }
}

}  // namespace m4n::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n {

HWY_EXPORT(Factor);
HWY_EXPORT(Solve);

void BirkhoffNewton::shape(std::size_t m) {
  if (m == size) return;
  size = m;
  order = 2 * (m - 1);
  stride = kernels::padded(order);
  for (auto* values : {&alpha, &beta, &gamma, &beta_across, &sum_alpha, &sum_beta, &sum_gamma}) values->resize(m * m);
  for (auto* values : {&row_alpha, &row_beta, &row_gamma, &determinant, &row_s, &row_t, &column_s, &column_t})
    values->resize(m);
  for (auto* values : {&first, &second, &rest, &inverse_pivot}) values->resize(order);
  factor.resize(order * stride);
}

void factor(BirkhoffNewton& system) { HWY_DYNAMIC_DISPATCH(Factor)(system); }
void solve(BirkhoffNewton& system) { HWY_DYNAMIC_DISPATCH(Solve)(system); }

}  // namespace m4n
#endif
