// See text.h. The two loops that matter for speed are scan_number (one pass over the digits, exact without a table
// search whenever the decimal has at most 15 significant digits and 22 decimals) and LineReader::next (memchr).
#include "data/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/message.h"

namespace m4n::detail {
namespace {

// Powers of ten that a double holds exactly.
constexpr std::array<double, 23> exact_power_of_ten = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t largest_exact_integer = std::uint64_t{1} << 53;
constexpr std::ptrdiff_t digits_that_fit = 19;  // 10^19 - 1 < 2^64

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

namespace {

// How many bytes at the start of `text` a terminal must not see as they are: a control character, or a mark of
// direction (U+202A to U+202E, U+2066 to U+2069).
std::size_t unprintable(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;
  const bool direction = (byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
                         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
  return byte(0) == 0xe2 && direction ? 3 : 0;
}

void append_printable(std::string_view text, bool lines, std::string& out) {
  while (!text.empty()) {
    std::size_t escaped = unprintable(text);
    if (lines && (text[0] == '\n' || text[0] == '\t')) escaped = 0;
    if (escaped == 0) out += text[0];
    for (std::size_t i = 0; i < escaped; ++i) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    text.remove_prefix(std::max<std::size_t>(escaped, 1));
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  append_printable(text, true, out);
  return out;
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string result = "'";
  append_printable(text.substr(0, most), false, result);
  return result + (text.size() > most ? "...'" : "'");
}

std::string shown_list(const std::vector<std::string>& names, std::size_t most) {
  std::string result;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) result += (i == 0 ? "" : ", ") + shown(names[i]);
  if (names.size() > most) result += fmt::format(" and {} more", names.size() - most);
  return result;
}

const char* scan_number(const char* begin, const char* end, double& value) {
  const char* p = begin;
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char* const first = p;
  std::uint64_t mantissa = 0;  // wraps around where there are too many digits; then it is not used
  const auto take_digits = [&] {
    const char* const start = p;
    for (; p != end && static_cast<unsigned char>(*p - '0') < 10; ++p)
      mantissa = mantissa * 10 + static_cast<unsigned char>(*p - '0');
    return p - start;
  };
  std::ptrdiff_t digits = take_digits(), decimals = 0;
  if (p != end && *p == '.') {
    ++p;
    decimals = take_digits();
    digits += decimals;
  }
  const bool exponent = p != end && (*p == 'e' || *p == 'E');
  if (digits > 0 && digits <= digits_that_fit && mantissa <= largest_exact_integer && !exponent) {
    // Both are exact, so the one division rounds correctly.
    const double magnitude = static_cast<double>(mantissa) / exact_power_of_ten[static_cast<std::size_t>(decimals)];
    value = negative ? -magnitude : magnitude;
    return p;
  }
  if (first == end || *first == '-' || *first == '+') return nullptr;
  double magnitude = 0;
  const auto [stop, status] = std::from_chars(first, end, magnitude);
  if (status != std::errc{}) return nullptr;
  value = negative ? -magnitude : magnitude;
  return stop;
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  if (scan_number(text.data(), end, value) != end || text.empty() || !std::isfinite(value)) return std::nullopt;
  return value;
}

LineReader::LineReader(Input& input, const Chunking& chunking)
    : input_(&input), chunking_(chunking), buffer_(std::size_t{1} << 16) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  while (end_ < byte_order_mark.size() && refill()) {
  }
  if (std::string_view(buffer_.data(), end_).starts_with(byte_order_mark)) begin_ = byte_order_mark.size();
}

// Reads more behind what is left of the buffer, which grows where a line is longer than it.
bool LineReader::refill() {
  if (input_ended_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  return read_behind(buffer_, end_);
}

// Reads more behind the first `size` of the bytes, which hold no whole line where they are full.
bool LineReader::read_behind(std::vector<char>& bytes, std::size_t& size) {
  constexpr std::size_t longest_line = std::size_t{1} << 30;
  if (input_ended_) return false;
  if (size == bytes.size()) {
    if (bytes.size() >= longest_line)
      throw Error(say("{}: line {}: longer than {} bytes; this is no text file of examples", file(), line_number() + 1,
                      longest_line));
    bytes.resize(bytes.size() * 2);
  }
  const std::size_t count = input_->read(bytes.data() + size, bytes.size() - size);
  size += count;
  text_read_ += count;
  input_ended_ = count == 0;
  return count > 0;
}

LineReader LineReader::chunk() const {
  LineReader out(*input_, chunking_, Empty{});
  out.input_ended_ = out.is_chunk_ = true;
  return out;
}

bool LineReader::cut(LineReader& out) {
  if (failure_) std::rethrow_exception(failure_);
  std::vector<char>& bytes = out.buffer_;
  const std::size_t wanted = std::max<std::size_t>(chunking_.bytes, 1), waiting = end_ - begin_;
  out.rewind();
  out.end_ = out.lines_before_ = 0;
  out.placed_ = false;
  out.fraction_from_ = fraction_read();
  const auto newline_from = [&](std::size_t offset) -> const char* {
    const void* at = offset < waiting ? std::memchr(buffer_.data() + begin_ + offset, '\n', waiting - offset) : nullptr;
    return static_cast<const char*>(at);
  };
  if (const char* const newline = newline_from(wanted - 1)) {
    out.end_ = static_cast<std::size_t>(newline + 1 - (buffer_.data() + begin_));
    bytes.assign(newline + 1 - out.end_, newline + 1);
    begin_ += out.end_;
    out.fraction_to_ = fraction_read();
    return true;
  }
  // Behind what is waiting more is read, to the wanted size and to the end of a line.
  bytes.resize(std::max({bytes.size(), wanted, waiting + 1}));
  std::memcpy(bytes.data(), buffer_.data() + begin_, waiting);
  begin_ = end_ = 0;
  std::size_t size = waiting;
  const char* last = nullptr;  // newline among what was read
  std::size_t searched = 0;
  const auto find_last = [&] {
    last = static_cast<const char*>(memrchr(bytes.data() + searched, '\n', size - searched));
    searched = size;
  };
  try {
    while (last == nullptr && read_behind(bytes, size))
      if (size >= wanted) find_last();
  } catch (const Error&) {
    failure_ = std::current_exception();
    find_last();
    if (last == nullptr) throw;
  }
  out.end_ = last == nullptr ? size : static_cast<std::size_t>(last + 1 - bytes.data());
  end_ = size - out.end_;
  if (buffer_.size() < end_) buffer_.resize(end_);
  std::memcpy(buffer_.data(), bytes.data() + out.end_, end_);
  out.fraction_to_ = fraction_read();
  return out.end_ > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;  // bytes of the line known to hold no newline
  const char* newline = nullptr;
  while (newline == nullptr) {
    const char* const from = buffer_.data() + begin_ + searched;
    newline = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_ - searched));
    if (newline != nullptr) break;
    searched = end_ - begin_;
    if (!refill()) break;
  }
  if (newline == nullptr && begin_ == end_) return false;
  const char* const start = buffer_.data() + begin_;
  const std::size_t length = newline != nullptr ? static_cast<std::size_t>(newline - start) : end_ - begin_;
  begin_ += length + (newline != nullptr ? 1 : 0);
  ++line_number_;
  line = {start, length};
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

std::string_view LineReader::peek() {
  while (end_ < buffer_.size() && refill()) {
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

bool LineReader::block_waits() const {
  if (input_ended_) return false;
  std::string_view text(buffer_.data() + begin_, end_ - begin_);
  for (bool words = false;;) {
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return true;
    std::string_view line = text.substr(0, newline);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool blank = trim(line).empty();
    if (blank && words) return false;
    words = words || !blank;
    text.remove_prefix(newline + 1);
  }
}

double LineReader::fraction_read() const {
  if (is_chunk_) {
    const double own = end_ == 0 ? 1 : static_cast<double>(begin_) / static_cast<double>(end_);
    return placed_ ? fraction_from_ + own * (fraction_to_ - fraction_from_) : own;
  }
  if (text_read_ == 0) return 0;
  return input_->fraction_read() * static_cast<double>(text_read_ - (end_ - begin_)) / static_cast<double>(text_read_);
}

std::optional<std::string_view> next_cell(const char*& p, const char* end, std::string& storage) {
  while (p != end && is_blank(*p)) ++p;
  const auto find = [end](const char* from, char c) {
    const void* at = std::memchr(from, c, static_cast<std::size_t>(end - from));
    return at != nullptr ? static_cast<const char*>(at) : end;
  };
  const char* const start = p;
  if (p == end || *p != '"') {
    p = find(p, ',');
    return trim({start, static_cast<std::size_t>(p - start)});
  }
  storage.clear();
  const char* from = ++p;
  std::string_view cell;
  for (bool whole = true;;) {
    const char* const quote = find(p, '"');
    if (quote == end) return std::nullopt;
    const bool doubled = quote + 1 != end && quote[1] == '"';
    if (!doubled && whole) {
      cell = {from, static_cast<std::size_t>(quote - from)};
    } else {
      storage.append(p, quote + (doubled ? 1 : 0));
      cell = storage;
    }
    whole = whole && !doubled;
    p = quote + (doubled ? 2 : 1);
    if (!doubled) break;
  }
  while (p != end && is_blank(*p)) ++p;
  if (p != end && *p != ',') return std::nullopt;
  return cell;
}

std::vector<std::string> split_cells(std::string_view line, const std::string& file, std::size_t line_number) {
  std::vector<std::string> cells;
  std::string storage;
  const char* p = line.data();
  const char* const end = p + line.size();
  for (;; ++p) {
    const auto cell = next_cell(p, end, storage);
    if (!cell)
      throw Error(
          say("{}: line {}, column {}: a quoted cell is not closed, or text follows its closing quote; => write it as "
              "\"...\" on one line, with \"\" for a quote inside",
              file, line_number, cells.size() + 1));
    cells.emplace_back(*cell);
    if (p == end) return cells;
  }
}

ClassIndex::ClassIndex(const std::vector<std::string>& classes) {
  for (std::size_t c = 0; c < classes.size(); ++c) {
    by_name_.emplace(classes[c], c);
    if (const auto number = finite_number(classes[c])) by_number_.emplace(*number + 0.0, c);  // -0 + 0 = 0
  }
  if (by_number_.size() != classes.size()) by_number_.clear();
}

std::optional<std::size_t> ClassIndex::find(std::string_view name) const {
  if (const auto found = by_name_.find(std::string(name)); found != by_name_.end()) return found->second;
  if (by_number_.empty()) return std::nullopt;
  const auto number = finite_number(name);
  const auto found = number ? by_number_.find(*number + 0.0) : by_number_.end();
  return found != by_number_.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace m4n::detail
