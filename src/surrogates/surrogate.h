// What is minimised. Every surrogate is a Fenchel-Young loss
//
//   S(v, y) = Omega_y*(v) - v.phi(y),    Omega_y*(v) = max over mu in M of  v.mu - Omega_y(mu),
//
// so one block-dual loop serves all of them (docs/math.md). A surrogate supplies, for one
// example, the four functions below; solvers know nothing else about it. M is the simplex here; a chain or the
// permutations implement the same four with their own part vectors.
//
//   surrogate   -Omega_y(mu)                          argmax of v.mu - Omega_y(mu)
//   M4N         h(mu) = min_y' phi(y')^T A mu         max-min oracle
//   M3N         cost[y] . mu                          loss-augmented decoding, a vertex
//   CRF         entropy                               marginals
#pragma once
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include "core/views.h"

namespace m4n::detail {

// What solvers ask of an output space.
template <class S>
concept OutputSpace = requires(const S s, LabelView y, std::span<double> mu, std::span<const double> v) {
  {s.embed(y, mu)};                                  // mu = phi(y)
  { s.score(v, y) } -> std::convertible_to<double>;  // v . phi(y)
};

template <class S>
concept Surrogate = requires(const S s, ScoreView v, LabelView y, Marginals out, MarginalView mu,
                             std::span<typename S::StateUnit> state, typename S::Workspace& ws) {
  // What is kept for every example between visits (warm starts): state_size() units, all zero at first.
  { s.state_size() } -> std::convertible_to<std::size_t>;
  // Scratch memory of one thread; nothing is allocated after this.
  { s.workspace() } -> std::same_as<typename S::Workspace>;
  requires OutputSpace<std::remove_cvref_t<decltype(s.space())>>;
  // -Omega_y(mu)
  { s.neg_omega(mu, y, ws) } -> std::convertible_to<double>;
  // Omega_y*(v), exactly or from above: the primal part of the certificate.
  { s.conjugate(v, y, state, ws) } -> std::convertible_to<double>;
  // out = a maximiser, or an approximate one where the surrogate says so.
  {s.argmax(v, y, out, state, ws)};
  // The size of the costs: curvatures far below it are treated as zero.
  { s.scale() } -> std::convertible_to<double>;
  // Arithmetic of one call, roughly, in multiply-adds.
  { s.work() } -> std::convertible_to<std::size_t>;
};

// A surrogate whose argmax is only approximate.
template <class S>
concept ApproximateSurrogate = Surrogate<S> && S::approximate;

// A surrogate whose block problem can be solved with the quadratic term included.
template <class S>
concept ProxSurrogate = Surrogate<S> && requires(const S s, ScoreView v, LabelView y, Marginals out, double c,
                                                 std::span<typename S::StateUnit> state, typename S::Workspace& ws) {
  // out <- argmax of  v.mu - Omega_y(mu) - (c/2)|mu - out|^2, or at least an ascent of it; c > 0.
  {s.prox(v, c, y, out, state, ws)};
};

}  // namespace m4n::detail
