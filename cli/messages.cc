#include "messages.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "command.h"
#include "m4n/error.h"

namespace m4n::cli {
namespace {

void say(std::string_view kind, std::string_view text) {
  const std::string line = fmt::format("m4n: {}{}\n", kind, text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

[[noreturn]] void output_failed() {
  const int reason = errno;
  // Where SIGPIPE is ignored the reader's end shows as EPIPE. Its buffer must not be flushed again at exit.
  if (reason == EPIPE) std::_Exit(failed);
  throw Error(fmt::format("cannot write to standard output: {}", std::strerror(reason)));
}

}  // namespace

void note(bool quiet, std::string_view text) {
  if (!quiet) say("", text);
}

void warn(std::string_view text) { say("warning: ", text); }

void report_error(std::string_view text) { say("error: ", text); }

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed();
}

void finish_output() {
  if (std::fflush(stdout) != 0) output_failed();
}

}  // namespace m4n::cli
