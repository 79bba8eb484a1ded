// Whole fits of chains, one thread, cold starts. The OCR words (the first 60% of them, raw pixels and bias, lambda =
// 2^-7) for all surrogates, L-BFGS and the paper's way beside them; CoNLL-2000 text with the attributes of
// conll_text.h. The arguments `ocr` and `text` choose one of the two.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "conll_text.h"
#include "ocr_words.h"
#include "structures/chains/training.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

constexpr double ocr_lambda = 0x1p-7;

struct Measured {
  double seconds = 0;  // CPU time
  SolveResult result;
};

// A cold solve, the fastest of several unless it takes long.
Measured measure(const Sentences& set, double lambda, const TrainOptions& options, int repeats) {
  const CostMatrix cost = CostMatrix::named("zero-one", set.labels);
  Measured best;
  for (int repeat = 0; repeat < repeats && !(repeat > 0 && best.seconds > 10); ++repeat) {
    Context context;
    context.threads = 1;
    const double start = cpu_seconds();
    SolveResult found;
    solve_chains({.x = set.x.view(),
                  .tokens = &set.tokens,
                  .bias = true,
                  .label = set.label,
                  .weight = set.share,
                  .cost = &cost,
                  .constraints = nullptr,
                  .lambdas = {&lambda, 1},
                  .options = &options,
                  .context = &context},
                 [&](const std::unique_ptr<ChainSolution>& solution) { found = solution->result; });
    const double seconds = cpu_seconds() - start;
    if (repeat == 0 || seconds < best.seconds) best = {seconds, found};
  }
  return best;
}

Json row(const Sentences& set, const std::string& surrogate, const std::string& method, double tol,
         const Measured& run) {
  const Certificate& c = run.result.certificate;
  fmt::print(stderr, "  {} {} {} to {:.0e}: {:.2f} s, {} passes, P {:.6f} gap {:.2g}\n", set.name, surrogate, method,
             tol, run.seconds, run.result.epochs, c.primal, c.relative_gap());
  return {{"set", set.name},    {"surrogate", surrogate},           {"method", method},
          {"tol", tol},         {"seconds", run.seconds},           {"passes", run.result.epochs},
          {"primal", c.primal}, {"relative_gap", c.relative_gap()}, {"converged", c.converged}};
}

void ocr_rows(const Settings& settings, Json& rows) {
  const auto path = data_file(settings, "ocr_letters.data.gz");
  if (!path) return;
  std::vector<OcrWord> words = read_ocr_words(*path);
  words.resize(settings.quick ? 200 : words.size() * 6 / 10);
  const Sentences set = ocr_sentences(words);
  TrainOptions options;
  options.epochs = 100'000;
  for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf}) {
    options.surrogate = surrogate;
    for (const double tol : {1e-1, 1e-2, 1e-3}) {
      options.tol = tol;
      rows.push_back(row(set, to_string(surrogate), "default", tol, measure(set, ocr_lambda, options, 3)));
    }
  }
  options.solver = SolverKind::lbfgs;
  rows.push_back(row(set, "crf", "L-BFGS", options.tol, measure(set, ocr_lambda, options, 1)));
  options.surrogate = SurrogateKind::m4n;
  options.solver = SolverKind::gbcfw;
  options.oracle = OracleKind::spmp;
  options.oracle_iterations = 10;
  options.iterations_per_part = true;
  options.tol = 1e-1;
  options.time_limit = settings.quick ? 1 : 300;
  rows.push_back(
      row(set, "m4n", "paper: SP-MP K = 10 M, 2n/(t+2n), averaged", options.tol, measure(set, ocr_lambda, options, 1)));
}

// lambda n = 2, as CRFsuite has it with c2 = 1; times the mean length for M4N and M3N, whose losses are averages over
// positions.
void text_rows(const Settings& settings, Json& rows) {
  const auto path = data_file(settings, "conll2000_train.txt.gz");
  if (!path) return;
  const Sentences set = read_conll_text(*path, settings.quick ? 200 : 1'000'000);
  const auto n = static_cast<double>(set.share.size()), mean_length = static_cast<double>(set.label.size()) / n;
  fmt::print(stderr, "  {}: {} sentences, {} tokens, {} attributes, {} labels\n", set.name, n, set.label.size(),
             set.x.cols, set.labels);
  TrainOptions options;
  options.epochs = 1000;
  options.time_limit = 120;
  for (const SurrogateKind surrogate : {SurrogateKind::crf, SurrogateKind::m3n, SurrogateKind::m4n}) {
    options.surrogate = surrogate;
    const double lambda = 2 / n * (surrogate == SurrogateKind::crf ? 1 : mean_length);
    for (const double tol : {1e-1, 1e-2, 1e-3}) {
      if (tol < 1e-2 && surrogate != SurrogateKind::crf) continue;
      options.tol = tol;
      rows.push_back(row(set, to_string(surrogate), "default", tol, measure(set, lambda, options, 1)));
    }
  }
}

Json sequences(const Settings& settings) {
  Json rows = Json::array();
  const auto wanted = [&](const char* name) {
    return settings.others.empty() ||
           std::find(settings.others.begin(), settings.others.end(), name) != settings.others.end();
  };
  if (wanted("text")) text_rows(settings, rows);
  if (wanted("ocr")) ocr_rows(settings, rows);
  return {{"sequences", rows}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::sequences); }
