// The fixture of every_structure_test.cc: data that a structure generates, and what it can train on them.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/rng.h"
#include "m4n/m4n.h"
#include "support/generated_file.h"
#include "surrogates/registry.h"

namespace m4n::detail::test {

inline constexpr double tolerance = 1e-2;

inline bool is_refused(const TrainOptions& options) {
  try {
    validate(options);
    return false;
  } catch (const UsageError&) {
    return true;
  }
}

// How large rounding may be beside an objective.
inline double slack(const Certificate& c) { return 1e-9 * (1 + std::abs(c.primal)); }

// Both bracket the same optimum.
inline void expect_agreement(const Certificate& a, const Certificate& b) {
  EXPECT_LE(a.dual, b.primal + slack(b));
  EXPECT_LE(b.dual, a.primal + slack(a));
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class EveryStructure : public testing::TestWithParam<const Structure*> {
 protected:
  const Structure& structure() const { return *GetParam(); }
  GeneratedFile generated(std::size_t n, std::uint64_t seed = 1) const { return {structure().name(), n, seed}; }

  // Options for every surrogate that the structure trains on these data.
  std::vector<TrainOptions> trainable(const GeneratedFile& file) const {
    std::vector<TrainOptions> out;
    for (const SurrogateRow& row : surrogate_rows()) {
      TrainOptions options = file.options;
      options.surrogate = row.kind;
      options.tol = tolerance;
      if (!is_refused(options) && structure().obstacle(row.kind, file.data).empty()) out.push_back(options);
    }
    EXPECT_FALSE(out.empty());
    return out;
  }
};

// The same examples with features that differ a little, where they are numbers: no two scores are equal then, so that
// rounding decides nothing.
inline Dataset without_ties(Dataset data) {
  Rng rng(1);
  if (auto* dense = std::get_if<DenseMatrix>(&data.x))
    for (double& value : dense->values) value += 0.1 * rng.normal();
  return data;
}

}  // namespace m4n::detail::test
