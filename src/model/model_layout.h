// What stands in a model file, by kind:
//
//   linear   a matrix of weights on the simplex: fields hold what it is and how it was found, arrays what grows with k
//            and d
//   mapped   the same, and the feature map its weights apply to
//   chain    sequences: weights of features, bias, transitions, start and end; how their files are read
//   labels   sets of labels and graphs: as linear or mapped, with what joins the labels
//   permutation   rankings and matchings: as linear or mapped, with the numbers of their loss in place of a cost matrix
//
// Nothing about times, paths or threads: same model, same bytes.
#pragma once
#include <string>

#include "m4n/model.h"
#include "model/model_file.h"

namespace m4n {

// The model must have been checked.
std::string model_bytes(const Model& model);

// Arrays are taken only with the length that k and d demand; k and d are bounded by the arrays before they are used for
// anything else. The rest is for check_model to see.
Model read_model(ModelFileReader& file);

}  // namespace m4n
