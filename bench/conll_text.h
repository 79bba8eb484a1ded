// CoNLL-2000 chunking text as sparse sentences: attributes are words and tags in a window of five, their neighbouring
// pairs and the tag triples, all with the value 1, numbered by falling frequency.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::bench {

struct Sentences {
  std::string name;
  SparseMatrix x;  // without values: all of them are 1
  Groups tokens;
  std::vector<std::int32_t> label;
  std::vector<double> share;
  std::size_t labels = 0;
};

Sentences read_conll_text(const std::filesystem::path& path, std::size_t most_sentences);

}  // namespace m4n::bench
