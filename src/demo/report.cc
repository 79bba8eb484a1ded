// The demo's output for people: at most 100 columns, plain but for bold headings on a terminal.
#include <fmt/format.h>
#include <algorithm>
#include <cctype>

#include "core/json.h"
#include "demo/demo.h"

namespace m4n::detail {

std::string in_capitals(SurrogateKind surrogate) {
  std::string name = to_string(surrogate);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string gap_cell(double gap, bool converged) {
  return gap == 0 ? "0" : fmt::format("{:.0e}{}", gap, converged ? "" : "!");
}

std::vector<std::string> studies_introduction(const std::vector<Study>& studies) {
  std::vector<std::size_t> seeds;
  for (const StudyLevel& level : studies.front().levels) seeds.push_back(level.seeds);
  return {
      "M3N: max-margin loss (structural SVM), M4N: max-min margin loss, CRF: logistic, QS: least squares.",
      fmt::format("Synthetic data with known probabilities, so the excess is exact. lambda = {}/sqrt(n). Means over",
                  lambda_factor),
      fmt::format("{} samples; gap is the worst certified relative duality gap among them (tolerance {}).",
                  fmt::join(seeds, ", "), TrainOptions{}.tol)};
}

std::vector<std::string> studies_conclusion() {
  return {"Why M3N stays behind: where no class has a probability above 1/2 (6 of 8 regions) its scores tie",
          "(to 1% of the largest cost), so chance decides; on these grades it learns the median whatever the",
          "costs, best for absolute ones only. M4N finds the best rule, as do CRF (by expected cost) and QS."};
}

std::vector<std::size_t> flowers_to_show(const IrisResult& iris) {
  const std::vector<std::int32_t>& truth = iris.held_out.label;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < truth.size(); ++i)
    if (i == 0 || truth[i] != truth[i - 1]) chosen.push_back(i);
  std::size_t disputed = 0;
  for (std::size_t i = 0; i < truth.size() && disputed < 2; ++i) {
    const auto agrees = [&](const IrisFit& fit) { return fit.predicted[i] == iris.fits.front().predicted[i]; };
    if (std::all_of(iris.fits.begin(), iris.fits.end(), agrees)) continue;
    if (std::find(chosen.begin(), chosen.end(), i) != chosen.end()) continue;
    chosen.push_back(i);
    ++disputed;
  }
  return chosen;
}

namespace {

class Lines {
 public:
  explicit Lines(bool bold) : bold_(bold) {}
  // Columns are padded; the end of a line is not.
  void line(std::string_view text) {
    text_ += text.substr(0, text.find_last_not_of(' ') + 1);
    text_ += '\n';
  }
  void heading(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    line(bold_ ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text));
  }
  std::string text() && { return std::move(text_); }

