// The commands of the tool: one line each.
#include <algorithm>

#include "command.h"
#include "core/option_values.h"

#define M4N_COMMANDS(X) \
  X(train)              \
  X(predict)            \
  X(eval)               \
  X(cv)                 \
  X(report)             \
  X(loss)               \
  X(info)               \
  X(dump)               \
  X(reproduce)          \
  X(generate)           \
  X(demo)               \
  X(bench)              \
  X(help)

namespace m4n::cli {

#define M4N_DECLARE(name) Command name##_command();
M4N_COMMANDS(M4N_DECLARE)

const std::vector<Command>& commands() {
#define M4N_CALL(name) name##_command(),
  static const std::vector<Command> all{M4N_COMMANDS(M4N_CALL)};
  return all;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

const Command& find_command(const std::string& name) {
  const auto found =
      std::find_if(commands().begin(), commands().end(), [&](const Command& c) { return c.name == name; });
  if (found != commands().end()) return *found;
  throw UsageError(unknown_word_message("command", name, command_names()));
}

}  // namespace m4n::cli
