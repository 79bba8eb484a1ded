// Implements Structure for sequences of tokens with a label each.
#include "structures/chains/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/checksum.h"
#include "core/enum_names.h"
#include "core/message.h"
#include "core/option_values.h"
#include "model/check.h"
#include "model/model_file.h"
#include "structures/chains/data.h"
#include "structures/chains/synthetic.h"
#include "structures/chains/training.h"
#include "structures/classes/structure.h"
#include "structures/classes/training.h"
#include "structures/rows_evaluator.h"

namespace m4n::detail {
namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr auto or_none = ModelFileReader::Length::exact_or_none;

const ChainPart& part_of_chains(const Model& model) { return part_of<ChainPart>(model); }

class SequencePredictor : public Predictor {
 public:
  SequencePredictor(const Structure& structure, const Model& model)
      : structure_(structure), model_(model), predictor_(chain_predictor(model)) {}

  std::vector<std::int32_t> predict(const Dataset& examples, const Examples*, const Context& context) const override {
    check(examples);
    return predict_sequences(predictor_, view(examples.x), examples.feature_rows, context);
  }
  std::vector<double> marginals(const Dataset& examples, const Examples*, const Context& context) const override {
    check(examples);
    return sequence_marginals(predictor_, view(examples.x), examples.feature_rows, context);
  }

 private:
  // Consecutive runs of at least one row that are all there are.
  void check(const Dataset& examples) const {
    if (cols(examples.x) != model_.d())
      throw Error(say("the data have {} features, the model was trained on {}", cols(examples.x), model_.d()));
    structure_.require_runs(examples);
  }

  const Structure& structure_;
  const Model& model_;
  const ChainPredictor& predictor_;
};

class Chains : public Structure {
 public:
  using Structure::Structure;

  void check_options(const TrainOptions& o) const override {
    check_solver(o, "sequences", true, true);
    if (!o.constraints.empty() && o.oracle == OracleKind::spmp)
      throw UsageError(say("--constraints is not for --oracle spmp, which plays on all labellings; => leave one out"));
  }
  LossSummary loss(const TrainOptions& options, const Dataset& data) const override {
    const CostMatrix cost = chosen_fixed_cost(options, data, traits().usual_loss);
    return {cost.name(), cost.values(), cost.symmetric(), cost.mean_off_diagonal(), cost.prediction_names()};
  }
  std::vector<std::pair<std::string, std::string>> files(const TrainOptions& o) const override {
    std::vector<std::pair<std::string, std::string>> out;
    const auto add = [&](const char* option, const std::string& path, const char* expected) {
      if (!names_a_file(path) && !std::filesystem::exists(path)) refuse_value(option, path, expected);
      out.emplace_back(option, path);
    };
    if (!o.text_template.empty() && builtin_template(o.text_template).empty())
      add("template", o.text_template, "chunking, ner, pos or the name of a file");
    if (!o.constraints.empty() && o.constraints != "bio" && o.constraints != "bioes" &&
        !o.constraints.starts_with("pairs:"))
      add("constraints", o.constraints, "bio, bioes or the name of a file");
    return out;
  }
  std::vector<std::pair<std::string, std::string>> settings(const TrainOptions& o, const Dataset& data) const override {
    if (o.constraints.empty()) return {};
    return {{"constraints", checksum_text(ChainConstraints::parse(o.constraints, data.class_names).values())}};
  }

