// What the commands print.
//
// With --json: one object on one line. Numbers are the shortest decimals that read back as the same double; what is not
// finite becomes null; bytes that are not UTF-8 become the replacement character, so that the line is always valid
// JSON. Otherwise text for people: aligned lines of "name  value", rounded to six digits, and tables. Each ends with a
// newline.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "m4n/cross_validate.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "m4n/model.h"
#include "selection/reproduce.h"

namespace m4n::detail {

// `model_path`: where the model was saved; empty: nowhere.
std::string train_json(const TrainReport& report, const std::string& model_path);
std::string train_text(const TrainReport& report);

// Everything train printed but times and paths, and what the model is.
std::string info_json(const Model& model);
std::string info_text(const Model& model);
// Names and values, as info_text has them.
std::vector<std::pair<std::string, std::string>> info_lines(const Model& model);

// `bootstrap` may be null.
std::string eval_json(const Evaluation& evaluation, const Model& model, const Bootstrap* bootstrap = nullptr);
std::string eval_text(const Evaluation& evaluation, const Model& model, const Bootstrap* bootstrap = nullptr);

std::string cv_json(const CvResult& result, const CvOptions& options, const std::string& model_path);
std::string cv_text(const CvResult& result, const CvOptions& options);

// All weights that are not zero, the largest first.
std::string dump_json(const Model& model);
std::string dump_csv(const Model& model);

// The reproduced tables in Markdown, readable as plain text too, and as one JSON object.

struct ReproducedTables {
  std::vector<Table1Cell> table1;
  std::vector<Table2Cell> table2;
  std::vector<std::string> shortened;  // sets whose first row was left out
};

std::string reproduce_markdown(const ReproducedTables& tables, const ReproduceOptions& options);
std::string reproduce_json(const ReproducedTables& tables, const ReproduceOptions& options);
// The tables that reproduce_json() wrote to a file; none if there is no file, or one of other splits, seed or binning.
// Throws Error for any other file.
ReproducedTables earlier_tables(const std::string& path, const ReproduceOptions& options);

}  // namespace m4n::detail
