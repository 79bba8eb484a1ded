// Solvers of chains for a path of lambdas, and the training set of sequences (training.h).
#include "structures/chains/training.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/message.h"
#include "features/standardize.h"
#include "solvers/block_dual.h"
#include "solvers/lbfgs.h"
#include "solvers/relay.h"
#include "structures/chains/ascent.h"
#include "structures/chains/crf.h"
#include "structures/chains/paper.h"
#include "structures/chains/scorer.h"
#include "structures/chains/structure.h"
#include "structures/classes/training.h"

namespace m4n::detail {

namespace {

// Features are kept in float where they are sparse, so many that memory matters, and the tolerance does not ask for
// more than float has.
constexpr std::size_t many_weights = std::size_t{1} << 20;
constexpr double fine_tolerance = 1e-5;
// Dense features with at most this share of non-zeros are treated as sparse ones.
constexpr double thin = 0.4;
// The exponentiated gradient may need at most that many more epochs; then L-BFGS takes over.
constexpr double patient_epochs = 300;

template <class Oracle, class Scorer>
void by_atoms(Problem<Scorer> problem, const ChainRequest& request, const EmitResult& emit) {
  const Oracle oracle(std::span(request.cost, 1));
  const ChainParts<Scorer> parts(*problem.scorer);
  LabellingDual<Oracle> dual(problem, [&](std::size_t, std::size_t) -> const CostMatrix& { return *request.cost; });
  path_of_ascents(problem, oracle, parts, std::move(dual), request.path(), emit);
}

// L-BFGS from the weights that the scorer holds.
template <class Scorer>
SolveResult by_lbfgs(const Problem<Scorer>& problem, const SolverOptions& options, const Context& context) {
  const std::size_t labels = problem.scorer->labels(), stride = problem.scorer->stride();
  const auto slope_of = [labels, stride, gibbs = ChainGibbs()](std::span<const double> v, LabelView y,
                                                               std::span<double> slope) mutable {
    double value = gibbs.marginals(v, y.size(), labels, slope);
    for (std::size_t m = 0; m < y.size(); ++m) {
      const std::size_t unary = m * stride + static_cast<std::size_t>(y[m]);
      value -= v[unary];
      slope[unary] -= 1;
      if (m == 0) continue;
      const std::size_t edge =
          (y.size() + static_cast<std::size_t>(y[m - 1])) * stride + static_cast<std::size_t>(y[m]);
      value -= v[edge];
      slope[edge] -= 1;
    }
    return value;
  };
  PrimalLoss loss(problem, slope_of, context.threads);
  return lbfgs(problem.examples(), loss, options, context);
}

template <class Scorer>
void crf(Problem<Scorer> problem, const ChainRequest& request, const EmitResult& emit) {
  constexpr bool has_weights = requires(Scorer & s) { s.raw(); };
  const TrainOptions& o = *request.options;
  const PathRequest path = request.path();
  const TokenGram<Scorer> gram = token_gram(*problem.scorer);
  GibbsDual dual(problem);
  const CheckpointScope scope(*request.context, dual);
  if (const auto earlier = earlier_point<GibbsDual>(*request.context)) dual.adopt(*earlier);
  for (const double lambda : request.lambdas) {
    problem.lambda = lambda;
    Relay relay(path);
    if (o.solver != SolverKind::lbfgs) {
      const bool may_change = has_weights && o.solver == SolverKind::automatic;
      relay.add(ChainGradient(problem, gram, dual, relay.options(o.epochs), relay.context())
                    .run(may_change ? patient_epochs : std::numeric_limits<double>::infinity()));
    }
    if constexpr (has_weights)
      if (o.solver != SolverKind::prox && !relay.finished()) {
        relay.add(by_lbfgs(problem, relay.options(o.epochs), relay.context()));
        adopt_scores(problem, dual);
      }
    emit(relay.total());
  }
  leave_point(std::move(dual), *request.context);
}

template <class Scorer>
void solve(const Problem<Scorer>& problem, const ChainRequest& request, const EmitResult& emit) {
  const TrainOptions& o = *request.options;
  switch (o.surrogate) {
    case SurrogateKind::m4n:
      if (o.solver == SolverKind::gbcfw && o.oracle == OracleKind::spmp) {
        const std::size_t mean_length = request.label.size() / problem.examples();
        const ChainPaper paper(*request.cost, o.oracle_iterations, o.iterations_per_part, mean_length);
        return block_dual(problem, paper, request.path(), emit);
      }
      return by_atoms<LabellingMaxMin<ChainProblem>>(problem, request, emit);
    case SurrogateKind::m3n:
      return by_atoms<LabellingMaxMargin<ChainProblem>>(problem, request, emit);
    case SurrogateKind::crf:
      return crf(problem, request, emit);
    case SurrogateKind::qs:
      break;  // refused by validate()
  }
  throw UsageError(say("--surrogate {} cannot be trained on sequences", to_string(o.surrogate)));
}

using EmitSolution = std::function<void(std::unique_ptr<ChainSolution>)>;

template <class Scorer>
void run(Scorer scorer, const ChainRequest& request, const EmitSolution& emit) {
  const std::size_t labels = scorer.labels();
  const Problem<Scorer> problem{&scorer, request.label, *request.tokens, request.weight, 0};
  solve(problem, request, [&](const SolveResult& result) {
    const std::vector<double> tail = scorer.tail_weights();
    const auto start = tail.begin() + static_cast<std::ptrdiff_t>(labels * labels),
               end = start + static_cast<std::ptrdiff_t>(labels);
    auto out = std::make_unique<ChainSolution>();
    out->result = result;
    out->weights = {
        scorer.feature_weights(), scorer.bias_weights(), {tail.begin(), start}, {start, end}, {end, tail.end()}};
    if (request.constraints != nullptr) out->weights.constraints = *request.constraints;
    out->norm_squared = scorer.norm_squared();
    emit(std::move(out));
  });
}

// Nothing if more than the share `thin` of the entries is there.
std::optional<SparseMatrix> thinned(const DenseView& x) {
  const auto entries = static_cast<double>(x.rows * x.cols);
  std::size_t count = 0;
  for (std::size_t i = 0; i < x.rows; ++i)
    count += static_cast<std::size_t>(std::count_if(x.row(i).begin(), x.row(i).end(), [](double e) { return e != 0; }));
  if (static_cast<double>(count) > thin * entries) return std::nullopt;
  SparseMatrix out;
  out.rows = x.rows;
  out.cols = x.cols;
  out.column.reserve(count);
  out.value.reserve(count);
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (std::size_t j = 0; j < x.cols; ++j) {
      if (x.row(i)[j] == 0) continue;
      out.column.push_back(static_cast<std::uint32_t>(j));
      out.value.push_back(x.row(i)[j]);
    }
    out.row_start.push_back(out.column.size());
  }
  return out;
}

}  // namespace

