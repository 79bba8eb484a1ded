// The demo's output for people: at most 100 columns, plain but for bold headings on a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "demo.h"

namespace m4n::cli {
namespace {

class Page {
 public:
  explicit Page(bool bold) : bold_(bold) {}
  void heading(std::string_view text) { text_ += bold_ ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : fmt::format("{}\n", text); }
  template <class... Values>
  void line(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
    text_ += '\n';
  }
  std::string text() && { return std::move(text_); }

 private:
  bool bold_;
  std::string text_;
};

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// 100000 as 100,000.
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

// A gap that was not brought below the tolerance is marked.
std::string gap_cell(double gap, bool converged) { return fmt::format("{:.0e}{}", gap, converged ? "" : "!"); }

void show_study(Page& page, const Study& study) {
  page.heading(fmt::format("{}; Bayes risk {:.4g}", study.title, study.bayes_risk));
  for (const StudyLevel& level : study.levels) {
    std::string row = fmt::format("  {:>9}", grouped(level.n));
    for (const StudyFit& fit : level.fits)
      row += fmt::format("    {:>7.4f}  {:<7}", fit.excess, gap_cell(fit.relative_gap, fit.converged));
    page.line("{}", row);
  }
}

void show_part_1(Page& page, const std::vector<Study>& studies) {
  page.heading("1. More data, the right answer? Expected cost above the best possible one (excess risk)");
  page.line("Synthetic data with known probabilities, so the excess is exact. lambda = {}/sqrt(n), tolerance 1e-3 for", lambda_factor);
  page.line("the certified relative duality gap. Means over 20, 20, 5 and 1 samples; gap is the worst of them.");
  std::string names = "          n";
  for (const SurrogateKind surrogate : demo_surrogates) names += fmt::format("    {:>7}  {:<7}", upper(to_string(surrogate)), "gap");
  page.heading(names);
  for (const Study& study : studies) show_study(page, study);
}

}  // namespace

std::string demo_text(const std::vector<Study>& studies, const IrisResult&, double, bool bold) {
  Page page(bold);
  show_part_1(page, studies);
  return std::move(page).text();
}

}  // namespace m4n::cli
