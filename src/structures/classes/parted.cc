// The surrogates of classes over parts of the examples (parted.h).
#include "structures/classes/parted.h"

#include <utility>

#include "core/message.h"
#include "structures/classes/structure.h"
#include "structures/classes/surrogates.h"
#include "structures/classes/training.h"

namespace m4n::detail {
namespace {

// body(surrogate) with the surrogate that is asked for.
template <class Body>
auto with_surrogate(const TrainOptions& o, const CostMatrix& cost, Body&& body) {
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      break;
    case SurrogateKind::m3n:
      return body(Margin(cost));
    case SurrogateKind::crf:
      return body(Crf(cost.k()));
    case SurrogateKind::qs:
      throw UsageError(say("--surrogate qs is solved in closed form, not in rounds; => use m4n, m3n or crf"));
  }
  return with_maxmin(cost, MatrixMaxMin::all_solves, [&](const auto& maxmin) {
    return o.smoothing > 0 ? body(Smoothed(maxmin, smoothing_in_costs(o.smoothing, cost))) : body(maxmin);
  });
}

class PartedClasses : public PartedTraining {
 public:
  PartedClasses(const TrainOptions& options, CostMatrix cost)
      : options_(options),
        cost_(std::move(cost)),
        smoothing_(with_surrogate(options_, cost_,
                                  [](const auto& surrogate) { return first_smoothing * surrogate.scale(); })) {}

  std::size_t outputs() const override { return cost_.k(); }
  double smoothing() const override { return smoothing_; }
  RoundSums round(const Part& part, std::span<const double> w, std::optional<double> moving, double smoothing,
                  PartCentres& centres, unsigned threads) const override {
    for (const std::int32_t label : part.label)
      if (label < 0 || static_cast<std::size_t>(label) >= cost_.k())
        throw Error(say("a part has the label {}, expected 0 to {}", label, cost_.k() - 1));
    return with_surrogate(options_, cost_, [&](const auto& surrogate) {
      return round_of(surrogate, part, options_.bias, w, moving, smoothing, centres, threads);
    });
  }
  void describe(ModelCommon& common) const override { describe_costs(cost_, common); }
  std::shared_ptr<const ModelPart> finish(RowWeights rows) const override {
    auto part = std::make_shared<ClassPart>();
    part->rows = std::move(rows);
    return part;
  }

 private:
  TrainOptions options_;
  CostMatrix cost_;
  double smoothing_;
};

}  // namespace

std::unique_ptr<PartedTraining> classes_in_parts(const TrainOptions& options, const Dataset& names,
                                                 const std::string& usual_loss) {
  CostMatrix cost = chosen_cost(options, names, usual_loss);
  if (cost.varies())
    throw UsageError(
        say("costs that differ from example to example are not trained in parts; => use the same for all examples"));
  return std::make_unique<PartedClasses>(options, std::move(cost));
}

}  // namespace m4n::detail
