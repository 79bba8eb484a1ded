// What is known of a loss, as text, JSON and a page with the picture of three of its classes.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/exhibit.h"
#include "games/loss_analysis.h"
#include "reports/page.h"

namespace m4n::detail {

struct NamedCosts {
  CostMatrix cost;
  std::string name;  // as it was asked for
  std::vector<std::string> classes;
  const std::vector<std::string>& predictions() const { return cost.has_actions() ? cost.prediction_names() : classes; }
};

std::string loss_text(const NamedCosts& costs, const LossAnalysis& analysis);
std::string loss_json(const NamedCosts& costs, const LossAnalysis& analysis);
Page loss_page(const NamedCosts& costs, const LossAnalysis& analysis, const std::array<std::size_t, 3>& three);

// The simplex of three classes coloured by the best answer; and for M4N, M3N, CRF and QS the plane of scores, coloured
// by what is predicted, with levels of the surrogate's risk where the three are equally likely.
Drawing loss_drawing(const NamedCosts& costs, const std::array<std::size_t, 3>& three);

}  // namespace m4n::detail
