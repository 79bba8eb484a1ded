// Constraints on transitions against enumeration of the labellings they allow, and the game under them against a linear
// program.
#include "structures/chains/constraints.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/evaluate.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "structures/chains/predictor.h"
#include "structures/chains/structure.h"
#include "structures/structure.h"
#include "support/clp_chain.h"
#include "support/random_chain.h"
#include "support/random_costs.h"
#include "support/temp_dir.h"

namespace m4n::detail {
namespace {

using test::Chain;
using test::ScoreStyle;

std::vector<std::vector<std::int32_t>> all_labellings(std::size_t length, std::size_t labels) {
  std::vector<std::vector<std::int32_t>> out{{}};
  for (std::size_t m = 0; m < length; ++m) {
    std::vector<std::vector<std::int32_t>> longer;
    for (const auto& y : out)
      for (std::size_t k = 0; k < labels; ++k) {
        longer.push_back(y);
        longer.back().push_back(static_cast<std::int32_t>(k));
      }
    out = std::move(longer);
  }
  return out;
}

std::vector<std::vector<std::int32_t>> allowed_labellings(const ChainConstraints& constraints, std::size_t length,
                                                          std::size_t labels) {
  std::vector<std::vector<std::int32_t>> out;
  for (auto& y : all_labellings(length, labels))
    if (!constraints.violation(y)) out.push_back(std::move(y));
  return out;
}

// Some random ones under which every length has a labelling: label 0 may follow, start and end anything.
ChainConstraints random_constraints(Rng& rng, std::size_t labels) {
  std::vector<double> allowed(labels * (labels + 2));
  for (double& entry : allowed) entry = rng.uniform() < 0.5 ? 1 : 0;
  for (std::size_t k = 0; k < labels; ++k) allowed[k * labels] = 1;
  for (std::size_t k = 0; k < labels; ++k) allowed[k] = 1;
  allowed[labels * labels] = allowed[(labels + 1) * labels] = 1;
  return ChainConstraints::from_values(allowed, labels);
}

struct Constrained {
  Constrained(Chain& chain, const ChainConstraints& constraints, std::size_t labels) {
    const ChainScores plain = chain.scores();
    std::vector<double> start(labels), end(labels);
    for (std::size_t k = 0; k < labels; ++k) {
      start[k] = plain.transitions->start(k);
      end[k] = plain.transitions->end(k);
    }
    transitions.prepare(PaddedRows<const double>(chain.table().data(), labels, labels), start, end,
                        constraints.penalties());
    exp.prepare(transitions);
    scores = {plain.unary, &transitions};
  }
  Transitions transitions;
  ExpTransitions exp;
  ChainScores scores;
};

TEST(Constraints, InferenceIsThatOverAllowedLabellings) {
  Rng rng(1);
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t labels = 1 + rng.below(4), length = 1 + rng.below(5);
    const double scale = std::array{0.1, 1.0, 30.0, 400.0}[rng.below(4)];
    const ChainConstraints constraints = random_constraints(rng, labels);
    Chain chain(length, labels, scale, test::score_styles[rng.below(5)], random);
    const Constrained own(chain, constraints, labels);
    const auto allowed = allowed_labellings(constraints, length, labels);
    ASSERT_FALSE(allowed.empty());
    double best = -INFINITY;
    for (const auto& y : allowed) best = std::max(best, static_cast<double>(chain.score(y)));
    std::vector<std::int32_t> found(length);
    Viterbi viterbi;
    EXPECT_NEAR(viterbi.solve(own.scores, found), best, 1e-9 * (1 + std::abs(best)));
    EXPECT_FALSE(constraints.violation(found));
    KBest k_best;
    k_best.solve(own.scores, 7);
    EXPECT_EQ(k_best.size(), std::min<std::size_t>(7, allowed.size()));
    for (std::size_t rank = 0; rank < k_best.size(); ++rank) EXPECT_FALSE(constraints.violation(k_best.path(rank)));
    // Sum-product.
    double sum = 0;
    std::vector<double> marginal(length * labels), count(labels * labels);
    for (const auto& y : allowed) {
      const double p = std::exp(static_cast<double>(chain.score(y)) - best);
      sum += p;
      for (std::size_t m = 0; m < length; ++m) {
        marginal[m * labels + static_cast<std::size_t>(y[m])] += p;
        if (m > 0) count[static_cast<std::size_t>(y[m - 1]) * labels + static_cast<std::size_t>(y[m])] += p;
      }
    }
    SumProduct product;
    EXPECT_NEAR(product.solve(own.scores, own.exp), best + std::log(sum), 1e-8 * (1 + std::abs(best)));
    PaddedMatrix<double> counted;
    product.transition_counts(own.scores, own.exp, counted.shape(labels, labels));
    for (std::size_t m = 0; m < length; ++m)
      for (std::size_t k = 0; k < labels; ++k)
        EXPECT_NEAR(product.marginals()(m, k), marginal[m * labels + k] / sum, 1e-8);
    for (std::size_t e = 0; e < count.size(); ++e)
      EXPECT_NEAR(counted.view()(e / labels, e % labels), count[e] / sum, 1e-8);
  }
}

TEST(Constraints, TheGameIsThatOverAllowedLabellings) {
  Rng rng(3);
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 150; ++trial) {
    const std::size_t labels = 2 + rng.below(3), length = 1 + rng.below(5);
    const ChainConstraints constraints = random_constraints(rng, labels);
    Chain chain(length, labels, 0.3, ScoreStyle::normal, random);
    const Constrained own(chain, constraints, labels);
    const CostMatrix cost = CostMatrix::named(trial % 2 == 0 ? "hamming" : "squared", labels);
    const ChainGame game(cost);
    ChainGame::Workspace workspace;
    GameSeeds seeds;
    const GameAnswer answer = game.solve(own.scores, GameLimits{.gap = 1e-9}, seeds, workspace);
    Viterbi viterbi;
    std::vector<std::int32_t> path(length);
    const double expected = test::clp_chain_value(cost, own.scores, viterbi.solve(own.scores, path));
    EXPECT_NEAR(answer.bounds.lower, expected, 1e-7 * (1 + std::abs(expected)));
    EXPECT_NEAR(answer.bounds.upper, expected, 1e-7 * (1 + std::abs(expected)));
    for (std::size_t j = 0; j < answer.size(); ++j) EXPECT_FALSE(constraints.violation(answer.labels(j)));
  }
}

