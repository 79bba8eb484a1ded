// See chunks.h. One pass: a chunk that started in both sequences at once, with one type, is followed until one ends.
#include "structures/chains/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/message.h"

namespace m4n::detail {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string_view type_of(std::string_view label) {
  const std::size_t hyphen = label.find('-');
  return hyphen == std::string_view::npos ? std::string_view{} : label.substr(hyphen + 1);
}
std::string_view prefix_of(std::string_view label) { return label.substr(0, label.find('-')); }

}  // namespace

double ChunkScore::token_accuracy() const { return ratio(correct, tokens); }

ChunkCounter::ChunkCounter(const std::vector<std::string>& labels) : tags_(labels.size()) {
  for (const std::string& label : labels)
    if (!type_of(label).empty()) score_.types.emplace_back(type_of(label));
  std::sort(score_.types.begin(), score_.types.end());
  score_.types.erase(std::unique(score_.types.begin(), score_.types.end()), score_.types.end());
  score_.by_type.resize(score_.types.size());
  score_.by_label.resize(labels.size());
  for (std::size_t l = 0; l < labels.size(); ++l) {
    const std::string_view prefix = prefix_of(labels[l]), type = type_of(labels[l]);
    Tag& tag = tags_[l];
    tag.prefix = prefix == "B"   ? Prefix::begin
                 : prefix == "I" ? Prefix::inside
                 : prefix == "E" ? Prefix::end
                 : prefix == "S" ? Prefix::single
                 : prefix == "O" ? Prefix::outside
                                 : Prefix::other;
    if (!type.empty())
      tag.type = 1 + static_cast<std::uint32_t>(std::lower_bound(score_.types.begin(), score_.types.end(), type) -
                                                score_.types.begin());
  }
}

bool ChunkCounter::starts(Tag before, Tag tag) {
  if (tag.prefix == Prefix::begin || tag.prefix == Prefix::single) return true;
  const bool fresh =
      before.prefix == Prefix::outside || before.prefix == Prefix::end || before.prefix == Prefix::single;
  if (fresh && (tag.prefix == Prefix::inside || tag.prefix == Prefix::end)) return true;
  return tag.prefix != Prefix::outside && before.type != tag.type;
}

bool ChunkCounter::ends(Tag last, Tag next) {
  if (last.prefix == Prefix::end || last.prefix == Prefix::single) return true;
  const bool closed = next.prefix == Prefix::outside || next.prefix == Prefix::begin || next.prefix == Prefix::single;
  if (closed && (last.prefix == Prefix::begin || last.prefix == Prefix::inside)) return true;
  return last.prefix != Prefix::outside && last.type != next.type;
}

void ChunkCounter::count(Tag tag, std::uint64_t FoundCounts::*what) {
  ++(score_.chunks.*what);
  if (tag.type > 0) ++(score_.by_type[tag.type - 1].*what);
}

void ChunkCounter::add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) {
  if (truth.size() != predicted.size())
    throw Error(say("evaluation: a sentence of {} labels has {} predictions", truth.size(), predicted.size()));
  const auto outside_range = [&](std::int32_t l) { return l < 0 || static_cast<std::size_t>(l) >= tags_.size(); };
  for (const std::span<const std::int32_t> labels : {truth, predicted})
    if (const auto at = std::find_if(labels.begin(), labels.end(), outside_range); at != labels.end())
      throw Error(say("evaluation: label {} is not within 0..{}", *at, tags_.size() - 1));
  Tag true_before, predicted_before;
  bool matching = false;  // the chunks the tokens before are in started together, with one type
  for (std::size_t t = 0; t <= truth.size(); ++t) {
    const bool last = t == truth.size();  // as if an O followed
    const Tag tag = last ? Tag{} : tags_[static_cast<std::size_t>(truth[t])];
    const Tag guess = last ? Tag{} : tags_[static_cast<std::size_t>(predicted[t])];
    if (matching) {
      const bool true_end = ends(true_before, tag), predicted_end = ends(predicted_before, guess);
      if (true_end && predicted_end) count(true_before, &FoundCounts::found);
      if (true_end || predicted_end || tag.type != guess.type) matching = false;
    }
    const bool true_start = starts(true_before, tag), predicted_start = starts(predicted_before, guess);
    if (true_start && predicted_start && tag.type == guess.type) matching = true;
    if (true_start) count(tag, &FoundCounts::actual);
    if (predicted_start) count(guess, &FoundCounts::predicted);
    if (last) break;
    ++score_.tokens;
    ++score_.by_label[static_cast<std::size_t>(truth[t])].actual;
    ++score_.by_label[static_cast<std::size_t>(predicted[t])].predicted;
    if (truth[t] == predicted[t]) {
      ++score_.correct;
      ++score_.by_label[static_cast<std::size_t>(truth[t])].found;
    }
    true_before = tag;
    predicted_before = guess;
  }
}

bool are_chunk_tags(const std::vector<std::string>& labels) {
  constexpr std::string_view prefixes = "BIES";
  bool any = false;
  for (const std::string& label : labels) {
    if (label == "O") continue;
    const std::string_view prefix = prefix_of(label);
    if (prefix.size() != 1 || prefixes.find(prefix[0]) == std::string_view::npos) return false;
    any = true;
  }
  return any;
}

}  // namespace m4n::detail
