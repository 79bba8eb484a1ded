// Training on the OCR words beside dlib's structural_sequence_labeling_trainer: pixels that are set, bias, transitions,
// start and end; the first 60% of the words train, the others test. CPU seconds of the process, one thread each. The
// file is sorted by word: 33 different words train, 23 test, and one is in both, so what is tested is how letters are
// read in words never seen.
//
// dlib minimises, by cutting planes,
//   h(w) = 1/2 |w|^2 + C R(w),   R(w) = 1/n sum_i max over y of  wrong letters(y_i, y) + w.psi(x_i, y) - w.psi(x_i,
//   y_i)
// so it averages over words and adds over letters; our M3N averages over both,
//   P(u) = lambda/2 |u|^2 + 1/n sum_i max over y of  wrong letters(y_i, y) / M_i + u.psi(x_i, y) - u.psi(x_i, y_i).
// If all words had M letters, then w = M u would give
//   h(M u) = M^2/2 |u|^2 + C M (P(u) - lambda/2 |u|^2) = C M P(u)   for   C = M / lambda,
// the same problem. They have not: C is the mean length over lambda, and the two problems differ in that dlib's gives
// long words more weight. Errors on test words are thus comparable, objectives are not.
//
// dlib stops once R is within epsilon of its optimum by its own lower bound of h. The column relative_gap is that bound
// as a share of the objective, epsilon C / h(w), with h evaluated here; ours is the certificate's.
#include <dlib/matrix.h>
#include <dlib/svm/structural_sequence_labeling_trainer.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ocr_words.h"
#include "structures/chains/predictor.h"
#include "structures/chains/space.h"
#include "structures/chains/training.h"
#include "support.h"
#include "surrogates/registry.h"

namespace m4n::detail::bench {
namespace {

constexpr double lambda = 0x1p-7;

// dlib calls its oracle from a thread of its own, so the time of the calling thread would not do.
double process_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// The features as dlib asks for them. The pixels of a label lie side by side: dlib scores every pair of labels by
// walking through the features of the pair.
struct LetterFeatures {
  using sequence_type = std::vector<std::vector<std::uint32_t>>;
  static unsigned long pixel(unsigned long p, unsigned long label) { return label * ocr_pixels + p; }
  static unsigned long bias(unsigned long label) { return ocr_labels * ocr_pixels + label; }
  static unsigned long transition(unsigned long from, unsigned long to) { return bias((1 + from) * ocr_labels + to); }
  static unsigned long start(unsigned long label) { return transition(ocr_labels, label); }
  static unsigned long end(unsigned long label) { return transition(ocr_labels + 1, label); }
  unsigned long num_features() const { return end(ocr_labels); }
  unsigned long num_labels() const { return ocr_labels; }
  unsigned long order() const { return 1; }

