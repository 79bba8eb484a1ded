#include "arguments.h"

#include <fmt/format.h>

#include "core/option_values.h"
#include "m4n/error.h"

namespace m4n::cli {
namespace {

constexpr unsigned max_threads = 4096;

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

bool is_option(const CLI::App& app, const std::string& token) {
  return token.starts_with('-') && app.get_option_no_throw(token.substr(0, token.find('='))) != nullptr;
}

// CLI11 would report these cases late, or take the next option for a value; a look at the plain tokens tells more.
void check_tokens(const CLI::App& app, const std::vector<std::string>& args) {
  std::set<const CLI::Option*> seen;
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    const std::string& token = args[i];
    if (!token.starts_with('-') || token == "-") continue;
    const std::size_t equals = token.find('=');
    const std::string name = token.substr(0, equals);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) throw UsageError(unknown_word_message("option", name, option_names(app)));
    if (!seen.insert(option).second) throw UsageError(fmt::format("{} is given twice; give it once", name));
    const bool flag = option->get_items_expected_max() == 0;
    if (flag && equals != std::string::npos)
      throw UsageError(fmt::format("{} takes no value, found '{}'", name, token.substr(equals + 1)));
    if (flag) continue;
    const std::string expected = fmt::format("{} needs a value ({})", name, option->get_type_name());
    if (equals == std::string::npos) {
      if (++i == args.size()) throw UsageError(expected);
      if (is_option(app, args[i])) throw UsageError(fmt::format("{}, found the option {}", expected, args[i]));
    } else if (equals + 1 == token.size()) {
      throw UsageError(expected);
    }
  }
}

}  // namespace

void parse(CLI::App& app, const Command& command, const std::vector<std::string>& args) {
  check_tokens(app, args);
  const std::string usage = fmt::format("usage: m4n {} {}", command.name, command.usage);
  try {
    // CLI11 takes the tokens from the back.
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ExtrasError&) {
    throw UsageError(fmt::format("one argument too many: '{}'; {}", app.remaining().front(), usage));
  } catch (const CLI::RequiredError& error) {
    throw UsageError(fmt::format("{}; {}", error.what(), usage));
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; {}", error.what(), usage));
  }
}

CLI::Option* add_text_option(CLI::App& app, const std::string& name, const std::string& value,
                             const std::string& fallback, const std::string& help,
                             const std::function<void(const std::string&)>& set) {
  CLI::Option* option = app.add_option_function<std::string>("--" + name, set, help);
  return option->type_name(value)->default_str(fallback);
}

void add_train_options(CLI::App& app, TrainOptions& options, const std::set<std::string>& only) {
  std::set<std::string> left_out;
  for (const OptionRow& row : train_option_table())
    if (!only.empty() && !only.contains(row.name)) left_out.insert(row.name);
  add_train_options_except(app, options, left_out);
}

void add_train_options_except(CLI::App& app, TrainOptions& options, const std::set<std::string>& left_out) {
  for (const OptionRow& row : train_option_table()) {
    if (left_out.contains(row.name)) continue;
    if (row.value.empty())
      app.add_flag_callback(
          "--" + row.name, [&row, &options] { row.set(options, ""); }, row.help);
    else
      add_text_option(app, row.name, row.value, row.fallback, row.help,
                      [&row, &options](const std::string& text) { row.set(options, text); });
  }
}

void add_threads_option(CLI::App& app, Context& context) {
  add_text_option(app, "threads", "N", "all", "threads to use; results do not depend on it",
                  [&context](const std::string& text) {
                    context.threads = static_cast<unsigned>(parse_whole("threads", text, 1, max_threads));
                  });
}

CLI::Option* add_file_option(CLI::App& app, const std::string& name, const std::string& value, const std::string& help,
                             std::string& path) {
  return add_text_option(app, name, value, "", help, [&path, name](const std::string& text) {
    path = parse_nonempty(name, text, "the name of a file");
  });
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& help, std::string& value) {
  return app.add_option(name, value, help)->type_name("")->required();
}

}  // namespace m4n::cli
