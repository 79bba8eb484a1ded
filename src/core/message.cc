// Messages put together and written out, with options named as the caller calls them (message.h).
#include "core/message.h"

#include <utility>

namespace m4n {

void Message::add_piece(bool option, std::string text) {
  if (!option && !pieces_.empty() && !pieces_.back().option && pieces_.back().remedy == in_remedy_)
    pieces_.back().text += text;
  else
    pieces_.push_back({option, std::move(text), in_remedy_});
}

Message& Message::add(std::string text) {
  add_piece(false, std::move(text));
  return *this;
}

Message& Message::add_option(std::string name) {
  add_piece(true, std::move(name));
  return *this;
}

Message& Message::add(const Message& other) {
  for (const Piece& piece : other.pieces_) {
    if (piece.remedy) begin_remedy();
    add_piece(piece.option, piece.text);
  }
  return *this;
}

Message& Message::begin_remedy() {
  in_remedy_ = true;
  return *this;
}

std::string Message::text(const OptionName& name_of) const {
  std::string out;
  for (const Piece& piece : pieces_) out += piece.option ? name_of(piece.text) : piece.text;
  return out;
}

std::string Message::text() const {
  return text([](std::string_view name) { return fmt::format("--{}", name); });
}

Error::Error(Message message, Details details)
    : std::runtime_error(message.text()), message_(std::move(message)), details_(std::move(details)) {
  if (!details_.remedy.empty()) return;
  Message remedy;
  for (const Message::Piece& piece : message_.pieces())
    if (piece.remedy) piece.option ? remedy.add_option(piece.text) : remedy.add(piece.text);
  details_.remedy = remedy.text();
}

}  // namespace m4n

namespace m4n::detail {
namespace {

constexpr std::string_view remedy_mark = "=> ";

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Whether a word may start behind this character; quotes are for what is the user's.
bool starts_word(char before) { return before == ' ' || before == '(' || before == '\n'; }

// The length of the --name at the start of `text`, or 0.
std::size_t option_length(std::string_view text) {
  if (!text.starts_with("--") || text.size() < 3 || !is_letter(text[2])) return 0;
  std::size_t end = 3;
  while (end < text.size() && (is_letter(text[end]) || text[end] == '-')) ++end;
  while (text[end - 1] == '-') --end;
  return end;
}

}  // namespace

Message option(std::string name) {
  Message out;
  return out.add_option(std::move(name));
}

Message message::format(std::string_view format, fmt::format_args args, std::span<const Message* const> parts) {
  Message out;
  std::string text;
  std::size_t argument = 0;
  for (std::size_t at = 0; at < format.size();) {
    const std::string_view rest = format.substr(at);
    const std::size_t length = at == 0 || starts_word(format[at - 1]) ? option_length(rest) : 0;
    if (length > 0) {
      out.add(std::exchange(text, {}));
      out.add_option(std::string(rest.substr(2, length - 2)));
      at += length;
    } else if (rest.starts_with(remedy_mark)) {
      out.add(std::exchange(text, {}));
      out.begin_remedy();
      at += remedy_mark.size();
    } else if (rest.starts_with("{{") || rest.starts_with("}}")) {
      text += rest[0];
      at += 2;
    } else if (rest[0] == '{') {
      const std::size_t end = rest.find('}');
      if (parts[argument] != nullptr) {
        out.add(std::exchange(text, {}));
        out.add(*parts[argument]);
      } else {
        // {:spec} with the number of the argument in it.
        text += fmt::vformat(fmt::format("{{{}{}}}", argument, rest.substr(1, end - 1)), args);
      }
      ++argument;
      at += end + 1;
    } else {
      text += rest[0];
      ++at;
    }
  }
  return out.add(std::move(text));
}

void refuse_value(std::string option, std::string value, const Message& expected) {
  const Message text = say("{}: found '{}', expected {}", detail::option(option), value, expected);
  throw UsageError(text, {std::move(option), std::move(value), expected.text(), {}});
}

}  // namespace m4n::detail
