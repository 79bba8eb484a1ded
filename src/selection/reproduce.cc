// The paper's data sets and protocols, run by cross-validation (reproduce.h).
#include "selection/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/message.h"
#include "core/option_values.h"
#include "features/pixel_products.h"
#include "features/prepared.h"
#include "features/standardize.h"
#include "m4n/read.h"
#include "selection/cv_choice.h"
#include "selection/cv_store.h"

namespace m4n::detail {
namespace {

namespace fs = std::filesystem;

constexpr double never = 1e-12;  // a tolerance that 50 passes do not reach
constexpr int paper_passes = 50, table2_passes = 100, paper_iterations = 20;
constexpr int patient_epochs = 20'000;
// Of rankings even 1e-2 takes M3N half a minute per split on glass, most of it at 2^-10.
constexpr PaperTask classes{"MC", "multiclass", true, false, true, false, 1e-3, patient_epochs};
constexpr PaperTask grades{"ORD", "ordinal", false, true, true, false, 1e-3, patient_epochs};
constexpr PaperTask words{"SEQ", "sequence", true, false, false, false, 1e-3, patient_epochs};
constexpr PaperTask rankings{"RNK", "ranking", true, false, true, true, 1e-2, 2000};

constexpr double from_percent(double x) { return x / 100; }

std::vector<double> powers_of_two(int first, int last) {
  std::vector<double> out;
  for (int e = first; e <= last; ++e) out.push_back(std::ldexp(1.0, -e));
  return out;
}

// The data, read the first time. The ordinal sets of the paper are one row shorter than the public files, as if their
// first row had been read as a header: it is left out, and the grades are cut from the others.
const Dataset& data_of(FoundSet& found, Binning binning) {
  if (found.data) return *found.data;
  const PaperSet& set = *found.set;
  TrainOptions options;
  options.task = set.task->task;
  if (set.task->grades) {
    options.bins = static_cast<int>(set.k);
    options.binning = binning;
  }
  TrainingData all = read(found.path, options);
  found.shortened = set.task->grades && all.data.examples() == set.n + 1;
  if (!found.shortened) return found.data.emplace(std::move(all.data));
  std::vector<std::size_t> rest(set.n);
  std::iota(rest.begin(), rest.end(), std::size_t{1});
  Dataset& data = found.data.emplace(subset(all.data, rest));
  all.raw_target.erase(all.raw_target.begin());
  data.bins = cut_into_grades(all.raw_target, options.bins, binning);
  for (std::size_t i = 0; i < set.n; ++i) data.label[i] = grade_of(all.raw_target[i], data.bins);
  return data;
}

// Features of all the data at once, before any split, as in the authors' code.
Dataset with_centers(Dataset data, const ReproduceOptions& options, const Context& context) {
  TrainOptions o;
  o.features = FeatureKind::rbf_centers;
  o.seed = options.seed;
  data.x = prepare(std::move(data.x), {}, o, context).x;
  data.feature_names.clear();
  return data;
}

Dataset with_products(Dataset letters) {
  constexpr PixelGrid grid{16, 8};
  letters.x = with_pixel_products(grid, std::get<DenseMatrix>(letters.x).view());
  return letters;
}

CvOptions common(const ReproduceOptions& options, const PaperTask& task) {
  CvOptions o;
  o.train.task = task.task;
  o.train.seed = options.seed;
  o.train.tol = task.tol;
  o.plan.splits = options.splits;
  o.plan.stratify = false;  // the paper does not
  o.lambdas = powers_of_two(1, 10);
  o.extend = false;
  return o;
}

CvOptions on_centers(const ReproduceOptions& options, const PaperTask& task) {
  CvOptions o = common(options, task);
  o.train.standardize = false;
  return o;
}

CvOptions paper_protocol(const ReproduceOptions& options, const PaperTask& task, SurrogateKind surrogate) {
  CvOptions o = on_centers(options, task);
  o.warm_path = false;
  o.candidates = {{surrogate, 0, Decoder::argmax}};
  o.train.tol = never;
  o.train.epochs = paper_passes;
  o.train.solver = surrogate == SurrogateKind::crf ? SolverKind::prox : SolverKind::gbcfw;
  if (surrogate == SurrogateKind::m4n) {
    o.train.oracle = OracleKind::spmp;
    o.train.oracle_iterations = paper_iterations;
  }
  if (surrogate == SurrogateKind::m3n) o.train.average = true;
  return o;
}

CvOptions exact_protocol(const ReproduceOptions& options, const PaperTask& task, SurrogateKind surrogate) {
  CvOptions o = task.centers ? on_centers(options, task) : common(options, task);
  o.candidates = {{surrogate, 0, Decoder::automatic}};
  o.train.epochs = task.epochs;
  return o;
}

// Gammas around the one that the median distance of all inputs gives.
CvOptions best_protocol(const ReproduceOptions& options, const Dataset& data, const PaperTask& task,
                        SurrogateKind surrogate) {
  constexpr double factor = 4;
  CvOptions o = common(options, task);
  o.candidates = {{surrogate, 0, Decoder::automatic}};
  o.lambdas = powers_of_two(4, 16);
  o.extend = true;
  if (!task.centers) return o;
  o.train.features = FeatureKind::rbf;
  Features x = data.x;
  apply_in_place(fit_standardizer(view(x), {}), x);
  const double median = choose_kernel(o.train, std::get<DenseMatrix>(x).view()).gamma;
  o.gammas = {median / factor, median, median * factor};
  return o;
}

std::string directory_of(const ReproduceOptions& options, const std::string& name) {
  return options.out + "/cells/" + name;
}

// Runs one cross-validation, from where it was kept. Nothing if interrupted.
std::optional<CvResult> run(const ReproduceOptions& options, const std::string& name, const Dataset& data, CvOptions cv,
                            const Context& context) {
  cv.candidates = resolved_candidates(cv, data);
  CvStore store(directory_of(options, name), data, {}, cv);
  cv.known = store.known();
  bool is_new = !CvStore::finished(directory_of(options, name));
  cv.finished = [&](std::span<const CvCell> cells) {
    store.add(cells);
    is_new = true;
  };
  cv.running = store.running();
  if (options.observe) cv.observe = [&](const CvProgress& progress) { options.observe(name, progress); };
  CvResult result = cross_validate(data, {}, cv, context);
  if (result.interrupted) return std::nullopt;
  if (is_new) store.finish(result, options.describe ? options.describe(result, cv) : "{}");
  return result;
}

// Which surrogates the paper's own solvers are there for.
bool has_paper_protocol(const PaperTask& task, SurrogateKind surrogate) {
  return task.centers && (!task.paper_m4n_only || surrogate == SurrogateKind::m4n);
}

std::string cell_name(const PaperSet& set, Protocol protocol, SurrogateKind surrogate) {
  return fmt::format("{}-{}-{}", set.name, to_string(protocol), to_string(surrogate));
}

double solving_seconds(const CvResult& result) {
  double out = 0;
  for (const CvCell& cell : result.cells) out += cell.seconds;
  return out;
}

}  // namespace

const std::vector<PaperSet>& paper_sets() {
  constexpr auto *mc = &classes, *ord = &grades, *seq = &words, *rnk = &rankings;
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<PrintedOracle> machine{
      {true, 10, 0.42, 0.57},  {true, 30, 0.41, 0.43},  {true, 50, 0.41, 0.22},  {true, 100, 0.41, 0.13},
      {false, 10, 0.50, 4.41}, {false, 30, 0.50, 2.74}, {false, 50, 0.44, 1.25}, {false, 100, 0.42, 0.63}};
  static const std::vector<PrintedOracle> automobile{
      {true, 10, 0.56, 1.55},  {true, 30, 0.55, 1.29},  {true, 50, 0.51, 0.81},  {true, 100, 0.50, 0.44},
      {false, 10, 0.61, 2.66}, {false, 30, 0.57, 1.79}, {false, 50, 0.53, 0.89}, {false, 100, 0.51, 0.47}};
  static const std::vector<PaperSet> all{
      {"segment", "segment.csv", mc, 19, 2310, 7, from_percent(6.64), from_percent(6.43), from_percent(6.09), {}},
      {"iris", "iris.csv", mc, 4, 150, 3, from_percent(3.33), from_percent(3.08), from_percent(3.33), {}},
      {"wine", "wine.csv", mc, 13, 178, 3, from_percent(2.56), from_percent(2.14), from_percent(2.35), {}},
      {"vehicle", "vehicle.csv", mc, 18, 846, 4, from_percent(24.6), from_percent(25.1), from_percent(24), {}},
      {"satimage", "satimage.csv", mc, 36, 4435, 6, from_percent(12.2), from_percent(11.5), from_percent(11.9), {}},
      {"letter", "letter.csv", mc, 16, 15000, 26, from_percent(14.6), from_percent(13.2), from_percent(13.5), {}},
      {"mfeat", "mfeat.csv", mc, 216, 2000, 10, from_percent(3.94), from_percent(4.35), from_percent(3.96), {}},
      {"wisconsin", "wisconsin.csv", ord, 32, 193, 5, 1.24, 1.26, 1.26, {}},
      {"stocks", "stocks.csv", ord, 9, 949, 5, 0.167, 0.168, 0.160, {}},
      {"machine", "machine.csv", ord, 6, 208, 10, 0.634, 0.628, 0.628, machine},
      {"abalone", "abalone.csv", ord, 10, 4176, 10, 0.520, 0.526, 0.520, {}},
      {"auto", "auto.csv", ord, 7, 391, 10, 0.589, 0.621, 0.585, automobile},
      {"ocr", "ocr_letters.data", seq, 128, 6877, 26, from_percent(16.2), from_percent(16.3), from_percent(16.2), {}},
      {"lr_glass", "lr_glass.csv", rnk, 9, 214, 6, from_percent(17.7), none, from_percent(17.4), {}},
      {"lr_bodyfat", "lr_bodyfat.csv", rnk, 7, 252, 7, from_percent(79.6), none, from_percent(79.6), {}},
      {"lr_wine", "lr_wine.csv", rnk, 13, 178, 3, from_percent(5.06), none, from_percent(4.34), {}},
      {"lr_vowel", "lr_vowel.csv", rnk, 10, 528, 11, from_percent(33.7), none, from_percent(32.2), {}},
      {"lr_vehicle", "lr_vehicle.csv", rnk, 18, 846, 4, from_percent(14.8), none, from_percent(15.0), {}}};
  return all;
}

const char* to_string(Protocol protocol) {
  return protocol == Protocol::paper ? "paper" : protocol == Protocol::exact ? "exact" : "best";
}

std::vector<FoundSet> find_sets(const ReproduceOptions& options, bool table1, std::vector<std::string>* missing) {
  std::vector<std::string> names;
  for (const PaperSet& set : paper_sets()) names.emplace_back(set.name);
  for (const std::string& name : options.only)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw UsageError("--only: " + unknown_word_message("data set", name, names));
  if (!fs::is_directory(options.data))
    throw Error(say("--data {}: is no directory; => name the one that holds the data sets", options.data));
  std::vector<FoundSet> out;
  for (const PaperSet& set : paper_sets()) {
    if (!table1 && set.table2.empty()) continue;
    const bool asked =
        options.only.empty() || std::find(options.only.begin(), options.only.end(), set.name) != options.only.end();
    std::string path = fmt::format("{}/{}", options.data, set.file);
    if (!fs::exists(path)) path += ".gz";
    const bool there = fs::exists(path);
    if (asked && !there) missing->push_back(set.file);
    out.push_back({&set, asked && there ? path : "", false, {}});
  }
  return out;
}

std::vector<Table1Cell> reproduce_table1(const ReproduceOptions& options, std::vector<FoundSet>& sets,
                                         const std::vector<Table1Cell>& earlier, const Context& context) {
  std::vector<Table1Cell> out;
  bool stopped = false;
  for (FoundSet& found : sets) {
    const PaperSet& set = *found.set;
    const bool centers = set.task->centers;
    std::optional<Dataset> other;  // with the features of the protocol
    for (const Protocol protocol : {Protocol::paper, Protocol::exact, Protocol::best})
      for (const SurrogateKind surrogate : {SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::m4n}) {
        if (protocol == Protocol::paper && !has_paper_protocol(*set.task, surrogate)) continue;
        const bool asked = found.asked() && std::find(options.protocols.begin(), options.protocols.end(), protocol) !=
                                                options.protocols.end();
        if (!asked || stopped) {
          std::copy_if(earlier.begin(), earlier.end(), std::back_inserter(out), [&](const Table1Cell& cell) {
            return cell.set == &set && cell.protocol == protocol && cell.surrogate == surrogate;
          });
          continue;
        }
        const Dataset& data = data_of(found, options.binning);
        const bool as_read = centers == (protocol == Protocol::best);
        if (!as_read && !other) other = centers ? with_centers(data, options, context) : with_products(data);
        const CvOptions cv = protocol == Protocol::paper   ? paper_protocol(options, *set.task, surrogate)
                             : protocol == Protocol::exact ? exact_protocol(options, *set.task, surrogate)
                                                           : best_protocol(options, data, *set.task, surrogate);
        const auto result = run(options, cell_name(set, protocol, surrogate), as_read ? data : *other, cv, context);
        stopped = !result;
        if (result)
          out.push_back({&set, cols(data.x), data.examples(), data.class_names.size(), protocol, surrogate,
                         result->overall.test, result->best.lambda, solving_seconds(*result), result->unconverged(),
                         result->cells.size()});
      }
  }
  return out;
}

std::vector<Table2Cell> reproduce_table2(const ReproduceOptions& options, std::vector<FoundSet>& sets,
                                         const std::vector<Table2Cell>& earlier, const Context& context) {
  std::vector<Table2Cell> out;
  bool stopped = false;
  for (FoundSet& found : sets) {
    if (found.set->table2.empty()) continue;
    std::optional<Dataset> data;
    std::optional<CvResult> exact;
    if (found.asked() && !stopped) {
      data = with_centers(data_of(found, options.binning), options, context);
      // The paper does not say its lambda. Errors of the oracle grow with the scores, so all cells share one: the best
      // of the exact protocol.
      exact = run(options, cell_name(*found.set, Protocol::exact, SurrogateKind::m4n), *data,
                  exact_protocol(options, *found.set->task, SurrogateKind::m4n), context);
      stopped = !exact;
    }
    for (const PrintedOracle& printed : found.set->table2) {
      if (!exact || stopped) {
        std::copy_if(earlier.begin(), earlier.end(), std::back_inserter(out),
                     [&](const Table2Cell& cell) { return cell.printed == &printed; });
        continue;
      }
      CvOptions cv = paper_protocol(options, *found.set->task, SurrogateKind::m4n);
      cv.lambdas = {exact->best.lambda};
      cv.train.epochs = table2_passes;
      cv.train.oracle_iterations = printed.iterations;
      cv.train.warm_start = printed.warm_start;
      const std::string name =
          fmt::format("{}-table2-{}-{}", found.set->name, printed.warm_start ? "warm" : "cold", printed.iterations);
      const auto result = run(options, name, *data, cv, context);
      stopped = !result;
      if (stopped) continue;
      std::vector<double> errors;
      for (const CvCell& cell : result->overall.chosen) errors.push_back(cell.oracle_error.value_or(0));
      out.push_back({found.set, &printed, data->examples(), result->overall.test, summary(errors), exact->best.lambda,
                     solving_seconds(*result)});
    }
  }
  return out;
}

}  // namespace m4n::detail
