// Cells of the label column to class numbers, and the weights of classes (labels.h).
//
// Classes are the distinct cells, sorted as numbers where all are numbers and as words otherwise; grades are taken as
// they are, or cut from a raw target.
#include "structures/classes/labels.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/message.h"
#include "data/table.h"
#include "data/text.h"

namespace m4n::detail {

namespace {

constexpr std::size_t most_grades = 100;  // of ordinal labels taken as they are
constexpr std::size_t most_fractional_classes = 1000;

std::string where(const RawTable& table, std::size_t i) {
  return fmt::format("{}: line {} (column {})", table.path, table.line[i], shown(table.target_name));
}

std::vector<double> numbers(const RawTable& table, const Message& remedy) {
  std::vector<double> values(table.target.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = finite_number(table.target[i]);
    if (!value)
      throw Error(say("{}: found {}, expected a finite number; {}", where(table, i), shown(table.target[i]), remedy));
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
      throw Error(say("{}: found {}, expected a class name or a finite number; => leave examples without a label out",
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
      throw Error(say("{}: found {}, but line {} spells the same number {}; => write every class in one way",
                      where(table, found.first_row[second]), shown(found.names[second]),
                      table.line[found.first_row[first]], shown(found.names[first])));
    }
  return order;
}

void check_classes(const RawTable& table, Order order, const Distinct& found, const std::vector<double>& values) {
  const std::size_t k = found.names.size();
  if (order == Order::grades && values.empty()) {
    std::size_t c = 0;
    while (finite_number(found.names[c])) ++c;
    throw Error(
        say("{}: grade {} is a word, and the order of words is not known; => write grades as numbers, or use --task "
            "multiclass",
            where(table, found.first_row[c]), shown(found.names[c])));
  }
  if (k < 2)
    throw Error(say("{}: only one class, {}, in column {}; at least two are needed to learn anything", table.path,
                    shown(found.names[0]), shown(table.target_name)));
  if (order == Order::grades && k > most_grades)
    throw Error(say("{}: {} different values in column {}, more than {} grades; => cut them into grades with --bins K",
                    table.path, k, shown(table.target_name), most_grades));
  const auto is_fraction = [](double value) { return value != std::floor(value); };
  if (order == Order::none && k > most_fractional_classes && std::any_of(values.begin(), values.end(), is_fraction))
    throw Error(
        say("{}: {} different numbers in column {}, not all whole: this is no list of classes; => use --task ordinal "
            "--bins K",
            table.path, k, shown(table.target_name)));
}

}  // namespace

Dataset label_for_training(RawTable table, Order order, int bins, Binning binning) {
  if (bins != 0 && order != Order::grades)
    throw UsageError(say("--bins cuts a raw target into grades; it goes with --task ordinal"));
  if (bins != 0 && (bins < 2 || bins > max_bins)) throw UsageError(say("--bins {}; expected 2 to {}", bins, max_bins));
  if (table.target.empty()) throw Error(say("{}: no labels; training needs a label column", table.path));
  Dataset data = unlabelled(table);
  if (bins > 0) {
    const std::vector<double> values = raw_targets(table);
    if (const auto [low, high] = std::minmax_element(values.begin(), values.end()); *low == *high)
      throw Error(say("{}: every target in column {} is {}; there is nothing to cut into grades", table.path,
                      shown(table.target_name), *low));
    data.bins = cut_into_grades(values, bins, binning);
    data.label.reserve(values.size());
    for (const double value : values) data.label.push_back(grade_of(value, data.bins));
    for (int g = 0; g < bins; ++g) data.class_names.push_back(std::to_string(g));
  } else {
    Distinct cells = distinct_cells(table);
    refuse_missing(table, cells);
    std::vector<double> values;
    const std::vector<std::size_t> sorted = sorted_classes(table, cells, values);
    check_classes(table, order, cells, values);
    std::vector<std::int32_t> rank(sorted.size());
    for (std::size_t r = 0; r < sorted.size(); ++r) {
      rank[sorted[r]] = static_cast<std::int32_t>(r);
      data.class_names.push_back(cells.names[sorted[r]]);
    }
    for (std::int32_t& label : cells.label) label = rank[static_cast<std::size_t>(label)];
    data.label = std::move(cells.label);
  }
  return data;
}

std::string lone_labels(const Dataset& data, const std::function<std::string(std::size_t)>& where) {
  constexpr std::size_t most = 3;
  std::vector<std::size_t> count(data.class_names.size());
  for (const std::int32_t label : data.label) ++count[static_cast<std::size_t>(label)];
  const auto lone = static_cast<std::size_t>(std::count(count.begin(), count.end(), std::size_t{1}));
  if (lone == 0 || lone == count.size()) return {};
  std::string text;
  std::size_t listed = 0;
  for (std::size_t i = 0; i < data.label.size() && listed < most; ++i) {
    const auto c = static_cast<std::size_t>(data.label[i]);
    if (count[c] != 1) continue;
    text += fmt::format("{}{}: {}", listed++ > 0 ? "; " : "", where(i), shown(data.class_names[c]));
  }
  return fmt::format("{} a single example; if the label is a slip, mend it: {}{}",
                     counted(lone, "class has", "classes have"), text,
                     lone > listed ? fmt::format("; and {} more", lone - listed) : "");
}

void label_for_model(RawTable table, const std::vector<std::string>& classes, const OrdinalBins& bins, Examples& out) {
  out.path = table.path;
  out.line = std::move(table.line);
  out.ids = std::move(table.ids);
  std::vector<std::string> target = std::move(table.target);
  const std::string target_name = table.target_name;
  out.data = unlabelled(table);
  out.data.class_names = out.names = classes;
  out.data.bins = bins;
  out.data.label.assign(out.data.examples(), unknown_label);
  out.truth = out.data.label;
  if (target.empty()) return;
  RawTable cells_only;
  cells_only.path = out.path;
  cells_only.line = out.line;
  cells_only.target_name = target_name;
  cells_only.target = std::move(target);
  if (!bins.cuts.empty()) {
    const std::vector<double> values = numbers(cells_only, "the model cuts this column into grades");
    for (std::size_t i = 0; i < values.size(); ++i) out.data.label[i] = out.truth[i] = grade_of(values[i], bins);
    return;
  }
  const ClassIndex index(classes);
  const Distinct cells = distinct_cells(cells_only);
  std::vector<std::int32_t> known(cells.names.size(), unknown_label), named = known;
  for (std::size_t c = 0; c < cells.names.size(); ++c) {
    if (const auto at = index.find(cells.names[c])) {
      known[c] = named[c] = static_cast<std::int32_t>(*at);
    } else if (!cells.names[c].empty()) {
      named[c] = static_cast<std::int32_t>(out.names.size());
      out.names.push_back(cells.names[c]);
    }
  }
  for (std::size_t i = 0; i < cells.label.size(); ++i) {
    out.data.label[i] = known[static_cast<std::size_t>(cells.label[i])];
    out.truth[i] = named[static_cast<std::size_t>(cells.label[i])];
  }
}

std::vector<double> raw_targets(const RawTable& table) {
  return numbers(table, say("--bins cuts numbers into grades"));
}

bool has_raw_target(const RawTable& table) {
  const auto is_number = [](const std::string& cell) { return finite_number(cell).has_value(); };
  return table.target_name == "target" && std::all_of(table.target.begin(), table.target.end(), is_number);
}

// One weight per class: `balanced`, w_c = n / (k n_c), so that all classes weigh the same together; or a CSV file.

namespace {

std::vector<double> balanced(const Dataset& data) {
  const std::size_t k = data.class_names.size();
  std::vector<std::size_t> count(k);
  std::size_t n = 0;
  for (const std::int32_t label : data.label)
    if (label != unknown_label) {
      ++count[static_cast<std::size_t>(label)];
      ++n;
    }
  std::vector<double> weight(k, 1.0);  // of a class without examples: it weighs nothing in any sum
  for (std::size_t c = 0; c < k; ++c)
    if (count[c] > 0) weight[c] = static_cast<double>(n) / (static_cast<double>(k) * static_cast<double>(count[c]));
  return weight;
}

}  // namespace

std::vector<double> read_class_weights(const std::string& spec, const Dataset& data) {
  if (spec == "balanced") return balanced(data);
  Input input = Input::open(spec);
  LineReader lines(input);
  const ClassIndex index(data.class_names);
  std::vector<double> weight(data.class_names.size(), 0.0);  // 0: not read yet
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split_cells(line, input.name(), lines.line_number());
    const std::string where = fmt::format("{}: line {}", input.name(), lines.line_number());
    if (cells.size() != 2) throw Error(say("{}: found {} cells, expected two: class,weight", where, cells.size()));
    const bool header = first && cells[0] == "class" && cells[1] == "weight";
    first = false;
    if (header) continue;
    const auto c = index.find(cells[0]);
    if (!c)
      throw Error(say("{}: {} is no class of the data; the classes are {}", where, shown(cells[0]),
                      shown_list(data.class_names, 10)));
    const auto value = finite_number(cells[1]);
    if (!value || !is_weight(*value))
      throw Error(say("{}, column 2: found {}, expected a weight above 0, from {} to {}", where, shown(cells[1]),
                      smallest_weight, largest_weight));
    if (weight[*c] > 0) throw Error(say("{}: class {} stands here a second time", where, shown(cells[0])));
    weight[*c] = *value;
  }
  std::vector<std::string> missing;
  for (std::size_t c = 0; c < weight.size(); ++c)
    if (weight[c] == 0) missing.push_back(data.class_names[c]);
  if (!missing.empty())
    throw Error(say("{}: no weight for {} of the {} classes: {}; => add a line class,weight for each", input.name(),
                    missing.size(), weight.size(), shown_list(missing, 5)));
  return weight;
}

}  // namespace m4n::detail
