// The reader and writer of matchings as text (matching_text.h).
#include "structures/permutations/matching_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "core/message.h"
#include "data/table.h"
#include "m4n/read.h"

namespace m4n::detail {
namespace {

constexpr std::string_view names_word = "features", example_word = "matching";

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The next word at the front of `text`, which loses it; empty: there is none.
std::string_view next_word(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  const auto length = static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_blank) - text.begin());
  const std::string_view word = text.substr(0, length);
  text.remove_prefix(length);
  return word;
}

std::size_t count_words(std::string_view text) {
  std::size_t count = 0;
  while (!next_word(text).empty()) ++count;
  return count;
}

std::optional<std::size_t> whole_number(std::string_view word) {
  std::size_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, status] = std::from_chars(word.data(), end, value);
  if (status != std::errc{} || stop != end) return std::nullopt;
  return value;
}

bool means_nothing(std::string_view line) {
  const std::string_view text = trim(line);
  return text.empty() || text.front() == '#';
}

class MatchingRows {
 public:
  MatchingRows(LineReader& lines, Truth partners) : lines_(lines), required_(partners == Truth::required) {}

  void expect(const std::vector<std::string>& names, std::size_t features) {
    model_names_ = &names;
    matrix_.cols = features;
    expected_by_ = "as in training";
  }

  Dataset read() {
    for (std::string_view line; lines_.next(line);)
      if (!means_nothing(line)) add(line);
    if (size_ == 0)
      throw Error(say("{}: no matchings; expected a line 'matching M p_1 ... p_M' and its M x M lines of pairs",
                      lines_.file()));
    if (row_ < size_)
      throw Error(say("{}: the file ends within {}, after {} of {} pairs; it was cut off, or M is wrong", lines_.file(),
                      example(), row_ * size_ + column_, size_ * size_));
    data_.x = std::move(matrix_);
    data_.feature_rows = Groups(std::move(pair_start_));
    data_.labels = Groups(std::move(point_start_));
    return std::move(data_);
  }

 private:
  void add(std::string_view line) {
    if (row_ < size_) return add_pair(line);
    std::string_view rest = line;
    const std::string_view word = next_word(rest);
    if (word == example_word) return start_example(rest);
    if (word == names_word && size_ == 0 && !named_) return take_names(rest);
    if (size_ == 0)
      throw Error(say("{}: found {}, expected 'matching M p_1 ... p_M'{}", where(), shown(word),
                      named_ ? "" : " or 'features NAME NAME ...'"));
    if (word == names_word)
      throw Error(say("{}: found 'features' behind a matching; it stands once, before all else", where()));
    throw Error(
        say("{}: found {}, expected the next 'matching M p_1 ... p_M' or the end: {} has all its {}; => remove the "
            "line, or correct M",
            where(), shown(word), example(), counted(size_ * size_, "pair")));
  }

  void take_names(std::string_view rest) {
    named_ = true;
    std::vector<std::string>& names = data_.feature_names;
    std::unordered_map<std::string, std::size_t> place;
    for (std::string_view word; !(word = next_word(rest)).empty();) {
      if (!place.emplace(word, names.size()).second)
        throw Error(say("{}: the feature {} occurs twice; every name stands for one", where(), shown(word)));
      names.emplace_back(word);
    }
    if (names.empty()) throw Error(say("{}: no names behind 'features'; => name them, or leave the line out", where()));
    if (model_names_ != nullptr && names.size() != matrix_.cols)
      throw Error(say("{}: found the names of {}, expected {} {}", where(), counted(names.size(), "feature"),
                      matrix_.cols, expected_by_));
    if (model_names_ != nullptr && !model_names_->empty()) {
      place_.resize(names.size());
      for (std::size_t c = 0; c < names.size(); ++c) {
        const auto found = place.find((*model_names_)[c]);
        if (found == place.end())
          throw Error(say("{}: no feature {}, which the model was trained on; the features are {}", where(),
                          shown((*model_names_)[c]), shown_list(names, 8)));
        place_[found->second] = c;
      }
      names = *model_names_;
    }
    matrix_.cols = place.size();
    if (expected_by_.empty()) expected_by_ = fmt::format("as line {} names", lines_.line_number());
  }

