// Graphs as read from a file to examples for training, or for a model.
#pragma once
#include <string>
#include <vector>

#include "structures/graphs/text.h"
#include "m4n/dataset.h"
#include "m4n/model.h"

namespace m4n {

// For training: every label must be known. Labels sort as numbers where all are numbers, as words otherwise.
Dataset graphs_for_training(GraphText text);

// For a trained model: its labels, types and numbers of features. Labels it has never seen become unknown_label and are
// listed in `unseen`; those the file does not know are refused where they are required.
Dataset graphs_for_model(GraphText text, const Model& model, bool labels_required, std::vector<std::string>* unseen);

}  // namespace m4n
