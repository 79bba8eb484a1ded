// Implements Structure for rankings and matchings.
#include "structures/permutations/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/csv.h"
#include "core/kernels.h"
#include "core/message.h"
#include "structures/label_sets/structure.h"
#include "structures/permutations/evaluation.h"
#include "structures/permutations/gibbs.h"
#include "structures/permutations/matching_text.h"
#include "structures/permutations/predictor.h"
#include "structures/permutations/report.h"
#include "structures/permutations/synthetic.h"
#include "structures/permutations/training.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {
namespace {

PositionLossChoice loss_of(const Model& model) {
  return PositionLossChoice::remembered(model.loss_name(), model.cost(), model.k());
}
PermutationPredictor predictor_of(const Model& model) { return {loss_of(model), model.k(), model.decode()}; }

// ---- what both have in common

std::shared_ptr<PermutationPart> read_permutations(ModelFileReader& file, ModelCommon& common, std::size_t outputs) {
  const std::uint64_t k = common.classes.size();
  auto part = std::make_shared<PermutationPart>();
  const bool mapped = file.flag("mapped");
  common.parts = static_cast<std::size_t>(file.natural("items", 0, std::numeric_limits<std::size_t>::max()));
  part->points = static_cast<std::size_t>(file.natural("most_points", 0, std::numeric_limits<std::int32_t>::max()));
  const bool weighted = common.loss_name == "weighted", matrix = common.loss_name == "matrix";
  if (!weighted && !matrix && !find_loss(common.loss_name))
    file.fail(fmt::format("unknown loss '{}' of permutations", common.loss_name));
  common.cost = file.doubles("cost", matrix ? product_or_largest(k, k) : weighted ? k : 0);
  part->rows = read_rows(file, common, outputs, mapped, nullptr);
  return part;
}

// Over TableStructure for rankings, over Structure for matchings.
template <class Base>
class PermutationStructure : public Base {
 public:
  using Base::Base;
  using Base::check;

  void check_options(const TrainOptions& o) const override {
    if (o.surrogate != SurrogateKind::qs) this->check_solver(o, "permutations", false, true);
    if (!o.warm_start)
      throw UsageError(
          say("--warm-start no: on permutations the spmp oracle always starts at the uniform distribution. => Leave it "
              "out"));
  }
  std::string obstacle(SurrogateKind surrogate, const Dataset& data) const override {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < data.examples(); ++i)
      largest = std::max(largest, data.labels.end(i) - data.labels.begin(i));
    if (surrogate != SurrogateKind::crf || largest <= PermutationGibbs::largest_size) return {};
    return "it would have to sum over all permutations of so many items";
  }
  // For the number of items of the data; for two where it varies.
  LossSummary loss(const TrainOptions& options, const Dataset& data) const override {
    const PositionLossChoice loss = chosen_position_loss(options, data.class_names);
    const PositionLoss made = loss.make(std::max<std::size_t>(data.class_names.size(), 2));
    return {loss.name(), loss.values(), decodes_by_scores(made), made.mean_mistake()};
  }

  std::vector<std::string> kinds() const override { return {"permutation"}; }
  void write_part(const Model& model, ModelFileWriter& file) const override {
    const auto& part = part_of<PermutationPart>(model);
    file.field("mapped", part.rows.map.kind != FeatureKind::linear);
    file.field("items", std::uint64_t{model.common().parts});
    file.field("most_points", std::uint64_t{part.points});
    write_rows(model.common(), part.rows, {}, file);
  }
};

// ---- rankings: tables with the columns r1, r2, ..

class Rankings : public PermutationStructure<TableStructure> {
 public:
  using PermutationStructure::PermutationStructure;

