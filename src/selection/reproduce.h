// The experiments of the paper's two tables, from public copies of its data sets.
//
//   protocol  features                                  fits                                   decoding
//   paper     RBF centres, standardised over ALL data   50 passes: GBCFW + SP-MP with K = 20   argmax
//             before splitting, as the authors' code    for M4N, BCFW for M3N (both averaged),
//             does                                      SDCA for CRF
//   exact     the same                                  certified to a relative gap of 1e-3    usual
//   best      exact rbf kernel, fitted in the training  the same                               usual
//             part; gamma (of three around the median
//             of all inputs) and lambda by validation,
//             lambda also below 2^-10
//
// Words (sequence): `exact` has raw pixels and a bias, `best` also the products of neighbouring pixels. `paper` is left
// out: 17 passes of the paper's solver over the words take 236 s (docs/performance.md), and it asks for 140 fits of 50.
// Rankings: `paper` has M4N alone, as M3N and CRF are not solved by the paper's solvers there; CRF, which the paper
// does not have, decides by the least expected loss. `exact` and `best` certify 1e-2.
//
// All use the same random splits 60/20/20, choose lambda (from 2^-1 .. 2^-10) by the validation loss, and cut grades
// from all targets. In `paper` every lambda starts from nothing, and of the 50 passes' averages the one with the best
// certificate is returned.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "m4n/context.h"
#include "m4n/cross_validate.h"
#include "m4n/read.h"

namespace m4n::detail {

// A cell of table 2 as printed.
struct PrintedOracle {
  bool warm_start;
  int iterations;
  double test, oracle_error;
};
// What the protocols do with the sets of a task.
struct PaperTask {
  const char *label, *task;  // as in the table; as options name it
  bool percent;              // losses are shown so
  bool grades;               // cut from a number; the first row may have been lost
  bool centers;              // learnt from RBF centres; letters of words are learnt from pixels
  bool paper_m4n_only;       // the paper's own solvers are there for M4N alone
  double tol;                // of the protocols exact and best
  int epochs;                // of exact
};
struct PaperSet {
  const char* name;  // rankings have lr_ before the paper's, which classes share
  const char* file;  // without .gz
  const PaperTask* task;
  std::size_t d, n, k;                // as printed
  double m3n, crf, m4n;               // test losses of table 1 as printed, percentages as fractions; nan: not printed
  std::vector<PrintedOracle> table2;  // empty: not in it
};
const std::vector<PaperSet>& paper_sets();

enum class Protocol { paper, exact, best };
const char* to_string(Protocol);

struct ReproduceOptions {
  std::string data;               // directory with the files
  std::string out;                // directory for results
  std::vector<std::string> only;  // names of sets; empty: all
  std::vector<Protocol> protocols{Protocol::paper, Protocol::exact, Protocol::best};
  int splits = 14;
  Binning binning = Binning::width;  // of the ordinal sets
  std::uint64_t seed = 0;
  // Called with what runs now and how far it is.
  std::function<void(const std::string&, const CvProgress&)> observe;
  // The report that is kept beside the cells of a cross-validation.
  std::function<std::string(const CvResult&, const CvOptions&)> describe;
};

// A set of a table. It is read when its turn comes.
struct FoundSet {
  const PaperSet* set;
  std::string path;             // empty: not asked for, or not there; only what was finished earlier is shown
  bool shortened = false;       // its first row was left out
  std::optional<Dataset> data;  // grades are cut from all targets: they are part of what the task is

  bool asked() const { return !path.empty(); }
};
// The sets of table 1, or only those of table 2, and the names of files that are asked for and missing. Throws
// UsageError for unknown names.
std::vector<FoundSet> find_sets(const ReproduceOptions& options, bool table1, std::vector<std::string>* missing);

struct Table1Cell {
  const PaperSet* set;
  std::size_t d, n, k;  // of the data
  Protocol protocol;
  SurrogateKind surrogate;
  CvSummary test;
  double best_lambda, seconds;  // seconds: of solving, over all splits and lambdas
  std::size_t unconverged, fits;
};
struct Table2Cell {
  const PaperSet* set;
  const PrintedOracle* printed;
  std::size_t n;
  CvSummary test, oracle_error;
  double lambda, seconds;
};

// Cells finished earlier in options.out are taken from there. What is not asked for now, or was not done when the run
// was interrupted, is taken from the `earlier` table.
std::vector<Table1Cell> reproduce_table1(const ReproduceOptions& options, std::vector<FoundSet>& sets,
                                         const std::vector<Table1Cell>& earlier, const Context& context);
std::vector<Table2Cell> reproduce_table2(const ReproduceOptions& options, std::vector<FoundSet>& sets,
                                         const std::vector<Table2Cell>& earlier, const Context& context);

}  // namespace m4n::detail
