// Google Benchmark over the kernels, at shapes of real sets: letter (d = 16, k = 26), mnist (784, 10), covtype (54, 7).
#include "core/kernels.h"

#include <benchmark/benchmark.h>

#include "core/rng.h"
#include "core/views.h"

namespace m4n::detail::bench {
namespace {

AlignedVector<double> normal_vector(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  AlignedVector<double> out(size);
  for (double& x : out) x = rng.normal();
  return out;
}

// k normal scores and the padding.
AlignedVector<double> scores(std::size_t k) {
  AlignedVector<double> out = normal_vector(kernels::padded(k), 1);
  for (std::size_t j = k; j < out.size(); ++j) out[j] = kernels::padding_score;
  return out;
}

// 10^9 multiply-adds a second, for the kernels that stream over d x k weights.
void count_flops(benchmark::State& state, std::size_t d, std::size_t k) {
  state.counters["Gmadd/s"] =
      benchmark::Counter(static_cast<double>(d * k) * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

void dense_scores(benchmark::State& state) {
  const auto d = static_cast<std::size_t>(state.range(0)), k = static_cast<std::size_t>(state.range(1));
  const auto x = normal_vector(d, 2), w = normal_vector((d + 1) * kernels::padded(k), 3);
  AlignedVector<double> v(kernels::padded(k));
  for ([[maybe_unused]] auto _ : state) {
    kernels::dense_scores(x, w.data(), w.data() + d * v.size(), v);
    benchmark::ClobberMemory();
  }
  count_flops(state, d, v.size());
}

void dense_update(benchmark::State& state) {
  const auto d = static_cast<std::size_t>(state.range(0)), k = static_cast<std::size_t>(state.range(1));
  const auto x = normal_vector(d, 2);
  AlignedVector<double> w(d * kernels::padded(k)), step(kernels::padded(k), 1e-9);
  for ([[maybe_unused]] auto _ : state) {
    kernels::dense_update(x, step, 1.0, w.data(), nullptr);
    benchmark::ClobberMemory();
  }
  count_flops(state, d, step.size());
}

// 20 features of a row out of 37000, each visit another row, as for questions in words.
void sparse_scores(benchmark::State& state) {
  constexpr std::size_t features = 37'000, entries = 20, rows = 1000;
  const auto k = static_cast<std::size_t>(state.range(0));
  const auto w = normal_vector(features * kernels::padded(k), 3);
  const AlignedVector<double> value(entries, 1.0);
  std::vector<std::uint32_t> column(entries * rows);
  Rng rng(4);
  for (auto& c : column) c = static_cast<std::uint32_t>(rng.below(features));
  AlignedVector<double> v(kernels::padded(k));
  std::size_t row = 0;
  for ([[maybe_unused]] auto _ : state) {
    kernels::sparse_scores(std::span(column).subspan(entries * (row++ % rows), entries), value, w.data(), nullptr, v);
    benchmark::ClobberMemory();
  }
  count_flops(state, entries, v.size());
}

template <class Body>
void on_scores(benchmark::State& state, Body&& body) {
  const auto v = scores(static_cast<std::size_t>(state.range(0)));
  AlignedVector<double> out(v.size());
  for ([[maybe_unused]] auto _ : state) {
    body(v, out);
    benchmark::ClobberMemory();
  }
}
void threshold(benchmark::State& state) {
  on_scores(state, [](const auto& v, auto&) { benchmark::DoNotOptimize(kernels::threshold(v, 1)); });
}
void project_simplex(benchmark::State& state) {
  on_scores(state, [](const auto& v, auto& mu) { kernels::project_simplex(v, mu); });
}
void prox_max(benchmark::State& state) {
  AlignedVector<double> u;
  on_scores(state, [&](const auto& v, auto& mu) {
    u = v;
    kernels::prox_max(u, 1, mu);
  });
}
void softmax(benchmark::State& state) {
  on_scores(state, [](const auto& v, auto& mu) { benchmark::DoNotOptimize(kernels::softmax(v, mu)); });
}
void entropy_slope(benchmark::State& state) {
  auto mu = scores(static_cast<std::size_t>(state.range(0)));
  kernels::softmax(scores(static_cast<std::size_t>(state.range(0))), mu);
  const AlignedVector<double> delta(mu.size(), 0.0);
  for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(kernels::entropy_slope(mu, delta, 0.5));
}

BENCHMARK(dense_scores)->Args({16, 26})->Args({54, 7})->Args({784, 10});
BENCHMARK(dense_update)->Args({16, 26})->Args({54, 7})->Args({784, 10});
BENCHMARK(sparse_scores)->Arg(50);
BENCHMARK(threshold)->Arg(7)->Arg(10)->Arg(26)->Arg(50);
BENCHMARK(project_simplex)->Arg(7)->Arg(10)->Arg(26)->Arg(50);
BENCHMARK(prox_max)->Arg(10)->Arg(26)->Arg(50);
BENCHMARK(softmax)->Arg(10)->Arg(26)->Arg(50);
BENCHMARK(entropy_slope)->Arg(10)->Arg(26)->Arg(50);

}  // namespace
}  // namespace m4n::detail::bench

BENCHMARK_MAIN();