  bool recognises(const TrainOptions& options, std::string_view head) const override {
    return means_sequences(options, head);
  }
  TrainingData read(LineReader& lines, TrainOptions& options, const Notes& note) const override {
    constexpr const char* fold_column = "fold";
    TrainingData out = read_training_sequences(lines, options);
    read_example_weights(options.read.weights, out.data);
    const std::string& asked = options.read.fold;
    if (!asked.empty() && (asked != fold_column || out.folds.empty()))
      throw UsageError(
          say("--folds {}: of the formats of sequences only ocr has folds, in its column {}; => give a number of "
              "random folds",
              asked, fold_column));
    if (asked.empty()) out.folds.clear();
    note(fmt::format("{}: {}, {}, {} ({})", lines.file(), counted(out.data.examples(), "sequence"),
                     counted(out.data.label.size(), "token"), counted(cols(out.data.x), "feature"),
                     to_string(input_of(out.data)->format)));
    return out;
  }
  Examples read(LineReader& lines, const Model& model, const ReadOptions& options, Truth truth,
                const std::string& model_name) const override {
    require_file(model, options, model_name);
    Examples out = read_model_sequences(lines, *part_of_chains(model).input, model.classes(), model.d(), truth);
    out.path = lines.file();
    read_example_weights(options.weights, out.data);
    return out;
  }

  std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options, const Context&) const override {
    return std::make_unique<ChainTrainingSet>(std::move(data), options, traits().usual_loss);
  }

  std::vector<std::string> kinds() const override { return {"chain"}; }
  void write_part(const Model& model, ModelFileWriter& file) const override;
  std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const override;
  void check(const Model& model, const std::string& name) const override;

  std::unique_ptr<Predictor> predictor(const Model& model) const override {
    return std::make_unique<SequencePredictor>(*this, model);
  }
  std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                       std::span<const std::int32_t> predicted) const override {
    return chain_evaluator(model, examples, predicted);
  }
  void predict(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) const override {
    if (request.marginals) require_probabilities(model, request.model_name, say(", or use --k-best N"));
    refuse_weights(request);
    require_file(model, request.read, request.model_name);
    if (request.scores)
      throw UsageError(
          say("--scores: the labels of a sequence are scored together. => Use --k-best N (with --json for the scores), "
              "or --marginals with a crf"));
    predict_file(model, lines, request, sink);
  }
  WeightList weights(const Model& model) const override;
  std::vector<NamedArray> arrays(const Model& model) const override;
  FeatureSummary features(const Model& model) const override {
    FeatureSummary out;
    out.bias = !part_of_chains(model).weights.bias.empty();
    return out;
  }
  std::string features_text(const Model& model) const override;
  std::vector<std::pair<std::string, std::string>> description(const Model& model) const override {
    const std::vector<double>& allowed = part_of_chains(model).weights.constraints.values();
    if (allowed.empty()) return {};
    const auto forbidden = static_cast<std::uint64_t>(std::count(allowed.begin(), allowed.end(), 0.0));
    return {{"constraints", counted(forbidden, "forbidden transition")}};
  }
  void describe(const Model& model, Json& info) const override;
  std::vector<Exhibit> exhibits(const Model& model) const override;
  std::vector<Exhibit> exhibits(const Judged& judged) const override;
  Generated generate(const GenerateRequest& request, TextSink& sink) const override {
    return write_synthetic_sentences(request.n, request.seed, sink);
  }

 private:
  // Files are read as in training.
  void require_file(const Model& model, const ReadOptions& options, const std::string& model_name) const {
    require_own_format(options, model_name);
    const auto& input = part_of_chains(model).input;
    if (!input) throw Error(say("{}: was not trained on a file of sequences; it cannot read one", model_name));
    if (!options.format.empty() && options.format != to_string(input->format))
      throw UsageError(say("--format {}: {} was trained on the format {} and reads that only. => Leave it out",
                           options.format, model_name, to_string(input->format)));
  }
  static void check_input(const Model& model, const SequenceInput& input, const ModelCheck& check);
};

