// m4n COMMAND [options] FILE...: finds the command, parses its options, runs it, and turns what it throws into a
// message on stderr and an exit code.
#include <fmt/format.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdio>
#include <new>

#include "command.h"
#include "m4n/error.h"
#include "m4n/simd.h"
#include "m4n/version.h"
#include "messages.h"
#include "pages.h"

namespace m4n::cli {
namespace {

bool asks_for_help(const std::vector<std::string>& args) {
  const auto end = std::find(args.begin(), args.end(), "--");
  return std::any_of(args.begin(), end, [](const std::string& a) { return a == "--help" || a == "-h"; });
}

int run_command(const Command& command, const std::vector<std::string>& args) {
  if (asks_for_help(args)) {
    print(command_help(command));
    return done;
  }
  Parameters parameters;
  const Action action = command.declare(parameters);
  parameters.parse(args, fmt::format("usage: m4n {} {}", command.name, command.usage));
  return action();
}

int run(std::vector<std::string> args) {
  if (args.empty()) {
    std::fputs(overview().c_str(), stderr);
    return wrong_usage;
  }
  const std::string first = args.front();
  args.erase(args.begin());
  if (first == "--version") {
    print(fmt::format("m4n {}\ninstruction set {} (M4N_SIMD chooses among {})\n", M4N_VERSION, simd(),
                      fmt::join(simd_names(), " ")));
    return done;
  }
  if (first == "--help" || first == "-h") {
    print(overview());
    return done;
  }
  if (first.starts_with('-'))
    throw UsageError(
        fmt::format("found {} where a command was expected; options come after the command. Alone there are "
                    "--help and --version",
                    first));
  return run_command(find_command(first), args);
}

int guarded(const std::vector<std::string>& args) {
  try {
    set_simd_from_environment();
    const int code = run(args);
    finish_output();
    return code;
  } catch (const UsageError& error) {
    const bool known = !args.empty() && std::any_of(commands().begin(), commands().end(), [&](const Command& command) {
      return command.name == args.front();
    });
    report_error(fmt::format("{}\n     'm4n help{}' says more", error.what(), known ? " " + args.front() : ""));
    return wrong_usage;
  } catch (const std::bad_alloc&) {
    report_error("out of memory; use less data, fewer features or a machine with more memory");
    return failed;
  } catch (const std::exception& error) {
    report_error(error.what());
    return failed;
  }
}

// Blocks of a megabyte and more go back to the system when they are freed. glibc would raise that limit to 32 megabytes
// after the first of them, and the arrays of reading, solving and saving would lie side by side.
void return_large_blocks() {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

}  // namespace
}  // namespace m4n::cli

int main(int argc, char** argv) {
  m4n::cli::return_large_blocks();
  return m4n::cli::guarded({argv + std::min(argc, 1), argv + argc});
}
