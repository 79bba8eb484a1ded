// The reproduced tables in Markdown, readable as plain text too, and as one JSON object.
#pragma once
#include <string>
#include <vector>

#include "selection/reproduce.h"

namespace m4n::detail {

struct ReproducedTables {
  std::vector<Table1Cell> table1;
  std::vector<Table2Cell> table2;
  std::vector<std::string> shortened;  // sets whose first row was left out
};

std::string reproduce_markdown(const ReproducedTables& tables, const ReproduceOptions& options);
std::string reproduce_json(const ReproducedTables& tables, const ReproduceOptions& options);

}  // namespace m4n::detail