void solve_chains(const ChainRequest& request, const EmitSolution& emit) {
  const std::size_t labels = request.cost->k();
  const TrainOptions& o = *request.options;
  const std::vector<double> penalties =
      request.constraints != nullptr ? request.constraints->penalties() : std::vector<double>{};
  if (const auto* x = std::get_if<SparseView>(&request.x)) {
    if (x->cols * labels > many_weights && o.tol >= fine_tolerance && o.solver == SolverKind::automatic)
      return run(ChainScorer<SparseView, float>(*x, *request.tokens, labels, request.bias, penalties), request, emit);
    return run(ChainScorer<SparseView>(*x, *request.tokens, labels, request.bias, penalties), request, emit);
  }
  const auto& x = std::get<DenseView>(request.x);
  if (const std::optional<SparseMatrix> few = thinned(x))
    return run(ChainScorer<SparseView>(few->view(), *request.tokens, labels, request.bias, penalties), request, emit);
  run(ChainScorer<DenseView>(x, *request.tokens, labels, request.bias, penalties), request, emit);
}

namespace {

Dataset checked(Dataset data) {
  const std::size_t n = data.examples(), k = data.class_names.size();
  if (n == 0) throw Error("there are no sequences to learn from");
  const std::size_t tokens = data.labels.end(n - 1);
  if (rows(data.x) != tokens || data.label.size() != tokens || data.feature_rows.count() != n ||
      data.feature_rows.end(n - 1) != tokens)
    throw Error(say("{} rows of features and {} labels for {} tokens do not belong together", rows(data.x),
                    data.label.size(), tokens));
  if (k < 2) throw Error(say("only {} label in the data; learning needs at least two", k));
  for (std::size_t i = 0; i < n; ++i) {
    if (data.feature_rows.end(i) != data.labels.end(i))
      throw Error(say("sequence {} has another number of rows than of labels", i + 1));
    if (data.labels.begin(i) >= data.labels.end(i)) throw Error(say("sequence {} has no tokens", i + 1));
    for (std::size_t t = data.labels.begin(i); t < data.labels.end(i); ++t)
      if (data.label[t] < 0 || static_cast<std::size_t>(data.label[t]) >= k)
        throw Error(say("token {} of sequence {} has the label {}, expected 0 to {}", t - data.labels.begin(i) + 1,
                        i + 1, data.label[t], k - 1));
  }
  check_weights(data);
  return data;
}

// Entries of columns that fewer than `least` rows have are taken out; their weights then stay zero.
void drop_rare(SparseMatrix& x, std::uint64_t least) {
  std::vector<std::uint64_t> count(x.cols);
  for (const std::uint32_t column : x.column) ++count[column];
  std::size_t kept = 0, read = 0;
  for (std::size_t i = 0; i < x.rows; ++i) {
    for (const std::size_t end = x.row_start[i + 1]; read < end; ++read) {
      if (count[x.column[read]] < least) continue;
      x.column[kept] = x.column[read];
      if (!x.value.empty()) x.value[kept] = x.value[read];
      ++kept;
    }
    x.row_start[i + 1] = kept;
  }
  x.column.resize(kept);
  if (!x.value.empty()) x.value.resize(kept);
}

class HeldOutSequences : public HeldOut {
 public:
  Dataset sequences;
};

}  // namespace

