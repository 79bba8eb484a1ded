// Labels of classes and grades: cells of a column to numbers of classes, and the weights of classes.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "data/table.h"
#include "m4n/dataset.h"
#include "m4n/read.h"

namespace m4n::detail {

// Grades have an order, in which they are numbered; other classes have none.
enum class Order { none, grades };

// Class names sort as numbers where all are numbers, as words otherwise. Grades are taken in that order, or cut from
// the raw target into `bins` grades by `binning` (the cut points are in the result).
Dataset label_for_training(RawTable table, Order order, int bins = 0, Binning binning = Binning::quantile);
// What is said of classes with a single example, whose label may be a stray one; empty: there are none, or all are so.
// `where` an example stands.
std::string lone_labels(const Dataset& data, const std::function<std::string(std::size_t)>& where);
// The label column as numbers; refuses cells that are no numbers.
std::vector<double> raw_targets(const RawTable& table);
// A column `target` of numbers.
bool has_raw_target(const RawTable& table);
// Labels for a trained model: its classes and cut points.
void label_for_model(RawTable table, const std::vector<std::string>& classes, const OrdinalBins& bins, Examples& out);

// One weight per class from `balanced` (n / (k n_c)) or a CSV file with rows class,weight.
std::vector<double> read_class_weights(const std::string& spec, const Dataset& data);

}  // namespace m4n::detail
