// A command is one small file that declares its parameters and returns what to do once they are parsed.
// To add one: a file cli/NAME.cc that defines `Command NAME_command()`, and one line in cli/registry.cc.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "parameters.h"

namespace m4n::cli {

// Exit codes of the tool.
enum ExitCode : int { done = 0, failed = 1, wrong_usage = 2, not_converged = 3, interrupted = 130 };

// Runs the command with the options parsed by then; returns the exit code.
using Action = std::function<int()>;

struct Command {
  std::string name;
  std::string usage;    // what follows the name: "[options] DATA --model OUT.m4n"
  std::string summary;  // one line
  std::string details;  // a paragraph or more, for its help and for the reference
  std::function<Action(Parameters&)> declare;
};

// All commands, in the order of the usage page.
const std::vector<Command>& commands();
std::vector<std::string> command_names();

// Throws UsageError, with the valid names, if there is none.
const Command& find_command(const std::string& name);

}  // namespace m4n::cli
