// Cells of the label column to class numbers.
//
// Classes are the distinct cells, sorted as numbers where all are numbers and as words otherwise; grades are cut from a
// raw target (bins.cc).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/text.h"
#include "m4n/error.h"
#include "m4n/read.h"

namespace m4n {
namespace {

constexpr std::size_t most_grades = 100;  // of ordinal labels taken as they are
constexpr std::size_t most_fractional_classes = 1000;

std::string where(const RawTable& table, std::size_t i) {
  return fmt::format("{}: line {} (column {})", table.path, table.line[i], shown(table.target_name));
}

std::vector<double> numbers(const RawTable& table, const char* remedy) {
  std::vector<double> values(table.target.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = finite_number(table.target[i]);
    if (!value)
      throw Error(
          fmt::format("{}: found {}, expected a finite number; {}", where(table, i), shown(table.target[i]), remedy));
    values[i] = *value;
  }
  return values;
}

// The class numbers of the cells, in the order of first appearance, with the row of each class's first appearance.
struct Distinct {
  std::vector<std::string> names;
  std::vector<std::size_t> first_row;
  std::vector<std::int32_t> label;
};

Distinct distinct_cells(const RawTable& table) {
  Distinct found;
  std::unordered_map<std::string_view, std::int32_t> number;  // views into the table's cells
  found.label.reserve(table.target.size());
  for (std::size_t i = 0; i < table.target.size(); ++i) {
    const auto [at, is_new] = number.emplace(table.target[i], static_cast<std::int32_t>(found.names.size()));
    if (is_new) {
      found.names.push_back(table.target[i]);
      found.first_row.push_back(i);
    }
    found.label.push_back(at->second);
  }
  return found;
}

void refuse_missing(const RawTable& table, const Distinct& found) {
  for (std::size_t c = 0; c < found.names.size(); ++c) {
    double value = 0;
    const std::string& name = found.names[c];
    const char* const end = name.data() + name.size();
    if (name.empty() || (scan_number(name.data(), end, value) == end && !std::isfinite(value)))
      throw Error(
          fmt::format("{}: found {}, expected a class name or a finite number; leave examples without a label out",
                      where(table, found.first_row[c]), shown(name)));
  }
}

// order[rank] = class in order of appearance; `values` are the classes as numbers, empty if some are words.
std::vector<std::size_t> sorted_classes(const RawTable& table, const Distinct& found, std::vector<double>& values) {
  for (const std::string& name : found.names)
    if (const auto value = finite_number(name)) values.push_back(*value);
  if (values.size() != found.names.size()) values.clear();
  std::vector<std::size_t> order(found.names.size());
  for (std::size_t c = 0; c < order.size(); ++c) order[c] = c;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return values.empty() ? found.names[a] < found.names[b] : values[a] < values[b];
  });
  for (std::size_t r = 1; r < order.size() && !values.empty(); ++r)
    if (values[order[r]] == values[order[r - 1]]) {
      const auto [first, second] = std::minmax(order[r], order[r - 1]);  // order of appearance
      throw Error(fmt::format("{}: found {}, but line {} spells the same number {}; write every class in one way",
                              where(table, found.first_row[second]), shown(found.names[second]),
                              table.line[found.first_row[first]], shown(found.names[first])));
    }
  return order;
}

void check_classes(const RawTable& table, Task task, const Distinct& found, const std::vector<double>& values) {
  const std::size_t k = found.names.size();
  if (task == Task::ordinal && values.empty()) {
    std::size_t c = 0;
    while (finite_number(found.names[c])) ++c;
    throw Error(
        fmt::format("{}: grade {} is a word, and the order of words is not known; write grades as numbers, or use "
                    "--task multiclass",
                    where(table, found.first_row[c]), shown(found.names[c])));
  }
  if (k < 2)
    throw Error(fmt::format("{}: only one class, {}, in column {}; at least two are needed to learn anything",
                            table.path, shown(found.names[0]), shown(table.target_name)));
  if (task == Task::ordinal && k > most_grades)
    throw Error(
        fmt::format("{}: {} different values in column {}, more than {} grades; cut them into grades with --bins K",
                    table.path, k, shown(table.target_name), most_grades));
  const auto is_fraction = [](double value) { return value != std::floor(value); };
  if (task == Task::multiclass && k > most_fractional_classes && std::any_of(values.begin(), values.end(), is_fraction))
    throw Error(
        fmt::format("{}: {} different numbers in column {}, not all whole: this is no list of classes; use --task "
                    "ordinal --bins K",
                    table.path, k, shown(table.target_name)));
}

