// From rounds over parts to a model (fit_parted.h): the steps of fit.cc.
#include "api/fit_parted.h"

#include <utility>

#include "api/model_terms.h"
#include "core/message.h"
#include "m4n/error.h"
#include "m4n/fit.h"
#include "structures/structure.h"

namespace m4n::detail {

std::unique_ptr<PartedTraining> parted_training(const TrainOptions& requested, const Dataset& names) {
  const TrainOptions options = completed(requested);
  if (options.features != FeatureKind::linear)
    throw UsageError(
        say("--features {} is fitted on all examples, which are not in one place; => use linear ones, or make the "
            "features beforehand",
            to_string(options.features)));
  const Structure& structure = structure_named(options.task);
  auto out = structure.in_parts(options, names);
  structure.decoder(options, structure.loss(options, names));  // refuses what does not go together
  return out;
}

Model fit_parted(const TrainOptions& requested, const Dataset& names, const PartedData& data, const Round& round,
                 const JudgeParts& judge, const Context& context) {
  const TrainOptions options = completed(requested);
  const auto training = parted_training(options, names);
  const double lambda = options.lambda.value_or(usual_lambda(options, names, data.weight));
  const std::size_t outputs = training->outputs();
  RoundPass pass((data.d + (options.bias ? 1 : 0)) * outputs, round);
  const SolveResult result =
      smooth_in_rounds(pass, data.examples, lambda, training->smoothing(), solver_options(options), context);

  ModelCommon common = described(options, names);
  const Structure& structure = structure_named(options.task);
  common.decode = structure.decoder(options, structure.loss(options, names));
  training->describe(common);
  common.n = common.parts = data.examples;
  common.d = data.d;
  common.sparse = data.sparse;
  common.lambda = lambda;
  add_result(result, common);
  const AlignedVector<double>& w = pass.point();
  common.norm_squared = pass.inner(w, w);
  RowWeights rows{{}, {}, options.bias, {w.begin(), w.end()}};
  common.train_loss = judge(Model(common, training->finish(rows)));
  rows.standardizer = data.standardizer;
  return {std::move(common), training->finish(std::move(rows))};
}

}  // namespace m4n::detail
