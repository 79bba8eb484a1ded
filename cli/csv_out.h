// Text for a cell of a CSV file: quoted only where needed (a comma, a quote, a line break, a space at an end).
#pragma once
#include <string>
#include <string_view>

namespace m4n::cli {

std::string csv_cell(std::string_view text);

}  // namespace m4n::cli
