// Any bytes as a file of CRFsuite's attributes: for training, and for a model.
#include <cstdint>

#include "m4n/error.h"
#include "structures/chains/data.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace m4n;
  using namespace m4n::detail;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const DictionaryOptions options : {DictionaryOptions{1, 0}, DictionaryOptions{2, 0}, DictionaryOptions{1, 3}}) {
    try {
      Input input = Input::memory(text, "fuzz");
      LineReader lines(input);
      const SequenceTraining trained = training_sequences(lines, options);
      Input again = Input::memory(text, "fuzz");
      LineReader lines_again(again);
      model_sequences(lines_again, trained.dictionary, trained.data.class_names, Truth::optional);
    } catch (const Error&) {
      continue;  // refused in words
    }
  }
  return 0;
}
