// Attributes to columns (attributes.h): the table of names, rows for a fixed dictionary, and learning a dictionary.
#include "features/attributes.h"

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <numeric>

#include "core/checksum.h"
#include "core/message.h"

namespace m4n::detail {

namespace {

constexpr std::uint64_t format_version = 1;
constexpr std::size_t header_size = 4 * sizeof(std::uint64_t);

// Little-endian, of a fixed size: one instruction.
template <class Word>
std::uint64_t load(const char* p) {
  Word word = 0;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    Word turned = 0;
    for (std::size_t i = 0; i < sizeof word; ++i) turned = static_cast<Word>(turned << 8 | (word >> 8 * i & 0xFF));
    word = turned;
  }
  return word;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t word) {
  h ^= word * 0x9e3779b97f4a7c15ULL;
  return std::rotl(h, 27) * 0xd6e8feb86659fd93ULL;
}

// Reads a length as to_bytes writes it; false if the bytes end or the number is not written in the shortest way.
bool read_length(std::string_view bytes, std::size_t& at, std::uint64_t& length) {
  length = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (at == bytes.size()) return false;
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    length |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return byte != 0;  // no name is empty, and no length ends with a zero group
  }
  return false;
}

}  // namespace

// Eight bytes at a time; the last word overlaps the one before, so that no length takes a loop over single bytes.
std::uint64_t attribute_hash(std::string_view name) {
  const char* p = name.data();
  const std::size_t size = name.size();
  std::uint64_t h = 0x2545f4914f6cdd1dULL ^ size;
  if (size >= 8) {
    for (const char* const last = p + size - 8; p < last; p += 8) h = mix(h, load<std::uint64_t>(p));
    h = mix(h, load<std::uint64_t>(name.data() + size - 8));
  } else if (size >= 4) {
    h = mix(h, load<std::uint32_t>(p) | load<std::uint32_t>(p + size - 4) << 32);
  } else if (size > 0) {
    h = mix(h, load<std::uint8_t>(p) | load<std::uint8_t>(p + size / 2) << 8 | load<std::uint8_t>(p + size - 1) << 16);
  }
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 29);
}

void NameTable::reserve(std::size_t names, std::size_t bytes) {
  bytes_.reserve(bytes);
  end_.reserve(names);
  while (slots_.size() < 3 * names / 2) grow();
}

std::uint32_t NameTable::find(std::string_view name, std::uint32_t tag) const {
  if (slots_.empty()) return none;
  for (std::uint32_t at = tag & mask_;; at = (at + 1) & mask_) {
    const Slot slot = slots_[at];
    if (slot.number == none || (slot.tag == tag && this->name(slot.number) == name)) return slot.number;
  }
}

std::uint32_t NameTable::find_or_add(std::string_view name, std::uint32_t tag) {
  if (3 * size() >= 2 * slots_.size()) grow();
  std::uint32_t at = tag & mask_;
  for (; slots_[at].number != none; at = (at + 1) & mask_)
    if (slots_[at].tag == tag && this->name(slots_[at].number) == name) return slots_[at].number;
  slots_[at] = {tag, static_cast<std::uint32_t>(size())};
  bytes_.append(name);
  end_.push_back(bytes_.size());
  return slots_[at].number;
}

