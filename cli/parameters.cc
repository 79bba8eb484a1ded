// Declaring and parsing the options and arguments of a command with CLI11 (parameters.h).
#include "parameters.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "core/option_values.h"
#include "m4n/error.h"

namespace m4n::cli {

namespace {

std::vector<std::string> choices(const std::string& value) {
  std::vector<std::string> out;
  std::istringstream parts(value);
  for (std::string part; std::getline(parts, part, '|');) out.push_back(part);
  return out;
}

bool is_word(const std::string& choice) {
  return std::none_of(choice.begin(), choice.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

std::vector<std::string> Parameter::words() const {
  std::vector<std::string> out = choices(value);
  std::erase_if(out, [](const std::string& choice) { return !is_word(choice); });
  return out;
}

bool Parameter::words_only() const {
  const std::vector<std::string> all = choices(value);
  return !all.empty() && std::all_of(all.begin(), all.end(), is_word);
}

Parameter& Parameters::option(const std::string& name, const std::string& value, const std::string& fallback,
                              const std::string& help, std::function<void(const std::string&)> set) {
  all_.push_back({name, value, fallback, help, std::move(set)});
  return all_.back();
}

Parameter& Parameters::flag(const std::string& name, const std::string& help, bool& set) {
  all_.push_back({name, "", "", help, [&set](const std::string&) { set = true; }, Parameter::flag});
  return all_.back();
}

Parameter& Parameters::file(const std::string& name, const std::string& value, const std::string& help,
                            std::string& path) {
  return option(name, value, "", help,
                [&path, name](const std::string& text) { path = parse_nonempty(name, text, "the name of a file"); });
}

Parameter& Parameters::argument(const std::string& name, const std::string& help, std::string& value) {
  all_.push_back({name, "", "", help, [&value](const std::string& text) { value = text; }, Parameter::argument, true});
  return all_.back();
}

void Parameters::quiet(Talk& talk) {
  all_.push_back({"quiet", "", "", "no progress and no notes on standard error, only warnings and errors",
                  [&talk](const std::string&) { talk = Talk::warnings; }, Parameter::flag});
}

void Parameters::require_with(const std::string& name, const std::string& other) {
  for (Parameter& p : all_)
    if (p.name == name) p.needs = other;
}

void Parameters::threads(Context& context) {
  constexpr unsigned most = 4096;
  option("threads", "N", "all", "threads to use; results do not depend on it", [&context](const std::string& text) {
    context.threads = static_cast<unsigned>(parse_whole("threads", text, 1, most));
  });
}

void Parameters::train_options(TrainOptions& options, const std::set<std::string>& only) {
  std::set<std::string> left_out;
  for (const OptionRow& row : train_option_table())
    if (!only.contains(row.name)) left_out.insert(row.name);
  train_options_except(options, left_out);
}

void Parameters::train_options_except(TrainOptions& options, const std::set<std::string>& left_out) {
  for (const OptionRow& row : train_option_table())
    if (!left_out.contains(row.name))
      all_.push_back({row.name, row.value, row.fallback, row.help,
                      [&row, &options](const std::string& text) { row.set(options, text); },
                      row.value.empty() ? Parameter::flag : Parameter::option});
}

bool Parameters::given(const std::string& name) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Parameter& p) { return p.name == name && p.given; });
}

std::string Parameters::command_line(const std::string& command) const {
  std::string out = "m4n " + command;
  for (std::size_t i = 0; i < typed_.size(); ++i) {
    std::string token = typed_[i];
    const std::string name = token.substr(0, token.find('='));
    if (name == "--threads" || name == "--quiet") {
      i += name == "--threads" && name == token ? 1 : 0;
      continue;
    }
    if (const std::size_t slash = token.find_last_of('/'); slash != std::string::npos) {
      const std::size_t start = token.starts_with("--") ? token.find('=') : std::string::npos;
      token = (start == std::string::npos ? "" : token.substr(0, start + 1)) + token.substr(slash + 1);
    }
    const bool plain = token.find_first_of(" \t\n'\"\\$`*?&|;<>()") == std::string::npos && !token.empty();
    out += plain ? " " + token : fmt::format(" '{}'", token);
  }
  return out;
}

const Parameter* Parameters::find(const std::string& token) const {
  const std::string name = token.substr(0, token.find('='));
  for (const Parameter& p : all_)
    if (p.kind != Parameter::argument && name == "--" + p.name) return &p;
  return nullptr;
}

// CLI11 would report these cases late, or take the next option for a value; a look at the plain tokens tells more.
void Parameters::check_tokens(const std::vector<std::string>& arguments) const {
  std::set<const Parameter*> seen;
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& token = arguments[i];
    if (!token.starts_with('-') || token == "-") continue;
    const std::size_t equals = token.find('=');
    const std::string name = token.substr(0, equals);
    const Parameter* const found = find(token);
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const Parameter& p : all_)
        if (p.kind != Parameter::argument) names.push_back("--" + p.name);
      names.emplace_back("--help");
      throw UsageError(unknown_word_message("option", name, names));
    }
    if (!seen.insert(found).second) throw UsageError(fmt::format("{} is given twice; give it once", name));
    if (found->kind == Parameter::flag) {
      if (equals != std::string::npos)
        throw UsageError(fmt::format("{} takes no value, found '{}'", name, token.substr(equals + 1)));
      continue;
    }
    const std::string expected = fmt::format("{} needs a value ({})", name, found->value);
    if (equals == std::string::npos) {
      if (++i == arguments.size()) throw UsageError(expected);
      if (find(arguments[i]) != nullptr)
        throw UsageError(fmt::format("{}, found the option {}", expected, arguments[i]));
    } else if (equals + 1 == token.size()) {
      throw UsageError(expected);
    }
  }
}

void Parameters::parse(const std::vector<std::string>& arguments, const std::string& usage) {
  check_tokens(arguments);
  typed_ = arguments;
  CLI::App app;
  app.set_help_flag();
  for (Parameter& p : all_) {
    CLI::Option* added = nullptr;
    if (p.kind == Parameter::flag)
      added = app.add_flag_callback("--" + p.name, [&p] {
        p.given = true;
        p.set("");
      });
    else
      added = app.add_option_function<std::string>(p.kind == Parameter::argument ? p.name : "--" + p.name,
                                                   [&p](const std::string& text) {
                                                     p.given = true;
                                                     p.set(text);
                                                   });
    if (p.required) added->required();
  }
  for (const Parameter& p : all_)
    if (!p.needs.empty()) app.get_option("--" + p.name)->needs(app.get_option("--" + p.needs));
  try {
    // CLI11 takes the tokens from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ExtrasError&) {
    throw UsageError(fmt::format("one argument too many: '{}'; {}", app.remaining().front(), usage));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; {}", error.what(), usage));
  }
}

}  // namespace m4n::cli
