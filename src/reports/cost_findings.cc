// What predictions cost, with intervals, beside the best constant answer, the largest score, and a conditional random
// field that decides by expected cost (model_page.h).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/message.h"
#include "core/rng.h"
#include "losses/registry.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "reports/model_page.h"
#include "reports/resample.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

constexpr std::size_t crf_examples = 2000;

// Predictions of the same scores, decoded by the largest; none where that is what the model does, or where it cannot.
std::vector<double> largest_score_losses(const Model& model, const Examples& examples, const PageRequest& request) {
  const StructureTraits& traits = structure_of(model).traits();
  const ModelCommon& own = model.common();
  if (own.decode == traits.largest || own.decode == Decoder::argmax || !own.predictions.empty() ||
      !goes_with(traits.largest, own.surrogate, own.smoothing, traits.losses == LossFamily::classes))
    return {};
  ModelCommon common = own;
  common.decode = traits.largest;
  // By way of bytes: a part may remember how it was decoded.
  const Model other = Model::from_bytes(Model(std::move(common), model.shared_part()).to_bytes(), request.model);
  const Structure& structure = structure_of(other);
  const auto predicted = structure.predictor(other)->predict(examples.data, &examples, request.context);
  return structure.evaluator(model, examples, predicted)->losses();
}

Examples part_of_examples(const Examples& examples, std::span<const std::size_t> chosen) {
  Examples out;
  out.data = subset(examples.data, chosen);
  out.names = examples.names;
  for (const std::size_t i : chosen)
    for (std::size_t l = examples.data.labels.begin(i); l < examples.data.labels.end(i); ++l)
      out.truth.push_back(examples.truth[l]);
  return out;
}

// The options that ask for a crf on the features and costs of a model.
TrainOptions crf_options(const Model& model) {
  const Structure& structure = structure_of(model);
  const ModelCommon& common = model.common();
  const FeatureSummary features = structure.features(model);
  TrainOptions out;
  out.task = common.task;
  out.surrogate = SurrogateKind::crf;
  if (find_loss(common.loss_name)) {
    out.loss = common.loss_name;
  } else {
    out.cost = common.cost;
    out.predictions = common.predictions;
    out.cost_columns = common.cost_columns;
  }
  if (structure.takes("features")) {
    out.features = features.kind;
    if (features.kind != FeatureKind::linear && features.gamma > 0) out.gamma = features.gamma;
    if (features.kind == FeatureKind::poly) out.degree = features.degree;
    const bool centres = features.kind == FeatureKind::rbf_centers || features.kind == FeatureKind::nystrom ||
                         features.kind == FeatureKind::fourier;
    if (centres) out.components = static_cast<int>(features.points);
  }
  out.bias = features.bias;
  out.epochs = 200;
  out.tol = 1e-2;
  return out;
}

// Losses of examples by a crf that was fitted without them; or why there are none.
struct CrfBaseline {
  std::vector<std::size_t> examples;
  std::vector<double> losses;
  std::string why;
};

CrfBaseline crf_baseline(const Model& model, const Examples& examples, const PageRequest& request) {
  CrfBaseline out;
  const Structure& structure = structure_of(model);
  const Dataset& data = examples.data;
  for (std::size_t i = 0; i < data.examples(); ++i) {
    bool known = data.weight.empty() || data.weight[i] > 0;
    for (std::size_t l = data.labels.begin(i); l < data.labels.end(i) && known; ++l)
      known = data.label[l] != unknown_label;
    if (known) out.examples.push_back(i);
  }
  Rng rng(request.seed, 1801);
  const std::size_t count = std::min(out.examples.size(), crf_examples);
  for (std::size_t i = 0; i < count; ++i)
    std::swap(out.examples[i], out.examples[i + rng.below(out.examples.size() - i)]);
  out.examples.resize(count);
  if (count < 4) {
    out.why = data.examples() < 4 ? "there are too few examples" : "the model knows the labels of too few examples";
    return out;
  }
  try {
    TrainOptions options = crf_options(model);
    if (std::string why = structure.obstacle(SurrogateKind::crf, data); !why.empty()) {
      out.why = why;
      return out;
    }
    const std::span<const std::size_t> all(out.examples);
    const std::span<const std::size_t> halves[] = {all.first(count / 2), all.subspan(count / 2)};
    for (const bool second : {false, true}) {
      Dataset training = subset(data, halves[second ? 0 : 1]);
      if (model.k() > 0) training.class_names = model.classes();
      Context context = request.context;
      context.observe = {};
      const Model crf = fit(std::move(training), options, context).model;
      const Examples judged = part_of_examples(examples, halves[second ? 1 : 0]);
      const auto predicted = structure.predictor(crf)->predict(judged.data, nullptr, context);
      const std::vector<double> losses = structure.evaluator(model, judged, predicted)->losses();
      out.losses.insert(out.losses.end(), losses.begin(), losses.end());
    }
  } catch (const Error& error) {
    out.losses.clear();
    out.why = error.what();
  }
  return out;
}

// A bar with its interval, where there is one.
Bar bar_of(std::string name, double value, const Interval& interval, bool marked = false) {
  Bar out{std::move(name), value, {}, {}, marked};
  if (interval.known()) out.low = interval.low, out.high = interval.high;
  return out;
}

}  // namespace

