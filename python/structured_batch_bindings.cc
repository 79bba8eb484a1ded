// Losses and decoders of chains and permutations for whole batches, shared among threads.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "batches.h"
#include "bindings.h"
#include "core/enum_names.h"
#include "core/parallel.h"
#include "position_losses.h"
#include "structures/chains/oracles.h"
#include "structures/permutations/oracles.h"
#include "surrogates/registry.h"
#include "transitions.h"

namespace m4n::python {
namespace {

using namespace m4n::detail;

constexpr std::size_t chunk = 4;

// The lengths of examples that have room for `most` positions.
void check_lengths(const Whole& lengths, std::size_t n, std::size_t most) {
  if (lengths.size() != n) throw Error(fmt::format("{} lengths for {} examples", lengths.size(), n));
  for (std::size_t i = 0; i < n; ++i)
    if (lengths.data()[i] < 0 || lengths.data()[i] > static_cast<std::int64_t>(most))
      throw Error(fmt::format("example {} has the length {}; expected 0 to {}", i, lengths.data()[i], most));
}

// The chains of a batch, padded one by one.
template <class Real>
class PaddedChains {
 public:
  PaddedChains(const RealBatch<Real, 3>& batch, const Transitions& transitions)
      : batch_(batch), transitions_(transitions) {}
  ChainScores read(std::size_t i, std::size_t length) {
    const std::size_t most = batch_.shape(1), labels = batch_.shape(2);
    const PaddedRows<double> rows = unary_.shape(length, labels);
    for (std::size_t m = 0; m < length; ++m) {
      const std::size_t first = (i * most + m) * labels;
      for (std::size_t k = 0; k < labels; ++k)
        require_score(batch_.data()[first + k], "emissions", first + k, {batch_.shape(0), most, labels});
      std::fill(rows.row(m) + labels, rows.row(m) + rows.stride(), kernels::padding_score);
      std::copy_n(batch_.data() + first, labels, rows.row(m));
    }
    return {unary_.view(), &transitions_};
  }
  PaddedRows<double> unary() { return unary_.view(); }

