// Any bytes as CoNLL columns, all at once and sentence by sentence: the same cells, or the same refusal. What is read
// goes through a template and a dictionary.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "m4n/error.h"
#include "structures/chains/data.h"

namespace m4n::detail::fuzz {
namespace {

std::optional<ConllText> read_whole(std::string_view text) {
  try {
    Input input = Input::memory(text, "fuzz");
    LineReader lines(input);
    return read_conll(lines);
  } catch (const Error&) {
    return std::nullopt;  // refused in words
  }
}

// Every sentence must be the one of the whole text; anything else is a defect.
void read_by_sentence(std::string_view text, const ConllText& whole) {
  Input input = Input::memory(text, "fuzz");
  LineReader lines(input);
  ConllReader reader(lines);
  ConllText one;
  std::size_t s = 0;
  for (; reader.next(one); one.clear(), ++s)
    for (std::size_t t = 0; t < one.tokens(); ++t)
      if (one.line(t) != whole.line(whole.begin(s) + t) || one.cell(t, 0) != whole.cell(whole.begin(s) + t, 0) ||
          one.line_number(t) != whole.first_line(s) + t)
        std::abort();
  if (s != whole.sentences()) std::abort();
}

}  // namespace
}  // namespace m4n::detail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace m4n;
  using namespace m4n::detail;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto whole = fuzz::read_whole(text);
  if (!whole) return 0;
  fuzz::read_by_sentence(text, *whole);
  static const TextTemplate rules =
      TextTemplate::parse("U%x[-2,0]/%l[0,0]\nU%p[0,0,2]\nU%s[1,0,3]\nU%h[0,0]\nB\n", "rules");
  try {
    const SequenceTraining trained = training_sequences(*whole, rules, {});
    const auto again = AttributeDictionary::from_bytes(trained.dictionary.to_bytes(), "fuzz");
    const Examples same =
        model_sequences(*whole, rules, again, trained.feature_columns, trained.data.class_names, Truth::required);
    if (same.data.label != trained.data.label ||
        std::get<SparseMatrix>(same.data.x).column != std::get<SparseMatrix>(trained.data.x).column)
      std::abort();
  } catch (const Error&) {
    return 0;  // a column or a label is missing
  }
  return 0;
}