// Two types of chunks, whose words tell them; some words are about nothing.
std::string tagged_text(std::uint64_t seed, std::size_t sentences) {
  Rng rng(seed);
  std::string out;
  for (std::size_t s = 0; s < sentences; ++s) {
    std::string tag = "O";
    for (std::size_t m = 0, length = 1 + rng.below(7); m < length; ++m) {
      const bool inside = tag != "O" && rng.uniform() < 0.5;
      const char* type = rng.uniform() < 0.5 ? "X" : "Y";
      tag = inside ? "I-" + tag.substr(2) : rng.uniform() < 0.5 ? std::string("O") : std::string("B-") + type;
      const bool clear = rng.uniform() < 0.6;
      out += fmt::format("w{} {}\n", clear ? tag : std::to_string(rng.below(4)), tag);
    }
    out += "\n";
  }
  return out;
}

struct TaggedFile {
  explicit TaggedFile(const std::string& text) {
    std::ofstream(folder / "text") << text;
    std::ofstream(folder / "template") << "U0:%x[0,0]\nB\n";
    options.task = "sequence";
    options.text_template = folder / "template";
    options.constraints = "bio";
  }
  test::TempDir folder;
  TrainOptions options;
};

TEST(Constraints, PredictionsAreAlwaysAllowed) {
  TaggedFile file(tagged_text(5, 60));
  const TaggedFile fresh(tagged_text(6, 60));
  std::size_t broken = 0;
  for (const bool constrained : {true, false})
    for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf})
      for (const Decoder decode : {Decoder::viterbi, Decoder::adversary, Decoder::expected}) {
        TrainOptions o = file.options;
        o.surrogate = surrogate;
        o.decode = decode;
        o.tol = 1e-4;
        if (!constrained) o.constraints.clear();
        try {
          validate(o);
          const Dataset data = read(file.folder / "text", o).data;
          structure_named(o.task).decoder(o, structure_named(o.task).loss(o, data));
        } catch (const Error&) {
          continue;
        }
        const FitResult found = fit(read(file.folder / "text", o).data, o, {1, {}, {}});
        EXPECT_TRUE(found.report.certificate.converged);
        EXPECT_GE(found.report.certificate.gap(), -1e-9);
        const Model loaded = Model::from_bytes(found.model.to_bytes(), "it");
        const Examples examples = read(fresh.folder / "text", loaded, {}, Truth::required);
        const std::vector<std::int32_t> predicted = loaded.predict(examples.data);
        const ChainConstraints rules = ChainConstraints::parse("bio", loaded.classes());
        for (std::size_t i = 0; i < examples.data.examples(); ++i) {
          const std::size_t first = examples.data.labels.begin(i), length = examples.data.labels.end(i) - first;
          const bool bad = rules.violation(LabelView(predicted).subspan(first, length)).has_value();
          if (constrained) {
            EXPECT_FALSE(bad) << to_string(surrogate) << " " << to_string(decode);
          }
          broken += bad ? 1 : 0;
        }
      }
  EXPECT_GT(broken, 0U) << "without constraints nothing was broken: other data, please";
}

