// The readers behind read_table, one per format. They fill a RawTable line by line; beside the result they hold the
// text and the rows of a few chunks for every thread.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/text.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "m4n/read.h"

namespace m4n::detail {

// A file as read, before labels are given a meaning.
struct RawTable {
  std::string path;
  Features x;
  std::vector<std::string> feature_names;  // empty for LIBSVM
  std::vector<std::string> left_out;       // columns that are no features because they would give the label away
  std::string target_name;                 // the column the labels came from; empty: there is none
  std::vector<std::string> target;         // one cell per example, as written; empty if there is no such column
  std::vector<std::string> output_names;   // r1, r2, .. or y1, y2, .. where these are the output together
  std::vector<std::int32_t> outputs;  // n x output_names: ranks from 1, a permutation in each row; or marks 0 and 1
  CostColumns costs;                  // those asked for that the file has
  std::vector<double> weight;         // empty: no such column
  std::vector<std::string> ids;       // empty: no such column
  std::vector<std::string> folds;     // empty: no such column
  std::vector<std::size_t> line;      // of each example in the file, counted from 1, for messages
};

// The columns that a trained model knows.
struct ExpectedColumns {
  std::vector<std::string> feature_names;  // empty: they have none
  std::size_t d = 0, outputs = 0;          // features; columns r1.. or y1..
  OutputColumns output_columns = OutputColumns::one;
  std::vector<std::string> no_features;  // label, weights, id, fold and ignored columns of the training data
  std::vector<std::string> costs;        // columns whose numbers costs name, which must be there
  std::string target;                    // the label's; empty: the usual names
};

// Plain or gzip, CSV or LIBSVM, found by content unless options say; "-" is standard input.
// Every CSV column that is not the label, the weight, the id or the fold is a feature, except what would give the label
// away: `target` beside `label` when neither is asked for, and y2, y3, .. when y1 is asked for (r1.. likewise). Where
// options.outputs says so, or there is neither label nor target, r1, r2, .. or y1, y2, .. are the output together.
// `expected`: CSV columns are then matched by name (any order, label columns absent or ignored, and so what the model
// remembers as label, weights, id and fold) or, if the model has no names, by count; LIBSVM columns are padded, or
// refused when beyond. Null: training data.
RawTable read_table(LineReader& lines, const ReadOptions& options, Truth truth, const ExpectedColumns* expected);
RawTable read_table(const std::string& path, const ReadOptions& options, Truth truth,
                    const ExpectedColumns* expected = nullptr);

// Passes over blank lines at the end of a file and refuses them between examples, where they may be lost examples.
class BlankLines {
 public:
  // True if the line is blank. Throws if it is not, but blank lines came before it and after an example.
  bool pass(std::string_view line, const LineReader& lines, bool examples_before);
  // The first of the blank lines at the end; 0: there are none.
  std::size_t waiting() const { return first_blank_; }
  // What stands behind `lines` lines that had none waiting has these.
  void follow(const BlankLines& piece, std::size_t lines) {
    first_blank_ = piece.first_blank_ == 0 ? 0 : lines + piece.first_blank_;
  }

