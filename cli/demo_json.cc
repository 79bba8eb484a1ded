// The numbers of the demo as one JSON object.
#include <nlohmann/json.hpp>

#include "demo.h"

namespace m4n::cli {
namespace {

using Json = nlohmann::ordered_json;

Json study_json(const Study& study) {
  Json levels = Json::array();
  for (const StudyLevel& level : study.levels) {
    Json fits = Json::object();
    for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
      const StudyFit& fit = level.fits[j];
      fits[to_string(demo_surrogates[j])] = {{"excess_risk", fit.excess},
                                             {"relative_gap", fit.relative_gap},
                                             {"converged", fit.converged},
                                             {"epochs", fit.epochs},
                                             {"seconds", fit.seconds}};
    }
    levels.push_back({{"n", level.n}, {"lambda", level.lambda}, {"seeds", level.seeds}, {"fits", std::move(fits)}});
  }
  Json cost = Json::array();
  for (std::size_t t = 0; t < study.cost.k(); ++t) cost.push_back(study.cost.of_truth(t));
  return {{"cost_name", study.name},
          {"task", to_string(study.task)},
          {"cost", std::move(cost)},
          {"bayes_risk", study.bayes_risk},
          {"levels", std::move(levels)}};
}

Json iris_json(const IrisResult& iris) {
  Json fits = Json::object();
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    const IrisFit& fit = iris.fits[j];
    fits[to_string(demo_surrogates[j])] = {
        {"train_error", fit.train_error}, {"test_error", fit.test_error}, {"relative_gap", fit.relative_gap},
        {"converged", fit.converged},     {"epochs", fit.epochs},         {"seconds", fit.seconds}};
  }
  return {{"train_size", iris.train_size}, {"test_size", iris.held_out.examples()}, {"fits", std::move(fits)}};
}

}  // namespace

std::string demo_json(const std::vector<Study>& studies, const IrisResult& iris, double seconds) {
  Json object = {{"synthetic", Json::array()}, {"iris", iris_json(iris)}, {"seconds", seconds}};
  for (const Study& study : studies) object["synthetic"].push_back(study_json(study));
  return object.dump();
}

}  // namespace m4n::cli
