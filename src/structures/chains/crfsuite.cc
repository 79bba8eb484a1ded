// See crfsuite.h.
#include "structures/chains/crfsuite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/message.h"

namespace m4n::detail {
namespace {}  // namespace

bool CrfsuiteReader::next(CrfsuiteSequence& sequence) {
  sequence.attributes_.clear();
  sequence.label_bytes_.clear();
  sequence.label_end_.clear();
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (trim(line).empty());
  sequence.first_line_ = lines_.line_number();
  do add(line, sequence);
  while (lines_.next(line) && !trim(line).empty());
  return true;
}

void CrfsuiteReader::add(std::string_view line, CrfsuiteSequence& sequence) {
  std::size_t tab = line.find('\t');
  const std::string_view label = line.substr(0, tab);
  if (label.starts_with("@weight")) refuse_weight(label);
  if (!unescape(label, sequence.label_bytes_).empty())
    throw Error(say("{}: label {} has a colon; write \\: for a colon in a label", where(), shown(label)));
  sequence.label_end_.push_back(sequence.label_bytes_.size());
  while (tab != std::string_view::npos && tab + 1 < line.size()) {
    const std::size_t start = tab + 1;
    tab = line.find('\t', start);
    add_attribute(line.substr(start, tab == std::string_view::npos ? tab : tab - start), sequence.attributes_);
  }
  sequence.attributes_.end_token();
}

// Appends the name at the start of a field to `out`; returns what is left, from the colon on.
std::string_view CrfsuiteReader::unescape(std::string_view field, std::string& out) const {
  for (;;) {
    const auto special = std::find_if(field.begin(), field.end(), [](char c) { return c == '\\' || c == ':'; });
    out.append(field.begin(), special);
    if (special == field.end()) return {};
    field.remove_prefix(static_cast<std::size_t>(special - field.begin()));
    if (field.front() == ':') return field;
    if (field.size() < 2 || (field[1] != '\\' && field[1] != ':'))
      throw Error(say("{}: found {}; a backslash stands before a colon or another backslash: write \\\\ for one",
                      where(), shown(field)));
    out += field[1];
    field.remove_prefix(2);
  }
}

void CrfsuiteReader::add_attribute(std::string_view field, AttributeBatch& out) const {
  const std::size_t size_before = out.bytes().size();
  const std::string_view rest = unescape(field, out.bytes());
  if (out.bytes().size() == size_before)
    throw Error(say("{}: found {}, expected an attribute; is there a tab too many?", where(), shown(field)));
  if (std::string_view(out.bytes()).substr(size_before).starts_with("@weight")) refuse_weight(field);
  if (rest.empty()) return out.end_attribute();
  const auto value = finite_number(rest.substr(1));
  if (!value || std::abs(*value) > largest_value)
    throw Error(
        say("{}: found {} with the value {}, expected attribute or attribute:value with a "
            "number of at most {} in size; write \\: for a colon in a name",
            where(), shown(field), shown(rest.substr(1)), largest_value));
  out.end_attribute(*value);
}

void CrfsuiteReader::refuse_weight(std::string_view field) const {
  throw Error(say("{}: found {}; weights of sequences are not supported, leave it out", where(), shown(field)));
}

std::string CrfsuiteReader::where() const { return fmt::format("{}: line {}", lines_.file(), lines_.line_number()); }

}  // namespace m4n::detail
