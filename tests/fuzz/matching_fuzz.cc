// Any bytes as a file of matchings: for training, for a model with and without names. What is read can be written, and
// the text is read the same.
#include <cstdint>
#include <cstdlib>

#include "m4n/error.h"
#include "structures/permutations/matching_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace m4n;
  using namespace m4n::detail;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  looks_like_matchings(text);
  const auto read = [](std::string_view file, const std::vector<std::string>& names, std::size_t features) {
    Input input = Input::memory(file, "fuzz");
    LineReader lines(input);
    return features == 0 ? read_matchings(lines) : read_matchings(lines, names, features, Truth::optional);
  };
  try {
    const Dataset data = read(text, {}, 0);
    std::string written;
    append_feature_line(data.feature_names, written);
    for (std::size_t e = 0; e < data.examples(); ++e) append_matching(data, e, written);
    const Dataset again = read(written, {}, 0);
    if (std::get<DenseMatrix>(again.x).values != std::get<DenseMatrix>(data.x).values || again.label != data.label ||
        again.feature_names != data.feature_names)
      std::abort();
  } catch (const Error&) {  // refused in words
  }
  for (const std::vector<std::string>& names : {std::vector<std::string>{}, {"b", "a"}}) {
    try {
      read(text, names, 2);
    } catch (const Error&) {
      continue;  // refused in words
    }
  }
  return 0;
}
