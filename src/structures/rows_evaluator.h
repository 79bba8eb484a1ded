// Evaluation of outputs with several parts: every example is a row of numbers, and loss and metrics follow from the
// weighted sums of these rows, so a resample is a sum of rows.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "structures/structure.h"

namespace m4n::detail {

// Labels and predictions, example by example; checked.
struct LabelledPredictions {
  LabelledPredictions(const Examples& examples, LabelView truth, LabelView predicted);
  std::size_t examples() const { return groups.count(); }
  std::size_t size(std::size_t i) const { return groups.end(i) - groups.begin(i); }
  LabelView truth_of(std::size_t i) const { return truth.subspan(groups.begin(i), size(i)); }
  LabelView predicted_of(std::size_t i) const { return predicted.subspan(groups.begin(i), size(i)); }

  const Groups& groups;
  LabelView truth, predicted;
};

struct ExampleRows {
  std::vector<std::string> names;  // of the metrics
  std::size_t width = 0;
  std::vector<double> values;  // width numbers by example
  // The loss, then the metrics, from sums of rows and the sum of the weights.
  std::function<std::vector<double>(std::span<const double> sum, double weight)> measure;
};

inline double ratio(double some, double total) { return total > 0 ? some / total : 0; }

// `weight`: of the examples, or empty. `add_tables` adds to an evaluation what is not resampled.
std::unique_ptr<Evaluator> rows_evaluator(ExampleRows rows, std::span<const double> weight,
                                          std::function<void(Evaluation&)> add_tables = {});

// The class that every prediction is; k: it is none.
std::vector<std::size_t> classes_of_predictions(const Model& model);

// Of parts of which some may be rejected, given a prediction that is no class: the share, and the error of the others.
inline std::vector<double> rejection_metrics(double parts, double rejected, double right) {
  return {ratio(rejected, parts), ratio(parts - rejected - right, parts - rejected)};
}

// How often every label is true, predicted, and both, where labels are classes: unweighted, as all tables. Fills
// labels, confusion and unseen, which are those that are none of the model's.
void add_class_tables(const Model& model, LabelView truth, LabelView predicted, Evaluation& out);

// A table of how well every label (or chunk) is found, for reports; nothing where there is none.
std::vector<Exhibit> found_exhibits(const std::string& title, const std::string& what,
                                    const std::vector<std::pair<std::string, FoundCounts>>& counts);

}  // namespace m4n::detail