// Tags are kept in the slots, so the names need not be hashed again.
void NameTable::grow() {
  constexpr std::size_t most_slots = std::size_t{1} << 31;
  if (slots_.size() >= most_slots)
    throw Error(say("more than a thousand million different attributes; => use feature hashing (--hash BITS)"));
  std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
  old.swap(slots_);
  mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
  for (const Slot slot : old) {
    if (slot.number == none) continue;
    std::uint32_t at = slot.tag & mask_;
    while (slots_[at].number != none) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
}

AttributeDictionary AttributeDictionary::hashing(int bits) {
  if (bits < min_hash_bits || bits > max_hash_bits)
    throw UsageError(say("--hash {}; expected {} to {} bits", bits, min_hash_bits, max_hash_bits));
  AttributeDictionary dictionary;
  dictionary.hash_bits_ = bits;
  return dictionary;
}

void AttributeDictionary::append_rows(const AttributeBatch& batch, Scratch& scratch, SparseMatrix& out) const {
  out.cols = columns();
  const std::uint64_t mask = columns() - 1;
  hash_names(batch, names_, scratch.hash);
  for (std::size_t t = 0; t < batch.tokens(); ++t) {
    scratch.row.clear();
    for (std::size_t a = batch.begin(t); a < batch.end(t); ++a) {
      const std::uint64_t hash = scratch.hash[a];
      const auto column = hash_bits_ > 0 ? static_cast<std::uint32_t>((hash >> 32) & mask)
                                         : names_.find(batch.name(a), static_cast<std::uint32_t>(hash));
      if (column != NameTable::none) scratch.row.emplace_back(column, batch.value(a));
    }
    append_merged_row(scratch.row, out);
  }
}

std::string AttributeDictionary::to_bytes() const {
  std::string bytes;
  append_little_endian(&bytes, format_version);
  append_little_endian(&bytes, static_cast<std::uint64_t>(hash_bits_));
  append_little_endian(&bytes, static_cast<std::uint64_t>(names_.size()));
  append_little_endian(&bytes, static_cast<std::uint64_t>(names_.bytes().size()));
  for (std::size_t i = 0; i < names_.size(); ++i) {
    std::size_t length = names_.name(i).size();
    for (; length > 0x7F; length >>= 7) bytes.push_back(static_cast<char>(0x80 | (length & 0x7F)));
    bytes.push_back(static_cast<char>(length));
  }
  return bytes.append(names_.bytes());
}

AttributeDictionary AttributeDictionary::from_bytes(std::string_view bytes, const std::string& file) {
  const auto damaged = [&](const char* what) {
    return Error(say("{}: the attribute dictionary is damaged: {}; fetch or train the model again", file, what));
  };
  if (bytes.size() < header_size) throw damaged("it is cut off");
  const auto field = [&](std::size_t i) {
    return read_little_endian<std::uint64_t>(std::span<const char, 8>(bytes.data() + 8 * i, 8));
  };
  if (field(0) != format_version)
    throw Error(say("{}: attribute dictionary of version {}, expected {}; it needs a newer m4n", file, field(0),
                    format_version));
  const std::uint64_t bits = field(1), count = field(2), total = field(3);
  if (bits > static_cast<std::uint64_t>(max_hash_bits)) throw damaged("its hash size is out of range");
  if (bits > 0 && (count > 0 || total > 0)) throw damaged("it has both hashing and names");
  // Every name takes a byte of length and a byte of name at least, so no count can ask for more memory than there are
  // bytes to justify it.
  if (total > bytes.size() - header_size || count > bytes.size() - header_size - total || count > total)
    throw damaged("its sizes contradict each other");
  AttributeDictionary dictionary;
  dictionary.hash_bits_ = static_cast<int>(bits);
  dictionary.names_.reserve(count, total);
  std::size_t at = header_size, name_at = bytes.size() - total;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t length = 0;
    if (!read_length(bytes.substr(0, bytes.size() - total), at, length) || length > bytes.size() - name_at)
      throw damaged("a length of a name is wrong");
    const std::string_view name = bytes.substr(name_at, length);
    name_at += length;
    if (dictionary.names_.find_or_add(name, static_cast<std::uint32_t>(attribute_hash(name))) != i)
      throw damaged("a name occurs twice");
  }
  if (at != bytes.size() - total || name_at != bytes.size()) throw damaged("it has bytes too many");
  return dictionary;
}

// Learning a dictionary. Attributes are numbered as they appear and the rows written with these numbers; at the end the
// numbers are replaced by ranks in place, so the matrix is never held twice.

namespace {

// A name as far as sorting looks at it first: 16 bytes, most significant first.
struct SortKey {
  std::uint64_t high = 0, low = 0;
  std::uint32_t number = 0;
};

SortKey sort_key(std::string_view name, std::uint32_t number) {
  SortKey key{0, 0, number};
  for (std::size_t i = 0; i < 16; ++i) {
    std::uint64_t& word = i < 8 ? key.high : key.low;
    word = word << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0U);
  }
  return key;
}

}  // namespace

void AttributeCounter::reserve(std::size_t tokens, std::size_t attributes) {
  rows_.row_start.reserve(tokens + 1);
  rows_.column.reserve(attributes);
  rows_.value.reserve(attributes);
}

