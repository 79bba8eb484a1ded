// What learning a dictionary and applying it have in common: the hashes of a batch, and a row put in order.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "features/attributes.h"

namespace m4n::detail {

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

}  // namespace m4n::detail