 private:
  const RealBatch<Real, 3>& batch_;
  const Transitions& transitions_;
  PaddedMatrix<double> unary_;
};

// Bounds of the loss, its gradient in the emissions, and in the transitions by example.
template <class Real>
nb::tuple chain_loss(const RealBatch<Real, 3>& emissions, const WholeRows& tags, const Whole& lengths,
                     const Square& from_to, const RealVector& start, const RealVector& end, const Square& costs,
                     const std::string& name, double tol, int rounds, Starts* starts, const Whole& index,
                     unsigned threads) {
  const std::size_t n = emissions.shape(0), most = emissions.shape(1), labels = emissions.shape(2);
  const CostMatrix cost = rectangular_cost(costs, labels);
  const auto kind = parse_name<SurrogateKind>(name, "surrogate");
  if (kind == SurrogateKind::m3n && cost.has_actions())
    throw UsageError("m3n scores labels against labels; costs of other predictions need m4n or crf");
  check_lengths(lengths, n, most);
  std::vector<Real> lower(n), upper(n), gradient(n * most * labels), pairs(n * labels * labels);
  {
    const nb::gil_scoped_release released;
    const Transitions transitions = prepared_transitions(from_to, start, end, labels);
    ExpTransitions exponentials;
    if (kind == SurrogateKind::crf) exponentials.prepare(transitions);
    const ChainGame game(cost);
    const GameLimits limits{.gap = tol, .rounds = rounds};
    const auto kept = checked_index(kind == SurrogateKind::m4n ? starts : nullptr, index, n);
    std::unique_lock<std::mutex> lock;
    if (!kept.empty()) lock = starts->open<GameSeeds>(kept);
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      PaddedChains<Real> reader(emissions, transitions);
      ChainGame::Workspace workspace;
      SumProduct sum_product;
      Viterbi viterbi;
      PaddedMatrix<double> counts;
      std::vector<std::int32_t> truth, path;
      for (std::size_t i = first; i < last; ++i) {
        const auto length = static_cast<std::size_t>(lengths.data()[i]);
        if (length == 0) continue;
        truth.assign(length, 0);
        for (std::size_t m = 0; m < length; ++m) {
          const std::int64_t tag = tags.data()[i * most + m];
          if (tag < 0 || tag >= static_cast<std::int64_t>(labels))
            throw Error(fmt::format("tags[{}, {}] is {}; expected 0 to {}", i, m, tag, labels - 1));
          truth[m] = static_cast<std::int32_t>(tag);
        }
        Real* const slope = gradient.data() + i * most * labels;
        Real* const edges = pairs.data() + i * labels * labels;
        const auto add_part = [&](std::size_t m, std::size_t label, std::size_t before, double mass) {
          slope[m * labels + label] += static_cast<Real>(mass);
          if (m > 0) edges[before * labels + label] += static_cast<Real>(mass);
        };
        const auto add = [&](LabelView y, double weight) {
          for (std::size_t m = 0; m < length; ++m)
            add_part(m, static_cast<std::size_t>(y[m]), static_cast<std::size_t>(y[m == 0 ? 0 : m - 1]), weight);
        };
        const ChainScores v = reader.read(i, length);
        const double own = score(v, truth);
        if (kind == SurrogateKind::m4n) {
          GameSeeds cold;
          const GameAnswer answer = game.solve(v, limits, kept.empty() ? cold : starts->of(i, cold), workspace);
          lower[i] = static_cast<Real>(answer.bounds.lower - own);
          upper[i] = static_cast<Real>(answer.bounds.upper - own);
          for_chain_parts(answer, add_part);
        } else if (kind == SurrogateKind::m3n) {
          const PaddedRows<double> unary = reader.unary();
          for (std::size_t m = 0; m < length; ++m)
            for (std::size_t k = 0; k < labels; ++k)
              unary(m, k) += cost(static_cast<std::size_t>(truth[m]), k) / static_cast<double>(length);
          path.assign(length, 0);
          lower[i] = upper[i] = static_cast<Real>(viterbi.solve(v, path) - own);
          add(path, 1);
        } else {
          lower[i] = upper[i] = static_cast<Real>(sum_product.solve(v, exponentials) - own);
          const PaddedRows<const double> mu = sum_product.marginals();
          for (std::size_t m = 0; m < length; ++m)
            for (std::size_t k = 0; k < labels; ++k) slope[m * labels + k] = static_cast<Real>(mu(m, k));
          const PaddedRows<double> count = counts.shape(labels, labels);
          sum_product.transition_counts(v, exponentials, count);
          for (std::size_t a = 0; a < labels; ++a)
            for (std::size_t b = 0; b < labels; ++b) edges[a * labels + b] = static_cast<Real>(count(a, b));
        }
        add(truth, -1);
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}),
                        to_numpy(std::move(gradient), {n, most, labels}),
                        to_numpy(std::move(pairs), {n, labels, labels}));
}

// The `count` best labellings of every chain with their scores; -1 and -infinity where there are none.
nb::tuple chain_k_best(const Batch3& emissions, const Whole& lengths, const Square& from_to, const RealVector& start,
                       const RealVector& end, std::size_t count, unsigned threads) {
  const std::size_t n = emissions.shape(0), most = emissions.shape(1), labels = emissions.shape(2);
  check_lengths(lengths, n, most);
  std::vector<double> value(n * count, -std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> paths(n * count * most, -1);
  {
    const nb::gil_scoped_release released;
    const Transitions transitions = prepared_transitions(from_to, start, end, labels);
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      PaddedChains<double> reader(emissions, transitions);
      KBest best;
      for (std::size_t i = first; i < last; ++i) {
        const auto length = static_cast<std::size_t>(lengths.data()[i]);
        if (length == 0) {  // one labelling, of nothing
          if (count > 0) value[i * count] = 0;
          continue;
        }
        best.solve(reader.read(i, length), count);
        for (std::size_t rank = 0; rank < best.size(); ++rank) {
          value[i * count + rank] = best.score(rank);
          std::copy_n(best.path(rank).begin(), length,
                      paths.begin() + static_cast<std::ptrdiff_t>((i * count + rank) * most));
        }
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(value), {n, count}), to_numpy(std::move(paths), {n, count, most}));
}

// What the max-min game of every chain is worth, from below and above, and how it is played: the means mu of truths,
// most x labels, and nu of predictions, most x K.
nb::tuple chain_game(const Batch3& emissions, const Whole& lengths, const Square& from_to, const RealVector& start,
                     const RealVector& end, const Square& costs, double tol, int rounds, unsigned threads) {
  const std::size_t n = emissions.shape(0), most = emissions.shape(1), labels = emissions.shape(2);
  const CostMatrix cost = rectangular_cost(costs, labels);
  const std::size_t answers = cost.predictions();
  check_lengths(lengths, n, most);
  std::vector<double> lower(n), upper(n), mu(n * most * labels), nu(n * most * answers);
  {
    const nb::gil_scoped_release released;
    const Transitions transitions = prepared_transitions(from_to, start, end, labels);
    const ChainGame game(cost);
    const GameLimits limits{.gap = tol, .rounds = rounds};
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      PaddedChains<double> reader(emissions, transitions);
      ChainGame::Workspace workspace;
      for (std::size_t i = first; i < last; ++i) {
        const auto length = static_cast<std::size_t>(lengths.data()[i]);
        if (length == 0) continue;
        GameSeeds cold;
        const GameAnswer answer = game.solve(reader.read(i, length), limits, cold, workspace);
        lower[i] = answer.bounds.lower;
        upper[i] = answer.bounds.upper;
        for_chain_parts(answer, [&](std::size_t m, std::size_t label, std::size_t, double mass) {
          mu[(i * most + m) * labels + label] += mass;
        });
        for (std::size_t m = 0; m < length; ++m)
          std::copy_n(answer.nu.row(m), answers, nu.data() + (i * most + m) * answers);
      }
    });
  }
  return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}),
                        to_numpy(std::move(mu), {n, most, labels}), to_numpy(std::move(nu), {n, most, answers}));
}