void Chains::write_part(const Model& model, ModelFileWriter& file) const {
  const ChainWeights& weights = part_of_chains(model).weights;
  const auto& input = part_of_chains(model).input;
  const ModelCommon& common = model.common();
  if (!weights.constraints.empty()) file.array("allowed", weights.constraints.values());
  file.field("tokens", std::uint64_t{common.parts});
  if (!common.fold_column.empty()) file.array("fold_column", {common.fold_column});
  write_predictions(common, file);
  file.array("cost", common.cost);
  std::visit([&](const auto& features) { file.array("features", std::span(features)); }, weights.features);
  file.array("bias", weights.bias);
  file.array("transitions", weights.transitions);
  file.array("start", weights.start);
  file.array("end", weights.end);
  // A template and names of attributes may hold any bytes.
  std::vector<std::string> texts;
  if (input) {
    texts = {input->attributes.text(),
             input->format == SequenceFormat::ocr ? std::string() : input->dictionary.to_bytes()};
    file.field("format", to_string(input->format));
    file.field("feature_columns", std::uint64_t{input->feature_columns});
    file.field("grid_height", std::uint64_t{input->grid ? input->grid->height : 0});
    file.field("grid_width", std::uint64_t{input->grid ? input->grid->width : 0});
  }
  file.array("input", std::move(texts));
}

std::shared_ptr<const SequenceInput> read_input(ModelFileReader& file) {
  const std::vector<std::string> texts = file.strings("input", 2, or_none);
  if (texts.empty()) return nullptr;
  auto input = std::make_shared<SequenceInput>();
  const std::string format = file.text("format");
  const auto known = sequence_format(format);
  if (!known) file.fail(fmt::format("the format {} has no sequences", format));
  input->format = *known;
  input->feature_columns = static_cast<std::size_t>(file.natural("feature_columns", 0, any));
  if (!texts[0].empty()) input->attributes = TextTemplate::parse(texts[0], file.name() + ": its template");
  if (!texts[1].empty()) input->dictionary = AttributeDictionary::from_bytes(texts[1], file.name());
  const auto height = static_cast<std::size_t>(file.natural("grid_height", 0, PixelGrid::largest_side));
  const auto width = static_cast<std::size_t>(file.natural("grid_width", 0, PixelGrid::largest_side));
  if (height > 0 || width > 0) input->grid = PixelGrid{height, width};
  return input;
}

std::shared_ptr<const ModelPart> Chains::read_part(ModelFileReader& file, ModelCommon& common) const {
  const std::uint64_t k = common.classes.size(), count = product_or_largest(common.d, k);
  auto part = std::make_shared<ChainPart>();
  read_predictions_and_cost(file, common);
  common.parts = static_cast<std::size_t>(file.natural("tokens", 0, std::numeric_limits<std::size_t>::max()));
  ChainWeights& weights = part->weights;
  if (file.is_float("features"))
    weights.features = file.floats("features", count);
  else
    weights.features = file.doubles("features", count);
  weights.bias = file.doubles("bias", k, or_none);
  weights.transitions = file.doubles("transitions", product_or_largest(k, k));
  weights.start = file.doubles("start", k);
  weights.end = file.doubles("end", k);
  if (file.has_array("allowed"))
    weights.constraints =
        ChainConstraints::from_values(file.doubles("allowed", product_or_largest(k, k + 2)), common.classes.size());
  part->input = read_input(file);
  return part;
}

void Chains::check(const Model& model, const std::string& name) const {
  const ModelCheck check(name);
  const ChainWeights& w = part_of_chains(model).weights;
  const auto& input = part_of_chains(model).input;
  const ModelCommon& common = model.common();
  const std::size_t k = model.k();
  check_cost(model, check);
  // A file of a chain has no place for these.
  check.require(common.target_column.empty() && common.weights_column.empty() && common.id_column.empty(),
                "it has columns of a table, which sequences have not");
  std::visit(
      [&](const auto& features) {
        check.require_length("features", features.size(), product_or_largest(common.d, k));
        check.require_finite("features", features);
      },
      w.features);
  check.require_length("bias", w.bias.size(), w.bias.empty() ? 0 : k);
  check.require_length("transitions", w.transitions.size(), product_or_largest(k, k));
  check.require_length("start", w.start.size(), k);
  check.require_length("end", w.end.size(), k);
  for (const auto& [what, values] : {std::pair<const char*, const std::vector<double>*>{"bias", &w.bias},
                                     {"transitions", &w.transitions},
                                     {"start", &w.start},
                                     {"end", &w.end}})
    check.require_finite(what, *values);
  check.require(std::holds_alternative<std::vector<double>>(w.features) || common.sparse,
                "its weights are in single precision, but its features are not sparse");
  const std::vector<double>& allowed = w.constraints.values();
  check.require_length("allowed", allowed.size(), allowed.empty() ? 0 : product_or_largest(k, k + 2));
  check.require(std::all_of(allowed.begin(), allowed.end(), [](double entry) { return entry == 0 || entry == 1; }),
                "an entry of its constraints is neither 0 nor 1");
  check.require(!w.constraints.length_without_labelling(), "its constraints leave no labelling of some sequences");
  if (input) check_input(model, *input, check);
}

