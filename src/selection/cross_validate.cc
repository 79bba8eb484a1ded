// Cross-validation. A UNIT of work is one split with one gamma: its training part is prepared (TrainingSet) and then
// solved along PATHS of lambdas for every FAMILY, a surrogate with its smoothing; candidates that differ only
// in the decoder share the fit. Units are shared out over threads and know nothing of each other, so that results do
// not depend on the number of threads. A path that is killed goes on from its checkpoint: the losses of its lambdas
// that are over, and where the solver of the next one stood.
#include "m4n/cross_validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <system_error>
#include <tuple>
#include <type_traits>

#include "core/message.h"
#include "core/parallel.h"
#include "features/prepared.h"
#include "m4n/fit.h"
#include "selection/cv_choice.h"
#include "solvers/checkpoint.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

constexpr std::size_t heats = 2;          // splits of a race, after each of which candidates are dropped
constexpr double seconds_at_risk = 0.25;  // between two checkpoints of a path
constexpr double challengers_tol = 0.02;  // which tells as well who wins; the refit is as exact as was asked for

struct Family {
  TrainOptions options;
  std::vector<std::size_t> candidates;
  std::vector<Decoder> decoders;  // of the candidates
  LambdaGrid grid;
};

// What one lambda gave: mean task losses, one by decoder.
struct LearntPoint {
  SolveResult result;
  LossesByDecoder validation, test;

  template <class Archive>
  void archive(Archive& a) {
    a(result, validation, test);
  }
};

// Lambdas to add for a family, each started from the solution of the one before.
struct Path {
  std::size_t family;
  std::vector<double> lambdas;  // descending
};

TrainOptions options_of(const Candidate& candidate, TrainOptions options) {
  options.surrogate = candidate.surrogate;
  options.smoothing = candidate.smoothing;
  options.decode = candidate.decode;
  return completed(options);
}

// Values that did not come through the command line meet the same ranges.
void check_grid(const CvOptions& options) {
  for (std::size_t l = 0; l < options.lambdas.size(); ++l) {
    TrainOptions one = options.train;
    one.lambda = options.lambdas[l];
    validate(one);
    if (l > 0 && !(options.lambdas[l] < options.lambdas[l - 1]))
      throw UsageError(say("lambdas: found {} after {}, expected them in descending order", options.lambdas[l],
                           options.lambdas[l - 1]));
  }
  for (const std::optional<double>& gamma : options.gammas) {
    TrainOptions one = options.train;
    one.gamma = gamma;
    validate(one);
  }
}

class CrossValidation {
 public:
  CrossValidation(const Dataset& data, std::span<const double> raw_target, const CvOptions& options,
                  const Context& context)
      : structure_(structure_named(options.train.task)),
        data_(data),
        raw_target_(raw_target),
        options_(options),
        context_(context) {
    if (options.candidates.empty() || options.gammas.empty())
      throw UsageError("cross-validation needs at least one candidate and one gamma");
    check_grid(options);
    if (options.train.bins > 0 && raw_target.size() != data.examples())
      throw UsageError("cutting grades anew in every training part needs the raw target of every example");
    const Strata strata = options.plan.stratify ? structure_.strata(data) : Strata{};
    result_.splits = (splits_ = make_splits(data.examples(), options.plan, options.train.seed, strata)).size();
    result_.examples = data.examples();
    result_.labels = data.label.size();
    result_.features = cols(data.x);
    result_.classes = structure_.label_count(data);
    result_.loss_name = structure_.loss(options.train, data).name;
    for (const Candidate& candidate : resolved_candidates(options, data)) add_candidate(candidate);
    for (const CvCell& cell : options.known)
      known_.emplace(std::make_tuple(cell.split, cell.gamma, cell.candidate, cell.lambda), cell);
  }

  CvResult run() {
    note_absent_classes();
    std::vector<std::size_t> families(families_.size());
    std::iota(families.begin(), families.end(), std::size_t{0});
    if (options_.race && families.size() > 1)
      race(families);
    else
      search(families, 0, splits_.size());
    result_.seconds = seconds();
    result_.interrupted = stopped();
    if (result_.interrupted) return std::move(result_);
    choose(result_);
    for (const Family& family : families_) {
      const std::string who = name_of(result_.candidates[family.candidates[0]], {});
      if (std::string note = family.grid.note(who); !note.empty()) result_.notes.push_back(std::move(note));
      const bool chosen = std::count(family.candidates.begin(), family.candidates.end(), result_.best.candidate) > 0;
      if (Message warning = family.grid.warning(who); chosen && !warning.pieces().empty())
        result_.warnings.push_back(std::move(warning));
    }
    warn_of_constant_choice();
    return std::move(result_);
  }

