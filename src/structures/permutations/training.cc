// Solvers of permutations for a path of lambdas, and their training set (training.h).
#include "structures/permutations/training.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/message.h"
#include "solvers/block_dual.h"
#include "solvers/lbfgs.h"
#include "solvers/quadratic.h"
#include "structures/permutations/ascent.h"
#include "structures/permutations/birkhoff_mirror_prox.h"
#include "structures/permutations/gibbs.h"
#include "structures/permutations/predictor.h"
#include "structures/permutations/scorer.h"
#include "structures/permutations/structure.h"

namespace m4n::detail {

namespace {

// Items up to which games with losses that are neither Hamming nor of rank one are played: an iteration is O(M^4), and
// keeps 24 M^3 bytes.
constexpr std::size_t largest_general_game = 100;

// What all solvers of one request share.
struct Setting {
  const PermutationRequest* request;
  PositionLosses losses;
  PermutationParts parts;
  std::size_t largest = 1;  // number of items
};

template <class Oracle, class Scorer>
void by_atoms(Problem<Scorer> problem, const Setting& setting, const EmitResult& emit) {
  const PermutationRequest& request = *setting.request;
  const Oracle oracle(setting.losses);
  EarlierPermutations<Oracle> point{{problem, setting.losses}, {}};
  if (request.context->start || request.context->checkpoint)
    for (std::size_t i = 0; i < problem.examples(); ++i)
      point.outputs.push_back(crc64(bytes_of(problem.y(i)), problem.scorer->image_checksum(i)));
  const CheckpointScope scope(*request.context, point);
  if (const auto earlier = earlier_point<EarlierPermutations<Oracle>>(*request.context)) point.adopt(*earlier);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    const SolverOptions options = solver_options(*request.options);
    emit(PermutationAscent(problem, oracle, setting.parts, point.dual, options, *request.context).run());
  }
  leave_point(std::move(point), *request.context);
}

template <class Exact, class Scorer>
void by_mirror_prox(const Problem<Scorer>& problem, const Setting& setting, const EmitResult& emit) {
  const int iterations = setting.request->options->oracle_iterations;
  const PermutationPaper<Exact> paper(setting.losses, setting.parts, iterations, setting.largest);
  block_dual(problem, paper, setting.request->path(), emit);
}

template <class Scorer>
void crf(const Problem<Scorer>& problem, const Setting& setting, const EmitResult& emit) {
  if (setting.largest > PermutationGibbs::largest_size)
    throw UsageError(
        say("--surrogate crf sums over all permutations, which is possible for up to {} items; the data have {}. => "
            "Use m4n or m3n",
            PermutationGibbs::largest_size, setting.largest));
  const AlignedVector<double> cells_of_all(setting.largest * setting.largest);
  const auto slope_of = [&parts = setting.parts, gibbs = PermutationGibbs(), all_cells = cells_of_all,
                         all_marginals = cells_of_all,
                         truth = AlignedVector<double>(problem.scorer->largest_padded_parts())](
                            std::span<const double> v, LabelView y, std::span<double> slope) mutable {
    const std::size_t size = y.size();
    const std::span<double> cells = std::span(all_cells).first(size * size),
                            marginals = std::span(all_marginals).first(size * size);
    parts.cells(v, size, cells);
    const double value = gibbs.marginals(cells, size, marginals);
    std::fill(slope.begin(), slope.end(), 0.0);
    parts.gather(marginals, size, slope);
    parts.embed(y, truth);
    for (std::size_t e = 0; e < parts.count(size); ++e) slope[e] -= truth[e];
    return value - parts.score(v, y);
  };
  const auto at_zero = [](LabelView y) {
    double sum = 0;
    for (std::size_t m = 2; m <= y.size(); ++m) sum += std::log(static_cast<double>(m));
    return sum;
  };
  lbfgs_path(problem, SlopeFromZero{slope_of, at_zero}, setting.request->path(), emit);
}

// What the scores regress onto: the permutation's parts for Hamming losses (weighted) and those of rank one, minus the
// costs of the truth for others; it is enough that their best permutation is the best prediction.
void regression_target(const PositionLoss& loss, const PermutationParts& parts, LabelView y, std::span<double> target) {
  parts.embed(y, target);
  if (parts.items()) return;
  const std::size_t size = y.size();
  const double unit = *std::max_element(loss.weights().begin(), loss.weights().end());
  for (std::size_t e = 0; e < size * size; ++e) {
    const double weight = loss.weights()[e / size];
    target[e] = loss.form() == PositionLoss::Form::hamming
                    ? (unit > 0 ? weight / unit : 1) * target[e]
                    : -weight * loss.cost(static_cast<std::size_t>(y[e / size]), e % size);
  }
}

// S(v, y) = |v - target(y)|^2 and its slope; without a target, its curvature.
struct Regression {
  const Setting* setting;
  AlignedVector<double> target;  // scratch
  bool homogeneous = false;
  double operator()(std::span<const double> v, LabelView y, std::span<double> slope) {
    const std::size_t count = setting->parts.count(y.size());
    std::fill(slope.begin(), slope.end(), 0.0);
    std::fill(target.begin(), target.end(), 0.0);
    if (!homogeneous) regression_target(setting->losses.of(y.size()), setting->parts, y, target);
    double value = 0;
    for (std::size_t e = 0; e < count; ++e) {
      const double residual = v[e] - target[e];
      value += residual * residual;
      slope[e] = 2 * residual;
    }
    return value;
  }
};

template <class Scorer>
void quadratic(const Problem<Scorer>& problem, const Setting& setting, const EmitResult& emit) {
  AlignedVector<double> target(problem.scorer->largest_padded_parts());
  if constexpr (std::is_same_v<Scorer, KernelScorer>) {
    const auto target_of = [&](std::size_t i) {
      const LabelView y = problem.y(i);
      std::fill(target.begin(), target.end(), 0.0);
      regression_target(setting.losses.of(y.size()), setting.parts, y, target);
      return target.data();
    };
    return quadratic_kernel_path(problem, *setting.request->gram, setting.parts.count(setting.largest), target_of,
                                 setting.request->path(), emit);
  } else {
    const Regression loss{&setting, target};
    if (setting.request->pairs != nullptr) return lbfgs_path(problem, loss, setting.request->path(), emit);
    quadratic_path(problem, setting.request->x, setting.request->bias, loss, Regression{&setting, target, true},
                   setting.request->path(), emit);
  }
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const Setting& setting, const EmitResult& emit) {
  const TrainOptions& o = *setting.request->options;
  const bool items = setting.parts.items();
  const Problem<typename Scorer::Plain> plain{problem.scorer, problem.label, problem.labels, problem.weight, 0};
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      if (setting.losses.of(setting.largest).form() == PositionLoss::Form::general &&
          setting.largest > largest_general_game)
        throw UsageError(
            say("--surrogate m4n with --loss {} is for up to {} items, as its games take O(M^4); the data have {}. => "
                "Use --surrogate m3n or qs, or a loss without this limit: hamming, spearman, precision@K or dcg",
                setting.losses.of(setting.largest).name(), largest_general_game, setting.largest));
      if (o.solver == SolverKind::gbcfw && o.oracle == OracleKind::spmp)
        return items ? by_mirror_prox<RankOneMaxMin>(plain, setting, emit)
                     : by_mirror_prox<PermutationMaxMin>(plain, setting, emit);
      return items ? by_atoms<RankOneMaxMin>(problem, setting, emit)
                   : by_atoms<PermutationMaxMin>(problem, setting, emit);
    case SurrogateKind::m3n:
      return items ? by_atoms<RankOneMaxMargin>(problem, setting, emit)
                   : by_atoms<PermutationMaxMargin>(problem, setting, emit);
    case SurrogateKind::crf:
      return crf(plain, setting, emit);
    case SurrogateKind::qs:
      return quadratic(plain, setting, emit);
  }
}

