// For structures whose scores are those of rows of features (all but chains): the part of a model that holds their
// weights, in the file, in checks and in what people are shown.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "features/row_weights.h"
#include "m4n/model.h"
#include "model/check.h"
#include "model/model_file.h"
#include "structures/structure.h"

namespace m4n::detail {

struct RowPart : ModelPart {
  RowWeights rows;
};

// `cuts`: of grades, for the structure that has them.
void write_rows(const ModelCommon& common, const RowWeights& rows, std::span<const double> cuts, ModelFileWriter& file);
// The weights as `outputs` and the number of features demand; `cuts` null: there must be none. `mapped`: not linear.
RowWeights read_rows(ModelFileReader& file, ModelCommon& common, std::size_t outputs, bool mapped,
                     std::vector<double>* cuts);
// Weights (features + bias) x outputs, finite; mean and inverse_scale none, or d finite numbers, no mean for sparse
// features; a feature map unless linear: finite points, gamma > 0, phases for fourier only.
void check_rows(const ModelCommon& common, const RowWeights& rows, std::size_t outputs, const ModelCheck& check);

// The weights of rows with their names; further entries have features from `rows_of_weights` on.
WeightList row_weight_list(const Model& model, const RowWeights& rows, std::vector<std::string> output_names);
std::size_t rows_of_weights(const ModelCommon& common, const RowWeights& rows);

// coef (outputs x features) and intercept; of linear features for the input as it comes, with the standardisation
// folded in.
std::vector<NamedArray> row_arrays(const ModelCommon& common, const RowWeights& rows, std::size_t outputs);

// "linear", or "rbf, gamma 0.05, 312 points".
std::string row_features_text(const RowWeights& rows);
void describe_rows(const RowWeights& rows, Json& info);

FeatureSummary summary_of(const RowWeights& rows);

// The scores of a model's rows, all of which can be computed with. Throws Error otherwise, naming the output, which is
// `what` ("class"), and, by `where`, the row, which is called `unit` ("line").
std::vector<double> checked_scores(const RowScores& rows, const std::vector<std::string>& outputs,
                                   const FeaturesView& x, const Context& context, const char* unit,
                                   const std::function<std::string(std::size_t row)>& where, const char* what);

}  // namespace m4n::detail
