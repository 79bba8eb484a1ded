// m4n: consistent, cost-sensitive structured prediction. One include for the whole public interface.
#pragma once
#include "m4n/context.h"
#include "m4n/cross_validate.h"
#include "m4n/dataset.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "m4n/read.h"
#include "m4n/simd.h"
#include "m4n/version.h"