  template <class Set, class Labels>
  void get_features(Set& set, const sequence_type& word, const dlib::matrix_exp<Labels>& y, unsigned long m) const {
    for (const std::uint32_t p : word[m]) set(pixel(p, y(0)));
    set(bias(y(0)));
    set(m == 0 ? start(y(0)) : transition(y(1), y(0)));
    if (m + 1 == word.size()) set(end(y(0)));
  }
};

using DlibWeights = dlib::matrix<double, 0, 1>;

// h(w) / C, in letters per word.
double dlib_objective(std::span<const OcrWord> words, const DlibWeights& w, double c) {
  const auto weight = [&](unsigned long feature) { return w(static_cast<long>(feature)); };
  PaddedMatrix<double> table, unary;
  std::vector<double> start(ocr_labels), end(ocr_labels);
  const PaddedRows<double> between = table.shape(ocr_labels, ocr_labels);
  for (std::size_t k = 0; k < ocr_labels; ++k) {
    start[k] = weight(LetterFeatures::start(k));
    end[k] = weight(LetterFeatures::end(k));
    for (std::size_t j = 0; j < ocr_labels; ++j) between(j, k) = weight(LetterFeatures::transition(j, k));
  }
  Transitions transitions;
  transitions.prepare(between, start, end);
  Viterbi viterbi;
  std::vector<std::int32_t> y;
  double sum = 0;
  for (const OcrWord& word : words) {
    const PaddedRows<double> rows = unary.shape(word.length(), ocr_labels);
    for (std::size_t m = 0; m < word.length(); ++m)
      for (std::size_t k = 0; k < ocr_labels; ++k) {
        rows(m, k) = weight(LetterFeatures::bias(k)) + (static_cast<std::size_t>(word.label[m]) == k ? 0 : 1);
        for (const std::uint32_t p : word.pixels[m]) rows(m, k) += weight(LetterFeatures::pixel(p, k));
      }
    y.resize(word.length());
    const ChainScores scores{rows, &transitions};
    sum += viterbi.solve(scores, y) - score(scores, word.label);
  }
  return dlib::dot(w, w) / (2 * c) + sum / static_cast<double>(words.size());
}

struct Measured {
  double seconds = 0, test_error = 0;
  double relative_gap = std::numeric_limits<double>::quiet_NaN();  // null in JSON: stopped by the clock
};

// The fastest of three, unless it takes long.
template <class Run>
double fastest_seconds(Run&& run) {
  double best = 0;
  for (int repeat = 0; repeat < 3 && !(repeat > 0 && best > 10); ++repeat) {
    const double start = process_seconds();
    run();
    const double seconds = process_seconds() - start;
    if (repeat == 0 || seconds < best) best = seconds;
  }
  return best;
}

Json row(const char* program, const std::string& surrogate, const std::string& stop, const Measured& found) {
  fmt::print(stderr, "  {} {} to {}: {:.2f} s, relative gap {:.2g}, {:.2f}% of the test letters are wrong\n", program,
             surrogate, stop, found.seconds, found.relative_gap, 100 * found.test_error);
  return {{"program", program},
          {"surrogate", surrogate},
          {"stop", stop},
          {"seconds", found.seconds},
          {"relative_gap", found.relative_gap},
          {"test_error", found.test_error}};
}

// Coarse to fine, until a run takes more than `enough` seconds; none may take more than five times that by the wall
// clock, the only limit that dlib has.
void dlib_rows(std::span<const OcrWord> train, std::span<const OcrWord> test, double c, double enough, Json& rows) {
  std::vector<LetterFeatures::sequence_type> x;
  std::vector<std::vector<unsigned long>> y;
  for (const OcrWord& word : train) {
    x.push_back(word.pixels);
    y.emplace_back(word.label.begin(), word.label.end());
  }
  dlib::structural_sequence_labeling_trainer<LetterFeatures> trainer;
  const std::chrono::duration<double> limit(5 * enough);
  dlib::oca cutting_planes;
  cutting_planes.set_max_runtime(std::chrono::duration_cast<std::chrono::nanoseconds>(limit));
  trainer.set_oca(cutting_planes);
  trainer.set_num_threads(1);
  trainer.set_c(c);
  for (const double epsilon : {1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001}) {
    trainer.set_epsilon(epsilon);
    dlib::sequence_labeler<LetterFeatures> labeler;
    Measured found;
    bool in_time = false;
    found.seconds = fastest_seconds([&] {
      const auto start = std::chrono::steady_clock::now();
      labeler = trainer.train(x, y);
      in_time = std::chrono::steady_clock::now() - start < limit;
    });
    if (in_time) found.relative_gap = epsilon / dlib_objective(train, labeler.get_weights(), c);
    std::size_t letters = 0, wrong = 0;
    for (const OcrWord& word : test) {
      const std::vector<unsigned long> predicted = labeler(word.pixels);
      letters += word.length();
      for (std::size_t m = 0; m < word.length(); ++m)
        wrong += predicted[m] != static_cast<unsigned long>(word.label[m]) ? 1 : 0;
    }
    found.test_error = static_cast<double>(wrong) / static_cast<double>(letters);
    rows.push_back(row("dlib", "m3n, sums of letters", fmt::format("epsilon {}", epsilon), found));
    if (found.seconds > enough) break;
  }
}

void m4n_rows(const Sentences& train, const Sentences& test, Json& rows) {
  const CostMatrix cost = CostMatrix::named("zero-one", ocr_labels);
  Context context;
  context.threads = 1;
  TrainOptions options;
  options.epochs = 100'000;
  for (const SurrogateKind surrogate : {SurrogateKind::m3n, SurrogateKind::m4n}) {
    options.surrogate = surrogate;
    for (const double tol : {1e-1, 1e-2, 1e-3}) {
      options.tol = tol;
      ChainSolution solution;
      const ChainRequest request{.x = train.x.view(),
                                 .tokens = &train.tokens,
                                 .bias = true,
                                 .label = train.label,
                                 .weight = train.share,
                                 .cost = &cost,
                                 .constraints = nullptr,
                                 .lambdas = {&lambda, 1},
                                 .options = &options,
                                 .context = &context};
      Measured found;
      found.seconds = fastest_seconds([&] {
        solve_chains(request, [&](std::unique_ptr<ChainSolution> reached) { solution = std::move(*reached); });
      });
      found.relative_gap = solution.result.certificate.relative_gap();
      const ChainPredictor predictor(solution.weights, cost,
                                     usual_decoder(surrogate, 0, cost.symmetric(), Decoder::viterbi));
      const std::vector<std::int32_t> predicted = predict_sequences(predictor, test.x.view(), test.tokens, context);
      std::size_t wrong = 0;
      for (std::size_t t = 0; t < predicted.size(); ++t) wrong += predicted[t] != test.label[t] ? 1 : 0;
      found.test_error = static_cast<double>(wrong) / static_cast<double>(predicted.size());
      rows.push_back(row("m4n", to_string(surrogate), fmt::format("relative gap {:.0e}", tol), found));
    }
  }
}

Json dlib_words(const Settings& settings) {
  Json rows = Json::array();
  if (const auto path = data_file(settings, "ocr_letters.data.gz")) {
    std::vector<OcrWord> words = read_ocr_words(*path);
    if (settings.quick) words.resize(200);
    const std::size_t cut = words.size() * 6 / 10;
    const std::span<const OcrWord> train(words.data(), cut), test(words.data() + cut, words.size() - cut);
    const Sentences own = ocr_sentences(train);
    const double mean_length = static_cast<double>(own.label.size()) / static_cast<double>(cut);
    fmt::print(stderr, "  {} words train, {} test; {:.3f} letters a word\n", cut, test.size(), mean_length);
    m4n_rows(own, ocr_sentences(test), rows);
    dlib_rows(train, test, mean_length / lambda, settings.quick ? 1 : 120, rows);
  }
  return {{"dlib_words", rows}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::dlib_words); }
