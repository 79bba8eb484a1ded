// The trained model: predictions, the model file, and what it says of itself.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "core/kernels.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/model.h"
#include "structures/structure.h"

namespace m4n::python {
namespace {

template <class T>
NewArray<T> flat(std::vector<T> values) {
  const std::size_t size = values.size();
  return to_numpy(std::move(values), {size});
}

// Rows that must be converted go in blocks, large enough that preparing a kernel's points is a small part of the work.
constexpr std::size_t least_block = 4096;

NewArray<double> scores(const Model& model, nb::handle x, unsigned threads) {
  const FeatureSource source = feature_source(x);
  const std::vector<std::string> names = model.output_names();
  const std::size_t n = rows(source), k = names.size();
  std::vector<double> out;
  {
    const nb::gil_scoped_release released;
    const std::size_t points = detail::structure_of(model).features(model).points;
    for_each_block(source, std::max(least_block, points), [&](const FeaturesView& block, std::size_t) {
      std::vector<double> part = model.scores(block, with_threads(threads));
      if (out.empty())
        out = std::move(part);
      else
        out.insert(out.end(), part.begin(), part.end());
    });
    for (std::size_t e = 0; e < out.size(); ++e)
      if (!detail::kernels::is_score(out[e]))
        throw Error(
            fmt::format("row {}: the score of {} is {}, beyond what can be computed with: a value of this row is "
                        "too large for the model",
                        e / k, names[e % k], out[e]));
  }
  return to_numpy(std::move(out), {n, k});
}

using ScoreMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> checked(const Model& model, const ScoreMatrix& v) {
  const std::size_t outputs = model.output_names().size();
  if (v.shape(1) != outputs) throw Error(fmt::format("{} scores by row; the model gives {}", v.shape(1), outputs));
  return {v.data(), v.size()};
}

// `costs`: of the examples, where they differ and it takes them to predict.
NewArray<std::int32_t> decode(const Model& model, const ScoreMatrix& v, unsigned threads,
                              const std::optional<CostNumbers>& costs) {
  const std::span<const double> values = checked(model, v);
  const CostColumns columns = costs ? cost_columns(*costs) : CostColumns();
  std::vector<std::int32_t> out;
  {
    const nb::gil_scoped_release released;
    out = detail::structure_of(model).decode(model, values, columns, with_threads(threads));
  }
  return flat(std::move(out));
}

NewArray<double> probabilities(const Model& model, const ScoreMatrix& v, unsigned threads,
                               const std::optional<CostNumbers>& costs) {
  const std::span<const double> values = checked(model, v);
  const CostColumns columns = costs ? cost_columns(*costs) : CostColumns();
  detail::Structure::require_probabilities(model, "the model", {});
  std::vector<double> out;
  {
    const nb::gil_scoped_release released;
    out = detail::structure_of(model).marginals(model, values, columns, with_threads(threads));
  }
  return flat(std::move(out));
}

NewArray<std::int32_t> predict(const Model& model, const Data& examples, unsigned threads) {
  std::vector<std::int32_t> out;
  {
    const nb::gil_scoped_release released;
    out = model.predict(examples.get(), with_threads(threads));
  }
  return flat(std::move(out));
}

NewArray<double> marginals(const Model& model, const Data& examples, unsigned threads) {
  std::vector<double> out;
  {
    const nb::gil_scoped_release released;
    out = model.marginals(examples.get(), with_threads(threads));
  }
  return flat(std::move(out));
}

// Labels of all examples one behind the other; `lengths`: how many each has.
double mean_loss(const Model& model, const std::vector<std::size_t>& lengths, const IntVector& truth,
                 const IntVector& predicted, const std::optional<RealVector>& weight,
                 const std::optional<CostNumbers>& costs) {
  Dataset examples;
  if (costs) examples.costs = cost_columns(*costs);
  examples.label = to_vector(truth);
  examples.labels = grouped(lengths);
  if (weight) examples.weight = to_vector(*weight);
  const std::vector<std::int32_t> found = to_vector(predicted);
  const nb::gil_scoped_release released;
  return evaluate(model, examples, found).loss;
}

nb::dict certificate(const Model& model) {
  const Certificate& own = model.certificate();
  nb::dict out;
  out["primal"] = own.primal;
  out["dual"] = own.dual;
  out["gap"] = own.gap();
  out["relative_gap"] = own.relative_gap();
  out["converged"] = own.converged;
  return out;
}

nb::dict arrays(const Model& model) {
  nb::dict out;
  for (detail::NamedArray& array : detail::structure_of(model).arrays(model))
    out[array.name.c_str()] = to_numpy(std::move(array.values), array.shape);
  return out;
}

nb::dict features(const Model& model) {
  const detail::FeatureSummary summary = detail::structure_of(model).features(model);
  nb::dict out;
  out["kind"] = to_string(summary.kind);
  out["bias"] = summary.bias;
  out["standardized"] = summary.standardized;
  out["gamma"] = summary.gamma;
  out["degree"] = summary.degree;
  out["points"] = summary.points;
  return out;
}

nb::bytes bytes_of(const Model& model) {
  const std::string bytes = model.to_bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

void save(const Model& model, const nb::bytes& path) {
  write_to(path, [&](const std::string& name) { model.save(name); });
}

// A field that every model has.
template <auto Member>
auto common(const Model& model) {
  return model.common().*Member;
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def("scores", &scores, nb::arg("x"), nb::arg("threads"), "Of rows of features, rows x outputs.")
      .def("decode", &decode, nb::arg("scores"), nb::arg("threads"), nb::arg("costs") = nb::none())
      .def("probabilities", &probabilities, nb::arg("scores"), nb::arg("threads"), nb::arg("costs") = nb::none())
      .def("predict", &predict, nb::arg("examples"), nb::arg("threads"), "Labels of all examples, in a row.")
      .def("marginals", &marginals, nb::arg("examples"), nb::arg("threads"))
      .def("mean_loss", &mean_loss, nb::arg("lengths"), nb::arg("truth"), nb::arg("predicted"),
           nb::arg("weight").none(), nb::arg("costs") = nb::none())
      .def("save", &save, nb::arg("path"))
      .def("to_bytes", &bytes_of)
      .def_static(
          "from_bytes",
          [](const nb::bytes& bytes, const std::string& name) {
            return Model::from_bytes({bytes.c_str(), bytes.size()}, name);
          },
          nb::arg("bytes"), nb::arg("name"))
      .def("__getstate__", &bytes_of)
      .def("__setstate__",
           [](Model& model, const nb::bytes& bytes) {
             new (&model) Model(Model::from_bytes({bytes.c_str(), bytes.size()}, "the pickled model"));
           })
      .def("certificate", &certificate)
      .def("arrays", &arrays, "Its weights, for the input as it comes.")
      .def("features", &features)
      .def("cost", [](const Model& model) { return flat(model.cost()); })
      .def_prop_ro("task", &common<&ModelCommon::task>)
      .def_prop_ro("surrogate", [](const Model& model) { return to_string(model.surrogate()); })
      .def_prop_ro("decoder", [](const Model& model) { return to_string(model.decode()); })
      .def_prop_ro("loss", &common<&ModelCommon::loss_name>)
      .def_prop_ro("smoothing", &common<&ModelCommon::smoothing>)
      .def_prop_ro("classes", &common<&ModelCommon::classes>)
      .def_prop_ro("cost_columns", &common<&ModelCommon::cost_columns>)
      .def_prop_ro("ignored_columns", &common<&ModelCommon::ignored_columns>)
      .def_prop_ro("predictions", &common<&ModelCommon::predictions>)
      .def_prop_ro("feature_names", &common<&ModelCommon::feature_names>)
      .def_prop_ro("d", &common<&ModelCommon::d>)
      .def_prop_ro("lam", &common<&ModelCommon::lambda>)
      .def_prop_ro("tol", &common<&ModelCommon::tol>)
      .def_prop_ro("epochs", &common<&ModelCommon::epochs>)
      .def_prop_ro("seed", &common<&ModelCommon::seed>)
      .def_prop_ro("train_loss", &common<&ModelCommon::train_loss>);
}

}  // namespace m4n::python
