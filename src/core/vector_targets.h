// The instruction sets that kernels are compiled for, the same in every file of kernels: include this before Highway.
//
//   x86-64   scalar, sse4, avx2, avx512 (Highway's AVX3)       aarch64   scalar, neon       others   scalar
//
// The one without vectors is SCALAR with every compiler and on every processor, and always there, so that it can be
// tested and asked for (m4n/simd.h). SSSE3 would only help machines of before 2008. SVE and RVV have vectors of unknown
// width, of which no arrays can be made.
//
// M4N_KERNEL(F) behind the namespaces of all sets makes the table of what F is in each; M4N_DISPATCH(F)(..) calls the
// one of the chosen set. Highway's own macros for this need libhwy when a program is linked and when it runs; these
// need its headers alone.
#pragma once
#define HWY_BROKEN_EMU128 1
#define HWY_COMPILE_ALL_ATTAINABLE
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#include "hwy/targets.h"

namespace m4n::detail {
extern hwy::ChosenTarget chosen_target;  // core/simd.cc
}  // namespace m4n::detail

// An index into the tables counts from 1 and ends with the set without vectors; 0 is not chosen yet.
#ifdef HWY_CHOOSE_TARGET_LIST
#define M4N_KERNEL(F)                      \
  static decltype(&HWY_STATIC_DISPATCH(F)) \
      const F##_of_set[] = {HWY_CHOOSE_FALLBACK(F), HWY_CHOOSE_TARGET_LIST(F), HWY_CHOOSE_FALLBACK(F)}
#define M4N_DISPATCH(F) (*F##_of_set[m4n::detail::chosen_target.GetIndex()])
#else  // a processor of which Highway knows no vectors
#define M4N_KERNEL(F) static_assert(true)
#define M4N_DISPATCH(F) HWY_STATIC_DISPATCH(F)
#endif
