// The reader of letters (ocr_letters.h): one pass; beside the result one buffer of text.
#include "structures/chains/ocr_letters.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/message.h"
#include "data/table.h"

namespace m4n::detail {
namespace {

constexpr std::int64_t no_next = -1;
constexpr std::size_t columns_before_pixels = 6;
constexpr double largest_pixel = 1e6;  // squares of their products still leave digits for a certificate

class OcrRows {
 public:
  OcrRows(LineReader& lines, std::vector<std::string> classes, std::size_t pixels, Truth truth)
      : lines_(lines), labels_(std::move(classes)), truth_(truth) {
    matrix_.cols = pixels;
  }

  OcrWords read(bool training) {
    BlankLines blank_lines;
    const std::size_t classes = labels_.names().size();
    for (std::string_view line; lines_.next(line);)
      if (!blank_lines.pass(line, lines_, matrix_.rows > 0)) add(line);
    if (matrix_.rows == 0) throw Error(say("{}: no letters; expected one per line", lines_.file()));
    if (last_.next_id != no_next)
      throw Error(say("{}: the file ends within a word: letter {} on line {} says that {} follows", lines_.file(),
                      last_.id, lines_.line_number(), last_.next_id));
    word_start_.push_back(matrix_.rows);
    Examples& words = result_.words;
    Dataset& data = words.data;
    data.x = std::move(matrix_);
    data.feature_rows = data.labels = Groups(std::move(word_start_));
    if (training) {
      words.names = sort_classes(labels_, words.truth, lines_.file());
      data.class_names = words.names;
      data.label = words.truth;
    } else {
      words.names = labels_.names();
      data.class_names.assign(words.names.begin(), words.names.begin() + static_cast<std::ptrdiff_t>(classes));
      data.label = known_labels(words.truth, classes);
    }
    return std::move(result_);
  }

 private:
  struct Letter {
    std::int64_t id = 0, next_id = no_next, word = 0, position = 0;
  };

  void add(std::string_view line) {
    if (!line.empty() && line.back() == '\t') line.remove_suffix(1);
    const char* p = line.data();
    const char* const end = p + line.size();
    line_ = line;
    check_length();
    Letter letter;
    letter.id = integer(next_field(p, end), 1, "id");
    const std::string_view name = next_field(p, end);
    letter.next_id = integer(next_field(p, end), 3, "next_id");
    letter.word = integer(next_field(p, end), 4, "word_id");
    letter.position = integer(next_field(p, end), 5, "position");
    const std::string_view fold = next_field(p, end);
    if (matrix_.rows == 0 || last_.next_id == no_next)
      start_word(letter, fold);
    else
      check_same_word(letter, fold);
    add_label(name);
    add_pixels(p, end);
    last_ = letter;
    ++matrix_.rows;
  }

  void start_word(const Letter& letter, std::string_view fold) {
    if (matrix_.rows > 0 && letter.word == last_.word && letter.position == last_.position + 1)
      throw Error(
          say("{}: letter {} goes on with word {} (position {} after {}), but next_id {} on the line "
              "before ends that word",
              where(), letter.id, letter.word, letter.position, last_.position, no_next));
    if (fold.empty() || fold.find(' ') != std::string_view::npos)
      throw Error(say("{}, column 6 (fold): found {}, expected one word or number", where(), shown(fold)));
    word_start_.push_back(matrix_.rows);
    result_.folds.emplace_back(fold);
  }

  void check_same_word(const Letter& letter, std::string_view fold) const {
    if (letter.id != last_.next_id)
      throw Error(
          say("{}: letter {}, but the line before says that letter {} follows; => keep the letters of a word together "
              "and in order, with next_id -1 at its end",
              where(), letter.id, last_.next_id));
    if (letter.word != last_.word)
      throw Error(say("{}: word_id {} after {} within a word; next_id is -1 at the end of a word", where(), letter.word,
                      last_.word));
    if (letter.position <= last_.position)
      throw Error(
          say("{}: position {} after {}; positions increase within a word", where(), letter.position, last_.position));
    if (fold != result_.folds.back())
      throw Error(
          say("{}: fold {} after {}; a word is in one fold", where(), shown(fold), shown(result_.folds.back())));
  }

