// LIBSVM lines, `label index:value ...  # comment`, to a compressed sparse table in one pass. Indices count from 1
// and increase strictly within a line; column = index - 1. For prediction the label may be absent, in all lines.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/message.h"
#include "data/table.h"

namespace m4n::detail {
namespace {

constexpr std::uint64_t largest_index = std::uint64_t{1} << 31;
constexpr std::size_t usual_index = 1'000'000;  // up to here no question is asked

class LibsvmRows : public TableRows {
 public:
  LibsvmRows(Truth truth, const ExpectedColumns* expected, const LinesBefore& before)
      : truth_(truth), expected_(expected), before_(before) {}

  std::unique_ptr<TableRows> piece() const override {
    return std::make_unique<LibsvmRows>(truth_, expected_, LinesBefore{true, {}});
  }

  void read(LineReader& lines) override {
    lines_ = &lines;
    for (std::string_view line; lines.next(line);) {
      if (before_.blank.pass(line, lines, before_.examples)) continue;
      const std::size_t hash = line.find('#');
      if (trim(line.substr(0, hash)).empty()) continue;  // a comment alone is no example
      add(line.substr(0, hash));
      before_.examples = examples_ = true;
    }
  }

  bool goes_on_with(const TableRows& piece) const override {
    const bool same = !labelled_ || !of(piece).labelled_ || *labelled_ == *of(piece).labelled_;
    return same && before_.blank.waiting() == 0 && (before_.examples || !of(piece).examples_);
  }

  void pass(const TableRows& piece, const LineReader& chunk) override {
    if (!labelled_) labelled_ = of(piece).labelled_;
    before_.examples = before_.examples || of(piece).examples_;
    before_.blank.follow(of(piece).before_.blank, chunk.lines_before());
  }

  void append(TableRows& piece, const LineReader& chunk) override {
    pass(piece, chunk);
    auto& other = static_cast<LibsvmRows&>(piece);
    for (std::size_t& line : other.table_.line) line += chunk.lines_before();
    append_moved(table_.line, other.table_.line, chunk);
    append_moved(table_.target, other.table_.target, chunk);
    const std::size_t entries = matrix_.value.size();
    make_room(matrix_.row_start, other.matrix_.rows, chunk);
    for (std::size_t r = 1; r <= other.matrix_.rows; ++r)
      matrix_.row_start.push_back(entries + other.matrix_.row_start[r]);
    append_moved(matrix_.value, other.matrix_.value, chunk);
    append_moved(matrix_.column, other.matrix_.column, chunk);
    matrix_.rows += other.matrix_.rows;
    if (other.matrix_.cols <= matrix_.cols) return;
    matrix_.cols = other.matrix_.cols;
    largest_index_line_ = chunk.lines_before() + other.largest_index_line_;
  }

  RawTable take(std::size_t lines_before) override {
    if (expected_ != nullptr) matrix_.cols = expected_->d;
    if (!table_.target.empty()) table_.target_name = "label";
    table_.x = std::exchange(matrix_, {});
    for (std::size_t& line : table_.line) line += lines_before;
    return std::exchange(table_, {});
  }

  RawTable finish(const std::string& file) override {
    if (!before_.examples) throw Error(say("{}: no examples; expected lines label index:value ..", file));
    if (expected_ == nullptr) refuse_lone_index(file);
    if ((expected_ != nullptr ? expected_->d : matrix_.cols) == 0)
      throw Error(say("{}: no index:value pair in the whole file; there is nothing to learn from", file));
    return take(0);
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
        make_room(matrix_.value, 1, *lines_);
        make_room(matrix_.column, 1, *lines_);
      }
      matrix_.column.push_back(static_cast<std::uint32_t>(index - 1));
      matrix_.value.push_back(value);
      previous = index;
      p = stop;
    }
    if (previous > matrix_.cols) {
      matrix_.cols = static_cast<std::size_t>(previous);
      largest_index_line_ = lines_->line_number();
    }
    make_room(matrix_.row_start, 1, *lines_);
    matrix_.row_start.push_back(matrix_.value.size());
    make_room(table_.line, 1, *lines_);
    table_.line.push_back(lines_->line_number());
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
    if (labelled_.value_or(labelled) != labelled)
      throw Error(
          say("{}: the line begins with {} and has {} label, unlike the lines before; expected all lines "
              "with a label or all without",
              where(), shown(word), labelled ? "a" : "no"));
    labelled_ = labelled;
    if (!labelled) return p;
    make_room(table_.target, 1, *lines_);
    table_.target.emplace_back(word);
    return stop;
  }

  std::string where() const { return fmt::format("{}: line {}", lines_->file(), lines_->line_number()); }

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
  void refuse_lone_index(const std::string& file) const {
    const std::size_t entries = matrix_.value.size();
    if (matrix_.cols <= usual_index || matrix_.cols / 1000 <= entries) return;
    throw Error(
        say("{}: line {}: index {}, but the file has only {} {}: the model needs weights for every index up to "
            "the largest; renumber the features from 1",
            file, largest_index_line_, matrix_.cols, entries, entries == 1 ? "entry" : "entries"));
  }

  [[noreturn]] void refuse_index(std::uint64_t index, std::uint64_t previous) const {
    if (index == 0) throw Error(say("{}: index 0; indices count from 1", where()));
    if (index > largest_index) throw Error(say("{}: index {}; expected at most 2^31", where(), index));
    throw Error(
        say("{}: index {} after {}; indices must increase within a line, each only once", where(), index, previous));
  }

  static const LibsvmRows& of(const TableRows& piece) { return static_cast<const LibsvmRows&>(piece); }

  LineReader* lines_ = nullptr;
  Truth truth_;
  const ExpectedColumns* expected_;
  LinesBefore before_;
  bool examples_ = false;         // of its own
  std::optional<bool> labelled_;  // all lines, or none; not known before the first example
  std::size_t largest_index_line_ = 0;
  SparseMatrix matrix_;
  RawTable table_;
};

}  // namespace

std::unique_ptr<TableRows> libsvm_rows(LineReader& lines, const ReadOptions& options, Truth truth,
                                       const ExpectedColumns* expected) {
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
  return std::make_unique<LibsvmRows>(truth, expected, LinesBefore{});
}

}  // namespace m4n::detail
