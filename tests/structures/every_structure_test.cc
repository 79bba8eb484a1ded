// What holds for every structure, whatever it predicts. The structures are those of the registry (and at-most-two,
// which this program links in), the data are those that a structure generates, and what it can train is found by
// asking: so a new structure is tested here as soon as it is registered.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>

#include "core/checksum.h"
#include "core/rng.h"
#include "solvers/checkpoint.h"
#include "structures/every_structure.h"

namespace m4n::detail {
using namespace test;  // NOLINT(google-build-using-namespace): the fixture
namespace {

#define M4N_TRACE(options) SCOPED_TRACE(std::string("surrogate ") + to_string((options).surrogate))

TEST_P(EveryStructure, WeakDuality) {
  const GeneratedFile file = generated(30);
  for (const TrainOptions& options : trainable(file)) {
    M4N_TRACE(options);
    std::size_t reports = 0;
    Context context;
    context.threads = 1;
    context.observe = [&](const Progress& progress) {
      ++reports;
      EXPECT_GE(progress.primal, progress.dual - 1e-9 * (1 + std::abs(progress.primal)));
    };
    const Certificate found = fit(file.data, options, context).report.certificate;
    EXPECT_GT(reports, 0U);
    EXPECT_GE(found.gap(), -slack(found));
    EXPECT_LE(found.relative_gap(), options.tol);
    EXPECT_TRUE(found.converged);
  }
}

TEST_P(EveryStructure, TheDualNeverFalls) {
  const GeneratedFile file = generated(30);
  for (TrainOptions options : trainable(file)) {
    M4N_TRACE(options);
    options.tol = 1e-6;
    double last = -std::numeric_limits<double>::infinity(), first = last;
    for (const int epochs : {1, 2, 4, 8, 16}) {
      options.epochs = epochs;
      const FitResult found = fit(file.data, options, {1, {}, {}});
      EXPECT_LE(found.report.epochs, epochs);
      EXPECT_GE(found.report.certificate.dual, last - slack(found.report.certificate)) << epochs;
      last = found.report.certificate.dual;
      if (epochs == 1) first = last;
    }
    // Or there was nothing to do.
    EXPECT_TRUE(last > first || surrogate_row(options.surrogate).closed_form) << last;
  }
}

TEST_P(EveryStructure, SolversAgree) {
  const GeneratedFile file = generated(12);
  for (const TrainOptions& usual : trainable(file)) {
    M4N_TRACE(usual);
    const Certificate expected = fit(file.data, usual, {1, {}, {}}).report.certificate;
    for (const SolverKind solver : {SolverKind::automatic, SolverKind::prox, SolverKind::atoms, SolverKind::smooth,
                                    SolverKind::gbcfw, SolverKind::lbfgs})
      for (const OracleKind oracle : {OracleKind::exact, OracleKind::spmp}) {
        TrainOptions options = usual;
        options.solver = solver;
        options.oracle = oracle;
        options.epochs = 100;
        if (is_refused(options)) continue;
        SCOPED_TRACE(fmt::format("solver {}, oracle {}", to_string(solver), to_string(oracle)));
        const TrainReport report = fit(file.data, options, {1, {}, {}}).report;
        expect_agreement(report.certificate, expected);
        EXPECT_LE(report.certificate.relative_gap(), oracle == OracleKind::exact ? 0.05 : 0.8) << "too wide a bracket";
        if (solver != SolverKind::automatic) {
          EXPECT_NE(report.solver.find(to_string(solver)), std::string::npos) << report.solver;
        }
      }
  }
}

TEST_P(EveryStructure, LoadedIsSaved) {
  const GeneratedFile file = generated(24), fresh = generated(20, 2);
  for (const TrainOptions& options : trainable(file)) {
    M4N_TRACE(options);
    const Model model = fit(file.data, options, {1, {}, {}}).model;
    const test::TempDir folder;
    model.save(folder / "model");
    const Model loaded = Model::load(folder / "model");
    EXPECT_EQ(text_of(folder / "model"), loaded.to_bytes());
    const auto predicted = [&](const Model& by) {
      return by.predict(read(fresh.path(), by, {}, Truth::required).data);
    };
    EXPECT_EQ(predicted(model), predicted(loaded));
    const std::vector<NamedArray> before = structure().arrays(model), after = structure().arrays(loaded);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t a = 0; a < before.size(); ++a) EXPECT_EQ(before[a].values, after[a].values) << before[a].name;
  }
}

// Structures without weights say so rather than overlook them.
bool refuses_weights(const Dataset& data, const TrainOptions& options) {
  if (structure_named(options.task).takes("weights")) return false;
  try {
    fit(data, options, {1, {}, {}});
    return false;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("weights of "), std::string::npos) << error.what();
    return true;
  }
}

