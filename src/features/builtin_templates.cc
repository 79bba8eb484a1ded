// The built-in templates. chunking: words and part-of-speech tags in a window of five, bigrams of both, trigrams of
// tags; the customary set for CoNLL-2000 (columns word, tag). ner: names from words alone (column word). pos: parts of
// speech from words alone.
#include "features/text_template.h"

namespace m4n::detail {
namespace {

constexpr std::string_view chunking = R"(# Chunks from words (column 0) and part-of-speech tags (column 1)
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
B
)";

constexpr std::string_view ner = R"(# Names from words (column 0)
U00:%x[0,0]
U01:%l[-2,0]
U02:%l[-1,0]
U03:%l[0,0]
U04:%l[1,0]
U05:%l[2,0]
U06:%l[-1,0]/%l[0,0]
U07:%l[0,0]/%l[1,0]
U11:%p[0,0,1]
U12:%p[0,0,2]
U13:%p[0,0,3]
U14:%p[0,0,4]
U21:%s[0,0,1]
U22:%s[0,0,2]
U23:%s[0,0,3]
U24:%s[0,0,4]
U31:%h[-2,0]
U32:%h[-1,0]
U33:%h[0,0]
U34:%h[1,0]
U35:%h[2,0]
U36:%h[-1,0]/%h[0,0]
U37:%h[0,0]/%h[1,0]
U38:%h[-1,0]/%h[0,0]/%h[1,0]
U41:%p[-1,0,3]
U42:%s[-1,0,3]
U43:%p[1,0,3]
U44:%s[1,0,3]
U51:%l[-1,0]/%h[0,0]
U52:%h[0,0]/%l[1,0]
B
)";

constexpr std::string_view pos = R"(# Parts of speech from words (column 0)
U00:%x[0,0]
U01:%l[-2,0]
U02:%l[-1,0]
U03:%l[0,0]
U04:%l[1,0]
U05:%l[2,0]
U06:%l[-1,0]/%l[0,0]
U07:%l[0,0]/%l[1,0]
U11:%p[0,0,1]
U12:%p[0,0,2]
U13:%p[0,0,3]
U14:%p[0,0,4]
U21:%s[0,0,1]
U22:%s[0,0,2]
U23:%s[0,0,3]
U24:%s[0,0,4]
U31:%h[0,0]
U41:%s[-1,0,2]
U42:%s[-1,0,3]
U43:%s[1,0,2]
U44:%s[1,0,3]
B
)";

}  // namespace

std::string_view builtin_template(std::string_view name) {
  if (name == "chunking") return chunking;
  if (name == "ner") return ner;
  if (name == "pos") return pos;
  return {};
}

}  // namespace m4n::detail