  bool recognises(const RawTable& table, const TrainOptions&) const override {
    return !table.output_names.empty() && table.output_names[0][0] == 'r';
  }
  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                       const Context& context) const override {
    return std::make_unique<PermutationTrainingSet>(std::move(data), options, Permuted::items, context);
  }

  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override {
    const std::uint64_t k = common.classes.size();
    const std::uint64_t outputs = PositionLossChoice::scores_items(common.loss_name) ? k : product_or_largest(k, k);
    return read_permutations(file, common, static_cast<std::size_t>(outputs));
  }
  void check(const Model& model, const std::string& name) const override {
    const ModelCheck check(name);
    const auto& part = part_of<PermutationPart>(model);
    check.require(part.points == 0, "it has points, but its task is not matching");
    const PositionLossChoice loss = check.require_made([&] { return loss_of(model); });
    check_rows(model.common(), part.rows, ranking_outputs(loss, model.k()), check);
  }

  std::vector<std::string> output_names(const Model& model) const override {
    return PositionLossChoice::scores_items(model.loss_name()) ? model.classes() : cell_names(model);
  }
  std::vector<std::int32_t> decode(const Model& model, std::span<const double> scores, const CostColumns&,
                                   const Context& context) const override {
    return predictor_of(model).rankings(scores, context);
  }
  std::vector<double> marginals(const Model& model, std::span<const double> scores, const CostColumns&,
                                const Context& context) const override {
    return predictor_of(model).ranking_marginals(scores, context);
  }
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override {
    return permutation_evaluator(
        model, examples, predicted, {"hamming", "kendall_tau", "spearman_rho", "footrule", "top1", "ndcg"},
        [](const PermutationMetrics& m) {
          return std::vector<double>{m.hamming, m.kendall_tau, m.spearman_rho, m.footrule, m.top1, m.ndcg};
        });
  }
  AnswerKinds answer_kinds(const Model& model) const override { return position_kinds(loss_of(model), model.k()); }
  void each_answer(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                   const AnswerVisitor& visit) const override {
    visit_positions(loss_of(model), examples, predicted, visit);
  }
  std::vector<std::int32_t> best_constant(const Model& model, const Examples& examples) const override {
    return best_ranking(loss_of(model), model.k(), examples);
  }
  std::string answer_text(const Model& model, std::span<const std::int32_t> positions, std::span<const std::int32_t>,
                          bool) const override {
    return ranking_text(model.classes(), positions);
  }
  std::vector<Exhibit> exhibits(const Judged& judged) const override { return ranking_exhibits(judged); }
  using TableStructure::exhibits;
  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    return write_synthetic_rankings(request, sink);
  }

 protected:
  OutputColumns output_columns() const override { return OutputColumns::ranks; }
  Dataset label(RawTable table, const TrainOptions&, const Notes&, std::vector<double>&) const override {
    return with_outputs(table, OutputColumns::ranks);
  }
  void label(RawTable table, const Model& model, Examples& out) const override {
    label_outputs(std::move(table), model, OutputColumns::ranks, out);
  }
  std::vector<std::string> prediction_columns(const Model& model) const override { return model.classes(); }
  void append_cells(const Model&, std::span<const std::int32_t> positions, std::string& out) const override {
    out += fmt::format("{}", fmt::join(ranks_of(positions), ","));
  }
  void add_json(const Model& model, std::span<const std::int32_t> positions, const PredictionRequest&,
                Json& out) const override {
    const std::vector<std::int32_t> ranks = ranks_of(positions);
    out.set("items", model.classes());
    out.set("ranks", Json::rows(std::span<const std::int32_t>(ranks), model.k()));
  }
  std::vector<std::string> probability_names(const Model& model) const override { return cell_names(model); }

 private:
  static std::vector<std::string> cell_names(const Model& model) {
    std::vector<std::string> out;
    for (const std::string& item : model.classes())
      for (std::size_t rank = 1; rank <= model.k(); ++rank) out.push_back(fmt::format("{}_{}", item, rank));
    return out;
  }
  static std::vector<std::int32_t> ranks_of(std::span<const std::int32_t> positions) {
    std::vector<std::int32_t> out(positions.begin(), positions.end());
    for (std::int32_t& rank : out) ++rank;
    return out;
  }
};

// ---- matchings: a text format of their own

class MatchingPredictor : public Predictor {
 public:
  MatchingPredictor(const Structure& structure, const Model& model)
      : structure_(structure), model_(model), predictor_(predictor_of(model)) {}

  std::vector<std::int32_t> predict(const Dataset& examples, const Examples* source,
                                    const Context& context) const override {
    if (model_.decode() == Decoder::expected) require_sums(examples, source);
    return predictor_.matchings(scores(examples, source, context), examples.feature_rows, context);
  }
  std::vector<double> marginals(const Dataset& examples, const Examples* source,
                                const Context& context) const override {
    require_sums(examples, source);
    return predictor_.matching_marginals(scores(examples, source, context), examples.feature_rows, context);
  }
  std::vector<double> scores(const Dataset& examples, const Examples* source, const Context& context) const {
    structure_.require_runs(examples);
    const Groups points = points_of(examples.feature_rows);
    std::vector<double> out =
        row_scores(part_of<PermutationPart>(model_).rows, model_.d(), 1, view(examples.x), context);
    for (std::size_t e = 0; e < points.count(); ++e)
      for (std::size_t p = examples.feature_rows.begin(e); p < examples.feature_rows.end(e); ++p)
        if (!kernels::is_score(out[p])) {
          const std::size_t size = points.end(e) - points.begin(e), pair = p - examples.feature_rows.begin(e);
          throw Error(
              say("{}matching {}: the score of the pair {} {} is {}, beyond what can be computed with: one of its "
                  "values is too large for the model; => correct it, or leave the matching out",
                  file(source), e + 1, pair / size + 1, pair % size + 1, out[p]));
        }
    return out;
  }