// The objective of the weights that come back, summed over all allowed labellings one by one.
TEST(Constraints, ObjectivesAreThoseOverAllowedLabellings) {
  TaggedFile file(tagged_text(7, 12));
  for (const SurrogateKind surrogate : {SurrogateKind::m3n, SurrogateKind::crf}) {
    TrainOptions o = file.options;
    o.surrogate = surrogate;
    o.lambda = 0.05;
    o.tol = 1e-7;
    o.epochs = 100'000;
    const Dataset data = read(file.folder / "text", o).data;
    const FitResult found = fit(data, o, {1, {}, {}});
    const auto& weights = part_of<ChainPart>(found.model).weights;
    const std::size_t k = found.model.k();
    const auto& x = std::get<SparseMatrix>(data.x);
    const ChainConstraints rules = ChainConstraints::parse("bio", found.model.classes());
    double loss = 0;
    for (std::size_t i = 0; i < data.examples(); ++i) {
      const std::size_t first = data.labels.begin(i), length = data.labels.end(i) - first;
      const auto score = [&](const std::vector<std::int32_t>& y) {
        double sum = weights.start[static_cast<std::size_t>(y[0])] + weights.end[static_cast<std::size_t>(y.back())];
        for (std::size_t m = 0; m < length; ++m) {
          const auto label = static_cast<std::size_t>(y[m]);
          sum += weights.bias[label];
          for (std::size_t e = x.row_start[first + m]; e < x.row_start[first + m + 1]; ++e)
            sum += std::visit([&](const auto& w) { return static_cast<double>(w[x.column[e] * k + label]); },
                              weights.features);
          if (m > 0) sum += weights.transitions[static_cast<std::size_t>(y[m - 1]) * k + label];
        }
        return sum;
      };
      const std::vector<std::int32_t> truth(data.label.begin() + static_cast<std::ptrdiff_t>(first),
                                            data.label.begin() + static_cast<std::ptrdiff_t>(first + length));
      double most = -INFINITY, sum = 0;
      for (const auto& y : allowed_labellings(rules, length, k)) {
        double wrong = 0;
        for (std::size_t m = 0; m < length; ++m) wrong += y[m] != truth[m] ? 1 : 0;
        const double own = score(y) - score(truth);
        most = std::max(most, own + wrong / static_cast<double>(length));
        sum += std::exp(own);
      }
      loss += (surrogate == SurrogateKind::crf ? std::log(sum) : most) / static_cast<double>(data.examples());
    }
    const double primal = loss + 0.5 * 0.05 * found.report.norm_squared;
    EXPECT_NEAR(primal, found.report.certificate.primal, 1e-6 * primal) << to_string(surrogate);
  }
}

