// m4n predict on matchings: the partner of every point.
#pragma once
#include <string>

#include "m4n/context.h"
#include "m4n/model.h"

namespace m4n::cli {

struct MatchingPrediction {
  bool scores, marginals, json;
  Context context;
};

// A CSV matching,point,partner: one line a point of the first set; with scores or
// marginals one line a pair, matching,point,other,matched[,score][,p]. Or one JSON object: n, partner and, where asked
// for, scores and marginals, M x M a matching.
std::string predicted_matchings(const Model& model, const std::string& data, const MatchingPrediction& wanted);

}  // namespace m4n::cli
