// Decoding and marginals of sequences, in parallel over sentences (predictor.h).
#include "structures/chains/predictor.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/kernels.h"
#include "core/message.h"
#include "core/parallel.h"
#include "core/sparse_rows.h"

namespace m4n::detail {
namespace {

constexpr std::size_t sentences_at_once = 64;  // sentences a thread takes at a time
constexpr double game_gap = 1e-6;              // of the largest difference of costs

template <class Real>
AlignedVector<Real> padded(const std::vector<Real>& rows, std::size_t labels) {
  const std::size_t stride = row_stride<double>(labels), count = rows.size() / labels;
  AlignedVector<Real> out(count * stride, Real{0});
  for (std::size_t r = 0; r < count; ++r)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(r * labels), labels,
                out.begin() + static_cast<std::ptrdiff_t>(r * stride));
  return out;
}

}  // namespace

ChainPredictor::ChainPredictor(const ChainWeights& weights, CostMatrix cost, Decoder decode)
    : cost_(std::move(cost)), decode_(decode), game_(cost_) {
  const std::size_t k = labels();
  for (const std::vector<double>* scores : {&weights.transitions, &weights.start, &weights.end})
    if (const auto beyond = std::find_if_not(scores->begin(), scores->end(), kernels::is_score);
        beyond != scores->end())
      throw Error(say("a transition of the model scores {}, beyond what can be computed with", *beyond));
  std::visit([&](const auto& rows) { features_ = padded(rows, k); }, weights.features);
  bias_ = weights.bias.empty() ? AlignedVector<double>(row_stride<double>(k), 0.0) : padded(weights.bias, k);
  const AlignedVector<double> between = padded(weights.transitions, k);
  const std::vector<double> penalties = weights.constraints.penalties();
  transitions_.prepare({between.data(), k, k}, weights.start, weights.end, penalties);
  if (!penalties.empty()) {
    const AlignedVector<double> nothing(between.size(), 0.0);
    constraints_.emplace().prepare({nothing.data(), k, k}, {}, {}, penalties);
  }
  exp_transitions_.prepare(transitions_);
}

bool ChainTagger::read(const FeaturesView& x, std::size_t first, std::size_t length) {
  const PaddedRows<double> unary = unary_.shape(length, shared_.labels());
  std::visit(
      [&](const auto& rows) {
        using Real = typename std::remove_cvref_t<decltype(rows)>::value_type;
        if (const auto* sparse = std::get_if<SparseView>(&x)) {
          kernels::rows_scores(*sparse, first, rows.data(), shared_.bias_.data(), unary);
        } else if constexpr (std::is_same_v<Real, double>) {
          for (std::size_t m = 0; m < length; ++m)
            kernels::dense_scores(std::get<DenseView>(x).row(first + m), rows.data(), shared_.bias_.data(),
                                  unary.padded_row(m));
        } else {
          throw Error("weights in single precision score sparse rows only");
        }
      },
      shared_.features_);
  for (std::size_t m = 0; m < length; ++m)
    if (!std::all_of(unary.row(m), unary.row(m) + shared_.labels(), kernels::is_score)) return false;
  return true;
}

// Token by token, or under constraints all tokens together: the labelling of the largest sum of preferences.
void ChainTagger::prefer(PaddedRows<const double> preference, std::span<std::int32_t> y) {
  if (shared_.constraints_) {
    viterbi_.solve({preference, &*shared_.constraints_}, y);
    return;
  }
  for (std::size_t m = 0; m < y.size(); ++m) {
    const double* row = preference.row(m);
    y[m] = static_cast<std::int32_t>(std::max_element(row, row + shared_.cost_.predictions()) - row);
  }
}

void ChainTagger::decode(std::span<std::int32_t> y) {
  const std::size_t k = shared_.labels();
  switch (shared_.decode_) {
    case Decoder::expected: {
      const PaddedRows<const double> mu = marginals();
      if (shared_.cost_.kind() == LossKind::zero_one) return prefer(mu, y);  // the most likely label
      const PaddedRows<double> preference = preference_.shape(y.size(), shared_.cost_.predictions());
      for (std::size_t m = 0; m < y.size(); ++m)
        for (std::size_t p = 0; p < shared_.cost_.predictions(); ++p) {
          const std::span<const double> cost = shared_.cost_.of_prediction(p);
          double expected = 0;
          for (std::size_t t = 0; t < k; ++t) expected += cost[t] * mu(m, t);
          preference(m, p) = -expected;
        }
      return prefer(std::as_const(preference_).view(), y);
    }
    case Decoder::adversary: {
      seeds_.clear();
      const GameLimits limits{.gap = game_gap * shared_.cost_.range()};
      const GameAnswer answer = shared_.game_.solve(scores(), limits, seeds_, game_);
      return prefer(answer.nu, y);
    }
    default:
      viterbi_.solve(scores(), y);
  }
}

PaddedRows<const double> ChainTagger::marginals() {
  sum_product_.solve(scores(), shared_.exp_transitions_);
  return sum_product_.marginals();
}

double ChainTagger::log_partition() { return sum_product_.solve(scores(), shared_.exp_transitions_); }

const KBest& ChainTagger::best(std::size_t count) {
  k_best_.solve(scores(), count);
  return k_best_;
}

namespace {

// body(tagger, first row, length) for every sentence, whose scores the tagger has read, in parallel.
template <class Body>
void for_sentences(const ChainPredictor& predictor, const FeaturesView& x, const Groups& tokens, const Context& context,
                   Body&& body) {
  std::vector<std::optional<ChainTagger>> taggers(thread_count(context.threads));
  parallel_chunks(tokens.count(), sentences_at_once, context.threads,
                  [&](std::size_t, std::size_t first, std::size_t last, unsigned worker) {
                    if (!taggers[worker]) taggers[worker].emplace(predictor);
                    ChainTagger& tagger = *taggers[worker];
                    for (std::size_t i = first; i < last; ++i) {
                      const std::size_t begin = tokens.begin(i), length = tokens.end(i) - begin;
                      if (!tagger.read(x, begin, length))
                        throw Error(
                            say("the scores of sequence {} (counted from 1) are beyond what can be computed with: one "
                                "of its values is too large for the model; => correct it, or leave the sequence out",
                                i + 1));
                      body(tagger, begin, length);
                    }
                  });
}

std::size_t rows_in(const Groups& tokens) { return tokens.count() == 0 ? 0 : tokens.end(tokens.count() - 1); }

}  // namespace

std::vector<std::int32_t> predict_sequences(const ChainPredictor& predictor, const FeaturesView& x,
                                            const Groups& tokens, const Context& context) {
  std::vector<std::int32_t> out(rows_in(tokens));
  for_sentences(predictor, x, tokens, context, [&](ChainTagger& tagger, std::size_t begin, std::size_t length) {
    tagger.decode(std::span(out).subspan(begin, length));
  });
  return out;
}

std::vector<double> sequence_marginals(const ChainPredictor& predictor, const FeaturesView& x, const Groups& tokens,
                                       const Context& context) {
  const std::size_t k = predictor.labels();
  std::vector<double> out(rows_in(tokens) * k);
  for_sentences(predictor, x, tokens, context, [&](ChainTagger& tagger, std::size_t begin, std::size_t length) {
    const PaddedRows<const double> p = tagger.marginals();
    for (std::size_t t = 0; t < length; ++t) std::copy_n(p.row(t), k, out.data() + (begin + t) * k);
  });
  return out;
}

}  // namespace m4n::detail
