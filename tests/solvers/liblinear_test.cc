// M3N against LIBLINEAR, which solves the same problems by other code: the Crammer-Singer SVM (-s 4, C = 1/(lambda n))
// and, with two classes, the binary SVM (-s 3, C = 2/(lambda n)).
#include <gtest/gtest.h>
#include <linear.h>

#include <cmath>

#include "m4n/fit.h"
#include "support/random_dataset.h"

namespace m4n::detail {
namespace {

// P(w) of the weights LIBLINEAR finds; the bias is an explicit column of ones.
class Liblinear {
 public:
  Liblinear(const Dataset& data, int solver, double c, double eps) : data_(data), x_(std::get<DenseMatrix>(data.x)) {
    set_print_string_function([](const char*) {});
    const std::size_t n = x_.rows, d = x_.cols;
    std::vector<feature_node> nodes;
    std::vector<feature_node*> rows(n);
    nodes.reserve(n * (d + 2));
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i) {
      rows[i] = nodes.data() + nodes.size();
      for (std::size_t j = 0; j < d; ++j)
        if (x_.values[i * d + j] != 0) nodes.push_back({static_cast<int>(j) + 1, x_.values[i * d + j]});
      nodes.push_back({static_cast<int>(d) + 1, 1});
      nodes.push_back({-1, 0});
      y[i] = data.label[i];
    }
    problem train_set{static_cast<int>(n), static_cast<int>(d) + 1, y.data(), rows.data(), -1};
    parameter p{};
    p.solver_type = solver;
    p.C = c;
    p.eps = eps;
    p.p = 0.1;
    model* m = train(&train_set, &p);
    const std::size_t columns = m->nr_class == 2 && solver != MCSVM_CS ? 1 : static_cast<std::size_t>(m->nr_class);
    w_.assign((d + 1) * data.class_names.size(), 0.0);
    for (std::size_t j = 0; j <= d; ++j)
      for (std::size_t c2 = 0; c2 < columns; ++c2) {
        const double value = m->w[j * columns + c2];
        const auto label = static_cast<std::size_t>(m->label[c2]);
        w_[j * data.class_names.size() + label] = columns == 1 ? 0.5 * value : value;
        if (columns == 1) w_[j * 2 + (1 - label)] = -0.5 * value;
      }
    free_and_destroy_model(&m);
  }

  double objective(double lambda) const {
    const std::size_t n = x_.rows, d = x_.cols, k = data_.class_names.size();
    double loss = 0, norm = 0;
    for (const double w : w_) norm += w * w;
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> v(w_.end() - static_cast<std::ptrdiff_t>(k), w_.end());
      for (std::size_t j = 0; j < d; ++j)
        for (std::size_t c = 0; c < k; ++c) v[c] += x_.values[i * d + j] * w_[j * k + c];
      const auto y = static_cast<std::size_t>(data_.label[i]);
      double top = v[y];
      for (std::size_t c = 0; c < k; ++c)
        if (c != y) top = std::max(top, v[c] + 1);
      loss += top - v[y];
    }
    return loss / static_cast<double>(n) + 0.5 * lambda * norm;
  }

 private:
  const Dataset& data_;
  const DenseMatrix& x_;
  std::vector<double> w_;
};

Certificate ours(const Dataset& data, double lambda) {
  TrainOptions o;
  o.surrogate = SurrogateKind::m3n;
  o.lambda = lambda;
  o.tol = 1e-7;
  o.epochs = 100'000;
  o.standardize = false;
  return fit(data, o).report.certificate;
}

TEST(Liblinear, CrammerSingerHasTheSameOptimum) {
  Rng rng(1);
  for (const double lambda : {1.0, 0.1, 0.01, 0.001}) {
    const Dataset data = test::random_dataset(rng, 200, 5, 5);
    const Certificate c = ours(data, lambda);
    const double theirs = Liblinear(data, MCSVM_CS, 1 / (lambda * 200), 1e-8).objective(lambda);
    EXPECT_TRUE(c.converged);
    EXPECT_GE(theirs, c.dual - 1e-9);  // nobody is below the certified bound
    EXPECT_NEAR(theirs, c.primal, 1e-4 * c.primal);
  }
}

TEST(Liblinear, TwoClassesAreTheBinarySvm) {
  Rng rng(2);
  for (const double lambda : {1.0, 0.1, 0.01}) {
    const Dataset data = test::random_dataset(rng, 150, 4, 2);
    const Certificate c = ours(data, lambda);
    const double theirs = Liblinear(data, L2R_L1LOSS_SVC_DUAL, 2 / (lambda * 150), 1e-8).objective(lambda);
    EXPECT_TRUE(c.converged);
    EXPECT_GE(theirs, c.dual - 1e-9);
    EXPECT_NEAR(theirs, c.primal, 1e-4 * c.primal);
  }
}

}  // namespace
}  // namespace m4n::detail
