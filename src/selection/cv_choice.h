// From the cells of a cross-validation to what was chosen and how well it does: pure bookkeeping, no learning.
#pragma once
#include <string>
#include <vector>

#include "m4n/cross_validate.h"

namespace m4n::detail {

CvSummary summary(const std::vector<double>& values);

// The mean validation loss of every candidate, gamma and lambda that has a cell in each of the splits.
std::vector<CvPoint> points_of(const std::vector<CvCell>& cells, std::size_t splits);
// The least of them; ties as m4n/cross_validate.h says.
CvPoint best_point(const std::vector<CvPoint>& points);

// Fills everything that follows from result.cells.
void choose(CvResult& result);

// The lambdas of a cross-validation, which grow beyond an edge of the grid while the best lambda lies there. Where fits
// at small lambdas are slow, the grid is walked: its lower end is tried two lambdas at a time, until the best one is
// not among the last two.

class LambdaGrid {
 public:
  // Descending. Of them `first` are tried at once, all if it is 0.
  LambdaGrid(std::vector<double> lambdas, std::size_t first);
  const std::vector<double>& tried() const { return lambdas_; }

  // The lambdas to add when `best` is the best point so far: two beyond the edge it lies at, up to four times in each
  // direction, while `reached` (most fits at that point reached the tolerance) and `allowed`. None otherwise.
  std::vector<double> extend(const CvPoint& best, bool reached, bool allowed);
  // What a user should know about it, of the candidate `who`; empty: nothing.
  std::string note(const std::string& who) const;

 private:
  std::vector<double> walk_on(const CvPoint& best, bool reached);
  std::vector<double> lambdas_;  // tried
  std::vector<double> waiting_;  // below them
  int below_ = 0, above_ = 0;    // extensions
  double first_edge_ = 0;        // where the best lambda was before the first of them
  const char* stuck_ = nullptr;  // why the best lambda stays at an edge
};

}  // namespace m4n::detail
