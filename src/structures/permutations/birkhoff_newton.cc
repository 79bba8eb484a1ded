// Factorising and solving the Newton system (birkhoff_newton.h), compiled once for every vector width.
#include "structures/permutations/birkhoff_newton.h"

#include <algorithm>

#include "core/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/permutations/birkhoff_newton.cc"
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kernels::lane_block>;
constexpr D d{};

constexpr double least_pivot = 1e-13;  // of what it was before the elimination
constexpr double skipped = 1e200;

// The first of the lane block that column k is in.
HWY_INLINE std::size_t block_of(std::size_t k) { return k / kernels::lane_block * kernels::lane_block; }

// out -= a x, from column `first` to the end of the line.
HWY_INLINE void subtract(double* out, double a, const double* x, std::size_t first, std::size_t end) {
  const auto scale = hn::Set(d, a);
  for (std::size_t j = first; j < end; j += hn::Lanes(d))
    hn::Store(hn::NegMulAdd(scale, hn::Load(d, x + j), hn::Load(d, out + j)), d, out + j);
}

// out_k -= a x_k + b y_k.
HWY_INLINE void subtract_both(double* HWY_RESTRICT out, double a, const double* HWY_RESTRICT x, double b,
                              const double* HWY_RESTRICT y, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) out[k] -= a * x[k] + b * y[k];
}

// sum_k a_k x_k + b_k y_k.
HWY_INLINE double dot_both(const double* a, const double* x, const double* b, const double* y, std::size_t count) {
  double lane[4] = {};
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (std::size_t l = 0; l < 4; ++l) lane[l] += a[k + l] * x[k + l] + b[k + l] * y[k + l];
  for (std::size_t l = 0; k < count; ++k, ++l) lane[l] += a[k] * x[k] + b[k] * y[k];
  return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

// Unknowns in the order dv_0 .. dv_{M-2}, db_0 .. db_{M-2}; the second equation is taken with a minus sign:
//     block of row i  B = [ra, -rb; -rb, -rg],   its coupling with the columns  K = [al_i, -ba_i; -be_i, -ga_i]
//     B^-1 = [rg, -rb; -rb, -ra] / (ra rg + rb^2),   rest = [sum al, -sum be; ., -sum ga] - sum_i K^T B^-1 K
// Lines are worked on from the lane block of the diagonal; what lies before the diagonal there is of no meaning.
void Factor(BirkhoffNewton& f) {
  const std::size_t m = f.size, c = m - 1;
  std::fill(f.factor.begin(), f.factor.end(), 0.0);
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
    double *HWY_RESTRICT x = f.first.data() + i * f.stride, *HWY_RESTRICT y = f.second.data() + i * f.stride;
    for (std::size_t j = 0; j < c; ++j) {
      x[j] = (rg * al[j] + rb * be[j]) * inverse;
      x[c + j] = (rb * ga[j] - rg * ba[j]) * inverse;
      y[j] = (ra * be[j] - rb * al[j]) * inverse;
      y[c + j] = (rb * ba[j] + ra * ga[j]) * inverse;
    }
    for (std::size_t j = 0; f.diagonal && j < c; ++j) {
      f.factor[j * f.stride + j] += al[j];
      f.factor[j * f.stride + c + j] -= be[j];
      f.factor[(c + j) * f.stride + c + j] -= ga[j];
    }
  }
  for (std::size_t j = 0; !f.diagonal && j < c; ++j) {
    double *v = f.factor.data() + j * f.stride, *b = v + c * f.stride;
    for (std::size_t k = j; k < c; ++k) v[k] = f.sum_alpha[j * m + k];
    for (std::size_t k = 0; k < c; ++k) v[c + k] = -f.sum_beta[j * m + k];
    for (std::size_t k = j; k < c; ++k) b[c + k] = -f.sum_gamma[j * m + k];
  }
  for (std::size_t k = 0; k < f.order; ++k) {
    const bool upper = k < c;
    const double* left = upper ? f.alpha.data() + k : (f.diagonal ? f.beta.data() : f.beta_across.data()) + (k - c);
    const double* right = upper ? f.beta.data() + k : f.gamma.data() + (k - c);
    const double sign = upper ? 1 : -1;
    for (std::size_t j = block_of(k); j < f.stride; j += hn::Lanes(d)) {
      double* out = f.factor.data() + k * f.stride + j;
      auto sum = hn::Load(d, out);
      for (std::size_t i = 0; i < m; ++i) {
        sum = hn::NegMulAdd(hn::Set(d, sign * left[i * m]), hn::Load(d, f.first.data() + i * f.stride + j), sum);
        sum = hn::MulAdd(hn::Set(d, right[i * m]), hn::Load(d, f.second.data() + i * f.stride + j), sum);
      }
      hn::Store(sum, d, out);
    }
    f.rest[k] = 0;
    for (std::size_t i = 0; f.diagonal && i < m; ++i) f.rest[k] += upper ? left[i * m] : right[i * m];
    if (!f.diagonal) f.rest[k] = upper ? f.sum_alpha[k * m + k] : f.sum_gamma[(k - c) * m + k - c];
  }
  for (std::size_t k = 0; k < f.order; ++k) {
    double* pivot = f.factor.data() + k * f.stride;
    // All that is left of a pivot is rounding: its equation follows from the others, and its unknown may be 0.
    const double sign = k < c ? 1 : -1;
    if (!(sign * pivot[k] > least_pivot * f.rest[k])) pivot[k] = sign * skipped;
    const double inverse = f.inverse_pivot[k] = 1 / pivot[k];
    for (std::size_t i = k + 1; i < f.order; ++i)
      subtract(f.factor.data() + i * f.stride, pivot[i] * inverse, pivot, block_of(i), f.stride);
    std::fill(pivot + block_of(k), pivot + k + 1, 0.0);
    for (std::size_t i = k + 1; i < f.order; ++i) f.transposed[i * f.stride + k] = pivot[i];
  }
}

