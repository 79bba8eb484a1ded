// What commands that learn from a file have in common.
#pragma once
#include <string>

#include "m4n/options.h"
#include "m4n/read.h"

namespace m4n::cli {

// Throws Error unless the files that options name (costs, class weights) can be read.
void require_option_files(const TrainOptions& options);

// Reads a labelled file; fills in options.task where it is to be guessed, and says so, and what was left out.
RawTable read_labelled(const std::string& path, TrainOptions& options, bool quiet);

}  // namespace m4n::cli
