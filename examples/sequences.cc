// Tag the words of sentences: a row of features and a label per token, and which tokens belong together.
//
//   sequences FOLDER_OF_DATA      (not read: the sentences are written here; leaves tags.m4n in the current folder)
#include <m4n/m4n.h>

#include <cstdio>
#include <fstream>

int main() try {
  // Text in columns, the label last, with a template that says what a word is described by.
  std::ofstream("sentences.txt")
      << "the D\ncan N\nruns V\n\nwe N\ncan V\nrun V\n\na D\nrun N\n\nwe N\nrun V\na D\ncan N\n";
  std::ofstream("words.tpl") << "U0:%x[0,0]\nU1:%x[-1,0]\nB\n";

  m4n::TrainOptions options;
  options.task = "sequence";
  options.text_template = "./words.tpl";
  options.surrogate = m4n::SurrogateKind::m4n;
  options.lambda = 0.01;
  const m4n::FitResult fit = m4n::fit(m4n::read("sentences.txt", options).data, options);
  const m4n::Certificate& c = fit.report.certificate;
  std::printf("the optimum lies between %.6f and %.6f (relative gap %.1e)\n", c.dual, c.primal, c.relative_gap());
  fit.model.save("tags.m4n");

  // The model knows how to read text; here without labels.
  const m4n::Model model = m4n::Model::load("tags.m4n");
  std::ofstream("new.txt") << "the\nrun\n\nwe\nrun\n";
  const m4n::Examples unknown = m4n::read("new.txt", model, {}, m4n::Truth::optional);
  const m4n::Groups& sequences = unknown.data.feature_rows;
  const std::vector<std::int32_t> tags = model.predict(unknown.data);
  for (std::size_t i = 0; i < sequences.count(); ++i) {
    for (std::size_t t = sequences.begin(i); t < sequences.end(i); ++t)
      std::printf("%s ", model.classes()[static_cast<std::size_t>(tags[t])].c_str());
    std::printf("\n");
  }
  return 0;
} catch (const m4n::Error& e) {
  std::fprintf(stderr, "sequences: %s\n", e.what());
  return 1;
}
