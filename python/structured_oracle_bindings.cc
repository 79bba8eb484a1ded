// Oracles of chains and permutations, for a batch of score matrices.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "bindings.h"
#include "core/assignment.h"
#include "core/parallel.h"
#include "m4n/error.h"
#include "oracles.h"
#include "position_losses.h"
#include "structures/chains/oracles.h"
#include "structures/permutations/birkhoff_game.h"
#include "structures/permutations/sinkhorn.h"
#include "transitions.h"

namespace m4n::python {
namespace {

using namespace m4n::detail;

constexpr std::size_t chunk = 4;

// One chain of the batch, padded.
class ChainReader {
 public:
  ChainReader(const Batch3& batch, const Transitions& transitions)
      : batch_(batch), transitions_(transitions), length_(batch.shape(1)), labels_(batch.shape(2)) {}
  ChainScores read(std::size_t i) {
    const PaddedRows<double> rows = unary_.shape(length_, labels_);
    for (std::size_t m = 0; m < length_; ++m) {
      std::fill_n(rows.row(m), rows.stride(), kernels::padding_score);
      std::copy_n(batch_.data() + (i * length_ + m) * labels_, labels_, rows.row(m));
    }
    return {unary_.view(), &transitions_};
  }

 private:
  const Batch3& batch_;
  const Transitions& transitions_;
  std::size_t length_, labels_;
  PaddedMatrix<double> unary_;
};

nb::tuple max_min_chain(const Batch3& unary, const Square& from_to, const RealVector& start, const RealVector& end,
                        const Square& costs, double gap, unsigned threads) {
  const std::size_t n = unary.shape(0), length = unary.shape(1), labels = unary.shape(2), cells = length * labels;
  const CostMatrix cost = cost_matrix(costs, labels);
  std::vector<double> lower(n), upper(n), mu(n * cells), pairs(n * labels * labels), nu(n * cells);
  {
    const nb::gil_scoped_release released;
    require_scores({unary.data(), unary.size()}, "scores");
    const Transitions transitions = prepared_transitions(from_to, start, end, labels);
    const ChainGame game(cost);
    GameLimits limits;
    limits.gap = gap;
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      ChainReader reader(unary, transitions);
      ChainGame::Workspace workspace;
      for (std::size_t i = first; i < last; ++i) {
        GameSeeds seeds;
        const GameAnswer answer = game.solve(reader.read(i), limits, seeds, workspace);
        lower[i] = answer.bounds.lower;
        upper[i] = answer.bounds.upper;
        for_chain_parts(answer, [&](std::size_t m, std::size_t label, std::size_t before, double mass) {
          mu[i * cells + m * labels + label] += mass;
          if (m > 0) pairs[(i * labels + before) * labels + label] += mass;
        });
        for (std::size_t m = 0; m < length; ++m)
          std::copy_n(answer.nu.row(m), labels, nu.data() + i * cells + m * labels);
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}),
                        to_numpy(std::move(mu), {n, length, labels}), to_numpy(std::move(nu), {n, length, labels}),
                        to_numpy(std::move(pairs), {n, labels, labels}));
}

nb::tuple viterbi(const Batch3& unary, const Square& from_to, const RealVector& start, const RealVector& end,
                  unsigned threads) {
  const std::size_t n = unary.shape(0), length = unary.shape(1), labels = unary.shape(2);
  std::vector<double> value(n);
  std::vector<std::int32_t> path(n * length);
  {
    const nb::gil_scoped_release released;
    require_scores({unary.data(), unary.size()}, "scores");
    const Transitions transitions = prepared_transitions(from_to, start, end, labels);
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      ChainReader reader(unary, transitions);
      Viterbi solver;
      for (std::size_t i = first; i < last; ++i)
        value[i] = solver.solve(reader.read(i), std::span(path).subspan(i * length, length));
    });
  }
  return nb::make_tuple(to_numpy(std::move(value), {n}), to_numpy(std::move(path), {n, length}));
}

std::size_t square_size(const Batch3& batch) {
  if (batch.shape(1) != batch.shape(2))
    throw Error(
        fmt::format("scores of permutations are {} x {}; expected square matrices", batch.shape(1), batch.shape(2)));
  return batch.shape(1);
}

nb::tuple max_min_permutation(const Batch3& scores, const std::string& name, const std::vector<double>& costs,
                              double gap, unsigned threads) {
  const std::size_t n = scores.shape(0), size = square_size(scores), cells = size * size;
  std::vector<double> lower(n), upper(n), p(n * cells), q(n * cells);
  {
    const nb::gil_scoped_release released;
    const PositionLoss loss = position_loss(name, costs, size);
    BirkhoffLimits limits;
    limits.gap = gap;
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      BirkhoffGame game;
      for (std::size_t i = first; i < last; ++i) {
        BirkhoffSeeds seeds;
        const BirkhoffAnswer answer = game.solve({scores.data() + i * cells, cells}, loss, limits, seeds);
        lower[i] = answer.bounds.lower;
        upper[i] = answer.bounds.upper;
        std::copy_n(answer.p.begin(), cells, p.data() + i * cells);
        std::copy_n(answer.q.begin(), cells, q.data() + i * cells);
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}),
                        to_numpy(std::move(p), {n, size, size}), to_numpy(std::move(q), {n, size, size}));
}

nb::tuple assignment(const Batch3& scores, unsigned threads) {
  const std::size_t n = scores.shape(0), size = square_size(scores), cells = size * size;
  std::vector<double> value(n);
  std::vector<std::int32_t> position(n * size);
  {
    const nb::gil_scoped_release released;
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      Assignment solver;
      for (std::size_t i = first; i < last; ++i) {
        value[i] = solver.solve({scores.data() + i * cells, cells}, size);
        std::copy_n(solver.position().begin(), size, position.data() + i * size);
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(value), {n}), to_numpy(std::move(position), {n, size}));
}

// diag(a) exp(S) diag(b), and how wrong the sums of columns were before they were made exact.
nb::tuple sinkhorn(const Batch3& scores, double tol, int steps, unsigned threads) {
  const std::size_t n = scores.shape(0), size = square_size(scores), cells = size * size;
  std::vector<double> out(n * cells), error(n);
  {
    const nb::gil_scoped_release released;
    require_scores({scores.data(), scores.size()}, "scores");
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      SinkhornScaling scaling;
      std::vector<double> sums(size), others(size);
      for (std::size_t i = first; i < last; ++i) {
        const std::span<double> p = std::span(out).subspan(i * cells, cells);
        error[i] = scaling.solve({scores.data() + i * cells, cells}, size, tol, steps, p);
        round_to_birkhoff(p, size, sums, others);
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(out), {n, size, size}), to_numpy(std::move(error), {n}));
}

}  // namespace

void bind_structured_oracles(nb::module_& module) {
  module.def("max_min_chain", &max_min_chain, nb::arg("unary"), nb::arg("transitions"), nb::arg("start"),
             nb::arg("end"), nb::arg("cost"), nb::arg("tol"), nb::arg("threads"));
  module.def("viterbi", &viterbi, nb::arg("unary"), nb::arg("transitions"), nb::arg("start"), nb::arg("end"),
             nb::arg("threads"));
  module.def("max_min_permutation", &max_min_permutation, nb::arg("scores"), nb::arg("name"), nb::arg("cost"),
             nb::arg("tol"), nb::arg("threads"));
  module.def("assignment", &assignment, nb::arg("scores"), nb::arg("threads"));
  module.def("sinkhorn", &sinkhorn, nb::arg("scores"), nb::arg("tol"), nb::arg("steps"), nb::arg("threads"));
}

}  // namespace m4n::python
