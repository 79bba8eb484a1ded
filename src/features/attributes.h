// Attributes of tokens and how they become columns of features: AttributeBatch holds those of a sentence, NameTable and
// AttributeDictionary number them, AttributeCounter learns a dictionary.
//
// The attributes of a run of tokens (a sentence, as a rule): byte strings with a value each, one after another in one
// buffer that is used again and again.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::detail {

class AttributeBatch {
 public:
  std::size_t tokens() const { return token_end_.size(); }
  std::size_t attributes() const { return end_.size(); }
  // The attributes of token t are begin(t) .. end(t) - 1.
  std::size_t begin(std::size_t token) const { return token == 0 ? 0 : token_end_[token - 1]; }
  std::size_t end(std::size_t token) const { return token_end_[token]; }
  std::string_view name(std::size_t attribute) const {
    const std::size_t start = attribute == 0 ? 0 : end_[attribute - 1];
    return {bytes_.data() + start, end_[attribute] - start};
  }
  double value(std::size_t attribute) const { return value_.empty() ? 1 : value_[attribute]; }

  // Writing: append the bytes of a name to `bytes`, then end the attribute; after the last one, the token.
  std::string& bytes() { return bytes_; }
  void end_attribute() {
    if (!value_.empty()) value_.push_back(1);
    end_.push_back(bytes_.size());
  }
  void end_attribute(double value) {
    if (value != 1 && value_.empty()) value_.assign(end_.size(), 1);
    if (value != 1 || !value_.empty()) value_.push_back(value);
    end_.push_back(bytes_.size());
  }
  void end_token() { token_end_.push_back(end_.size()); }
  // Forgets the attributes and keeps the memory.
  void clear() {
    bytes_.clear();
    end_.clear();
    value_.clear();
    token_end_.clear();
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> end_;
  std::vector<double> value_;  // empty: all are 1
  std::vector<std::size_t> token_end_;
};

// Attributes of tokens (byte strings) to columns of a sparse matrix.
//
// Either by a dictionary, learnt from training data: attributes that at least `min_count` tokens have, numbered by
// frequency, the most frequent first, ties by bytes, so that the numbers do not depend on the order of the data; what
// is not in it is dropped. Or by feature hashing: column = hash(name) mod 2^bits, for any name; nothing is learnt or
// stored. Names that meet in one column of one token, and a name given twice, add their values.
//
// Cost: O(bytes) for hashing and one probe of an open-addressed table per attribute; the probes of a batch are
// prefetched. Memory: the bytes of the names, 8 bytes per name, 8 bytes per slot at 1.5 to 3 slots per name.

// Of the bytes of a name; part of the model format, the same on every machine.
std::uint64_t attribute_hash(std::string_view name);

// Distinct byte strings, numbered in the order they were added, in one arena.
class NameTable {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  std::size_t size() const { return end_.size(); }
  std::string_view name(std::size_t i) const {
    const std::size_t start = i == 0 ? 0 : end_[i - 1];
    return {bytes_.data() + start, end_[i] - start};
  }
  std::string_view bytes() const { return bytes_; }
  void reserve(std::size_t names, std::size_t bytes);
  // The tag of a name is the low half of its hash.
  void prefetch(std::uint32_t tag) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[tag & mask_]);
  }
  std::uint32_t find(std::string_view name, std::uint32_t tag) const;  // none: not there
  std::uint32_t find_or_add(std::string_view name, std::uint32_t tag);

 private:
  struct Slot {
    std::uint32_t tag = 0, number = none;
  };
  void grow();
  std::string bytes_;
  std::vector<std::size_t> end_;
  std::vector<Slot> slots_;  // a power of two, at most two thirds taken
  std::uint32_t mask_ = 0;
};

