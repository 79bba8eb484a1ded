// Files of sequences to datasets, whatever their format; m4n/read.h has the same for paths.
#pragma once
#include <string_view>

#include "data/text.h"
#include "m4n/options.h"
#include "m4n/read.h"
#include "structures/chains/input.h"

namespace m4n {

// Whether data whose task was not said are sequences: by the format or an option that only sequences have, otherwise
// by the start of the file: letters of words, or lines of words without commas with blank lines between them.
bool means_sequences(const TrainOptions& options, std::string_view head);

TrainingSequences read_training_sequences(LineReader& lines, const TrainOptions& options);
LabelledSequences read_model_sequences(LineReader& lines, const SequenceInput& input,
                                       const std::vector<std::string>& classes, std::size_t features,
                                       bool labels_required);

}  // namespace m4n