void Solve(BirkhoffNewton& f) {
  const std::size_t m = f.size, c = m - 1;
  double* rest = f.rest.data();
  for (std::size_t j = 0; j < c; ++j) {
    rest[j] = f.column_s[j];
    rest[c + j] = -f.column_t[j];
  }
  for (std::size_t i = 0; i < m; ++i) {  // rest -= K^T B^-1 (s_i, -t_i)
    const double *al = f.alpha.data() + i * m, *be = f.beta.data() + i * m, *ga = f.gamma.data() + i * m;
    const double* ba = f.diagonal ? be : f.beta_across.data() + i * m;
    const double x = (f.row_gamma[i] * f.row_s[i] + f.row_beta[i] * f.row_t[i]) / f.determinant[i];
    const double y = (f.row_alpha[i] * f.row_t[i] - f.row_beta[i] * f.row_s[i]) / f.determinant[i];
    subtract_both(rest, x, al, -y, be, c);
    subtract_both(rest + c, -x, ba, -y, ga, c);
  }
  std::fill(rest + f.order, rest + f.stride, 0.0);
  for (std::size_t k = 0; k < f.order; ++k)
    subtract(rest, rest[k] * f.inverse_pivot[k], f.factor.data() + k * f.stride, block_of(k), f.stride);
  // Backwards column by column: reading a number just written as part of a vector would stall.
  for (std::size_t k = f.order; k-- > 0;) {
    const double x = rest[k] * f.inverse_pivot[k];
    subtract(rest, x, f.transposed.data() + k * f.stride, 0, k);
    if (k < c)
      f.column_s[k] = x;
    else
      f.column_t[k - c] = x;
  }
  f.column_s[c] = f.column_t[c] = 0;
  for (std::size_t j = 0; j < c; ++j) {
    rest[j] = f.column_s[j];
    rest[c + j] = -f.column_t[j];
  }
  for (std::size_t i = 0; i < m; ++i) {
    const double *al = f.alpha.data() + i * m, *be = f.beta.data() + i * m, *ga = f.gamma.data() + i * m;
    const double* ba = f.diagonal ? be : f.beta_across.data() + i * m;
    const double s = f.row_s[i] - dot_both(al, rest, ba, rest + c, c);
    const double t = f.row_t[i] - dot_both(be, f.column_s.data(), ga, f.column_t.data(), c);
    f.row_s[i] = (f.row_gamma[i] * s + f.row_beta[i] * t) / f.determinant[i];
    f.row_t[i] = (f.row_alpha[i] * t - f.row_beta[i] * s) / f.determinant[i];
  }
}

}  // namespace m4n::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail {

M4N_KERNEL(Factor);
M4N_KERNEL(Solve);

void BirkhoffNewton::shape(std::size_t m) {
  if (m == size) return;
  size = m;
  order = 2 * (m - 1);
  stride = kernels::padded(order);
  for (auto* values : {&alpha, &beta, &gamma, &beta_across, &sum_alpha, &sum_beta, &sum_gamma}) values->resize(m * m);
  for (auto* values : {&row_alpha, &row_beta, &row_gamma, &determinant, &row_s, &row_t, &column_s, &column_t})
    values->resize(m);
  for (auto* values : {&first, &second}) values->assign(m * stride, 0.0);
  for (auto* values : {&rest, &inverse_pivot}) values->resize(stride);
  factor.resize(order * stride);
  transposed.assign(order * stride, 0.0);
}

void BirkhoffNewton::clear() {
  for (auto* sums : {&sum_alpha, &sum_beta, &sum_gamma, &alpha, &beta, &beta_across, &gamma})
    std::fill(sums->begin(), sums->end(), 0.0);
}

void factor(BirkhoffNewton& system) { M4N_DISPATCH(Factor)(system); }
void solve(BirkhoffNewton& system) { M4N_DISPATCH(Solve)(system); }

}  // namespace m4n::detail
#endif
