// Cost matrices from files: tables of costs, with names of rows and columns or without, and trees of classes.
#include "losses/cost_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "core/message.h"
#include "data/input.h"
#include "data/text.h"
#include "losses/registry.h"

namespace m4n::detail {
namespace {

// absolute and squared count steps between classes, which must have an order that everybody knows.
void require_grades(const std::string& loss, const std::vector<std::string>& classes) {
  for (const std::string& name : classes)
    if (!finite_number(name))
      throw Error(
          say("the loss {} counts steps between grades, but class {} is a word, and the order of words is not known; "
              "=> write grades as numbers, or give the costs in a file: --loss FILE.csv",
              loss, shown(name)));
}

struct TextGrid {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> line;  // of each row in the file
};

TextGrid split_rows(std::string_view text, const std::string& origin) {
  TextGrid grid;
  Input input = Input::memory(text, origin);
  LineReader lines(input);
  std::size_t blank = 0;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) {
      blank = lines.line_number();
      continue;
    }
    if (blank > 0 && !grid.cells.empty())
      throw Error(say("{}: line {}: blank line inside the cost matrix; => remove it", origin, blank));
    grid.cells.push_back(split_cells(line, origin, lines.line_number()));
    grid.line.push_back(lines.line_number());
  }
  return grid;
}

// order[i] = the class that the i-th row (or column) of the file is about.
class NamedOrder {
 public:
  NamedOrder(const std::vector<std::string>& classes, const std::string& origin)
      : classes_(classes), origin_(origin), index_(classes), seen_(classes.size()) {}

  void add(const std::string& name, std::size_t line, std::size_t column) {
    const auto c = index_.find(name);
    if (!c)
      throw Error(say("{}: line {}, column {}: {} is no class of the data; the classes are {}", origin_, line, column,
                      shown(name), shown_list(classes_, 10)));
    if (seen_[*c])
      throw Error(
          say("{}: line {}, column {}: class {} stands here a second time", origin_, line, column, shown(name)));
    seen_[*c] = true;
    order.push_back(*c);
  }

  std::vector<std::size_t> order;

 private:
  const std::vector<std::string>& classes_;
  const std::string& origin_;
  ClassIndex index_;
  std::vector<bool> seen_;
};

}  // namespace

namespace {

bool is_header(const std::vector<std::string>& cells) {
  return std::none_of(cells.begin(), cells.end(),
                      [](const std::string& cell) { return finite_number(cell).has_value(); });
}

// The cells that most rows have; of several such numbers the largest.
std::size_t usual_width(const TextGrid& grid, std::size_t first_row) {
  std::map<std::size_t, std::size_t> rows;
  for (std::size_t r = first_row; r < grid.cells.size(); ++r) ++rows[grid.cells[r].size()];
  const auto most = std::max_element(rows.rbegin(), rows.rend(), [](auto& a, auto& b) { return a.second < b.second; });
  return most == rows.rend() ? 0 : most->first;
}

// Whether every class has its lowest cost in the column of its row, where the first column holds names.
bool right_answers_are_cheapest(const TextGrid& grid, std::size_t k) {
  for (std::size_t i = 0; i < k; ++i) {
    if (grid.cells[i].size() <= k) return false;
    const auto right = finite_number(grid.cells[i][i + 1]);
    for (std::size_t j = 0; j < k; ++j) {
      const auto other = finite_number(grid.cells[i][j + 1]);
      if (j != i && right && other && *other <= *right) return false;
    }
  }
  return true;
}

// Whether the first cells of the rows are names of classes. Words are, as costs are numbers. Numbers are where they are
// the classes, each once, and there are columns enough beside them; but costs can look like the classes 0, 1, 2.
bool names_rows(const TextGrid& grid, std::size_t header, std::size_t width, const ClassIndex& classes, std::size_t k) {
  const std::vector<std::string>& top = grid.cells[0];
  if (header == 1 && top.size() + 1 == width) return true;  // the corner is left out
  if (header == 1 && top[0].empty()) return true;
  if (header == 1 && classes.find(top[0])) return false;
  std::vector<bool> seen(k);
  bool each_once = true;
  for (std::size_t r = header; r < grid.cells.size(); ++r) {
    const std::string& cell = grid.cells[r][0];
    const auto c = classes.find(cell);
    if (!finite_number(cell) && (width > k || (header == 1 && c))) return true;
    each_once = each_once && c && !seen[*c];
    if (c) seen[*c] = true;
  }
  return each_once && width > k && (header == 1 || right_answers_are_cheapest(grid, k));
}

// A header above too few rows.
void refuse_missing_rows(const TextGrid& grid, const std::vector<std::string>& classes, const std::string& origin) {
  std::vector<std::string> missing;
  for (const std::string& name : classes)
    if (std::none_of(grid.cells.begin() + 1, grid.cells.end(), [&](const auto& row) { return row[0] == name; }))
      missing.push_back(name);
  if (missing.size() < classes.size())
    throw Error(say("{}: no row for {}; => add one row of costs per class", origin, shown_list(missing, 10)));
  throw Error(say("{}: {} rows below the header, for {} classes ({}); expected one row per class", origin,
                  grid.cells.size() - 1, classes.size(), shown_list(classes, 10)));
}

}  // namespace

