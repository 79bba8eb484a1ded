// Multi-label data whose best possible loss is known. The input lies in one of R equally likely regions, and label j is
// on in region r with probability P[r][j], a fixed table in whole percents; the features say which region it is, one
// 0/1 column per region. Labels come in pairs (1 and 2, 3 and 4, ..) that share one random number u, label j being on
// where u < P[r][j]: given the region, the labels of a pair depend on each other, while each has its own probability.
//
// The best rule decides label by label, so that for costs of misses and false alarms (losses/label_costs.h)
//
//   best loss = 1/R sum_r 1/M sum_j  min( miss_j P[r][j], false_alarm_j (1 - P[r][j]) ).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "losses/label_costs.h"
#include "structures/structure.h"

namespace m4n::detail {

class SyntheticLabels {
 public:
  explicit SyntheticLabels(std::uint64_t seed);

  struct Draw {
    std::size_t region;
    std::vector<std::int32_t> label;  // 0 or 1
  };
  // The same seed gives the same ones on every machine, and a longer run begins with a shorter one.
  Draw next();

  static std::size_t regions();
  static std::size_t labels();
  static int percent(std::size_t region, std::size_t label);
  static double best_loss(const LabelCosts& costs);

 private:
  Rng rng_;
};

// The examples as CSV x1..xR,y1..yM.
Generated write_synthetic_labels(std::size_t n, std::uint64_t seed, TextSink& sink);

}  // namespace m4n::detail
