// Constraints by name, from files and from models; what they allow (constraints.h).
#include "structures/chains/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/message.h"
#include "data/input.h"
#include "data/text.h"
#include "structures/chains/kernels.h"

namespace m4n::detail {
namespace {

constexpr const char *start_name = "START", *end_name = "END", *any_name = "*";

// A tag of a chunk: its prefix and the type behind the dash; outside of chunks the prefix is O.
struct Tag {
  char prefix;
  std::string_view type;
};

Tag tag_of(const std::string& label, std::string_view prefixes, const std::string& spec) {
  if (label == "O") return {'O', {}};
  if (label.size() >= 2 && label[1] == '-' && prefixes.find(label[0]) != std::string_view::npos)
    return {label[0], std::string_view(label).substr(2)};
  throw Error(
      say("--constraints {}: label {} is no tag of that kind; expected O or {} and a dash before a type; => "
          "correct the labels, or name a file of forbidden transitions",
          spec, shown(label), fmt::join(prefixes, ", ")));
}

// B-X I-X ..: an inside follows the beginning or the inside of the same type.
bool bio_allows(const Tag& from, const Tag& to) {
  return to.prefix != 'I' || ((from.prefix == 'B' || from.prefix == 'I') && from.type == to.type);
}
// B-X I-X .. E-X, or S-X: what was begun goes on until its end, and nothing else does.
bool bioes_allows(const Tag& from, const Tag& to) {
  const bool open = from.prefix == 'B' || from.prefix == 'I', goes_on = to.prefix == 'I' || to.prefix == 'E';
  return open == goes_on && (!open || from.type == to.type);
}

std::vector<double> tag_rules(const std::vector<std::string>& labels, const std::string& spec) {
  const bool bioes = spec == "bioes";
  std::vector<Tag> tags;
  for (const std::string& label : labels) tags.push_back(tag_of(label, bioes ? "BIES" : "BI", spec));
  std::vector<double> out;
  const auto allows = [&](const Tag& from, const Tag& to) {
    return bioes ? bioes_allows(from, to) : bio_allows(from, to);
  };
  const Tag outside{'O', {}};
  for (const Tag& from : tags)
    for (const Tag& to : tags) out.push_back(allows(from, to) ? 1 : 0);
  for (const Tag& tag : tags) out.push_back(allows(outside, tag) ? 1 : 0);
  for (const Tag& tag : tags) out.push_back(allows(tag, outside) ? 1 : 0);
  return out;
}

std::vector<double> listed_rules(const std::vector<std::string>& labels, Input input) {
  const std::size_t count = labels.size();
  std::vector<double> out(count * (count + 2), 1.0);
  const ClassIndex index(labels);
  LineReader lines(input);
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::size_t at = lines.line_number();
    const std::vector<std::string> cells = split_cells(line, input.name(), at);
    if (cells.size() != 2)
      throw Error(say("{}: line {}: {}; expected two, the labels of a forbidden transition: from,to", input.name(), at,
                      counted(cells.size(), "cell")));
    if (std::exchange(first, false) && cells[0] == "from" && cells[1] == "to") continue;
    // The labels that a cell means; none for the end of a sequence.
    const auto meant = [&](std::size_t column, const char* end) {
      std::vector<std::size_t> found;
      if (cells[column] == end) return found;
      for (std::size_t k = 0; k < count; ++k)
        if (cells[column] == any_name) found.push_back(k);
      if (const auto k = index.find(cells[column])) found = {*k};
      if (found.empty())
        throw Error(say("{}: line {}, column {}: {} is no label of the data; expected one of {}, {} or {}",
                        input.name(), at, column + 1, shown(cells[column]), shown_list(labels, 10), any_name, end));
      return found;
    };
    const std::vector<std::size_t> from = meant(0, start_name), to = meant(1, end_name);
    if (from.empty() && to.empty())
      throw Error(say("{}: line {}: {},{} would forbid empty sequences, which there are none of; => remove it",
                      input.name(), at, start_name, end_name));
    for (const std::size_t k : from)
      for (const std::size_t next : to) out[k * count + next] = 0;
    if (from.empty())
      for (const std::size_t k : to) out[count * count + k] = 0;
    if (to.empty())
      for (const std::size_t k : from) out[(count + 1) * count + k] = 0;
  }
  if (std::count(out.begin(), out.end(), 0.0) == 0)
    throw Error(say("{}: forbids nothing; expected lines from,to: the forbidden transitions", input.name()));
  return out;
}

}  // namespace

