// Part 2 of the demo: the iris flowers, 0-1 loss, four surrogates with the same lambda = 1/n.
#include "data/input.h"
#include "data/table.h"
#include "demo.h"
#include "m4n/fit.h"
#include "m4n/read.h"

namespace m4n::cli {
namespace {

// The examples i of dense data for which keep(i).
template <class Keep>
Dataset selected(const Dataset& data, Keep keep) {
  const DenseView all = std::get<DenseMatrix>(data.x).view();
  DenseMatrix x{0, all.cols, {}};
  Dataset out;
  out.feature_names = data.feature_names;
  out.class_names = data.class_names;
  for (std::size_t i = 0; i < all.rows; ++i) {
    if (!keep(i)) continue;
    const std::span<const double> row = all.row(i);
    x.values.insert(x.values.end(), row.begin(), row.end());
    ++x.rows;
    out.label.push_back(data.label[i]);
  }
  out.feature_rows = out.labels = Groups(x.rows);
  out.x = std::move(x);
  return out;
}

double error_rate(const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted) {
  std::size_t errors = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) errors += truth[i] != predicted[i] ? 1U : 0U;
  return static_cast<double>(errors) / static_cast<double>(truth.size());
}

}  // namespace

IrisResult run_iris(const Context& context) {
  Input input = Input::memory(iris_csv, "iris");
  LineReader lines(input);
  RawTable table = read_table(lines, {}, true, nullptr);
  const Dataset flowers = label_for_training(std::move(table), Task::multiclass);
  const auto is_held_out = [](std::size_t i) { return i % 3 == 2; };
  const Dataset train = selected(flowers, [&](std::size_t i) { return !is_held_out(i); });

  IrisResult result;
  result.train_size = train.examples();
  result.held_out = selected(flowers, is_held_out);
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    TrainOptions options;
    options.task = Task::multiclass;
    options.surrogate = demo_surrogates[j];
    const FitResult fitted = fit(train, options, context);
    IrisFit& out = result.fits[j];
    out.train_error = fitted.report.train_loss;
    out.predicted = fitted.model.predict(view(result.held_out.x), context);
    out.test_error = error_rate(result.held_out.label, out.predicted);
    out.relative_gap = fitted.report.certificate.relative_gap();
    out.converged = fitted.report.certificate.converged;
    out.epochs = fitted.report.epochs;
    out.seconds = fitted.report.seconds;
  }
  return result;
}

}  // namespace m4n::cli
