// Structures whose examples are rows of a table: CSV or LIBSVM in, CSV or JSON out. What is left to each is what its
// columns mean, and its training.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/table.h"
#include "structures/row_part.h"
#include "structures/structure.h"

namespace m4n::detail {

class TableStructure : public Structure {
 public:
  using Structure::Structure;

  // Whether these columns are of this structure, where no task was asked for.
  virtual bool recognises(const RawTable& table, const TrainOptions& options) const = 0;
  // Training data of a table that was read with the columns of this structure.
  TrainingData training_data(RawTable table, const TrainOptions& options, const Notes& note) const;

  TrainingData read(LineReader& lines, TrainOptions& options, const Notes& note) const final;
  Examples read(LineReader& lines, const Model& model, const ReadOptions& options, Truth truth,
                const std::string& model_name) const final;

  std::unique_ptr<Predictor> predictor(const Model& model) const final;
  std::vector<double> scores(const Model& model, const FeaturesView& x, const Context& context) const final;
  void predict(const Model& model, LineReader& lines, const PredictionRequest& request, TextSink& sink) const final;
  WeightList weights(const Model& model) const override;
  std::vector<NamedArray> arrays(const Model& model) const override;
  FeatureSummary features(const Model& model) const final;
  Standardizer standardizer(const Model& model) const final;
  std::string features_text(const Model& model) const final;
  void describe(const Model& model, Json& info) const override;

  using Structure::recognises;

 private:
  std::string prediction_header(const Model& model, const PredictionRequest& request) const;

 protected:
  virtual OutputColumns output_columns() const = 0;
  virtual Dataset label(RawTable table, const TrainOptions& options, const Notes& note,
                        std::vector<double>& raw_target) const = 0;
  // For a trained model.
  virtual void label(RawTable table, const Model& model, Examples& out) const = 0;

  // ---- how predictions are shown

  // The names of the columns, and the cells of one example.
  virtual std::vector<std::string> prediction_columns(const Model& model) const = 0;
  virtual void append_cells(const Model& model, std::span<const std::int32_t> labels, std::string& out) const = 0;
  // Of all examples, each a row of labels.
  virtual void add_json(const Model& model, std::span<const std::int32_t> labels, const PredictionRequest& request,
                        Json& out) const = 0;
  // What the marginals of an example are of.
  virtual std::vector<std::string> probability_names(const Model& model) const { return model.classes(); }
};

}  // namespace m4n::detail
