// The same reports for people: aligned lines of "name  value", rounded to six digits. Each text ends with a newline.
#pragma once
#include <string>

#include "m4n/evaluate.h"
#include "m4n/model.h"
#include "m4n/report.h"

namespace m4n {

std::string train_text(const TrainReport& report);
std::string info_text(const Model& model);
// With the confusion matrix, or for more than 30 classes a line that says where to find it, and with the intervals of a
// bootstrap of the same examples beside the values.
std::string eval_text(const Evaluation& evaluation, const Model& model, const Bootstrap* bootstrap = nullptr);

}  // namespace m4n