 private:
  void add_candidate(const Candidate& candidate) {
    const TrainOptions o = options_of(candidate, options_.train);
    const std::size_t index = result_.candidates.size();
    result_.candidates.push_back(candidate);
    const auto same = [&](const Family& family) {
      return family.options.surrogate == o.surrogate && family.options.smoothing == o.smoothing;
    };
    auto family = std::find_if(families_.begin(), families_.end(), same);
    if (family == families_.end()) {
      family = families_.insert(families_.end(), Family{o, {}, {}, grid_of(o)});
    }
    family->candidates.push_back(index);
    family->decoders.push_back(candidate.decode);
  }

  LambdaGrid grid_of(const TrainOptions& family) const {
    if (!options_.lambdas.empty()) return {options_.lambdas, 0};
    return LambdaGrid::usual(family, lambda_unit(family, data_));
  }

  void warn_of_constant_choice() {
    const CvPoint& best = result_.best;
    const auto varies = [&](const CvCell& cell) {
      return cell.candidate == best.candidate && cell.gamma == best.gamma && cell.lambda == best.lambda &&
             !cell.constant;
    };
    if (std::any_of(result_.cells.begin(), result_.cells.end(), varies)) return;
    result_.warnings.push_back(
        say("the choice, {} with lambda {}, predicts the same for every example of every validation part; => try other "
            "--features, or smaller --lambdas",
            name_of(result_.candidates[best.candidate], result_.candidates), lambda_text(best.lambda)));
  }

  // From nothing every lambda is a path of its own.
  void add_paths(std::size_t family, const std::vector<double>& lambdas, std::vector<Path>& out) const {
    if (options_.warm_path && !lambdas.empty()) return out.push_back({family, lambdas});
    for (const double lambda : lambdas) out.push_back({family, {lambda}});
  }
  std::vector<Path> paths_of(const std::vector<std::size_t>& families) const {
    std::vector<Path> out;
    for (const std::size_t f : families) add_paths(f, families_[f].grid.tried(), out);
    return out;
  }

  // All lambdas of these families on the splits from `known` to `last`, then beyond the grids on all to `last`.
  void search(const std::vector<std::size_t>& families, std::size_t known, std::size_t last) {
    std::vector<Path> paths = paths_of(families);
    for (std::size_t first = known; !paths.empty() && !stopped(); first = 0) {
      compute(paths, first, last);
      paths = stopped() ? std::vector<Path>{} : extensions(families, last);
    }
  }

  // The incumbent on all splits; then the others, the challengers, at lambdas about its own: on the first splits one by
  // one, and those that were better there on the rest.
  void race(std::vector<std::size_t> families) {
    const std::size_t first = incumbent(result_.candidates);
    result_.dropped.assign(result_.candidates.size(), false);
    const auto own = std::find_if(families.begin(), families.end(), [&](std::size_t f) {
      return std::count(families_[f].candidates.begin(), families_[f].candidates.end(), first) > 0;
    });
    const std::size_t incumbents = *own;
    families.erase(own);
    search({incumbents}, 0, splits_.size());
    if (stopped()) return;
    const double near = settled_point(cells_of(first, splits_.size()), splits_.size()).lambda /
                        lambda_unit(families_[incumbents].options, data_);
    for (const std::size_t f : families) {
      Family& family = families_[f];
      if (options_.lambdas.empty())
        family.grid = LambdaGrid::around(near * lambda_unit(family.options, data_), options_.extend);
      family.options.tol = std::max(family.options.tol, challengers_tol);
    }
    std::size_t done = 0;
    for (; done < std::min(heats, splits_.size() - 1) && !families.empty(); ++done) {
      compute(paths_of(families), done, done + 1);
      if (stopped()) return;
      drop_beaten(families, first, done + 1);
    }
    if (!families.empty()) search(families, done, splits_.size());
  }