// For standardising, too, every row counts as often as its example.
TEST_P(EveryStructure, WeightsAreRepetitions) {
  const GeneratedFile file = generated(18);
  Dataset weighted = file.data;
  std::vector<std::size_t> repeated;
  for (std::size_t i = 0; i < file.data.examples(); ++i) {
    weighted.weight.push_back(1 + static_cast<double>(i % 3));
    repeated.insert(repeated.end(), 1 + i % 3, i);
  }
  std::vector<TrainOptions> all = trainable(file);
  for (std::size_t i = all.size(); i-- > 0;) {
    if (!all[i].standardize.value_or(true)) continue;
    all.push_back(all[i]);
    all.back().standardize = false;
  }
  for (TrainOptions& options : all) {
    M4N_TRACE(options);
    options.lambda = usual_lambda(options, file.data);
    options.tol = 1e-3;
    if (refuses_weights(weighted, options)) continue;
    const Certificate by_weight = fit(weighted, options, {1, {}, {}}).report.certificate;
    const Certificate by_repetition = fit(subset(file.data, repeated), options, {1, {}, {}}).report.certificate;
    const Certificate unweighted = fit(file.data, options, {1, {}, {}}).report.certificate;
    expect_agreement(by_weight, by_repetition);
    // The weights make a difference at all.
    EXPECT_TRUE(unweighted.dual > by_weight.primal || by_weight.dual > unweighted.primal);
  }
}

// More examples than a chunk of work has, so that there is something to share out.
TEST_P(EveryStructure, ThreadsChangeNoBit) {
  const GeneratedFile file = generated(600);
  for (TrainOptions options : trainable(file)) {
    M4N_TRACE(options);
    options.epochs = 2;
    const Model one = fit(file.data, options, {1, {}, {}}).model, three = fit(file.data, options, {3, {}, {}}).model;
    EXPECT_EQ(one.to_bytes(), three.to_bytes());
    EXPECT_EQ(one.predict(file.data, {1, {}, {}}), one.predict(file.data, {3, {}, {}}));
  }
}

TEST_P(EveryStructure, StoppedTrainingLeavesAModel) {
  const GeneratedFile file = generated(30);
  for (TrainOptions options : trainable(file)) {
    M4N_TRACE(options);
    options.tol = 1e-9;
    int stops = 0;
    for (const int questions : {0, 1, 5}) {
      int asked = 0;
      Context context;
      context.threads = 1;
      context.cancelled = [&] { return asked++ >= questions; };
      const FitResult found = fit(file.data, options, context);
      if (asked <= questions) continue;  // it was done before
      ++stops;
      EXPECT_TRUE(found.report.interrupted);
      const Model kept = Model::from_bytes(found.model.to_bytes(), "kept");
      EXPECT_TRUE(kept.common().interrupted);
      EXPECT_LE(kept.certificate().dual, kept.certificate().primal + slack(kept.certificate()));
      EXPECT_EQ(kept.predict(file.data).size(), file.data.label.size());
    }
    EXPECT_GT(stops, 0);
    const FitResult whole = fit(file.data, options, {1, {}, [] { return false; }});
    EXPECT_FALSE(whole.report.interrupted);
  }
}

