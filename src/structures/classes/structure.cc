// Implements Structure for classes without an order and for ordered grades.
#include "structures/classes/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "core/checksum.h"
#include "core/csv.h"
#include "core/enum_names.h"
#include "core/kernels.h"
#include "core/message.h"
#include "core/option_values.h"
#include "core/parallel.h"
#include "structures/classes/decoder.h"
#include "structures/classes/labels.h"
#include "structures/classes/parted.h"
#include "structures/classes/report.h"
#include "structures/classes/synthetic.h"
#include "structures/classes/training.h"

namespace m4n::detail {
namespace {

constexpr const char* linear_kind = "linear";
constexpr std::uint64_t largest_count = std::numeric_limits<std::int32_t>::max();
constexpr const char* mapped_kind = "mapped";  // linear in features that are computed from the input

class Classes : public TableStructure {
 public:
  Classes(StructureTraits traits, Order order) : TableStructure(std::move(traits)), order_(order) {}

  void check_options(const TrainOptions& o) const override {
    if (o.bins > 0 && order_ != Order::grades)
      throw UsageError(
          say("--bins cuts a numeric target into ordered grades, which --task multiclass has not. => Use --task "
              "ordinal, or leave out --bins"));
  }
  LossSummary loss(const TrainOptions& options, const Dataset& data) const override {
    const CostMatrix cost = chosen_cost(options, data, traits().usual_loss);
    return {cost.name(), cost.values(), cost.symmetric(), cost.mean_off_diagonal(), cost.prediction_names()};
  }
  std::vector<std::pair<std::string, std::string>> files(const TrainOptions& o) const override {
    if (!names_a_file(o.class_weight)) return {};
    return {{"class-weight", o.class_weight}};
  }

  std::vector<std::pair<std::string, std::string>> settings(const TrainOptions& o, const Dataset& data) const override {
    if (!names_a_file(o.class_weight)) return {};
    return {{"class-weight", checksum_text(read_class_weights(o.class_weight, data))}};
  }

  bool recognises(const RawTable& table, const TrainOptions& options) const override {
    if (!table.output_names.empty()) return false;
    return (order_ == Order::grades) == (options.bins > 0 || has_raw_target(table));
  }
  std::vector<std::string> remarks(const Dataset& data, const TrainOptions& options) const override;

  Strata strata(const Dataset& data) const override { return {data.label, Groups(data.label.size())}; }

  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                       const Context& context) const override {
    return std::make_unique<ClassTrainingSet>(std::move(data), options, traits().usual_loss, context);
  }

  std::unique_ptr<PartedTraining> in_parts(const TrainOptions& options, const Dataset& names) const override {
    return classes_in_parts(options, names, traits().usual_loss);
  }

  std::vector<std::string> kinds() const override { return {linear_kind, mapped_kind}; }
  std::string kind_of(const Model& model) const override {
    return part_of<ClassPart>(model).rows.map.kind == FeatureKind::linear ? linear_kind : mapped_kind;
  }
  void write_part(const Model& model, ModelFileWriter& file) const override {
    const auto& part = part_of<ClassPart>(model);
    file.real("smoothing", model.common().smoothing);
    file.field("binning", to_string(part.bins.rule));
    write_predictions(model.common(), file);
    if (!model.common().cost_columns.empty()) file.array("cost_columns", model.common().cost_columns);
    write_rows(model.common(), part.rows, part.bins.cuts, file);
  }
  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override {
    const std::uint64_t k = common.classes.size();
    auto part = std::make_shared<ClassPart>();
    common.smoothing = file.real("smoothing");
    part->bins.rule = file.choice<Binning>("binning");
    read_predictions_and_cost(file, common);
    const std::uint64_t width = common.predictions.empty() ? k : common.predictions.size();
    if (file.has_array("cost_columns")) common.cost_columns = file.strings("cost_columns", common.cost.size());
    part->rows = read_rows(file, common, common.surrogate == SurrogateKind::qs ? width : k, file.kind() == mapped_kind,
                           &part->bins.cuts);
    return part;
  }
  void check(const Model& model, const std::string& name) const override;