 private:
  bool bold_;
  std::string text_;
};

// 100000 as 100,000.
std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

void show_study(Lines& page, const Study& study) {
  page.heading(fmt::format("{} (Bayes risk {:.5g})", study.title, study.bayes_risk));
  for (const StudyLevel& level : study.levels) {
    std::string row = fmt::format("{:>9}", grouped(level.n));
    for (const StudyFit& fit : level.fits)
      row += fmt::format("     {:>7.4f}  {:<6}", fit.excess, gap_cell(fit.relative_gap, fit.converged));
    page.line(row);
  }
}

void show_studies(Lines& page, const std::vector<Study>& studies) {
  page.heading("1. Does more data lead to the best rule? Excess risk: expected cost above the best possible one");
  for (const std::string& line : studies_introduction(studies)) page.line(line);
  std::string names = fmt::format("{:>9}", "n");
  for (const SurrogateKind surrogate : demo_surrogates)
    names += fmt::format("     {:>7}  {:<6}", in_capitals(surrogate), "gap");
  page.heading(names);
  for (const Study& study : studies) show_study(page, study);
  for (const std::string& line : studies_conclusion()) page.line(line);
}

void show_iris(Lines& page, const IrisResult& iris) {
  page.heading(fmt::format("2. Iris flowers: {} to learn from, {} held out; 0-1 loss, lambda = 1/n", iris.train_size,
                           iris.held_out.examples()));
  page.heading(fmt::format("{:<11}{:>13}{:>13}{:>12}{:>14}", "", "train error", "test error", "gap", "seconds"));
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    const IrisFit& fit = iris.fits[j];
    page.line(fmt::format("  {:<9}{:>13.3f}{:>13.3f}{:>12}{:>14.5f}", in_capitals(demo_surrogates[j]), fit.train_error,
                          fit.test_error, gap_cell(fit.relative_gap, fit.converged), fit.seconds));
  }
  std::string names = fmt::format("  {:<23}{:<14}", "sepal, petal (cm)", "truth");
  for (const SurrogateKind surrogate : demo_surrogates) names += fmt::format("{:<13}", in_capitals(surrogate));
  page.heading(names);
  const DenseView x = std::get<DenseMatrix>(iris.held_out.x).view();
  const std::vector<std::string>& classes = iris.held_out.class_names;
  for (const std::size_t i : flowers_to_show(iris)) {
    std::string row = fmt::format("  {:<23}{:<14}", fmt::format("{:.1f}", fmt::join(x.row(i), "  ")),
                                  classes[static_cast<std::size_t>(iris.held_out.label[i])]);
    for (const IrisFit& fit : iris.fits)
      row += fmt::format("{:<13}", classes[static_cast<std::size_t>(fit.predicted[i])]);
    page.line(row);
  }
}

}  // namespace

std::string demo_text(const std::vector<Study>& studies, const IrisResult& iris, double seconds, bool bold) {
  Lines page(bold);
  show_studies(page, studies);
  page.line("");
  show_iris(page, iris);
  page.line("");
  page.heading(fmt::format("All this took {:.1f} s. Try next:", seconds));
  for (const NextStep& step : next_steps) page.line(fmt::format("  {:<60}# {}", step.command, step.what));
  return std::move(page).text();
}

// The numbers of the demo as one JSON object.

namespace {

Json study_json(const Study& study) {
  Json levels = Json::array();
  for (const StudyLevel& level : study.levels) {
    Json fits = Json::object();
    for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
      const StudyFit& fit = level.fits[j];
      fits.set(to_string(demo_surrogates[j]), Json::object({{"excess_risk", fit.excess},
                                                            {"relative_gap", fit.relative_gap},
                                                            {"converged", fit.converged},
                                                            {"epochs", fit.epochs},
                                                            {"seconds", fit.seconds}}));
    }
    levels.push(
        Json::object({{"n", level.n}, {"lambda", level.lambda}, {"seeds", level.seeds}, {"fits", std::move(fits)}}));
  }
  return Json::object({{"cost_name", study.name},
                       {"title", study.title},
                       {"task", study.order == Order::grades ? "ordinal" : "multiclass"},
                       {"cost", Json::rows(std::span<const double>(study.cost.values()), study.cost.k())},
                       {"bayes_risk", study.bayes_risk},
                       {"levels", std::move(levels)}});
}

Json iris_json(const IrisResult& iris) {
  Json fits = Json::object();
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    const IrisFit& fit = iris.fits[j];
    fits.set(to_string(demo_surrogates[j]), Json::object({{"train_error", fit.train_error},
                                                          {"test_error", fit.test_error},
                                                          {"relative_gap", fit.relative_gap},
                                                          {"converged", fit.converged},
                                                          {"epochs", fit.epochs},
                                                          {"seconds", fit.seconds}}));
  }
  return Json::object(
      {{"train_size", iris.train_size}, {"test_size", iris.held_out.examples()}, {"fits", std::move(fits)}});
}

}  // namespace

std::string demo_json(const std::vector<Study>& studies, const IrisResult& iris, double seconds) {
  Json synthetic = Json::array();
  for (const Study& study : studies) synthetic.push(study_json(study));
  return Json::object({{"synthetic", std::move(synthetic)}, {"iris", iris_json(iris)}, {"seconds", seconds}}).text();
}

}  // namespace m4n::detail
