// Files to datasets. Every defect is an Error that names file, line and column, the value found and the remedy.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "m4n/dataset.h"
#include "m4n/model.h"
#include "m4n/options.h"

namespace m4n {

// A file as read, before labels are given a meaning.
struct RawTable {
  std::string path;
  Features x;
  std::vector<std::string> feature_names;  // empty for LIBSVM
  std::vector<std::string> left_out;       // columns that are no features because they would give the label away
  std::string target_name;                 // the column the labels came from; empty: there is none
  std::vector<std::string> target;         // one cell an example, as written; empty if there is no such column
  std::vector<std::string> output_names;   // r1, r2, .. or y1, y2, .. where these are the output together
  std::vector<std::int32_t> outputs;  // n x output_names: ranks from 1, a permutation in each row; or marks 0 and 1
  std::vector<double> weight;         // empty: no such column
  std::vector<std::string> ids;       // empty: no such column
  std::vector<std::string> folds;     // empty: no such column
  std::vector<std::size_t> line;      // of each example in the file, counted from 1, for messages
};

// Plain or gzip, CSV or LIBSVM, found by content unless options say; "-" is standard input.
// `target_required`: training and evaluation need labels; prediction does not.
// Every CSV column that is not the label, the weight, the id or the fold is a feature, except what would give the label
// away: `target` beside `label` when neither is asked for, and y2, y3, .. when y1 is asked for (r1.. likewise). Where
// options.outputs says so, or there is neither label nor target, r1, r2, .. or y1, y2, .. are the output together.
// `expected`: the features a model was trained on; CSV columns are then matched by name (any order, label columns
// absent or ignored, and so what the model remembers as label, weights, id and fold) or, if the model has no names, by
// count; LIBSVM columns are padded, or refused when beyond.
RawTable read_table(const std::string& path, const ReadOptions& options, bool target_required,
                    const Model* expected = nullptr);

// Labels for training. Class names sort as numbers where all are numbers, as words otherwise. Ordinal data take
// their grades in that order, or are cut from the raw target into `bins` grades by `binning` (the cut points are in the
// result).
Dataset label_for_training(RawTable table, Task task, int bins = 0, Binning binning = Binning::quantile);

// The label column as numbers; refuses what is none.
std::vector<double> raw_targets(const RawTable& table);

// Labels for evaluation with a trained model: its classes and cut points. Labels it has never seen become
// unknown_label and are listed in `unseen`.
Dataset label_for_model(RawTable table, const Model& model, std::vector<std::string>* unseen);

// ranking if the output is r1, r2, .., multilabel if it is y1, y2, ..; ordinal if the target is a raw number column
// (`target`) or bins are asked for; multiclass otherwise.
Task guess_task(const RawTable& table, int bins);

// Sequences for training. CoNLL columns become attributes by options.text_template, the last column being the label;
// CRFsuite's files hold their attributes ready; letters of words have pixels. Found by content unless options say.
struct TrainingSequences {
  Dataset data;
  std::vector<std::string> folds;  // one a sequence, where the format has them (ocr)
};
TrainingSequences read_training_sequences(const std::string& path, const TrainOptions& options);

// Sequences for a trained model. data.label holds unknown_label where the model has never seen the label; `truth` still
// tells such labels apart.
struct LabelledSequences {
  Dataset data;
  std::vector<std::string> names;   // the classes, then those the model has never seen, in order of appearance
  std::vector<std::int32_t> truth;  // indices into names, or unknown_label where the file does not say (`_`, no column)
};
LabelledSequences read_model_sequences(const std::string& path, const Model& model, bool labels_required);

// Matchings and graphs (docs/formats.md), for training and for a trained model. Partners and labels that the file does
// not know become unknown_label where they are not required; labels the model has never seen, too, and are listed.
Dataset read_training_matchings(const std::string& path);
Dataset read_model_matchings(const std::string& path, const Model& model, bool partners_required);
Dataset read_training_graphs(const std::string& path);
Dataset read_model_graphs(const std::string& path, const Model& model, bool labels_required,
                          std::vector<std::string>* unseen = nullptr);

// One weight a class from `balanced` (n / (k n_c)) or a CSV file with rows class,weight.
std::vector<double> read_class_weights(const std::string& spec, const Dataset& data);

}  // namespace m4n