  // Those that are not better than the incumbent on the first splits.
  void drop_beaten(std::vector<std::size_t>& families, std::size_t first, std::size_t splits) {
    const double goal = best_loss(first, splits);
    std::vector<std::string> dropped;
    std::erase_if(families, [&](std::size_t f) {
      const std::vector<std::size_t>& candidates = families_[f].candidates;
      if (std::any_of(candidates.begin(), candidates.end(), [&](std::size_t c) { return best_loss(c, splits) < goal; }))
        return false;
      for (const std::size_t c : candidates) {
        result_.dropped[c] = true;
        dropped.push_back(name_of(result_.candidates[c], result_.candidates));
      }
      return true;
    });
    if (!dropped.empty())
      result_.notes.push_back(fmt::format("{} dropped after {} of the {} splits: not better than {} there",
                                          fmt::join(dropped, ", "), splits, splits_.size(),
                                          name_of(result_.candidates[first], result_.candidates)));
  }

  std::vector<CvCell> cells_of(std::size_t candidate, std::size_t splits) const {
    std::vector<CvCell> out;
    std::copy_if(result_.cells.begin(), result_.cells.end(), std::back_inserter(out),
                 [&](const CvCell& cell) { return cell.candidate == candidate && cell.split < splits; });
    return out;
  }

  // The least mean validation loss of a candidate on the first splits.
  double best_loss(std::size_t candidate, std::size_t splits) const {
    return best_point(points_of(cells_of(candidate, splits), splits)).validation_mean;
  }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  bool stopped() const { return context_.cancelled && context_.cancelled(); }

  // ---- parts of the data

  OrdinalBins bins_of(const Split& split) const {
    if (options_.train.bins == 0) return data_.bins;
    std::vector<double> targets;
    for (const std::size_t i : split.train) targets.push_back(raw_target_[i]);
    return cut_into_grades(std::move(targets), options_.train.bins, options_.train.binning);
  }

  // These examples, labelled by grades that were cut in the training part.
  Dataset part(std::span<const std::size_t> examples, const OrdinalBins& bins) const {
    Dataset out = subset(data_, examples);
    if (options_.train.bins == 0) return out;
    out.bins = bins;
    for (std::size_t i = 0; i < examples.size(); ++i) out.label[i] = grade_of(raw_target_[examples[i]], bins);
    return out;
  }

  void note_absent_classes() {
    if (!structure_.traits().labels_are_classes) return;
    std::map<std::size_t, std::vector<std::size_t>> absent;  // class to splits
    for (std::size_t s = 0; s < splits_.size(); ++s) {
      std::vector<bool> present(data_.class_names.size());
      const OrdinalBins bins = bins_of(splits_[s]);
      for (const std::size_t i : splits_[s].train)
        for (std::size_t l = data_.labels.begin(i); l < data_.labels.end(i); ++l)
          present[static_cast<std::size_t>(options_.train.bins > 0 ? grade_of(raw_target_[i], bins) : data_.label[l])] =
              true;
      for (std::size_t c = 0; c < present.size(); ++c)
        if (!present[c]) absent[c].push_back(s + 1);
    }
    for (const auto& [c, splits] : absent)
      result_.warnings.push_back(
          say("{} '{}' has no example in the training part of {} of the {} splits ({}{}): it cannot be learnt there{}",
              options_.train.bins > 0 ? "grade" : "class", data_.class_names[c], splits.size(), splits_.size(),
              fmt::join(splits.begin(), splits.begin() + std::min<std::ptrdiff_t>(5, std::ssize(splits)), ", "),
              splits.size() > 5 ? ", .." : "",
              options_.train.bins > 0 ? say("; tied targets can do that: => use fewer --bins") : Message()));
  }

  // ---- fitting

  void compute(const std::vector<Path>& paths, std::size_t first_split, std::size_t last_split) {
    const std::size_t units = (last_split - first_split) * options_.gammas.size();
    if (units == 0) return;
    total_ += units * paths.size();
    unsigned workers = thread_count(context_.threads);
    // Matrices of all pairs must fit into memory together.
    const double bytes = pair_bytes(options_.train.features, splits_[0].train.size());
    if (bytes > 0)
      workers = static_cast<unsigned>(std::clamp(std::floor(0.8 * available_memory() / bytes), 1.0, double(workers)));
    Context inner;
    inner.threads = std::max(1U, workers / static_cast<unsigned>(std::min<std::size_t>(units, workers)));
    inner.cancelled = context_.cancelled;
    parallel_chunks(units, 1, workers, [&](std::size_t unit, std::size_t, std::size_t, unsigned) {
      if (!stopped())
        compute_unit(first_split + unit / options_.gammas.size(), unit % options_.gammas.size(), paths, inner);
    });
    // In one order, whichever was done first: sums over splits must not depend on threads.
    std::sort(result_.cells.begin(), result_.cells.end(), [](const CvCell& a, const CvCell& b) {
      return std::make_tuple(a.candidate, a.gamma, a.split, -a.lambda) <
             std::make_tuple(b.candidate, b.gamma, b.split, -b.lambda);
    });
  }

