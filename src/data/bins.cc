// Grades cut from a raw target: K - 1 cut points c_1 <= .. <= c_{K-1}, and grade(t) = #{i : c_i < t}.
//
//   quantile  c_i = x_(j) + (h - j)(x_(j+1) - x_(j)),  h = (n - 1) i/K,  j = floor(h),  x_(0) <= .. <= x_(n-1) sorted
//   width     c_i = min + i (max - min)/K
#include <algorithm>
#include <cmath>

#include "m4n/dataset.h"

namespace m4n {
namespace {

double between(double low, double high, double share) {
  const double gap = high - low;
  if (!std::isfinite(gap)) return low * (1 - share) + high * share;
  return share < 0.5 ? low + gap * share : high - gap * (1 - share);  // exact at both ends
}

}  // namespace

OrdinalBins cut_into_grades(std::vector<double> values, int bins, Binning rule) {
  std::sort(values.begin(), values.end());
  std::vector<double> cuts;
  for (int i = 1; i < bins; ++i) {
    const double share = static_cast<double>(i) / bins;
    double cut = 0;
    if (rule == Binning::width) {
      const double range = values.back() - values.front();
      cut = std::isfinite(range) ? values.front() + i * range / bins : between(values.front(), values.back(), share);
      if (!std::isfinite(cut)) cut = between(values.front(), values.back(), share);
    } else {
      const double position = static_cast<double>(values.size() - 1) * share, below = std::floor(position);
      const auto j = static_cast<std::size_t>(below);
      cut = between(values[j], values[std::min(j + 1, values.size() - 1)], position - below);
    }
    cuts.push_back(cuts.empty() ? cut : std::max(cut, cuts.back()));
  }
  return {rule, std::move(cuts)};
}

std::int32_t grade_of(double target, const OrdinalBins& bins) {
  return static_cast<std::int32_t>(std::lower_bound(bins.cuts.begin(), bins.cuts.end(), target) - bins.cuts.begin());
}

}  // namespace m4n
