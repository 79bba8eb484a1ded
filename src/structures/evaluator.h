// Loss and metrics of predictions, in a form that resampling can use: every example adds its own to a tally, and the
// values follow from the tally. So a resample of n examples costs n additions.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "m4n/evaluate.h"

namespace m4n::detail {

class Tally {
 public:
  virtual ~Tally() = default;
  virtual void clear() = 0;
  virtual void add(std::size_t example) = 0;
  // The loss, then the metrics in the order of Evaluation::metrics.
  virtual std::vector<double> values() const = 0;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual Evaluation evaluate() const = 0;
  // Examples with a positive weight: those that can be drawn.
  virtual std::size_t examples() const = 0;
  virtual std::unique_ptr<Tally> tally() const = 0;
};

}  // namespace m4n::detail