std::string interval_text(const Interval& interval, std::string (*shown)(double)) {
  if (!interval.known()) return fmt::format("(no interval: {})", one_example_has_no_interval);
  return fmt::format("({:.0f}% interval {} to {})", 100 * Bootstrap::confidence, shown(interval.low),
                     shown(interval.high));
}

CostFindings cost_findings(const Model& model, const Examples& examples, std::span<const double> losses,
                           const PageRequest& request) {
  const Structure& structure = structure_of(model);
  const Noun noun = structure.traits().example;
  const std::size_t n = losses.size();
  enum Sum : std::size_t { weight, own, constant, largest };
  Resample sums(n, examples.data.weight, largest, request.seed);
  for (std::size_t i = 0; i < n; ++i) sums.add(i, own, losses[i]);
  std::vector<std::pair<Sum, std::string>> others;
  if (const auto predicted = structure.best_constant(model, examples); !predicted.empty()) {
    const auto constants = structure.evaluator(model, examples, predicted)->losses();
    for (std::size_t i = 0; i < n; ++i) sums.add(i, constant, constants[i]);
    const std::size_t end = examples.data.labels.end(0);
    const std::span<const std::int32_t> one = std::span(predicted).first(end);
    others.emplace_back(
        constant, end == 1 ? fmt::format("always the same answer ({})", structure.answer_text(model, one, one, false))
                           : "always the same answer");
  }
  if (const auto argmax = largest_score_losses(model, examples, request); !argmax.empty()) {
    for (std::size_t i = 0; i < n; ++i) sums.add(i, largest, argmax[i]);
    others.emplace_back(largest, fmt::format("the same scores, decoded by {}", to_string(structure.traits().largest)));
  }
  std::vector<std::pair<std::size_t, std::size_t>> ratios{{own, weight}};
  for (const auto& [column, name] : others) ratios.emplace_back(column, weight);
  const std::vector<Interval> found = sums.intervals(ratios);

  CostFindings out;
  Bars bars{"Mean cost, with 95% intervals",
            fmt::format("mean cost per {} (loss {})", noun.one, model.loss_name()),
            {bar_of("this model", sums.ratio(own, weight), found[0], true)},
            {}};
  out.sentence = fmt::format("On {} ({}) a prediction costs {} in the mean {}.",
                             request.data.empty() ? "the data" : request.data, counted(n, noun.one, noun.many),
                             shown_number(sums.ratio(own, weight)), interval_text(found[0], shown_number));
  const double cost = sums.ratio(own, weight), trained = model.common().train_loss;
  if (n == model.common().n && std::abs(cost - trained) <= 1e-9 * std::max(1.0, std::abs(trained)))
    out.sentence +=
        " These look like the data that it was trained on, and it is judged kindly by them: data it has not seen say "
        "what it will cost.";
  for (std::size_t o = 0; o < others.size(); ++o) {
    const auto& [column, name] = others[o];
    bars.bars.push_back(bar_of(name, sums.ratio(column, weight), found[o + 1]));
  }
  if (!others.empty() && others[0].first == constant)
    out.sentence +=
        fmt::format(" To give always the same answer would cost {}.", shown_number(sums.ratio(constant, weight)));
  std::string words;
  if (others.empty() || others.back().first != largest)
    words = model.decode() == structure.traits().largest || model.decode() == Decoder::argmax
                ? "The model itself predicts by the largest score, so that is no other baseline. "
                : "";

  const CrfBaseline crf = crf_baseline(model, examples, request);
  if (!crf.losses.empty()) {
    enum CrfSum : std::size_t { crf_weight, crf_own, theirs, difference };
    const std::size_t m = crf.examples.size();
    std::vector<double> crf_weights;
    for (const std::size_t i : crf.examples)
      if (!examples.data.weight.empty()) crf_weights.push_back(examples.data.weight[i]);
    Resample pairs(m, crf_weights, difference, request.seed);
    for (std::size_t i = 0; i < m; ++i) {
      pairs.add(i, crf_own, losses[crf.examples[i]]);
      pairs.add(i, theirs, crf.losses[i]);
      pairs.add(i, difference, losses[crf.examples[i]] - crf.losses[i]);
    }
    const std::pair<std::size_t, std::size_t> asked[] = {{theirs, crf_weight}, {difference, crf_weight}};
    const std::vector<Interval> intervals = pairs.intervals(asked);
    bars.bars.push_back(bar_of(fmt::format("crf, decided by expected cost (on {})", m == n ? "all" : std::to_string(m)),
                               pairs.ratio(theirs, crf_weight), intervals[0]));
    words += fmt::format(
        "The crf (a conditional random field on the same features, lambda 1/n) was fitted twice, each time on one half "
        "of {} of these {}, and judged on the other half. On them this model costs {} and the crf {}: a difference of "
        "{:+.4g} {}. The crf has seen fewer examples than a model trained on all of them.",
        m == n ? "all" : std::to_string(m), noun.many, shown_number(pairs.ratio(crf_own, crf_weight)),
        shown_number(pairs.ratio(theirs, crf_weight)), pairs.ratio(difference, crf_weight) + 0.0,
        interval_text(intervals[1], shown_number));
  } else {
    words += fmt::format("There is no crf to compare with: {}.", crf.why);
  }
  out.cost = {"What it costs", {std::move(bars), Words{words}}};
  return out;
}

}  // namespace m4n::detail
