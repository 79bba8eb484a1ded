// Losses of permutations by name, from files and from models.
#include "losses/position_loss.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "m4n/error.h"
#include "support/temp_dir.h"

namespace m4n::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<std::string> items{"r1", "r2", "r3"};
const std::vector<std::int32_t> truth{1, 0, 2}, guess{2, 0, 1};

std::string written(const test::TempDir& dir, const std::string& text) {
  std::string path = dir / "loss.csv";
  std::ofstream(path) << text;
  return path;
}

double loss_of(const PositionLossChoice& choice) { return choice.make(3)(truth, guess); }

TEST(PositionLossChoice, NamesMeanTheirFormulas) {
  const auto named = [](const char* name) { return loss_of(PositionLossChoice::parse(name, items)); };
  EXPECT_NEAR(named("hamming"), 2.0 / 3, 1e-15);
  EXPECT_NEAR(named("footrule"), 2.0 / 3, 1e-15);
  EXPECT_NEAR(named("spearman"), 2.0 / 3, 1e-15);
  // The first two are truly r1 and r2; r2 and r3 are guessed.
  EXPECT_NEAR(named("precision@2"), 0.5, 1e-15);
  EXPECT_NEAR(named("precision@1"), 0, 1e-15);
  // Gains 2, 1, 0: r2 has 2 at place 0, r1 has 1 at place 2 in place of 1.
  const double best = 2 + 1 / std::log2(3.0);
  EXPECT_NEAR(named("dcg"), 1 - (2 + 1 / std::log2(4.0)) / best, 1e-15);
}

TEST(PositionLossChoice, OneScoreAnItemWhereTheLossIsOfRankOne) {
  for (const char* name : {"spearman", "dcg", "precision@1", "precision@2"})
    EXPECT_TRUE(PositionLossChoice::parse(name, items).scores_items()) << name;
  for (const char* name : {"hamming", "footrule"}) EXPECT_FALSE(PositionLossChoice::parse(name, items).scores_items());
  EXPECT_FALSE(PositionLossChoice::from_values({1, 2, 3}, 3, "x").scores_items());
  for (const char* name : {"hamming", "footrule", "spearman", "dcg", "precision@1", "precision@2"}) {
    const PositionLoss loss = PositionLossChoice::parse(name, items).make(3);
    EXPECT_EQ(loss.form() == PositionLoss::Form::rank_one, PositionLossChoice::scores_items(name)) << name;
  }
}

TEST(PositionLossChoice, NumbersFromAFileWithOrWithoutNames) {
  const test::TempDir dir;
  for (const char* text : {"3,1,0.5\n", "r1,r2,r3\n3,1,0.5\n", "\n 3 , 1 ,0.5\r\n\n"}) {
    const PositionLossChoice choice = PositionLossChoice::parse(written(dir, text), items);
    EXPECT_EQ(choice.name(), "weighted");
    EXPECT_EQ(choice.values(), (std::vector<double>{3, 1, 0.5}));
    EXPECT_NEAR(loss_of(choice), 3.5 / 3, 1e-15);
  }
  const PositionLossChoice costs = PositionLossChoice::parse(written(dir, "0,2,3\n1,0,5\n1,1,0\n"), items);
  EXPECT_EQ(costs.name(), "matrix");
  EXPECT_NEAR(loss_of(costs), (5 + 0 + 1) / 3.0, 1e-15);  // cost[1][2], cost[0][0], cost[2][1]
  // One item makes weights of what could be costs, two rows make costs.
  EXPECT_EQ(PositionLossChoice::from_values({0, 1, 1, 0}, 2, "x").name(), "matrix");
}

TEST(PositionLossChoice, ModelsRememberThem) {
  for (const auto& [name, values] :
       std::initializer_list<std::pair<std::string, std::vector<double>>>{{"hamming", {}},
                                                                          {"dcg", {}},
                                                                          {"precision@2", {}},
                                                                          {"weighted", {3, 1, 0}},
                                                                          {"matrix", {0, 2, 3, 1, 0, 5, 1, 1, 0}}}) {
    const PositionLossChoice choice = PositionLossChoice::remembered(name, values, 3);
    EXPECT_EQ(choice.name(), name);
    EXPECT_EQ(choice.values(), values);
    EXPECT_TRUE(std::isfinite(loss_of(choice)));
  }
  // Of matchings the number of points is not known beforehand.
  EXPECT_EQ(PositionLossChoice::remembered("hamming", {}, 0).make(1).range(), 0);
}

void expect_error(const std::string& message, const std::function<void()>& call) {
  EXPECT_THAT(call, ThrowsMessage<Error>(HasSubstr(message)));
}

TEST(PositionLossChoice, RefusesWhatHasNoMeaning) {
  using Choice = PositionLossChoice;
  expect_error("NP-hard", [] { Choice::parse("kendall", items); });
  expect_error("precision@1 to precision@2", [] { Choice::parse("precision@3", items); });
  for (const char* name :
       {"precision@0", "precision@", "precision@-1", "precision@1x", "precision@9999999999", "ndcg", ""})
    expect_error("unknown loss", [&] { Choice::parse(name, items); });
  expect_error("only hamming", [] { Choice::parse("footrule", {}); });
  expect_error("unknown loss", [] { Choice::remembered("kendall", {}, 3); });
  expect_error("has 2 numbers for 3 items", [] { Choice::remembered("weighted", {1, 2}, 3); });
  expect_error("has 1 numbers for 3 items", [] { Choice::remembered("hamming", {1}, 3); });
  expect_error("1001 items", [] { Choice::remembered("hamming", {}, 1001); });
  expect_error("here: 4 numbers for 3 items", [] { Choice::from_values({1, 2, 3, 4}, 3, "here"); });
  expect_error("here: the weight of item 1 is -2", [] { Choice::from_values({1, -2, 3}, 3, "here"); });
  expect_error("here: all permutations cost the same", [] { Choice::from_values({0, 0, 0}, 3, "here"); });
  expect_error("here: all permutations cost the same", [] { Choice::from_values({1e-31, 0, 0}, 3, "here"); });
  expect_error("here: all permutations cost the same", [] {
    Choice::from_values({0, -1, -2, 1, 0, -1, 2, 1, 0}, 3, "here");
  });
  expect_error("wrong permutation costs", [] { Choice::from_values({0, 1, 1, 1, 5, 1, 1, 1, 0}, 3, "here"); });
}

TEST(PositionLossChoice, FilesAreCheckedLineByLine) {
  const test::TempDir dir;
  const auto refused = [&](const std::string& text, const std::string& message) {
    const std::string path = written(dir, text);
    EXPECT_THAT([&] { PositionLossChoice::parse(path, items); },
                ThrowsMessage<Error>(AllOf(HasSubstr(path), HasSubstr(message))))
        << text;
  };
  refused("1,2\n", "line 1: 2 cells for 3 items");
  refused("1,2,3\n\n4,5\n", "line 3: 2 cells for 3 items");
  refused("1,2,3\n4,5,6\n", "2 rows of numbers");
  refused("r1,r2,r3\n", "0 rows of numbers");
  refused("", "0 rows of numbers");
  refused("r3,r2,r1\n1,2,3\n", "line 1, column 1: 'r3'");
  refused("1,2,3\nr1,r2,r3\n", "line 2, column 1: 'r1'");
  refused("1,inf,3\n", "line 1, column 2: 'inf'");
  refused("1,,3\n", "line 1, column 2: ''");
}

}  // namespace
}  // namespace m4n::detail