TEST(Constraints, BioAndBioesAreWhatPeopleMean) {
  const std::vector<std::string> bio{"B-X", "B-Y", "I-X", "I-Y", "O"};
  const ChainConstraints rules = ChainConstraints::parse("bio", bio);
  const auto allows = [&](const std::vector<std::int32_t>& y) { return !rules.violation(y); };
  EXPECT_TRUE(allows({0, 2, 2, 4, 1, 3}));
  EXPECT_TRUE(allows({0, 0, 2}));
  EXPECT_FALSE(allows({2}));
  EXPECT_FALSE(allows({4, 3}));
  EXPECT_FALSE(allows({0, 3}));
  EXPECT_EQ(*rules.violation(std::vector<std::int32_t>{0, 2, 4, 2}), 3U);
  const std::vector<std::string> five{"B-X", "E-X", "E-Y", "I-X", "O", "S-X"};
  const ChainConstraints whole = ChainConstraints::parse("bioes", five);
  const auto whole_allows = [&](const std::vector<std::int32_t>& y) { return !whole.violation(y); };
  EXPECT_TRUE(whole_allows({0, 3, 3, 1, 5, 4, 0, 1}));
  EXPECT_FALSE(whole_allows({0}));
  EXPECT_FALSE(whole_allows({0, 4}));
  EXPECT_FALSE(whole_allows({0, 2}));
  EXPECT_FALSE(whole_allows({1}));
  EXPECT_FALSE(whole_allows({4, 3}));
  EXPECT_THROW(ChainConstraints::parse("bio", {"B-X", "NOUN"}), Error);
  EXPECT_THROW(ChainConstraints::parse("bio", {"B-X", "S-X"}), Error);
}

TEST(Constraints, FilesForbidAndAreRefusedWithTheirLine) {
  const std::vector<std::string> labels{"a", "b", "c"};
  const test::TempDir folder;
  const auto parsed = [&](const std::string& text) {
    std::ofstream(folder / "rules.csv") << text;
    return ChainConstraints::parse(folder / "rules.csv", labels);
  };
  const ChainConstraints rules = parsed("from,to\na,a\n*,c\nSTART,b\nb,END\n");
  EXPECT_FALSE(rules.transition(0, 0));
  EXPECT_TRUE(rules.transition(0, 1));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_FALSE(rules.transition(k, 2));
  EXPECT_FALSE(rules.start(1));
  EXPECT_TRUE(rules.start(2));
  EXPECT_FALSE(rules.end(1));
  const auto says = [&](const std::string& text, const std::string& expected) {
    try {
      parsed(text);
      ADD_FAILURE() << text << " was taken";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
  };
  says("a,a\na,d\n", "line 2, column 2: 'd' is no label");
  says("a,a,a\n", "line 1: 3 cells");
  says("START,END\n", "line 1");
  says("", "forbids nothing");
  says("from,to\n", "forbids nothing");
  says("START,*\n", "a sequence of 1 token would have no allowed labelling");
  says("*,*\n", "a sequence of 2 tokens would have no allowed labelling");
  says("END,a\n", "line 1, column 1: 'END' is no label");
}

TEST(Constraints, ATruthThatIsForbiddenIsRefusedWithItsLine) {
  TaggedFile file("w O\nw B-X\n\nw O\nw I-X\n");
  try {
    read(file.folder / "text", file.options);
    ADD_FAILURE() << "was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("line 5: the label 'I-X' follows 'O'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace m4n::detail