 private:
  static std::string file(const Examples* source) {
    return source != nullptr && !source->path.empty() ? source->path + ": " : "";
  }
  // Probabilities, which the decoder `expected` needs too, sum over all permutations.
  static void require_sums(const Dataset& examples, const Examples* source) {
    const Groups points = points_of(examples.feature_rows);
    for (std::size_t e = 0; e < points.count(); ++e)
      if (const std::size_t size = points.end(e) - points.begin(e); size > PermutationGibbs::largest_size)
        throw Error(say(
            "{}matching {} has {} points; a crf sums over all permutations, which is possible for up to {}: leave it "
            "out, or train with --decode argmax, or with another --surrogate",
            file(source), e + 1, size, PermutationGibbs::largest_size));
  }

  const Structure& structure_;
  const Model& model_;
  PermutationPredictor predictor_;
};

class Matchings : public PermutationStructure<Structure> {
 public:
  using PermutationStructure::PermutationStructure;

  bool recognises(const TrainOptions& options, std::string_view head) const override {
    return options.read.format == "matching" || (options.read.format.empty() && looks_like_matchings(head));
  }
  TrainingData read(LineReader& lines, TrainOptions& options, const Notes& note) const override {
    refuse_fold_column(options);
    TrainingData out;
    out.data = read_matchings(lines);
    read_example_weights(options.read.weights, out.data);
    note(fmt::format("{}: {}, {}, {}", lines.file(), counted(out.data.examples(), "matching"),
                     counted(out.data.label.size(), "point"), counted(cols(out.data.x), "feature")));
    return out;
  }
  Examples read(LineReader& lines, const Model& model, const ReadOptions& options, Truth truth,
                const std::string& model_name) const override {
    require_own_format(options, model_name);
    Examples out;
    out.path = lines.file();
    out.data = read_matchings(lines, model.feature_names(), model.d(), truth);
    out.truth = out.data.label;
    read_example_weights(options.weights, out.data);
    return out;
  }

  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                       const Context& context) const override {
    return std::make_unique<PermutationTrainingSet>(std::move(data), options, Permuted::points, context);
  }

  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override {
    return read_permutations(file, common, 1);
  }
  void check(const Model& model, const std::string& name) const override {
    const ModelCheck check(name);
    const auto& part = part_of<PermutationPart>(model);
    check.require(part.points > 0, "it has no points");
    check.require_made([&] { return loss_of(model); });
    check.require(model.loss_name() == "hamming", "matchings have the loss hamming only");
    check.require(!part.rows.bias && part.rows.map.kind == FeatureKind::linear,
                  "matchings have neither a bias nor a feature map");
    check_rows(model.common(), part.rows, 1, check);
  }

  std::unique_ptr<Predictor> predictor(const Model& model) const override {
    return std::make_unique<MatchingPredictor>(*this, model);
  }
  std::vector<std::string> output_names(const Model&) const override { return {"pair"}; }
  std::vector<double> scores(const Model& model, const FeaturesView& x, const Context& context) const override {
    return row_scores(part_of<PermutationPart>(model).rows, model.d(), 1, x, context);
  }
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override {
    return permutation_evaluator(model, examples, predicted, {"match_accuracy", "hamming"},
                                 [](const PermutationMetrics& m) {
                                   return std::vector<double>{m.match_accuracy(), m.hamming};
                                 });
  }
  void predict(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) const override;
  WeightList weights(const Model& model) const override {
    return row_weight_list(model, part_of<PermutationPart>(model).rows, {"pair"});
  }
  std::vector<NamedArray> arrays(const Model& model) const override {
    return row_arrays(model.common(), part_of<PermutationPart>(model).rows, 1);
  }

  std::string answer_text(const Model&, std::span<const std::int32_t> partners, std::span<const std::int32_t> other,
                          bool) const override {
    return matching_text(partners, other);
  }
  std::size_t outcomes(const Model&, std::size_t parts) const override { return parts; }
  std::vector<Exhibit> exhibits(const Judged& judged) const override { return matching_exhibits(judged); }
  using Structure::exhibits;

  std::size_t label_count(const Dataset& data) const override {
    std::size_t out = 0;
    for (std::size_t i = 0; i < data.examples(); ++i) out = std::max(out, data.labels.end(i) - data.labels.begin(i));
    return out;
  }
  std::size_t label_count(const Model& model) const override { return part_of<PermutationPart>(model).points; }
  std::string labels_text(std::size_t count) const override { return "at most " + counted(count, "point") + " a side"; }
  FeatureSummary features(const Model& model) const override {
    return summary_of(part_of<PermutationPart>(model).rows);
  }
  Standardizer standardizer(const Model& model) const override {
    return part_of<PermutationPart>(model).rows.standardizer;
  }
  std::string features_text(const Model& model) const override {
    return row_features_text(part_of<PermutationPart>(model).rows);
  }
  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    return write_synthetic_matchings(request.n, request.seed, sink);
  }
};

