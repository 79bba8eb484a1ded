// The hot loops, written once with Highway and compiled for every vector width of the processor family; the widest
// that the machine has is chosen when the program starts.
//
// Vectors over classes are PADDED: their length is a multiple of `lane_block`, their memory starts on a cache line,
// and the lanes beyond k hold padding_score in scores and 0 in weights, marginals and steps.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace m4n::detail::kernels {

inline constexpr std::size_t lane_block = 8;
inline constexpr double padding_score = -1e100;
// Scores beyond it would meet the padding, and lose to it; no sum of them overflows.
inline constexpr double largest_score = 1e80;
inline bool is_score(double v) { return std::abs(v) <= largest_score; }  // NaN is none
constexpr std::size_t padded(std::size_t k) { return (k + lane_block - 1) / lane_block * lane_block; }

// v = bias + sum_j x_j w_j; w is d rows of kp, bias one row of kp.
void dense_scores(std::span<const double> x, const double* w, const double* bias, std::span<double> v);
void sparse_scores(std::span<const std::uint32_t> column, std::span<const double> value, const double* w,
                   const double* bias, std::span<double> v);

// The same for `rows` rows of d features, each x_stride behind the one before; scores lie kp apart.
void dense_scores(const double* x, std::size_t x_stride, std::size_t d, std::size_t rows, const double* w,
                  const double* bias, std::size_t kp, double* v);

// w_j += sum over rows of x_rj step_r for every feature j, and bias += sum of step_r unless it is null; steps lie kp
// apart.
void dense_update(const double* x, std::size_t x_stride, std::size_t d, std::size_t rows, const double* step,
                  std::size_t kp, double* w, double* bias);

// w_j += scale x_j delta for every feature j, and bias += scale delta unless it is null.
void dense_update(std::span<const double> x, std::span<const double> delta, double scale, double* w, double* bias);
void sparse_update(std::span<const std::uint32_t> column, std::span<const double> value, std::span<const double> delta,
                   double scale, double* w, double* bias);

double dot(std::span<const double> a, std::span<const double> b);
double dot(std::span<const float> a, std::span<const double> b);

// v_c = sum_j |x_j - w_jc|
void l1_distances(std::span<const double> x, const double* w, std::span<double> v);

// v = exp(-rate * max(v, 0)), entry by entry: distances to similarities.
void decay(std::span<double> v, double rate);
// The same into floats, plus `shift`; the exponential itself is taken in float.
void decay(std::span<const double> v, double rate, float shift, float* out);

// v_c = own + norm_c - 2 v_c: inner products x.c to squared distances, own = |x|^2, norm_c = |c|^2.
void squared_distances(double own, const double* norm, std::span<double> v);

// out = x, out.size() of them; lane blocks.
void to_double(const float* x, std::span<double> out);

// One tile of columns of a product of a sparse with a dense matrix: for every c < begin.size() - 1
//   out_c += sum over e = begin[c] .. begin[c + 1] - 1 of  entries[e].scale * (row entries[e].row of `rows`).
// Rows lie `stride` apart, the rows of `out` one tile. All start on a cache line.
template <class T>
inline constexpr std::size_t row_tile = 512 / sizeof(T);
template <class T>
struct ScaledRow {
  std::uint32_t row;
  T scale;
};
void add_scaled_rows(std::span<const std::size_t> begin, const ScaledRow<float>* entries, const float* rows,
                     std::size_t stride, float* out);
void add_scaled_rows(std::span<const std::size_t> begin, const ScaledRow<double>* entries, const double* rows,
                     std::size_t stride, double* out);

// Euclidean projection of u onto the simplex: mu = (u - tau)_+ with sum mu = 1.
void project_simplex(std::span<const double> u, std::span<double> mu);

// mu <- projection of mu + (v + cost) * step onto the simplex; `u` is scratch.
void prox_linear(std::span<const double> v, std::span<const double> cost, double step, std::span<double> mu,
                 std::span<double> u);

// u = v * step + mu: where the quadratic part of a proximal step wants to go.
void shift_towards(std::span<const double> v, double step, std::span<const double> mu, std::span<double> u);

// Asks for the memory of `values` before it is needed.
void prefetch(std::span<const double> values);

// The threshold tau with sum_j (u_j - tau)_+ = mass (mass > 0).
double threshold(std::span<const double> u, double mass);

// argmin over the simplex of  max_j mu_j + (c/2) |mu - u|^2   (u is overwritten).
void prox_max(std::span<double> u, double c, std::span<double> mu);

// mu = softmax(v); returns log sum exp v.
double softmax(std::span<const double> v, std::span<double> mu);

// -sum_j mu_j log mu_j (0 log 0 = 0).
double entropy(std::span<const double> mu);

// Derivatives in t of  H(mu + t delta):  first = -sum delta_j log(mu_j + t delta_j),  second = -sum delta_j^2 / (..).
struct Slope {
  double first, second;
};
Slope entropy_slope(std::span<const double> mu, std::span<const double> delta, double t);

// step = new - old, returns max |step|.
double difference(std::span<const double> now, std::span<const double> old, std::span<double> step);

}  // namespace m4n::detail::kernels