// Told to stop again and again, training goes on from its checkpoint and ends with the bytes of a run that never
// stopped, whatever solver it was in.
TEST_P(EveryStructure, ResumedTrainingEndsTheSame) {
  const GeneratedFile file = generated(30);
  const test::TempDir folder;
  int resumed = 0;
  for (const TrainOptions& usual : trainable(file))
    for (const SolverKind solver : {SolverKind::automatic, SolverKind::prox, SolverKind::atoms, SolverKind::smooth,
                                    SolverKind::gbcfw, SolverKind::lbfgs}) {
      M4N_TRACE(usual);
      SCOPED_TRACE(fmt::format("solver {}", to_string(solver)));
      TrainOptions options = usual;
      options.solver = solver;
      options.tol = 1e-5;
      options.epochs = 40;
      if (is_refused(options)) continue;
      const std::string whole = fit(file.data, options, {1, {}, [] { return false; }}).model.to_bytes();
      std::string found;
      options.checkpoint = folder / "kept";
      std::remove(options.checkpoint.c_str());
      options.resume.clear();
      Rng luck(1);
      for (std::uint64_t run = 1; run < 200 && found.empty(); ++run) {  // that get farther and farther
        std::uint64_t asked = 0;
        const std::uint64_t most = 4 * run + luck.below(3 * run);
        FitResult result = fit(file.data, options, {1, {}, [&] { return asked++ >= most; }});
        if (!result.report.interrupted) found = result.model.to_bytes();
        resumed += options.resume.empty() ? 0 : 1;
        if (std::ifstream(options.checkpoint)) options.resume = options.checkpoint;
      }
      EXPECT_TRUE(found == whole) << (found.empty() ? "it got nowhere" : "other bytes");
      for (const int fewer : {1, 2, 3, 5, 8, 13}) {
        TrainOptions first = options;
        first.epochs = fewer;
        first.resume.clear();
        std::remove(options.checkpoint.c_str());
        fit(file.data, first, {1, {}, {}});
        if (!std::ifstream(options.checkpoint)) continue;  // solved in one go
        options.resume = options.checkpoint;
        EXPECT_TRUE(fit(file.data, options, {1, {}, {}}).model.to_bytes() == whole) << "after " << fewer << " epochs";
      }
    }
  EXPECT_GT(resumed, 0);
}

struct SolvedLambda {
  double primal, dual, norm_squared;
  int epochs;
  bool operator==(const SolvedLambda&) const = default;
};

// The same for a path of lambdas, as cross-validation runs it: what was made of the lambdas that are over is kept.
TEST_P(EveryStructure, ResumedPathsEndTheSame) {
  const GeneratedFile file = generated(30);
  const test::TempDir folder;
  const std::string kept = folder / "kept";
  int resumed = 0;
  for (const TrainOptions& usual : trainable(file))
    for (const SolverKind solver : {SolverKind::automatic, SolverKind::smooth, SolverKind::gbcfw, SolverKind::lbfgs}) {
      M4N_TRACE(usual);
      SCOPED_TRACE(fmt::format("solver {}", to_string(solver)));
      TrainOptions options = usual;
      options.solver = solver;
      options.tol = 1e-5;
      options.epochs = 40;
      if (is_refused(options)) continue;
      options = completed(options);
      const auto set = structure().prepare(file.data, options, {1, {}, {}});
      const double usual_one = usual_lambda(options, file.data);
      const std::vector<double> lambdas{4 * usual_one, usual_one, usual_one / 8, usual_one / 64};
      const auto solved = [&](Context context) {
        std::vector<SolvedLambda> out;
        const auto state = [&](auto& a) { a(out); };
        if (context.checkpoint) context.checkpoint->keep(state);
        if (context.checkpoint && std::ifstream(kept)) context.checkpoint->resume(kept);
        const std::size_t known = out.size();
        std::size_t emitted = 0;
        set->solve(options, Decoder::automatic, lambdas, context, [&](std::unique_ptr<Solution> solution) {
          const SolveResult& found = solution->result;
          if (emitted++ >= known && !found.interrupted)
            out.push_back({found.certificate.primal, found.certificate.dual, solution->norm_squared, found.epochs});
        });
        return out;
      };
      const std::vector<SolvedLambda> whole = solved({1, {}, [] { return false; }});
      std::remove(kept.c_str());
      std::vector<SolvedLambda> found;
      for (int run = 1; run < 400 && found.size() < lambdas.size(); ++run) {
        resumed += std::ifstream(kept) ? 1 : 0;
        int asked = 0;
        Context context{1, {}, [&] { return asked++ >= 7 * run; }};
        context.checkpoint =
            std::make_shared<Checkpoint>(kept, 1e9, Checkpoint::Saves::when_due_and_at_end, Settings{}, std::string());
        found = solved(context);
      }
      EXPECT_EQ(found, whole);
    }
  EXPECT_GT(resumed, 0);
}

