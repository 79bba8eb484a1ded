// Any bytes read as a cost matrix: a matrix whose mistakes all cost more than the right answers, where predictions are
// the classes, or an Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "losses/cost_matrix.h"
#include "m4n/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  for (const auto& classes : {std::vector<std::string>{"a"}, {"a", "b"}, {"1", "2", "3"}}) {
    try {
      const m4n::detail::CostMatrix cost = m4n::detail::CostMatrix::from_csv(text, classes, "fuzz");
      for (std::size_t t = 0; !cost.has_actions() && t < cost.k(); ++t)
        for (std::size_t p = 0; p < cost.k(); ++p)
          if (t != p && !(cost(t, p) > cost(t, t))) std::abort();
    } catch (const m4n::Error&) {
      continue;  // refused in words
    }
  }
  return 0;
}
