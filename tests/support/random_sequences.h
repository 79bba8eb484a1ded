// random_sentences() as a Dataset, which is what fit() and cross_validate() take.
#pragma once
#include <string>

#include "support/random_dataset.h"
#include "support/random_sentences.h"

namespace m4n::detail::test {

inline Dataset random_sequences(Rng& rng, std::size_t n, std::size_t d, std::size_t k, std::size_t longest) {
  Sentences sentences = random_sentences(rng, n, d, k, longest);
  Dataset out;
  out.x = std::move(sentences.x);
  out.label = std::move(sentences.label);
  out.feature_rows = out.labels = sentences.tokens;
  for (std::size_t c = 0; c < k; ++c) out.class_names.push_back(std::to_string(c));
  return out;
}

}  // namespace m4n::detail::test