  void start_example(std::string_view rest) {
    const std::string_view word = next_word(rest);
    const auto size = whole_number(word);
    if (!size || *size == 0 || *size > largest_matching)
      throw Error(say("{}: found {} behind 'matching', expected the number of points a side, from 1 to {}", where(),
                      shown(word), largest_matching));
    const std::size_t partners = count_words(rest);
    if (partners != *size && partners != 0)
      throw Error(say("{}: found {}, expected {}: one for every point of the first set{}", where(),
                      counted(partners, "partner"), *size, required_ ? "" : ", or none where they are not known"));
    if (partners == 0 && required_)
      throw Error(
          say("{}: no partners, which are needed here: write 'matching {} p_1 ... p_{}', point i "
              "belonging to point p_i, or leave the example out",
              where(), *size, *size));
    make_room(data_.label, *size, lines_);
    if (partners == 0)
      data_.label.insert(data_.label.end(), *size, unknown_label);
    else
      add_partners(rest, *size);
    size_ = *size;
    row_ = column_ = 0;
    line_of_example_ = lines_.line_number();
    pair_start_.push_back(pair_start_.back() + size_ * size_);
    point_start_.push_back(point_start_.back() + size_);
  }

  void add_partners(std::string_view rest, std::size_t size) {
    taken_by_.assign(size, 0);
    for (std::size_t i = 1; i <= size; ++i) {
      const std::string_view word = next_word(rest);
      const auto partner = whole_number(word);
      if (!partner || *partner == 0 || *partner > size)
        throw Error(say("{}: the partner of point {} is {}, expected a whole number from 1 to {}", where(), i,
                        shown(word), size));
      std::size_t& owner = taken_by_[*partner - 1];
      if (owner != 0)
        throw Error(
            say("{}: points {} and {} have the same partner {}; partners must be a permutation of 1 "
                "to {}, each once",
                where(), owner, i, *partner, size));
      owner = i;
      data_.label.push_back(static_cast<std::int32_t>(*partner - 1));
    }
  }

  void add_pair(std::string_view line) {
    const char* p = line.data();
    const char* const end = p + line.size();
    if (!take_index(p, end, row_ + 1) || !take_index(p, end, column_ + 1)) refuse_pair(line);
    if (matrix_.cols == 0) count_features({p, static_cast<std::size_t>(end - p)});
    const std::size_t start = matrix_.values.size();
    make_room(matrix_.values, matrix_.cols, lines_);
    matrix_.values.resize(start + matrix_.cols);
    double* const row = matrix_.values.data() + start;
    for (std::size_t c = 0; c < matrix_.cols; ++c) {
      while (p != end && is_blank(*p)) ++p;
      if (p == end) refuse_length(line);
      double& value = row[place_.empty() ? c : place_[c]];
      const char* const stop = scan_number(p, end, value);
      if (stop == nullptr || (stop != end && !is_blank(*stop)) || !(std::abs(value) <= largest_value))
        refuse_value({p, static_cast<std::size_t>(end - p)}, c);
      p = stop;
    }
    while (p != end && is_blank(*p)) ++p;
    if (p != end) refuse_length(line);
    ++matrix_.rows;
    if (++column_ < size_) return;
    column_ = 0;
    ++row_;
  }

  // Whether the number at p, which is moved behind it, is this one.
  static bool take_index(const char*& p, const char* end, std::size_t expected) {
    while (p != end && is_blank(*p)) ++p;
    std::size_t value = 0;
    const auto [stop, status] = std::from_chars(p, end, value);
    p = stop;
    return status == std::errc{} && value == expected && (p == end || is_blank(*p));
  }

  void count_features(std::string_view values) {
    matrix_.cols = count_words(values);
    if (matrix_.cols == 0)
      throw Error(say("{}: pair {} {} has no features; expected at least one number behind it", where(), row_ + 1,
                      column_ + 1));
    expected_by_ = fmt::format("as on line {}", lines_.line_number());
  }

