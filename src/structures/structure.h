// What is predicted. A Structure is everything that a task needs beyond the machinery shared by all, behind one
// interface. fit, cross-validation, the commands and the Python bindings are written once over it.
//
// A new structure is a folder with one such class and one line in structures/registry.cc (docs/extending.md). The suite
// tests/structures/every_structure_test.cc runs over every structure of the registry and says what is missing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/exhibit.h"
#include "core/json.h"
#include "core/message.h"
#include "data/text.h"
#include "features/row_weights.h"
#include "losses/registry.h"
#include "m4n/context.h"
#include "m4n/cross_validate.h"
#include "m4n/dataset.h"
#include "m4n/evaluate.h"
#include "m4n/model.h"
#include "m4n/options.h"
#include "m4n/read.h"
#include "structures/training_set.h"

namespace m4n::detail {

// Loss and metrics of predictions, in a form that resampling can use: every example adds its own to a tally, and the
// values follow from the tally. So a resample of n examples costs n additions.
class Tally {
 public:
  virtual ~Tally() = default;
  virtual void clear() = 0;
  virtual void add(std::size_t example) = 0;
  // The loss, then the metrics in the order of Evaluation::metrics.
  virtual std::vector<double> values() const = 0;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual Evaluation evaluate() const = 0;
  // What every example costs, those without weight included: their weighted mean is the loss.
  virtual std::vector<double> losses() const = 0;
  // Examples with a positive weight: those that can be drawn.
  virtual std::size_t examples() const = 0;
  virtual std::unique_ptr<Tally> tally() const = 0;
};

class ModelFileReader;
class ModelFileWriter;
class PartedTraining;

struct Noun {
  const char *one, *many;
};

struct StructureTraits {
  std::string name;     // of the task, as --task takes it
  std::string summary;  // what is predicted, for the help
  Noun example{"example", "examples"};
  Noun label{"class", "classes"};      // what an example is given
  Noun part{nullptr, nullptr};         // tokens, nodes: where reports count them
  std::vector<std::string> options;    // taken beside those of every task, by their names
  std::vector<std::string> formats;    // of its files
  std::vector<std::string> generates;  // options of `m4n generate` that it takes beside those of every task
  LossFamily losses = LossFamily::classes;
  std::string usual_loss = "zero-one";
  Decoder largest = Decoder::argmax;  // what the largest score is called
  bool several_parts = true;          // the loss of an example is a mean over its labels
  std::size_t fewest_labels = 2;      // that a model has names for
  std::size_t most_labels = std::numeric_limits<std::int32_t>::max();
  std::string no_quadratic;        // why the surrogate qs is not for it; empty: it is
  bool labels_are_classes = true;  // every label is a class that training must have seen
};

// What is asked of `predict`.
struct PredictionRequest {
  bool scores = false, marginals = false, json = false;
  std::size_t k_best = 0;  // 0: the one prediction of the decoder
  ReadOptions read;
  std::string model_name;  // for messages
  Context context;
  std::function<void(const std::string&)> warn;
};

// Where a prediction file goes. What was flushed need not be kept.
class TextSink {
 public:
  virtual ~TextSink() = default;
  virtual void write(std::string_view text) = 0;
  virtual void flush() {}
};

// A weight of a model, by numbers of its feature and of what it scores.
struct WeightEntry {
  std::size_t feature, output;
  double value;
};
struct WeightList {
  std::vector<WeightEntry> entries;  // those that are not zero, in the model's order
  std::function<std::string(std::size_t feature)> feature_name;
  std::function<std::string(const WeightEntry&)> output_name;
};

// Numbers of a model for programs: weights as they apply to the input as it comes.
struct NamedArray {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

// Predictions of one model. Made once; may be used from several threads.
class Predictor {
 public:
  virtual ~Predictor() = default;
  // Labels as Dataset::label holds them. Throws Error where a score is beyond what can be computed with; `source` says
  // where the examples came from, for that message, or is null.
  virtual std::vector<std::int32_t> predict(const Dataset& examples, const Examples* source,
                                            const Context& context) const = 0;
  // Under the model's distribution (crf).
  virtual std::vector<double> marginals(const Dataset& examples, const Examples* source,
                                        const Context& context) const = 0;
};

struct FeatureSummary {
  FeatureKind kind = FeatureKind::linear;
  bool bias = false, standardized = false;
  double gamma = 0;  // of the kernel, where there is one
  int degree = 0;
  std::size_t points = 0;
};

// What is asked of generate().
struct GenerateRequest {
  std::size_t n = 0;
  std::uint64_t seed = 0;
  // Of structures that say so (StructureTraits::generates); 0: as many as usual.
  bool costs_by_example = false, softmax = false;
  std::size_t features = 0, classes = 0, items = 0;
};

struct Generated {
  std::size_t d = 0, k = 0;
  double bayes_risk = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counts;  // beyond n, d and k, for the JSON report
  std::vector<std::string> notes;
  std::vector<std::pair<std::string, std::string>> options{};  // that reading the data asks for: a name and its value
  std::string costs{};                                         // a file of costs beside the data, where there is one
};

// Single answers, where the loss of an example is the sum of what its answers cost: that of a class, of every label of
// a set, of every token. Truths and answers are kinds, with names.
struct AnswerKinds {
  std::vector<std::string> truths, answers;  // none: costs are not those of single answers
  std::vector<bool> declines;                // by answer: it is none of the labels (reject, unsure)
  bool any_pair = true;                      // any truth can meet any answer
};
using AnswerVisitor = std::function<void(std::size_t example, std::size_t truth, std::size_t answer, double cost)>;

// What was predicted for labelled examples.
struct Judged {
  const Model& model;
  const Examples& examples;
  std::span<const std::int32_t> predicted;
  std::span<const double> losses;  // of the examples
};

class Structure {
 public:
  explicit Structure(StructureTraits traits) : traits_(std::move(traits)) {}
  virtual ~Structure() = default;
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  const StructureTraits& traits() const { return traits_; }
  const std::string& name() const { return traits_.name; }
  bool takes(std::string_view option) const;

