// Which vector instructions the kernels use: the best that the machine has, unless another set is asked for. The choice
// is one for the whole process; make it before any other call of the library.
//
// Sums are taken in another order by vectors of another width, so results of different sets agree to rounding, not bit
// by bit. Ask for the same set on two machines to get the same digits.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "m4n/visibility.h"

namespace m4n {

// What this build has and this machine supports, the best first, `scalar` last.
M4N_API std::vector<std::string> simd_names();

// The one in use.
M4N_API std::string simd();

// Throws UsageError, with the valid names, unless `name` is one of them. "auto" is the best.
M4N_API void set_simd(std::string_view name);

// Does what the environment variable M4N_SIMD says; nothing where it is not set or empty.
M4N_API void set_simd_from_environment();

}  // namespace m4n
