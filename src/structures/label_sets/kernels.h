// Inner loops of labels that are on or off, each with one score s and one mean m in [-1, 1]
// (structures/label_sets/surrogates.h). Vectors are padded (core/kernels.h); of them only the first `count` lanes
// count, and the others of what is written are 0.
#pragma once
#include <cstddef>
#include <span>

namespace m4n::detail::kernels {

// sum_j log(exp(s_j) + exp(-s_j)), and its gradient m_j = tanh(s_j).
double on_off_log_sum(std::span<const double> s, std::size_t count);
double on_off_log_sum(std::span<const double> s, std::size_t count, std::span<double> m);

// sum_j of the entropies of labels that are on with probability (1 + m_j)/2.
double on_off_entropy(std::span<const double> m, std::size_t count);

// m_j <- argmax over x in [-1, 1] of  entropy((1 + x)/2) + s_j x - (c/2)(x - m_j)^2. Since the slope of the entropy is
// -atanh x, x = tanh(t) with  t + c tanh(t) = s_j + c m_j:  Newton's method, which comes from one side only and needs
// no safeguard.
void on_off_entropy_prox(std::span<const double> s, double c, std::size_t count, std::span<double> m);

}  // namespace m4n::detail::kernels
