// What the parts of `m4n demo` share: the two experiments, their results, and how these are shown.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "reports/page.h"
#include "structures/classes/labels.h"

namespace m4n::detail {

// In the order of the columns.
inline constexpr std::array demo_surrogates{SurrogateKind::m3n, SurrogateKind::m4n, SurrogateKind::crf,
                                            SurrogateKind::qs};
template <class Result>
using PerSurrogate = std::array<Result, demo_surrogates.size()>;

// ---- part 1: excess risk against the number of examples ---------------------------------------------------------

// Over all seeds of one n: the mean excess risk, the worst certificate, the most epochs, the seconds of all.
struct StudyFit {
  double excess = 0, relative_gap = 0;
  bool converged = true;
  int epochs = 0;
  double seconds = 0;
};
struct StudyLevel {
  std::size_t n = 0, seeds = 0;
  double lambda = 0;
  PerSurrogate<StudyFit> fits;
};
struct Study {
  std::string name;   // in JSON
  std::string title;  // in words
  Order order;        // classes or grades
  CostMatrix cost;
  double bayes_risk = 0;
  std::vector<StudyLevel> levels;
};
// lambda_n = lambda_factor / sqrt(n): it goes to zero, but slower than the error of a mean, as consistency asks for.
inline constexpr double lambda_factor = 0.02;
// `advance(done, all)` is told how many fits are done, one call at a time.
std::vector<Study> run_studies(const Context& context, const std::function<void(std::size_t, std::size_t)>& advance);

// ---- part 2: 150 flowers ----------------------------------------------------------------------------------------

extern const std::string_view iris_csv;

struct IrisFit {
  double train_error = 0, test_error = 0, relative_gap = 0;
  bool converged = false;
  int epochs = 0;
  double seconds = 0;
  std::vector<std::int32_t> predicted;  // for the flowers held out
};
struct IrisResult {
  std::size_t train_size = 0;
  Dataset held_out;
  PerSurrogate<IrisFit> fits;
};
// Trains on two flowers of three and judges on every third (the file is sorted by class, so both parts have all).
IrisResult run_iris(const Context& context);

// ---- the output -------------------------------------------------------------------------------------------------

std::string in_capitals(SurrogateKind surrogate);
// A gap that was not brought down to the tolerance is marked.
std::string gap_cell(double gap, bool converged);
// What is said before and after the first experiment, in lines of at most 100 columns.
std::vector<std::string> studies_introduction(const std::vector<Study>& studies);
std::vector<std::string> studies_conclusion();
// The first flower of each class, then the first two others on which the surrogates disagree.
std::vector<std::size_t> flowers_to_show(const IrisResult& iris);

struct NextStep {
  std::string_view command, what;
};
inline constexpr std::array<NextStep, 3> next_steps{
    {{"m4n generate --task multiclass --n 10000 --out noisy.csv", "no rule errs less often than 53%"},
     {"m4n train noisy.csv --model noisy.m4n", "also --surrogate, --loss COSTS.csv"},
     {"m4n eval noisy.m4n noisy.csv", "how often it errs, and more"}}};

// `bold`: headings in bold, for terminals.
std::string demo_text(const std::vector<Study>& studies, const IrisResult& iris, double seconds, bool bold);
std::string demo_json(const std::vector<Study>& studies, const IrisResult& iris, double seconds);
// Without times, so that it is the same wherever it is made. `command`: what was typed.
Page demo_page(const std::vector<Study>& studies, const IrisResult& iris, const std::string& command);

// How fast this machine is, in a few seconds and without any file: oracles, one fit of each surrogate and prediction,
// on made-up data: 26 clouds of normal points in 16 dimensions that overlap.

std::string speed_report(bool json);

}  // namespace m4n::detail
