// Learn, certify, predict, save: the shortest whole use of the library.
//
//   quickstart FOLDER_OF_DATA      (data/ of the source tree; writes iris.m4n into the current folder)
#include <m4n/m4n.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 2) throw m4n::UsageError("usage: quickstart FOLDER_OF_DATA");
  const std::string path = std::string(argv[1]) + "/iris.csv";

  m4n::TrainOptions options;
  options.surrogate = m4n::SurrogateKind::m4n;
  options.lambda = 1e-3;
  options.tol = 1e-4;
  const m4n::Dataset data = m4n::read(path, options).data;  // guesses the task from the columns
  const m4n::FitResult fit = m4n::fit(data, options);
  const m4n::Certificate& c = fit.report.certificate;
  std::printf("the optimum lies between %.6f and %.6f (relative gap %.1e)\n", c.dual, c.primal, c.relative_gap());

  fit.model.save("iris.m4n");
  const m4n::Model model = m4n::Model::load("iris.m4n");
  const std::vector<std::int32_t> predicted = model.predict(data);
  std::printf("error on the training data: %.4f\n", m4n::evaluate(model, data, predicted).loss);
  std::printf("the first flower is called %s\n", model.classes()[static_cast<std::size_t>(predicted[0])].c_str());
  return 0;
} catch (const m4n::Error& e) {
  std::fprintf(stderr, "quickstart: %s\n", e.what());
  return 1;
}
