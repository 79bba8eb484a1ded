// A small random generator whose numbers are the same on every machine and standard library (those of <random>'s
// distributions are not): SplitMix64 to seed, xoshiro256++ to draw. One stream per purpose: Rng(seed, stream).
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

namespace m4n::detail {

class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) {
    // Both are scrambled: the generator that fills the words walks by a constant, and streams must not be its steps.
    std::uint64_t s = stream ^ 0x2545f4914f6cdd1dULL, z = seed;
    z = split_mix(z) ^ rotate(split_mix(s), 32);
    for (auto& word : state_) word = split_mix(z);
  }

  std::uint64_t bits() {
    const std::uint64_t out = rotate(state_[0] + state_[3], 23) + state_[0], t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return out;
  }
  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Uniform in 0..n-1 without bias: Lemire's multiplication, which divides only when it may have to reject.
  std::uint64_t below(std::uint64_t n) {
    for (;;) {
      const Wide m = static_cast<Wide>(bits()) * n;
      const auto low = static_cast<std::uint64_t>(m);
      if (low >= n || low >= (0 - n) % n) return static_cast<std::uint64_t>(m >> 64);
    }
  }
  // Standard normal (Box-Muller; one of the pair is dropped, which keeps the generator stateless beyond its words).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t split_mix(std::uint64_t& z) {
    std::uint64_t x = (z += 0x9e3779b97f4a7c15ULL);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  std::uint64_t state_[4];
};

}  // namespace m4n::detail
