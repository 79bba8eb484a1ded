// The header of a CSV file: which column is the label, the weight, the id, and which feature each other column is.
//
// The label is the column asked for, else `label`, else `target`. Everything else is a feature, except what would give
// the answer away: `target` beside `label` where neither was asked for, and the other outputs where one of several
// (y1.. or r1..) was. Ranks r1, r2, .. and marks y1, y2, .. are the output together where the task says so, or where
// there is neither label nor target. For a trained model the columns are found by name instead, in any order, and the
// columns that were label, weights, id, fold or ignored in training are known to be no features. A column whose numbers
// costs name is a feature like others unless it is ignored.
#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

#include "core/message.h"
#include "data/table.h"

namespace m4n::detail {
namespace {

constexpr char letter_of(OutputColumns outputs) { return outputs == OutputColumns::ranks ? 'r' : 'y'; }

// y or r for y1, y2, .. and r1, r2, ..; 0 for other names.
char output_family(const std::string& name) {
  if (name.size() < 2 || (name[0] != 'y' && name[0] != 'r') || name[1] == '0') return 0;
  return name.find_first_not_of("0123456789", 1) == std::string::npos ? name[0] : '\0';
}

class Assignment {
 public:
  Assignment(std::vector<std::string> header, const std::string& file, std::size_t line, const ReadOptions& options,
             const ExpectedColumns* expected)
      : file_(file), line_(line), options_(options), wanted_target_(options.target) {
    columns_.names = std::move(header);
    columns_.role.assign(columns_.names.size(), CsvColumns::ignored);
    if (expected != nullptr) {
      for (std::size_t j = 0; j < expected->feature_names.size(); ++j) place_.emplace(expected->feature_names[j], j);
      known_.insert(expected->no_features.begin(), expected->no_features.end());
      if (wanted_target_.empty() && find(expected->target) >= 0) wanted_target_ = expected->target;
    }
    check_names();
  }

  CsvColumns run(Truth truth, const ExpectedColumns* expected) {
    columns_.outputs = chosen_outputs(expected);
    for (const std::string& name : options_.ignore) {
      find_named(name, "ignore");
      ignored_.insert(name);
    }
    if (columns_.outputs == OutputColumns::one)
      columns_.target_column = find_target(truth);
    else
      find_outputs(truth, expected);
    const std::ptrdiff_t weight = find_named(options_.weights, "weights"), id = find_named(options_.id, "id");
    const std::ptrdiff_t target = columns_.target_column, fold = find_named(options_.fold, "folds");
    const std::ptrdiff_t named[] = {target, weight, id, fold};
    for (std::size_t a = 0; a < std::size(named); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (named[a] >= 0 && named[a] == named[b])
          throw UsageError(
              say("{}: one column is asked to be two of target, weights, id and folds; => name different ones", file_));
    for (const std::ptrdiff_t column : named)
      if (column >= 0 && ignored_.contains(columns_.names[static_cast<std::size_t>(column)]))
        throw UsageError(
            say("{}: --ignore {}: the column is the target, weights, id or folds; => leave one of the two out", file_,
                columns_.names[static_cast<std::size_t>(column)]));
    for (const std::ptrdiff_t column : {weight, id, fold})
      if (column >= 0 && columns_.role[static_cast<std::size_t>(column)] <= CsvColumns::first_output)
        throw UsageError(
            say("{}: {} is one of the output columns and cannot be weights, id or folds too; => name another one",
                file_, shown(columns_.names[static_cast<std::size_t>(column)])));
    const auto assign = [this](std::ptrdiff_t column, CsvColumns::Role role) {
      if (column >= 0) columns_.role[static_cast<std::size_t>(column)] = role;
    };
    std::vector<std::size_t> others, given_away;
    for (std::size_t c = 0; c < columns_.names.size(); ++c) {
      const auto here = static_cast<std::ptrdiff_t>(c);
      if (here == target || here == weight || here == id || here == fold || known_.contains(columns_.names[c]) ||
          ignored_.contains(columns_.names[c]) || is_output(columns_.names[c]))
        continue;
      (gives_answer_away(columns_.names[c]) ? given_away : others).push_back(c);
    }
    for (const std::size_t c : given_away) columns_.left_out.push_back(columns_.names[c]);
    assign(target, CsvColumns::target);
    assign(weight, CsvColumns::weight);
    assign(id, CsvColumns::id);
    assign(fold, CsvColumns::fold);
    if (place_.empty())
      number_features(others, expected);
    else
      match_features(others, *expected);
    find_costs(expected);
    return std::move(columns_);
  }

 private:
  void check_names() const {
    const auto& names = columns_.names;
    if (names.size() == 1 && names[0].find_first_of(";\t ") != std::string::npos)
      throw Error(say("{}: line {}: no comma in the header {}; columns must be separated by commas", file_, line_,
                      shown(names[0])));
    std::unordered_map<std::string_view, std::size_t> first;
    std::size_t numbers = 0;
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (names[c].empty())
        throw Error(say("{}: line {}, column {}: the header has no name here; => give every column one{}", file_, line_,
                        c + 1, c == 0 ? " (written by pandas? use index=False)" : ""));
      if (names[c].find('\0') != std::string::npos)
        throw Error(
            say("{}: line {}: binary data where the header should be; expected CSV or LIBSVM text", file_, line_));
      if (finite_number(names[c]) && !place_.contains(names[c])) ++numbers;
    }
    // Before the search for duplicates: a row of data often has some.
    if (numbers == names.size())
      throw Error(
          say("{}: line {}: only numbers where the header should be ({}); => put a line with the names of the columns "
              "first",
              file_, line_, shown_list(names, 3)));
    for (std::size_t c = 0; c < names.size(); ++c)
      if (const auto [at, is_new] = first.emplace(names[c], c + 1); !is_new)
        throw Error(say("{}: line {}: columns {} and {} are both called {}; names must differ", file_, line_,
                        at->second, c + 1, shown(names[c])));
  }