// The attributes of a file were counted when it was read; those of a part of it are counted again.
ChainTrainingSet::ChainTrainingSet(Dataset data, const TrainOptions& options, const std::string& usual_loss)
    : data_(checked(std::move(data))),
      cost_(chosen_fixed_cost(options, data_, usual_loss)),
      constraints_(ChainConstraints::parse(options.constraints, data_.class_names)),
      weight_(normalised_weights(data_)) {
  if (cost_.has_actions() && !constraints_.empty())
    throw UsageError(
        say("--constraints says which labels may follow each other, and some predictions are no label "
            "({}); => leave one of the two out",
            fmt::join(cost_.prediction_names(), ", ")));
  require_allowed(constraints_, data_.label, data_.labels, data_.class_names,
                  [](std::size_t i, std::size_t m) { return fmt::format("token {} of sequence {}", m + 1, i + 1); });
  if (auto* sparse = std::get_if<SparseMatrix>(&data_.x)) {
    if (options.standardize.value_or(false))
      throw UsageError(
          say("--standardize yes is for dense rows of numbers; attributes of texts and products of pixels are sparse, "
              "and taken as they are. => Leave it out"));
    const SequenceInput* const input = input_of(data_);
    const bool counted = input != nullptr && input->counted_tokens == data_.label.size();
    if (options.min_count > 1 && !counted) drop_rare(*sparse, options.min_count);
  } else if (options.standardize.value_or(false)) {
    standardizer_ = fit_standardizer(view(data_.x), weights_of_rows(data_));
    apply_in_place(standardizer_, data_.x);
  }
}

