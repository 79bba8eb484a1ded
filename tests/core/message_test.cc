// Messages: options among words, remedies as data, values of users that look like either.
#include "core/message.h"

#include <gmock/gmock.h>

#include "m4n/fit.h"

namespace m4n::detail {
namespace {

std::string in_capitals(std::string_view option) {
  std::string out(option);
  for (char& c : out) c = static_cast<char>(std::toupper(c));
  return out;
}

TEST(Message, OptionsKeepTheirNames) {
  const Message said = say("--gamma is not for {}; => leave it out, or add --oracle {}", "--linear", "spmp");
  EXPECT_EQ(said.text(), "--gamma is not for --linear; leave it out, or add --oracle spmp");
  EXPECT_EQ(said.text(in_capitals), "GAMMA is not for --linear; leave it out, or add ORACLE spmp");
}

TEST(Message, TheRemedyIsData) {
  const Error error(say("--gamma is not for {}; => leave it out, or add --oracle {}", "=> x", "spmp"));
  EXPECT_EQ(error.details().remedy, "leave it out, or add --oracle spmp");
  EXPECT_STREQ(error.what(), "--gamma is not for => x; leave it out, or add --oracle spmp");
  EXPECT_EQ(Error(say("no {} here", "remedy")).details().remedy, "");
  EXPECT_EQ(Error(say("a"), {"option", "value", "expected", "given"}).details().remedy, "given");
}

TEST(Message, RemediesOfPartsStayRemedies) {
  const Error error(say("{}: {}", option("loss"), say("found nothing; => name a file")));
  EXPECT_STREQ(error.what(), "--loss: found nothing; name a file");
  EXPECT_EQ(error.details().remedy, "name a file");
}

TEST(Message, ARefusedValueSaysAllItKnows) {
  try {
    refuse_value("lambda", "-1", "a positive number");
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_EQ(error.details().option, "lambda");
    EXPECT_EQ(error.details().value, "-1");
    EXPECT_EQ(error.details().expected, "a positive number");
  }
}

TEST(Message, RefusedOptionsSayWhatToDo) {
  TrainOptions options;
  options.smoothing = 1;
  options.surrogate = SurrogateKind::crf;
  try {
    validate(options);
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.details().remedy, ::testing::HasSubstr("eave"));
    EXPECT_THAT(error.what(), ::testing::EndsWith(error.details().remedy));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("=>")));
  }
}

}  // namespace
}  // namespace m4n::detail
