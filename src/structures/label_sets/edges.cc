#include "structures/label_sets/edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/message.h"
#include "data/text.h"

namespace m4n::detail {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr const char* separators = ", \t;";
  std::vector<std::string_view> out;
  for (std::size_t at = line.find_first_not_of(separators); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(separators, at), line.size());
    out.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(separators, end);
  }
  return out;
}

}  // namespace

std::vector<GraphEdge> read_label_edges(const std::string& path, const std::vector<std::string>& labels) {
  Input input = Input::open(path);
  LineReader lines(input);
  const auto fail = [&](const std::string& what) {
    throw Error(say("{}: line {}: {}", lines.file(), lines.line_number(), what));
  };
  const auto find = [&](std::string_view word) {
    const auto named = std::find(labels.begin(), labels.end(), word);
    if (named != labels.end()) return static_cast<std::uint32_t>(named - labels.begin());
    const auto number = finite_number(word);
    if (!number || !(*number >= 1) || *number > static_cast<double>(labels.size()) ||
        *number != static_cast<double>(static_cast<std::uint32_t>(*number)))
      fail(fmt::format("{} is no label; expected one of {}, or a number from 1 to {}", shown(word),
                       shown_list(labels, 10), labels.size()));
    return static_cast<std::uint32_t>(*number) - 1;
  };
  std::vector<GraphEdge> out;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> line_of;
  for (std::string_view line; lines.next(line);) {
    const std::string_view text = trim(line);
    if (text.empty() || text.front() == '#') continue;
    const std::vector<std::string_view> words = words_of(text);
    if (words.size() != 2) fail(fmt::format("{} words; expected the two labels that an edge joins", words.size()));
    const std::uint32_t a = find(words[0]), b = find(words[1]);
    if (a == b) fail(fmt::format("{} is joined with itself; an edge joins two labels", shown(words[0])));
    const auto [seen, is_new] = line_of.emplace(std::minmax(a, b), lines.line_number());
    if (!is_new) fail(fmt::format("the edge of line {} once more; remove one of them", seen->second));
    out.push_back({a, b});
  }
  if (out.empty())
    throw Error(say("{}: no edges; expected lines with two labels each (or --edges none)", lines.file()));
  return out;
}

}  // namespace m4n::detail
