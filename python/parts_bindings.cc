// Training over parts of the examples, wherever they are: what is done to one part, and the fit that is told the sums.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "api/fit_parted.h"
#include "arrays.h"
#include "bindings.h"
#include "features/standardize.h"

namespace m4n::python {
namespace {

using detail::ColumnMoments;

template <class Numbers>
auto numpy(const Numbers& values) {
  using Number = typename Numbers::value_type;
  return to_numpy(std::vector<Number>(values.begin(), values.end()), {values.size()});
}

// body(view) of rows that the library can read as they lie, without the GIL.
template <class Body>
auto with_rows(nb::handle x, Body&& body) {
  const FeatureSource source = feature_source(x);
  const auto* dense = std::get_if<DenseSource>(&source);
  if (dense != nullptr && !dense->in_place()) throw Error("the rows of a part must be float64, one after another");
  const FeaturesView view = std::visit([](const auto& own) -> FeaturesView { return own.view(); }, source);
  const nb::gil_scoped_release released;
  return body(view);
}

ColumnMoments moments(nb::handle x, const std::optional<RealVector>& weight) {
  const std::span<const double> weights =
      weight ? std::span(weight->data(), weight->size()) : std::span<const double>();
  return with_rows(x, [&](const FeaturesView& view) { return detail::column_moments(view, weights); });
}

// The mean (none of sparse columns) and the inverse scale of every column.
nb::tuple standardizer(const std::vector<ColumnMoments>& parts) {
  if (parts.empty()) throw Error("there are no parts to standardise");
  const detail::Standardizer found = detail::standardizer_of(detail::merged(parts));
  return nb::make_tuple(numpy(found.mean), numpy(found.inverse_scale));
}

using State = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Centres = std::tuple<RealVector, State>;

// What a fit in parts learns, without any example; it goes to every machine.
class Parted {
 public:
  using Arguments = std::tuple<TextOptions, Costs, std::vector<std::string>, std::vector<std::string>>;

  explicit Parted(Arguments arguments)
      : arguments_(std::move(arguments)), options_(train_options(std::get<0>(arguments_), std::get<1>(arguments_))) {
    names_.class_names = std::get<2>(arguments_);
    names_.feature_names = std::get<3>(arguments_);
    training_ = detail::parted_training(options_, names_);
  }
  const Arguments& arguments() const { return arguments_; }

  // (sums, gradient), and the centres where they moved.
  nb::tuple round(nb::handle x, const IntVector& label, const RealVector& weight, const RealVector& w,
                  std::optional<double> moving, double smoothing, const std::optional<Centres>& centres,
                  unsigned threads) const {
    detail::PartCentres own;
    if (centres) {
      const auto& [mu, state] = *centres;
      own = {to_vector(mu), to_vector(state)};
    }
    const detail::RoundSums sums = with_rows(x, [&](const FeaturesView& view) {
      return training_->round({view, {label.data(), label.size()}, {weight.data(), weight.size()}},
                              {w.data(), w.size()}, moving, smoothing, own, threads);
    });
    nb::object moved = nb::none();
    if (moving) moved = nb::make_tuple(numpy(own.mu), numpy(own.state));
    return nb::make_tuple(numpy(sums.values), numpy(sums.gradient), moved);
  }

  // `round`(w, moving, smoothing) -> (sums, gradient) over all parts; `judge`(model) -> the mean cost of its
  // predictions for the rows as they are in the parts. Both run in the calling thread, so that Ctrl-C ends them.
  Model fit(std::size_t examples, double weight, std::size_t d, bool sparse, const RealVector& mean,
            const RealVector& inverse_scale, const nb::callable& round, const nb::callable& judge,
            const nb::object& observe) const {
    const detail::PartedData data{examples, weight, d, sparse, {to_vector(mean), to_vector(inverse_scale)}};
    Context context;
    if (!observe.is_none())
      context.observe = [&](const Progress& p) { observe(p.epoch, p.seconds, p.primal, p.dual, p.relative_gap); };
    const auto all = [&](std::span<const double> w, std::optional<double> moving, double smoothing) {
      const auto [values, gradient] = nb::cast<std::tuple<RealVector, RealVector>>(round(numpy(w), moving, smoothing));
      detail::RoundSums out;
      if (values.size() != out.values.size()) throw Error("a round has other sums than expected");
      std::copy_n(values.data(), values.size(), out.values.begin());
      out.gradient = to_vector(gradient);
      return out;
    };
    return detail::fit_parted(
        options_, names_, data, all, [&](const Model& model) { return nb::cast<double>(judge(model)); }, context);
  }

 private:
  Arguments arguments_;
  TrainOptions options_;
  Dataset names_;
  std::unique_ptr<detail::PartedTraining> training_;
};

nb::tuple moments_state(const ColumnMoments& m) {
  return nb::make_tuple(m.weight, numpy(m.size), numpy(m.mean), numpy(m.variance), m.dense);
}

}  // namespace

void bind_parts(nb::module_& module) {
  using MomentsState = std::tuple<double, RealVector, RealVector, RealVector, bool>;
  nb::class_<ColumnMoments>(module, "ColumnMoments", "What standardising has to know of the columns of some rows.")
      .def("__getstate__", &moments_state)
      .def("__setstate__", [](ColumnMoments& moments, const MomentsState& state) {
        const auto& [weight, size, mean, variance, dense] = state;
        new (&moments) ColumnMoments{weight, to_vector(size), to_vector(mean), to_vector(variance), dense};
      });
  module.def("column_moments", &moments, nb::arg("x"), nb::arg("weight").none());
  module.def("standardizer", &standardizer, nb::arg("parts"), "Mean and inverse scale of the columns, from all parts.");
  nb::class_<Parted>(module, "Parted", "What a fit in parts learns, without the examples.")
      .def(
          "__init__",
          [](Parted* self, TextOptions options, Costs cost, std::vector<std::string> names,
             std::vector<std::string> feature_names) {
            new (self) Parted({std::move(options), std::move(cost), std::move(names), std::move(feature_names)});
          },
          nb::arg("options"), nb::arg("cost"), nb::arg("names"), nb::arg("feature_names"))
      .def("__getstate__", &Parted::arguments)
      .def("__setstate__", [](Parted& self, Parted::Arguments arguments) { new (&self) Parted(std::move(arguments)); })
      .def("round", &Parted::round, nb::arg("x"), nb::arg("label"), nb::arg("weight"), nb::arg("w"),
           nb::arg("moving").none(), nb::arg("smoothing"), nb::arg("centres").none(), nb::arg("threads"),
           "Sums and gradient of a part at w, and its centres where they move.")
      .def("fit", &Parted::fit, nb::arg("examples"), nb::arg("weight"), nb::arg("d"), nb::arg("sparse"),
           nb::arg("mean"), nb::arg("inverse_scale"), nb::arg("round"), nb::arg("judge"), nb::arg("observe").none());
}

}  // namespace m4n::python
