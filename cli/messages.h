// Where words go: data to stdout or a file, everything else to stderr.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/atomic_file.h"
#include "structures/structure.h"

namespace m4n::cli {

using namespace m4n::detail;

// What is said on stderr: everything, or with --quiet warnings and errors only.
enum class Talk { all, warnings };

// "m4n: text" and a new line, on stderr.
void note(Talk talk, std::string_view text);
void warn(std::string_view text);
void report_error(std::string_view text);
// That data have labels which the model was not trained on, if they have.
void warn_of_unseen(const Examples& examples, const Model& model, const std::string& data, const std::string& name);

// On stdout: data as they are, but on a terminal, which must not obey a name, as printable() has them; words for people
// so wherever they go; styled text as it is. Throws Error if it cannot be written (a full disk); `finish_output` does
// so for what was still kept in the buffer. A reader that has gone away (`| head`) ends the program quietly.
enum class Printed { data, words, styled };
void print(std::string_view text, Printed kind = Printed::data);
void finish_output();

// Text as it comes to standard output, or to a file that is there when it is finished, as a whole.
class OutputSink : public TextSink {
 public:
  explicit OutputSink(std::string path) : path_(std::move(path)) {}  // empty: standard output
  void write(std::string_view text) override;
  void flush() override;
  void finish();

 private:
  std::string path_;
  std::optional<AtomicFile> file_;  // from the first write on
};

}  // namespace m4n::cli
