// Learning a dictionary. Attributes are numbered as they appear and the rows written with these numbers; at the end the
// numbers are replaced by ranks in place, so the matrix is never held twice.
#include <algorithm>
#include <numeric>

#include "features/attribute_rows.h"
#include "features/attributes.h"

namespace m4n::detail {
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