ChainConstraints ChainConstraints::parse(const std::string& spec, const std::vector<std::string>& labels) {
  constexpr std::string_view pairs = "pairs:";
  if (spec.empty()) return {};
  const bool tags = spec == "bio" || spec == "bioes";
  ChainConstraints out = from_values(
      tags ? tag_rules(labels, spec)
      : spec.starts_with(pairs)
          ? listed_rules(labels, Input::memory(std::string_view(spec).substr(pairs.size()), "the constraints"))
          : listed_rules(labels, Input::open(spec)),
      labels.size());
  if (const auto length = out.length_without_labelling())
    throw Error(say("--constraints{}: a sequence of {} would have no allowed labelling; => forbid less",
                    spec.starts_with(pairs) ? "" : " " + spec, counted(*length, "token")));
  return out;
}

ChainConstraints ChainConstraints::from_values(const std::vector<double>& allowed, std::size_t labels) {
  ChainConstraints out;
  if (allowed.empty()) return out;
  if (allowed.size() != labels * (labels + 2))
    throw Error(
        say("{} entries of constraints for {} labels; expected {}", allowed.size(), labels, labels * (labels + 2)));
  out.labels_ = labels;
  out.allowed_ = allowed;
  return out;
}

std::vector<double> ChainConstraints::penalties() const {
  std::vector<double> out;
  for (const double allowed : allowed_) out.push_back(allowed != 0 ? 0 : kernels::chain_padding);
  return out;
}

std::optional<std::size_t> ChainConstraints::violation(LabelView y) const {
  if (empty() || y.empty()) return std::nullopt;
  const auto label = [&](std::size_t m) { return static_cast<std::size_t>(y[m]); };
  if (!start(label(0))) return 0;
  for (std::size_t m = 1; m < y.size(); ++m)
    if (!transition(label(m - 1), label(m))) return m;
  if (!end(label(y.size() - 1))) return y.size() - 1;
  return std::nullopt;
}

// The labels that a position can have, position by position: the sets repeat sooner or later.
std::optional<std::size_t> ChainConstraints::length_without_labelling() const {
  if (empty()) return std::nullopt;
  constexpr std::size_t most_lengths = 10'000;
  std::vector<bool> here(labels_);
  for (std::size_t k = 0; k < labels_; ++k) here[k] = start(k);
  std::set<std::vector<bool>> seen;
  for (std::size_t length = 1; length < most_lengths && seen.insert(here).second; ++length) {
    bool can_end = false;
    for (std::size_t k = 0; k < labels_; ++k) can_end = can_end || (here[k] && end(k));
    if (!can_end) return length;
    std::vector<bool> next(labels_);
    for (std::size_t k = 0; k < labels_; ++k)
      for (std::size_t to = 0; here[k] && to < labels_; ++to) next[to] = next[to] || transition(k, to);
    here = std::move(next);
  }
  return std::nullopt;
}

void require_allowed(const ChainConstraints& constraints, std::span<const std::int32_t> label, const Groups& sequences,
                     const std::vector<std::string>& names,
                     const std::function<std::string(std::size_t, std::size_t)>& where) {
  if (constraints.empty()) return;
  for (std::size_t i = 0; i < sequences.count(); ++i) {
    const std::size_t first = sequences.begin(i), length = sequences.end(i) - first;
    const LabelView y = label.subspan(first, length);
    const auto at = constraints.violation(y);
    if (!at) continue;
    const std::string& here = names[static_cast<std::size_t>(y[*at])];
    const bool at_end = *at + 1 == length && (*at == 0 ? constraints.start(static_cast<std::size_t>(y[0]))
                                                       : constraints.transition(static_cast<std::size_t>(y[*at - 1]),
                                                                                static_cast<std::size_t>(y[*at])));
    const std::string what = at_end     ? fmt::format("a sequence ends with the label {}", shown(here))
                             : *at == 0 ? fmt::format("a sequence starts with the label {}", shown(here))
                                        : fmt::format("the label {} follows {}", shown(here),
                                                      shown(names[static_cast<std::size_t>(y[*at - 1])]));
    throw Error(say("{}: {}, which --constraints forbids; => correct the label, or use other constraints",
                    where(i, *at), what));
  }
}

}  // namespace m4n::detail
