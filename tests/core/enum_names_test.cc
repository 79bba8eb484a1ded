// Every choice has one name that reads back as itself; wrong names are refused with the list of the right ones.
#include "core/enum_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "m4n/error.h"

namespace m4n::detail {
namespace {

template <class Enum>
void expect_names_read_back(std::size_t values) {
  std::set<std::string> names;
  for (const EnumName<Enum>& entry : enum_names<Enum>()) {
    EXPECT_STREQ(to_string(entry.value), entry.name);
    EXPECT_EQ(parse_name<Enum>(entry.name, "--option"), entry.value);
    names.insert(entry.name);
  }
  EXPECT_EQ(names.size(), values);
}

TEST(EnumNames, ReadBack) {
  expect_names_read_back<SurrogateKind>(4);
  expect_names_read_back<SolverKind>(6);
  expect_names_read_back<OracleKind>(2);
  expect_names_read_back<Decoder>(5);
  expect_names_read_back<StepRule>(3);
  expect_names_read_back<Binning>(2);
}

TEST(EnumNames, AreThoseOfTheCommandLine) {
  EXPECT_EQ(joined_names<SurrogateKind>("|"), "m4n|m3n|crf|qs");
  EXPECT_EQ(joined_names<SolverKind>("|"), "auto|prox|atoms|smooth|gbcfw|lbfgs");
  EXPECT_EQ(joined_names<Decoder>("|"), "auto|argmax|adversary|expected|viterbi");
  EXPECT_EQ(joined_names<StepRule>("|"), "auto|paper|line-search");
}

TEST(EnumNames, RefusesOthers) {
  EXPECT_THAT([] { parse_name<SurrogateKind>("svm", "--surrogate"); },
              testing::ThrowsMessage<UsageError>(
                  "--surrogate: 'svm' is not a known value; expected one of: m4n, m3n, crf, qs"));
  for (const char* wrong : {"", "M4N", "m4n ", "m4"}) EXPECT_EQ(find_by_name<SurrogateKind>(wrong), std::nullopt);
}

}  // namespace
}  // namespace m4n::detail
