// The options and arguments of a command: declared once, then parsed and shown by --help and the reference alike. CLI11
// does the parsing, in parameters.cc alone.
#pragma once
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "m4n/context.h"
#include "m4n/options.h"
#include "messages.h"

namespace m4n::cli {

struct Parameter {
  std::string name;  // without dashes
  // What it looks like: "X", "yes|no", "tree|FILE". A choice in small letters is a word to be typed, one with capitals
  // stands for something else. Empty for flags, and for arguments that are files.
  std::string value;
  std::string fallback;  // the default, as shown
  std::string help;
  std::function<void(const std::string&)> set;  // called with the value, or with nothing for a flag
  enum Kind { option, flag, argument } kind = option;
  bool required = false;
  std::string needs{};  // another option that must be given with it
  bool given = false;

  // The words among the choices of its value.
  std::vector<std::string> words() const;
  // Whether it takes nothing but these words.
  bool words_only() const;
};

class Parameters {
 public:
  // --name VALUE [fallback]. `set` may throw UsageError.
  Parameter& option(const std::string& name, const std::string& value, const std::string& fallback,
                    const std::string& help, std::function<void(const std::string&)> set);
  Parameter& flag(const std::string& name, const std::string& help, bool& set);
  // A path; anything but nothing.
  Parameter& file(const std::string& name, const std::string& value, const std::string& help, std::string& path);
  // Without a name on the command line, such as DATA.
  Parameter& argument(const std::string& name, const std::string& help, std::string& value);

  // --quiet.
  void quiet(Talk& talk);
  // --threads N.
  void threads(Context& context);
  // Rows of the table of training options: some, or all but some.
  void train_options(TrainOptions& options, const std::set<std::string>& only);
  void train_options_except(TrainOptions& options, const std::set<std::string>& left_out);

  // --name is refused unless --other is given too.
  void require_with(const std::string& name, const std::string& other);

  bool given(const std::string& name) const;
  // What was typed, with the names of files in place of their paths, and without --threads and
  // --quiet, which change nothing.
  std::string command_line(const std::string& command) const;
  const std::vector<Parameter>& all() const { return all_; }

  // Parses what stands behind a command. Throws UsageError on an unknown option, a missing or doubled value, a missing
  // or superfluous argument; `usage` is then shown.
  void parse(const std::vector<std::string>& arguments, const std::string& usage);

 private:
  const Parameter* find(const std::string& token) const;
  void check_tokens(const std::vector<std::string>& arguments) const;
  std::vector<Parameter> all_;
  std::vector<std::string> typed_;
};

}  // namespace m4n::cli
