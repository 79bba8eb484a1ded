// The reproduced tables in Markdown, readable as plain text too, and as JSON.
#pragma once
#include <string>
#include <vector>

#include "eval/reproduce.h"

namespace m4n {

std::string table1_markdown(const std::vector<Table1Cell>& cells, const ReproduceOptions& options);
std::string table2_markdown(const std::vector<Table2Cell>& cells, const ReproduceOptions& options);
std::string table1_json(const std::vector<Table1Cell>& cells, const ReproduceOptions& options);
std::string table2_json(const std::vector<Table2Cell>& cells, const ReproduceOptions& options);

}  // namespace m4n