// Sizes that fit together, and positions that are permutations.
void check(const PermutationRequest& request) {
  const Groups& items = *request.items;
  const std::size_t rows = std::visit([](const auto& x) { return x.rows; }, request.x);
  if (items.count() == 0) throw Error("no example to learn permutations from");
  if (request.pairs == nullptr && rows != items.count())
    throw Error(say("{} rows of features for {} rankings: there must be one each", rows, items.count()));
  std::vector<std::uint8_t> seen;
  for (std::size_t i = 0; i < items.count(); ++i) {
    const std::size_t size = items.end(i) - items.begin(i), first = items.end(0) - items.begin(0);
    if (size == 0) throw Error(say("example {} has no items", i + 1));
    if (request.pairs == nullptr && size != first)
      throw Error(say("ranking {} has {} items, the first has {}: all must have the same", i + 1, size, first));
    if (request.pairs != nullptr && request.pairs->end(i) - request.pairs->begin(i) != size * size)
      throw Error(say("matching {} has {} items and {} rows of features: there must be {}", i + 1, size,
                      request.pairs->end(i) - request.pairs->begin(i), size * size));
    seen.assign(size, 0);
    for (std::size_t e = items.begin(i); e < items.end(i); ++e) {
      const std::int32_t place = request.position[e];
      if (place < 0 || static_cast<std::size_t>(place) >= size || seen[static_cast<std::size_t>(place)]++ > 0)
        throw Error(
            say("example {}: position {} of item {} is out of range or taken; expected every one of "
                "0..{} once",
                i + 1, place, e - items.begin(i) + 1, size - 1));
    }
  }
}

template <class Scorer>
void run(Scorer scorer, const Setting& setting, const std::function<void(std::unique_ptr<RowSolution>)>& emit) {
  const PermutationRequest& request = *setting.request;
  const Problem<Scorer> problem{&scorer, request.position, *request.items, request.weight, 0};
  solve(problem, setting, [&](const SolveResult& result) {
    auto out = std::make_unique<RowSolution>();
    out->result = result;
    out->weights = scorer.weights();
    out->norm_squared = scorer.norm_squared();
    emit(std::move(out));
  });
}

}  // namespace

