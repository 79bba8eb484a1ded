// The readers behind read_table, one a format. They fill a RawTable line by line; beside the result they hold one
// buffer of text.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "data/text.h"
#include "m4n/read.h"

namespace m4n {

// read_table for lines from anywhere.
RawTable read_table(LineReader& lines, const ReadOptions& options, bool target_required, const Model* expected);

RawTable read_csv(LineReader& lines, const ReadOptions& options, bool target_required, const Model* expected);
RawTable read_libsvm(LineReader& lines, const ReadOptions& options, bool target_required, const Model* expected);

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
    first_output = -6                      // and below: the place of one of several outputs, counted downwards
  };                                       // >= 0: the feature's place
  std::vector<std::string> names;          // as in the header
  std::vector<std::ptrdiff_t> role;        // one a column of the file
  std::vector<std::string> feature_names;  // by place
  std::vector<std::string> left_out;       // they would give the label away
  OutputColumns outputs = OutputColumns::one;
  std::vector<std::string> output_names;  // r1, r2, .. or y1, y2, .. in this order; none if `outputs` is one
  std::ptrdiff_t target_column = -1;      // -1: none
};
CsvColumns assign_columns(std::vector<std::string> header, const std::string& file, std::size_t line,
                          const ReadOptions& options, bool target_required, const Model* expected);

// Passes over blank lines at the end of a file and refuses them between examples, where they may be lost examples.
class BlankLines {
 public:
  // True if the line is blank. Throws if it is not, but blank lines came before it and after an example.
  bool pass(std::string_view line, const LineReader& lines, bool examples_before);

 private:
  std::size_t first_blank_ = 0;
};

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

}  // namespace m4n