  void compute_unit(std::size_t s, std::size_t g, const std::vector<Path>& paths, const Context& inner) {
    std::vector<const Path*> missing;
    for (const Path& path : paths)
      if (std::vector<CvCell> cells = recall(s, g, path); !cells.empty())
        record(cells, false);
      else
        missing.push_back(&path);
    if (missing.empty()) return;
    const OrdinalBins bins = bins_of(splits_[s]);
    TrainOptions prepared = options_.train;
    prepared.gamma = options_.gammas[g];
    const Split& split = splits_[s];
    const auto set = structure_.prepare(part(split.train, bins), completed_task(prepared), inner);
    const auto validation = set->hold_out(part(split.validation, bins), split.validation);
    const auto test = split.test.empty() ? nullptr : set->hold_out(part(split.test, bins), split.test);
    for (const Path* path : missing) {
      const Family& family = families_[path->family];
      const std::filesystem::path kept = file_of(s, g, *path);
      const std::vector<LearntPoint> points = learn(*set, *validation, test.get(), *path, kept, inner);
      if (stopped()) return;
      std::vector<CvCell> cells;
      for (std::size_t l = 0; l < points.size(); ++l)
        for (std::size_t d = 0; d < family.decoders.size(); ++d) {
          const SolveResult& solved = points[l].result;
          cells.push_back({s, g, family.candidates[d], path->lambdas[l], points[l].validation[d].mean,
                           points[l].test[d].mean, solved.certificate.relative_gap(), solved.certificate.converged,
                           points[l].validation[d].constant, solved.seconds, solved.oracle_error});
        }
      record(cells, true);
      std::error_code stays;  // until all is done
      if (!kept.empty()) std::filesystem::remove(kept, stays);
    }
  }

  // Where a path keeps what it knows before it is done; empty: nowhere.
  std::filesystem::path file_of(std::size_t s, std::size_t g, const Path& path) const {
    if (options_.running.empty()) return {};
    const TrainOptions& o = families_[path.family].options;
    return fmt::format("{}/split{}-gamma{}-{}-smoothing{}-lambda{}.m4nc", options_.running, s + 1, g + 1,
                       to_string(o.surrogate), o.smoothing, path.lambdas[0]);
  }

  // One point per lambda; fewer where the context is cancelled.
  std::vector<LearntPoint> learn(const TrainingSet& set, const HeldOut& validation, const HeldOut* test,
                                 const Path& path, const std::filesystem::path& kept, Context context) const {
    const Family& family = families_[path.family];
    std::vector<LearntPoint> points;
    if (stopped()) return points;
    std::vector<std::unique_ptr<Solution>> waiting;
    const auto judge = [&] {
      if (waiting.empty()) return;
      const auto losses = [&](const HeldOut& part) {
        return set.mean_losses(part, waiting, family.options, family.decoders, context);
      };
      const std::vector<LossesByDecoder> on_validation = losses(validation);
      const std::vector<LossesByDecoder> on_test =
          test != nullptr ? losses(*test)
                          : std::vector<LossesByDecoder>(waiting.size(), LossesByDecoder(family.decoders.size()));
      for (std::size_t l = 0; l < waiting.size(); ++l)
        points.push_back({waiting[l]->result, on_validation[l], on_test[l]});
      waiting.clear();
    };
    // Before a checkpoint everything that is solved is judged.
    const auto state = [&](auto& a) {
      if constexpr (!std::remove_reference_t<decltype(a)>::loading) judge();
      a(points);
      a.expect(points.size() <= path.lambdas.size() &&
               std::all_of(points.begin(), points.end(), [&](const LearntPoint& point) {
                 return point.validation.size() == family.decoders.size() &&
                        point.test.size() == point.validation.size();
               }));
    };
    if (!kept.empty()) {
      std::error_code error;
      std::filesystem::create_directory(kept.parent_path(), error);
      if (error) throw Error(say("{}: cannot be made a directory: {}", options_.running, error.message()));
      context.checkpoint = std::make_shared<Checkpoint>(kept.string(), seconds_at_risk, Checkpoint::Saves::when_due,
                                                        Settings{{"path", kept.filename().string()}}, std::string());
      context.checkpoint->keep(state);
      if (std::filesystem::exists(kept)) context.checkpoint->resume(kept.string());
    }
    std::size_t emitted = 0;
    const std::size_t known = points.size();
    set.solve(family.options, Decoder::automatic, path.lambdas, context, [&](std::unique_ptr<Solution> solution) {
      if (emitted++ < known) return;
      waiting.push_back(std::move(solution));
      if (waiting.size() >= set.scoring_batch() && !stopped()) judge();
    });
    if (!stopped()) judge();
    return points;
  }

