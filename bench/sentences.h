// Labelled sentences as solve_chains takes them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "m4n/dataset.h"

namespace m4n::detail::bench {

struct Sentences {
  std::string name;
  SparseMatrix x;  // without values: all of them are 1
  Groups tokens;
  std::vector<std::int32_t> label;
  std::vector<double> share;  // 1/n each
  std::size_t labels = 0;
};

}  // namespace m4n::detail::bench
