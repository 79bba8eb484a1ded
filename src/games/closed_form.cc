// The formulas of closed_form.h for zero-one and absolute costs.
#include "games/closed_form.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels.h"

namespace m4n::detail::closed_form {

double zero_one_value(std::span<const double> v, double s) { return s + kernels::threshold(v, s); }

double zero_one(std::span<const double> v, double s, std::span<double> mu, std::span<double> nu) {
  const double tau = kernels::threshold(v, s);
  double count = 0, mass = 0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    nu[j] = std::max(v[j] - tau, 0.0);
    mu[j] = nu[j] > 0 ? 1.0 : 0.0;
    count += mu[j];
    mass += nu[j];
  }
  if (count == 0) {  // scores so large that v - tau rounds to nothing: only the largest can matter
    const auto best = static_cast<std::size_t>(std::max_element(v.begin(), v.end()) - v.begin());
    mu[best] = nu[best] = count = mass = 1;
  }
  for (std::size_t j = 0; j < v.size(); ++j) {
    mu[j] /= count;
    nu[j] /= mass;
  }
  return s + tau;
}

void zero_one_prox(std::span<const double> v, double s, double c, std::span<double> mu, std::span<double> scratch) {
  // Divided by s the problem is that of the unit loss at scores v/s and curvature c/s: max -max(mu) - (c/2s)|mu - u|^2.
  kernels::shift_towards(v, 1 / c, mu, scratch);
  kernels::prox_max(scratch, c / s, mu);
}

namespace {

struct Ends {
  std::size_t a = 0, b = 0;
  double value = 0;
};

Ends absolute_ends(std::span<const double> v, double s, std::size_t k) {
  double low = v[0], high = v[0];
  Ends ends;
  for (std::size_t j = 1; j < k; ++j) {
    const double position = s * static_cast<double>(j);
    if (v[j] - position > low) low = v[j] - position, ends.a = j;
    if (v[j] + position >= high) high = v[j] + position, ends.b = j;
  }
  ends.value = 0.5 * (low + high);
  return ends;
}

}  // namespace

double absolute_value(std::span<const double> v, double s, std::size_t k) { return absolute_ends(v, s, k).value; }

double absolute(std::span<const double> v, double s, std::size_t k, std::span<double> mu) {
  const Ends ends = absolute_ends(v, s, k);
  std::fill(mu.begin(), mu.end(), 0.0);
  mu[ends.a] += 0.5;
  mu[ends.b] += 0.5;
  return ends.value;
}

void absolute_adversary(std::span<const double> v, double s, std::size_t k, std::span<double> nu) {
  const Ends ends = absolute_ends(v, s, k);
  std::fill(nu.begin(), nu.end(), 0.0);
  // nu plays f(j) = sum_y nu_y |y - j|, a convex function of slopes -1 to 1 that must stay below (value - v_j)/s and
  // touches it at a and b. The largest such function is the lower convex hull of those points between a and b.
  std::vector<std::size_t> hull;
  const auto slope = [&](std::size_t i, std::size_t j) { return (v[i] - v[j]) / (s * static_cast<double>(j - i)); };
  for (std::size_t j = ends.a; j <= ends.b; ++j) {
    while (hull.size() >= 2 && slope(hull[hull.size() - 2], hull.back()) >= slope(hull.back(), j)) hull.pop_back();
    hull.push_back(j);
  }
  double before = -1;
  for (std::size_t h = 0; h < hull.size(); ++h) {
    const double after = h + 1 < hull.size() ? std::clamp(slope(hull[h], hull[h + 1]), before, 1.0) : 1.0;
    nu[hull[h]] = 0.5 * (after - before);
    before = after;
  }
}

double absolute_bayes_risk(std::span<const double> mu, double s, std::size_t k) {
  double cumulative = 0, risk = 0;
  for (std::size_t j = 0; j + 1 < k; ++j) {
    cumulative += mu[j];
    risk += std::min(cumulative, 1 - cumulative);
  }
  return s * risk;
}

namespace {

// The smallest p with F_p >= 1/2.
std::size_t median(std::span<const double> mu, std::size_t k) {
  double cumulative = 0;
  for (std::size_t j = 0; j < k; ++j)
    if ((cumulative += mu[j]) >= 0.5) return j;
  return k - 1;
}

// Projects u[first, last) onto {mu >= 0, sum mu = mass}, leaving the rest of mu alone. `padded` is scratch.
void project_part(std::span<const double> u, std::size_t first, std::size_t last, double mass, std::span<double> padded,
                  std::span<double> mu) {
  std::fill(padded.begin(), padded.end(), kernels::padding_score);
  std::copy(u.begin() + static_cast<std::ptrdiff_t>(first), u.begin() + static_cast<std::ptrdiff_t>(last),
            padded.begin());
  const double tau = kernels::threshold(padded, mass);
  double sum = 0;
  for (std::size_t j = first; j < last; ++j) sum += mu[j] = std::max(u[j] - tau, 0.0);
  for (std::size_t j = first; j < last; ++j) mu[j] *= mass / sum;
}

}  // namespace

void absolute_prox(std::span<const double> v, double s, double c, std::size_t k, std::span<double> mu,
                   std::span<double> scratch) {
  // h(mu) = min_p sum_j s |j - p| mu_j. For a fixed p the step is a projection of u + s |j - p| / c; it is the answer
  // if p is a median of what comes out. Otherwise the median lies on the side where the mass is, and if neither
  // p nor p + 1 will do, both are medians: exactly half of the mass lies up to p.
  const std::size_t kp = mu.size();
  const std::span<double> u = scratch.first(kp), shifted = scratch.subspan(kp, kp);
  kernels::shift_towards(v, 1 / c, mu, u);
  const double unit = s / c;
  std::ptrdiff_t low = 0, high = static_cast<std::ptrdiff_t>(k) - 1;
  auto p = static_cast<std::ptrdiff_t>(median(mu, k));
  while (low <= high) {
    for (std::size_t j = 0; j < kp; ++j)
      shifted[j] = u[j] + unit * std::abs(static_cast<double>(static_cast<std::ptrdiff_t>(j) - p));
    kernels::project_simplex(shifted, mu);
    double below = 0;
    for (std::ptrdiff_t j = 0; j < p; ++j) below += mu[static_cast<std::size_t>(j)];
    if (below > 0.5) {
      high = p - 1;
    } else if (below + mu[static_cast<std::size_t>(p)] < 0.5) {
      low = p + 1;
    } else {
      return;
    }
    if (low <= high) p = std::clamp(static_cast<std::ptrdiff_t>(median(mu, k)), low, high);
  }
  // low = high + 1: the left part ends at high, the right one starts at low.
  const auto cut = static_cast<std::size_t>(low);
  for (std::size_t j = 0; j < k; ++j) u[j] += (j < cut ? -unit : unit) * static_cast<double>(j);
  project_part(u, 0, cut, 0.5, shifted, mu);
  project_part(u, cut, k, 0.5, shifted, mu);
}

}  // namespace m4n::detail::closed_form
