// A trained model: everything needed to predict, and nothing about how long training took or where.
//
// It has a common part, which means the same whatever is predicted, and a part that belongs to its structure: weights
// of transitions, of edges, cut points of grades. The latter is read by the structure alone.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n {

// What every model has.
struct M4N_API ModelCommon {
  std::string task;
  SurrogateKind surrogate = SurrogateKind::m4n;
  Decoder decode = Decoder::argmax;
  double smoothing = 0;  // in units of the mean off-diagonal cost, as asked for

  // What a mistake costs: a named loss, or a word for costs that were given. `cost` holds what the loss must remember
  // beside its name; of classes k x K, cost[true * K + predicted], K = k unless `predictions` says otherwise.
  std::string loss_name;
  std::vector<double> cost;

  // Where costs differ from example to example: for every entry of `cost` the column that holds it, or nothing. What
  // `cost` has there is its mean over the training examples.
  std::vector<std::string> cost_columns;
  // The columns among them, each once.
  std::vector<std::string> columns_of_costs() const;

  std::vector<std::string> predictions;    // their names where they are not just the classes: cost is then k x K
  std::vector<std::string> classes;        // names of classes, grades, labels or items; empty where there are none
  std::vector<std::string> feature_names;  // empty: the features have no names
  // Columns that were no features in training. Empty: not asked for.
  std::string target_column, weights_column, id_column, fold_column;
  std::vector<std::string> ignored_columns;
  std::size_t d = 0;  // features of the input
  bool sparse = false;

  // How it was found.
  std::string solver;
  double lambda = 0, tol = 0;
  std::size_t n = 0, parts = 0;  // examples; labels in all
  int epochs = 0;
  std::uint64_t oracle_calls = 0, seed = 0;
  double train_loss = 0, norm_squared = 0;
  Certificate certificate;
  bool interrupted = false;  // training was stopped from outside
};

// What only models of one structure have.
class M4N_API ModelPart {
 public:
  virtual ~ModelPart() = default;
};

class M4N_API Model {
 public:
  Model() = default;
  // `part` must be one of the task's structure.
  Model(ModelCommon common, std::shared_ptr<const ModelPart> part);

  const ModelCommon& common() const { return common_; }
  const ModelPart* part() const { return part_.get(); }
  const std::shared_ptr<const ModelPart>& shared_part() const { return part_; }

  const std::string& task() const { return common_.task; }
  SurrogateKind surrogate() const { return common_.surrogate; }
  Decoder decode() const { return common_.decode; }
  const std::string& loss_name() const { return common_.loss_name; }
  const std::vector<double>& cost() const { return common_.cost; }
  const std::vector<std::string>& classes() const { return common_.classes; }
  // What predict() counts: the classes, or the actions that the costs name.
  const std::vector<std::string>& predictions() const {
    return common_.predictions.empty() ? common_.classes : common_.predictions;
  }
  const std::vector<std::string>& feature_names() const { return common_.feature_names; }
  const Certificate& certificate() const { return common_.certificate; }
  double lambda() const { return common_.lambda; }
  std::size_t k() const { return common_.classes.size(); }
  std::size_t d() const { return common_.d; }

  // What the scores of a row of features are of: classes; items of rankings, or item_rank; the pair of a matching; ...
  // None where whole examples are scored, as sequences are.
  std::vector<std::string> output_names() const;
  // Scores v(x), rows x outputs. Refuses features whose number does not fit, and structures that score no single rows.
  std::vector<double> scores(const FeaturesView& x, const Context& context = {}) const;
  // The decoder applied to every row of scores, where an example is a row.
  std::vector<std::int32_t> decode_scores(std::span<const double> scores, const Context& context = {}) const;

  // Labels of examples that are one row each.
  std::vector<std::int32_t> predict(const FeaturesView& x, const Context& context = {}) const;
  // Labels of any examples, as Dataset::label holds them; those of `examples` are not looked at.
  std::vector<std::int32_t> predict(const Dataset& examples, const Context& context = {}) const;
  // Probabilities, where the surrogate defines them (crf), UsageError otherwise: by example, of every class; of every
  // label that it is on; of every item and position; of every label of every token or node.
  std::vector<double> marginals(const Dataset& examples, const Context& context = {}) const;
  std::vector<double> marginals(std::span<const double> scores, const Context& context = {}) const;

  // Written to a temporary file beside `path`, synced and renamed: the old file stays whole until the new one is.
  void save(const std::string& path) const;
  // Checks magic, version, sizes, checksum and every field before use; throws Error on any defect.
  static Model load(const std::string& path);
  std::string to_bytes() const;
  static Model from_bytes(std::span<const char> bytes, const std::string& name);

 private:
  ModelCommon common_;
  std::shared_ptr<const ModelPart> part_;
};

}  // namespace m4n
