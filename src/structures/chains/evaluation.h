// How well chunks (noun phrases, names, ..) are found, counted as conlleval does, from one tag per token: `B-NP` has
// the prefix B and the type NP; `O` and other tags without a hyphen have no type. Prefixes are those of IOB1, IOB2 and
// IOBES:
//
//   a chunk starts at a token  with B or S,
//                              with I or E behind O, E, S or the start of the sentence,
//                              with anything but O if its type is not that of the token before;
//   a chunk ends behind a token  with E or S,
//                                with B or I if O, B or S follows or the sentence ends,
//                                with anything but O if the type of the next token is another.
//
// So I-NP behind O starts a chunk (IOB1), and I-A I-B are two. A chunk is found if a predicted one has the same start,
// end and type. precision = found / predicted, recall = found / true, F1 = their harmonic mean; 0 where 0 / 0.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "m4n/evaluate.h"

namespace m4n::detail {

struct ChunkScore {
  FoundCounts chunks;                 // of all types
  std::vector<std::string> types;     // sorted; chunks without one are in `chunks` only
  std::vector<FoundCounts> by_type;   // in this order
  std::vector<FoundCounts> by_label;  // tokens, in the order of the labels
  std::uint64_t tokens = 0, correct = 0;
  double token_accuracy() const;
};

class ChunkCounter {
 public:
  explicit ChunkCounter(const std::vector<std::string>& labels);
  // One sentence: labels by number, as many predicted as true.
  void add(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);
  const ChunkScore& score() const { return score_; }

 private:
  enum class Prefix : std::uint8_t { begin, inside, end, single, outside, other };
  struct Tag {
    Prefix prefix = Prefix::outside;
    std::uint32_t type = 0;  // 0: none; otherwise one more than its place in types
  };
  static bool starts(Tag before, Tag tag);
  static bool ends(Tag last, Tag next);
  void count(Tag tag, std::uint64_t FoundCounts::*what);
  std::vector<Tag> tags_;  // of every label
  ChunkScore score_;
};

// Whether these labels are tags of chunks: O, or B, I, E, S with or without a type, and at least one that is not O.
bool are_chunk_tags(const std::vector<std::string>& labels);

}  // namespace m4n::detail