// How files are read, and that this gives as many columns as the model has weights for.
void Chains::check_input(const Model& model, const SequenceInput& input, const ModelCheck& check) {
  const bool letters = input.format == SequenceFormat::ocr, text = input.format == SequenceFormat::conll;
  check.require(letters || !input.grid, "it has a grid of pixels, but is not about letters");
  check.require(!letters || input.dictionary.columns() == 0, "it has a dictionary of attributes, but is about letters");
  check.require(!input.grid || input.grid->pixels() > 0, "its grid of pixels is empty");
  check.require(model.common().sparse == (!letters || input.grid.has_value()),
                "whether its features are sparse is not as its format");
  const std::size_t columns = letters ? (input.grid ? input.grid->columns() : model.d()) : input.dictionary.columns();
  check.require(columns == model.d(),
                fmt::format("its input has {} columns, its weights are for {}", columns, model.d()));
  check.require(text == (input.attributes.attributes() > 0),
                "a template goes with columns of text, and with them only");
  check.require(text == (input.feature_columns > 0),
                "the number of columns goes with columns of text, and with them only");
  if (text)
    check.require(input.attributes.columns() <= input.feature_columns, "its template asks for columns it has not");
}

// Behind the features: the bias, a row per label that a transition starts from, start and end.
WeightList Chains::weights(const Model& model) const {
  const ChainWeights& w = part_of_chains(model).weights;
  const auto& input = part_of_chains(model).input;
  const std::size_t k = model.k(), d = model.d();
  WeightList out;
  std::size_t first = 0;
  const auto add = [&](const auto& rows) {
    for (std::size_t e = 0; e < rows.size(); ++e)
      if (rows[e] != 0) out.entries.push_back({first + e / k, e % k, static_cast<double>(rows[e])});
  };
  std::visit(add, w.features);
  first = d;
  add(w.bias);
  first = d + 1;
  add(w.transitions);
  first = d + 1 + k;
  add(w.start);
  first = d + 2 + k;
  add(w.end);
  out.feature_name = [&model, own = input, d, k](std::size_t place) {
    if (place == d) return std::string("(bias)");
    if (place > d + k) return std::string(place == d + 1 + k ? "(start)" : "(end)");
    if (place > d) return fmt::format("(after {})", model.classes()[place - d - 1]);
    if (own) return m4n::detail::feature_name(*own, place);
    return model.feature_names().empty() ? std::to_string(place + 1) : model.feature_names()[place];
  };
  out.output_name = [&model](const WeightEntry& entry) { return model.classes()[entry.output]; };
  return out;
}

std::vector<NamedArray> Chains::arrays(const Model& model) const {
  const ChainWeights& w = part_of_chains(model).weights;
  const std::size_t k = model.k(), d = model.d();
  // As other structures have it: outputs x features.
  std::vector<double> coef(d * k);
  std::visit(
      [&](const auto& features) {
        for (std::size_t e = 0; e < features.size(); ++e) coef[e % k * d + e / k] = static_cast<double>(features[e]);
      },
      w.features);
  return {{"coef", {k, d}, std::move(coef)},
          {"intercept", {k}, w.bias.empty() ? std::vector<double>(k, 0.0) : w.bias},
          {"transitions", {k, k}, w.transitions},
          {"start", {k}, w.start},
          {"end", {k}, w.end}};
}

