// The weights of a chain of labels: the score of a labelling adds, for every token, what its features and the bias give
// its label; for every two neighbours, a transition; and a start and an end. Features are float where the solver kept
// them so, as it does with large vocabularies.
#pragma once
#include <variant>
#include <vector>

namespace m4n::detail {

struct ChainWeights {
  std::variant<std::vector<double>, std::vector<float>> features;  // d x k
  std::vector<double> bias;                                        // k, or none
  std::vector<double> transitions, start, end;                     // k x k ([from * k + to]), k, k
};

}  // namespace m4n::detail