CostMatrix CostMatrix::from_csv(std::string_view text, const std::vector<std::string>& classes,
                                const std::string& origin, const ColumnMean& mean) {
  const std::size_t k = classes.size();
  const TextGrid grid = split_rows(text, origin);
  const std::size_t rows = grid.cells.size();
  // One row more than classes is a header.
  const std::size_t header = rows == k + 1 ? 1 : 0;
  if (rows == k && rows > 1 && is_header(grid.cells[0])) refuse_missing_rows(grid, classes, origin);
  if (k == 0 || (rows != k && rows != k + 1))
    throw Error(say("{}: {} rows for {} classes ({}); expected one row per class, and perhaps a header row", origin,
                    rows, k, shown_list(classes, 10)));
  const ClassIndex index(classes);
  const std::size_t width = usual_width(grid, header);
  const bool corner_left_out = header == 1 && grid.cells[0].size() + 1 == width;
  const std::size_t names = names_rows(grid, header, width, index, k) ? 1 : 0;
  const std::size_t columns = width - names;
  NamedOrder row_order(classes, origin);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t found = grid.cells[r].size();
    if (found != width && !(r < header && corner_left_out))
      throw Error(say("{}: line {}: {} cells for {} classes; expected {} numbers{}", origin, grid.line[r], found, k,
                      columns, names == 1 ? " after the class name" : ""));
    if (r >= header && names == 1) row_order.add(grid.cells[r][0], grid.line[r], 1);
  }
  // What the columns are about: numbers of classes, or of what is no class behind them.
  std::vector<std::string> predictions;
  std::vector<std::size_t> column_order;
  if (header == 1) {
    const std::vector<std::string> found(
        grid.cells[0].begin() + static_cast<std::ptrdiff_t>(corner_left_out ? 0 : names), grid.cells[0].end());
    std::vector<bool> present(k);
    std::vector<std::string> others;
    const auto where = [&](std::size_t j) {
      return fmt::format("{}: line {}, column {}", origin, grid.line[0], j + 1 + (corner_left_out ? 0 : names));
    };
    std::optional<std::size_t> unknown;
    for (std::size_t j = 0; j < found.size(); ++j) {
      const auto c = index.find(found[j]);
      const bool twice = c ? present[*c] : std::find(others.begin(), others.end(), found[j]) != others.end();
      if (found[j].empty()) throw Error(say("{}: the prediction has no name", where(j)));
      if (twice) throw Error(say("{}: class {} stands here a second time", where(j), shown(found[j])));
      if (c) present[*c] = true;
      if (!c) others.push_back(found[j]);
      if (!c && !unknown) unknown = j;
    }
    const auto classes_there = static_cast<std::size_t>(std::count(present.begin(), present.end(), true));
    if (classes_there > 0 && classes_there < k) {
      const auto absent = static_cast<std::size_t>(std::find(present.begin(), present.end(), false) - present.begin());
      throw Error(
          say("{}: {} is no class of the data, and class {} has no column; the classes are {}; => name all of "
              "them, and perhaps more predictions",
              where(unknown.value_or(0)), shown(found[unknown.value_or(0)]), shown(classes[absent]),
              shown_list(classes, 10)));
    }
    if (classes_there == k) predictions = classes;
    predictions.insert(predictions.end(), others.begin(), others.end());
    for (const std::string& name : found) {
      const auto c = index.find(name);
      column_order.push_back(
          c ? *c
            : classes_there + static_cast<std::size_t>(std::find(others.begin(), others.end(), name) - others.begin()));
    }
    if (row_order.order.empty() && classes_there == k)
      std::copy_if(column_order.begin(), column_order.end(), std::back_inserter(row_order.order),
                   [&](std::size_t c) { return c < k; });
  }
  for (std::size_t j = column_order.size(); j < columns; ++j)
    column_order.push_back(j < k && !row_order.order.empty() ? row_order.order[j] : j);

  std::vector<double> cost(k * columns);
  std::vector<std::string> data_columns(k * columns);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const std::string& cell = grid.cells[i + header][j + names];
      const std::size_t entry = (row_order.order.empty() ? i : row_order.order[i]) * columns + column_order[j];
      auto value = finite_number(cell);
      if (!value && mean) {
        value = mean(cell);
        data_columns[entry] = cell;
      }
      if (!value)
        throw Error(say("{}: line {}, column {}: {} is no finite number{}; expected a cost", origin,
                        grid.line[i + header], j + names + 1, shown(cell),
                        mean ? " and no column of numbers in the data" : ""));
      cost[entry] = *value;
    }
  return from_values(std::move(cost), k, "matrix", classes, origin, std::move(predictions), std::move(data_columns));
}