 private:
  std::size_t first_blank_ = 0;
};

// Rows of one format. A table is read as a whole, or in pieces, each from a chunk of lines (data/chunks.h).
class TableRows {
 public:
  virtual ~TableRows() = default;
  // A reader of lines from the middle of the file, with the guess that nothing is special there. They are numbered as
  // in the chunk.
  virtual std::unique_ptr<TableRows> piece() const = 0;
  // All lines of the file, or of a chunk.
  virtual void read(LineReader& lines) = 0;
  // Whether the guess was right for a piece that follows what was read so far.
  virtual bool goes_on_with(const TableRows& piece) const = 0;
  // A piece that goes on: what follows it must know, and with append() its rows.
  virtual void pass(const TableRows& piece, const LineReader& chunk) = 0;
  virtual void append(TableRows& piece, const LineReader& chunk) = 0;
  // The rows so far, which leave it; of a piece those behind `lines_before` lines of the file.
  virtual RawTable take(std::size_t lines_before) = 0;
  // At the end of the file. Throws Error unless it can be learnt from, or predicted for.
  virtual RawTable finish(const std::string& file) = 0;
};

// What table readers know of the lines before.
struct LinesBefore {
  bool examples = false;
  BlankLines blank;
};

std::unique_ptr<TableRows> csv_rows(LineReader& lines, const ReadOptions& options, Truth truth,
                                    const ExpectedColumns* expected);
std::unique_ptr<TableRows> libsvm_rows(LineReader& lines, const ReadOptions& options, Truth truth,
                                       const ExpectedColumns* expected);
// Of the format that the file has.
std::unique_ptr<TableRows> table_rows(LineReader& lines, const ReadOptions& options, Truth truth,
                                      const ExpectedColumns* expected);

// A dataset without labels, one row per example; what it holds is moved out of the table.
Dataset unlabelled(RawTable& table);
// The same with M labels per example: ranks as positions from 0, or marks as they are.
Dataset with_outputs(RawTable& table, OutputColumns outputs);

// Weights of examples and classes. Products and sums of such weights stay within the range of a double.
inline constexpr double smallest_weight = 1e-30, largest_weight = 1e30;
inline bool is_weight(double value) { return value >= smallest_weight && value <= largest_weight; }

// What each column of a CSV file is for.
struct CsvColumns {
  enum Role : std::ptrdiff_t {
    target = -1,
    weight = -2,
    id = -3,
    fold = -4,
    ignored = -5,
    cost = -6,                             // and no feature
    first_output = -7                      // and below: the place of one of several outputs, counted downwards
  };                                       // >= 0: the feature's place
  std::vector<std::string> names;          // as in the header
  std::vector<std::ptrdiff_t> role;        // one per column of the file
  std::vector<std::string> feature_names;  // by place
  std::vector<std::string> left_out;       // they would give the label away
  OutputColumns outputs = OutputColumns::one;
  std::vector<std::string> output_names;  // r1, r2, .. or y1, y2, .. in this order; none if `outputs` is one
  std::ptrdiff_t target_column = -1;      // -1: none
  std::vector<std::size_t> cost_columns;  // of the file: features or not
};
CsvColumns assign_columns(std::vector<std::string> header, const std::string& file, std::size_t line,
                          const ReadOptions& options, Truth truth, const ExpectedColumns* expected);

// Room for `extra` more elements: as many as the share of the file read so far promises, but while that is far away
// only a step towards it, to judge again from more text. Arrays end up about as large as their contents, seldom copied.
template <class T>
void make_room(std::vector<T>& values, std::size_t extra, const LineReader& lines) {
  const std::size_t needed = values.size() + extra;
  if (needed <= values.capacity()) return;
  const auto size = static_cast<double>(needed);
  const double fraction = lines.fraction_read();
  const double promised = fraction > 0 ? 1.05 * size / fraction : 1.5 * size;
  const double step = promised > 16 * size ? 8 * size : promised;
  values.reserve(std::max({needed, std::size_t{256}, static_cast<std::size_t>(step)}));
}

// Moves `piece` behind `values`.
template <class T>
void append_moved(std::vector<T>& values, std::vector<T>& piece, const LineReader& lines) {
  make_room(values, piece.size(), lines);
  values.insert(values.end(), std::make_move_iterator(piece.begin()), std::make_move_iterator(piece.end()));
}

// Labels of tokens and nodes as numbers, with or without a list of labels that a model knows.

// Stands for a label that is not known. It is passed over where labels are not needed and refused where they are.
inline constexpr std::string_view unknown_label_name = "_";

// Distinct names to numbers, in order of appearance after those known from the start.
class LabelNumbers {
 public:
  explicit LabelNumbers(std::vector<std::string> known = {});
  std::int32_t number(std::string_view name);  // a new name gets the next number
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
};

// Training: sorts the names, as numbers where all are numbers and by bytes otherwise, and renumbers the labels with
// them. Throws Error with `file` if there are fewer than two.
std::vector<std::string> sort_classes(const LabelNumbers& labels, std::vector<std::int32_t>& label,
                                      const std::string& file);

// The truth with every label that is not below `classes` made unknown.
std::vector<std::int32_t> known_labels(const std::vector<std::int32_t>& truth, std::size_t classes);

}  // namespace m4n::detail
