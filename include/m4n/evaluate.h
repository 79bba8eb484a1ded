// How good predictions are: the task loss and the customary metrics.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "m4n/model.h"

namespace m4n {

struct Evaluation {
  std::size_t n = 0;                                    // rows, whatever their weights
  double loss = 0;                                      // mean cost; an unseen label counts as the largest cost
  std::vector<std::pair<std::string, double>> metrics;  // name, value: error, balanced_accuracy, macro_f1, ...
  std::vector<std::uint64_t> confusion;                 // k x k, [true * k + predicted]; unseen labels are not in it
  std::size_t unseen = 0;                               // rows with labels the model has never seen
};

// truth may hold unknown_label (unseen in training): always an error, never in the confusion matrix.
// weight: empty, or one a row; every mean is then weighted. n, unseen and the confusion matrix count rows.
Evaluation evaluate(const Model& model, std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                    std::span<const double> weight = {});

}  // namespace m4n