// A CSV matching,point,partner, a line per point of the first set; with scores or marginals a line per pair. Or one
// JSON object: n, partner and, where asked for, scores and marginals, M x M per matching.
void Matchings::predict(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) const {
  refuse_weights(request);
  refuse_k_best(request, say(", or use --scores"));
  if (request.marginals) require_probabilities(model, request.model_name, say(", or use --scores"));
  const Examples examples = read(lines, model, request.read, Truth::optional, request.model_name);
  const Groups &points = examples.data.labels, &pairs = examples.data.feature_rows;
  const MatchingPredictor own(*this, model);
  const std::vector<std::int32_t> partner = own.predict(examples.data, &examples, request.context);
  const std::vector<double> found = own.scores(examples.data, &examples, request.context);
  const std::vector<double> probabilities =
      request.marginals ? own.marginals(examples.data, &examples, request.context) : std::vector<double>{};

  if (request.json) {
    const auto squares = [&](const std::vector<double>& values) {
      Json out = Json::array();
      for (std::size_t e = 0; e < points.count(); ++e) {
        const std::size_t size = points.end(e) - points.begin(e);
        out.push(Json::rows(std::span(values).subspan(pairs.begin(e), size * size), size));
      }
      return out;
    };
    Json partners = Json::array();
    for (std::size_t e = 0; e < points.count(); ++e) {
      Json of_points = Json::array();
      for (std::size_t p = points.begin(e); p < points.end(e); ++p) of_points.push(partner[p] + 1);
      partners.push(std::move(of_points));
    }
    Json object = Json::object({{"n", points.count()}, {"partner", std::move(partners)}});
    if (request.scores) object.set("scores", squares(found));
    if (request.marginals) object.set("marginals", squares(probabilities));
    sink.write(object.text() + "\n");
    return;
  }
  const bool all_pairs = request.scores || request.marginals;
  std::string out = all_pairs ? "matching,point,other,matched" : "matching,point,partner";
  if (request.scores) out += ",score";
  if (request.marginals) out += ",p";
  out += '\n';
  for (std::size_t e = 0; e < points.count(); ++e) {
    const std::size_t first = points.begin(e), size = points.end(e) - first;
    for (std::size_t i = 0; i < size; ++i) {
      const auto other = static_cast<std::size_t>(partner[first + i]);
      if (!all_pairs) fmt::format_to(std::back_inserter(out), "{},{},{}\n", e + 1, i + 1, other + 1);
      for (std::size_t j = 0; all_pairs && j < size; ++j) {
        const std::size_t pair = pairs.begin(e) + i * size + j;
        fmt::format_to(std::back_inserter(out), "{},{},{},{}", e + 1, i + 1, j + 1, j == other ? 1 : 0);
        if (request.scores) fmt::format_to(std::back_inserter(out), ",{}", found[pair]);
        if (request.marginals) fmt::format_to(std::back_inserter(out), ",{}", probabilities[pair]);
        out += '\n';
      }
    }
  }
  sink.write(out);
}

}  // namespace

std::vector<std::unique_ptr<Structure>> permutation_structures() {
  StructureTraits rankings;
  rankings.generates = {"items"};
  rankings.name = "ranking";
  rankings.summary = "the order of the items r1, r2, ..";
  rankings.example = {"ranking", "rankings"};
  rankings.label = {"item", "items"};
  rankings.options = {"features", "weights", "id", "ignore"};
  rankings.formats = {"csv", "libsvm"};
  rankings.losses = LossFamily::rankings;
  rankings.usual_loss = "hamming";
  rankings.labels_are_classes = false;
  StructureTraits matchings;
  matchings.name = "matching";
  matchings.summary = "which points of two sets belong together";
  matchings.example = {"matching", "matchings"};
  matchings.label = {"point", "points"};
  matchings.part = {"point", "points"};
  matchings.options = {"weights"};
  matchings.formats = {"matching"};
  matchings.losses = LossFamily::matchings;
  matchings.usual_loss = "hamming";
  matchings.labels_are_classes = false;
  matchings.fewest_labels = matchings.most_labels = 0;  // points have no names
  std::vector<std::unique_ptr<Structure>> out;
  out.push_back(std::make_unique<Rankings>(std::move(rankings)));
  out.push_back(std::make_unique<Matchings>(std::move(matchings)));
  return out;
}

}  // namespace m4n::detail
