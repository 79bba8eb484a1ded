// What the tool says about itself: help pages, the reference, manual pages and the completion of shells. All of it is
// drawn from what the commands declare.
#pragma once
#include <string>
#include <vector>

#include "command.h"

namespace m4n::cli {

std::string overview();                            // m4n --help
std::string command_help(const Command& command);  // m4n COMMAND --help
std::string reference_markdown();                  // docs/cli.md

// Manual pages, for man: m4n(1), and one of each command, m4n-train(1).
std::string overview_manual();
std::string command_manual(const Command& command);

// A script by which a shell completes commands, options and those of their values that are words.
std::vector<std::string> shells();
std::string completion(const std::string& shell);  // one of shells()

// What these pages are made of.

// The options and arguments of a command: arguments first, --help last.
std::vector<Parameter> parameters_of(const Command& command);
// "--lambda X", "DATA"
std::string shown_name(const Parameter& parameter);

extern const char* const tool_summary;
extern const char* const exit_codes;
extern const char* const streams;
extern const char* const simd_variable;

}  // namespace m4n::cli
