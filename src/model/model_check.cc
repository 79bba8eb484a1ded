// The conditions a model must meet before it is written and after it is read:
//
//   k >= 2 distinct classes; features + bias >= 1; weights (features + bias) x k and finite
//   cost k x k with cost[t][p] > cost[t][t] for p != t, and equal to the named loss where it has a name
//   cuts: none, or k - 1 finite non-decreasing ones for an ordinal task
//   mean, inverse_scale: none, or d finite numbers; no mean for sparse features
//   a feature map unless linear: finite points, gamma > 0, phases for fourier only
//   numbers about the training finite where they must be, and not negative where they cannot be
//
// Cost: linear in the size of the model.
#include "model/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string_view>

#include "loss/cost_matrix.h"
#include "m4n/error.h"

namespace m4n {
namespace {

class Checker {
 public:
  Checker(const Model& model, const std::string& name) : model_(model), name_(name) {}

  void check() const {
    check_shape();
    check_cost();
    check_bins();
    check_standardizer();
    check_map();
    check_training();
  }

 private:
  void require(bool holds, const std::string& what) const {
    if (!holds) throw Error(fmt::format("{}: the model is not valid: {}", name_, what));
  }
  void require_length(const char* what, std::size_t found, std::uint64_t expected) const {
    if (found != expected) require(false, fmt::format("{} has {} entries; expected {}", what, found, expected));
  }
  void require_finite(const char* what, std::span<const double> values) const {
    const auto defect = std::find_if_not(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
    if (defect != values.end())
      require(false, fmt::format("{} holds {} at entry {}", what, *defect, defect - values.begin()));
  }
  void require_distinct(const char* what, const std::vector<std::string>& names) const {
    std::set<std::string_view> seen;
    for (const std::string& entry : names)
      if (!seen.insert(entry).second) require(false, fmt::format("the {} '{}' occurs twice", what, entry));
  }
  void require_not_negative(const char* what, double value) const {
    require(std::isfinite(value) && value >= 0,
            fmt::format("{} is {}; expected a finite number that is not negative", what, value));
  }

  void check_shape() const {
    const std::size_t k = model_.k(), rows = model_.width() + (model_.bias ? 1 : 0);
    require(k >= 2 && k <= std::numeric_limits<std::int32_t>::max(),
            fmt::format("it has {} classes; expected at least 2", k));
    require(model_.d <= std::numeric_limits<std::uint32_t>::max(), fmt::format("it has {} features", model_.d));
    require(rows >= 1, "it has neither features nor a bias");
    require_distinct("class", model_.classes);
    if (!model_.feature_names.empty()) require_length("feature_names", model_.feature_names.size(), model_.d);
    require_distinct("feature name", model_.feature_names);
    require_length("weights", model_.weights.size(), product_or_largest(rows, k));
    require_finite("weights", model_.weights);
  }

  void check_cost() const {
    const std::size_t k = model_.k();
    const std::string& loss = model_.loss_name;
    require(loss == "zero-one" || loss == "absolute" || loss == "squared" || loss == "matrix",
            fmt::format("the loss is '{}'; expected zero-one, absolute, squared or matrix", loss));
    require_length("cost", model_.cost.size(), product_or_largest(k, k));
    require_finite("cost", model_.cost);
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k; ++p)
        if (p != t && !(model_.cost[t * k + p] > model_.cost[t * k + t]))
          require(false, fmt::format("cost[{}][{}] is not greater than cost[{}][{}]", t, p, t, t));
    if (loss != "matrix")
      require(model_.cost == CostMatrix::named(loss, k).values(),
              fmt::format("the loss is called {} but its costs are others", loss));
  }

  void check_bins() const {
    const std::vector<double>& cuts = model_.bins.cuts;
    if (cuts.empty()) return;
    require(model_.task == Task::ordinal, "it has cut points, but its task is not ordinal");
    require_length("cuts", cuts.size(), model_.k() - 1);
    require_finite("cuts", cuts);
    require(std::is_sorted(cuts.begin(), cuts.end()), "its cut points decrease somewhere");
  }

  void check_standardizer() const {
    const auto& [mean, inverse_scale] = model_.standardizer;
    if (!mean.empty()) {
      require_length("mean", mean.size(), model_.d);
      require(!inverse_scale.empty(), "it has means but no scales");
      require(!model_.sparse, "it has means, but its features are sparse and are never centred");
      require_finite("mean", mean);
    }
    if (!inverse_scale.empty()) require_length("inverse_scale", inverse_scale.size(), model_.d);
    require_finite("inverse_scale", inverse_scale);
    require(std::none_of(inverse_scale.begin(), inverse_scale.end(), [](double scale) { return scale < 0; }),
            "inverse_scale holds a negative number");
  }

  void check_map() const {
    const auto& [kind, kernel, points, phase] = model_.map;
    const std::size_t width = points.rows;
    if (kind == FeatureKind::linear) {
      require(width == 0 && points.values.empty() && phase.empty(),
              "its features are linear, but it has a feature map");
      return;
    }
    require(std::isfinite(kernel.gamma) && kernel.gamma > 0, fmt::format("gamma is {}", kernel.gamma));
    require(kernel.degree >= 1 && kernel.degree <= largest_degree, fmt::format("degree is {}", kernel.degree));
    require(points.cols == model_.d, "its points have another number of columns than its input");
    require_length("points", points.values.size(), product_or_largest(width, model_.d));
    require_finite("points", points.values);
    require_length("phase", phase.size(), kind == FeatureKind::fourier ? width : 0);
    require_finite("phase", phase);
  }

  void check_training() const {
    require(model_.decode != Decoder::automatic, "its decoder is still to be chosen (auto)");
    require_not_negative("smoothing", model_.smoothing);
    require(model_.smoothing == 0 || model_.surrogate == SurrogateKind::m4n,
            "only the surrogate m4n can be smoothed, but it has another one");
    require_not_negative("lambda", model_.lambda);
    require_not_negative("tol", model_.tol);
    require(model_.epochs >= 0, fmt::format("epochs is {}", model_.epochs));
    require(std::isfinite(model_.train_loss), fmt::format("train_loss is {}", model_.train_loss));
    require_not_negative("norm_squared", model_.norm_squared);
    // A solver that was stopped before its first certificate has the bounds -infinity and infinity.
    require(!std::isnan(model_.certificate.primal) && !std::isnan(model_.certificate.dual),
            "its certificate is not a number");
  }

  const Model& model_;
  const std::string& name_;
};

}  // namespace

void check_model(const Model& model, const std::string& name) { Checker(model, name).check(); }

std::uint64_t product_or_largest(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > largest / b ? largest : a * b;
}

}  // namespace m4n
