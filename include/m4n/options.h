// Everything a user can ask of training, with its default. The command line, its --help and docs/cli.md are derived
// from the one table behind `train_option_table()`; Python gives its values by the names of this table.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "m4n/dataset.h"

namespace m4n {

enum class SurrogateKind { m4n, m3n, crf, qs };
enum class SolverKind { automatic, prox, atoms, smooth, gbcfw, lbfgs };
enum class OracleKind { exact, spmp };
enum class Decoder { automatic, argmax, adversary, expected, viterbi };
enum class StepRule { automatic, paper, line_search };
// Which columns of a table are its output: one, all ranks r1, r2, .., or all marks y1, y2, ..
enum class OutputColumns { one, ranks, marks };
enum class FeatureKind { linear, rbf, laplacian, poly, rbf_centers, nystrom, fourier };
enum class Landmarks { kmeans, uniform };

inline constexpr double smallest_lambda = 1e-30, largest_lambda = 1e30;
inline constexpr double least_smoothing = 1e-6, most_smoothing = 1e6;  // or 0

// How a file is read. Which of its columns mean what.
struct ReadOptions {
  std::string format;                    // as `--format` names them; empty: found by content
  std::string target;                    // name of the label or raw target column; empty: `label`, else `target`
  std::optional<OutputColumns> outputs;  // nullopt: one where there is a label, else those the header has
  std::string weights;                   // name of the column with example weights; empty: none
  std::string id;                        // name of a column that is carried along but not learnt from
  std::string fold;                      // name of a column that says which fold an example belongs to
  std::vector<std::string> ignore;       // names of columns that are no features
  std::vector<std::string> costs;        // names of columns whose numbers costs name; those the file has are kept
};

struct TrainOptions {
  std::string task;  // one of task_names(); empty: guessed by read(), classes for fit()
  SurrogateKind surrogate = SurrogateKind::m4n;
  double smoothing = 0;  // in units of the mean off-diagonal cost
  Decoder decode = Decoder::automatic;
  std::string loss;                      // empty: the usual one of the task; else a name or a CSV file
  std::vector<double> cost;              // instead of `loss`: cost[true * K + predicted]; empty: `loss` decides
  std::vector<std::string> predictions;  // names of the columns of `cost` where they are not just the classes
  // Of costs that differ from example to example: for every entry of `cost` the column of Dataset::costs that holds it,
  // or nothing: the number itself. None: all are numbers.
  std::vector<std::string> cost_columns;
  std::optional<double> reject;  // one more prediction, reject, that always costs as much
  bool inner = false;            // of a tree of classes, inner nodes may be predicted too
  std::optional<double> lambda;  // nullopt: usual_lambda (m4n/fit.h)
  double tol = 1e-3;             // relative duality gap
  int epochs = 1000;
  std::optional<double> time_limit;  // seconds
  // Of fit(): a file that keeps where it stands, written every so many seconds and when it ends; such a file of the
  // same data and options to go on from; such a file of other data or options to start from.
  std::string checkpoint;
  double every = 300;
  std::string resume, init;
  SolverKind solver = SolverKind::automatic;
  OracleKind oracle = OracleKind::exact;
  int oracle_iterations = 20;
  bool iterations_per_part = false;  // that many times the number of parts of the output
  bool warm_start = true;
  std::optional<bool> average;          // nullopt: yes for the paper's step, no otherwise
  StepRule step = StepRule::automatic;  // paper for gbcfw with spmp, line-search otherwise
  int bins = 0;                         // > 0: cut a raw target into that many grades
  Binning binning = Binning::quantile;
  std::string class_weight;  // empty, `balanced`, or a CSV file with rows class,weight
  FeatureKind features = FeatureKind::linear;
  std::optional<double> gamma;              // of the kernel; nullopt: from the training data (features/feature_map.h)
  int degree = 3;                           // of the polynomial kernel
  int components = 0;                       // centres, landmarks or frequencies; 0: 200 centres, else 500
  Landmarks landmarks = Landmarks::kmeans;  // how Nystrom landmarks are chosen
  std::optional<bool> standardize;          // nullopt: yes for dense features, no for sparse ones and sequences
  bool bias = true;
  bool require_converged = false;
  std::string text_template;           // of CoNLL columns: chunking, ner, pos or a file
  std::uint64_t min_count = 1;         // tokens that must have an attribute for it to be kept
  int hash_bits = 0;                   // > 0: attributes are hashed to 2^bits columns
  std::string pixel_products;          // HxW: add the products of neighbouring pixels
  std::string constraints;             // of sequences: empty, bio, bioes, or a file of forbidden transitions
  std::string edges;                   // of label sets: empty or none, tree, or a file
  std::vector<GraphEdge> label_edges;  // instead of `edges`: these; empty: `edges` decides
  std::uint64_t seed = 0;
  ReadOptions read;
};

// The names of all tasks.
M4N_API std::vector<std::string> task_names();

// One row of the option table. `set` parses a value and throws UsageError, naming the option, the value found and
// what is allowed.
enum class OptionScope { every_task, some_tasks };   // some: those whose structures say that they take it
enum class OptionEffect { on_results, on_the_run };  // on the run: when it stops, what it leaves behind
struct OptionRow {
  std::string name;      // without the leading dashes
  std::string value;     // what the value looks like: "X", "N", "m4n|m3n|crf|qs"; empty for a flag
  std::string fallback;  // the default, as shown
  std::string help;
  std::function<void(TrainOptions&, const std::string&)> set;
  std::function<bool(const TrainOptions&)> given;        // whether it has another value than its default
  std::function<std::string(const TrainOptions&)> text;  // the value as `set` takes it; nothing where there is none
  OptionScope scope = OptionScope::every_task;
  OptionEffect effect = OptionEffect::on_results;
};
M4N_API const std::vector<OptionRow>& train_option_table();

// Refuses combinations that mean nothing (smoothing with crf, spmp with m3n, ...), before any work is done.
M4N_API void validate(const TrainOptions& options);
// Validated, with what follows from other options filled in: spmp is an oracle of gbcfw, no task means classes.
M4N_API TrainOptions completed(TrainOptions options);

M4N_API const char* to_string(SurrogateKind);
M4N_API const char* to_string(SolverKind);
M4N_API const char* to_string(OracleKind);
M4N_API const char* to_string(Decoder);
M4N_API const char* to_string(StepRule);
M4N_API const char* to_string(Binning);
M4N_API const char* to_string(FeatureKind);
M4N_API const char* to_string(Landmarks);

}  // namespace m4n
