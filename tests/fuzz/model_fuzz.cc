// Any bytes as a model file: they are refused with an Error or give a model that can be written and read again.
// Because the checksum stops nearly every mutation, the bytes are tried a second time with a repaired preamble and
// checksum, so that the checks behind them are exercised too.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../support/model_bytes.h"
#include "m4n/error.h"
#include "m4n/model.h"

namespace {

void read(std::string_view bytes) {
  std::string written;
  try {
    written = m4n::Model::from_bytes(bytes, "fuzz").to_bytes();
  } catch (const m4n::Error&) {
    return;
  }
  // An Error from here on is a defect: what was accepted once must stay acceptable, byte for byte.
  if (m4n::Model::from_bytes(written, "fuzz").to_bytes() != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  if (size >= 40) read(m4n::detail::test::resealed(bytes));
  return 0;
}
