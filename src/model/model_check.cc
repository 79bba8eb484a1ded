// The conditions a model must meet before it is written and after it is read:
//
//   k >= 2 distinct classes (items; none for matchings); features + bias >= 1; weights (features + bias) x outputs,
//   finite cost k x k with cost[t][p] > cost[t][t] for p != t, and equal to the named loss where it has a name
//   permutations: a loss of positions with the numbers it has, a decoder of permutations, no bias for matchings
//   label sets: hamming or costs that are positive, edges between different labels with 2 x 2 weights each; graphs:
//   tables for every type and feature of edges cuts: none, or k - 1 finite non-decreasing ones for an ordinal task
//   mean, inverse_scale: none, or d finite numbers; no mean for sparse features
//   a feature map unless linear: finite points, gamma > 0, phases for fourier only
//   sequences: weights of the shapes above them, a decoder of chains, an input with as many columns as weights
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

#include "losses/cost_matrix.h"
#include "losses/label_costs.h"
#include "losses/position_loss_choice.h"
#include "m4n/error.h"
#include "structures/classes/decoder.h"
#include "structures/chains/input.h"

namespace m4n {
namespace {

class Checker {
 public:
  Checker(const Model& model, const std::string& name) : model_(model), name_(name) {}

  void check() const {
    check_names();
    if (is_permutation())
      check_position_loss();
    else if (model_.task == Task::multilabel)
      check_label_costs();
    else
      check_cost();
    if (model_.task == Task::multilabel || model_.task == Task::graph) check_edges();
    check_training();
    if (model_.task == Task::sequence) {
      check_chain();
      check_input();
      return;
    }
    check_weights();
    check_bins();
    check_standardizer();
    check_map();
  }

 private:
  bool is_permutation() const { return model_.task == Task::ranking || model_.task == Task::matching; }

