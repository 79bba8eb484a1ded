#include "predict_matchings.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "m4n/read.h"
#include "scoring.h"
#include "structures/permutations/predictor.h"

namespace m4n::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Found {
  Groups points, pairs;
  std::vector<std::int32_t> partner;
  std::vector<double> scores, marginals;
};

std::string as_csv(const Found& found, const MatchingPrediction& wanted) {
  const bool all_pairs = wanted.scores || wanted.marginals;
  std::string out = all_pairs ? "matching,point,other,matched" : "matching,point,partner";
  if (wanted.scores) out += ",score";
  if (wanted.marginals) out += ",p";
  out += '\n';
  for (std::size_t e = 0; e < found.points.count(); ++e) {
    const std::size_t first = found.points.begin(e), size = found.points.end(e) - first;
    for (std::size_t i = 0; i < size; ++i) {
      const auto partner = static_cast<std::size_t>(found.partner[first + i]);
      if (!all_pairs) fmt::format_to(std::back_inserter(out), "{},{},{}\n", e + 1, i + 1, partner + 1);
      for (std::size_t j = 0; all_pairs && j < size; ++j) {
        const std::size_t pair = found.pairs.begin(e) + i * size + j;
        fmt::format_to(std::back_inserter(out), "{},{},{},{}", e + 1, i + 1, j + 1, j == partner ? 1 : 0);
        if (wanted.scores) fmt::format_to(std::back_inserter(out), ",{}", found.scores[pair]);
        if (wanted.marginals) fmt::format_to(std::back_inserter(out), ",{}", found.marginals[pair]);
        out += '\n';
      }
    }
  }
  return out;
}

// The values of every matching as M rows of M.
Json square_rows(const Found& found, const std::vector<double>& values) {
  Json out = Json::array();
  for (std::size_t e = 0; e < found.points.count(); ++e) {
    const std::size_t size = found.points.end(e) - found.points.begin(e);
    Json rows = Json::array();
    for (std::size_t i = 0; i < size; ++i)
      rows.push_back(std::span(values).subspan(found.pairs.begin(e) + i * size, size));
    out.push_back(std::move(rows));
  }
  return out;
}

std::string as_json(const Found& found, const MatchingPrediction& wanted) {
  Json object = {{"n", found.points.count()}};
  Json& partners = object["partner"] = Json::array();
  for (std::size_t e = 0; e < found.points.count(); ++e) {
    Json own = Json::array();
    for (std::size_t p = found.points.begin(e); p < found.points.end(e); ++p) own.push_back(found.partner[p] + 1);
    partners.push_back(std::move(own));
  }
  if (wanted.scores) object["scores"] = square_rows(found, found.scores);
  if (wanted.marginals) object["marginals"] = square_rows(found, found.marginals);
  return object.dump() + "\n";
}

}  // namespace

std::string predicted_matchings(const Model& model, const std::string& data, const MatchingPrediction& wanted) {
  const Dataset examples = read_model_matchings(data, model, false);
  if (model.decode == Decoder::expected || wanted.marginals) require_probabilities(examples, data);
  Found found;
  found.pairs = examples.feature_rows;
  found.points = examples.labels;
  found.scores = finite_pair_scores(model, examples, data, wanted.context);
  const PermutationPredictor predictor(model);
  found.partner = predictor.matchings(found.scores, found.pairs, wanted.context);
  if (wanted.marginals) found.marginals = predictor.matching_marginals(found.scores, found.pairs, wanted.context);
  return wanted.json ? as_json(found, wanted) : as_csv(found, wanted);
}

}  // namespace m4n::cli
