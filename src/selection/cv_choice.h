// From the cells of a cross-validation to what was chosen and how well it does: pure bookkeeping, no learning.
#pragma once
#include <vector>

#include "m4n/cross_validate.h"

namespace m4n::detail {

CvSummary summary(const std::vector<double>& values);

// The mean validation loss of every candidate, gamma and lambda that has a cell in each of the splits.
std::vector<CvPoint> points_of(const std::vector<CvCell>& cells, std::size_t splits);
// The least of them; ties as cross_validate.h says.
CvPoint best_point(const std::vector<CvPoint>& points);

// Fills everything that follows from result.cells.
void choose(CvResult& result);

}  // namespace m4n::detail