std::string Chains::features_text(const Model& model) const {
  const auto& input = part_of_chains(model).input;
  if (!input) return to_string(FeatureKind::linear);
  if (input->format == SequenceFormat::ocr)
    return input->grid
               ? fmt::format("pixels of {} x {} and products of neighbours", input->grid->height, input->grid->width)
               : counted(model.d(), "pixel");
  const int bits = input->dictionary.hash_bits();
  const std::string kept = bits > 0 ? fmt::format("hashed to {} bits", bits) : "in a dictionary";
  return input->format == SequenceFormat::conll
             ? fmt::format("{} a token by a template from {}, {}", counted(input->attributes.attributes(), "attribute"),
                           counted(input->feature_columns, "column"), kept)
             : "attributes of CRFsuite's format, " + kept;
}

void Chains::describe(const Model& model, Json& info) const {
  const auto& input = part_of_chains(model).input;
  const std::vector<double>& allowed = part_of_chains(model).weights.constraints.values();
  if (!allowed.empty()) info.set("forbidden_transitions", std::count(allowed.begin(), allowed.end(), 0.0));
  if (!input) return;
  Json out = Json::object({{"format", to_string(input->format)}});
  if (input->format == SequenceFormat::conll)
    out.set("columns", input->feature_columns).set("template", input->attributes.text());
  if (input->format != SequenceFormat::ocr) {
    const int bits = input->dictionary.hash_bits();
    out.set("hash_bits", bits > 0 ? Json(bits) : Json());
  }
  if (input->grid) out.set("pixel_products", fmt::format("{}x{}", input->grid->height, input->grid->width));
  info.set("input", std::move(out));
}

// The weights of transitions.
std::vector<Exhibit> Chains::exhibits(const Model& model) const {
  constexpr std::size_t most_labels = 30;
  const std::size_t k = model.k();
  if (k > most_labels) return {};
  HeatMap table{"Transitions",
                "from",
                "to",
                model.classes(),
                model.classes(),
                part_of_chains(model).weights.transitions,
                "What a label behind another adds to the score of a sequence."};
  const std::vector<double>& allowed = part_of_chains(model).weights.constraints.values();
  for (std::size_t a = 0; a < k && !allowed.empty(); ++a)
    for (std::size_t b = 0; b < k; ++b)
      if (allowed[a * k + b] == 0) table.values[a * k + b] = std::numeric_limits<double>::quiet_NaN();
  return {std::move(table)};
}

std::vector<Exhibit> Chains::exhibits(const Judged& judged) const {
  const Evaluation found = evaluator(judged.model, judged.examples, judged.predicted)->evaluate();
  std::vector<Exhibit> out = found_exhibits("How well every chunk is found", "chunk", found.chunks);
  for (Exhibit& labels : found_exhibits("How well every label is found", "label", found.labels))
    out.push_back(std::move(labels));
  return out;
}

}  // namespace

std::vector<std::unique_ptr<Structure>> chain_structures() {
  StructureTraits traits;
  traits.name = "sequence";
  traits.summary = "a label for every token of a sequence";
  traits.example = {"sequence", "sequences"};
  traits.part = {"token", "tokens"};
  traits.options = {"reject",      "inner",   "template",
                    "min-count",   "hash",    "pixel-products",
                    "constraints", "weights", "oracle-iterations by part"};
  traits.formats = {"conll", "crfsuite", "ocr"};
  traits.losses = LossFamily::parts;
  traits.usual_loss = "hamming";
  traits.largest = Decoder::viterbi;
  traits.no_quadratic = "regresses onto the costs of all labellings of a sequence, of which there are too many";
  std::vector<std::unique_ptr<Structure>> out;
  out.push_back(std::make_unique<Chains>(std::move(traits)));
  return out;
}

const ChainPredictor& chain_predictor(const Model& model) {
  const ChainPart& part = part_of_chains(model);
  std::call_once(part.predictor_made, [&] {
    part.predictor = std::make_unique<const ChainPredictor>(part.weights, model_cost(model), model.decode());
  });
  return *part.predictor;
}

}  // namespace m4n::detail
