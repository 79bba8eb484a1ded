// What a model says of its training, whatever its structure and its weights. In fit.cc.
#pragma once
#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "solvers/problem.h"

namespace m4n::detail {

ModelCommon described(const TrainOptions& options, const Dataset& data);
void add_result(const SolveResult& result, ModelCommon& out);

}  // namespace m4n::detail
