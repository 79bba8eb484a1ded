// The trained model: predictions, the model file, and what it says of itself.
#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "arrays.h"
#include "core/kernels.h"
#include "data_bindings.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "structures/chains/input.h"

namespace m4n::python {
namespace {

Context with_threads(unsigned threads) {
  Context context;
  context.threads = threads;
  return context;
}

// Rows that must be converted go in blocks, large enough that preparing a kernel's points is a small part of the work.
constexpr std::size_t least_block = 4096;

NewArray<double> scores(const Model& model, nb::handle x, unsigned threads) {
  const FeatureSource source = feature_source(x);
  const std::size_t n = rows(source), k = model.outputs();
  std::vector<double> out;
  {
    const nb::gil_scoped_release released;
    const Context context = with_threads(threads);
    for_each_block(source, std::max(least_block, model.width()), [&](const FeaturesView& block, std::size_t) {
      std::vector<double> part = model.scores(block, context);
      if (out.empty())
        out = std::move(part);
      else
        out.insert(out.end(), part.begin(), part.end());
    });
    for (std::size_t e = 0; e < out.size(); ++e)
      if (!kernels::is_score(out[e]))
        throw Error(
            fmt::format("row {}: the score of {} is {}, beyond what can be computed with: a value of this row is "
                        "too large for the model",
                        e / k, model.output_names()[e % k], out[e]));
  }
  return to_numpy(std::move(out), {n, k});
}

using ScoreMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const double> checked(const Model& model, const ScoreMatrix& v) {
  if (v.shape(1) != model.outputs())
    throw Error(fmt::format("{} scores a row; the model gives {}", v.shape(1), model.outputs()));
  return {v.data(), v.size()};
}

NewArray<std::int32_t> decode(const Model& model, const ScoreMatrix& v, unsigned threads) {
  const std::span<const double> values = checked(model, v);
  std::vector<std::int32_t> out;
  {
    const nb::gil_scoped_release released;
    out = model.decode_scores(values, with_threads(threads));
  }
  const std::size_t n = v.shape(0);
  const bool several = model.task == Task::ranking || model.task == Task::multilabel;
  return several ? to_numpy(std::move(out), {n, model.k()}) : to_numpy(std::move(out), {n});
}

// n x k; of rankings those of every item and position, n x k x k; of label sets that each label is on.
NewArray<double> probabilities(const Model& model, const ScoreMatrix& v, unsigned threads) {
  const std::span<const double> values = checked(model, v);
  std::vector<double> out;
  {
    const nb::gil_scoped_release released;
    out = model.marginals(values, with_threads(threads));
  }
  if (model.task == Task::ranking) return to_numpy(std::move(out), {v.shape(0), model.k(), model.k()});
  return to_numpy(std::move(out), {v.shape(0), model.k()});
}

nb::dict certificate(const Model& model) {
  nb::dict out;
  out["primal"] = model.certificate.primal;
  out["dual"] = model.certificate.dual;
  out["gap"] = model.certificate.gap();
  out["relative_gap"] = model.certificate.relative_gap();
  out["converged"] = model.certificate.converged;
  return out;
}

// Weights as arrays: of classes and grades for the input as it comes, with the standardisation folded in.
nb::dict weights(const Model& model) {
  const std::size_t k = model.outputs();
  nb::dict out;
  if (model.task == Task::sequence) {
    out["features"] = std::visit(
        [&](const auto& w) {
          return nb::cast(to_numpy(w, {model.d, k}));
        },
        model.chain.features);
    out["bias"] = to_numpy(model.chain.bias, {model.chain.bias.size()});
    out["transitions"] = to_numpy(model.chain.transitions, {k, k});
    out["start"] = to_numpy(model.chain.start, {k});
    out["end"] = to_numpy(model.chain.end, {k});
    return out;
  }
  const std::size_t width = model.width();
  std::vector<double> coef(k * width), intercept(k, 0.0);
  const bool scaled = model.map.kind == FeatureKind::linear && !model.standardizer.inverse_scale.empty();
  for (std::size_t c = 0; c < k; ++c) {
    if (model.bias) intercept[c] = model.weights[width * k + c];
    for (std::size_t j = 0; j < width; ++j) {
      double w = model.weights[j * k + c];
      if (scaled) w *= model.standardizer.inverse_scale[j];
      coef[c * width + j] = w;
      if (scaled && !model.standardizer.mean.empty()) intercept[c] -= w * model.standardizer.mean[j];
    }
  }
  out["coef"] = to_numpy(std::move(coef), {k, width});
  out["intercept"] = to_numpy(std::move(intercept), {k});
  return out;
}

// k x k; of permutations M x M, M weights of items or, where the loss has a name, nothing; of label sets 2 x M.
NewArray<double> cost(const Model& model) {
  const std::size_t k = model.k();
  if (model.task == Task::multilabel && !model.cost.empty()) return to_numpy(model.cost, {2, k});
  if (model.cost.size() == k * k) return to_numpy(model.cost, {k, k});
  return to_numpy(model.cost, {model.cost.size()});
}

// Names of the columns of sequences of attributes.
std::vector<std::string> attribute_names(const Model& model) {
  std::vector<std::string> out;
  if (!model.input || model.input->dictionary.hash_bits() > 0) return out;
  for (std::size_t j = 0; j < model.d; ++j) out.push_back(feature_name(*model.input, j));
  return out;
}

nb::bytes bytes_of(const Model& model) {
  const std::string bytes = model.to_bytes();
  return nb::bytes(bytes.data(), bytes.size());
}

// Paths are bytes, as the system has them.
void save(const Model& model, const nb::bytes& path) {
  try {
    const std::string name(path.c_str(), path.size());
    const nb::gil_scoped_release released;
    model.save(name);
  } catch (const Error& error) {
    PyErr_SetString(PyExc_OSError, error.what());
    throw nb::python_error();
  }
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def("scores", &scores, nb::arg("x"), nb::arg("threads"))
      .def("decode", &decode, nb::arg("scores"), nb::arg("threads"))
      .def("probabilities", &probabilities, nb::arg("scores"), nb::arg("threads"))
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
      .def("weights", &weights)
      .def("attribute_names", &attribute_names)
      .def("cost", &cost)
      .def("edge_weights",
           [](const Model& model) { return to_numpy(model.graph.weights, {model.graph.weights.size()}); })
      .def_prop_ro("task", [](const Model& model) { return to_string(model.task); })
      .def_prop_ro("surrogate", [](const Model& model) { return to_string(model.surrogate); })
      .def_prop_ro("decoder", [](const Model& model) { return to_string(model.decode); })
      .def_prop_ro("features", [](const Model& model) { return to_string(model.map.kind); })
      .def_prop_ro("gamma", [](const Model& model) { return model.map.kernel.gamma; })
      .def_ro("loss", &Model::loss_name)
      .def_ro("smoothing", &Model::smoothing)
      .def_ro("classes", &Model::classes)
      .def_ro("feature_names", &Model::feature_names)
      .def_ro("d", &Model::d)
      .def_ro("lam", &Model::lambda)
      .def_ro("tol", &Model::tol)
      .def_ro("epochs", &Model::epochs)
      .def_ro("seed", &Model::seed)
      .def_ro("bias", &Model::bias)
      .def_prop_ro("standardized", [](const Model& model) { return !model.standardizer.inverse_scale.empty(); })
      .def_prop_ro("degree", [](const Model& model) { return model.map.kernel.degree; })
      .def_prop_ro("points", [](const Model& model) { return model.map.points.rows; })
      .def_prop_ro("edges",
                   [](const Model& model) {
                     std::vector<std::pair<std::size_t, std::size_t>> out;
                     for (const GraphEdge& edge : model.graph.edges) out.emplace_back(edge.u, edge.v);
                     return out;
                   })
      .def_prop_ro("hash_bits",
                   [](const Model& model) { return model.input ? model.input->dictionary.hash_bits() : 0; });
}

}  // namespace m4n::python
