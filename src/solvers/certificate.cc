// What the solvers' certificates share: when a gap counts, and when to look for the next one.
#include "solvers/certificate.h"

#include <algorithm>
#include <cmath>

namespace m4n::detail {

Certificate with_verdict(Certificate certificate, double tol) {
  constexpr double rounding = 1e-12;
  if (certificate.gap() < 0 && certificate.gap() >= -rounding * std::abs(certificate.primal))
    certificate.dual = certificate.primal;
  certificate.converged = certificate.gap() >= 0 && certificate.relative_gap() <= tol;
  return certificate;
}

void CertificateSchedule::seen(double visits, double relative_gap) {
  // The gap falls like exp(-rate * visits), roughly; looking a little early costs
  // less than passing the mark.
  const double fallen = std::log(std::max(last_gap_, 1e-300)) - std::log(std::max(relative_gap, 1e-300));
  const double missing = std::log(std::max(relative_gap, 1e-300)) - std::log(std::max(tol_, 1e-300));
  const double least = std::max(least_, 0.1 * visits), most = std::max(4 * n_, visits);
  double wait = least;
  if (fallen > 0 && missing > 0) wait = 0.7 * (visits - last_visits_) * missing / fallen;
  next_ = visits + std::clamp(wait, least, most);
  last_visits_ = visits;
  last_gap_ = relative_gap;
}

}  // namespace m4n::detail
