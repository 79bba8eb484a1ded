// Any bytes as a LIBSVM file.
#include "read_any.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return m4n::detail::fuzz::read_any(bytes, size, "libsvm");
}