  // QS scores predictions, the others classes.
  std::vector<std::string> output_names(const Model& model) const override {
    return model.surrogate() == SurrogateKind::qs ? model.predictions() : model.classes();
  }
  std::vector<std::int32_t> decode(const Model& model, std::span<const double> scores, const CostColumns& costs,
                                   const Context& context) const override;
  std::vector<double> marginals(const Model& model, std::span<const double> scores, const CostColumns& costs,
                                const Context& context) const override;
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override {
    return class_evaluator(model, examples, predicted, order_ == Order::grades);
  }
  void describe(const Model& model, Json& info) const override {
    TableStructure::describe(model, info);
    const OrdinalBins& bins = part_of<ClassPart>(model).bins;
    if (!bins.cuts.empty()) info.set("binning", to_string(bins.rule)).set("cuts", bins.cuts);
    if (!model.common().cost_columns.empty()) info.set("cost_columns", model.common().cost_columns);
  }
  std::vector<std::pair<std::string, std::string>> description(const Model& model) const override {
    const OrdinalBins& bins = part_of<ClassPart>(model).bins;
    std::vector<std::pair<std::string, std::string>> out;
    if (!bins.cuts.empty()) out.emplace_back("cuts", fmt::format("{} ({})", abridged(bins.cuts), to_string(bins.rule)));
    if (const auto columns = model.common().columns_of_costs(); !columns.empty())
      out.emplace_back("costs by example", fmt::format("columns {}", shown_list(columns, 10)));
    return out;
  }

  void each_answer(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                   const AnswerVisitor& visit) const override {
    if (model.common().cost_columns.empty()) return Structure::each_answer(model, examples, predicted, visit);
    visit_varying_costs(model, examples, predicted, visit);
  }
  std::vector<std::int32_t> best_constant(const Model& model, const Examples& examples) const override {
    if (model.common().cost_columns.empty()) return Structure::best_constant(model, examples);
    return best_constant_of_varying_costs(model, examples);
  }
  std::vector<Exhibit> exhibits(const Judged& judged) const override {
    return order_ == Order::grades ? grade_exhibits(judged) : class_exhibits(judged);
  }
  using TableStructure::exhibits;

  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    if (request.costs_by_example) return write_loans(request.n, request.seed, sink);
    if (request.softmax) return write_softmax(request, sink);
    return write_synthetic(SyntheticProblem(order_), request.n, request.seed, sink);
  }

 protected:
  OutputColumns output_columns() const override { return OutputColumns::one; }
  Dataset label(RawTable table, const TrainOptions& options, const Notes& note,
                std::vector<double>& raw_target) const override {
    if (options.bins > 0) raw_target = raw_targets(table);
    const ExampleCosts::Where where = [path = table.path, line = table.line](std::size_t i) {
      return fmt::format("{}: line {}", path, line[i]);
    };
    Dataset data = label_for_training(std::move(table), order_, options.bins, options.binning);
    if (const std::string text = lone_labels(data, where); !text.empty() && options.bins == 0) note(text);
    if (!data.costs.names.empty()) {
      const CostMatrix cost = chosen_cost(options, data, traits().usual_loss);
      [[maybe_unused]] const ExampleCosts checked(cost, data.costs, data.examples(), where);
    }
    return data;
  }
  void label(RawTable table, const Model& model, Examples& out) const override {
    label_for_model(std::move(table), model.classes(), part_of<ClassPart>(model).bins, out);
    if (out.data.costs.names.empty()) return;
    const CostMatrix cost = model_cost(model);
    [[maybe_unused]] const ExampleCosts checked(cost, out.data.costs, out.data.examples(), [&](std::size_t i) {
      return fmt::format("{}: line {}", out.path, out.line[i]);
    });
  }
  std::vector<std::string> prediction_columns(const Model&) const override { return {"label"}; }
  void append_cells(const Model& model, std::span<const std::int32_t> labels, std::string& out) const override {
    out += csv_cell(model.predictions()[static_cast<std::size_t>(labels[0])]);
  }
  void add_json(const Model& model, std::span<const std::int32_t> labels, const PredictionRequest& request,
                Json& out) const override {
    Json names = Json::array();
    for (const std::int32_t label : labels) names.push(model.predictions()[static_cast<std::size_t>(label)]);
    out.set("label", std::move(names));
    if (request.scores || request.marginals) out.set("classes", output_names(model));
  }

