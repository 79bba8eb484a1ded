// Files of sequences to datasets, whatever their format.
#pragma once
#include <string_view>

#include "data/text.h"
#include "m4n/options.h"
#include "m4n/read.h"
#include "structures/chains/input.h"

namespace m4n::detail {

// Whether data whose task was not said are sequences: by the format or an option that only sequences have, otherwise
// by the start of the file: letters of words, or lines of words without commas with blank lines between them.
bool means_sequences(const TrainOptions& options, std::string_view head);

// CoNLL columns become attributes by options.text_template, the last column being the label; CRFsuite's files hold
// their attributes ready; letters of words have pixels, and folds. Found by content unless options say.
TrainingData read_training_sequences(LineReader& lines, const TrainOptions& options);

Examples read_model_sequences(LineReader& lines, const SequenceInput& input, const std::vector<std::string>& classes,
                              std::size_t features, Truth truth);

}  // namespace m4n::detail
