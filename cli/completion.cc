// Scripts by which shells complete what is typed: commands, options, and the values that are words. Where a value or an
// argument may be something else, the shell completes the names of files.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "pages.h"

namespace m4n::cli {
namespace {

// `text` between single quotes; `quote` is how a quote is written there.
std::string quoted(const std::string& text, const std::string& quote) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? quote : std::string(1, c);
  return out + "'";
}

// The start of a help text: lists of choices have a line for each.
std::string brief(const std::string& help) {
  constexpr std::size_t most = 70;
  if (help.size() <= most) return help;
  return help.substr(0, help.find_last_of(' ', most)) + " ..";
}

std::vector<std::string> option_names(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters)
    if (p.kind != Parameter::argument) out.push_back("--" + p.name);
  return out;
}

std::vector<std::string> words_of_arguments(const std::vector<Parameter>& parameters) {
  std::vector<std::string> out;
  for (const Parameter& p : parameters)
    if (p.kind == Parameter::argument)
      for (const std::string& word : p.words()) out.push_back(word);
  return out;
}

std::string bash_case(const std::vector<Parameter>& parameters) {
  std::string others, out = "      case $previous in\n";
  for (const Parameter& p : parameters) {
    if (p.kind != Parameter::option) continue;
    if (p.words().empty())
      others += (others.empty() ? "--" : " | --") + p.name;
    else
      out += fmt::format("        --{}) words='{}' ;;\n", p.name, fmt::join(p.words(), " "));
  }
  if (!others.empty()) out += fmt::format("        {}) ;;\n", others);
  const std::string options = fmt::format("{}", fmt::join(option_names(parameters), " "));
  const bool has_arguments = std::any_of(parameters.begin(), parameters.end(),
                                         [](const Parameter& p) { return p.kind == Parameter::argument; });
  if (has_arguments)
    out += fmt::format("        *) [[ $current == -* ]] && words='{}' || words='{}' ;;\n", options,
                       fmt::join(words_of_arguments(parameters), " "));
  else
    out += fmt::format("        *) words='{}' ;;\n", options);
  return out + "      esac ;;\n";
}

// A value behind = is a word of its own to bash. Where no word fits, -o default completes files.
std::string bash() {
  std::string out =
      "# Completion of m4n for bash, made by: m4n help --completion bash\n"
      "_m4n() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
      "  if [[ $current == = ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == = ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
      "  fi\n"
      "  ((COMP_CWORD > 1)) && local command=${COMP_WORDS[1]} || local command=\n"
      "  case $command in\n";
  out += fmt::format("    '') words='{} --help --version' ;;\n", fmt::join(command_names(), " "));
  for (const Command& command : commands())
    out += fmt::format("    {})\n{}", command.name, bash_case(parameters_of(command)));
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o default -F _m4n m4n\n";
}

// In a description of _arguments brackets and colons mean something.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// "message:action": what is to be typed, and what completes it.
std::string zsh_value(const Parameter& p) {
  const std::string words = fmt::format("{}", fmt::join(p.words(), " "));
  if (p.words_only()) return fmt::format("{}:({})", p.name, words);
  const std::string what = zsh_text(p.kind == Parameter::argument ? p.name : p.value);
  if (words.empty()) return what + ":_files";
  return what + ":{_alternative \"words\\:word\\:(" + words + ")\" \"files\\:file\\:_files\"}";
}

std::string zsh_case(const Command& command) {
  std::string out = fmt::format("        {})\n          _arguments", command.name);
  int place = 0;
  for (const Parameter& p : parameters_of(command)) {
    const std::string help = zsh_text(brief(p.help));
    std::string spec;
    if (p.kind == Parameter::argument)
      spec = fmt::format("{}:{}", ++place, zsh_value(p));
    else if (p.kind == Parameter::flag)
      spec = fmt::format("--{}[{}]", p.name, help);
    else
      spec = fmt::format("--{}=[{}]:{}", p.name, help, zsh_value(p));
    out += " \\\n            " + quoted(spec, "'\\''");
  }
  return out + " ;;\n";
}

std::string zsh() {
  std::string out =
      "#compdef m4n\n"
      "# Completion of m4n for zsh, made by: m4n help --completion zsh\n"
      "_m4n() {\n"
      "  local state context line\n"
      "  typeset -A opt_args\n"
      "  _arguments -C '(- *)--help[print the list of commands]' '(- *)--version[print the version]' \\\n"
      "    '1:command:->command' '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=(\n";
  for (const Command& command : commands())
    out += fmt::format("        {}\n", quoted(command.name + ":" + command.summary, "'\\''"));
  out +=
      "      )\n"
      "      _describe command commands ;;\n"
      "    argument)\n"
      "      case $words[1] in\n";
  for (const Command& command : commands()) out += zsh_case(command);
  return out +
         "      esac ;;\n"
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _m4n ]]; then _m4n \"$@\"; else compdef _m4n m4n; fi\n";
}

std::string fish_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\\' ? "\\\\" : std::string(1, c);
  return quoted(out, "\\'");
}

std::string fish() {
  std::string out =
      "# Completion of m4n for fish, made by: m4n help --completion fish\n"
      "function __m4n_command\n"
      "    set -l words (commandline -opc)\n"
      "    test (count $words) -gt 1; and test $words[2] = $argv[1]\n"
      "end\n"
      "set -l start 'test (count (commandline -opc)) -eq 1'\n"
      "complete -c m4n -f\n"
      "complete -c m4n -n $start -l help -d 'print the list of commands'\n"
      "complete -c m4n -n $start -l version -d 'print the version'\n";
  for (const Command& command : commands()) {
    out += fmt::format("complete -c m4n -n $start -a {} -d {}\n", command.name, fish_text(command.summary));
    for (const Parameter& p : parameters_of(command)) {
      const std::string words = fmt::format("{}", fmt::join(p.words(), " "));
      out += fmt::format("complete -c m4n -n '__m4n_command {}'", command.name);
      if (p.kind != Parameter::argument) out += fmt::format(" -l {} -d {}", p.name, fish_text(brief(p.help)));
      if (p.kind != Parameter::flag) out += p.words_only() ? " -x" : " -r -F";
      if (!words.empty()) out += fmt::format(" -a '{}'", words);
      out += '\n';
    }
  }
  return out;
}

constexpr struct {
  const char* name;
  std::string (*script)();
} scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

}  // namespace

std::vector<std::string> shells() {
  std::vector<std::string> names;
  for (const auto& [name, script] : scripts) names.emplace_back(name);
  return names;
}

std::string completion(const std::string& shell) {
  const auto* const found =
      std::find_if(std::begin(scripts), std::end(scripts), [&](const auto& entry) { return entry.name == shell; });
  return found->script();
}

}  // namespace m4n::cli
