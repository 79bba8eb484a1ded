// Rankings, label sets and matchings: to a Dataset, and by a model to permutations.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "arrays.h"
#include "core/kernels.h"
#include "data_bindings.h"
#include "losses/position_loss_choice.h"
#include "m4n/error.h"
#include "m4n/model.h"
#include "structures/permutations/predictor.h"

namespace m4n::python {
namespace {

using IntMatrix = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// label[i, j]: where item j stands in example i, from 0; or whether label j is on.
Data outputs(nb::handle x, const IntMatrix& label, std::vector<std::string> names,
             const std::optional<RealVector>& weight, std::vector<std::string> feature_names,
             const std::vector<std::pair<std::uint32_t, std::uint32_t>>& label_edges) {
  const FeatureSource source = feature_source(x);
  Data out;
  Dataset& data = out.value;
  data.label.assign(label.data(), label.data() + label.size());
  data.feature_rows = Groups(rows(source));
  data.labels = Groups(label.shape(0), names.size());
  data.class_names = std::move(names);
  data.feature_names = std::move(feature_names);
  if (weight) data.weight = to_vector(*weight);
  data.x = without_gil(source);
  for (const auto& [u, v] : label_edges) out.label_edges.push_back({u, v});
  return out;
}

std::vector<std::size_t> squares(const std::vector<std::size_t>& points) {
  std::vector<std::size_t> out;
  for (const std::size_t size : points) out.push_back(size * size);
  return out;
}

// parts: M x M rows an example, those of the pairs (0, 0), (0, 1), ...; partner: of every point, from 0.
Data matchings(const nb::list& parts, const std::vector<std::size_t>& points, const IntVector& partner) {
  Data out;
  out.value.x = stacked(parts, squares(points), "example");
  out.value.label = to_vector(partner);
  out.value.feature_rows = grouped(squares(points));
  out.value.labels = grouped(points);
  return out;
}

// One score a pair, finite.
std::vector<double> pair_scores(const Model& model, const DenseMatrix& x, const Context& context) {
  std::vector<double> scores = model.scores(x.view(), context);
  for (const double score : scores)
    if (!kernels::is_score(score))
      throw Error("the score of a pair is beyond what can be computed with: a value is too large for the model");
  return scores;
}

NewArray<std::int32_t> predict_matchings(const Model& model, const nb::list& parts,
                                         const std::vector<std::size_t>& points, unsigned threads) {
  const DenseMatrix x = stacked(parts, squares(points), "example");
  std::vector<std::int32_t> out;
  {
    const nb::gil_scoped_release released;
    Context context;
    context.threads = threads;
    out = PermutationPredictor(model).matchings(pair_scores(model, x, context), grouped(squares(points)), context);
  }
  const std::size_t size = out.size();
  return to_numpy(std::move(out), {size});
}

NewArray<double> matching_marginals(const Model& model, const nb::list& parts, const std::vector<std::size_t>& points,
                                    unsigned threads) {
  const DenseMatrix x = stacked(parts, squares(points), "example");
  std::vector<double> out;
  {
    const nb::gil_scoped_release released;
    Context context;
    context.threads = threads;
    out = PermutationPredictor(model).matching_marginals(pair_scores(model, x, context), grouped(squares(points)),
                                                         context);
  }
  const std::size_t size = out.size();
  return to_numpy(std::move(out), {size});
}

// Mean loss of permutations, all positions from 0, one example behind the other.
double permutation_loss(const Model& model, const std::vector<std::size_t>& sizes, const IntVector& truth,
                        const IntVector& predicted, const std::optional<RealVector>& weight) {
  std::size_t total = 0;
  for (const std::size_t size : sizes) {
    std::vector<bool> taken(size);
    for (std::size_t j = 0; j < size && total + j < truth.size(); ++j) {
      const auto place = static_cast<std::size_t>(truth.data()[total + j]);
      if (place >= size || taken[place])
        throw Error(fmt::format("found {} beside {} places; expected every place once", truth.data()[total + j], size));
      taken[place] = true;
    }
    total += size;
  }
  if (truth.size() != total || predicted.size() != total) throw Error("the permutations have other sizes");
  const std::vector<double> shares = weight ? to_vector(*weight) : std::vector<double>();
  return mean_position_loss(PositionLossChoice::remembered(model.loss_name, model.cost, model.k()), grouped(sizes),
                            {truth.data(), total}, {predicted.data(), total}, shares);
}

}  // namespace

void bind_permutations(nb::module_& module) {
  module.def("outputs", &outputs, nb::arg("x"), nb::arg("label"), nb::arg("names"), nb::arg("weight").none(),
             nb::arg("feature_names"), nb::arg("label_edges"),
             "One row an example, with the positions of all items or the marks of all labels.");
  module.def("matchings", &matchings, nb::arg("parts"), nb::arg("points"), nb::arg("partner"),
             "A row a pair of points and a partner a point.");
  module.def("predict_matchings", &predict_matchings, nb::arg("model"), nb::arg("parts"), nb::arg("points"),
             nb::arg("threads"));
  module.def("matching_marginals", &matching_marginals, nb::arg("model"), nb::arg("parts"), nb::arg("points"),
             nb::arg("threads"));
  module.def("permutation_loss", &permutation_loss, nb::arg("model"), nb::arg("sizes"), nb::arg("truth"),
             nb::arg("predicted"), nb::arg("weight").none());
}

}  // namespace m4n::python
