// From the cells of a cross-validation to what was chosen and how well it does: pure bookkeeping, no learning.
#pragma once
#include <vector>

#include "m4n/cross_validate.h"

namespace m4n {

CvSummary summary(const std::vector<double>& values);

// The point with the least mean validation loss among cells of which `counts` is true; of equal ones that with the
// larger lambda, then the earlier candidate and gamma. `splits`: how many cells make a complete point.
std::vector<CvPoint> points_of(const std::vector<CvCell>& cells, std::size_t splits);
const CvPoint& best_point(const std::vector<CvPoint>& points);

// Fills everything that follows from result.cells.
void choose(CvResult& result);

}  // namespace m4n
