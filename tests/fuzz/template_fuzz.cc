// Any bytes as a template, applied to a small text; and any bytes as a stored dictionary.
#include <cstdint>
#include <cstdlib>

#include "features/attributes.h"
#include "m4n/error.h"
#include "structures/chains/text_template.h"

namespace {

void as_template(std::string_view bytes) {
  using namespace m4n;
  using namespace m4n::detail;
  static const ConllText text = [] {
    Input input = Input::memory("The DT O\n\xc3\x89t\xc3\xa9\x80 NN B-x\n\nU.S.-1998 X O\n", "text");
    LineReader lines(input);
    return read_conll(lines);
  }();
  try {
    const TextTemplate rules = TextTemplate::parse(bytes, "fuzz");
    rules.check_columns(text, 2);
    AttributeBatch batch;
    for (std::size_t s = 0; s < text.sentences(); ++s) rules.append(text, s, batch);
    if (batch.attributes() != text.tokens() * rules.attributes()) std::abort();
  } catch (const Error&) {
    return;  // refused in words
  }
}

void as_dictionary(std::string_view bytes) {
  using namespace m4n;
  using namespace m4n::detail;
  try {
    const AttributeDictionary dictionary = AttributeDictionary::from_bytes(bytes, "fuzz");
    if (dictionary.to_bytes() != bytes) std::abort();  // what is accepted has one form only
  } catch (const Error&) {
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  as_template(text);
  as_dictionary(text);
  return 0;
}