// The losses of all sizes that occur.
PositionLosses losses_of(const std::string& name, const std::vector<double>& values, const Whole& sizes) {
  PositionLosses out([&](std::size_t size) { return position_loss(name, values, size); });
  for (const std::int64_t size : span_of(sizes))
    if (size > 0) out.prepare(static_cast<std::size_t>(size));
  return out;
}

// Bounds of the loss and its gradient in the scores: of cells, or one an item for losses of rank one.
template <class Real, int Axes>
nb::tuple permutation_loss(const RealBatch<Real, Axes>& scores, const WholeRows& target, const Whole& sizes,
                           const std::string& name, const std::vector<double>& values, const std::string& surrogate,
                           double tol, int rounds, Starts* starts, const Whole& index, unsigned threads) {
  constexpr bool by_cell = Axes == 3;
  const std::size_t n = scores.shape(0), most = scores.shape(1), row = by_cell ? most * most : most;
  if (by_cell && scores.shape(Axes - 1) != most)
    throw Error(fmt::format("scores of cells are {} x {}; expected square matrices", most, scores.shape(Axes - 1)));
  const auto kind = parse_name<SurrogateKind>(surrogate, "surrogate");
  if (kind != SurrogateKind::m4n && kind != SurrogateKind::m3n)
    throw UsageError("permutations have the surrogates m4n and m3n");
  check_lengths(sizes, n, most);
  std::vector<std::size_t> shape(scores.shape_ptr(), scores.shape_ptr() + Axes);
  std::vector<Real> lower(n), upper(n), gradient(n * row);
  {
    const nb::gil_scoped_release released;
    const PositionLosses losses = losses_of(name, values, sizes);
    const auto kept = checked_index(by_cell && kind == SurrogateKind::m4n ? starts : nullptr, index, n);
    std::unique_lock<std::mutex> lock;
    if (!kept.empty()) lock = starts->open<BirkhoffSeeds>(kept);
    const auto evaluate = [&](auto oracle_tag) {
      using Oracle = typename decltype(oracle_tag)::type;
      parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
        const Oracle oracle(losses);
        typename Oracle::Workspace workspace;
        AlignedVector<double> v, phi;
        std::vector<std::int32_t> truth;
        std::vector<std::uint8_t> seen;
        for (std::size_t i = first; i < last; ++i) {
          const auto size = static_cast<std::size_t>(sizes.data()[i]);
          if (size == 0) continue;
          const PositionLoss& loss = losses.of(size);
          truth.assign(size, 0);
          seen.assign(size, 0);
          for (std::size_t m = 0; m < size; ++m) {
            const std::int64_t position = target.data()[i * most + m];
            if (position < 0 || position >= static_cast<std::int64_t>(size) ||
                seen[static_cast<std::size_t>(position)]++ != 0)
              throw Error(fmt::format("target[{}] is no permutation of 0 to {}: {} at {}", i, size - 1, position, m));
            truth[m] = static_cast<std::int32_t>(position);
          }
          const std::size_t columns = by_cell ? size : 1, stride = by_cell ? most : 1;
          v.resize(size * columns);
          for (std::size_t m = 0; m < size; ++m)
            for (std::size_t j = 0; j < columns; ++j) {
              const std::size_t e = i * row + m * stride + j;
              require_score(scores.data()[e], "scores", e, shape);
              v[m * columns + j] = static_cast<double>(scores.data()[e]);
            }
          const PermutationParts parts(by_cell ? nullptr : &loss);
          phi.resize(v.size());
          parts.embed(truth, phi);
          const double own = parts.score(v, truth);
          typename Oracle::Seeds cold;
          const auto write = [&](double below, double above, std::span<const double> mu) {
            lower[i] = static_cast<Real>(below - own);
            upper[i] = static_cast<Real>(above - own);
            for (std::size_t m = 0; m < size; ++m)
              for (std::size_t j = 0; j < columns; ++j)
                gradient[i * row + m * stride + j] = static_cast<Real>(mu[m * columns + j] - phi[m * columns + j]);
          };
          if constexpr (std::is_same_v<Oracle, PermutationMaxMin>) {
            BirkhoffSeeds& seeds = kept.empty() ? cold : starts->of(i, cold);
            const BirkhoffAnswer answer = workspace.game.solve(v, loss, {.gap = tol, .rounds = rounds}, seeds);
            write(answer.bounds.lower, answer.bounds.upper, answer.p);
          } else {
            const PermutationAnswer answer = oracle.answer(v, truth, {.gap = tol}, cold, workspace);
            double attained = answer.risk;
            for (std::size_t e = 0; e < v.size(); ++e) attained += v[e] * answer.mu[e];
            write(std::min(attained, answer.upper), answer.upper, answer.mu);
          }
        }
      });
    };
    if constexpr (by_cell) {
      if (kind == SurrogateKind::m4n)
        evaluate(std::type_identity<PermutationMaxMin>{});
      else
        evaluate(std::type_identity<PermutationMaxMargin>{});
    } else {
      if (kind == SurrogateKind::m4n)
        evaluate(std::type_identity<RankOneMaxMin>{});
      else
        evaluate(std::type_identity<RankOneMaxMargin>{});
    }
  }
  return nb::make_tuple(to_numpy(std::move(lower), {n}), to_numpy(std::move(upper), {n}),
                        to_numpy(std::move(gradient), shape));
}