 private:
  Order order_;
};

void Classes::check(const Model& model, const std::string& name) const {
  const ModelCheck check(name);
  const auto& part = part_of<ClassPart>(model);
  check.require(model.k() >= 2, fmt::format("it has {} classes; expected at least 2", model.k()));
  check_cost(model, check);
  check_rows(model.common(), part.rows, output_names(model).size(), check);
  const std::vector<double>& cuts = part.bins.cuts;
  if (cuts.empty()) return;
  check.require(order_ == Order::grades, "it has cut points, but its task is not ordinal");
  check.require_length("cuts", cuts.size(), model.k() - 1);
  check.require_finite("cuts", cuts);
  check.require(std::is_sorted(cuts.begin(), cuts.end()), "its cut points decrease somewhere");
}

namespace {

// body(rule) with the costs of the model, and of the examples where these differ and it takes them to decode.
template <class Body>
auto with_costs(const Model& model, std::span<const double> scores, const CostColumns& costs, bool needed,
                Body&& body) {
  const CostMatrix cost = model_cost(model);
  const ModelCommon& common = model.common();
  std::optional<ExampleCosts> examples;
  if (cost.varies() && needed) {
    if (costs.names.empty())
      throw UsageError(
          say("the costs of this model differ from example to example (columns {}), and it predicts by them; => give "
              "them with the examples",
              shown_list(common.columns_of_costs(), 5)));
    examples.emplace(cost, costs, scores.size() / score_count(common.surrogate, cost));
  }
  return body(DecodingRule{common.surrogate, common.decode, common.smoothing, &cost, examples ? &*examples : nullptr});
}

}  // namespace

std::vector<std::int32_t> Classes::decode(const Model& model, std::span<const double> scores, const CostColumns& costs,
                                          const Context& context) const {
  return with_costs(model, scores, costs, knows_costs(model.surrogate(), model.decode()),
                    [&](const DecodingRule& rule) { return decode_rows(scores, rule, context); });
}

std::vector<double> Classes::marginals(const Model& model, std::span<const double> scores, const CostColumns& costs,
                                       const Context&) const {
  return with_costs(model, scores, costs, model.common().smoothing > 0,
                    [&](const DecodingRule& rule) { return row_marginals(scores, rule); });
}

// Costs count steps between grades, so gaps between their numbers are lost; a user may have meant them. Tied targets
// can leave grades without examples, which still count as steps in the costs.
std::vector<std::string> Classes::remarks(const Dataset& data, const TrainOptions& options) const {
  const std::vector<std::string>& grades = data.class_names;
  std::vector<std::string> out = Structure::remarks(data, options);
  if (order_ != Order::grades) return out;
  if (!data.bins.cuts.empty()) {
    std::vector<std::string> empty;
    for (std::size_t g = 0; g < grades.size(); ++g)
      if (std::find(data.label.begin(), data.label.end(), static_cast<std::int32_t>(g)) == data.label.end())
        empty.push_back(grades[g]);
    if (!empty.empty())
      out.push_back(
          fmt::format("no target falls into grade {}: tied targets; fewer --bins, or --binning width, avoid that",
                      shown_list(empty, 10)));
    return out;
  }
  constexpr std::size_t most = 10;
  bool consecutive = true;
  std::vector<std::size_t> ranks;
  for (std::size_t r = 0; r < grades.size(); ++r) {
    if (r > 0) consecutive = consecutive && *finite_number(grades[r]) - *finite_number(grades[r - 1]) == 1;
    if (r < most) ranks.push_back(r);
  }
  if (consecutive) return out;
  const std::vector<std::string> first(grades.begin(), grades.begin() + static_cast<std::ptrdiff_t>(ranks.size()));
  const char* const more = grades.size() > most ? ", ..." : "";
  out.push_back(
      fmt::format("the grades {}{} count as ranks {}{}; give the costs with --loss FILE.csv if the distances matter",
                  fmt::join(first, ", "), more, fmt::join(ranks, ", "), more));
  return out;
}

