// From the cells of a cross-validation to what was chosen and how well it does: pure bookkeeping, no learning.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "m4n/cross_validate.h"

namespace m4n::detail {

CvSummary summary(const std::vector<double>& values);

// The mean validation loss of every candidate, gamma and lambda that has a cell in each of the splits.
std::vector<CvPoint> points_of(const std::vector<CvCell>& cells, std::size_t splits);
// The least of points of one candidate. Of equal ones the earliest gamma, then the middle lambda.
CvPoint best_point(const std::vector<CvPoint>& points);
// What to take for a candidate, of whose cells these are all: a typical lambda among those that do as well as the best
// one, as m4n/cross_validate.h says.
CvPoint settled_point(const std::vector<CvCell>& cells, std::size_t splits);

// The candidate that the others have to beat: crf, or the first.
std::size_t incumbent(const std::vector<Candidate>& candidates);

// Fills everything that follows from result.cells.
void choose(CvResult& result);

// The lambdas of a cross-validation, which grow beyond an edge of the grid while the best lambda lies there. Where fits
// at small lambdas are slow, the grid is walked: its lower end is tried two lambdas at a time, until the best one is
// not among the last two.

class LambdaGrid {
 public:
  // Descending. Of them `first` are tried at once, all if it is 0.
  LambdaGrid(std::vector<double> lambdas, std::size_t first);
  // The usual one of a surrogate for a task, times `unit`.
  static LambdaGrid usual(const TrainOptions& options, double unit);
  // That of challengers in a race: two lambdas, far apart, about one that is near the best, and two beyond them in each
  // direction, where they are extended, or at once. Its edges say nothing to users, who gave no lambdas.
  static LambdaGrid around(double lambda, bool extend);
  const std::vector<double>& tried() const { return lambdas_; }

  // The lambdas to add when `points` are those so far: two beyond the edge at which the best of them lies, a few
  // times in each direction, while `reached` (most fits there reached the tolerance) and `allowed`. Where all lambdas
  // are equally good, a smaller one may tell them apart: the edge is the lower one. None otherwise.
  std::vector<double> extend(const std::vector<CvPoint>& points, const std::function<bool(const CvPoint&)>& reached,
                             bool allowed);
  // What was done, of the candidate `who`, and what a user should do about it; empty: nothing.
  std::string note(const std::string& who) const;
  Message warning(const std::string& who) const;

 private:
  std::vector<double> walk_on(const CvPoint& best, bool reached);
  std::vector<double> lambdas_;  // tried
  std::vector<double> waiting_;  // below them
  bool challengers_ = false;     // in a race
  int below_ = 0, above_ = 0;    // extensions
  double first_edge_ = 0;        // where the best lambda was before the first of them
  double edge_ = 0;              // and where it was last
  Message stuck_;                // why the best lambda stays at an edge
  bool flat_ = false;            // all lambdas tried are equally good
};

}  // namespace m4n::detail
