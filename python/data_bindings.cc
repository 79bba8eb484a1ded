// Arrays of Python to a Dataset.
#include "data_bindings.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "arrays.h"
#include "m4n/error.h"

namespace m4n::python {
namespace {

Data table(nb::handle x, const IntVector& label, std::vector<std::string> class_names,
           const std::optional<RealVector>& weight, std::vector<std::string> feature_names) {
  const FeatureSource source = feature_source(x);
  Data out;
  Dataset& data = out.value;
  data.label = to_vector(label);
  data.class_names = std::move(class_names);
  data.feature_names = std::move(feature_names);
  if (weight) data.weight = to_vector(*weight);
  data.feature_rows = data.labels = Groups(rows(source));
  data.x = without_gil(source);
  return out;
}

// x: a list of one matrix a sequence, or one CSR matrix of all of them.
Data sequences(const nb::object& x, const std::vector<std::size_t>& lengths, const IntVector& label,
               std::vector<std::string> class_names) {
  Data out;
  Dataset& data = out.value;
  data.label = to_vector(label);
  data.class_names = std::move(class_names);
  if (nb::isinstance<nb::list>(x))
    data.x = stacked(nb::borrow<nb::list>(x), lengths, "sequence");
  else
    data.x = without_gil(feature_source(x));
  data.feature_rows = data.labels = grouped(lengths);
  return out;
}

}  // namespace

Groups grouped(const std::vector<std::size_t>& lengths) {
  std::vector<std::size_t> starts{0};
  for (const std::size_t length : lengths) starts.push_back(starts.back() + length);
  return Groups(std::move(starts));
}

Dataset& Data::get() {
  if (spent) throw Error("these data were handed to a fit already");
  return value;
}

Dataset Data::take() {
  Dataset out = std::move(get());
  spent = true;
  return out;
}

TrainOptions train_options(const std::map<std::string, std::string>& options, std::vector<double> cost) {
  TrainOptions out;
  const std::vector<OptionRow>& table_rows = train_option_table();
  for (const auto& [name, value] : options) {
    const auto row = std::find_if(table_rows.begin(), table_rows.end(),
                                  [&name = name](const OptionRow& candidate) { return candidate.name == name; });
    if (row == table_rows.end()) throw UsageError("unknown option --" + name);
    row->set(out, value);
  }
  out.cost = std::move(cost);
  return out;
}

void bind_data(nb::module_& module) {
  nb::class_<Data>(module, "Data", "Examples with labels, ready for fit(), which takes them away.");
  module.def("table", &table, nb::arg("x"), nb::arg("label"), nb::arg("class_names"), nb::arg("weight").none(),
             nb::arg("feature_names"), "One row and one label an example.");
  module.def("sequences", &sequences, nb::arg("x"), nb::arg("lengths"), nb::arg("label"), nb::arg("class_names"),
             "One row and one label a token.");
}

}  // namespace m4n::python