// The positions of the best permutation of every matrix; -1 beyond its size. With `adversary` the best one of the min
// player's mean of predictions.
NewArray<std::int64_t> permutation_decode(const Batch3& scores, const Whole& sizes, const std::string& name,
                                          const std::vector<double>& values, bool adversary, double tol,
                                          unsigned threads) {
  const std::size_t n = scores.shape(0), most = scores.shape(1);
  check_lengths(sizes, n, most);
  std::vector<std::int64_t> out(n * most, -1);
  {
    const nb::gil_scoped_release released;
    const PositionLosses losses = losses_of(name, values, sizes);
    parallel_chunks(n, chunk, threads, [&](std::size_t, std::size_t first, std::size_t last, unsigned) {
      Assignment assignment;
      BirkhoffGame game;
      AlignedVector<double> v;
      for (std::size_t i = first; i < last; ++i) {
        const auto size = static_cast<std::size_t>(sizes.data()[i]);
        if (size == 0) continue;
        v.resize(size * size);
        for (std::size_t m = 0; m < size; ++m)
          for (std::size_t j = 0; j < size; ++j) {
            const std::size_t e = (i * most + m) * most + j;
            require_score(scores.data()[e], "scores", e, {n, most, most});
            v[m * size + j] = scores.data()[e];
          }
        BirkhoffSeeds cold;
        std::span<const double> best = v;
        if (adversary) best = game.solve(v, losses.of(size), {.gap = tol}, cold).q;
        assignment.solve(best, size);
        std::copy_n(assignment.position().begin(), size, out.begin() + static_cast<std::ptrdiff_t>(i * most));
      }
    });
  }
  return to_numpy(std::move(out), {n, most});
}

