// The sums over subsets of positions (gibbs.h), compiled once for every vector width.
#include "structures/permutations/gibbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/message.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "structures/permutations/gibbs.cc"
// clang-format off
#include "core/vector_targets.h"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace m4n::detail::HWY_NAMESPACE {  // NOLINT(modernize-concat-nested-namespaces)
namespace hn = hwy::HWY_NAMESPACE;

using Sums = SubsetSums;
using D = hn::CappedTag<double, Sums::block>;
using V = hn::Vec<D>;
constexpr D d{};
constexpr std::size_t width = hn::MaxLanes(d), vectors = Sums::block / width;

// out = sum over s of  column s of the 8 x 8 table times in_s. Two sums at a time: their latency is what costs here.
HWY_INLINE void multiply(const double* HWY_RESTRICT table, const double* in, double* out) {
  V even[vectors], odd[vectors];
  for (std::size_t l = 0; l < vectors; ++l) {
    even[l] = hn::Mul(hn::Set(d, in[0]), hn::Load(d, table + l * width));
    odd[l] = hn::Mul(hn::Set(d, in[1]), hn::Load(d, table + Sums::block + l * width));
  }
  for (std::size_t s = 2; s < Sums::block; s += 2)
    for (std::size_t l = 0; l < vectors; ++l) {
      const double* column = table + s * Sums::block + l * width;
      even[l] = hn::MulAdd(hn::Set(d, in[s]), hn::Load(d, column), even[l]);
      odd[l] = hn::MulAdd(hn::Set(d, in[s + 1]), hn::Load(d, column + Sums::block), odd[l]);
    }
  for (std::size_t l = 0; l < vectors; ++l) hn::Store(hn::Add(even[l], odd[l]), d, out + l * width);
}

void Forward(Sums& f) {
  double* const sums = f.forward.data();
  HWY_ALIGN double in[Sums::block] = {1};
  multiply(f.up(0), in, sums);
  for (std::size_t taken = 1; taken <= f.high; ++taken) {
    const double *row = f.row(taken - 1), *up = f.up(taken);
    for (const std::uint16_t block : f.layer(taken)) {
      V sum[vectors];
      for (V& x : sum) x = hn::Zero(d);
      for (std::uint32_t left = block; left != 0; left &= left - 1) {
        const double* from = sums + std::size_t{block ^ (left & -left)} * Sums::block;
        const double* weight = row + static_cast<std::size_t>(std::countr_zero(left)) * Sums::block;
        for (std::size_t l = 0; l < vectors; ++l)
          sum[l] = hn::MulAdd(hn::Load(d, weight + l * width), hn::Load(d, from + l * width), sum[l]);
      }
      for (std::size_t l = 0; l < vectors; ++l) hn::Store(sum[l], d, in + l * width);
      multiply(up, in, sums + block * Sums::block);
    }
  }
}

// B of a layer, and on the way the sums of F[U] B[U + j] for high positions j.
HWY_INLINE void backward_layer(Sums& f, std::size_t taken) {
  const double *forward = f.forward.data(), *row = f.row(taken), *down = f.down(taken);
  double *const sums = f.backward.data(), *HWY_RESTRICT both = f.both_row(taken);
  HWY_ALIGN double in[Sums::block];
  const std::uint32_t all = f.all_blocks();
  for (const std::uint16_t block : f.layer(taken)) {
    V sum[vectors], own[vectors];
    for (std::size_t l = 0; l < vectors; ++l) {
      sum[l] = hn::Zero(d);
      own[l] = hn::Load(d, forward + block * Sums::block + l * width);
    }
    for (std::uint32_t left = all & ~std::uint32_t{block}; left != 0; left &= left - 1) {
      const double* from = sums + std::size_t{block | (left & -left)} * Sums::block;
      const std::size_t place = static_cast<std::size_t>(std::countr_zero(left)) * Sums::block;
      for (std::size_t l = 0; l < vectors; ++l) {
        const V next = hn::Load(d, from + l * width);
        double* gathered = both + place + l * width;
        sum[l] = hn::MulAdd(hn::Load(d, row + place + l * width), next, sum[l]);
        hn::Store(hn::MulAdd(own[l], next, hn::Load(d, gathered)), d, gathered);
      }
    }
    for (std::size_t l = 0; l < vectors; ++l) hn::Store(sum[l], d, in + l * width);
    multiply(down, in, sums + block * Sums::block);
  }
}

// The same sums for low positions: the set with position j lies 2^j further. What sets that have it already read there
// is not looked at.
HWY_INLINE void gather_low(Sums& f, std::size_t taken) {
  V sum[Sums::low][vectors];
  for (auto& own : sum)
    for (V& x : own) x = hn::Zero(d);
  for (const std::uint16_t block : f.layer(taken)) {
    const double* forward = f.forward.data() + block * Sums::block;
    const double* backward = f.backward.data() + block * Sums::block;
    for (std::size_t l = 0; l < vectors; ++l) {
      const V own = hn::Load(d, forward + l * width);
      for (std::size_t j = 0; j < Sums::low; ++j)
        sum[j][l] = hn::MulAdd(own, hn::LoadU(d, backward + l * width + (std::size_t{1} << j)), sum[j][l]);
    }
  }
  for (std::size_t j = 0; j < Sums::low; ++j)
    for (std::size_t l = 0; l < vectors; ++l) hn::Store(sum[j][l], d, f.both_low(taken) + j * Sums::block + l * width);
}