  [[noreturn]] void refuse_pair(std::string_view line) const {
    const std::string pair = fmt::format("pair {} {}", row_ + 1, column_ + 1);
    const std::string order = fmt::format("{} has {}, in the order 1 1, 1 2, .. {} {}", example(),
                                          counted(size_ * size_, "pair"), size_, size_);
    std::string_view rest = line;
    const std::string_view first = next_word(rest), second = next_word(rest);
    if (first == example_word || first == names_word)
      throw Error(say("{}: found {}, expected {}: {}; => add the pairs that are missing, or correct M", where(),
                      shown(first), pair, order));
    const auto length = static_cast<std::size_t>(second.data() + second.size() - first.data());
    throw Error(say("{}: found {}, expected {}: {}", where(), shown({first.data(), length}), pair, order));
  }

  [[noreturn]] void refuse_length(std::string_view line) const {
    throw Error(say("{}: pair {} {} has {}, expected {} {}; every pair has the same ones", where(), row_ + 1,
                    column_ + 1, counted(count_words(line) - 2, "feature"), matrix_.cols, expected_by_));
  }

  [[noreturn]] void refuse_value(std::string_view rest, std::size_t c) const {
    throw Error(say("{}: feature {} of pair {} {}: found {}, expected a number of at most {:g} in size", where(), c + 1,
                    row_ + 1, column_ + 1, shown(next_word(rest)), largest_value));
  }

  std::string example() const { return fmt::format("the matching of line {}", line_of_example_); }
  std::string where() const { return fmt::format("{}: line {}", lines_.file(), lines_.line_number()); }

  LineReader& lines_;
  const bool required_;
  const std::vector<std::string>* model_names_ = nullptr;
  std::string expected_by_;         // who says how many features there are
  bool named_ = false;              // the file names them
  std::vector<std::size_t> place_;  // of every feature of the file in the row; empty: as they come
  std::size_t size_ = 0, row_ = 0, column_ = 0, line_of_example_ = 0;  // the present example, the pair that comes next
  std::vector<std::size_t> taken_by_;                                  // whose partner a point is, from 1; 0: nobody's
  std::vector<std::size_t> pair_start_{0}, point_start_{0};
  DenseMatrix matrix_;
  Dataset data_;
};

}  // namespace

Dataset read_matchings(LineReader& lines) { return MatchingRows(lines, Truth::required).read(); }

Dataset read_matchings(LineReader& lines, const std::vector<std::string>& feature_names, std::size_t features,
                       Truth partners) {
  MatchingRows rows(lines, partners);
  rows.expect(feature_names, features);
  return rows.read();
}

bool looks_like_matchings(std::string_view head) {
  bool named = false;
  while (!head.empty()) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(head.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (means_nothing(line)) continue;
    const std::string_view word = next_word(line);
    if (word == example_word) return whole_number(next_word(line)).has_value();
    if (word != names_word || named) return false;
    named = true;
  }
  return named;
}

void append_feature_line(const std::vector<std::string>& feature_names, std::string& text) {
  if (feature_names.empty()) return;
  const auto separates = [](char c) { return static_cast<unsigned char>(c) <= ' '; };  // blanks, ends of lines
  for (const std::string& name : feature_names)
    if (name.empty() || std::any_of(name.begin(), name.end(), separates))
      throw Error(say("the feature {} cannot be written: names in a file of matchings are single words", shown(name)));
  text += names_word;
  for (const std::string& name : feature_names) text += " " + name;
  text += '\n';
}

void append_matching(const Dataset& data, std::size_t example, std::string& text) {
  const DenseView x = std::get<DenseMatrix>(data.x).view();
  const std::size_t first = data.labels.begin(example), size = data.labels.end(example) - first;
  const std::size_t pairs = data.feature_rows.begin(example);
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{} {}", example_word, size);
  for (std::size_t i = 0; i < size && data.label[first] != unknown_label; ++i)
    fmt::format_to(out, " {}", data.label[first + i] + 1);
  text += '\n';
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      fmt::format_to(out, "{} {}", i + 1, j + 1);
      for (const double value : x.row(pairs + i * size + j)) fmt::format_to(out, " {}", value);
      text += '\n';
    }
}

}  // namespace m4n::detail