Dataset without_labels(RawTable& table) {
  Dataset data;
  const std::size_t n = rows(table.x);
  data.x = std::move(table.x);
  data.feature_names = std::move(table.feature_names);
  data.weight = std::move(table.weight);
  data.feature_rows = data.labels = Groups(n);
  return data;
}

// M labels an example: ranks as positions from 0, or marks as they are.
Dataset with_outputs(RawTable& table, Task task) {
  const bool ranking = task == Task::ranking;
  if (table.output_names.empty())
    throw Error(fmt::format("{}: no {}", table.path,
                            ranking ? "ranks; expected columns r1, r2, .." : "labels; expected columns y1, y2, .."));
  Dataset data = without_labels(table);
  data.label = std::move(table.outputs);
  if (ranking)
    for (std::int32_t& rank : data.label) --rank;
  data.class_names = std::move(table.output_names);
  data.labels = Groups(data.examples(), data.class_names.size());
  return data;
}

}  // namespace

Dataset label_for_training(RawTable table, Task task, int bins, Binning binning) {
  if (bins != 0 && task != Task::ordinal)
    throw UsageError("--bins cuts a raw target into grades; it goes with --task ordinal");
  if (bins != 0 && (bins < 2 || bins > max_bins))
    throw UsageError(fmt::format("--bins {}; expected 2 to {}", bins, max_bins));
  if (task == Task::ranking || task == Task::multilabel) return with_outputs(table, task);
  if (table.target.empty()) throw Error(fmt::format("{}: no labels; training needs a label column", table.path));
  Dataset data = without_labels(table);
  if (bins > 0) {
    const std::vector<double> values = raw_targets(table);
    if (const auto [low, high] = std::minmax_element(values.begin(), values.end()); *low == *high)
      throw Error(fmt::format("{}: every target in column {} is {}; there is nothing to cut into grades", table.path,
                              shown(table.target_name), *low));
    data.bins = cut_into_grades(values, bins, binning);
    data.label.reserve(values.size());
    for (const double value : values) data.label.push_back(grade_of(value, data.bins));
    for (int g = 0; g < bins; ++g) data.class_names.push_back(std::to_string(g));
  } else {
    Distinct cells = distinct_cells(table);
    refuse_missing(table, cells);
    std::vector<double> values;
    const std::vector<std::size_t> order = sorted_classes(table, cells, values);
    check_classes(table, task, cells, values);
    std::vector<std::int32_t> rank(order.size());
    for (std::size_t r = 0; r < order.size(); ++r) {
      rank[order[r]] = static_cast<std::int32_t>(r);
      data.class_names.push_back(cells.names[order[r]]);
    }
    for (std::int32_t& label : cells.label) label = rank[static_cast<std::size_t>(label)];
    data.label = std::move(cells.label);
  }
  return data;
}

Dataset label_for_model(RawTable table, const Model& model, std::vector<std::string>* unseen) {
  if (model.task == Task::ranking || model.task == Task::multilabel) return with_outputs(table, model.task);
  Dataset data = without_labels(table);
  data.class_names = model.classes;
  data.bins = model.bins;
  data.label.assign(data.examples(), unknown_label);
  if (table.target.empty()) return data;
  if (!model.bins.cuts.empty()) {
    const std::vector<double> values = numbers(table, "the model cuts this column into grades");
    for (std::size_t i = 0; i < values.size(); ++i) data.label[i] = grade_of(values[i], model.bins);
    return data;
  }
  const ClassIndex index(model.classes);
  const Distinct cells = distinct_cells(table);
  std::vector<std::int32_t> known(cells.names.size(), unknown_label);
  for (std::size_t c = 0; c < cells.names.size(); ++c) {
    if (const auto at = index.find(cells.names[c]))
      known[c] = static_cast<std::int32_t>(*at);
    else if (unseen != nullptr && !cells.names[c].empty())
      unseen->push_back(cells.names[c]);
  }
  for (std::size_t i = 0; i < cells.label.size(); ++i) data.label[i] = known[static_cast<std::size_t>(cells.label[i])];
  return data;
}

std::vector<double> raw_targets(const RawTable& table) { return numbers(table, "--bins cuts numbers into grades"); }

Task guess_task(const RawTable& table, int bins) {
  if (!table.output_names.empty()) return table.output_names[0][0] == 'r' ? Task::ranking : Task::multilabel;
  const auto is_number = [](const std::string& cell) { return finite_number(cell).has_value(); };
  const bool raw_numbers =
      table.target_name == "target" && std::all_of(table.target.begin(), table.target.end(), is_number);
  return bins > 0 || raw_numbers ? Task::ordinal : Task::multiclass;
}

}  // namespace m4n
