// Max-min oracles and proximal steps that have a formula (docs/algorithms.md). All vectors are padded; `s` is the
// scale of the loss: s [y != t] or s |y - t|.
//
//   oracle: max over the simplex of  h(mu) + v.mu                          exact, O(k)
//   prox:   argmax of  h(mu) + v.mu - (c/2) |mu - mu_old|^2                 exact, O(k) to O(k log k)
#pragma once
#include <cstddef>
#include <span>

namespace m4n::detail::closed_form {

// 0-1: h(mu) = s (1 - max mu). Value s + tau(v, s); mu is uniform on {v_j > tau}; nu_j = (v_j - tau)_+ / s.
double zero_one_value(std::span<const double> v, double s);
double zero_one(std::span<const double> v, double s, std::span<double> mu, std::span<double> nu);
void zero_one_prox(std::span<const double> v, double s, double c, std::span<double> mu, std::span<double> scratch);

// absolute: with a = argmax v_j - s j and b = argmax v_j + s j, mu = (e_a + e_b)/2 and the value is
// (v_a + v_b + s (b - a))/2. nu: half the changes of slope, at the kinks between a and b, of the largest convex
// function below (value - v)/s.
double absolute_value(std::span<const double> v, double s, std::size_t k);
double absolute(std::span<const double> v, double s, std::size_t k, std::span<double> mu);
void absolute_adversary(std::span<const double> v, double s, std::size_t k, std::span<double> nu);
// h(mu) = s sum_j min(F_j, 1 - F_j), F the cumulative sums of mu.
double absolute_bayes_risk(std::span<const double> mu, double s, std::size_t k);
void absolute_prox(std::span<const double> v, double s, double c, std::size_t k, std::span<double> mu,
                   std::span<double> scratch);

}  // namespace m4n::detail::closed_form