// What the checksum cannot find: files that were made to deceive. They are refused, or lead to some model.
TEST_P(EveryStructure, ForgedCheckpointsDoNoHarm) {
  const GeneratedFile file = generated(12);
  const test::TempDir folder;
  Rng rng(1);
  for (TrainOptions options : trainable(file)) {
    M4N_TRACE(options);
    options.checkpoint = folder / "kept";
    options.tol = 1e-9;
    int asked = 0;
    fit(file.data, options, {1, {}, [&] { return asked++ >= 12; }});
    if (!std::ifstream(options.checkpoint)) continue;
    const std::string whole = text_of(options.checkpoint);
    const std::size_t start = whole.find(options.task);  // behind the version
    TrainOptions other = options;
    other.checkpoint.clear();
    for (int trial = 0; trial < 40; ++trial) {
      std::string forged = whole.substr(0, whole.size() - sizeof(std::uint64_t));
      const std::size_t at = start + rng.below(forged.size() - start);
      for (std::size_t byte = 0; byte < std::min<std::size_t>(1 + trial % 8, forged.size() - at); ++byte)
        forged[at + byte] = static_cast<char>(trial % 3 == 0 ? 0xff : rng.below(256));
      append_little_endian(&forged, crc64(forged));
      std::ofstream(folder / "forged", std::ios::binary) << forged;
      for (std::string TrainOptions::*way : {&TrainOptions::resume, &TrainOptions::init}) {
        other.resume.clear();
        other.init.clear();
        other.*way = folder / "forged";
        asked = 0;
        try {
          fit(file.data, other, {1, {}, [&] { return asked++ >= 100; }});
        } catch (const Error& error) {
          EXPECT_NE(error.what(), std::string());
        }
      }
    }
    std::remove(options.checkpoint.c_str());
  }
}

TEST_P(EveryStructure, CheckpointsOfOtherDataAreRefused) {
  const GeneratedFile file = generated(30);
  const test::TempDir folder;
  for (TrainOptions options : trainable(file)) {
    M4N_TRACE(options);
    options.checkpoint = folder / "kept";
    fit(file.data, options, {1, {}, {}});
    if (!std::ifstream(options.checkpoint)) continue;  // solved in one go
    TrainOptions other = options;
    other.resume = options.checkpoint;
    other.seed = 7;
    EXPECT_THROW(fit(file.data, other, {1, {}, {}}), Error);
    other.seed = options.seed;
    EXPECT_THROW(fit(generated(24).data, other, {1, {}, {}}), Error);
    EXPECT_NO_THROW(fit(file.data, other, {1, {}, {}}));
    std::string damaged = text_of(options.checkpoint);
    for (const std::size_t at : {std::size_t{3}, damaged.size() / 2, damaged.size() - 1}) {
      std::string bytes = damaged;
      bytes[at] = static_cast<char>(bytes[at] ^ 1);
      std::ofstream(options.checkpoint, std::ios::binary) << bytes;
      EXPECT_THROW(fit(file.data, other, {1, {}, {}}), Error) << at;
    }
    std::ofstream(options.checkpoint, std::ios::binary) << damaged.substr(0, damaged.size() / 2);
    EXPECT_THROW(fit(file.data, other, {1, {}, {}}), Error);
    std::remove(options.checkpoint.c_str());
  }
}

// ---- bad input

// Reads and fits; anything but success or an Error with a message escapes. Says whether it was refused.
bool refuses(const std::string& path, TrainOptions options) {
  options.epochs = 1;
  try {
    const TrainingData found = read(path, options);
    fit(found.data, options, {1, {}, {}});
    return false;
  } catch (const Error& error) {
    EXPECT_NE(error.what(), std::string());
    return true;
  }
}

