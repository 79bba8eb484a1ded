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

// `bold`: headings in bold, for terminals.
std::string demo_text(const std::vector<Study>& studies, const IrisResult& iris, double seconds, bool bold);
std::string demo_json(const std::vector<Study>& studies, const IrisResult& iris, double seconds);

// How fast this machine is, in a few seconds and without any file: oracles, one fit of each surrogate and prediction,
// on made-up data: 26 clouds of normal points in 16 dimensions that overlap.

std::string speed_report(bool json);

}  // namespace m4n::detail
