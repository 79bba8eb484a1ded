// Help pages and the reference (docs/cli.md), and the command that prints them and all other pages: m4n help [COMMAND].

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>

#include "core/option_values.h"
#include "messages.h"
#include "pages.h"

namespace m4n::cli {

const char* const tool_summary = "consistent, cost-sensitive prediction with max-min margin Markov networks";
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

namespace {

constexpr std::size_t page_width = 100, help_column = 28;

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

std::string entry_line(const Parameter& parameter) {
  std::string line = "  " + shown_name(parameter);
  if (line.size() + 2 > help_column)
    line += '\n' + std::string(help_column, ' ');
  else
    line.resize(help_column, ' ');
  const std::string fallback = parameter.fallback.empty() ? "" : fmt::format(" [{}]", parameter.fallback);
  return line + wrapped(parameter.help + fallback, help_column, help_column) + '\n';
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
  for (const Parameter& p : parameters_of(command))
    out += fmt::format("| `{}` | {} | {} |\n", cell(shown_name(p)), cell(p.fallback), cell(p.help));
  return out;
}

}  // namespace

std::vector<Parameter> parameters_of(const Command& command) {
  Parameters parameters;
  command.declare(parameters);
  std::vector<Parameter> out = parameters.all();
  std::stable_partition(out.begin(), out.end(), [](const Parameter& p) { return p.kind == Parameter::argument; });
  out.push_back({"help", "", "", "print this help", {}, Parameter::flag});
  return out;
}

std::string shown_name(const Parameter& parameter) {
  if (parameter.kind == Parameter::argument) return parameter.name;
  return "--" + parameter.name + (parameter.value.empty() ? "" : " " + parameter.value);
}

std::string overview() {
  std::string out = fmt::format("m4n: {}\n\nusage: m4n COMMAND [options] FILE...\n\n", tool_summary);
  for (const Command& command : commands()) out += fmt::format("  {:<10}{}\n", command.name, command.summary);
  out += "\n'm4n help COMMAND' or 'm4n COMMAND --help' lists its options; 'm4n --version' prints the version.\n";
  return out + wrapped_paragraphs(streams) + wrapped_paragraphs("Exit codes: " + std::string(exit_codes)) +
         wrapped_paragraphs(simd_variable);
}

std::string command_help(const Command& command) {
  std::string out = fmt::format("usage: m4n {} {}\n\n{}\n\n", command.name, command.usage, command.summary);
  out += wrapped_paragraphs(command.details) + '\n';
  for (const Parameter& p : parameters_of(command)) out += entry_line(p);
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

// m4n help [COMMAND]
namespace m4n::cli {
namespace {

struct HelpArguments {
  std::string command, shell;
  bool markdown = false, manual = false;
};

int run(const HelpArguments& arguments) {
  const std::string& name = arguments.command;
  if (int{arguments.markdown} + int{arguments.manual} + int{!arguments.shell.empty()} > 1)
    throw UsageError("--markdown, --man and --completion print different pages; give one of them");
  if (!name.empty() && (arguments.markdown || !arguments.shell.empty()))
    throw UsageError(fmt::format("{} is about all commands; leave out '{}'",
                                 arguments.markdown ? "--markdown" : "--completion", name));
  if (arguments.markdown)
    print(reference_markdown());
  else if (!arguments.shell.empty())
    print(completion(arguments.shell));
  else if (arguments.manual)
    print(name.empty() ? overview_manual() : command_manual(find_command(name)));
  else
    print(name.empty() ? overview() : command_help(find_command(name)));
  return done;
}

Action declare_help(Parameters& parameters) {
  auto arguments = std::make_shared<HelpArguments>();
  Parameter& command = parameters.argument("COMMAND", "the command to explain", arguments->command);
  command.required = false;
  command.value = fmt::format("{}", fmt::join(command_names(), "|"));
  parameters.flag("markdown", "print the whole reference as Markdown", arguments->markdown);
  parameters.flag("man", "print the manual page of the command, or that of m4n, for man", arguments->manual);
  parameters.option("completion", fmt::format("{}", fmt::join(shells(), "|")), "",
                    "print what makes this shell complete commands, options and their values",
                    [arguments](const std::string& text) {
                      parse_choice("completion", text, shells());
                      arguments->shell = text;
                    });
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command help_command() {
  return {"help", "[COMMAND] [--man | --markdown | --completion SHELL]", "explain a command",
          "Without a command: the list of commands.\n", declare_help};
}

}  // namespace m4n::cli