namespace {

constexpr std::size_t largest_cost_file = std::size_t{1} << 30;

struct Tree {
  std::vector<std::string> name;
  std::unordered_map<std::string, std::size_t> number;
  std::vector<std::optional<std::size_t>> parent;
  std::vector<double> length;  // to the parent
  std::vector<std::size_t> depth;

  std::size_t add(const std::string& node) {
    const auto [at, is_new] = number.emplace(node, name.size());
    if (is_new) {
      name.push_back(node);
      parent.emplace_back();
      length.push_back(0);
      depth.push_back(0);
    }
    return at->second;
  }
  // The sum of lengths between two nodes.
  double way(std::size_t a, std::size_t b) const {
    double out = 0;
    while (a != b) {
      std::size_t& lower = depth[a] >= depth[b] ? a : b;
      out += length[lower];
      lower = *parent[lower];
    }
    return out;
  }
};

Tree read_tree(std::string_view text, const std::string& origin) {
  Tree tree;
  std::vector<std::size_t> line_of;  // of every node as a child; 0: none
  Input input = Input::memory(text, origin);
  LineReader lines(input);
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::size_t at = lines.line_number();
    const std::vector<std::string> cells = split_cells(line, origin, at);
    if (cells.size() != 2 && cells.size() != 3)
      throw Error(say("{}: line {}: {}; expected child,parent or child,parent,length", origin, at,
                      counted(cells.size(), "cell")));
    if (std::exchange(first, false) && cells[0] == "child" && cells[1] == "parent") continue;
    if (cells[0].empty() || cells[1].empty())
      throw Error(say("{}: line {}: a node has no name; expected child,parent,length", origin, at));
    const std::optional<double> length = cells.size() == 3 ? finite_number(cells[2]) : std::optional<double>(1);
    if (!length || !(*length > 0) || *length > largest_cost)
      throw Error(say("{}: line {}: found {} as the length; expected a positive number up to {}", origin, at,
                      shown(cells[2]), largest_cost));
    const std::size_t child = tree.add(cells[0]), parent = tree.add(cells[1]);
    line_of.resize(tree.name.size(), 0);
    if (line_of[child] > 0)
      throw Error(say("{}: line {}: {} has a parent already, in line {}; => give every node one parent", origin, at,
                      shown(cells[0]), line_of[child]));
    line_of[child] = at;
    tree.parent[child] = parent;
    tree.length[child] = *length;
  }
  if (tree.name.empty()) throw Error(say("{}: is empty; expected lines child,parent,length", origin));
  std::optional<std::size_t> root;
  for (std::size_t v = 0; v < tree.name.size(); ++v) {
    std::size_t top = v;
    while (tree.parent[top] && tree.depth[v] <= tree.name.size()) {
      top = *tree.parent[top];
      ++tree.depth[v];
    }
    if (tree.parent[top]) {  // on a circle: the first of its lines
      std::size_t named = top;
      for (std::size_t w = *tree.parent[top]; w != top; w = *tree.parent[w])
        if (line_of[w] < line_of[named]) named = w;
      throw Error(say("{}: line {}: {} is its own ancestor: the lines make a circle; => remove one of them", origin,
                      line_of[named], shown(tree.name[named])));
    }
    if (root && *root != top)
      throw Error(say("{}: {} and {} both have no parent; => join them under one root", origin, shown(tree.name[*root]),
                      shown(tree.name[top])));
    root = top;
  }
  return tree;
}

}  // namespace

