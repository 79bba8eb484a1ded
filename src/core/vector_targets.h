// The instruction sets that kernels are compiled for, the same in every file of kernels: include this before Highway.
//
//   x86-64   scalar, sse4, avx2, avx512 (Highway's AVX3)       aarch64   scalar, neon       others   scalar
//
// The one without vectors is SCALAR with every compiler and on every processor, and always there, so that it can be
// tested and asked for (m4n/simd.h). SSSE3 would only help machines of before 2008. SVE and RVV have vectors of unknown
// width, of which no arrays can be made.
#pragma once
#define HWY_BROKEN_EMU128 1
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