  void require(bool holds, const std::string& what) const {
    if (!holds) throw Error(fmt::format("{}: the model is not valid: {}", name_, what));
  }
  void require_length(const char* what, std::size_t found, std::uint64_t expected) const {
    if (found != expected) require(false, fmt::format("{} has {} entries; expected {}", what, found, expected));
  }
  template <class Real>
  void require_finite(const char* what, const std::vector<Real>& values) const {
    const auto defect = std::find_if_not(values.begin(), values.end(), [](Real x) { return std::isfinite(x); });
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

  void check_names() const {
    const std::size_t k = model_.k();
    if (model_.task == Task::matching)
      require(k == 0 && model_.points > 0, "it is about matchings, but has names of items, or no points");
    else
      require(k >= (model_.task == Task::multilabel ? 1U : 2U) && k <= std::numeric_limits<std::int32_t>::max(),
              fmt::format("it has {} classes; expected at least {}", k, model_.task == Task::multilabel ? 1 : 2));
    require(model_.d <= std::numeric_limits<std::uint32_t>::max(), fmt::format("it has {} features", model_.d));
    require(model_.task == Task::sequence || model_.width() > 0 || model_.bias, "it has neither features nor a bias");
    require_distinct("class", model_.classes);
    if (!model_.feature_names.empty()) require_length("feature_names", model_.feature_names.size(), model_.d);
    require_distinct("feature name", model_.feature_names);
  }

  void check_weights() const {
    const std::size_t rows = model_.width() + (model_.bias ? 1 : 0);
    require(!model_.input, "it says how sequences are read, but its task is another");
    require_length("weights", model_.weights.size(), product_or_largest(rows, model_.outputs()));
    require_finite("weights", model_.weights);
  }

  void check_cost() const {
    const std::size_t k = model_.k();
    const std::string& loss = model_.loss_name;
    const bool parts = model_.task == Task::sequence || model_.task == Task::graph;
    const std::string equal = parts ? "hamming" : "zero-one";  // where all mistakes are alike
    require(loss == equal || loss == "absolute" || loss == "squared" || loss == "matrix",
            fmt::format("the loss is '{}'; expected {}, absolute, squared or matrix", loss, equal));
    require_length("cost", model_.cost.size(), product_or_largest(k, k));
    require_finite("cost", model_.cost);
    for (std::size_t t = 0; t < k; ++t)
      for (std::size_t p = 0; p < k; ++p)
        if (p != t && !(model_.cost[t * k + p] > model_.cost[t * k + t]))
          require(false, fmt::format("cost[{}][{}] is not greater than cost[{}][{}]", t, p, t, t));
    if (loss != "matrix")
      require(model_.cost == CostMatrix::named(loss, k).values(),
              fmt::format("the loss is called {} but its costs are others", loss));
    CostMatrix::from_values(model_.cost, k, loss, model_.classes,
                            name_ + ": its costs");  // refuses sizes it cannot use
  }

  void check_label_costs() const {
    require(model_.loss_name == (model_.cost.empty() ? "hamming" : "costs"),
            fmt::format("the loss is '{}'; expected hamming without costs, or costs", model_.loss_name));
    require_finite("cost", model_.cost);
    try {
      remembered_costs(model_.cost, model_.classes);
    } catch (const Error& error) {
      require(false, error.what());
    }
  }

  // Labels that depend on each other.
  void check_edges() const {
    const GraphPart& part = model_.graph;
    const bool graph = model_.task == Task::graph;
    const std::size_t k = model_.k();
    require(model_.smoothing == 0, "its surrogate is smoothed, which label sets and graphs have not");
    require_finite("edge_weights", part.weights);
    require(model_.surrogate != SurrogateKind::qs || (!graph && part.edges.empty()),
            "its surrogate qs is not one of graphs, nor of labels with edges");
    if (graph) {
      require(part.edges.empty(), "it has edges of its own, but graphs bring theirs");
      require_distinct("node type", part.node_types);
      require_distinct("edge type", part.edge_types);
      require_distinct("edge feature", part.feature_names);
      require(model_.map.kind == FeatureKind::linear, "graphs have no feature map");
      require_length(
          "edge_weights", part.weights.size(),
          product_or_largest(product_or_largest(std::max<std::size_t>(part.edge_types.size(), 1), part.features + 1),
                             product_or_largest(k, k)));
    } else {
      require(part.node_types.empty() && part.edge_types.empty() && part.feature_names.empty() && part.features == 0,
              "it has types or features of edges, which label sets have not");
      require_length("edge_weights", part.weights.size(), 4 * part.edges.size());
      std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
      for (const GraphEdge& edge : part.edges)
        require(edge.u < k && edge.v < k && edge.u != edge.v && seen.insert(std::minmax(edge.u, edge.v)).second,
                "an edge joins labels that are not there, a label with itself, or occurs twice");
    }
    require(goes_with(model_.decode, model_.surrogate),
            fmt::format("the decoder {} does not go with the surrogate {}", to_string(model_.decode),
                        to_string(model_.surrogate)));
  }

  void check_position_loss() const {
    require(model_.smoothing == 0, "its surrogate is smoothed, which permutations have not");
    require(model_.points == 0 || model_.task == Task::matching, "it has points, but its task is not matching");
    require(model_.tokens >= model_.n, fmt::format("it has {} examples but {} items", model_.n, model_.tokens));
    require_finite("cost", model_.cost);
    try {
      const auto loss = PositionLossChoice::remembered(model_.loss_name, model_.cost, model_.k());
      require(model_.task == Task::ranking || loss.name() == "hamming", "matchings have the loss hamming only");
    } catch (const Error& error) {
      require(false, error.what());
    }
    require(goes_with(model_.decode, model_.surrogate),
            fmt::format("the decoder {} does not go with the surrogate {} on permutations", to_string(model_.decode),
                        to_string(model_.surrogate)));
    if (model_.task == Task::matching)
      require(!model_.bias && model_.map.kind == FeatureKind::linear,
              "matchings have neither a bias nor a feature map");
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

  void check_chain() const {
    const std::size_t k = model_.k();
    const ChainWeights& w = model_.chain;
    require(model_.weights.empty() && model_.map.kind == FeatureKind::linear, "it has weights that are no chain's");
    // A file of a chain has no place for these: what was learnt with them is folded into the weights.
    require(model_.standardizer.mean.empty() && model_.standardizer.inverse_scale.empty() && model_.bins.cuts.empty() &&
                model_.target_column.empty() && model_.weights_column.empty() && model_.id_column.empty(),
            "it has a standardisation, cut points or columns of a table, which sequences have not");
    std::visit(
        [&](const auto& features) {
          require_length("features", features.size(), product_or_largest(model_.d, k));
          require_finite("features", features);
        },
        w.features);
    require(model_.bias == !w.bias.empty(), "it does not say whether it has a bias");
    require_length("bias", w.bias.size(), w.bias.empty() ? 0 : k);
    require_length("transitions", w.transitions.size(), product_or_largest(k, k));
    require_length("start", w.start.size(), k);
    require_length("end", w.end.size(), k);
    for (const auto& [name, values] : {std::pair<const char*, const std::vector<double>*>{"bias", &w.bias},
                                       {"transitions", &w.transitions},
                                       {"start", &w.start},
                                       {"end", &w.end}})
      require_finite(name, *values);
    require(std::holds_alternative<std::vector<double>>(w.features) || model_.sparse,
            "its weights are in single precision, but its features are not sparse");
    require(model_.tokens >= model_.n, fmt::format("it has {} sequences but {} tokens", model_.n, model_.tokens));
    require(model_.surrogate != SurrogateKind::qs && model_.smoothing == 0, "its surrogate is not one of sequences");
    const bool crf = model_.surrogate == SurrogateKind::crf, m4n = model_.surrogate == SurrogateKind::m4n;
    require(model_.decode == Decoder::viterbi || (crf && model_.decode == Decoder::expected) ||
                (m4n && model_.decode == Decoder::adversary),
            fmt::format("the decoder {} does not go with the surrogate {} on sequences", to_string(model_.decode),
                        to_string(model_.surrogate)));
  }

  // How files are read, and that as many columns come of it as there are weights for.
  void check_input() const {
    if (!model_.input) return;
    const SequenceInput& input = *model_.input;
    const bool letters = input.format == Format::ocr, text = input.format == Format::conll;
    require(letters || text || input.format == Format::crfsuite,
            fmt::format("the format {} has no sequences", to_string(input.format)));
    require(letters || !input.grid, "it has a grid of pixels, but is not about letters");
    require(!letters || input.dictionary.columns() == 0, "it has a dictionary of attributes, but is about letters");
    require(!input.grid || input.grid->pixels() > 0, "its grid of pixels is empty");
    require(model_.sparse == (!letters || input.grid.has_value()),
            "whether its features are sparse is not as its format");
    const std::size_t columns = letters ? (input.grid ? input.grid->columns() : model_.d) : input.dictionary.columns();
    require(columns == model_.d, fmt::format("its input has {} columns, its weights are for {}", columns, model_.d));
    require(text == (input.attributes.attributes() > 0), "a template goes with columns of text, and with them only");
    require(text == (input.feature_columns > 0), "the number of columns goes with columns of text, and with them only");
    if (text) require(input.attributes.columns() <= input.feature_columns, "its template asks for columns it has not");
  }

  void check_training() const {
    require(model_.decode != Decoder::automatic, "its decoder is still to be chosen (auto)");
    require(model_.task == Task::sequence || model_.decode != Decoder::viterbi, "viterbi is a decoder of sequences");
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
