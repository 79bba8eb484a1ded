// What is known of a loss, in words (loss_page.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/message.h"
#include "reports/loss_page.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string constant_text(const ConstantBounds& bounds) {
  const auto value = [](double v) { return std::isfinite(v) ? shown_number(v) : std::string("none that is finite"); };
  if (bounds.exact()) return value(bounds.upper);
  if (!std::isfinite(bounds.upper)) return fmt::format("at least {}; no upper bound is known", value(bounds.lower));
  return fmt::format("at least {}, at most {}", value(bounds.lower), value(bounds.upper));
}

std::string decoder_of(const NamedCosts& costs, SurrogateKind kind) {
  return to_string(usual_decoder(kind, 0, costs.cost.symmetric() && !costs.cost.has_actions(), Decoder::argmax));
}

std::string counterexample_text(const NamedCosts& costs, const LossAnalysis& analysis) {
  std::string out;
  for (std::size_t t = 0; t < analysis.counterexample.size(); ++t)
    if (analysis.counterexample[t] > 0)
      out +=
          fmt::format("{}{} {}", out.empty() ? "" : ", ", costs.classes[t], shown_number(analysis.counterexample[t]));
  return out;
}

Facts facts_of(const NamedCosts& costs, const LossAnalysis& analysis) {
  Facts out{{"loss", costs.name},
            {"classes", counted(costs.cost.k(), "class", "classes")},
            {"predictions", costs.cost.has_actions() ? abridged(costs.predictions()) : std::string("the classes")},
            {"symmetric", costs.cost.symmetric() ? "yes" : "no"},
            {"m3n consistent",
             fmt::format("{}: {}",
                         !analysis.m3n_consistent   ? costs.cost.has_actions() ? "does not apply" : "not known"
                         : *analysis.m3n_consistent ? "yes"
                                                    : "no",
                         analysis.m3n_why)}};
  if (!analysis.counterexample.empty()) {
    out.emplace_back("counterexample", counterexample_text(costs, analysis));
    out.emplace_back("there", fmt::format("max-margin may predict {}, though another answer is expected to cost less",
                                          costs.predictions()[analysis.wrong]));
  }
  out.emplace_back("m4n constant", analysis.m4n ? constant_text(*analysis.m4n) +
                                                      " (excess cost <= constant x excess risk, "
                                                      "decoded by the largest score)"
                                                : std::string("none: no class is predicted by the largest score"));
  out.emplace_back("the paper's",
                   costs.cost.symmetric() && !costs.cost.has_actions()
                       ? constant_text(analysis.theorem) + " (from its condition on the probabilities of best answers)"
                       : std::string("it asks for symmetric costs"));
  out.emplace_back("crf constant",
                   constant_text(analysis.crf) + " (excess cost <= constant x square root of the excess risk)");
  out.emplace_back("qs constant",
                   constant_text(analysis.qs) + " (excess cost <= constant x square root of the excess risk)");
  for (const SurrogateRow& row : surrogate_rows())
    if (row.kind != SurrogateKind::m3n || !costs.cost.has_actions())
      out.emplace_back(fmt::format("{} decodes by", row.name), decoder_of(costs, row.kind));
  return out;
}

Json constant_json(const ConstantBounds& bounds) {
  return bounds.exact() && std::isfinite(bounds.upper) ? Json(bounds.upper) : Json(nullptr);
}
Json bounds_json(const ConstantBounds& bounds) { return Json(std::vector<double>{bounds.lower, bounds.upper}); }

}  // namespace

std::string loss_text(const NamedCosts& costs, const LossAnalysis& analysis) {
  const Facts facts = facts_of(costs, analysis);
  std::size_t width = 0;
  for (const auto& [name, value] : facts) width = std::max(width, name.size());
  std::string out;
  for (const auto& [name, value] : facts) out += fmt::format("{:<{}}  {}\n", name, width, value);
  return out;
}

std::string loss_json(const NamedCosts& costs, const LossAnalysis& analysis) {
  Json constants = Json::object(), bounds = Json::object(), decoders = Json::object();
  constants.set("m4n", analysis.m4n ? constant_json(*analysis.m4n) : Json());
  constants.set("crf", constant_json(analysis.crf));
  constants.set("qs", constant_json(analysis.qs));
  bounds.set("m4n", analysis.m4n ? bounds_json(*analysis.m4n) : Json());
  bounds.set("crf", bounds_json(analysis.crf));
  bounds.set("qs", bounds_json(analysis.qs));
  for (const SurrogateRow& row : surrogate_rows())
    decoders.set(row.name, row.kind == SurrogateKind::m3n && costs.cost.has_actions()
                               ? Json()
                               : Json(decoder_of(costs, row.kind)));
  Json object = Json::object({{"name", costs.name}, {"k", costs.cost.k()}, {"predictions", costs.predictions()}});
  object.set("classes", costs.classes);
  object.set("symmetric", costs.cost.symmetric());
  object.set("m3n_consistent", analysis.m3n_consistent ? Json(*analysis.m3n_consistent) : Json());
  object.set("m3n_why", analysis.m3n_why);
  object.set("counterexample", analysis.counterexample.empty() ? Json() : Json(analysis.counterexample));
  object.set("wrong_answer", analysis.counterexample.empty() ? Json() : Json(costs.predictions()[analysis.wrong]));
  object.set("calibration", std::move(constants));
  object.set("calibration_bounds", std::move(bounds));
  object.set("theorem", constant_json(analysis.theorem));
  object.set("decoders", std::move(decoders));
  object.set("cost", Json::rows(std::span<const double>(costs.cost.values()), costs.cost.predictions()));
  return object.text() + "\n";
}

Page loss_page(const NamedCosts& costs, const LossAnalysis& analysis, const std::array<std::size_t, 3>& three) {
  constexpr std::size_t most_shown = 30;
  Page page;
  page.title = fmt::format("The loss {}", costs.name);
  const std::string answer = !analysis.m3n_consistent   ? "not known to be consistent"
                             : *analysis.m3n_consistent ? "consistent"
                                                        : "not consistent";
  page.lead =
      fmt::format("Costs of {} and {}. Max-margin (M3N) is {} for it; M4N, CRF and QS with the decoders below are.",
                  counted(costs.cost.k(), "class", "classes"), counted(costs.cost.predictions(), "prediction"), answer);
  Table facts{"", {{"what"}, {"value"}}, {}, {}};
  for (const auto& [name, value] : facts_of(costs, analysis)) facts.rows.push_back({name, value});
  page.sections.push_back({"What is known", {std::move(facts)}});
  if (costs.cost.k() >= 3) page.sections.push_back({"Three classes", {loss_drawing(costs, three)}});
  if (costs.cost.k() <= most_shown && costs.cost.predictions() <= most_shown)
    page.sections.push_back({"The costs",
                             {HeatMap{"What a prediction costs",
                                      "truth",
                                      "prediction",
                                      costs.classes,
                                      costs.predictions(),
                                      costs.cost.values(),
                                      {}}}});
  return page;
}

}  // namespace m4n::detail