class AttributeDictionary {
 public:
  static constexpr int min_hash_bits = 1, max_hash_bits = 30;
  AttributeDictionary() = default;
  // Throws UsageError if `bits` is out of range.
  static AttributeDictionary hashing(int bits);
  int hash_bits() const { return hash_bits_; }  // 0: a dictionary
  std::size_t columns() const { return hash_bits_ > 0 ? std::size_t{1} << hash_bits_ : names_.size(); }
  // The name of a column of a dictionary.
  std::string_view name(std::size_t column) const { return names_.name(column); }

  // Appends a row for every token of the batch. Needs no lock: the scratch memory is the caller's.
  struct Scratch {
    std::vector<std::uint64_t> hash;
    std::vector<std::pair<std::uint32_t, double>> row;
  };
  void append_rows(const AttributeBatch& batch, Scratch& scratch, SparseMatrix& out) const;

  // For the model file: version, hash bits, number and total size of the names (64-bit little-endian each), the length
  // of every name (7 bits per byte, low ones first, the high bit says that more follow), all bytes of the names.
  std::string to_bytes() const;
  // Throws Error, with `file`, on anything to_bytes does not write: other sizes, a name twice, an empty name.
  static AttributeDictionary from_bytes(std::string_view bytes, const std::string& file);

 private:
  friend class AttributeCounter;
  int hash_bits_ = 0;
  NameTable names_;
};

// Builds a dictionary and the matrix of the training tokens in one pass over them, as a whole or in pieces: a piece
// counts runs of tokens by itself, and what it found is appended in their order. The result is the same.
class AttributeCounter {
 public:
  void reserve(std::size_t tokens, std::size_t attributes);
  void add(const AttributeBatch& batch);
  void append(const AttributeCounter& piece);
  // Ends the counting. The rows of the matrix are the tokens added, in order.
  AttributeDictionary finish(std::uint64_t min_count, SparseMatrix& out);

 private:
  std::vector<std::uint32_t> frequent_first(std::uint64_t min_count) const;
  NameTable names_;
  std::vector<std::uint64_t> count_;  // of the tokens that have it
  SparseMatrix rows_;                 // columns: numbers in names_
  AttributeDictionary::Scratch scratch_;
};

// What learning a dictionary and applying it have in common: the hashes of a batch, and a row put in order.

// The hashes of all names of the batch, each with the slot it will be looked up in on its way to the cache.
inline void hash_names(const AttributeBatch& batch, const NameTable& table, std::vector<std::uint64_t>& hash) {
  hash.resize(batch.attributes());
  for (std::size_t a = 0; a < hash.size(); ++a) {
    hash[a] = attribute_hash(batch.name(a));
    table.prefetch(static_cast<std::uint32_t>(hash[a]));
  }
}

// Sorts the pairs (column, value) and appends them as a row, with the values of equal columns added up. Values are
// sorted too: the sum does not depend on the order of the attributes.
inline void append_merged_row(std::vector<std::pair<std::uint32_t, double>>& row, SparseMatrix& out) {
  std::sort(row.begin(), row.end());
  const std::size_t start = out.column.size();
  for (const auto& [column, value] : row) {
    if (out.column.size() > start && out.column.back() == column) {
      out.value.back() += value;
      continue;
    }
    out.column.push_back(column);
    out.value.push_back(value);
  }
  out.row_start.push_back(out.column.size());
  ++out.rows;
}

// Appends the rows of a piece; their columns by `column`.
template <class Column>
void append_rows(const SparseMatrix& piece, SparseMatrix& out, Column&& column) {
  const std::size_t before = out.column.size();
  for (std::size_t r = 1; r <= piece.rows; ++r) out.row_start.push_back(before + piece.row_start[r]);
  for (const std::uint32_t c : piece.column) out.column.push_back(column(c));
  out.value.insert(out.value.end(), piece.value.begin(), piece.value.end());
  out.rows += piece.rows;
  out.cols = std::max(out.cols, piece.cols);
}
inline void append_rows(const SparseMatrix& piece, SparseMatrix& out) {
  append_rows(piece, out, [](std::uint32_t column) { return column; });
}

}  // namespace m4n::detail
