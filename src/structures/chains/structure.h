// Chains: a label for every token of a sequence.
#pragma once
#include <memory>
#include <mutex>

#include "structures/chains/data.h"
#include "structures/chains/predictor.h"
#include "structures/structure.h"

namespace m4n::detail {

struct ChainPart : ModelPart {
  ChainWeights weights;
  std::shared_ptr<const SequenceInput> input;  // how files of sequences are read; null: the rows come as they are

  // Made once, by the first who asks: it holds all weights in another layout.
  mutable std::once_flag predictor_made;
  mutable std::unique_ptr<const ChainPredictor> predictor;
};

// Predictions of a model; as long as the model's part lives.
const ChainPredictor& chain_predictor(const Model& model);

// Loss and metrics of sequences (evaluation.cc).
std::unique_ptr<Evaluator> chain_evaluator(const Model& model, const Examples& sequences,
                                           std::span<const std::int32_t> predicted);

// Text goes through sentence by sentence (prediction.cc). Unless it is JSON, memory does not grow with it, and an
// answer does not wait for more input than it needs.
void predict_file(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink);

}  // namespace m4n::detail
