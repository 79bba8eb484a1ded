// CoNLL-2000 chunking text as sparse sentences: attributes are words and tags in a window of five, their neighbouring
// pairs and the tag triples, all with the value 1, numbered by falling frequency.
#pragma once
#include <filesystem>

#include "sentences.h"

namespace m4n::detail::bench {

Sentences read_conll_text(const std::filesystem::path& path, std::size_t most_sentences);

}  // namespace m4n::detail::bench
