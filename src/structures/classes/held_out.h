// Predictions for examples that were not trained on, straight from the solver's weights: rows are mapped to features
// once for a whole path of lambdas and all decoders, which for kernels is most of the work.
#pragma once
#include <cstdint>
#include <vector>

#include "m4n/options.h"
#include "structures/classes/training_set.h"

namespace m4n {

// predicted[s * decoders + d][row] for solution s decoded by d. `options` are those of the solutions; `examples` are
// the numbers of the rows in the data, for messages.
std::vector<std::vector<std::int32_t>> predict_held_out(const TrainingSet& set, const TrainOptions& options,
                                                        const std::vector<Solution>& solutions,
                                                        const std::vector<Decoder>& decoders, const Features& x,
                                                        std::span<const std::size_t> examples);

}  // namespace m4n
