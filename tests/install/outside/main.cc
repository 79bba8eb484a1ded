// A stranger's program: knows m4n only by its installed headers. Reads a small CSV file, learns to tell three classes
// apart, predicts, saves, loads, predicts again, and asks for something impossible.
#include <m4n/m4n.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace {

// Three well separated clouds in the plane, four points each.
void write_example(const std::string& path) {
  std::ofstream out(path);
  out << "x1,x2,label\n";
  for (int i = 0; i < 4; ++i) {
    const double dx = 0.1 * (i % 2), dy = 0.1 * (i / 2);
    out << 0 + dx << ',' << 0 + dy << ",red\n" << 4 + dx << ',' << 0 + dy << ",green\n";
    out << 0 + dx << ',' << 4 + dy << ",blue\n";
  }
}

int fail(const std::string& what) {
  std::fprintf(stderr, "outside: %s\n", what.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: outside FOLDER");
  const std::string folder = argv[1], csv = folder + "/example.csv", file = folder + "/example.m4n";
  write_example(csv);

  m4n::TrainOptions options;
  options.task = "multiclass";
  options.lambda = 1e-3;
  m4n::Dataset data = m4n::read(csv, options).data;
  const m4n::Dataset seen = data;
  const m4n::FitResult fit = m4n::fit(std::move(data), options);
  if (!fit.report.certificate.converged) return fail("did not converge");

  const auto predicted = fit.model.predict(m4n::view(seen.x));
  if (predicted != seen.label) return fail("separable classes were not separated");

  fit.model.save(file);
  const m4n::Model loaded = m4n::Model::load(file);
  if (loaded.predict(m4n::view(seen.x)) != predicted) return fail("the loaded model predicts differently");
  if (loaded.to_bytes() != fit.model.to_bytes()) return fail("the loaded model is not the saved one");
  const m4n::Evaluation judged = m4n::evaluate(loaded, seen, predicted);
  if (judged.n != seen.examples() || judged.loss != 0) return fail("evaluation of a perfect prediction is not 0");

  try {
    m4n::Model::load(folder + "/no-such-file.m4n");
    return fail("loading a file that is not there did not throw");
  } catch (const m4n::Error&) {
  }
  std::printf("m4n %s: %zu examples, relative gap %g, loss %g\n", M4N_VERSION, judged.n,
              fit.report.certificate.relative_gap(), judged.loss);
  return 0;
}
