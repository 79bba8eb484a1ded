// Files to datasets, as the commands read them. Every defect is an Error that names file, line and column, the value
// found and the remedy.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"

namespace m4n {

// What was learnt about a file of training data.
struct TrainingData {
  Dataset data;
  std::vector<double> raw_target;  // where grades are cut from it (bins)
  std::vector<std::string> folds;  // one per example, where options.read.fold asks for them
};

// Called with notes for people: what was guessed, what was left out, what was found.
using Notes = std::function<void(const std::string&)>;

// Reads and labels training data of any task, plain or gzip; "-" is standard input. A task that `options` do not name
// is guessed from the content, noted and set, and with it all that follows from the file. Of the context only the
// number of threads counts.
M4N_API TrainingData read(const std::string& path, TrainOptions& options, const Notes& note = {},
                          const Context& context = {});

// Data for a trained model, read the way its training data were.
struct Examples {
  Dataset data;  // labels as the model counts its classes; unknown_label where it has never seen them
  // Labels that the model has never seen are told apart: the model's classes, then the unseen ones in order of
  // appearance, and every label as an index into these, or unknown_label where the file does not say.
  std::vector<std::string> names;
  std::vector<std::int32_t> truth;
  // For messages and prediction files.
  std::string path;               // empty: from memory
  std::vector<std::size_t> line;  // of each example, from 1; empty: not known
  std::vector<std::string> ids;   // of each example, where options.id asks for them
};

enum class Truth { optional, required };  // prediction does without labels, evaluation does not

M4N_API Examples read(const std::string& path, const Model& model, const ReadOptions& options, Truth truth,
                      const Context& context = {});

}  // namespace m4n
