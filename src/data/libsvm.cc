// LIBSVM lines, `label index:value ...  # comment`, to a compressed sparse table in one pass. Indices count from 1
// and increase strictly within a line; column = index - 1. For prediction the label may be absent, in all lines.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "core/message.h"
#include "data/table.h"

namespace m4n::detail {
namespace {

constexpr std::uint64_t largest_index = std::uint64_t{1} << 31;
constexpr std::size_t usual_index = 1'000'000;  // up to here no question is asked

class LibsvmRows {
 public:
  LibsvmRows(LineReader& lines, Truth truth, const ExpectedColumns* expected)
      : lines_(lines), truth_(truth), expected_(expected) {}

  RawTable read() {
    BlankLines blank_lines;
    for (std::string_view line; lines_.next(line);) {
      if (blank_lines.pass(line, lines_, matrix_.rows > 0)) continue;
      const std::size_t hash = line.find('#');
      if (trim(line.substr(0, hash)).empty()) continue;  // a comment alone is no example
      add(line.substr(0, hash));
    }
    if (matrix_.rows == 0) throw Error(say("{}: no examples; expected lines label index:value ..", lines_.file()));
    if (expected_ != nullptr)
      matrix_.cols = expected_->d;
    else
      refuse_lone_index();
    if (matrix_.cols == 0)
      throw Error(say("{}: no index:value pair in the whole file; there is nothing to learn from", lines_.file()));
    if (!table_.target.empty()) table_.target_name = "label";
    table_.x = std::move(matrix_);
    return std::move(table_);
  }

 private:
  void add(std::string_view line) {
    const char* p = line.data();
    const char* const end = p + line.size();
    p = add_label(p, end);
    std::uint64_t previous = 0;
    for (;;) {
      while (p != end && is_blank(*p)) ++p;
      if (p == end) break;
      const char* const token = p;
      std::uint64_t index = 0;
      for (; p != end && static_cast<unsigned char>(*p - '0') < 10 && index <= largest_index; ++p)
        index = index * 10 + static_cast<unsigned char>(*p - '0');
      double value = 0;
      const char* const stop =
          p != token && p != end && *p == ':' && p + 1 != end ? scan_number(p + 1, end, value) : nullptr;
      if (stop == nullptr || (stop != end && !is_blank(*stop)) || !std::isfinite(value)) refuse(token, end);
      if (index <= previous || index > largest_index) refuse_index(index, previous);
      if (expected_ != nullptr && index > expected_->d)
        throw Error(say(
            "{}: index {}, but the model has {} features; => leave such entries out, or train on data that have them",
            where(), index, expected_->d));
      if (matrix_.value.size() == matrix_.value.capacity()) {
        make_room(matrix_.value, 1, lines_);
        make_room(matrix_.column, 1, lines_);
      }
      matrix_.column.push_back(static_cast<std::uint32_t>(index - 1));
      matrix_.value.push_back(value);
      previous = index;
      p = stop;
    }
    if (previous > matrix_.cols) {
      matrix_.cols = static_cast<std::size_t>(previous);
      largest_index_line_ = lines_.line_number();
    }
    make_room(matrix_.row_start, 1, lines_);
    matrix_.row_start.push_back(matrix_.value.size());
    make_room(table_.line, 1, lines_);
    table_.line.push_back(lines_.line_number());
    ++matrix_.rows;
  }

  // Reads the first word where it is a label; returns where the pairs begin.
  const char* add_label(const char* p, const char* end) {
    while (is_blank(*p)) ++p;  // the line is not blank
    const char* stop = p;
    while (stop != end && !is_blank(*stop)) ++stop;
    const std::string_view word(p, static_cast<std::size_t>(stop - p));
    const bool labelled = word.find(':') == std::string_view::npos;
    if (!labelled && truth_ == Truth::required)
      throw Error(say("{}: the line begins with {}, expected a label (a word or number without a colon)", where(),
                      shown(word)));
    if (labelled && word.find(',') != std::string_view::npos)
      throw Error(
          say("{}: label {} with a comma; multi-label data are not supported by this command, and class "
              "names in LIBSVM files have no commas",
              where(), shown(word)));
    if (matrix_.rows > 0 && labelled == table_.target.empty())
      throw Error(
          say("{}: the line begins with {} and has {} label, unlike the lines before; expected all lines "
              "with a label or all without",
              where(), shown(word), labelled ? "a" : "no"));
    if (!labelled) return p;
    make_room(table_.target, 1, lines_);
    table_.target.emplace_back(word);
    return stop;
  }

  std::string where() const { return fmt::format("{}: line {}", lines_.file(), lines_.line_number()); }

  [[noreturn]] void refuse(const char* token, const char* end) const {
    const char* stop = token;
    while (stop != end && !is_blank(*stop)) ++stop;
    const std::string_view word(token, static_cast<std::size_t>(stop - token));
    if (word.substr(0, 4) == "qid:")
      throw Error(say("{}: found {}; ranking data with query numbers are not supported", where(), shown(word)));
    throw Error(say("{}: found {}, expected index:value with an index of digits from 1 to 2^31 and a finite value",
                    where(), shown(word)));
  }

  // Weights are dense in the features: one index out of the way, an id or a hash, would ask for all the memory.
  void refuse_lone_index() const {
    const std::size_t entries = matrix_.value.size();
    if (matrix_.cols <= usual_index || matrix_.cols / 1000 <= entries) return;
    throw Error(
        say("{}: line {}: index {}, but the file has only {} {}: the model needs weights for every index up to "
            "the largest; renumber the features from 1",
            lines_.file(), largest_index_line_, matrix_.cols, entries, entries == 1 ? "entry" : "entries"));
  }

  [[noreturn]] void refuse_index(std::uint64_t index, std::uint64_t previous) const {
    if (index == 0) throw Error(say("{}: index 0; indices count from 1", where()));
    if (index > largest_index) throw Error(say("{}: index {}; expected at most 2^31", where(), index));
    throw Error(
        say("{}: index {} after {}; indices must increase within a line, each only once", where(), index, previous));
  }

  LineReader& lines_;
  Truth truth_;
  const ExpectedColumns* expected_;
  std::size_t largest_index_line_ = 0;
  SparseMatrix matrix_;
  RawTable table_;
};

}  // namespace

RawTable read_libsvm(LineReader& lines, const ReadOptions& options, Truth truth, const ExpectedColumns* expected) {
  for (const auto& [name, option] : {std::pair{&options.target, "target"},
                                     {&options.weights, "weights"},
                                     {&options.id, "id"},
                                     {&options.fold, "folds"}})
    if (!name->empty())
      throw UsageError(
          say("{}: LIBSVM files have no named columns, so {} {} means nothing here; => leave it out or use CSV",
              lines.file(), detail::option(option), *name));
  if (!options.ignore.empty() || (expected != nullptr && !expected->costs.empty()))
    throw UsageError(say("{}: LIBSVM files have no named columns, so {} cannot be found here; => use CSV", lines.file(),
                         options.ignore.empty() ? say("the costs' {}", shown_list(expected->costs, 5))
                                                : say("--ignore {}", fmt::join(options.ignore, ","))));
  return LibsvmRows(lines, truth, expected).read();
}

}  // namespace m4n::detail
