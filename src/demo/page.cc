// The demo as a page: the tables of `m4n demo` with their pictures.
#include <fmt/format.h>

#include <algorithm>

#include "demo/demo.h"
#include "reports/model_page.h"

namespace m4n::detail {
namespace {

Words paragraph(const std::vector<std::string>& lines) { return {fmt::format("{}", fmt::join(lines, " "))}; }

std::vector<Column> columns_of_surrogates(std::vector<Column> first) {
  for (const SurrogateKind surrogate : demo_surrogates) first.push_back({in_capitals(surrogate), true});
  return first;
}

Chart excess_chart(const Study& study) {
  Chart out;
  out.title = study.title;
  out.x_axis = "number of examples";
  out.y_axis = "excess risk";
  out.log_x = true;
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    Series own{in_capitals(demo_surrogates[j]), {}, {}};
    for (const StudyLevel& level : study.levels) {
      own.x.push_back(static_cast<double>(level.n));
      own.y.push_back(level.fits[j].excess);
    }
    out.series.push_back(std::move(own));
  }
  out.note = fmt::format("The best possible rule costs {:.5g} in the mean (Bayes risk): the zero of this picture.",
                         study.bayes_risk);
  return out;
}

Table gap_table(const std::vector<Study>& studies) {
  Table out{"How well the fits are certified: relative gaps", columns_of_surrogates({{"costs"}, {"n", true}}), {}, {}};
  for (const Study& study : studies)
    for (const StudyLevel& level : study.levels) {
      out.rows.push_back({study.name, std::to_string(level.n)});
      for (const StudyFit& fit : level.fits) out.rows.back().push_back(gap_cell(fit.relative_gap, fit.converged));
    }
  return out;
}

Section iris_section(const IrisResult& iris) {
  Section out{"150 iris flowers", {}};
  out.exhibits.emplace_back(Words{fmt::format("{} to learn from, {} held out; 0-1 loss, lambda = 1/n.", iris.train_size,
                                              iris.held_out.examples())});
  Table errors{"Errors", {{"surrogate"}, {"train error", true}, {"test error", true}, {"relative gap", true}}, {}, {}};
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    const IrisFit& fit = iris.fits[j];
    errors.rows.push_back({in_capitals(demo_surrogates[j]), fmt::format("{:.3f}", fit.train_error),
                           fmt::format("{:.3f}", fit.test_error), gap_cell(fit.relative_gap, fit.converged)});
  }
  out.exhibits.emplace_back(std::move(errors));
  Table flowers{"Some that were held out", {{"sepal, petal (cm)"}, {"truth"}}, {}, {}};
  for (const SurrogateKind surrogate : demo_surrogates) flowers.columns.push_back({in_capitals(surrogate)});
  flowers.note = "The first of each class, then two others on which the surrogates disagree.";
  const DenseView x = std::get<DenseMatrix>(iris.held_out.x).view();
  const auto name = [&](std::int32_t label) { return iris.held_out.class_names[static_cast<std::size_t>(label)]; };
  for (const std::size_t i : flowers_to_show(iris)) {
    flowers.rows.push_back({fmt::format("{:.1f}", fmt::join(x.row(i), "  ")), name(iris.held_out.label[i])});
    for (const IrisFit& fit : iris.fits) flowers.rows.back().push_back(name(fit.predicted[i]));
  }
  out.exhibits.emplace_back(std::move(flowers));
  return out;
}

}  // namespace

Page demo_page(const std::vector<Study>& studies, const IrisResult& iris, const std::string& command) {
  Page page;
  page.title = "Why max-min margins";
  page.lead =
      "Does more data lead to the best rule? Four surrogates learn from the same samples, whose probabilities are "
      "known: the excess risk is the expected cost of what each has learnt, above that of the best rule there is.";
  Section excess{"Excess risk against the number of examples", {paragraph(studies_introduction(studies))}};
  for (const Study& study : studies) excess.exhibits.emplace_back(excess_chart(study));
  excess.exhibits.emplace_back(paragraph(studies_conclusion()));
  excess.exhibits.emplace_back(gap_table(studies));
  page.sections.push_back(std::move(excess));
  page.sections.push_back(iris_section(iris));
  Table next{"", {{"command"}, {"what it does"}}, {}, {}};
  for (const NextStep& step : next_steps) next.rows.push_back({std::string(step.command), std::string(step.what)});
  page.sections.push_back({"Try next", {std::move(next)}});
  PageRequest request;
  request.origin = {{"command", command}};
  page.sections.push_back(origin_section(nullptr, request));
  return page;
}

}  // namespace m4n::detail