CostMatrix CostMatrix::read(const std::string& path, const std::vector<std::string>& classes, const ColumnMean& mean) {
  Input input = Input::open(path);
  const std::string text = read_all(input, largest_cost_file);
  return from_csv(text, classes, input.name(), mean);
}

std::vector<std::string> words_in_costs(const std::string& path) {
  Input input = Input::open(path);
  const std::string text = read_all(input, largest_cost_file);
  const TextGrid grid = split_rows(text, input.name());
  const auto is_word = [](const std::string& cell) { return !cell.empty() && !finite_number(cell); };
  // Names of predictions and classes stand in a first row and a first column of words alone.
  const std::size_t first_row = !grid.cells.empty() && is_header(grid.cells[0]) ? 1 : 0;
  const bool names =
      std::all_of(grid.cells.begin() + static_cast<std::ptrdiff_t>(std::min(first_row, grid.cells.size())),
                  grid.cells.end(), [&](const auto& row) { return is_word(row[0]); });
  std::vector<std::string> out;
  for (std::size_t r = first_row; r < grid.cells.size(); ++r)
    for (std::size_t c = names ? 1 : 0; c < grid.cells[r].size(); ++c)
      if (const std::string& cell = grid.cells[r][c];
          is_word(cell) && std::find(out.begin(), out.end(), cell) == out.end())
        out.push_back(cell);
  return out;
}

CostMatrix CostMatrix::from_tree(std::string_view text, const std::vector<std::string>& classes, bool inner,
                                 const std::string& origin) {
  const Tree tree = read_tree(text, origin);
  const std::size_t k = classes.size();
  std::vector<std::size_t> node;  // of every prediction
  for (const std::string& name : classes) {
    const auto found = tree.number.find(name);
    if (found == tree.number.end())
      throw Error(
          say("{}: class {} is no node of the tree; => add a line child,parent,length for it", origin, shown(name)));
    node.push_back(found->second);
  }
  std::vector<std::string> predictions;
  if (inner) {
    predictions = classes;
    for (std::size_t v = 0; v < tree.name.size(); ++v)
      if (std::find(node.begin(), node.begin() + static_cast<std::ptrdiff_t>(k), v) ==
          node.begin() + static_cast<std::ptrdiff_t>(k)) {
        predictions.push_back(tree.name[v]);
        node.push_back(v);
      }
  }
  std::vector<double> cost;
  for (std::size_t t = 0; t < k; ++t)
    for (const std::size_t p : node) cost.push_back(tree.way(node[t], p));
  return from_values(std::move(cost), k, "matrix", classes, origin, std::move(predictions));
}

CostMatrix CostMatrix::parse(const std::string& spec, const std::vector<std::string>& classes, bool inner,
                             const ColumnMean& mean) {
  if (inner && !spec.starts_with(tree_prefix))
    throw UsageError(say("--inner is about the nodes of a tree; => use --loss tree:FILE, or leave it out"));
  if (spec.starts_with(tree_prefix)) {
    Input input = Input::open(loss_file(spec));
    const std::string text = read_all(input, largest_cost_file);
    return from_tree(text, classes, inner, input.name());
  }
  if (const auto found = find_loss(spec); found && found->loss->cost != nullptr) {
    if (found->loss->counts_steps) require_grades(spec, classes);
    return named(spec, classes.size());
  }
  std::error_code ignored;
  if (!std::filesystem::exists(spec, ignored))
    throw UsageError(say("unknown loss {}, and there is no file of that name; expected {}|FILE.csv", shown(spec),
                         fmt::join(loss_names(LossFamily::classes), "|")));
  return read(spec, classes, mean);
}

}  // namespace m4n::detail