TEST_P(EveryStructure, FilesOfNothingAreRefused) {
  const test::TempDir folder;
  TrainOptions options;
  options.task = structure().name();
  for (const std::string& text :
       {std::string(), std::string("\n\n\n"), std::string("\0\xff\xfe\x01 1\n", 7),
        std::string("nothing that anyone would know\n"), std::string(1000, ','), std::string("\x1f\x8b\x08 no gzip")}) {
    std::ofstream(folder / "data", std::ios::binary) << text;
    EXPECT_TRUE(refuses(folder / "data", options)) << text;
  }
  EXPECT_TRUE(refuses(folder / "missing", options));
}

TEST_P(EveryStructure, DamagedFilesAreReadOrRefused) {
  const GeneratedFile file = generated(6);
  const std::string text = text_of(file.path());
  Rng rng(1);
  std::size_t refused = 0;
  const auto offer = [&](const std::string& damaged) {
    std::ofstream(file.path(), std::ios::binary) << damaged;
    refused += refuses(file.path(), file.options) ? 1 : 0;
  };
  for (int trial = 0; trial < 60; ++trial) {
    const std::size_t place = rng.below(text.size());
    offer(text.substr(0, place));
    std::string damaged = text;
    damaged[place] = "\0\n,:-9xe_ "[rng.below(10)];
    offer(damaged);
    const std::size_t line = text.find('\n', place), next = text.find('\n', line + 1);
    if (next != std::string::npos) offer(text.substr(0, line + 1) + "nan," + text.substr(line + 1, next) + "inf");
  }
  EXPECT_GT(refused, 30U);
}

TEST_P(EveryStructure, NumbersThatAreNoneAreRefused) {
  const GeneratedFile file = generated(12);
  for (const TrainOptions& options : trainable(file))
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      M4N_TRACE(options);
      Dataset data = file.data;
      data.weight.assign(data.examples(), 1.0);
      data.weight[3] = bad;
      EXPECT_THROW(fit(data, options), Error);
      data = file.data;
      std::vector<double>& values = std::visit(
          [](auto& x) -> std::vector<double>& {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, DenseMatrix>)
              return x.values;
            else
              return x.value;
          },
          data.x);
      if (values.empty()) continue;  // attributes of texts: each is there or not
      values[values.size() / 2] = bad;
      EXPECT_THROW(fit(data, options), Error);
    }
}

// A value of the option that is not its default, whatever it looks like.
bool give(const OptionRow& row, TrainOptions& options) {
  std::vector<std::string> values{"3", "2x2", "x", "0.5", ""};
  for (std::size_t first = 0; first <= row.value.size();) {
    const std::size_t end = std::min(row.value.find('|', first), row.value.size());
    values.push_back(row.value.substr(first, end - first));
    first = end + 1;
  }
  for (const std::string& value : values) {
    TrainOptions changed = options;
    try {
      row.set(changed, value);
    } catch (const UsageError&) {
      continue;
    }
    if (!row.given(changed)) continue;
    options = changed;
    return true;
  }
  return false;
}

TEST_P(EveryStructure, OptionsOfOtherTasksAreRefused) {
  for (const OptionRow& row : train_option_table()) {
    if (row.scope != OptionScope::some_tasks) continue;
    SCOPED_TRACE(row.name);
    TrainOptions options;
    options.task = structure().name();
    EXPECT_NO_THROW(validate(options));
    ASSERT_TRUE(give(row, options)) << row.value;
    if (structure().takes(row.name)) continue;
    try {
      validate(options);
      ADD_FAILURE() << "taken";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("--task"), std::string::npos) << error.what();
    }
  }
}

// ---- units