// What a loss of rank one is made of: c0, the gains and the discounts of the positions.
nb::tuple rank_one_parts(const std::string& name, std::size_t size) {
  const PositionLoss loss = position_loss(name, {}, size);
  return nb::make_tuple(loss.constant(), std::vector<double>(loss.gains().begin(), loss.gains().end()),
                        std::vector<double>(loss.discounts().begin(), loss.discounts().end()));
}

}  // namespace

void bind_structured_batches(nb::module_& module) {
  const auto losses = [&]<class Real>(Real) {
    module.def("chain_loss", &chain_loss<Real>, nb::arg("emissions").noconvert(), nb::arg("tags"), nb::arg("lengths"),
               nb::arg("transitions"), nb::arg("start"), nb::arg("end"), nb::arg("cost"), nb::arg("surrogate"),
               nb::arg("tol"), nb::arg("rounds"), nb::arg("starts").none(), nb::arg("index"), nb::arg("threads"));
    const auto permutations = [&](auto function) {
      module.def("permutation_loss", function, nb::arg("scores").noconvert(), nb::arg("target"), nb::arg("sizes"),
                 nb::arg("name"), nb::arg("cost"), nb::arg("surrogate"), nb::arg("tol"), nb::arg("rounds"),
                 nb::arg("starts").none(), nb::arg("index"), nb::arg("threads"));
    };
    permutations(&permutation_loss<Real, 2>);
    permutations(&permutation_loss<Real, 3>);
  };
  losses(float{});
  losses(double{});
  module.def("chain_k_best", &chain_k_best, nb::arg("emissions"), nb::arg("lengths"), nb::arg("transitions"),
             nb::arg("start"), nb::arg("end"), nb::arg("count"), nb::arg("threads"));
  module.def("chain_game", &chain_game, nb::arg("emissions"), nb::arg("lengths"), nb::arg("transitions"),
             nb::arg("start"), nb::arg("end"), nb::arg("cost"), nb::arg("tol"), nb::arg("rounds"), nb::arg("threads"));
  module.def("permutation_decode", &permutation_decode, nb::arg("scores"), nb::arg("sizes"), nb::arg("name"),
             nb::arg("cost"), nb::arg("adversary"), nb::arg("tol"), nb::arg("threads"));
  module.def("rank_one_parts", &rank_one_parts, nb::arg("name"), nb::arg("size"));
}

}  // namespace m4n::python
