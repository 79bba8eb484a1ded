// Rank items for each input: columns r1, r2, .. hold the rank of every item, 1 for the best.
//
//   rankings FOLDER_OF_DATA      (not read: the rankings are written here; leaves drinks.m4n in the current folder)
#include <m4n/m4n.h>

#include <cstdio>
#include <fstream>

int main() try {
  // How tea (r1), juice (r2) and cocoa (r3) are liked, by temperature outside and the hour.
  std::ofstream("drinks.csv") << "temperature,hour,r1,r2,r3\n"
                                 "30,9,2,1,3\n28,15,3,1,2\n26,20,2,1,3\n31,14,2,1,3\n"
                                 "2,8,1,3,2\n-4,16,2,3,1\n5,21,2,3,1\n0,9,1,3,2\n"
                                 "14,8,1,2,3\n16,15,1,2,3\n12,22,1,3,2\n15,9,1,2,3\n";

  m4n::TrainOptions options;
  options.task = "ranking";
  options.loss = "footrule";  // mean over the items of how many places they are off
  const m4n::FitResult fit = m4n::fit(m4n::read("drinks.csv", options).data, options);
  const m4n::Certificate& c = fit.report.certificate;
  std::printf("the optimum lies between %.6f and %.6f (relative gap %.1e)\n", c.dual, c.primal, c.relative_gap());
  fit.model.save("drinks.m4n");

  const m4n::Model model = m4n::Model::load("drinks.m4n");
  const m4n::Features days = m4n::DenseMatrix{2, 2, {29, 12, 1, 20}};
  const std::vector<std::int32_t> place = model.predict(m4n::view(days));  // of every item from 0, row by row
  const std::size_t items = model.k();
  for (std::size_t i = 0; i < place.size(); ++i)
    std::printf("%s is number %d%s", model.classes()[i % items].c_str(), place[i] + 1,
                i % items + 1 == items ? "\n" : ", ");
  return 0;
} catch (const m4n::Error& e) {
  std::fprintf(stderr, "rankings: %s\n", e.what());
  return 1;
}
