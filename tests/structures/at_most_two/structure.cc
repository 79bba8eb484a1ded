// Labels of which at most two are on, as a structure. A program that links this file has the task at-most-two.
#include "structures/structure.h"

#include <fmt/format.h>

#include <numeric>

#include "core/rng.h"
#include "games/labelling_game_parts.h"
#include "solvers/block_dual.h"
#include "solvers/linear_scorer.h"
#include "structures/at_most_two/surrogates.h"
#include "structures/generated.h"
#include "structures/label_sets/structure.h"
#include "structures/label_sets/training.h"

namespace m4n::detail {

template class LabellingGame<AtMostTwoProblem>;

namespace {

Dataset checked_at_most_two(Dataset data) {
  data = checked_label_sets(std::move(data));
  for (std::size_t i = 0; i < data.examples(); ++i) {
    const auto first = data.label.begin() + static_cast<std::ptrdiff_t>(data.labels.begin(i));
    const auto on = std::accumulate(first, first + std::ssize(data.class_names), std::size_t{0});
    if (on > most_on) throw Error(say("example {} has {} labels that are on; expected at most {}", i + 1, on, most_on));
  }
  return data;
}

// The labelling with the largest score, row by row.
std::vector<std::int32_t> decoded(std::span<const double> scores, std::size_t labels) {
  std::vector<std::int32_t> out(scores.size());
  for (std::size_t first = 0; first < scores.size(); first += labels)
    decode_at_most_two(
        labels, [&](std::size_t m) { return scores[first + m]; }, std::span(out).subspan(first, labels));
  return out;
}

class AtMostTwoTrainingSet : public RowTrainingSet {
 public:
  AtMostTwoTrainingSet(Dataset data, const TrainOptions& options, const Context& context)
      : RowTrainingSet(checked_at_most_two(std::move(data)), options, options.bias, context, KernelForm::rows) {}

  void solve(const TrainOptions& options, Decoder, std::span<const double> lambdas, const Context& context,
             const Emit& emit) const override {
    LinearScorer scorer(view(features_.x), outputs(), bias_);
    const Problem<LinearScorer> problem{&scorer, data_.label, data_.labels, weight_, 0};
    const auto hand_over = [&](const SolveResult& result) {
      auto out = std::make_unique<RowSolution>();
      out->result = result;
      out->norm_squared = scorer.norm_squared();
      out->weights = scorer.weights();
      check_finite(*out, out->weights);
      emit(std::move(out));
    };
    const PathRequest path{lambdas, &options, &context};
    if (options.surrogate == SurrogateKind::m4n)
      block_dual(problem, AtMostTwoMaxMin(cost_, outputs()), path, hand_over);
    else
      block_dual(problem, AtMostTwoMargin(cost_, outputs()), path, hand_over);
  }
  void describe(ModelCommon& common) const override {
    RowTrainingSet::describe(common);
    common.loss_name = cost_.name();
  }
  std::shared_ptr<const ModelPart> finish(std::unique_ptr<Solution> solution) const override {
    auto part = std::make_shared<RowPart>();
    part->rows = row_weights(std::move(static_cast<RowSolution&>(*solution).weights));
    return part;
  }

 private:
  std::size_t outputs() const override { return data_.class_names.size(); }
  std::vector<std::int32_t> predicted(std::span<const double> scores, const Dataset&, const Solution&,
                                      const TrainOptions&, Decoder, const Context&) const override {
    return decoded(scores, outputs());
  }
  double mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const override {
    return mean_label_cost(LabelCosts::hamming(outputs()), examples.label, predicted, examples.weight);
  }

  CostMatrix cost_ = CostMatrix::named("hamming", 2);
};

StructureTraits at_most_two_traits() {
  StructureTraits traits;
  traits.name = "at-most-two";
  traits.summary = "at most two of the labels y1, y2, ..";
  traits.label = {"label", "labels"};
  traits.options = {"features", "weights", "id", "ignore"};
  traits.formats = {"csv", "libsvm"};
  traits.losses = LossFamily::label_sets;
  traits.usual_loss = "hamming";
  traits.fewest_labels = 1;
  traits.no_quadratic = "regresses labels one by one, and would not know that at most two are on";
  traits.labels_are_classes = false;
  return traits;
}

// Files and tables of predictions are those of label sets (MarkStructure), weights those of rows (RowPart).
class AtMostTwo : public MarkStructure {
 public:
  AtMostTwo() : MarkStructure(at_most_two_traits()) {}

