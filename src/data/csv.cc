// CSV rows to a dense table, one pass over the text: numbers are read where they stand, and only a cell that is not
// simply a number (quotes, a defect) takes the slow way. Every cell of every row is checked.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <span>

#include "core/message.h"
#include "data/table.h"

namespace m4n::detail {
namespace {

class CsvRows : public TableRows {
 public:
  CsvRows(std::shared_ptr<const CsvColumns> columns, Truth truth, const LinesBefore& before)
      : shared_(std::move(columns)), columns_(*shared_), truth_(truth), before_(before) {
    begin();
  }

  std::unique_ptr<TableRows> piece() const override {
    return std::make_unique<CsvRows>(shared_, truth_, LinesBefore{true, {}});
  }

  void read(LineReader& lines) override {
    lines_ = &lines;
    for (std::string_view line; lines.next(line);)
      if (!before_.blank.pass(line, lines, before_.examples)) {
        add(line);
        before_.examples = examples_ = true;
      }
  }

  bool goes_on_with(const TableRows& piece) const override {
    return before_.blank.waiting() == 0 && (before_.examples || !of(piece).examples_);
  }

  void pass(const TableRows& piece, const LineReader& chunk) override {
    before_.examples = before_.examples || of(piece).examples_;
    before_.blank.follow(of(piece).before_.blank, chunk.lines_before());
  }

  void append(TableRows& piece, const LineReader& chunk) override {
    pass(piece, chunk);
    auto& [rows, cols, values] = static_cast<CsvRows&>(piece).matrix_;
    RawTable& own = static_cast<CsvRows&>(piece).table_;
    for (std::size_t& line : own.line) line += chunk.lines_before();
    matrix_.rows += rows;
    append_moved(matrix_.values, values, chunk);
    append_moved(table_.costs.values.values, own.costs.values.values, chunk);
    append_moved(table_.target, own.target, chunk);
    append_moved(table_.outputs, own.outputs, chunk);
    append_moved(table_.weight, own.weight, chunk);
    append_moved(table_.ids, own.ids, chunk);
    append_moved(table_.folds, own.folds, chunk);
    append_moved(table_.line, own.line, chunk);
  }

  RawTable take(std::size_t lines_before) override {
    table_.costs.values.rows = table_.costs.names.empty() ? 0 : matrix_.rows;
    table_.x = std::move(matrix_);
    if (columns_.target_column >= 0)
      table_.target_name = columns_.names[static_cast<std::size_t>(columns_.target_column)];
    table_.output_names = columns_.output_names;
    for (std::size_t& line : table_.line) line += lines_before;
    RawTable taken = std::move(table_);
    begin();
    return taken;
  }

  RawTable finish(const std::string& file) override {
    if (!before_.examples) throw Error(say("{}: only a header and no examples; expected one line per example", file));
    table_.feature_names = columns_.feature_names;
    table_.left_out = columns_.left_out;
    return take(0);
  }

 private:
  // With no rows.
  void begin() {
    matrix_ = {0, columns_.feature_names.size(), {}};
    table_ = {};
    for (const std::size_t c : columns_.cost_columns) table_.costs.names.push_back(columns_.names[c]);
    table_.costs.values.cols = columns_.cost_columns.size();
  }

  void add(std::string_view line) {
    make_room(matrix_.values, matrix_.cols, *lines_);
    make_room(table_.line, 1, *lines_);
    const std::size_t start = matrix_.values.size();
    matrix_.values.resize(start + matrix_.cols);
    double* const features = matrix_.values.data() + start;
    if (!columns_.cost_columns.empty()) {
      make_room(table_.costs.values.values, columns_.cost_columns.size(), *lines_);
      table_.costs.values.values.resize((matrix_.rows + 1) * columns_.cost_columns.size());
    }
    line_ = line;
    const char* p = line.data();
    const char* const end = p + line.size();
    const std::size_t count = columns_.role.size();
    for (std::size_t c = 0; c < count; ++c) {
      if (c > 0) {
        if (p == end) refuse_length();
        ++p;
      }
      const std::ptrdiff_t role = columns_.role[c];
      if (role >= 0)
        features[role] = number(p, end, c);
      else if (role <= CsvColumns::first_output)
        add_output(static_cast<std::size_t>(CsvColumns::first_output - role), p, end, c);
      else
        add_other(static_cast<CsvColumns::Role>(role), p, end, c);
    }
    if (p != end) refuse_length();
    if (!columns_.cost_columns.empty()) add_costs(features);
    if (columns_.outputs == OutputColumns::ranks && !columns_.output_names.empty()) check_ranks();
    table_.line.push_back(lines_->line_number());
    ++matrix_.rows;
  }

  // The numbers of this row that costs name and that were read for something else: a feature, the weight.
  void add_costs(const double* features) {
    double* const row = table_.costs.values.values.data() + matrix_.rows * columns_.cost_columns.size();
    for (std::size_t place = 0; place < columns_.cost_columns.size(); ++place) {
      const std::ptrdiff_t role = columns_.role[columns_.cost_columns[place]];
      if (role >= 0) row[place] = features[role];
      if (role == CsvColumns::weight) row[place] = table_.weight.back();
    }
  }

