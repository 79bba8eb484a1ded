// Multi-label problems with linear scores: a path of ten lambdas, 2^-1 .. 2^-10, to a gap of 1e-3, one thread, every
// surrogate; features standardised. The losses of m4n and m3n are means over the M labels, so that M times the lambda
// penalises every label as much: they run through the ten values as they are and times M.
// bench/multilabel_peers.py puts scikit-learn beside it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "data/input.h"
#include "data/text.h"
#include "m4n/error.h"
#include "structures/label_sets/training.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

struct Labelled {
  DenseMatrix x;
  std::size_t labels = 0;
  std::vector<std::int32_t> label;
};

// A CSV file whose columns y1, y2, ... are the labels; the features with mean 0 and deviation 1.
Labelled read(const std::string& path) {
  Input input = Input::open(path);
  LineReader lines(input);
  std::string_view line;
  lines.next(line);
  const std::vector<std::string> names = split_cells(line, path, 1);
  Labelled out;
  out.labels =
      static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [](const auto& n) { return n[0] == 'y'; }));
  out.x.cols = names.size() - out.labels;
  while (lines.next(line)) {
    const std::vector<std::string> cells = split_cells(line, path, lines.line_number());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const double value = finite_number(cells[c]).value();
      if (names[c][0] == 'y') {
        out.label.push_back(static_cast<std::int32_t>(value));
      } else {
        out.x.values.push_back(value);
      }
    }
    ++out.x.rows;
  }
  const auto n = static_cast<double>(out.x.rows);
  for (std::size_t c = 0; c < out.x.cols; ++c) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < out.x.rows; ++i) mean += out.x.values[i * out.x.cols + c] / n;
    for (std::size_t i = 0; i < out.x.rows; ++i) square += std::pow(out.x.values[i * out.x.cols + c] - mean, 2) / n;
    for (std::size_t i = 0; i < out.x.rows; ++i) {
      double& value = out.x.values[i * out.x.cols + c];
      value = (value - mean) / (square > 0 ? std::sqrt(square) : 1);
    }
  }
  return out;
}

Json timed_path(const Labelled& set, SurrogateKind surrogate, const std::vector<double>& lambdas, int repeats) {
  TrainOptions options;
  options.surrogate = surrogate;
  options.epochs = 1'000'000;  // all reach the gap
  const std::vector<double> share(set.x.rows, 1 / static_cast<double>(set.x.rows));
  const LabelCosts costs = LabelCosts::hamming(set.labels);
  const Context context{1, {}, {}};
  double best = 1e300;
  Json primals, gaps;
  int epochs = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    primals = Json::array();
    gaps = Json::array();
    epochs = 0;
    const double start = cpu_seconds();
    solve_multilabel(
        {set.x.view(), nullptr, true, set.label, share, &costs, lambdas, Decoder::automatic, &options, &context},
        [&](const std::unique_ptr<MultilabelSolution>& s) {
          primals.push_back(s->result.certificate.primal);
          gaps.push_back(s->result.certificate.relative_gap());
          epochs += s->result.epochs;
        });
    best = std::min(best, cpu_seconds() - start);
  }
  return {{"seconds", best}, {"epochs", epochs}, {"primal", primals}, {"gap", gaps}};
}

Json body(const Settings& settings) {
  std::vector<double> lambdas;
  for (int e = 1; e <= 10; ++e) lambdas.push_back(std::ldexp(1.0, -e));
  Json rows = Json::array();
  for (const std::string name : {"emotions", "yeast"}) {
    const auto path = data_file(settings, "ml_" + name + "_train.csv.gz");
    if (!path) continue;
    const Labelled set = read(*path);
    for (const SurrogateKind surrogate :
         {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf, SurrogateKind::qs}) {
      const bool mean = surrogate == SurrogateKind::m4n || surrogate == SurrogateKind::m3n;
      for (const bool scaled : {false, true}) {
        if (scaled && !mean) continue;
        const std::size_t times = scaled ? set.labels : 1;
        std::vector<double> own = lambdas;
        for (double& lambda : own) lambda *= static_cast<double>(times);
        Json row{{"set", name}, {"n", set.x.rows}, {"d", set.x.cols}, {"labels", set.labels}};
        row.update({{"surrogate", to_string(surrogate)}, {"lambda_times", times}});
        row.update(timed_path(set, surrogate, own, settings.quick ? 1 : 3));
        fmt::print(stderr, "  {} {}, lambda times {}: {:.3f} s for the path, {} epochs\n", name, to_string(surrogate),
                   times, row["seconds"].get<double>(), row["epochs"].get<int>());
        rows.push_back(std::move(row));
      }
    }
    if (settings.quick) break;
  }
  return {{"multilabel", rows}, {"lambdas", lambdas}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::body); }
