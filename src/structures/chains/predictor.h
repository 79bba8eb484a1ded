// The weights of a chain of labels: the score of a labelling adds, for every token, what its features and the bias give
// its label; for every two neighbours, a transition; and a start and an end. Features are float where the solver kept
// them so, as it does with large vocabularies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/views.h"
#include "losses/cost_matrix.h"
#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "structures/chains/constraints.h"
#include "structures/chains/oracles.h"
#include "structures/chains/space.h"

namespace m4n::detail {

struct ChainWeights {
  std::variant<std::vector<double>, std::vector<float>> features;  // d x k
  std::vector<double> bias;                                        // k, or none
  std::vector<double> transitions, start, end;                     // k x k ([from * k + to]), k, k
  ChainConstraints constraints{};                                  // of training, and so of predictions
};

// Predictions for sequences: scores of the tokens from sparse or dense rows, then the labelling,
//
//   viterbi    argmax_y score(y), exactly                                                      O(M R^2)
//   expected   CRF: at every token the label of least expected cost under its marginals        O(M R^2)
//   adversary  M4N: at every token the min player's most likely answer in the game at v        the game of the example
//
// The last two may predict what is no label, where the costs have such predictions. Under constraints,
// which such predictions exclude, they are the best labelling that is allowed: of least expected cost in all, or of the
// most likely answers in all, by Viterbi.
//
// ChainPredictor holds the weights and is shared; each thread has its ChainTagger.

class ChainPredictor {
 public:
  ChainPredictor(const ChainWeights& weights, CostMatrix cost, Decoder decode);
  std::size_t labels() const { return cost_.k(); }

 private:
  friend class ChainTagger;
  CostMatrix cost_;
  Decoder decode_;
  ChainGame game_;
  std::variant<AlignedVector<double>, AlignedVector<float>> features_;  // rows padded as those of scores
  AlignedVector<double> bias_;                                          // one padded row, zeros without a bias
  Transitions transitions_;
  ExpTransitions exp_transitions_;
  std::optional<Transitions> constraints_;  // 0 where allowed
};

// One sentence at a time; nothing is allocated once the longest was seen.
class ChainTagger {
 public:
  explicit ChainTagger(const ChainPredictor& shared) : shared_(shared) {}

  // Scores the rows first, first + 1, .. of x, `length` of them. False if a score is beyond what can be
  // computed with.
  bool read(const FeaturesView& x, std::size_t first, std::size_t length);
  // What follows is about the sentence read last.
  void decode(std::span<std::int32_t> y);
  double score(LabelView y) const { return detail::score(scores(), y); }
  // Of a CRF: the probabilities of the labels at every token, and the logarithm of the sum of all exp(score).
  PaddedRows<const double> marginals();
  double log_partition();
  const KBest& best(std::size_t count);

 private:
  ChainScores scores() const { return {unary_.view(), &shared_.transitions_}; }
  void prefer(PaddedRows<const double> preference, std::span<std::int32_t> y);
  const ChainPredictor& shared_;
  PaddedMatrix<double> unary_, preference_;
  Viterbi viterbi_;
  SumProduct sum_product_;
  KBest k_best_;
  ChainGame::Workspace game_;
  GameSeeds seeds_;
};

// One label per row, in parallel over sentences. Throws Error where scores are not finite, naming the sentence.
std::vector<std::int32_t> predict_sequences(const ChainPredictor& predictor, const FeaturesView& x,
                                            const Groups& tokens, const Context& context);

// Of a CRF: the probabilities of all labels, k per row.
std::vector<double> sequence_marginals(const ChainPredictor& predictor, const FeaturesView& x, const Groups& tokens,
                                       const Context& context);

}  // namespace m4n::detail