void solve_permutations(const PermutationRequest& request,
                        const std::function<void(std::unique_ptr<RowSolution>)>& emit) {
  check(request);
  Setting setting{&request, PositionLosses(request.loss), PermutationParts()};
  for (std::size_t i = 0; i < request.items->count(); ++i) {
    const std::size_t size = request.items->end(i) - request.items->begin(i);
    setting.losses.prepare(size);
    setting.largest = std::max(setting.largest, size);
  }
  setting.parts = ranking_parts(setting.losses.of(setting.largest), request.pairs == nullptr);
  if (request.pairs != nullptr) return run(PairScorer(request.x, *request.pairs), setting, emit);
  const std::size_t parts = setting.parts.count(setting.largest);
  if (request.gram != nullptr) return run(KernelItemScorer(*request.gram, parts), setting, emit);
  run(ItemScorer(request.x, parts, request.bias), setting, emit);
}

namespace {

// What solve_permutations does not look at: weights, and items that are there to be ranked.
Dataset checked(Dataset data, bool matching) {
  const std::size_t n = data.examples();
  if (n == 0) throw Error("there are no examples to learn from");
  if (!matching && data.class_names.size() < 2)
    throw Error(say("{} item in the rankings; there is nothing to rank below two", data.class_names.size()));
  if (data.label.size() != data.labels.end(n - 1))
    throw Error(say("{} labels for {} items do not belong together", data.label.size(), data.labels.end(n - 1)));
  if (std::find(data.label.begin(), data.label.end(), unknown_label) != data.label.end())
    throw Error(
        "some examples have no labels; learning needs the true permutation of each: add them, or leave these examples "
        "out");
  if (matching && (data.feature_rows.count() != n || data.feature_rows.end(n - 1) != rows(data.x)))
    throw Error(say("{} rows of features do not belong to {} matchings", rows(data.x), n));
  check_weights(data);
  require_values(data.x);
  return data;
}

}  // namespace

PositionLossChoice chosen_position_loss(const TrainOptions& options, const std::vector<std::string>& items) {
  if (!options.cost.empty() && !options.loss.empty())
    throw UsageError(say("both position costs and --loss {} are given; => give one of them", options.loss));
  if (!options.cost.empty()) return PositionLossChoice::from_values(options.cost, items.size(), "the position costs");
  return PositionLossChoice::parse(options.loss.empty() ? "hamming" : options.loss, items);
}

// A bias would add the same to every matching.
PermutationTrainingSet::PermutationTrainingSet(Dataset data, const TrainOptions& options, Permuted permuted,
                                               const Context& context)
    : RowTrainingSet(checked(std::move(data), permuted == Permuted::points), options,
                     options.bias && permuted == Permuted::items, context,
                     permuted == Permuted::points ? KernelForm::rows : KernelForm::pairs),
      matching_(permuted == Permuted::points),
      loss_(chosen_position_loss(options, data_.class_names)) {
  for (std::size_t i = 0; i < data_.examples(); ++i)
    largest_ = std::max(largest_, data_.labels.end(i) - data_.labels.begin(i));
}

std::size_t PermutationTrainingSet::outputs() const {
  return matching_ ? 1 : ranking_outputs(loss_, data_.class_names.size());
}

void PermutationTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                                   const Context& context, const Emit& emit) const {
  solve_permutations({.x = view(features_.x),
                      .pairs = matching_ ? &data_.feature_rows : nullptr,
                      .bias = bias_,
                      .items = &data_.labels,
                      .position = data_.label,
                      .weight = weight_,
                      .loss = [this](std::size_t size) { return loss_.make(size); },
                      .lambdas = lambdas,
                      .options = &options,
                      .context = &context,
                      .gram = features_.kernel ? &features_.gram : nullptr},
                     [&](std::unique_ptr<RowSolution> solution) {
                       check_finite(*solution, solution->weights);
                       emit(std::move(solution));
                     });
}

std::vector<std::int32_t> PermutationTrainingSet::predicted(std::span<const double> scores, const Dataset& examples,
                                                            const Solution&, const TrainOptions&, Decoder decode,
                                                            const Context& context) const {
  require_scores(scores);
  const PermutationPredictor predictor(loss_, matching_ ? 0 : data_.class_names.size(), decode);
  return matching_ ? predictor.matchings(scores, examples.feature_rows, context) : predictor.rankings(scores, context);
}

double PermutationTrainingSet::mean_cost(const Dataset& examples, std::span<const std::int32_t> predicted) const {
  return mean_position_loss(loss_, examples.labels, examples.label, predicted, examples.weight);
}

void PermutationTrainingSet::describe(ModelCommon& common) const {
  RowTrainingSet::describe(common);
  if (matching_) common.weights_column.clear();  // a file beside the data
  common.loss_name = loss_.name();
  common.cost = loss_.values();
}

std::shared_ptr<const ModelPart> PermutationTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto part = std::make_shared<PermutationPart>();
  part->rows = row_weights(std::move(static_cast<RowSolution&>(*solution).weights));
  part->points = matching_ ? largest_ : 0;
  return part;
}

}  // namespace m4n::detail