// The usual lambda and the usual path go by the costs: the same costs in cents or in euros predict the same.
TEST_P(EveryStructure, UnitsOfCostsDoNotMatter) {
  const GeneratedFile file = generated(24), fresh = generated(40, 2);
  const std::size_t labels = file.data.class_names.size();
  for (TrainOptions options : trainable(file)) {
    M4N_TRACE(options);
    options.lambda = std::nullopt;
    std::vector<double> cost = structure().loss(options, file.data).values;
    if (cost.empty() && structure().traits().losses == LossFamily::label_sets) cost.assign(2 * labels, 1.0);
    if (cost.empty() && structure().traits().losses == LossFamily::rankings) cost.assign(labels, 1.0);
    const auto with_costs = [&](double scale) {
      TrainOptions own = options;
      own.loss.clear();
      for (const double c : cost) own.cost.push_back(scale * c);
      return own;
    };
    try {
      structure().loss(with_costs(1), file.data);
    } catch (const Error&) {
      continue;  // has one loss only
    }
    if (cost.empty()) continue;
    const auto fitted = [&](double scale) { return fit(file.data, with_costs(scale), {1, {}, {}}); };
    const auto predicted = [&](const FitResult& by) {
      return by.model.predict(read(fresh.path(), by.model, {}, Truth::required).data);
    };
    const auto searched = [&](double scale) {
      CvOptions search;
      search.train = with_costs(scale);
      search.candidates = {{options.surrogate, 0, Decoder::automatic}};
      search.plan.folds = 3;
      return cross_validate(file.data, {}, search, {2, {}, {}});
    };
    const FitResult expected = fitted(1);
    const CvResult found = searched(1);
    // Powers of two scale without rounding: every number is the same, ties included.
    for (const double scale : {0x1p-20, 0x1p20}) {
      SCOPED_TRACE(scale);
      const std::vector<std::int32_t> one = predicted(expected), other = predicted(fitted(scale));
      ASSERT_EQ(one.size(), other.size());
      const auto differing = static_cast<std::size_t>(
          std::inner_product(one.begin(), one.end(), other.begin(), 0, std::plus<>(), std::not_equal_to<>()));
      // Games of permutations are solved by interior points, to a tolerance.
      const bool exact = structure().traits().losses != LossFamily::rankings;
      EXPECT_LE(differing, exact ? 0 : one.size() / 20);
      const CvResult scaled = searched(scale);
      ASSERT_EQ(scaled.cells.size(), found.cells.size());
      for (std::size_t c = 0; c < found.cells.size(); ++c)
        EXPECT_NEAR(scaled.cells[c].validation, scale * found.cells[c].validation, (exact ? 1e-12 : 0.1) * scale);
    }
    // Other numbers to rounding, so to the tolerance of the fit: the objective grows as the costs do, or not at all.
    for (const double scale : {1e-6, 1e6}) {
      SCOPED_TRACE(scale);
      const bool squares = surrogate_row(options.surrogate).closed_form;
      const double before = expected.report.certificate.primal, now = fitted(scale).report.certificate.primal;
      const auto grew_by = [&](double factor) { return std::abs(now / factor / before - 1) <= 2 * options.tol; };
      EXPECT_TRUE(surrogate_row(options.surrogate).contains_costs ? grew_by(scale)
                                                                  : grew_by(1) || (squares && grew_by(scale * scale)))
          << before << " " << now;
    }
  }
}

// ---- judging

// What a fold is told of the others shows in its scaling, its kernel or its weights, and so in the last digit of the
// certificate.
TEST_P(EveryStructure, FoldsKnowNothingOfEachOther) {
  const GeneratedFile file = generated(24);
  const Dataset data = without_ties(file.data);
  CvOptions options;
  options.train = file.options;
  options.train.tol = tolerance;
  options.candidates.clear();
  for (const TrainOptions& own : trainable(file)) options.candidates.push_back({own.surrogate, 0, Decoder::automatic});
  options.lambdas = {0.1};
  options.extend = false;
  options.plan.folds = 3;
  for (const FeatureKind features : {FeatureKind::linear, FeatureKind::rbf}) {
    options.train.features = features;
    if (is_refused(options.train)) continue;
    const CvResult found = cross_validate(data, {}, options, {2, {}, {}});
    const std::vector<Split> splits =
        make_splits(data.examples(), options.plan, options.train.seed, strata_of(options.train.task, data));
    ASSERT_EQ(found.cells.size(), splits.size() * options.candidates.size());
    for (const CvCell& cell : found.cells) {
      TrainOptions own = options.train;
      own.surrogate = found.candidates[cell.candidate].surrogate;
      own.decode = found.candidates[cell.candidate].decode;
      own.lambda = cell.lambda;
      M4N_TRACE(own);
      const Split& split = splits[cell.split];
      const FitResult by_hand = fit(subset(data, split.train), own, {1, {}, {}});
      EXPECT_EQ(cell.relative_gap, by_hand.report.certificate.relative_gap());
      const auto loss_on = [&](const std::vector<std::size_t>& examples) {
        const Dataset part = subset(data, examples);
        return evaluate(by_hand.model, part, by_hand.model.predict(part)).loss;
      };
      EXPECT_NEAR(cell.validation, loss_on(split.validation), 1e-12);
      EXPECT_NEAR(cell.test, loss_on(split.test), 1e-12);
    }
  }
}

