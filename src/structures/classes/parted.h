// Classes and grades whose examples lie in parts on several machines.
#pragma once
#include <memory>
#include <string>

#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/parted.h"

namespace m4n::detail {

// `names`: the classes; no examples. Throws UsageError on what is not trained in parts.
std::unique_ptr<PartedTraining> classes_in_parts(const TrainOptions& options, const Dataset& names,
                                                 const std::string& usual_loss);

}  // namespace m4n::detail
