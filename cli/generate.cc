// m4n generate: synthetic data whose Bayes risk is known: classes and grades (src/structures/classes/synthetic.h) as CSV
// x1..xR,label, sequences (src/structures/chains/synthetic.h) as CoNLL columns, rankings and matchings
// (src/structures/permutations/synthetic.h) as CSV x1..,r1.. and in the matching format.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "arguments.h"
#include "core/option_values.h"
#include "structures/permutations/matching_text.h"
#include "structures/classes/synthetic.h"
#include "structures/graphs/synthetic.h"
#include "structures/label_sets/synthetic.h"
#include "structures/permutations/synthetic.h"
#include "structures/chains/synthetic.h"
#include "files.h"
#include "m4n/error.h"
#include "messages.h"
#include "model/atomic_file.h"

namespace m4n::cli {
namespace {

constexpr std::size_t most_rows = 100'000'000;
constexpr std::size_t rows_at_a_time = 50'000;
constexpr std::size_t permutations_at_a_time = 1000;

struct GenerateArguments {
  Task task = Task::multiclass;
  std::size_t n = 0;
  std::uint64_t seed = 0;
  std::string out;
  bool json = false;
};

// "0,0,1,0,0,0,0,0," for every region: all of a line but its label.
std::vector<std::string> line_beginnings(std::size_t regions) {
  std::vector<std::string> lines(regions);
  for (std::size_t r = 0; r < regions; ++r)
    for (std::size_t j = 0; j < regions; ++j) lines[r] += j == r ? "1," : "0,";
  return lines;
}

// Hands the text to `write` in pieces, so that standard output needs no memory for all of it.
template <class Write>
void write_csv(const SyntheticProblem& problem, const GenerateArguments& arguments, Write&& write) {
  const std::vector<std::string> beginnings = line_beginnings(problem.regions());
  std::vector<std::string> endings;
  for (const std::string& name : problem.class_names()) endings.push_back(name + "\n");
  SyntheticProblem::Sampler sampler(problem, arguments.seed);
  std::string text = fmt::format("{},label\n", fmt::join(problem.feature_names(), ","));
  for (std::size_t i = 0; i < arguments.n; ++i) {
    const SyntheticProblem::Draw draw = sampler.next();
    text += beginnings[draw.region];
    text += endings[static_cast<std::size_t>(draw.label)];
    if ((i + 1) % rows_at_a_time == 0) {
      write(text);
      text.clear();
    }
  }
  write(text);
}

// Pieces of text to where they are wanted: standard output at once, a file when all are there.
template <class Make>
void deliver(const GenerateArguments& arguments, Make&& make) {
  if (arguments.out.empty()) {
    make([](const std::string& text) { print(text); });
    return;
  }
  require_writable(arguments.out, "--out");
  std::string whole;
  make([&](const std::string& text) { whole += text; });
  write_file_atomically(arguments.out, whole);
}

int run_sequences(const GenerateArguments& arguments) {
  SyntheticSentences sentences(arguments.seed);
  double best_loss = 0;
  std::size_t tokens = 0;
  deliver(arguments, [&](auto&& write) {
    std::string text;
    for (std::size_t i = 0; i < arguments.n; ++i) {
      const SyntheticSentences::Sentence sentence = sentences.next();
      for (std::size_t m = 0; m < sentence.word.size(); ++m)
        fmt::format_to(std::back_inserter(text), "{} {}\n", SyntheticSentences::word_name(sentence.word[m]),
                       SyntheticSentences::label_name(sentence.label[m]));
      text += '\n';
      best_loss += sentence.best_loss / static_cast<double>(arguments.n);
      tokens += sentence.word.size();
      if ((i + 1) % rows_at_a_time == 0) {
        write(text);
        text.clear();
      }
    }
    write(text);
  });
  if (arguments.json) {
    const nlohmann::ordered_json report{
        {"n", arguments.n},       {"tokens", tokens},        {"k", SyntheticSentences::labels()},
        {"seed", arguments.seed}, {"bayes_risk", best_loss}, {"out", arguments.out}};
    print(report.dump() + "\n");
  }
  note(false, fmt::format("sequence: {} sentences, {} tokens (seed {}), {} labels; a word and its label a line",
                          arguments.n, tokens, arguments.seed, SyntheticSentences::labels()));
  note(false,
       fmt::format("Bayes risk (hamming loss) given these words {:.6f}: no rule has a lower expected loss on them",
                   best_loss));
  return done;
}

// Calls `add` for pieces of the data and hands over their text.
template <class Sampler, class Add>
void write_permutations(const GenerateArguments& arguments, Sampler& sampler, std::string text, Add&& add) {
  deliver(arguments, [&](auto&& write) {
    for (std::size_t done = 0; done < arguments.n;) {
      const std::size_t count = std::min(permutations_at_a_time, arguments.n - done);
      add(sampler.next(count), text);
      write(text);
      text.clear();
      done += count;
    }
  });
}

void report_known(const GenerateArguments& arguments, std::size_t d, std::size_t k, double best_loss,
                  const std::string& what) {
  if (arguments.json) {
    const nlohmann::ordered_json report{
        {"n", arguments.n},    {"d", d}, {"k", k}, {"seed", arguments.seed}, {"bayes_risk", best_loss},
        {"out", arguments.out}};
    print(report.dump() + "\n");
  }
  note(false,
       fmt::format("{}: {} examples (seed {}), {}", to_string(arguments.task), arguments.n, arguments.seed, what));
  note(false, fmt::format("Bayes risk (hamming loss) {:.6g}: no rule has a lower expected loss", best_loss));
}

int run_rankings(const GenerateArguments& arguments) {
  const SyntheticRankings rankings;
  SyntheticRankings::Sampler sampler(rankings, arguments.seed);
  const Dataset one = rankings.sample(1, 0);
  const std::size_t d = cols(one.x), k = rankings.items();
  write_permutations(arguments, sampler,
                     fmt::format("{},{}\n", fmt::join(one.feature_names, ","), fmt::join(one.class_names, ",")),
                     [&](const Dataset& data, std::string& text) {
                       const DenseView x = std::get<DenseMatrix>(data.x).view();
                       for (std::size_t i = 0; i < x.rows; ++i) {
                         fmt::format_to(std::back_inserter(text), "{}", fmt::join(x.row(i), ","));
                         for (std::size_t e = data.labels.begin(i); e < data.labels.end(i); ++e)
                           fmt::format_to(std::back_inserter(text), ",{}", data.label[e] + 1);
                         text += '\n';
                       }
                     });
  report_known(arguments, d, k, rankings.best_loss(PositionLoss::hamming(k)),
               fmt::format("{} items sorted by linear functions of {} features; one ranking in five is random", k, d));
  return done;
}

int run_matchings(const GenerateArguments& arguments) {
  const SyntheticMatchings matchings;
  SyntheticMatchings::Sampler sampler(matchings, arguments.seed);
  const Dataset one = matchings.sample(1, 0);
  std::string names;
  append_feature_line(one.feature_names, names);
  write_permutations(arguments, sampler, names, [&](const Dataset& data, std::string& text) {
    for (std::size_t e = 0; e < data.examples(); ++e) append_matching(data, e, text);
  });
  std::vector<PositionLoss> losses;
  for (std::size_t m = matchings.smallest(); m <= matchings.largest(); ++m) losses.push_back(PositionLoss::hamming(m));
  report_known(arguments, cols(one.x), matchings.largest(), matchings.best_loss(losses),
               fmt::format("two sets of {} to {} points, the second moved and shuffled; one matching in five is "
                           "random",
                           matchings.smallest(), matchings.largest()));
  return done;
}

int run_label_sets(const GenerateArguments& arguments) {
  SyntheticLabels problem(arguments.seed);
  const std::size_t regions = SyntheticLabels::regions(), labels = SyntheticLabels::labels();
  const std::vector<std::string> beginnings = line_beginnings(regions);
  const auto numbered = [](const char* letter, std::size_t count) {
    std::vector<std::string> out;
    for (std::size_t j = 1; j <= count; ++j) out.push_back(letter + std::to_string(j));
    return fmt::format("{}", fmt::join(out, ","));
  };
  deliver(arguments, [&](auto&& write) {
    std::string text = fmt::format("{},{}\n", numbered("x", regions), numbered("y", labels));
    for (std::size_t i = 0; i < arguments.n; ++i) {
      const SyntheticLabels::Draw draw = problem.next();
      fmt::format_to(std::back_inserter(text), "{}{}\n", beginnings[draw.region], fmt::join(draw.label, ","));
      if ((i + 1) % rows_at_a_time == 0) {
        write(text);
        text.clear();
      }
    }
    write(text);
  });
  report_known(arguments, regions, labels, SyntheticLabels::best_loss(LabelCosts::hamming(labels)),
               fmt::format("{} labels, on or off; x1..x{} say in which of {} equally likely regions the input lies",
                           labels, regions, regions));
  return done;
}

int run_graphs(const GenerateArguments& arguments) {
  SyntheticGraphs graphs(arguments.seed);
  double best_loss = 0;
  std::size_t nodes = 0;
  deliver(arguments, [&](auto&& write) {
    std::string text;
    for (std::size_t i = 0; i < arguments.n; ++i) {
      const SyntheticGraphs::Graph graph = graphs.next();
      text += SyntheticGraphs::text(graph);
      best_loss += graph.best_loss / static_cast<double>(arguments.n);
      nodes += graph.label.size();
      if ((i + 1) % permutations_at_a_time == 0) {
        write(text);
        text.clear();
      }
    }
    write(text);
  });
  report_known(
      arguments, SyntheticGraphs::signs(), SyntheticGraphs::labels(), best_loss,
      fmt::format("{} nodes: trees, grids and graphs of treewidth 2; the risk is that given these signs", nodes));
  return done;
}

int run(const GenerateArguments& arguments) {
  if (arguments.json && arguments.out.empty())
    throw UsageError("--json takes standard output for its report; say with --out FILE where the data go");
  if (arguments.task == Task::sequence) return run_sequences(arguments);
  if (arguments.task == Task::ranking) return run_rankings(arguments);
  if (arguments.task == Task::matching) return run_matchings(arguments);
  if (arguments.task == Task::multilabel) return run_label_sets(arguments);
  if (arguments.task == Task::graph) return run_graphs(arguments);
  const SyntheticProblem problem(arguments.task);
  const CostMatrix cost = problem.usual_cost();
  const double bayes_risk = problem.bayes_risk(cost);
  deliver(arguments, [&](auto&& write) { write_csv(problem, arguments, write); });
  if (arguments.json) {
    const nlohmann::ordered_json report{{"n", arguments.n},       {"d", problem.regions()},   {"k", problem.k()},
                                        {"seed", arguments.seed}, {"bayes_risk", bayes_risk}, {"out", arguments.out}};
    print(report.dump() + "\n");
  }
  note(false,
       fmt::format("{}: {} examples (seed {}), {} {}; x1..x{} say in which of {} equally likely regions the "
                   "input lies",
                   to_string(arguments.task), arguments.n, arguments.seed, problem.k(),
                   arguments.task == Task::ordinal ? "grades" : "classes", problem.regions(), problem.regions()));
  note(false, fmt::format("Bayes risk ({} loss) {}: no rule has a lower expected loss", cost.name(), bayes_risk));
  return done;
}

Action declare(CLI::App& app) {
  auto arguments = std::make_shared<GenerateArguments>();
  static const std::vector<Task> known{Task::multiclass, Task::ordinal,  Task::multilabel, Task::sequence,
                                       Task::ranking,    Task::matching, Task::graph};
  static const std::vector<std::string> tasks = [] {
    std::vector<std::string> names;
    for (const Task task : known) names.emplace_back(to_string(task));
    return names;
  }();
  add_text_option(app, "task", fmt::format("{}", fmt::join(tasks, "|")), "", "what is to be predicted",
                  [arguments](const std::string& text) { arguments->task = known[parse_choice("task", text, tasks)]; })
      ->required();
  add_text_option(app, "n", "N", "", "number of examples", [arguments](const std::string& text) {
    arguments->n = parse_whole("n", text, 1, most_rows);
  })->required();
  add_text_option(app, "seed", "S", "0", "the same seed gives the same data on every machine",
                  [arguments](const std::string& text) {
                    arguments->seed = parse_whole("seed", text, 0, std::numeric_limits<std::uint64_t>::max());
                  });
  add_file_option(app, "out", "FILE", "write there (the whole file or nothing) instead of to standard output",
                  arguments->out);
  app.add_flag("--json", arguments->json,
               "print one JSON object: n, d (of sequences tokens), k, seed, bayes_risk, out; needs --out");
  return [arguments] { return run(*arguments); };
}

}  // namespace

Command generate_command() {
  return {
      "generate", "--task T --n N [--seed S] [--out FILE]", "make synthetic data whose Bayes risk is known exactly",
      "A CSV with the columns x1..x8,label. The input lies in one of 8 equally likely regions, which the 0/1 columns "
      "name; in each region the label is drawn from a fixed table of probabilities. Most regions have no class with "
      "a probability above 1/2. Every rule is linear in the features, so a consistent method comes as close to the "
      "Bayes risk as the number of examples allows. The Bayes risk is printed on standard error: of the zero-one loss "
      "for multiclass, of the absolute loss for ordinal (train that with --task ordinal).\n"
      "\nsequence: CoNLL columns, a word and its label D, N or V, from a hidden Markov model with fixed tables; a "
      "sentence "
      "has 3 to 12 words. The Bayes risk is that of the Hamming loss given the words that were drawn.\n"
      "\nranking: a CSV x1..x8,r1..r5; the items are sorted by linear functions of normal features, and one ranking in "
      "five is replaced by a random one. matching: two sets of 4 to 10 points, the second a shuffled and slightly "
      "moved "
      "copy of the first; the features of a pair are the differences of the coordinates and two of pure noise; one "
      "matching in five is random. multilabel: a CSV x1..,y1..; in each region every label is on with a fixed "
      "probability. "
      "graph: trees, grids and graphs of treewidth 2 with 4 to 16 nodes, whose labels A, B, C tend to agree with their "
      "neighbours' and show one of six signs. All these Bayes risks are of the Hamming loss.\n",
      declare};
}

}  // namespace m4n::cli
