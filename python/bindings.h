// What the source files of the bindings share.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/error.h"
#include "m4n/options.h"

namespace m4n::python {

namespace nb = nanobind;

// A Dataset on its way from Python to the library.
struct Data {
  Dataset value;
  std::vector<GraphEdge> label_edges;  // between the labels of label sets, where they are given
  bool spent = false;                  // moved into a fit
  const Dataset& get() const;
  Dataset take();
};

// Names, and numbers of every example, one row below the other.
using CostNumbers =
    std::pair<std::vector<std::string>, nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>;
CostColumns cost_columns(const CostNumbers& costs);

// Options by the names of the command line.
using TextOptions = std::map<std::string, std::string>;

// Costs by rows, the names of their columns where they are not just the classes, and for every cost the column of the
// data that holds it, where some differ from example to example; or nothing.
using Costs = std::tuple<std::vector<double>, std::vector<std::string>, std::vector<std::string>>;

TrainOptions train_options(const TextOptions& options, Costs cost);

// Runs of these lengths, one behind the other.
Groups grouped(const std::vector<std::size_t>& lengths);

inline Context with_threads(unsigned threads) {
  Context out;
  out.threads = threads;
  return out;
}

// A training as numpy has it: an array by quantity, an entry by certificate.
nb::dict log_columns(const std::vector<Progress>& log);

// What cannot be written, as an OSError.
[[noreturn]] void raise_os_error(const Error& error);

// write(path) without the GIL; what it refuses is an OSError. Paths are bytes, as the system has them.
template <class Write>
void write_to(const nb::bytes& path, const Write& write) {
  try {
    const std::string name(path.c_str(), path.size());
    const nb::gil_scoped_release released;
    write(name);
  } catch (const Error& error) {
    raise_os_error(error);
  }
}

// The pieces of a message: whether it is the name of an option, its text, whether it belongs to the remedy.
nb::list pieces_of(const Message& message);

void bind_data(nb::module_& module);
void bind_attributes(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_model(nb::module_& module);
void bind_report(nb::module_& module);
void bind_parts(nb::module_& module);
void bind_oracles(nb::module_& module);
void bind_structured_oracles(nb::module_& module);
void bind_class_batches(nb::module_& module);
void bind_structured_batches(nb::module_& module);

}  // namespace m4n::python
