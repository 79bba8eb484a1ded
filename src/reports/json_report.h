// What the commands print with --json: one object on one line, keys in the order of docs/cli.md. Numbers are the
// shortest decimals that read back as the same double; what is not finite becomes null; bytes that are not UTF-8
// become the replacement character, so that the line is always valid JSON.
#pragma once
#include <string>
#include <vector>

#include "m4n/evaluate.h"
#include "m4n/model.h"
#include "m4n/report.h"

namespace m4n {

std::string train_json(const TrainReport& report, const std::string& model_path);
// Everything train printed but times and paths, and what the model is.
std::string info_json(const Model& model);
// `classes` give rows and columns of the confusion matrix their names. The key `bootstrap` is there where there was
// one.
std::string eval_json(const Evaluation& evaluation, const std::vector<std::string>& classes,
                      const Bootstrap* bootstrap = nullptr);

}  // namespace m4n
