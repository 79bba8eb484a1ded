// Any bytes as a file of letters: for training, and for a model.
#include <cstdint>

#include "m4n/error.h"
#include "structures/chains/ocr_letters.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace m4n;
  using namespace m4n::detail;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const bool training : {true, false}) {
    try {
      Input input = Input::memory(text, "fuzz");
      LineReader lines(input);
      if (training)
        read_ocr_letters(lines);
      else
        read_ocr_letters(lines, {"a", "b"}, 2, Truth::optional);
    } catch (const Error&) {
      continue;  // refused in words
    }
  }
  return 0;
}
