// The option table and its rules: what is accepted, what is refused, and that refusals name option, value and remedy.
#include "m4n/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/option_values.h"
#include "m4n/error.h"

namespace m4n::detail {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void set(TrainOptions& options, const std::string& name, const std::string& value) {
  const auto& table = train_option_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const OptionRow& r) { return r.name == name; });
  ASSERT_NE(row, table.end()) << name;
  row->set(options, value);
}

TrainOptions with(const std::vector<std::pair<std::string, std::string>>& settings) {
  TrainOptions options;
  for (const auto& [name, value] : settings) set(options, name, value);
  return options;
}

// The message of the UsageError that `action` throws; empty if it throws none.
template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string value_refusal(const std::string& name, const std::string& value) {
  return refusal([&] { with({{name, value}}); });
}

std::string combination_refusal(const std::vector<std::pair<std::string, std::string>>& settings) {
  const TrainOptions options = with(settings);
  return refusal([&] { validate(options); });
}

TEST(OptionTable, NamesAreUniqueAndEveryRowExplainsItself) {
  std::set<std::string> names;
  for (const OptionRow& row : train_option_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_NE(row.value.empty(), row.name != "require-converged") << row.name;
    EXPECT_EQ(row.value.empty(), row.fallback.empty()) << row.name;
  }
}

// Every word a row shows is a word it takes, and the defaults shown are the defaults of the struct.
TEST(OptionTable, ShownWordsAreAccepted) {
  for (const OptionRow& row : train_option_table()) {
    std::string word;
    std::istringstream words(row.value);
    while (row.value.find('|') != std::string::npos && std::getline(words, word, '|')) {
      if (word == "X" || word == "N" || word == "Nx") continue;  // stands for a number
      if (word == "precision@K") word = "precision@3";
      EXPECT_EQ(value_refusal(row.name, word), "") << row.name << " " << word;
    }
  }
}

TEST(OptionTable, ShownDefaultsAreTheDefaults) {
  TrainOptions shown;
  for (const char* name : {"surrogate", "smoothing", "tol", "epochs", "solver", "oracle", "oracle-iterations",
                           "warm-start", "binning", "bias", "format", "seed"}) {
    const auto& table = train_option_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const OptionRow& r) { return r.name == name; });
    ASSERT_NE(row, table.end()) << name;
    row->set(shown, row->fallback);
  }
  const TrainOptions initial;
  EXPECT_EQ(shown.surrogate, initial.surrogate);
  EXPECT_EQ(shown.smoothing, initial.smoothing);
  EXPECT_EQ(shown.tol, initial.tol);
  EXPECT_EQ(shown.epochs, initial.epochs);
  EXPECT_EQ(shown.solver, initial.solver);
  EXPECT_EQ(shown.oracle, initial.oracle);
  EXPECT_EQ(shown.oracle_iterations, initial.oracle_iterations);
  EXPECT_EQ(shown.warm_start, initial.warm_start);
  EXPECT_EQ(shown.binning, initial.binning);
  EXPECT_EQ(shown.bias, initial.bias);
  EXPECT_EQ(shown.read.format, initial.read.format);
  EXPECT_EQ(shown.seed, initial.seed);
}

TEST(OptionTable, SetsWhatItSays) {
  const TrainOptions o = with({{"task", "ordinal"},
                               {"surrogate", "crf"},
                               {"decode", "expected"},
                               {"loss", "costs.csv"},
                               {"lambda", "2^-10"},
                               {"tol", "1e-9"},
                               {"epochs", "7"},
                               {"time-limit", "0.5"},
                               {"solver", "lbfgs"},
                               {"average", "no"},
                               {"step", "line-search"},
                               {"target", "grade"},
                               {"id", "name"},
                               {"weights", "w"},
                               {"bins", "5"},
                               {"binning", "width"},
                               {"class-weight", "balanced"},
                               {"standardize", "no"},
                               {"bias", "no"},
                               {"format", "libsvm"},
                               {"require-converged", ""},
                               {"seed", "18446744073709551615"}});
  EXPECT_EQ(o.task, "ordinal");
  EXPECT_EQ(o.surrogate, SurrogateKind::crf);
  EXPECT_EQ(o.decode, Decoder::expected);
  EXPECT_EQ(o.loss, "costs.csv");
  EXPECT_EQ(o.lambda, 1.0 / 1024);
  EXPECT_EQ(o.tol, 1e-9);
  EXPECT_EQ(o.epochs, 7);
  EXPECT_EQ(o.time_limit, 0.5);
  EXPECT_EQ(o.solver, SolverKind::lbfgs);
  EXPECT_EQ(o.average, false);
  EXPECT_EQ(o.step, StepRule::line_search);
  EXPECT_EQ(o.read.target, "grade");
  EXPECT_EQ(o.read.id, "name");
  EXPECT_EQ(o.read.weights, "w");
  EXPECT_EQ(o.bins, 5);
  EXPECT_EQ(o.binning, Binning::width);
  EXPECT_EQ(o.class_weight, "balanced");
  EXPECT_EQ(o.standardize, false);
  EXPECT_FALSE(o.bias);
  EXPECT_EQ(o.read.format, "libsvm");
  EXPECT_TRUE(o.require_converged);
  EXPECT_EQ(o.seed, std::numeric_limits<std::uint64_t>::max());
}

