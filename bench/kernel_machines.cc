// Exact kernels, beside LIBSVM: letter, 9000 examples, the rbf kernel with one gamma, one thread, CPU time from rows in
// memory to a trained model. Ours is the kernel matrix, the solve to a relative gap of 1e-3 and the model; LIBSVM's is
// svm_train (one C-SVC per pair of classes, C = 1/(lambda n), its default eps 1e-3, a cache that holds every pair). The
// two learn different machines, so the error on the examples left out is shown too. And the cost of a path of lambdas
// in terms of one fit at its end.
#include <fmt/format.h>
#include <libsvm/svm.h>

#include <cmath>

#include "features/prepared.h"
#include "features/standardize.h"
#include "m4n/fit.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

constexpr double path_end = 0x1.0p-10;

// Rows first .. first + count of dense data.
Dataset rows_of(const Dataset& data, std::size_t first, std::size_t count) {
  const auto& all = std::get<DenseMatrix>(data.x);
  Dataset out = data;
  const auto cut = [&](const auto& values, std::size_t width) {
    const auto start = values.begin() + static_cast<std::ptrdiff_t>(first * width);
    return std::remove_cvref_t<decltype(values)>(start, start + static_cast<std::ptrdiff_t>(count * width));
  };
  out.x = DenseMatrix{count, all.cols, cut(all.values, all.cols)};
  out.label = cut(data.label, 1);
  out.feature_rows = out.labels = Groups(count);
  return out;
}

double error_rate(const std::vector<std::int32_t>& predicted, const std::vector<std::int32_t>& label) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < label.size(); ++i) wrong += predicted[i] != label[i] ? 1 : 0;
  return static_cast<double>(wrong) / static_cast<double>(label.size());
}

// Rows as LIBSVM wants them: lists of (index from 1, value), ended by index -1.
class Nodes {
 public:
  explicit Nodes(const DenseView& x) {
    for (std::size_t i = 0; i < x.rows; ++i) {
      for (std::size_t j = 0; j < x.cols; ++j) nodes_.push_back({static_cast<int>(j + 1), x.row(i)[j]});
      nodes_.push_back({-1, 0});
    }
    for (std::size_t i = 0; i < x.rows; ++i) rows.push_back(nodes_.data() + i * (x.cols + 1));
  }
  std::vector<svm_node*> rows;

 private:
  std::vector<svm_node> nodes_;
};

struct Outcome {
  double seconds = std::numeric_limits<double>::infinity(), error = 0;
};

Outcome libsvm(const Dataset& train, const Dataset& test, const PreparedFeatures& prepared, double lambda,
               int repeats) {
  svm_set_print_string_function([](const char*) {});
  Nodes rows(std::get<DenseMatrix>(prepared.x).view());
  std::vector<double> target(train.label.begin(), train.label.end());
  const svm_problem problem{static_cast<int>(train.examples()), target.data(), rows.rows.data()};
  svm_parameter parameter{};
  parameter.svm_type = C_SVC;
  parameter.kernel_type = RBF;
  parameter.gamma = prepared.kernel->gamma;
  parameter.cache_size = 2000;
  parameter.eps = 1e-3;
  parameter.C = 1 / (lambda * static_cast<double>(train.examples()));
  parameter.shrinking = 1;
  Outcome out;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double start = cpu_seconds();
    svm_model* model = svm_train(&problem, &parameter);
    out.seconds = std::min(out.seconds, cpu_seconds() - start);
    if (repeat == 0) {
      Features x = test.x;
      apply_in_place(prepared.standardizer, x);
      const Nodes unseen(std::get<DenseMatrix>(x).view());
      std::vector<std::int32_t> predicted;
      for (const svm_node* row : unseen.rows) predicted.push_back(static_cast<std::int32_t>(svm_predict(model, row)));
      out.error = error_rate(predicted, test.label);
    }
    svm_free_and_destroy_model(&model);
  }
  return out;
}

Json compare(const Dataset& train, const Dataset& test, const Settings& settings) {
  const int repeats = settings.quick ? 1 : 3;
  Context context;
  context.threads = 1;
  TrainOptions options;
  options.features = FeatureKind::rbf;
  options.epochs = 1'000'000;
  const PreparedFeatures prepared = prepare(train.x, {}, options, context);
  const double build = fastest(repeats, [&] { prepare(train.x, {}, options, context); });
  fmt::print(stderr, "n = {}, gamma {:.4g}, kernel matrix {:.3f} s\n", train.examples(), prepared.kernel->gamma, build);
  std::vector<double> path;
  for (int power = -1; power >= -10; --power) path.push_back(std::ldexp(1.0, power));

  Json rows = Json::array();
  const double smallest = 1 / static_cast<double>(train.examples());
  for (const double lambda : {path_end, smallest}) {
    const Outcome theirs = libsvm(train, test, prepared, lambda, repeats);
    fmt::print(stderr, "lambda {:.2g}: LIBSVM {:.3f} s, error {:.4f}\n", lambda, theirs.seconds, theirs.error);
    for (const SurrogateKind surrogate : {SurrogateKind::m4n, SurrogateKind::m3n, SurrogateKind::crf}) {
      options.surrogate = surrogate;
      std::vector<FitResult> last;
      const double one = fastest(repeats, [&] { last = fit_path(train, options, {&lambda, 1}, context); });
      const FitResult& fitted = last.front();
      Json row{{"surrogate", to_string(surrogate)},
               {"n", train.examples()},
               {"k", train.class_names.size()},
               {"lambda", lambda},
               {"build_seconds", build},
               {"m4n_seconds", one},
               {"visits_per_example",
                static_cast<double>(fitted.report.oracle_calls) / static_cast<double>(train.examples())},
               {"relative_gap", fitted.report.certificate.relative_gap()},
               {"m4n_error", error_rate(fitted.model.predict(view(test.x)), test.label)},
               {"libsvm_seconds", theirs.seconds},
               {"libsvm_error", theirs.error},
               {"ratio", theirs.seconds / one}};
      if (lambda == path_end) {
        const double all = fastest(repeats, [&] { last = fit_path(train, options, path, context); });
        row["path_seconds"] = all;
        row["path_ratio"] = all / one;
      }
      fmt::print(stderr, "  {}\n", row.dump());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Json kernel_machines(const Settings& settings) {
  const std::optional<Prepared> set = load(settings, "letter.csv.gz");
  Json out{{"kernel_machines", Json::array()}, {"libsvm_version", libsvm_version}};
  if (!set) return out;
  const std::size_t count = settings.quick ? 1000 : 9000;
  out["kernel_machines"] = compare(rows_of(set->data, 0, count), rows_of(set->data, 9000, set->n() - 9000), settings);
  return out;
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) {
  return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::kernel_machines);
}
