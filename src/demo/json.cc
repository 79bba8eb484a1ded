// The numbers of the demo as one JSON object.
#include "core/json.h"
#include "demo/demo.h"

namespace m4n::detail {
namespace {

Json study_json(const Study& study) {
  Json levels = Json::array();
  for (const StudyLevel& level : study.levels) {
    Json fits = Json::object();
    for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
      const StudyFit& fit = level.fits[j];
      fits.set(to_string(demo_surrogates[j]), Json::object({{"excess_risk", fit.excess},
                                                            {"relative_gap", fit.relative_gap},
                                                            {"converged", fit.converged},
                                                            {"epochs", fit.epochs},
                                                            {"seconds", fit.seconds}}));
    }
    levels.push(
        Json::object({{"n", level.n}, {"lambda", level.lambda}, {"seeds", level.seeds}, {"fits", std::move(fits)}}));
  }
  return Json::object({{"cost_name", study.name},
                       {"task", study.order == Order::grades ? "ordinal" : "multiclass"},
                       {"cost", Json::rows(std::span<const double>(study.cost.values()), study.cost.k())},
                       {"bayes_risk", study.bayes_risk},
                       {"levels", std::move(levels)}});
}

Json iris_json(const IrisResult& iris) {
  Json fits = Json::object();
  for (std::size_t j = 0; j < demo_surrogates.size(); ++j) {
    const IrisFit& fit = iris.fits[j];
    fits.set(to_string(demo_surrogates[j]), Json::object({{"train_error", fit.train_error},
                                                          {"test_error", fit.test_error},
                                                          {"relative_gap", fit.relative_gap},
                                                          {"converged", fit.converged},
                                                          {"epochs", fit.epochs},
                                                          {"seconds", fit.seconds}}));
  }
  return Json::object(
      {{"train_size", iris.train_size}, {"test_size", iris.held_out.examples()}, {"fits", std::move(fits)}});
}

}  // namespace

std::string demo_json(const std::vector<Study>& studies, const IrisResult& iris, double seconds) {
  Json synthetic = Json::array();
  for (const Study& study : studies) synthetic.push(study_json(study));
  return Json::object({{"synthetic", std::move(synthetic)}, {"iris", iris_json(iris)}, {"seconds", seconds}}).text();
}

}  // namespace m4n::detail
