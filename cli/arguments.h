// From argv to a parsed CLI::App, with messages that say what was found and what there is.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "command.h"
#include "m4n/context.h"
#include "m4n/options.h"

namespace m4n::cli {

// Parses `args` (without the program and the command). Throws UsageError on an unknown option, a missing or doubled
// value, a missing or superfluous argument.
void parse(CLI::App& app, const Command& command, const std::vector<std::string>& args);

// Rows of the training table as options of `app` that write into `options`; `only` restricts them to some names.
void add_train_options(CLI::App& app, TrainOptions& options, const std::set<std::string>& only = {});

// All rows but these.
void add_train_options_except(CLI::App& app, TrainOptions& options, const std::set<std::string>& left_out);

// --threads N, into the context.
void add_threads_option(CLI::App& app, Context& context);

// An option with a text value, shown as `--name VALUE [fallback]`.
CLI::Option* add_text_option(CLI::App& app, const std::string& name, const std::string& value,
                             const std::string& fallback, const std::string& help,
                             const std::function<void(const std::string&)>& set);
CLI::Option* add_file_option(CLI::App& app, const std::string& name, const std::string& value, const std::string& help,
                             std::string& path);
// An argument without a name, such as DATA.
CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& help, std::string& value);

}  // namespace m4n::cli