void ChainTrainingSet::solve(const TrainOptions& options, Decoder, std::span<const double> lambdas,
                             const Context& context, const Emit& emit) const {
  if (cost_.has_actions() && options.oracle == OracleKind::spmp)
    throw UsageError(say("--oracle spmp is for predictions that are the labels; => use --oracle exact"));
  solve_chains({.x = view(data_.x),
                .tokens = &data_.labels,
                .bias = options.bias,
                .label = data_.label,
                .weight = weight_,
                .cost = &cost_,
                .constraints = &constraints_,
                .lambdas = lambdas,
                .options = &options,
                .context = &context},
               [&](std::unique_ptr<ChainSolution> solution) {
                 const ChainWeights& w = solution->weights;
                 std::visit([&](const auto& features) { check_finite(*solution, std::span(features)); }, w.features);
                 for (const std::vector<double>* part : {&w.bias, &w.transitions, &w.start, &w.end})
                   check_finite(*solution, *part);
                 emit(std::move(solution));
               });
}

ChainWeights ChainTrainingSet::for_raw_rows(ChainWeights weights) const {
  if (standardizer_.inverse_scale.empty()) return weights;
  weights.bias.resize(cost_.k(), 0.0);
  fold_standardizer(standardizer_, std::get<std::vector<double>>(weights.features), cost_.k(), weights.bias);
  return weights;
}

PartLoss ChainTrainingSet::loss_on(const Dataset& sequences, const ChainWeights& weights, Decoder decode,
                                   const Context& context) const {
  const ChainPredictor predictor(weights, cost_, decode);
  const std::vector<std::int32_t> predicted =
      predict_sequences(predictor, view(sequences.x), sequences.feature_rows, context);
  return {mean_sequence_cost(cost_, sequences.labels, sequences.label, predicted, sequences.weight),
          same_for_all(sequences.labels, predicted)};
}

double ChainTrainingSet::train_loss(const Solution& solution, const TrainOptions&, Decoder decode,
                                    const Context& context) const {
  return loss_on(data_, static_cast<const ChainSolution&>(solution).weights, decode, context).mean;
}

std::unique_ptr<HeldOut> ChainTrainingSet::hold_out(Dataset examples, std::span<const std::size_t>) const {
  auto out = std::make_unique<HeldOutSequences>();
  out->sequences = std::move(examples);
  return out;
}

std::vector<LossesByDecoder> ChainTrainingSet::mean_losses(const HeldOut& held_out,
                                                           std::span<const std::unique_ptr<Solution>> solutions,
                                                           const TrainOptions&, std::span<const Decoder> decoders,
                                                           const Context& context) const {
  const Dataset& sequences = static_cast<const HeldOutSequences&>(held_out).sequences;
  std::vector<LossesByDecoder> out;
  for (const std::unique_ptr<Solution>& solution : solutions) {
    const ChainWeights weights = for_raw_rows(static_cast<const ChainSolution&>(*solution).weights);
    out.emplace_back();
    for (const Decoder decode : decoders) out.back().push_back(loss_on(sequences, weights, decode, context));
  }
  return out;
}

void ChainTrainingSet::describe(ModelCommon& common) const {
  common.loss_name = cost_.name();
  common.cost = cost_.values();
  common.predictions = cost_.prediction_names();
  common.d = cols(data_.x);
  common.sparse = std::holds_alternative<SparseMatrix>(data_.x);
  common.parts = data_.label.size();
  common.weights_column.clear();  // a file beside the data
}

std::shared_ptr<const ModelPart> ChainTrainingSet::finish(std::unique_ptr<Solution> solution) const {
  auto part = std::make_shared<ChainPart>();
  part->weights = for_raw_rows(std::move(static_cast<ChainSolution&>(*solution).weights));
  part->input = std::static_pointer_cast<const SequenceInput>(data_.input);
  return part;
}

}  // namespace m4n::detail
