// What train and cv have in common: data in, in whatever form, and what is said about them.
#pragma once
#include <string>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::cli {

// Throws Error unless the files that options name can be read.
void require_option_files(const TrainOptions& options);

struct TrainingData {
  Dataset data;
  std::vector<double> raw_target;  // where grades are cut from it (--bins)
  std::vector<std::string> folds;  // one an example, where they were asked for
};

// Reads and labels the data. A task that is not given is guessed, said and set.
TrainingData read_training(const std::string& path, TrainOptions& options, bool quiet);

}  // namespace m4n::cli
