// Help pages and the reference, and the command that prints them, m4n help [COMMAND]. --markdown prints the whole
// reference, which is docs/cli.md.

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>

#include "command.h"
#include "messages.h"

namespace m4n::cli {
namespace {

constexpr std::size_t page_width = 100, help_column = 28;

const char* const exit_codes =
    "0 done; 1 bad input, bad data, or a file that cannot be read or written; 2 wrong usage; 3 stopped before the "
    "tolerance was reached, with --require-converged; 130 interrupted, after saving what was asked to be saved.";
const char* const streams =
    "Data go to standard output; messages, warnings and progress to standard error. With --json there is exactly one "
    "JSON "
    "object on standard output.";
const char* const simd_variable =
    "The environment variable M4N_SIMD chooses the instruction set of the kernels, as avx512, avx2, sse4, neon or "
    "scalar; "
    "'m4n --version' lists those of this machine. Ask for the same one on two machines to get the same digits.";

// `text` broken at spaces into lines of at most page_width, each but the first indented.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t column) {
  std::istringstream words(text);
  std::string out, word;
  bool line_start = true;
  while (words >> word) {
    if (!line_start && column + 1 + word.size() > page_width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
      line_start = true;
    }
    if (!line_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    line_start = false;
  }
  return out;
}

std::string wrapped_paragraphs(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) out += wrapped(line, 0, 0) + '\n';
  return out;
}

// One option or argument as the reader sees it.
struct Entry {
  std::string name;  // "--lambda X", "DATA"
  std::string help;
  std::string fallback;  // empty: none
  bool positional;
};

// Arguments first, --help last.
std::vector<Entry> entries(const Command& command) {
  Parameters parameters;
  command.declare(parameters);
  std::vector<Entry> out;
  for (const Parameter& p : parameters.all()) {
    const bool positional = p.kind == Parameter::argument;
    std::string name = positional ? p.name : "--" + p.name;
    if (!p.value.empty()) name += " " + p.value;
    out.push_back({name, p.help, p.fallback, positional});
  }
  std::stable_partition(out.begin(), out.end(), [](const Entry& entry) { return entry.positional; });
  out.push_back({"--help", "print this help", "", false});
  return out;
}

std::string entry_line(const Entry& entry) {
  std::string line = "  " + entry.name;
  if (line.size() + 2 > help_column)
    line += '\n' + std::string(help_column, ' ');
  else
    line.resize(help_column, ' ');
  const std::string fallback = entry.fallback.empty() ? "" : fmt::format(" [{}]", entry.fallback);
  return line + wrapped(entry.help + fallback, help_column, help_column) + '\n';
}

// A bar would end the cell of a table.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string command_markdown(const Command& command) {
  std::string out = fmt::format("## m4n {}\n\n    m4n {} {}\n\n{}\n\n{}\n", command.name, command.name, command.usage,
                                command.summary, command.details);
  out += "| option | default | meaning |\n| --- | --- | --- |\n";
  for (const Entry& entry : entries(command))
    out += fmt::format("| `{}` | {} | {} |\n", cell(entry.name), cell(entry.fallback), cell(entry.help));
  return out;
}

}  // namespace

std::string overview() {
  std::string out =
      "m4n: consistent, cost-sensitive prediction with max-min margin Markov networks\n\n"
      "usage: m4n COMMAND [options] FILE...\n\n";
  for (const Command& command : commands()) out += fmt::format("  {:<10}{}\n", command.name, command.summary);
  out += "\n'm4n help COMMAND' or 'm4n COMMAND --help' lists its options; 'm4n --version' prints the version.\n";
  return out + wrapped_paragraphs(streams) + wrapped_paragraphs("Exit codes: " + std::string(exit_codes)) +
         wrapped_paragraphs(simd_variable);
}

std::string command_help(const Command& command) {
  std::string out = fmt::format("usage: m4n {} {}\n\n{}\n\n", command.name, command.usage, command.summary);
  out += wrapped_paragraphs(command.details) + '\n';
  for (const Entry& entry : entries(command)) out += entry_line(entry);
  return out;
}

std::string reference_markdown() {
  std::string out = fmt::format(
      "# The command line\n\n"
      "This page is the output of `m4n help --markdown`.\n\n"
      "    m4n COMMAND [options] FILE...\n\n{}\n\nExit codes: {}\n\n{}\n\n"
      "Every message names the file and line, the value found, what was expected and what to do. Unknown commands, "
      "options "
      "and values are errors that list the valid ones.\n\n| command | |\n| --- | --- |\n",
      streams, exit_codes, simd_variable);
  for (const Command& command : commands()) out += fmt::format("| `{}` | {} |\n", command.name, cell(command.summary));
  for (const Command& command : commands()) out += '\n' + command_markdown(command);
  return out;
}

}  // namespace m4n::cli

// m4n help [COMMAND]: help pages; --markdown prints the whole reference, which is docs/cli.md.
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
