// m4n predict for models of sequences.
#pragma once
#include <cstddef>
#include <string>

#include "m4n/context.h"
#include "m4n/model.h"

namespace m4n::cli {

struct SequencePrediction {
  std::string data, out;  // out: empty for standard output
  bool marginals = false, json = false;
  std::size_t k_best = 0;  // 0: the one labelling that the model's decoder gives
  Context context;
};

// Text goes through sentence by sentence. To standard output, unless it is JSON, memory does not grow with it, and an
// answer does not wait for more input than it needs.
void predict_sequences(const Model& model, const SequencePrediction& asked);

}  // namespace m4n::cli
