// Notes, warnings and errors on stderr, data on stdout or in a file (messages.h).
#include "messages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "command.h"
#include "core/option_values.h"
#include "data/text.h"
#include "m4n/error.h"

namespace m4n::cli {
namespace {

void write_line(std::string_view kind, std::string_view text) {
  const std::string line = fmt::format("m4n: {}{}\n", kind, printable(text));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

[[noreturn]] void output_failed() {
  const int reason = errno;
  // Where SIGPIPE is ignored the reader's end shows as EPIPE. Its buffer must not be flushed again at exit.
  if (reason == EPIPE) std::_Exit(failed);
  throw Error(fmt::format("cannot write to standard output: {}", std::strerror(reason)));
}

}  // namespace

void note(Talk talk, std::string_view text) {
  if (talk == Talk::all) write_line("", text);
}

void warn(std::string_view text) { write_line("warning: ", text); }

void report_error(std::string_view text) { write_line("error: ", text); }

void warn_of_unseen(const Examples& examples, const Model& model, const std::string& data, const std::string& name) {
  if (examples.names.size() <= model.k()) return;
  const std::vector<std::string> unseen(examples.names.begin() + static_cast<std::ptrdiff_t>(model.k()),
                                        examples.names.end());
  warn(fmt::format("{}: labels that {} has never seen, counted as errors: {}", data, name, shown_list(unseen, 10)));
}

void print(std::string_view text, Printed kind) {
  std::string safe;
  if (kind == Printed::words || (kind == Printed::data && isatty(STDOUT_FILENO) == 1)) text = safe = printable(text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed();
}

void finish_output() {
  if (std::fflush(stdout) != 0) output_failed();
}

void OutputSink::write(std::string_view text) {
  if (path_.empty()) return print(text);
  if (!file_) file_.emplace(path_);
  file_->write(text);
}

void OutputSink::flush() {
  if (path_.empty()) finish_output();
}

void OutputSink::finish() {
  if (path_.empty()) return finish_output();
  if (!file_) file_.emplace(path_);
  file_->finish();
}

}  // namespace m4n::cli