void AttributeCounter::add(const AttributeBatch& batch) {
  hash_names(batch, names_, scratch_.hash);
  for (std::size_t t = 0; t < batch.tokens(); ++t) {
    scratch_.row.clear();
    for (std::size_t a = batch.begin(t); a < batch.end(t); ++a)
      scratch_.row.emplace_back(names_.find_or_add(batch.name(a), static_cast<std::uint32_t>(scratch_.hash[a])),
                                batch.value(a));
    append_merged_row(scratch_.row, rows_);
    count_.resize(names_.size());
    for (std::size_t e = rows_.row_start[rows_.rows - 1]; e < rows_.column.size(); ++e) ++count_[rows_.column[e]];
  }
}

void AttributeCounter::append(const AttributeCounter& piece) {
  const NameTable& names = piece.names_;
  const auto tag = [&](std::size_t i) { return static_cast<std::uint32_t>(scratch_.hash[i]); };
  scratch_.hash.resize(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    scratch_.hash[i] = attribute_hash(names.name(i));
    names_.prefetch(tag(i));
  }
  std::vector<std::uint32_t> number(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) number[i] = names_.find_or_add(names.name(i), tag(i));
  count_.resize(names_.size());
  for (std::size_t i = 0; i < names.size(); ++i) count_[number[i]] += piece.count_[i];
  append_rows(piece.rows_, rows_, [&](std::uint32_t column) { return number[column]; });
}

// The numbers of the names that are kept, in the order of their columns.
std::vector<std::uint32_t> AttributeCounter::frequent_first(std::uint64_t min_count) const {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < count_.size(); ++i)
    if (count_[i] >= min_count) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return count_[a] != count_[b] ? count_[a] > count_[b] : a < b; });
  std::vector<SortKey> keys;
  for (std::size_t first = 0; first < order.size();) {
    keys.clear();
    std::size_t last = first;
    for (; last < order.size() && count_[order[last]] == count_[order[first]]; ++last)
      keys.push_back(sort_key(names_.name(order[last]), order[last]));
    std::sort(keys.begin(), keys.end(), [&](const SortKey& a, const SortKey& b) {
      if (a.high != b.high) return a.high < b.high;
      if (a.low != b.low) return a.low < b.low;
      return names_.name(a.number) < names_.name(b.number);
    });
    for (const SortKey& key : keys) order[first++] = key.number;
  }
  return order;
}

AttributeDictionary AttributeCounter::finish(std::uint64_t min_count, SparseMatrix& out) {
  const std::vector<std::uint32_t> order = frequent_first(min_count);
  std::vector<std::uint32_t> rank(names_.size(), NameTable::none);
  std::size_t bytes = 0;
  for (std::size_t r = 0; r < order.size(); ++r) {
    rank[order[r]] = static_cast<std::uint32_t>(r);
    bytes += names_.name(order[r]).size();
  }
  AttributeDictionary dictionary;
  dictionary.names_.reserve(order.size(), bytes);
  for (const std::uint32_t number : order) {
    const std::string_view name = names_.name(number);
    dictionary.names_.find_or_add(name, static_cast<std::uint32_t>(attribute_hash(name)));
  }
  names_ = {};
  count_ = {};

  std::size_t write = 0, read = 0;
  for (std::size_t i = 0; i < rows_.rows; ++i) {
    scratch_.row.clear();
    for (; read < rows_.row_start[i + 1]; ++read)
      if (const std::uint32_t column = rank[rows_.column[read]]; column != NameTable::none)
        scratch_.row.emplace_back(column, rows_.value[read]);
    std::sort(scratch_.row.begin(), scratch_.row.end());
    for (const auto& [column, value] : scratch_.row) {
      rows_.column[write] = column;
      rows_.value[write++] = value;
    }
    rows_.row_start[i + 1] = write;
  }
  const bool much_dropped = write < read / 4 * 3;
  rows_.column.resize(write);
  rows_.value.resize(write);
  if (much_dropped) {
    rows_.column.shrink_to_fit();
    rows_.value.shrink_to_fit();
  }
  rows_.cols = dictionary.columns();
  out = std::move(rows_);
  rows_ = {};
  return dictionary;
}

}  // namespace m4n::detail
