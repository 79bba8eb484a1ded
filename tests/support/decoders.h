// The decoder of a structure, by what decides it.
#pragma once
#include "structures/structure.h"

namespace m4n::detail::test {

inline Decoder decoder_of(const char* task, Decoder asked, SurrogateKind surrogate, bool symmetric_costs) {
  TrainOptions options;
  options.surrogate = surrogate;
  options.decode = asked;
  return structure_named(task).decoder(options, {"", {}, symmetric_costs, 1});
}

}  // namespace m4n::detail::test