  void check_options(const TrainOptions& o) const override {
    if (o.surrogate == SurrogateKind::crf)
      throw UsageError(say("--surrogate crf: {}. => Use m4n or m3n", no_marginals));
    if (o.decode == Decoder::adversary)
      throw UsageError(
          say("--decode adversary: the min player of --task {} may turn more labels on. => Leave it out", name()));
    if (o.oracle != OracleKind::exact || (o.solver != SolverKind::automatic && o.solver != SolverKind::gbcfw))
      throw UsageError(
          say("--task {} is solved by gbcfw with the exact oracle. => Leave --solver and --oracle out", name()));
  }
  std::string obstacle(SurrogateKind surrogate, const Dataset&) const override {
    return surrogate == SurrogateKind::crf ? no_marginals : "";
  }
  LossSummary loss(const TrainOptions& o, const Dataset&) const override {
    if (!o.cost.empty() || !(o.loss.empty() || o.loss == "hamming"))
      throw UsageError(say("--task {} has the --loss hamming only. => Leave other costs out", name()));
    return {"hamming", {}, true, 1};
  }
  bool recognises(const RawTable&, const TrainOptions&) const override { return false; }  // asked for by name only
  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                       const Context& context) const override {
    return std::make_unique<AtMostTwoTrainingSet>(std::move(data), options, context);
  }

  std::vector<std::string> kinds() const override { return {"at-most-two"}; }
  void write_part(const Model& model, ModelFileWriter& file) const override {
    const RowWeights& rows = part_of<RowPart>(model).rows;
    file.field("mapped", rows.map.kind != FeatureKind::linear);
    write_rows(model.common(), rows, {}, file);
  }
  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override {
    auto part = std::make_shared<RowPart>();
    common.parts = product_or_largest(common.n, common.classes.size());
    common.cost = file.doubles("cost", 0);
    part->rows = read_rows(file, common, common.classes.size(), file.flag("mapped"), nullptr);
    return part;
  }
  void check(const Model& model, const std::string& name) const override {
    const ModelCheck check(name);
    check.require(model.loss_name() == "hamming", "its loss is not hamming");
    check.require(model.decode() == Decoder::argmax && model.surrogate() != SurrogateKind::crf,
                  "its surrogate or its decoder is none of at-most-two");
    check_rows(model.common(), part_of<RowPart>(model).rows, model.k(), check);
  }

  std::vector<std::string> output_names(const Model& model) const override { return model.classes(); }
  std::vector<std::int32_t> decode(const Model& model, std::span<const double> scores, const CostColumns&,
                                   const Context&) const override {
    return decoded(scores, model.k());
  }
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override {
    return label_set_evaluator(model, LabelCosts::hamming(model.k()), examples, predicted);
  }

  // In region r of 5, label r is on in 70 % of the examples and label r + 2 in the others; label r + 1 in 60 % (all
  // modulo 5). At most two have a probability above 1/2, so that the best rule turns labels r and r + 1 on.
  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    constexpr std::size_t regions = 5;
    constexpr double best_loss = (0.3 + 0.4 + 0.3) / regions;
    const std::vector<std::string> beginnings = indicator_lines(regions);
    Rng rng(request.seed, 2400);
    PiecewiseText out(sink, 50'000);
    out.text = "x1,x2,x3,x4,x5,y1,y2,y3,y4,y5\n";
    for (std::size_t i = 0; i < request.n; ++i) {
      const std::size_t r = rng.below(regions);
      std::vector<int> y(regions);
      y[(r + (rng.below(100) < 70 ? 0 : 2)) % regions] = 1;
      y[(r + 1) % regions] = rng.below(100) < 60 ? 1 : 0;
      out.text += fmt::format("{}{}\n", beginnings[r], fmt::join(y, ","));
      out.end_example();
    }
    out.flush();
    return generated("at-most-two", request.n, request.seed, regions, regions, best_loss,
                     "5 labels of which at most two are on; x1..x5 say in which region the input lies");
  }

 private:
  static constexpr const char* no_marginals = "at-most-two has a decoder, but no marginals";
};

const bool registered = (add_structure(std::make_unique<AtMostTwo>()), true);

}  // namespace
}  // namespace m4n::detail
