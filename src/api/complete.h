// Options as fit and cross-validation use them.
#pragma once
#include "m4n/options.h"

namespace m4n::detail {

// With what follows from other options filled in (spmp is an oracle of gbcfw, no task means classes), and refused where
// they do not go together.
TrainOptions completed(TrainOptions options);

}  // namespace m4n::detail