  // The cells of a path if all of them are known, none otherwise.
  std::vector<CvCell> recall(std::size_t s, std::size_t g, const Path& path) const {
    std::vector<CvCell> out;
    for (const double lambda : path.lambdas)
      for (const std::size_t c : families_[path.family].candidates) {
        const auto found = known_.find({s, g, c, lambda});
        if (found == known_.end()) return {};
        out.push_back(found->second);
      }
    return out;
  }

  void record(const std::vector<CvCell>& cells, bool is_new) {
    const std::lock_guard lock(mutex_);
    result_.cells.insert(result_.cells.end(), cells.begin(), cells.end());
    if (is_new && options_.finished) options_.finished(cells);
    ++done_;
    if (!is_new) ++recalled_;
    if (options_.observe) options_.observe({done_, recalled_, total_, seconds()});
  }

  // ---- the grid

  std::vector<Path> extensions(const std::vector<std::size_t>& families, std::size_t splits) {
    std::vector<Path> out;
    const std::vector<CvPoint> points = points_of(result_.cells, splits);
    for (const std::size_t f : families) {
      std::vector<CvPoint> own;
      for (const CvPoint& point : points)
        if (std::count(families_[f].candidates.begin(), families_[f].candidates.end(), point.candidate) > 0)
          own.push_back(point);
      add_paths(f,
                families_[f].grid.extend(
                    own, [&](const CvPoint& point) { return reached(point, splits); }, options_.extend),
                out);
    }
    return out;
  }

  // Whether most fits at a point reached the tolerance; beyond it they would not.
  bool reached(const CvPoint& point, std::size_t splits) const {
    std::size_t count = 0;
    for (const CvCell& cell : result_.cells)
      if (cell.candidate == point.candidate && cell.gamma == point.gamma && cell.lambda == point.lambda)
        count += cell.converged ? 1 : 0;
    return 2 * count >= splits;
  }

  static TrainOptions completed_task(TrainOptions options) {
    options.task = structure_named(options.task).name();
    return options;
  }

  const Structure& structure_;
  const Dataset& data_;
  std::span<const double> raw_target_;
  const CvOptions& options_;
  const Context& context_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<Split> splits_;
  std::vector<Family> families_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t, double>, CvCell> known_;
  std::mutex mutex_;  // guards what follows while units run
  std::size_t done_ = 0, recalled_ = 0, total_ = 0;
  CvResult result_;
};

}  // namespace
}  // namespace m4n::detail

namespace m4n {

std::vector<Candidate> resolved_candidates(const CvOptions& options, const Dataset& data) {
  const detail::Structure& structure = detail::structure_named(options.train.task);
  std::vector<Candidate> out = options.candidates;
  for (Candidate& candidate : out) {
    const TrainOptions own = detail::options_of(candidate, options.train);
    candidate.decode = structure.decoder(own, structure.loss(own, data));
  }
  return out;
}

TrainOptions refit_options(const CvResult& result, const CvOptions& options) {
  TrainOptions out = detail::options_of(result.candidates[result.best.candidate], options.train);
  out.lambda = result.best.lambda;
  out.gamma = options.gammas[result.best.gamma];
  return out;
}

std::size_t CvResult::unconverged() const {
  return static_cast<std::size_t>(
      std::count_if(cells.begin(), cells.end(), [](const CvCell& cell) { return !cell.converged; }));
}

CvResult cross_validate(const Dataset& data, std::span<const double> raw_target, const CvOptions& options,
                        const Context& context) {
  return detail::CrossValidation(data, raw_target, options, context).run();
}

}  // namespace m4n