  // ---- options

  // Refuses what does not go together for this structure. What every structure shares is checked by validate().
  virtual void check_options(const TrainOptions&) const {}
  // Why the surrogate cannot be trained on these data; empty: it can.
  virtual std::string obstacle(SurrogateKind, const Dataset&) const { return {}; }
  // What a mistake costs by these options. `classes` as in Dataset::class_names.
  virtual LossSummary loss(const TrainOptions& options, const Dataset& data) const = 0;
  // The decoder that is asked for, or the usual one; refuses those that do not go with the surrogate.
  Decoder decoder(const TrainOptions& options, const LossSummary& loss) const;
  // Files that options name beside the data, each behind the option it is for.
  virtual std::vector<std::pair<std::string, std::string>> files(const TrainOptions&) const { return {}; }
  // What of the options only this structure has and results depend on, by name: cross-validation compares it with that
  // of earlier runs.
  virtual std::vector<std::pair<std::string, std::string>> settings(const TrainOptions&, const Dataset&) const {
    return {};
  }

  // ---- files

  // Whether the start of a file, or an option that only this structure has, tells that it holds such examples.
  virtual bool recognises(const TrainOptions&, std::string_view) const { return false; }
  // `options.task` is this one. Fills in what follows from the file.
  virtual TrainingData read(LineReader& lines, TrainOptions& options, const Notes& note) const = 0;
  virtual Examples read(LineReader& lines, const Model& model, const ReadOptions& options, Truth truth,
                        const std::string& model_name) const = 0;
  // For people, before training: what they may not expect of these data.
  virtual std::vector<std::string> remarks(const Dataset& data, const TrainOptions& options) const;

  // Labels that the parts of a cross-validation should have alike; none where there are none to go by.
  virtual Strata strata(const Dataset&) const { return Strata(); }

  // ---- learning

  // Of the options only those about labels, costs, weights and features count here. Throws Error on data that cannot be
  // learnt from.
  virtual std::unique_ptr<TrainingSet> prepare(Dataset data, const TrainOptions& options,
                                               const Context& context) const = 0;
  // The same where examples lie in parts on several machines; `names`: classes and features, no examples. Throws
  // UsageError where that is not possible.
  virtual std::unique_ptr<PartedTraining> in_parts(const TrainOptions& options, const Dataset& names) const;

  // ---- models

  // The kinds of files that its models are written as.
  virtual std::vector<std::string> kinds() const = 0;
  virtual std::string kind_of(const Model&) const { return kinds().front(); }
  virtual void write_part(const Model& model, ModelFileWriter& file) const = 0;
  // `common` holds what every model has but its cost; the lengths of arrays are not to be trusted before they were
  // compared with those of other arrays.
  virtual std::shared_ptr<const ModelPart> read_part(ModelFileReader& file, ModelCommon& common) const = 0;
  // Throws Error, naming the model, unless all its numbers belong together.
  virtual void check(const Model& model, const std::string& name) const = 0;

  virtual std::unique_ptr<Predictor> predictor(const Model& model) const = 0;
  // Of structures whose scores are those of rows. `costs`: the numbers that costs of the examples name, if they do.
  virtual std::vector<std::string> output_names(const Model&) const { return {}; }
  virtual std::vector<double> scores(const Model& model, const FeaturesView& x, const Context& context) const;
  virtual std::vector<std::int32_t> decode(const Model& model, std::span<const double> scores, const CostColumns& costs,
                                           const Context& context) const;
  virtual std::vector<double> marginals(const Model& model, std::span<const double> scores, const CostColumns& costs,
                                        const Context& context) const;

