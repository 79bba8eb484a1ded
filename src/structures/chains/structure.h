// Chains: a label for every token of a sequence.
#pragma once
#include <memory>

#include "structures/chains/data.h"
#include "structures/chains/predictor.h"
#include "structures/structure.h"

namespace m4n::detail {

struct ChainPart : ModelPart {
  ChainWeights weights;
  std::shared_ptr<const SequenceInput> input;  // how files of sequences are read; null: the rows come as they are
};

// Predictions of a model.
ChainPredictor chain_predictor(const Model& model);

// Loss and metrics of sequences (evaluation.cc).
std::unique_ptr<Evaluator> chain_evaluator(const Model& model, const Examples& sequences,
                                           std::span<const std::int32_t> predicted);

// Text goes through sentence by sentence (prediction.cc). Unless it is JSON, memory does not grow with it, and an
// answer does not wait for more input than it needs.
void predict_file(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink);

}  // namespace m4n::detail