  // What costs name beside the columns of the file may be a class; a trained model knows.
  void find_costs(const ExpectedColumns* expected) {
    for (const std::string& name : expected != nullptr ? expected->costs : options_.costs) {
      const std::ptrdiff_t at = find(name);
      if (at < 0 && expected != nullptr)
        throw Error(say("{}: line {}: no column {}, which the costs of the model name; the columns are {}", file_,
                        line_, shown(name), shown_list(columns_.names, 10)));
      if (at < 0) continue;
      std::ptrdiff_t& role = columns_.role[static_cast<std::size_t>(at)];
      if (role == CsvColumns::ignored) role = CsvColumns::cost;
      if (role >= 0 || role == CsvColumns::cost || role == CsvColumns::weight)
        columns_.cost_columns.push_back(static_cast<std::size_t>(at));
    }
  }

  std::ptrdiff_t find(const std::string& name) const {
    const auto at = std::find(columns_.names.begin(), columns_.names.end(), name);
    return at == columns_.names.end() ? -1 : at - columns_.names.begin();
  }

  std::ptrdiff_t find_named(const std::string& name, const char* option) const {
    const std::ptrdiff_t at = name.empty() ? -1 : find(name);
    if (at < 0 && !name.empty())
      throw Error(say("{}: line {}: no column {} ({}); the columns are {}", file_, line_, shown(name),
                      detail::option(option), shown_list(columns_.names, 10)));
    return at;
  }

  bool has_family(char letter) const {
    return find(std::string{letter, '1'}) >= 0 && find(std::string{letter, '2'}) >= 0;
  }

  OutputColumns chosen_outputs(const ExpectedColumns* expected) const {
    if (expected != nullptr) {
      const OutputColumns own = expected->output_columns;
      if (own != OutputColumns::one && !options_.target.empty())
        throw UsageError(say("--target {}: the outputs of this model are the columns {}1, {}2, ..; => leave it out",
                             options_.target, letter_of(own), letter_of(own)));
      return own;
    }
    if (options_.outputs) return *options_.outputs;
    if (!wanted_target_.empty() || find("label") >= 0 || find("target") >= 0) return OutputColumns::one;
    if (has_family('r') == has_family('y')) return OutputColumns::one;
    return has_family('r') ? OutputColumns::ranks : OutputColumns::marks;
  }

  // One of several output columns, and no feature of the model.
  bool is_output(const std::string& name) const {
    return columns_.outputs != OutputColumns::one && output_family(name) == letter_of(columns_.outputs) &&
           !place_.contains(name);
  }

  // r1, r2, .. without a gap, in any order; left alone where they are not required.
  void find_outputs(Truth truth, const ExpectedColumns* expected) {
    const char letter = letter_of(columns_.outputs);
    const auto count = std::count_if(columns_.names.begin(), columns_.names.end(),
                                     [this](const std::string& name) { return is_output(name); });
    if (truth == Truth::optional) return;
    const std::ptrdiff_t least = columns_.outputs == OutputColumns::ranks ? 2 : 1;
    if (count < least)
      throw Error(say("{}: line {}: {} output column{} {}1, {}2, ..; at least {} needed; the columns are {}", file_,
                      line_, count == 0 ? "no" : "only one", count == 0 ? "s" : "", letter, letter,
                      least == 1 ? "one is" : "two are", shown_list(columns_.names, 10)));
    if (expected != nullptr && static_cast<std::size_t>(count) != expected->outputs)
      throw Error(say("{}: line {}: {} output columns {}1, {}2, ..; the model has {}", file_, line_, count, letter,
                      letter, expected->outputs));
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      const std::string name = letter + std::to_string(j + 1);
      const std::ptrdiff_t at = find(name);
      if (at < 0)
        throw Error(say("{}: line {}: {} output columns, but {} is not among them; number them {}1 to {}{}", file_,
                        line_, count, name, letter, letter, count));
      columns_.role[static_cast<std::size_t>(at)] = CsvColumns::first_output - j;
      columns_.output_names.push_back(name);
    }
  }

