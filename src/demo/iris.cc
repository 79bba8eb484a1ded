// Part 2 of the demo: the iris flowers, 0-1 loss, four surrogates with the same lambda = 1/n.
#include "data/input.h"
#include "data/table.h"
#include "demo/demo.h"
#include "m4n/fit.h"
#include "m4n/read.h"
#include "structures/classes/labels.h"

namespace m4n::detail {
namespace {

double error_rate(const std::vector<std::int32_t>& truth, const std::vector<std::int32_t>& predicted) {
  std::size_t errors = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) errors += truth[i] != predicted[i] ? 1U : 0U;
  return static_cast<double>(errors) / static_cast<double>(truth.size());
}

}  // namespace

IrisResult run_iris(const Context& context) {
  Input input = Input::memory(iris_csv, "iris");
  LineReader lines(input);
  const Dataset flowers = label_for_training(read_table(lines, {}, Truth::required, nullptr), Order::none);
  std::vector<std::size_t> learnt, held_out;
  for (std::size_t i = 0; i < flowers.examples(); ++i) (i % 3 == 2 ? held_out : learnt).push_back(i);
  const Dataset train = subset(flowers, learnt);

  IrisResult result;
  result.train_size = train.examples();
  result.held_out = subset(flowers, held_out);
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    TrainOptions options;
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

}  // namespace m4n::detail