  void add_other(CsvColumns::Role role, const char*& p, const char* end, std::size_t c) {
    if (role == CsvColumns::weight) {
      const double weight = number(p, end, c);
      if (!is_weight(weight))
        throw Error(say("{}: weight {}; expected a number above 0, from {} to {}", where(c), weight, smallest_weight,
                        largest_weight));
      make_room(table_.weight, 1, *lines_);
      table_.weight.push_back(weight);
      return;
    }
    if (role == CsvColumns::cost) {
      const auto& all = columns_.cost_columns;
      const auto place = static_cast<std::size_t>(std::find(all.begin(), all.end(), c) - all.begin());
      table_.costs.values.values[matrix_.rows * all.size() + place] = number(p, end, c);
      return;
    }
    const std::string_view cell = text(p, end, c);
    if (role == CsvColumns::id) {
      make_room(table_.ids, 1, *lines_);
      table_.ids.emplace_back(cell);
    } else if (role == CsvColumns::fold) {
      if (cell.empty()) throw Error(say("{}: missing fold; every example needs one", where(c)));
      make_room(table_.folds, 1, *lines_);
      table_.folds.emplace_back(cell);
    } else if (role == CsvColumns::target) {
      const std::string_view label = trim(cell);
      if (label.empty() && truth_ == Truth::required)
        throw Error(say("{}: missing label; expected a class name or a number", where(c)));
      make_room(table_.target, 1, *lines_);
      table_.target.emplace_back(label);
    }
  }

  // One of several outputs: a rank from 1, or a mark 0 or 1.
  void add_output(std::size_t place, const char*& p, const char* end, std::size_t c) {
    const std::size_t count = columns_.output_names.size();
    const bool ranks = columns_.outputs == OutputColumns::ranks;
    if (table_.outputs.size() == matrix_.rows * count) {
      make_room(table_.outputs, count, *lines_);
      table_.outputs.resize(table_.outputs.size() + count);
    }
    const char* after = p;
    const std::string_view cell = trim(text(after, end, c));
    if (ranks && cell.empty())
      throw Error(
          say("{}: missing rank; a ranking must be complete, as an item's score depends on its position among "
              "all of them: fill it in or leave the example out",
              where(c)));
    const double value = number(p, end, c);
    const double low = ranks ? 1 : 0, high = ranks ? static_cast<double>(count) : 1;
    if (!(value >= low && value <= high) || value != std::floor(value))
      throw Error(say("{}: found {}, expected {}", where(c), value,
                      ranks ? fmt::format("a rank from 1 (the best) to {}", count) : "0 or 1"));
    table_.outputs[matrix_.rows * count + place] = static_cast<std::int32_t>(value);
  }

  void check_ranks() {
    const std::size_t count = columns_.output_names.size();
    const auto ranks = std::span(table_.outputs).last(count);
    item_of_.assign(count, 0);
    for (std::size_t j = 0; j < count; ++j) {
      std::size_t& first = item_of_[static_cast<std::size_t>(ranks[j] - 1)];
      if (first > 0)
        throw Error(
            say("{}: line {}: {} and {} both have the rank {}; every rank from 1 to {} must occur once: break "
                "the tie, or leave the example out",
                lines_->file(), lines_->line_number(), columns_.output_names[first - 1], columns_.output_names[j],
                ranks[j], count));
      first = j + 1;
    }
  }

  // The cell at p as a finite number; moves p behind the cell.
  double number(const char*& p, const char* end, std::size_t c) {
    double value = 0;
    const char* const stop = scan_number(p, end, value);
    if (stop != nullptr && (stop == end || *stop == ',') && std::isfinite(value)) {
      p = stop;
      return value;
    }
    const std::string_view cell = trim(text(p, end, c));
    const auto careful = finite_number(cell);
    if (careful) return *careful;
    if (cell.empty()) throw Error(say("{}: missing value; => fill it in or leave the example out", where(c)));
    const bool logical =
        cell == "True" || cell == "False" || cell == "TRUE" || cell == "FALSE" || cell == "true" || cell == "false";
    throw Error(say("{}: found {}, expected a finite number{}", where(c), shown(cell),
                    logical ? "; write true and false as 1 and 0" : ""));
  }

  std::string_view text(const char*& p, const char* end, std::size_t c) {
    const auto cell = next_cell(p, end, storage_);
    if (!cell)
      throw Error(
          say("{}: a quoted cell is not closed, or text follows its closing quote; => write it as \"...\" on one line, "
              "with \"\" for a quote inside",
              where(c)));
    return *cell;
  }

  std::string where(std::size_t c) const {
    return fmt::format("{}: line {}, column {} ({})", lines_->file(), lines_->line_number(), c + 1,
                       shown(columns_.names[c]));
  }

  [[noreturn]] void refuse_length() const {
    throw Error(say("{}: line {}: found {} cells, expected {} as in the header", lines_->file(), lines_->line_number(),
                    split_cells(line_, lines_->file(), lines_->line_number()).size(), columns_.names.size()));
  }

  static const CsvRows& of(const TableRows& piece) { return static_cast<const CsvRows&>(piece); }

  LineReader* lines_ = nullptr;
  std::shared_ptr<const CsvColumns> shared_;  // by all pieces
  const CsvColumns& columns_;
  Truth truth_;
  LinesBefore before_;
  bool examples_ = false;  // of its own
  std::string_view line_;  // being read
  std::string storage_;
  std::vector<std::size_t> item_of_;  // the item of every rank in this row, from 1; 0: none yet
  DenseMatrix matrix_;
  RawTable table_;
};

}  // namespace

std::unique_ptr<TableRows> csv_rows(LineReader& lines, const ReadOptions& options, Truth truth,
                                    const ExpectedColumns* expected) {
  std::string_view header;
  bool found = false;
  while (!found && lines.next(header)) found = !trim(header).empty();
  if (!found) throw Error(say("{}: only blank lines; expected a header and examples", lines.file()));
  CsvColumns columns = assign_columns(split_cells(header, lines.file(), lines.line_number()), lines.file(),
                                      lines.line_number(), options, truth, expected);
  return std::make_unique<CsvRows>(std::make_shared<const CsvColumns>(std::move(columns)), truth, LinesBefore{});
}

}  // namespace m4n::detail
