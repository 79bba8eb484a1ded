// What cross-validation found, as one JSON object and as tables for people.
#pragma once
#include <string>

#include "m4n/cross_validate.h"

namespace m4n {

// `model`: where the refitted model was saved; empty: nowhere.
std::string cv_json(const CvResult& result, const CvOptions& options, const std::string& model);
std::string cv_text(const CvResult& result, const CvOptions& options);

}  // namespace m4n