TEST_P(EveryStructure, ATallyOfAllIsTheEvaluation) {
  const GeneratedFile file = generated(40), fresh = generated(40, 2);
  const Model model = fit(file.data, trainable(file).front(), {1, {}, {}}).model;
  Examples examples = read(fresh.path(), model, {}, Truth::required);
  const std::vector<std::int32_t> predicted = model.predict(examples.data);
  for (const bool weighted : {false, true}) {
    SCOPED_TRACE(weighted);
    if (weighted)
      for (std::size_t i = 0; i < examples.data.examples(); ++i)
        examples.data.weight.push_back(static_cast<double>(i % 4));
    const Evaluation whole = evaluate(model, examples, predicted);
    const auto evaluator = structure().evaluator(model, examples, predicted);
    EXPECT_EQ(evaluator->examples(), weighted ? 30U : 40U);
    const auto tally = evaluator->tally();
    // Twice: clear() must forget the first time.
    for (int time = 0; time < 2; ++time) {
      tally->clear();
      for (std::size_t i = 0; i < evaluator->examples(); ++i) tally->add(i);
      const std::vector<double> values = tally->values();
      ASSERT_EQ(values.size(), 1 + whole.metrics.size());
      EXPECT_NEAR(values[0], whole.loss, 1e-12);
      for (std::size_t m = 0; m < whole.metrics.size(); ++m)
        EXPECT_NEAR(values[1 + m], whole.metrics[m].second, 1e-12) << whole.metrics[m].first;
    }
    EXPECT_GT(whole.loss, 0) << "too easy to show anything";
  }
}

TEST_P(EveryStructure, TheBootstrapHoldsTheEstimate) {
  const GeneratedFile file = generated(40), fresh = generated(60, 2);
  const Model model = fit(file.data, trainable(file).front(), {1, {}, {}}).model;
  const Examples examples = read(fresh.path(), model, {}, Truth::required);
  const std::vector<std::int32_t> predicted = model.predict(examples.data);
  const Evaluation whole = evaluate(model, examples, predicted);
  const Bootstrap found = bootstrap(model, examples, predicted, 200, 1, {1, {}, {}});
  EXPECT_LT(found.loss.low, whole.loss);
  EXPECT_GT(found.loss.high, whole.loss);
  ASSERT_EQ(found.metrics.size(), whole.metrics.size());
  const auto rows = [](const Bootstrap& b) {
    std::vector<double> out{b.loss.low, b.loss.high, b.loss.se};
    for (const auto& [name, interval] : b.metrics) out.insert(out.end(), {interval.low, interval.high, interval.se});
    return out;
  };
  for (std::size_t m = 0; m < whole.metrics.size(); ++m) {
    const auto& [name, interval] = found.metrics[m];
    EXPECT_EQ(name, whole.metrics[m].first);
    // Metrics that are no means are biased on resamples, by less than they spread.
    EXPECT_GE(whole.metrics[m].second, interval.low - interval.se) << name;
    EXPECT_LE(whole.metrics[m].second, interval.high + interval.se) << name;
  }
  EXPECT_EQ(rows(found), rows(bootstrap(model, examples, predicted, 200, 1, {3, {}, {}})));
  EXPECT_NE(rows(found), rows(bootstrap(model, examples, predicted, 200, 2, {1, {}, {}})));
}

INSTANTIATE_TEST_SUITE_P(, EveryStructure, testing::ValuesIn(structures()), [](const auto& one) {
  std::string name = one.param->name();
  std::replace(name.begin(), name.end(), '-', '_');  // names of tests have no dashes
  return name;
});

}  // namespace
}  // namespace m4n::detail