  void add_label(std::string_view name) {
    if (name.empty() || name.find(' ') != std::string_view::npos)
      throw Error(say("{}, column 2 (letter): found {}, expected one letter or word", where(), shown(name)));
    if (name == unknown_label_name && truth_ == Truth::required)
      throw Error(say("{}, column 2 (letter): found {}, a label that is not known; => leave the word out", where(),
                      shown(name)));
    make_room(result_.words.truth, 1, lines_);
    result_.words.truth.push_back(name == unknown_label_name ? unknown_label : labels_.number(name));
  }

  void add_pixels(const char* p, const char* end) {
    const std::size_t start = matrix_.values.size();
    make_room(matrix_.values, matrix_.cols, lines_);
    matrix_.values.resize(start + matrix_.cols);
    double* const row = matrix_.values.data() + start;
    for (std::size_t c = 0; c < matrix_.cols; ++c) {
      const char* const stop = scan_number(p, end, row[c]);
      if (stop == nullptr || (stop != end && *stop != '\t') || !(std::abs(row[c]) <= largest_pixel))
        throw Error(say("{}, column {} (pixel {}): found {}, expected a number of at most {} in size", where(),
                        columns_before_pixels + c + 1, c + 1, shown(next_field(p, end)), largest_pixel));
      p = stop == end ? end : stop + 1;
    }
  }

  // The number of columns must be that of the first line.
  void check_length() {
    const auto found = static_cast<std::size_t>(std::count(line_.begin(), line_.end(), '\t')) + 1;
    if (matrix_.cols == 0 && found > columns_before_pixels) matrix_.cols = found - columns_before_pixels;
    if (matrix_.cols > 0 && found == columns_before_pixels + matrix_.cols) return;
    const std::string expected =
        matrix_.cols > 0 ? fmt::format("{}: {} and one for each of {} pixels", columns_before_pixels + matrix_.cols,
                                       columns_before_pixels, matrix_.cols)
                         : "at least 7: id, letter, next_id, word_id, position, fold and pixels";
    throw Error(say("{}: found {} column{}, expected {}; columns are separated by single tabs", where(), found,
                    found == 1 ? "" : "s", expected));
  }

  // The field at p; moves p behind its tab.
  static std::string_view next_field(const char*& p, const char* end) {
    const char* const start = p;
    p = std::find(p, end, '\t');
    const std::string_view field(start, static_cast<std::size_t>(p - start));
    if (p != end) ++p;
    return field;
  }

  std::int64_t integer(std::string_view field, int column, const char* name) const {
    std::int64_t value = 0;
    const char* const end = field.data() + field.size();
    const auto [stop, status] = std::from_chars(field.data(), end, value);
    constexpr std::int64_t highest = std::int64_t{1} << 53;
    const std::int64_t lowest = column == 3 ? no_next : 0;
    if (status != std::errc{} || stop != end || value < lowest || value > highest)
      throw Error(say("{}, column {} ({}): found {}, expected a whole number from {} to 2^53", where(), column, name,
                      shown(field), lowest));
    return value;
  }

  std::string where() const { return fmt::format("{}: line {}", lines_.file(), lines_.line_number()); }

  LineReader& lines_;
  LabelNumbers labels_;
  Truth truth_;
  std::string_view line_;  // being read
  Letter last_;
  DenseMatrix matrix_;
  std::vector<std::size_t> word_start_;
  OcrWords result_;
};

}  // namespace

OcrWords read_ocr_letters(LineReader& lines) { return OcrRows(lines, {}, 0, Truth::required).read(true); }

OcrWords read_ocr_letters(LineReader& lines, const std::vector<std::string>& classes, std::size_t pixels, Truth truth) {
  return OcrRows(lines, classes, pixels, truth).read(false);
}

}  // namespace m4n::detail