  std::ptrdiff_t find_target(Truth truth) const {
    if (!wanted_target_.empty())
      return truth == Truth::required ? find_named(wanted_target_, "target") : find(wanted_target_);
    for (const char* name : {"label", "target"})
      if (const std::ptrdiff_t at = find(name); at >= 0 && !place_.contains(name)) return at;
    if (truth == Truth::optional) return -1;
    for (const char family : {'y', 'r'})
      if (has_family(family))
        throw Error(say(
            "{}: line {}: several output columns ({}1, {}2, ..) and no column label or target: these "
            "are {}; --target picks one of the columns",
            file_, line_, family, family,
            family == 'y' ? say("sets of labels; => use --task multilabel") : say("rankings; => use --task ranking")));
    const auto numbers = std::count_if(columns_.names.begin(), columns_.names.end(),
                                       [](const std::string& name) { return finite_number(name).has_value(); });
    throw Error(say("{}: line {}: no column label or target; the columns are {}; {}", file_, line_,
                    shown_list(columns_.names, 10),
                    2 * numbers > std::ssize(columns_.names)
                        ? say("this looks like data: put a line with the names of the columns first")
                        : say("name the one to learn with --target")));
  }

  bool gives_answer_away(const std::string& name) const {
    if (place_.contains(name)) return false;
    if (!place_.empty() && (name == "label" || name == "target")) return true;
    if (columns_.outputs != OutputColumns::one) {
      const char other = columns_.outputs == OutputColumns::ranks ? 'y' : 'r';
      return name == "label" || name == "target" || (has_family(other) && output_family(name) == other);
    }
    if (columns_.target_column < 0) return false;
    const std::string& target = columns_.names[static_cast<std::size_t>(columns_.target_column)];
    if (wanted_target_.empty()) return target == "label" && name == "target";
    const char family = output_family(target);
    return family != 0 && output_family(name) == family && find(std::string{family, '1'}) >= 0;
  }

  void number_features(const std::vector<std::size_t>& others, const ExpectedColumns* expected) {
    if (others.empty())
      throw Error(
          say("{}: line {}: no feature columns; the columns are {}", file_, line_, shown_list(columns_.names, 10)));
    if (expected != nullptr && others.size() != expected->d)
      throw Error(say("{}: line {}: {} feature columns, but the model was trained on {} features without names", file_,
                      line_, others.size(), expected->d));
    for (const std::size_t c : others) {
      columns_.role[c] = std::ssize(columns_.feature_names);
      columns_.feature_names.push_back(columns_.names[c]);
    }
  }

  void match_features(const std::vector<std::size_t>& others, const ExpectedColumns& expected) {
    std::vector<bool> found(expected.feature_names.size());
    for (const std::size_t c : others) {
      const auto at = place_.find(columns_.names[c]);
      if (at == place_.end())
        throw Error(
            say("{}: line {}, column {}: {} is no feature of the model (it has {}: {}); => remove the column, or name "
                "it with --target, --id, --weights or --ignore if it is the label, an id, a weight or none of these",
                file_, line_, c + 1, shown(columns_.names[c]), expected.feature_names.size(),
                shown_list(expected.feature_names, 5)));
      columns_.role[c] = static_cast<std::ptrdiff_t>(at->second);
      found[at->second] = true;
    }
    std::vector<std::string> missing;
    for (std::size_t j = 0; j < found.size(); ++j)
      if (!found[j]) missing.push_back(expected.feature_names[j]);
    if (!missing.empty())
      throw Error(say("{}: line {}: {} of the model's {} features are not among the columns: {}", file_, line_,
                      missing.size(), found.size(), shown_list(missing, 5)));
    columns_.feature_names = expected.feature_names;
  }

  const std::string& file_;
  std::size_t line_;
  const ReadOptions& options_;
  std::string wanted_target_;  // as asked for, or as the model remembers it; empty: label, else target
  std::unordered_map<std::string, std::size_t> place_;  // of the model's features
  std::unordered_set<std::string> known_;    // label, weights, id, fold and ignored columns of the training data
  std::unordered_set<std::string> ignored_;  // as asked for
  CsvColumns columns_;
};

}  // namespace

CsvColumns assign_columns(std::vector<std::string> header, const std::string& file, std::size_t line,
                          const ReadOptions& options, Truth truth, const ExpectedColumns* expected) {
  return Assignment(std::move(header), file, line, options, expected).run(truth, expected);
}

}  // namespace m4n::detail
