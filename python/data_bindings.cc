// Arrays of Python to a Dataset, whatever the structure: rows of features, labels, and which belong together.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "arrays.h"
#include "bindings.h"
#include "m4n/error.h"

namespace m4n::python {
namespace {

// Every example has that many, or as many as its entry of the list.
using Runs = std::variant<std::size_t, std::vector<std::size_t>>;

Groups groups_of(const Runs& runs, std::size_t total) {
  if (const auto* lengths = std::get_if<std::vector<std::size_t>>(&runs)) return grouped(*lengths);
  const std::size_t each = std::get<std::size_t>(runs);
  if (each == 0 || total % each != 0) throw Error("examples have no equal shares of these arrays");
  return Groups(total / each, each);
}

// x: a matrix, the parts of a CSR matrix, or a list of one matrix by example.
Features features_of(const nb::object& x, const Runs& rows) {
  if (!nb::isinstance<nb::list>(x)) return without_gil(feature_source(x));
  return stacked(nb::borrow<nb::list>(x), std::get<std::vector<std::size_t>>(rows), "example");
}

void set_edges(Data& data, const std::vector<std::size_t>& counts, const IntVector& ends, const RealVector& features,
               std::size_t columns) {
  auto graph = std::make_shared<GraphStructure>();
  graph->edges = grouped(counts);
  const std::size_t edges = ends.size() / 2;
  for (std::size_t e = 0; e < edges; ++e)
    graph->edge.push_back(
        {static_cast<std::uint32_t>(ends.data()[2 * e]), static_cast<std::uint32_t>(ends.data()[2 * e + 1])});
  graph->edge_features.rows = edges;
  graph->edge_features.cols = columns;
  graph->edge_features.values = to_vector(features);
  if (graph->edge_features.values.size() != edges * columns)
    throw Error("the features of edges do not belong to so many edges");
  data.value.graph = std::move(graph);
}

Data examples(const nb::object& x, const Runs& rows, const std::optional<IntVector>& label, const Runs& labels,
              std::vector<std::string> names, const std::optional<RealVector>& weight,
              std::vector<std::string> feature_names,
              const std::vector<std::pair<std::uint32_t, std::uint32_t>>& label_edges) {
  Data out;
  Dataset& data = out.value;
  data.x = features_of(x, rows);
  data.feature_rows = groups_of(rows, m4n::rows(data.x));
  if (label) {
    data.label = to_vector(*label);
    data.labels = groups_of(labels, data.label.size());
  }
  data.class_names = std::move(names);
  data.feature_names = std::move(feature_names);
  if (weight) data.weight = to_vector(*weight);
  for (const auto& [u, v] : label_edges) out.label_edges.push_back({u, v});
  return out;
}

}  // namespace

Groups grouped(const std::vector<std::size_t>& lengths) {
  std::vector<std::size_t> starts{0};
  for (const std::size_t length : lengths) starts.push_back(starts.back() + length);
  return Groups(std::move(starts));
}

CostColumns cost_columns(const CostNumbers& costs) {
  const auto& [names, numbers] = costs;
  return {names, {numbers.shape(0), numbers.shape(1), {numbers.data(), numbers.data() + numbers.size()}}};
}

const Dataset& Data::get() const {
  if (spent) throw Error("these data were handed to a fit already");
  return value;
}

Dataset Data::take() {
  get();
  spent = true;
  return std::move(value);
}

void bind_data(nb::module_& module) {
  nb::class_<Data>(module, "Data", "Examples, with labels ready for fit(), which takes them away.")
      .def(
          "set_weights", [](Data& data, const RealVector& weight) { data.value.weight = to_vector(weight); },
          nb::arg("weight"))
      .def(
          "set_labels",
          [](Data& data, const IntVector& label, const Runs& labels) {
            data.value.label = to_vector(label);
            data.value.labels = groups_of(labels, data.value.label.size());
          },
          nb::arg("label"), nb::arg("labels"), "As in examples(), where the rows were there before.")
      .def(
          "set_costs", [](Data& data, const CostNumbers& costs) { data.value.costs = cost_columns(costs); },
          nb::arg("costs"), "Names of columns, and their numbers, n x names: what costs of the examples name.")
      .def("set_edges", &set_edges, nb::arg("counts"), nb::arg("ends"), nb::arg("features"), nb::arg("columns"),
           "Of graphs: so many edges each, their two ends one behind the other, a row of features per edge.")
      .def_prop_ro("examples", [](const Data& data) { return data.get().examples(); });
  module.def("examples", &examples, nb::arg("x"), nb::arg("rows"), nb::arg("label").none(), nb::arg("labels"),
             nb::arg("names"), nb::arg("weight").none(), nb::arg("feature_names"), nb::arg("label_edges"),
             "Examples that own runs of rows and of labels: the same number each, or as many as a list says.");
}

}  // namespace m4n::python