StructureTraits traits_of(std::string name, std::string summary) {
  StructureTraits out;
  out.name = std::move(name);
  out.summary = std::move(summary);
  out.options = {"reject",       "inner",  "smoothing", "features", "bins",
                 "class-weight", "target", "weights",   "id",       "ignore"};
  out.formats = {"csv", "libsvm"};
  out.several_parts = false;
  return out;
}

}  // namespace

std::vector<std::unique_ptr<Structure>> class_structures() {
  StructureTraits classes = traits_of("multiclass", "classes without an order");
  classes.generates = {"costs", "kind", "features", "classes"};
  StructureTraits grades = traits_of("ordinal", "ordered grades");
  grades.usual_loss = "absolute";
  std::vector<std::unique_ptr<Structure>> out;
  out.push_back(std::make_unique<Classes>(std::move(classes), Order::none));
  out.push_back(std::make_unique<Classes>(std::move(grades), Order::grades));
  return out;
}

void write_predictions(const ModelCommon& common, ModelFileWriter& file) {
  if (common.predictions.empty()) return;
  file.field("prediction_count", std::uint64_t{common.predictions.size()});
  file.array("predictions", common.predictions);
}

void read_predictions_and_cost(ModelFileReader& file, ModelCommon& common) {
  const std::uint64_t k = common.classes.size();
  if (file.has_array("predictions"))
    common.predictions = file.strings("predictions", file.natural("prediction_count", 1, largest_count));
  common.cost = file.doubles("cost", product_or_largest(k, common.predictions.empty() ? k : common.predictions.size()));
}

namespace {

// The largest score decides among classes; QS scores predictions themselves.
Decoder model_decoder_of_classes(const Model& model) {
  return model.surrogate() == SurrogateKind::qs ? Decoder::automatic : structure_of(model).traits().largest;
}

}  // namespace

CostMatrix model_cost(const Model& model) {
  return CostMatrix::from_values(model.cost(), model.k(), model.loss_name(), model.classes(), "the model's cost matrix",
                                 model.common().predictions, model.common().cost_columns);
}

void check_cost(const Model& model, const ModelCheck& check) {
  const std::size_t k = model.k();
  const std::vector<double>& cost = model.cost();
  const std::string& loss = model.loss_name();
  const auto named = find_loss(loss);
  const LossFamily family = structure_of(model).traits().losses;
  check.require(loss == "matrix" || (named && named->loss->is_of(family)),
                fmt::format("the loss is '{}'; expected {} or matrix", loss, fmt::join(loss_names(family), ", ")));
  const std::vector<std::string>& actions = model.common().predictions;
  check.require_length("cost", cost.size(), product_or_largest(k, actions.empty() ? k : actions.size()));
  check.require_distinct("prediction", actions);
  check.require(actions.empty() || (!named && model.decode() != model_decoder_of_classes(model)),
                "its predictions are no classes, but its loss or its decoder is one of classes");
  const std::vector<std::string>& columns = model.common().cost_columns;
  check.require(columns.empty() || (!named && columns.size() == cost.size()),
                "its costs name columns, but not one for every cost");
  for (std::size_t t = 0; t < k && actions.empty() && columns.empty(); ++t)
    for (std::size_t p = 0; p < k; ++p)
      if (p != t && !(cost[t * k + p] > cost[t * k + t]))
        check.require(false, fmt::format("cost[{}][{}] is not greater than cost[{}][{}]", t, p, t, t));
  if (named)
    check.require(cost == CostMatrix::named(loss, k).values(),
                  fmt::format("the loss is called {} but its costs are others", loss));
  check.require_made([&] { return model_cost(model); });  // refuses sizes it cannot use
}

}  // namespace m4n::detail
