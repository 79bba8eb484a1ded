// The tables of the hidden Markov model, and sentences drawn from it (synthetic.h).
#include "structures/chains/synthetic.h"
#include "structures/generated.h"

#include <algorithm>
#include <array>
#include <span>

namespace m4n::detail {
namespace {

constexpr std::size_t label_count = 3, word_count = 10, shortest = 3, longest = 12;
constexpr std::array<const char*, label_count> label_names{"D", "N", "V"};
constexpr std::array<const char*, word_count> word_names{"the", "a",    "no",    "can",   "fish",
                                                         "run", "boat", "water", "watch", "sees"};
constexpr std::array<int, label_count> first_percent{55, 35, 10};
constexpr std::array<std::array<int, label_count>, label_count> transition{{
    {2, 88, 10},   // behind D
    {10, 30, 60},  // behind N
    {50, 30, 20},  // behind V
}};
constexpr std::array<std::array<int, word_count>, label_count> emission{{
    {50, 35, 9, 1, 1, 1, 1, 1, 1, 0},      // D
    {1, 1, 1, 12, 20, 10, 20, 18, 16, 1},  // N
    {0, 1, 1, 20, 16, 18, 8, 14, 10, 12},  // V
}};
constexpr std::uint64_t stream = 2000;  // of random numbers; solvers use others

std::size_t draw(std::span<const int> percent, Rng& rng) {
  auto left = static_cast<int>(rng.below(100));
  std::size_t at = 0;
  while (left >= percent[at]) left -= percent[at++];
  return at;
}

// At most 12 factors of at least a percent each: nothing underflows.
double best_loss(std::span<const std::size_t> word) {
  const std::size_t length = word.size();
  std::vector<std::array<double, label_count>> forward(length), backward(length);
  for (std::size_t m = 0; m < length; ++m)
    for (std::size_t k = 0; k < label_count; ++k) {
      double before = m == 0 ? first_percent[k] : 0;
      for (std::size_t j = 0; m > 0 && j < label_count; ++j) before += forward[m - 1][j] * transition[j][k];
      forward[m][k] = before * emission[k][word[m]] / 1e4;
    }
  backward[length - 1].fill(1);
  for (std::size_t m = length - 1; m > 0; --m)
    for (std::size_t j = 0; j < label_count; ++j) {
      double behind = 0;
      for (std::size_t k = 0; k < label_count; ++k) behind += transition[j][k] * emission[k][word[m]] * backward[m][k];
      backward[m - 1][j] = behind / 1e4;
    }
  double loss = 0;
  for (std::size_t m = 0; m < length; ++m) {
    double sum = 0, largest = 0;
    for (std::size_t k = 0; k < label_count; ++k) {
      const double mass = forward[m][k] * backward[m][k];
      sum += mass;
      largest = std::max(largest, mass);
    }
    loss += (1 - largest / sum) / static_cast<double>(length);
  }
  return loss;
}

}  // namespace

SyntheticSentences::SyntheticSentences(std::uint64_t seed) : rng_(seed, stream) {}

SyntheticSentences::Sentence SyntheticSentences::next() {
  Sentence out;
  const std::size_t length = shortest + rng_.below(longest - shortest + 1);
  for (std::size_t m = 0; m < length; ++m) {
    out.label.push_back(m == 0 ? draw(first_percent, rng_) : draw(transition[out.label.back()], rng_));
    out.word.push_back(draw(emission[out.label.back()], rng_));
  }
  out.best_loss = best_loss(out.word);
  return out;
}

std::size_t SyntheticSentences::labels() { return label_count; }
const char* SyntheticSentences::label_name(std::size_t label) { return label_names[label]; }
const char* SyntheticSentences::word_name(std::size_t word) { return word_names[word]; }

Generated write_synthetic_sentences(std::size_t n, std::uint64_t seed, TextSink& sink) {
  SyntheticSentences sentences(seed);
  Generated result;
  std::size_t tokens = 0;
  PiecewiseText out(sink, 50'000);
  for (std::size_t i = 0; i < n; ++i) {
    const SyntheticSentences::Sentence sentence = sentences.next();
    for (std::size_t m = 0; m < sentence.word.size(); ++m)
      out.text += fmt::format("{} {}\n", SyntheticSentences::word_name(sentence.word[m]),
                              SyntheticSentences::label_name(sentence.label[m]));
    out.text += '\n';
    result.bayes_risk += sentence.best_loss / static_cast<double>(n);
    tokens += sentence.word.size();
    out.end_example();
  }
  out.flush();
  result.k = SyntheticSentences::labels();
  result.counts = {{"tokens", tokens}};
  result.notes = {
      fmt::format("sequence: {} sentences, {} tokens (seed {}), {} labels; a word and its label per line", n, tokens,
                  seed, result.k),
      fmt::format("Bayes risk (hamming loss) given these words {:.6f}: no rule has a lower expected loss on "
                  "them",
                  result.bayes_risk)};
  result.options = {{"template", "pos"}};
  return result;
}

}  // namespace m4n::detail
