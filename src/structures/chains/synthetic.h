// Sentences whose best possible tagging is known: a hidden Markov model with fixed tables in whole percents. The labels
// D, N, V (determiner, noun, verb) follow each other with probability T[from][to]; each emits a word with probability
// E[label][word]; a sentence has 3 to 12 tokens, all lengths alike. Most words belong to more than one label.
//
// The best rule for the Hamming loss answers at every token the label of largest posterior probability, and its
// expected loss GIVEN the words of a sentence is the mean over tokens of  1 - max_k p(y_m = k | words): exact, by
// forward-backward sums. No rule has a lower expected loss on these words. A chain with an attribute for each word
// contains that rule.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"
#include "structures/structure.h"

namespace m4n::detail {

class SyntheticSentences {
 public:
  explicit SyntheticSentences(std::uint64_t seed);

  struct Sentence {
    std::vector<std::size_t> word, label;
    double best_loss;  // expected Hamming loss of the best rule, given the words
  };
  // The same seed gives the same ones on every machine, and a longer run begins with a shorter one.
  Sentence next();

  static std::size_t labels();
  static const char* label_name(std::size_t label);
  static const char* word_name(std::size_t word);

 private:
  Rng rng_;
};

// The sentences as CoNLL columns, a word and its label per line.
Generated write_synthetic_sentences(std::size_t n, std::uint64_t seed, TextSink& sink);

}  // namespace m4n::detail
