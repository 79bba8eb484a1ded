// How far from the optimum a fit may still be, relative to the objective: (P - D) / max(|P|, 1e-12). The floor keeps
// an objective of zero from dividing by zero.
#include <algorithm>
#include <cmath>

#include "m4n/context.h"

namespace m4n {

double Certificate::relative_gap() const { return gap() / std::max(std::abs(primal), 1e-12); }

}  // namespace m4n
