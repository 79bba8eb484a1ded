// m4n help [COMMAND]: help pages; --markdown prints the whole reference, which is docs/cli.md.
#include <memory>

#include "command.h"
#include "help.h"
#include "messages.h"

namespace m4n::cli {
namespace {

struct HelpArguments {
  std::string command;
  bool markdown = false;
};

int run(const HelpArguments& arguments) {
  if (arguments.markdown)
    print(reference_markdown());
  else
    print(arguments.command.empty() ? overview() : command_help(find_command(arguments.command)));
  return done;
}

}  // namespace

Command help_command() {
  return {"help", "[COMMAND]", "explain a command", "Without a command: the list of commands.\n",
          [](Parameters& parameters) -> Action {
            auto arguments = std::make_shared<HelpArguments>();
            parameters.argument("COMMAND", "the command to explain", arguments->command).required = false;
            parameters.flag("markdown", "print the whole reference as Markdown", arguments->markdown);
            return [arguments] { return run(*arguments); };
          }};
}

}  // namespace m4n::cli
