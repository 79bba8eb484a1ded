// Help pages and the reference, all drawn from the declared commands and options; nothing is written twice.
#pragma once
#include <string>

#include "command.h"

namespace m4n::cli {

std::string overview();                            // m4n --help
std::string command_help(const Command& command);  // m4n COMMAND --help
std::string reference_markdown();                  // docs/cli.md

}  // namespace m4n::cli
