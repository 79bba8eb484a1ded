// What train and cv have in common: data in, in whatever form, and what is said about them.
#pragma once
#include <string>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::cli {

// The data and the files that options name (costs, class weights, a template): what is read must not be written to.
// Throws Error unless those of the options can be read.
std::vector<std::string> readable_inputs(const std::string& data, const TrainOptions& options);

struct TrainingData {
  Dataset data;
  std::vector<double> raw_target;  // where grades are cut from it (--bins)
  std::vector<std::string> folds;  // one an example, where they were asked for
};

// Reads and labels the data. A task that is not given is guessed, said and set.
TrainingData read_training(const std::string& path, TrainOptions& options, bool quiet);

}  // namespace m4n::cli
