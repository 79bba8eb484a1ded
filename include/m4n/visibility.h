// What a shared library shows: the names of this folder, and nothing else.
#pragma once
#if defined(__GNUC__)
#define M4N_API __attribute__((visibility("default")))
#else
#define M4N_API
#endif