class BadNumber : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadNumber, IsRefusedWithOptionAndValue) {
  const auto [name, value] = GetParam();
  EXPECT_THAT(value_refusal(name, value), AllOf(HasSubstr(std::string("--") + name),
                                                HasSubstr(std::string("'") + value + "'"), HasSubstr("expected")));
}

INSTANTIATE_TEST_SUITE_P(
    Options, BadNumber,
    ::testing::Values(std::pair{"lambda", "0"}, std::pair{"lambda", "-1"}, std::pair{"lambda", "nan"},
                      std::pair{"lambda", "inf"}, std::pair{"lambda", "1e400"}, std::pair{"lambda", "1e-400"},
                      std::pair{"lambda", "0.1x"}, std::pair{"lambda", " 0.1"}, std::pair{"lambda", "0,1"},
                      std::pair{"lambda", ""}, std::pair{"lambda", "2^"}, std::pair{"lambda", "^2"},
                      std::pair{"lambda", "2^-10^2"}, std::pair{"lambda", "2^-5000"}, std::pair{"lambda", "-2^3"},
                      std::pair{"lambda", "0x10"}, std::pair{"lambda", "+-1"}, std::pair{"tol", "0"},
                      std::pair{"tol", "1"}, std::pair{"tol", "-1e-3"}, std::pair{"smoothing", "-0.1"},
                      std::pair{"smoothing", "nan"}, std::pair{"smoothing", "1e-7"}, std::pair{"smoothing", "1e7"},
                      std::pair{"lambda", "9e-31"}, std::pair{"lambda", "2e30"}, std::pair{"epochs", "0"},
                      std::pair{"epochs", "1.5"}, std::pair{"epochs", "1e3"}, std::pair{"epochs", "-3"},
                      std::pair{"epochs", "2147483648"}, std::pair{"time-limit", "0"}, std::pair{"bins", "1"},
                      std::pair{"bins", "1001"}, std::pair{"seed", "-1"}, std::pair{"seed", "18446744073709551616"},
                      std::pair{"oracle-iterations", "0"}, std::pair{"warm-start", "true"}, std::pair{"bias", "1"},
                      std::pair{"target", ""}));

TEST(Numbers, GoodOnesAreRead) {
  const RealRange any{-10, 10, true, false, "any"};
  EXPECT_EQ(parse_real("x", "-10", any), -10.0);
  EXPECT_THROW(parse_real("x", "10", any), UsageError);
  EXPECT_EQ(parse_real("x", "+2.5", any), 2.5);
  EXPECT_EQ(parse_real("x", "2^-1", any), 0.5);
  EXPECT_EQ(parse_real("x", ".5", any), 0.5);
  EXPECT_EQ(parse_whole("x", "7", 7, 7), 7u);
}

TEST(Words, UnknownOnesListTheValidAndTheNearest) {
  EXPECT_THAT(value_refusal("surrogate", "m5n"), AllOf(HasSubstr("--surrogate"), HasSubstr("'m5n'"),
                                                       HasSubstr("Did you mean"), HasSubstr("m4n, m3n, crf, qs")));
  EXPECT_THAT(value_refusal("solver", "fantasy"), AllOf(HasSubstr("'fantasy'"), Not(HasSubstr("Did you mean"))));
  EXPECT_THAT(value_refusal("loss", "zero-on"),
              AllOf(HasSubstr("'zero-one'"), HasSubstr("absolute"), HasSubstr("CSV")));
  EXPECT_THAT(value_refusal("decode", "auto"), HasSubstr("argmax, adversary, expected"));
}

TEST(Words, AWordCutShortMeansTheOneThatBeginsWithIt) {
  const std::vector<std::string> valid{"--bias", "--lambda", "--landmarks", "--log"};
  EXPECT_EQ(nearest_word("--lam", valid), "--lambda");
  EXPECT_EQ(nearest_word("--la", valid), "--lambda");
  EXPECT_EQ(nearest_word("--lan", valid), "--landmarks");
  EXPECT_EQ(nearest_word("--lamda", valid), "--lambda");
  EXPECT_EQ(nearest_word("--zzzz", valid), "");
}

TEST(Words, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("abc", "acb"), 2u);
}

TEST(Validate, DefaultsAndUsualChoicesPass) {
  EXPECT_EQ(combination_refusal({}), "");
  EXPECT_EQ(combination_refusal({{"smoothing", "1"}, {"decode", "expected"}}), "");
  EXPECT_EQ(combination_refusal({{"decode", "adversary"}}), "");
  EXPECT_EQ(combination_refusal({{"surrogate", "crf"}, {"decode", "expected"}, {"solver", "lbfgs"}}), "");
  EXPECT_EQ(combination_refusal({{"surrogate", "qs"}, {"decode", "expected"}}), "");
  EXPECT_EQ(combination_refusal({{"oracle", "spmp"}, {"oracle-iterations", "50"}, {"step", "line-search"}}), "");
  EXPECT_EQ(combination_refusal({{"oracle", "spmp"}, {"solver", "gbcfw"}, {"average", "yes"}}), "");
  EXPECT_EQ(combination_refusal({{"solver", "gbcfw"}, {"step", "paper"}, {"surrogate", "m3n"}}), "");
  EXPECT_EQ(combination_refusal({{"bins", "5"}, {"binning", "width"}}), "");
  EXPECT_EQ(combination_refusal({{"bins", "5"}, {"task", "ordinal"}}), "");
}

