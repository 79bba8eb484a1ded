// A class that is expensive to miss: the same data, first with every mistake at cost 1, then with a missed virginica at
// cost 10. The second model calls more flowers virginica and misses none it need not miss.
//
//   cost_matrix FOLDER_OF_DATA
#include <m4n/m4n.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 2) throw m4n::UsageError("usage: cost_matrix FOLDER_OF_DATA");
  m4n::TrainOptions options;
  const m4n::Dataset data = m4n::read(std::string(argv[1]) + "/iris.csv", options).data;

  // cost[true][predicted], classes in sorted order: setosa, versicolor, virginica.
  const std::vector<double> plain = {0, 1, 1, 1, 0, 1, 1, 1, 0};
  const std::vector<double> costly = {0, 1, 1, 1, 0, 1, 10, 10, 0};

  std::uint64_t missed[2] = {0, 0};
  for (const bool expensive : {false, true}) {
    options.cost = expensive ? costly : plain;
    options.lambda = 1e-4;
    const m4n::Model model = m4n::fit(data, options).model;
    const auto confusion = m4n::evaluate(model, data, model.predict(data)).confusion;
    missed[expensive ? 1 : 0] = confusion[2 * 3 + 0] + confusion[2 * 3 + 1];
    const unsigned long long wrongly = confusion[0 * 3 + 2] + confusion[1 * 3 + 2], lost = missed[expensive ? 1 : 0];
    std::printf("missing virginica costs %2d: %llu missed, %llu others called virginica\n", expensive ? 10 : 1, lost,
                wrongly);
  }
  return missed[1] <= missed[0] ? 0 : 1;
} catch (const m4n::Error& e) {
  std::fprintf(stderr, "cost_matrix: %s\n", e.what());
  return 1;
}