void Backward(Sums& f) {
  std::fill(f.both.begin(), f.both.end(), 0.0);
  HWY_ALIGN double in[Sums::block] = {};
  in[f.last()] = 1;
  multiply(f.down(f.high), in, f.backward.data() + f.all_blocks() * Sums::block);
  gather_low(f, f.high);
  for (std::size_t taken = f.high; taken-- > 0;) {
    backward_layer(f, taken);
    gather_low(f, taken);
  }
}

}  // namespace m4n::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace m4n::detail {

M4N_KERNEL(Forward);
M4N_KERNEL(Backward);

namespace {

std::size_t count_bits(std::size_t set) { return static_cast<std::size_t>(std::popcount(set)); }

}  // namespace

void SubsetSums::shape(std::size_t m) {
  if (m == size) return;
  size = m;
  high = std::max(m, low) - low;
  const std::size_t blocks = std::size_t{1} << high;
  order.resize(blocks);
  layers.assign(high + 2, 0);
  for (std::size_t b = 0; b < blocks; ++b) ++layers[count_bits(b) + 1];
  std::partial_sum(layers.begin(), layers.end(), layers.begin());
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::sort(order.begin(), order.end(),
            [](std::uint16_t a, std::uint16_t b) { return std::pair(count_bits(a), a) < std::pair(count_bits(b), b); });
  forward.assign(blocks * block, 0.0);
  backward.assign((blocks + 1) * block, 0.0);  // the last block reads past itself
  const std::size_t positions = high + low;
  weight.assign((positions + 1) * positions, 0.0);
  rows.assign((high + 1) * high * block, 0.0);
  both.assign((high + 1) * positions * block, 0.0);
  for (auto* table : {&ups, &downs}) table->assign((high + 1) * block * block, 0.0);
}

void SubsetSums::tabulate() {
  const std::size_t positions = high + low;
  for (std::size_t taken = 0; taken <= high; ++taken) {
    std::array<const double*, block> own;  // A[taken + |U|] of the sets U of low positions
    for (std::size_t set = 0; set < block; ++set) own[set] = weight.data() + (taken + count_bits(set)) * positions;
    for (std::size_t j = 0; j < high; ++j)
      for (std::size_t set = 0; set < block; ++set) rows[(taken * high + j) * block + set] = own[set][low + j];
    for (std::size_t from = 0; from < block; ++from) {
      double* up = ups.data() + (taken * block + from) * block;
      for (std::size_t to = 0; to < block; ++to) {
        up[to] = to == from ? 1 : 0;
        for (std::size_t j = 0; j < low; ++j)
          if (const std::size_t before = to & ~(std::size_t{1} << j); before != to && to > from)
            up[to] += own[before][j] * up[before];
        downs[(taken * block + to) * block + from] = up[to];
      }
    }
  }
}

double SubsetSums::solve(std::span<double> p) {
  tabulate();
  M4N_DISPATCH(Forward)(*this);
  M4N_DISPATCH(Backward)(*this);
  const double partition = forward[(std::size_t{1} << size) - 1];
  std::fill_n(p.begin(), size * size, 0.0);
  for (std::size_t taken = 0; taken <= high; ++taken)
    for (std::size_t set = 0; set < block; ++set) {
      const std::size_t item = taken + count_bits(set);
      if (item >= size) continue;
      for (std::size_t j = 0; j < size; ++j)
        if (j >= low || (set >> j & 1) == 0)
          p[item * size + j] += j < low ? both_low(taken)[j * block + set] : both_row(taken)[(j - low) * block + set];
    }
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) p[i * size + j] *= row_weights(i)[j] / partition;
  return partition;
}

double PermutationGibbs::marginals(std::span<const double> scores, std::size_t size, std::span<double> p) {
  if (size > largest_size)
    throw UsageError(
        say("the exact distribution over permutations of {} items is out of reach; expected at most {}; => choose "
            "another surrogate, such as m4n or m3n",
            size, largest_size));
  assignment_.solve(scores, size);
  const auto u = assignment_.row_duals(), w = assignment_.column_duals();
  sums_.shape(size);
  double top = 0;
  for (std::size_t i = 0; i < size; ++i) {
    top += u[i] + w[i];
    for (std::size_t j = 0; j < size; ++j) sums_.row_weights(i)[j] = std::exp((scores[i * size + j] - u[i]) - w[j]);
  }
  return top + std::log(sums_.solve(p));
}

}  // namespace m4n::detail
#endif