TEST(Validate, MeaninglessCombinationsAreRefusedWithReasons) {
  for (const char* other : {"m3n", "crf", "qs"}) {
    EXPECT_THAT(combination_refusal({{"surrogate", other}, {"smoothing", "1"}}),
                AllOf(HasSubstr("--smoothing"), HasSubstr(other)));
    EXPECT_THAT(combination_refusal({{"surrogate", other}, {"decode", "adversary"}}),
                AllOf(HasSubstr("adversary"), HasSubstr(other)));
    EXPECT_THAT(combination_refusal({{"surrogate", other}, {"oracle", "spmp"}}),
                AllOf(HasSubstr("spmp"), HasSubstr(other)));
  }
  EXPECT_THAT(combination_refusal({{"decode", "expected"}}),
              AllOf(HasSubstr("not unique"), HasSubstr("adversary"), HasSubstr("--smoothing")));
  EXPECT_THAT(combination_refusal({{"surrogate", "m3n"}, {"decode", "expected"}}), HasSubstr("m3n"));
  EXPECT_THAT(combination_refusal({{"oracle", "spmp"}, {"smoothing", "1"}}), HasSubstr("--smoothing"));
  EXPECT_THAT(combination_refusal({{"oracle", "spmp"}, {"solver", "prox"}}), HasSubstr("gbcfw"));
  EXPECT_THAT(combination_refusal({{"oracle-iterations", "30"}}), HasSubstr("--oracle spmp"));
  EXPECT_THAT(combination_refusal({{"warm-start", "no"}}), HasSubstr("--oracle spmp"));
  EXPECT_EQ(combination_refusal({{"warm-start", "no"}, {"oracle", "spmp"}}), "");
  for (const char* other : {"m4n", "m3n"})
    EXPECT_THAT(combination_refusal({{"surrogate", other}, {"solver", "lbfgs"}}),
                AllOf(HasSubstr("crf"), HasSubstr(other)));
  for (const char* solver : {"prox", "smooth", "gbcfw", "lbfgs"})
    EXPECT_THAT(combination_refusal({{"surrogate", "qs"}, {"solver", solver}}), HasSubstr("closed form"));
  for (const char* solver : {"prox", "auto"}) {
    EXPECT_THAT(combination_refusal({{"solver", solver}, {"step", "paper"}}), HasSubstr("--step"));
    EXPECT_THAT(combination_refusal({{"solver", solver}, {"average", "yes"}}), HasSubstr("--average"));
  }
  EXPECT_THAT(combination_refusal({{"task", "multiclass"}, {"bins", "3"}}), HasSubstr("--bins"));
  EXPECT_THAT(combination_refusal({{"binning", "width"}}), HasSubstr("--bins"));
}

// A program fills the struct directly, past the table.
TEST(Validate, RangesHoldForValuesSetDirectly) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto refused = [](auto change) {
    TrainOptions options;
    change(options);
    return refusal([&] { validate(options); });
  };
  for (const double bad : {0.0, -1.0, nan, inf}) {
    EXPECT_THAT(refused([&](TrainOptions& o) { o.lambda = bad; }), HasSubstr("lambda"));
    EXPECT_THAT(refused([&](TrainOptions& o) { o.tol = bad; }), HasSubstr("tol"));
    EXPECT_THAT(refused([&](TrainOptions& o) { o.time_limit = bad; }), HasSubstr("--time-limit"));
  }
  for (const double bad : {9e-31, 2e30})
    EXPECT_THAT(refused([&](TrainOptions& o) { o.lambda = bad; }), HasSubstr("1e-30 to 1e30"));
  for (const double good : {1e-30, 1e30}) EXPECT_EQ(refused([&](TrainOptions& o) { o.lambda = good; }), "");
  for (const double good : {0.0, 1e-6, 1e6}) EXPECT_EQ(refused([&](TrainOptions& o) { o.smoothing = good; }), "");
  for (const double bad : {-1.0, 1e-7, 1e7, nan, inf})
    EXPECT_THAT(refused([&](TrainOptions& o) { o.smoothing = bad; }), HasSubstr("smoothing"));
  EXPECT_THAT(refused([](TrainOptions& o) { o.epochs = 0; }), HasSubstr("epochs"));
  EXPECT_THAT(refused([](TrainOptions& o) { o.oracle_iterations = -1; }), HasSubstr("--oracle-iterations"));
  EXPECT_THAT(refused([](TrainOptions& o) { o.bins = 1; }), HasSubstr("bins"));
}

}  // namespace
}  // namespace m4n::detail
