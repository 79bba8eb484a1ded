// The main function of every test program: GoogleTest's, with the instruction set that M4N_SIMD asks for.
#include <gmock/gmock.h>

#include <cstdio>

#include "m4n/error.h"
#include "m4n/simd.h"

int main(int argc, char** argv) {
  try {
    m4n::set_simd_from_environment();
  } catch (const m4n::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
