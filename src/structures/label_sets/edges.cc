// Edges between labels: read from a file, or the tree found in the data (edges.h).
#include "structures/label_sets/edges.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
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

namespace {

// sum c log c, with 0 log 0 = 0.
double sum_of_logs(std::span<const double> counts) {
  double sum = 0;
  for (const double c : counts)
    if (c > 0) sum += c * std::log(c);
  return sum;
}

}  // namespace

LabelCounts::LabelCounts(std::span<const std::int32_t> labels, std::span<const std::uint32_t> counts)
    : labels_(labels), counts_(counts), rows_(counts.empty() ? 0 : labels.size() / counts.size()) {
  const std::size_t parts = counts.size();
  if (rows_ == 0 || labels.size() != rows_ * parts)
    throw Error(
        say("{} cannot be rows of {}; expected at least one whole row", counted(labels.size(), "label"), parts));
  for (std::size_t e = 0; e < labels.size(); ++e) {
    const std::size_t m = e % parts;
    if (labels[e] < 0 || static_cast<std::uint32_t>(labels[e]) >= counts[m])
      throw Error(say("row {}, label {}: found {}, expected a number from 0 to {}", e / parts, m, labels[e],
                      static_cast<std::int64_t>(counts[m]) - 1));
  }
  for (std::size_t m = 0; m < parts; ++m) {
    std::vector<double> count(counts[m]);
    for (std::size_t i = 0; i < rows_; ++i) ++count[static_cast<std::size_t>(labels[i * parts + m])];
    negative_entropy_.push_back(sum_of_logs(count));
  }
}

double LabelCounts::mutual_information(std::size_t u, std::size_t v) const {
  const std::size_t parts = counts_.size();
  std::vector<double> pair(static_cast<std::size_t>(counts_[u]) * counts_[v]);
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::int32_t* row = labels_.data() + i * parts;
    ++pair[static_cast<std::size_t>(row[u]) * counts_[v] + static_cast<std::size_t>(row[v])];
  }
  const auto n = static_cast<double>(rows_);
  return std::max(0.0, (sum_of_logs(pair) - negative_entropy_[u] - negative_entropy_[v]) / n + std::log(n));
}

std::vector<GraphEdge> label_tree(std::span<const std::int32_t> labels, std::span<const std::uint32_t> counts) {
  const LabelCounts data(labels, counts);
  const std::size_t parts = data.parts();
  // For every label outside the tree: the label of the tree it is tied to most.
  std::vector<double> best(parts, -std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> nearest(parts, 0);
  std::vector<bool> inside(parts, false);
  std::vector<GraphEdge> edges;
  for (std::uint32_t added = 0; edges.size() + 1 < parts;) {
    inside[added] = true;
    std::uint32_t next = 0;
    for (std::uint32_t m = 0; m < parts; ++m) {
      if (inside[m]) continue;
      const double tie = data.mutual_information(std::min(m, added), std::max(m, added));
      if (tie > best[m]) {
        best[m] = tie;
        nearest[m] = added;
      }
      if (inside[next] || best[m] > best[next]) next = m;
    }
    edges.push_back({std::min(next, nearest[next]), std::max(next, nearest[next])});
    added = next;
  }
  std::sort(edges.begin(), edges.end(),
            [](const GraphEdge& a, const GraphEdge& b) { return a.u != b.u ? a.u < b.u : a.v < b.v; });
  return edges;
}

}  // namespace m4n::detail
