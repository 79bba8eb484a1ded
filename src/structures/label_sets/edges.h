// Which labels of a multi-label problem depend on each other, as a text file: a line an edge, two names of labels (or
// their numbers from 1) separated by a comma, blanks or a tab. Blank lines and lines that start with # mean nothing.
#pragma once
#include <string>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::detail {

// Refuses unknown labels, a label joined with itself, and an edge that occurs twice, with file and line.
std::vector<GraphEdge> read_label_edges(const std::string& path, const std::vector<std::string>& labels);

}  // namespace m4n::detail
