// Which labels does an example have? Columns y1, y2, .. hold 1 for on and 0 for off; a miss may cost more than a false
// alarm.
//
//   label_sets FOLDER_OF_DATA      (not read: the examples are written here; leaves walks.m4n in the current folder)
#include <m4n/m4n.h>

#include <cstdio>
#include <fstream>

int main() try {
  // What to take for a walk, by temperature and the chance of rain: a hat (y1), an umbrella (y2), a coat (y3).
  std::ofstream("walks.csv") << "temperature,rain,y1,y2,y3\n"
                                "30,0.0,1,0,0\n28,0.1,1,0,0\n26,0.7,0,1,0\n31,0.2,1,0,0\n"
                                "2,0.8,0,1,1\n-4,0.1,0,0,1\n5,0.6,0,1,1\n0,0.0,0,0,1\n"
                                "14,0.9,0,1,1\n16,0.2,0,0,0\n12,0.3,0,0,1\n15,0.8,0,1,0\n";

  m4n::TrainOptions options;
  options.task = "multilabel";
  options.edges = "tree";             // joins the labels that tell most about each other
  options.cost = {1, 5, 2, 1, 1, 1};  // of missing each label, then of announcing each wrongly
  const m4n::FitResult fit = m4n::fit(m4n::read("walks.csv", options).data, options);
  const m4n::Certificate& c = fit.report.certificate;
  std::printf("the optimum lies between %.6f and %.6f (relative gap %.1e)\n", c.dual, c.primal, c.relative_gap());
  fit.model.save("walks.m4n");

  const m4n::Model model = m4n::Model::load("walks.m4n");
  const m4n::Features days = m4n::DenseMatrix{2, 2, {29, 0.0, 1, 0.9}};
  const std::vector<std::int32_t> on = model.predict(m4n::view(days));  // 0 or 1 for every label, row by row
  const std::size_t labels = model.k();
  for (std::size_t i = 0; i < on.size(); ++i)
    std::printf("%s %s%s", model.classes()[i % labels].c_str(), on[i] == 1 ? "on" : "off",
                i % labels + 1 == labels ? "\n" : ", ");
  return 0;
} catch (const m4n::Error& e) {
  std::fprintf(stderr, "label_sets: %s\n", e.what());
  return 1;
}
