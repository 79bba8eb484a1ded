// What the source files of the bindings share.
#pragma once
#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::python {

namespace nb = nanobind;

// A Dataset on its way from Python to the library.
struct Data {
  Dataset value;
  std::vector<GraphEdge> label_edges;  // between the labels of label sets, where they are given
  bool spent = false;                  // moved into a fit
  Dataset& get();
  Dataset take();
};

// Runs of these lengths, one behind the other.
Groups grouped(const std::vector<std::size_t>& lengths);

// Options by the names of the command line; cost: empty, or k x k by rows.
TrainOptions train_options(const std::map<std::string, std::string>& options, std::vector<double> cost);

void bind_data(nb::module_& module);
void bind_sequences(nb::module_& module);
void bind_permutations(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_model(nb::module_& module);
void bind_oracles(nb::module_& module);
void bind_structured_oracles(nb::module_& module);

}  // namespace m4n::python
