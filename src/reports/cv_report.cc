// The report of a cross-validation, as text and as JSON.
#include "reports/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/json.h"
#include "core/message.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

std::string gamma_text(const std::optional<double>& gamma) { return gamma ? fmt::format("{:.6g}", *gamma) : "median"; }

Json gamma_json(const CvOptions& options, std::size_t index) {
  if (options.train.features == FeatureKind::linear) return nullptr;
  const auto& gamma = options.gammas[index];
  return gamma ? Json(*gamma) : Json("median");
}

Json named(const Candidate& c) {
  return Json::object(
      {{"surrogate", to_string(c.surrogate)}, {"decode", to_string(c.decode)}, {"smoothing", c.smoothing}});
}

std::string splits_text(const CvResult& result, const SplitPlan& plan) {
  if (plan.folds > 0 || !plan.fold_of.empty())
    return fmt::format("{} folds: each tests once, the next one validates", result.splits);
  return fmt::format("{}, {:.4g}/{:.4g}/{:.4g} for training, validation and test",
                     counted(result.splits, "random split"), plan.ratio[0], plan.ratio[1], plan.ratio[2]);
}

// Columns as wide as their widest cell, the first to the left, the others to the right.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      out += c == 0 ? fmt::format("{:<{}}", row[c], width[c]) : fmt::format("  {:>{}}", row[c], width[c]);
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

std::string rounded(double value) { return std::isnan(value) ? "-" : fmt::format("{:.4g}", value); }

std::string candidate_table(const CvResult& result, const CvOptions& options) {
  const bool mapped = options.train.features != FeatureKind::linear;
  std::vector<std::vector<std::string>> rows{{"surrogate", "decode", "lambda"}};
  if (mapped) rows[0].emplace_back("gamma");
  for (const char* name : {"validation", "test", "se"}) rows[0].emplace_back(name);
  const bool several = result.candidates.size() > 1;
  if (several) rows[0].emplace_back("against the choice");
  for (std::size_t c = 0; c < result.candidates.size(); ++c) {
    const CvPoint& best = result.best_by_candidate[c];
    rows.push_back({name_of(result.candidates[c], {&result.candidates[c], 1}), to_string(result.candidates[c].decode),
                    lambda_text(best.lambda)});
    if (mapped) rows.back().push_back(gamma_text(options.gammas[best.gamma]));
    rows.back().push_back(result.dropped[c] ? "dropped" : rounded(best.validation_mean));
    rows.back().push_back(rounded(result.by_candidate[c].test.mean));
    rows.back().push_back(rounded(result.by_candidate[c].test.error));
    if (!several) continue;
    std::string difference = c == result.best.candidate ? "" : "-";
    for (const CvComparison& pair : result.comparisons) {
      const bool first = pair.a == c && pair.b == result.best.candidate;
      if (!first && !(pair.b == c && pair.a == result.best.candidate)) continue;
      difference =
          fmt::format("{:+.4g} +- {}", (first ? 1 : -1) * pair.difference.mean + 0.0, rounded(pair.difference.error));
    }
    rows.back().push_back(difference);
  }
  return table(rows);
}

}  // namespace

