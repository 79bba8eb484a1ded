// Choosing lambda, gamma and the surrogate on data that were not trained on, and an honest test loss of that choice.
//
// Every split cuts the examples into a training, a validation and a test part. Whatever is fitted (bins, standardising,
// features, weights) is fitted on the training part alone. For each split the lambda (gamma, candidate) with the least
// task loss on its validation part is tested on its test part; the mean of these test losses is what the whole
// procedure can be expected to reach on new data. Of equal losses on a split the earlier gamma is taken, then the
// middle one of the lambdas.
//
// The choice for a refit goes by the MEAN validation loss over the splits. Its least value is often luck: over small
// validation parts neighbouring lambdas differ by noise. So a typical lambda is taken among those that do about as well
// as the best: the mean of log lambda with the weights exp(-2 t^2), t by how many standard errors of the paired
// differences over the splits a lambda is worse than the best; of the lambdas with t <= 1 the one nearest to that mean.
//
// Among several candidates the one with the least loss on small validation parts is often the luckiest. So one has to
// win: crf (the first candidate, where crf is none of them) is taken unless another is better by decisive_errors
// standard errors of the paired differences over the splits; on a single split, by as many standard deviations of them.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/error.h"
#include "m4n/options.h"

namespace m4n {

struct Split {
  std::vector<std::size_t> train, validation, test;  // ascending
};
// Random splits by ratio; or, where `folds` or `fold_of` is set, folds: each is the test part once, and the next one
// (the first after the last) is the validation part.
struct SplitPlan {
  // Labels are as frequent in every part as they are in all the data, as nearly as can be, where examples have classes
  // (or sets of labels) and the parts are drawn at random.
  bool stratify = true;
  int splits = 14;
  std::array<double, 3> ratio{60, 20, 20};  // training, validation, test
  int folds = 0;                            // random folds of equal size
  std::vector<std::int32_t> fold_of;        // given folds, numbered from 0: one number per example
  std::vector<Split> given;  // or the splits themselves; their parts may overlap, and there may be nothing to test on
};
// Labels to stratify by: those of example i are tag[tags.begin(i)] to tag[tags.end(i) - 1], none, one or several.
struct Strata {
  std::vector<std::int32_t> tag;
  Groups tags{};
};
// Those of the task's examples; none where its outputs have no labels to go by.
M4N_API Strata strata_of(const std::string& task, const Dataset& data);
// Refuses more splits than examples, and parts that would be empty. `strata`: one entry per example, or none.
M4N_API std::vector<Split> make_splits(std::size_t examples, const SplitPlan& plan, std::uint64_t seed,
                                       const Strata& strata = Strata());
// The fold of every example, numbered from 0.
M4N_API std::vector<std::int32_t> random_folds(std::size_t examples, int folds, std::uint64_t seed,
                                               const Strata& strata = Strata());

// What is compared.
struct Candidate {
  SurrogateKind surrogate = SurrogateKind::m4n;
  double smoothing = 0;
  Decoder decode = Decoder::automatic;  // automatic: the usual one for the surrogate and the costs
};
// "m4n", or with what distinguishes it: "smoothed m4n", "m4n/adversary" where `all` hold m4n twice.
M4N_API std::string name_of(const Candidate& candidate, std::span<const Candidate> all);

// m4n, smoothed m4n (of classes and grades), m3n and crf; m4n with both of its decoders where the costs are not
// symmetric. `notes`, if not null, gets those that are left out and why, as crf is where it would have to sum over
// permutations of too many items.
M4N_API std::vector<Candidate> automatic_candidates(const TrainOptions& options, const Dataset& data,
                                                    std::vector<std::string>* notes = nullptr);
inline constexpr double decisive_errors = 1.5;
inline constexpr double usual_smoothing = 4;  // unless the options give one
// Those of `names`: m4n, smoothed, m3n, crf, qs, or auto alone for the automatic ones; none: the one of the options.
M4N_API std::vector<Candidate> listed_candidates(const std::vector<std::string>& names, const TrainOptions& options,
                                                 const Dataset& data, std::vector<std::string>* notes = nullptr);

struct CvCell {
  std::size_t split = 0, gamma = 0, candidate = 0;  // indices into the options' lists
  double lambda = 0;
  double validation = 0, test = 0;  // mean task loss of the two parts; NaN where nothing is to be tested on
  double relative_gap = 0;
  bool converged = false;
  bool constant = false;  // all examples of the validation part got the same prediction
  double seconds = 0;     // of solving; shared by the candidates that differ only in the decoder
  // Mean over the last epoch of how far the approximate oracle fell short; none for exact ones.
  std::optional<double> oracle_error;
};

struct CvProgress {
  std::size_t done = 0, recalled = 0, total = 0;  // paths of lambdas; `recalled` of those done were known
  double seconds = 0;
};

struct CvOptions {
  TrainOptions train;  // surrogate, smoothing, decode, lambda and gamma are not taken from here but from the lists
  std::vector<Candidate> candidates{Candidate{}};
  // Descending. None: the usual ones, 2^0 to 2^-16 times each candidate's lambda_unit (m4n/fit.h). Of these the ones to
  // 2^-8 (crf: 2^-12; where outputs have several parts: 2^-5) are tried at once, smaller ones two at a time while the
  // best is among the last two: they cost the most time and are seldom the best.
  std::vector<double> lambdas;
  std::vector<std::optional<double>> gammas{std::nullopt};  // nullopt: from the training part
  bool extend = true;  // beyond the grid, where the best lambda is at its edge, or all lambdas are as good
  // crf is tried first. The others have to win, so they are tried less: where no lambdas are given, at crf's choice and
  // at four times that, and beyond the better of the two if they are still in the race; to a relative gap of 2%; and
  // after the first split, and after the second, those that are not better than crf so far are dropped. What was
  // dropped has cells in the result, but no test losses.
  bool race = false;
  bool warm_path = true;  // each lambda starts from the solution of the one before; no: from nothing
  SplitPlan plan;
  std::vector<CvCell> known;                              // found earlier with the same options; not computed again
  std::function<void(std::span<const CvCell>)> finished;  // called with the cells of every path as it is done
  // A directory, made if there is none, for paths that are not done: they keep in files where they stand, fit by fit,
  // and go on from files found there. Empty: nothing is kept of them.
  std::string running;
  std::function<void(const CvProgress&)> observe;
};

// The candidates with their decoders, each checked against the other options.
M4N_API std::vector<Candidate> resolved_candidates(const CvOptions& options, const Dataset& data);

// A setting and its mean loss on the validation parts.
struct CvPoint {
  std::size_t candidate = 0, gamma = 0;
  double lambda = 0, validation_mean = 0, validation_std = 0;
};
// Mean, standard deviation and standard error over splits; the latter two are NaN for one split.
struct CvSummary {
  double mean = 0, deviation = 0, error = 0;
};
struct CvOutcome {
  std::vector<CvCell> chosen;  // one per split, by its validation loss
  CvSummary test;
};
struct CvComparison {
  std::size_t a = 0, b = 0;  // candidates
  CvSummary difference;      // of their test losses on the same splits, a - b
};

struct M4N_API CvResult {
  std::vector<Candidate> candidates;  // with their decoders
  std::vector<CvCell> cells;          // sorted by candidate, gamma, split and descending lambda
  std::vector<bool> dropped;          // one per candidate: out of the race before all splits were done
  CvPoint best;
  std::vector<CvPoint> curve;           // over lambda, for the best candidate and gamma
  CvOutcome overall;                    // candidate, gamma and lambda chosen on each split
  std::vector<CvOutcome> by_candidate;  // gamma and lambda chosen on each split
  std::vector<CvPoint> best_by_candidate;
  std::vector<CvComparison> comparisons;  // of every pair a < b
  std::vector<std::string> notes;         // what was done about the grid of lambdas
  std::vector<Message> warnings;          // what a user should do something about
  std::size_t splits = 0, examples = 0, labels = 0, features = 0, classes = 0;
  std::string loss_name;
  double seconds = 0;
  bool interrupted = false;         // only `cells` is filled then
  std::size_t unconverged() const;  // cells that did not reach the tolerance
};

// `raw_target`: where the labels are grades cut from a number (train.bins), that number of every example: the cuts are
// then found anew in each training part. Threads share out splits and gammas; results do not depend on their number.
M4N_API CvResult cross_validate(const Dataset& data, std::span<const double> raw_target, const CvOptions& options,
                                const Context& context = {});

// What to fit on all the data.
M4N_API TrainOptions refit_options(const CvResult& result, const CvOptions& options);

}  // namespace m4n
