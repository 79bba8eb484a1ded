// Graphs as read from a file to examples for training, or for a model.
#pragma once
#include <string>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/read.h"
#include "structures/graphs/text.h"

namespace m4n::detail {

// For training: every label must be known. Labels sort as numbers where all are numbers, as words otherwise.
Dataset graphs_for_training(GraphText text);

// For a trained model: its labels, types and numbers of features. Labels the file does not know are refused where they
// are required.
Examples graphs_for_model(GraphText text, const Model& model, Truth truth);

}  // namespace m4n::detail