std::string cv_json(const CvResult& result, const CvOptions& options, const std::string& model_path) {
  const Candidate& best = result.candidates[result.best.candidate];
  Json curve = Json::array(), results = Json::array(), comparisons = Json::array(), chosen = Json::array();
  for (const CvPoint& point : result.curve)
    curve.push(Json::object({{"lambda", point.lambda},
                             {"validation_mean", point.validation_mean},
                             {"validation_std", point.validation_std}}));
  for (std::size_t c = 0; c < result.candidates.size(); ++c) {
    const CvPoint& point = result.best_by_candidate[c];
    Json row = named(result.candidates[c]);
    row.set("lambda", point.lambda);
    row.set("gamma", gamma_json(options, point.gamma));
    // Of one that was dropped the mean is over the few splits it was tried on, and cannot be compared.
    row.set("dropped", bool{result.dropped[c]});
    row.set("validation_mean", result.dropped[c] ? std::numeric_limits<double>::quiet_NaN() : point.validation_mean);
    row.set("test_mean", result.by_candidate[c].test.mean);
    row.set("test_std", result.by_candidate[c].test.deviation);
    row.set("test_se", result.by_candidate[c].test.error);
    results.push(std::move(row));
  }
  for (const CvComparison& pair : result.comparisons)
    comparisons.push(Json::object({{"a", named(result.candidates[pair.a])},
                                   {"b", named(result.candidates[pair.b])},
                                   {"difference_mean", pair.difference.mean},
                                   {"difference_se", pair.difference.error}}));
  for (const CvCell& cell : result.overall.chosen) {
    Json row = named(result.candidates[cell.candidate]);
    row.set("lambda", cell.lambda);
    row.set("gamma", gamma_json(options, cell.gamma));
    row.set("validation", cell.validation);
    row.set("test", cell.test);
    chosen.push(std::move(row));
  }
  std::vector<std::string> warnings;
  for (const Message& message : result.warnings) warnings.push_back(message.text());
  return Json::object({{"task", structure_named(options.train.task).name()},
                       {"loss", result.loss_name},
                       {"features", to_string(options.train.features)},
                       {"n", result.examples},
                       {"d", result.features},
                       {"k", result.classes},
                       {"best_lambda", result.best.lambda},
                       {"best_gamma", gamma_json(options, result.best.gamma)},
                       {"best_surrogate", to_string(best.surrogate)},
                       {"best_decode", to_string(best.decode)},
                       {"best_smoothing", best.smoothing},
                       {"curve", std::move(curve)},
                       {"test_mean", result.overall.test.mean},
                       {"test_std", result.overall.test.deviation},
                       {"test_se", result.overall.test.error},
                       {"splits", result.splits},
                       {"seconds", result.seconds},
                       {"results", std::move(results)},
                       {"comparisons", std::move(comparisons)},
                       {"chosen", std::move(chosen)},
                       {"unconverged", result.unconverged()},
                       {"notes", result.notes},
                       {"warnings", warnings},
                       {"seed", options.train.seed},
                       {"model", model_path}})
             .text() +
         "\n";
}

std::string cv_text(const CvResult& result, const CvOptions& options) {
  const Candidate& best = result.candidates[result.best.candidate];
  const bool mapped = options.train.features != FeatureKind::linear;
  const std::string gamma = mapped ? fmt::format(", gamma {}", gamma_text(options.gammas[result.best.gamma])) : "";
  std::string out;
  const Structure& structure = structure_named(options.train.task);
  out += fmt::format("task       {}, loss {}\n", structure.name(), result.loss_name);
  out += fmt::format("data       {}, {} ({}), {}\n", structure.examples_text(result.examples, result.labels),
                     counted(result.features, "feature"), to_string(options.train.features),
                     structure.labels_text(result.classes));
  out += fmt::format("splits     {}\n", splits_text(result, options.plan));
  out +=
      fmt::format("best       {}, decoded by {}, lambda {}{}: validation loss {}\n", name_of(best, {&best, 1}),
                  to_string(best.decode), lambda_text(result.best.lambda), gamma, rounded(result.best.validation_mean));
  out += fmt::format("test loss  {}", rounded(result.overall.test.mean));
  if (result.splits > 1)
    out += fmt::format(" +- {} (mean and standard error; standard deviation {})", rounded(result.overall.test.error),
                       rounded(result.overall.test.deviation));
  out += fmt::format(", everything chosen anew on each split\nseconds    {:.3g}\n\n", result.seconds);
  out += candidate_table(result, options);
  return out +
         "\nlambda: typical of the best by the mean validation loss; test: with the lambda that each split's "
         "validation part chose" +
         (result.candidates.size() > 1
              ? ";\nagainst the choice: difference of test losses on the same splits, from the "
                "surrogate that was chosen\n"
              : "\n");
}

}  // namespace m4n::detail
