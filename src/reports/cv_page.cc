// The page of a cross-validation (model_page.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/message.h"
#include "reports/model_page.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

// Mean validation loss over lambda with standard errors, for every candidate at its best gamma.
Chart lambda_chart(const CvResult& result) {
  Chart chart{"Validation loss over lambda", "lambda", "mean cost on validation parts", true, false, false, {}, {}};
  for (std::size_t c = 0; c < result.candidates.size(); ++c) {
    std::map<double, std::vector<double>> at;
    const CvPoint& best = result.best_by_candidate[c];
    for (const CvCell& cell : result.cells)
      if (cell.candidate == c && cell.gamma == best.gamma) at[cell.lambda].push_back(cell.validation);
    Series line;
    line.name = name_of(result.candidates[c], result.candidates) + (result.dropped[c] ? " (dropped)" : "");
    for (const auto& [lambda, losses] : at) {
      const auto count = static_cast<double>(losses.size());
      double mean = 0, squares = 0;
      for (const double loss : losses) mean += loss / count;
      for (const double loss : losses) squares += (loss - mean) * (loss - mean);
      const double error = losses.size() > 1 ? std::sqrt(squares / (count - 1) / count) : 0;
      if (!result.dropped[c] && lambda == best.lambda) line.marked = line.x.size();
      line.x.push_back(lambda);
      line.y.push_back(mean);
      line.low.push_back(mean - error);
      line.high.push_back(mean + error);
    }
    chart.series.push_back(std::move(line));
  }
  chart.note = "Bars are one standard error over the splits. Rings mark the lambda that was chosen for each.";
  return chart;
}

// What is odd about the path of the choice, in words; empty: nothing.
std::string path_remark(const CvResult& result) {
  if (result.curve.size() < 2) return {};
  const auto [least, most] =
      std::minmax_element(result.curve.begin(), result.curve.end(),
                          [](const CvPoint& a, const CvPoint& b) { return a.validation_mean < b.validation_mean; });
  if (least->validation_mean == most->validation_mean)
    return "The path is flat: all lambdas cost the same, so the choice among them means nothing.";
  const auto [low, high] = std::minmax_element(result.curve.begin(), result.curve.end(),
                                               [](const CvPoint& a, const CvPoint& b) { return a.lambda < b.lambda; });
  if (result.best.lambda == low->lambda)
    return "The choice is at the edge: the smallest lambda that was tried. Smaller ones may be better.";
  if (result.best.lambda == high->lambda)
    return "The choice is at the edge: the largest lambda that was tried. Larger ones may be better.";
  return {};
}

Section surrogate_section(const CvResult& result) {
  Section out{"Which surrogate", {}};
  Bars bars{"Mean test cost, with one standard error", "mean cost on test parts", {}, {}};
  Table table{"",
              {{"surrogate"},
               {"decoded by"},
               {"lambda", true},
               {"validation", true},
               {"test", true},
               {"standard error", true},
               {"against the choice", true}},
              {},
              {}};
  for (std::size_t c = 0; c < result.candidates.size(); ++c) {
    const std::string name = name_of(result.candidates[c], result.candidates);
    const CvSummary& test = result.by_candidate[c].test;
    const bool chosen = c == result.best.candidate;
    std::string against;
    for (const CvComparison& pair : result.comparisons) {
      const bool first = pair.a == c && pair.b == result.best.candidate;
      if (first || (pair.b == c && pair.a == result.best.candidate))
        against = fmt::format("{:+.4g} \u00B1 {}", (first ? 1 : -1) * pair.difference.mean + 0.0,
                              shown_number(pair.difference.error));
    }
    const CvPoint& best = result.best_by_candidate[c];
    table.rows.push_back({name + (chosen ? " (the choice)" : ""), to_string(result.candidates[c].decode),
                          lambda_text(best.lambda), result.dropped[c] ? "dropped" : shown_number(best.validation_mean),
                          shown_number(test.mean), shown_number(test.error), against});
    if (std::isnan(test.mean)) continue;
    Bar bar{name, test.mean, {}, {}, chosen};
    if (!std::isnan(test.error)) bar.low = test.mean - test.error, bar.high = test.mean + test.error;
    bars.bars.push_back(std::move(bar));
  }
  if (bars.bars.size() > 1) out.exhibits.emplace_back(std::move(bars));
  out.exhibits.emplace_back(std::move(table));
  return out;
}

}  // namespace

Page cv_page(const CvResult& result, const CvOptions& options, const Model* refit, const PageRequest& request) {
  const Structure& structure = structure_named(options.train.task);
  const Candidate& best = result.candidates[result.best.candidate];
  Page page;
  page.title = request.data.empty() ? "Cross-validation" : fmt::format("Cross-validation on {}", request.data);
  page.lead = fmt::format(
      "To predict {} from {} ({}, {}), {} with lambda {} was chosen: its mean cost (loss {}) on validation parts is "
      "{}. ",
      structure.traits().summary, structure.examples_text(result.examples, result.labels),
      counted(result.features, "feature"), structure.labels_text(result.classes), name_of(best, result.candidates),
      lambda_text(result.best.lambda), result.loss_name, shown_number(result.best.validation_mean));
  const CvSummary& test = result.overall.test;
  if (!std::isnan(test.mean))
    page.lead += fmt::format(
        "With everything chosen anew on each of {}, a prediction on examples that were not seen "
        "costs {}{} in the mean.",
        counted(result.splits, "split"), shown_number(test.mean),
        std::isnan(test.error) ? "" : fmt::format(" \u00B1 {}", shown_number(test.error)));
  Section path{"The path of lambdas", {lambda_chart(result)}};
  if (const std::string remark = path_remark(result); !remark.empty()) path.exhibits.emplace_back(Words{remark});
  for (const std::string& note : result.notes) path.exhibits.emplace_back(Words{note});
  for (const Message& warning : result.warnings) path.exhibits.emplace_back(Words{"Warning: " + warning.text()});
  if (const std::size_t open = result.unconverged(); open > 0)
    path.exhibits.emplace_back(Words{fmt::format("{} of the {} fits stopped before the tolerance was reached.", open,
                                                 counted(result.cells.size(), "fit"))});
  page.sections.push_back(std::move(path));
  page.sections.push_back(surrogate_section(result));
  if (refit != nullptr) {
    page.sections.push_back(certificate_section(*refit, request.log));
    page.sections.push_back(weight_section(*refit));
  }
  page.sections.push_back(origin_section(refit, request));
  return page;
}

}  // namespace m4n::detail