  // Throws Error unless the examples' runs of rows follow each other and are all there are.
  void require_runs(const Dataset& examples) const;
  // Throws UsageError where probabilities are asked for that the model's surrogate does not define; `instead` says what
  // else there is.
  static void require_probabilities(const Model& model, const std::string& model_name, const Message& instead);
  // Throws UsageError where the best labellings of sequences are asked for; `instead` as above.
  void refuse_k_best(const PredictionRequest& request, const Message& instead) const;

  virtual std::unique_ptr<Evaluator> evaluator(const Model& model, const Examples& examples,
                                               std::span<const std::int32_t> predicted) const = 0;
  // Reads data and writes predictions as `m4n predict` shows them.
  virtual void predict(const Model& model, LineReader& lines, const PredictionRequest& request,
                       TextSink& sink) const = 0;
  virtual WeightList weights(const Model& model) const = 0;
  virtual std::vector<NamedArray> arrays(const Model& model) const = 0;

  // ---- reports

  // How many labels there are to give, for reports: classes, or points where they have no names.
  virtual std::size_t label_count(const Dataset& data) const { return data.class_names.size(); }
  virtual std::size_t label_count(const Model& model) const { return model.k(); }
  virtual std::string labels_text(std::size_t count) const;  // "3 classes"
  virtual FeatureSummary features(const Model& model) const = 0;
  virtual Standardizer standardizer(const Model&) const { return {}; }  // that the weights apply behind
  virtual std::string features_text(const Model& model) const = 0;      // "linear", "rbf, gamma 0.05, 312 points"
  std::string examples_text(std::size_t n, std::size_t parts) const;    // "12 sequences, 100 tokens"
  // What `info` says beyond the common part.
  virtual void describe(const Model&, Json&) const {}
  virtual std::vector<std::pair<std::string, std::string>> description(const Model&) const { return {}; }

  // What every answer costs. As it stands: labels with a cost for every pair, the mean over an example's labels.
  virtual AnswerKinds answer_kinds(const Model& model) const;
  virtual void each_answer(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                           const AnswerVisitor& visit) const;
  // The one answer that would have been the cheapest for all examples, given to each; empty: there is none to look for.
  virtual std::vector<std::int32_t> best_constant(const Model& model, const Examples& examples) const;
  // The truth or the prediction of an example in a few words; `other` is what it is compared with.
  virtual std::string answer_text(const Model& model, std::span<const std::int32_t> labels,
                                  std::span<const std::int32_t> other, bool truth) const;
  // Under the model's distribution: how many outcomes a part of an example with so many parts has. 1: probabilities are
  // those of being on.
  virtual std::size_t outcomes(const Model& model, std::size_t) const { return model.k(); }
  // What there is to see of a model, and of its predictions, that only this structure knows.
  virtual std::vector<Exhibit> exhibits(const Model&) const { return {}; }
  virtual std::vector<Exhibit> exhibits(const Judged&) const { return {}; }

  // ---- data with a known best loss

  virtual Generated generate(const GenerateRequest& request, TextSink& sink) const = 0;

 protected:
  // For check(): how a surrogate of whole outputs can be solved.
  void check_solver(const TrainOptions& options, const char* outputs, bool crf_by_prox, bool paper) const;
  // For structures whose files are no tables: the weights of the examples from a file, one per line; no path: none.
  static void read_example_weights(const std::string& path, Dataset& data);
  static void refuse_weights(const PredictionRequest& request);
  // For structures whose files are no tables: refuses options about columns; for a model also other formats.
  void refuse_fold_column(const TrainOptions& options) const;
  void require_own_format(const ReadOptions& options, const std::string& model_name) const;

 private:
  StructureTraits traits_;
};

// ---- the registry

// All structures, in the order in which they are shown and asked whether they recognise a file.
const std::vector<const Structure*>& structures();
// Throws UsageError, with the valid names, if there is none. An empty name is the usual task, classes.
const Structure& structure_named(const std::string& task);
const Structure& structure_of(const Model& model);
// Adds one for the rest of the process, behind those that are there. For programs with structures of their own: call it
// before any other function of the library, from one thread.
void add_structure(std::unique_ptr<Structure> structure);

// Refuses the surrogate qs, and says why.
void refuse_quadratic(const TrainOptions& options, std::string_view why);

// A part of a model as its structure knows it.
template <class Part>
const Part& part_of(const Model& model) {
  return static_cast<const Part&>(*model.part());
}

}  // namespace m4n::detail
