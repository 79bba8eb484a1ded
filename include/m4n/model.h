// A trained model: everything needed to predict, and nothing about how long training took or where.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "m4n/context.h"
#include "m4n/dataset.h"
#include "m4n/options.h"
#include "m4n/report.h"

namespace m4n {

// x -> (x - mean) * inverse_scale, column by column. Sparse features are scaled but not centred (mean is empty).
// Empty vectors: the identity.
struct Standardizer {
  std::vector<double> mean, inverse_scale;
};

enum class KernelKind { rbf, laplacian, poly };
const char* to_string(KernelKind);
struct Kernel {
  KernelKind kind = KernelKind::rbf;
  double gamma = 1;
  int degree = 3;
};

// From a (standardised) input to what the weights multiply: the input itself; K(x, c) for the rows c of `points` (the
// support examples of a kernel, RBF centres, Nystrom landmarks, whatever was done to them in training being folded into
// the weights); or cos(points x + phase) for random Fourier features.
struct FeatureMap {
  FeatureKind kind = FeatureKind::linear;
  Kernel kernel;
  DenseMatrix points;
  std::vector<double> phase;
};

// The weights of a chain of labels: the score of a labelling adds, for every token, what its features and the bias give
// its label; for every two neighbours, a transition; and a start and an end. Features are float where the solver kept
// them so, as it does with large vocabularies.
struct ChainWeights {
  std::variant<std::vector<double>, std::vector<float>> features;  // d x k
  std::vector<double> bias;                                        // k, or none
  std::vector<double> transitions, start, end;                     // k x k ([from * k + to]), k, k
};

// What joins labels that depend on each other, and what that is worth.
struct GraphPart {
  std::vector<GraphEdge> edges;  // of label sets, the same in all examples, each with a table of its own
  // By edge type (by edge of label sets) the tables of the edge's features, then the constant one: k x k each, row the
  // label of the edge's first node.
  std::vector<double> weights;
  std::vector<std::string> node_types, edge_types, feature_names;  // of graphs; empty: one type, features without names
  std::size_t features = 0;                                        // of an edge
};

struct Model {
  Task task = Task::multiclass;
  SurrogateKind surrogate = SurrogateKind::m4n;
  Decoder decode = Decoder::argmax;
  double smoothing = 0;  // in units of the mean off-diagonal cost, as asked for
  // zero-one, absolute, squared, hamming (of parts) or matrix; of permutations those of losses/position_loss_choice.h; of
  // label sets hamming or costs
  std::string loss_name;
  // k x k, cost[true * k + predicted]; of permutations what their loss remembers, of label sets with the loss costs all
  // misses, then all false alarms
  std::vector<double> cost;
  std::vector<std::string> classes;  // or labels, or the items of rankings; none for matchings
  std::size_t points = 0;            // of matchings: the most a side had in training
  OrdinalBins bins;                  // no cuts: the labels came as they are
  std::vector<std::string> feature_names;
  // Columns of the training data that were asked for by name and are no features; empty: not asked for.
  std::string target_column, weights_column, id_column, fold_column;
  std::size_t d = 0;
  bool sparse = false;
  Standardizer standardizer;
  FeatureMap map;
  bool bias = true;
  std::vector<double> weights;  // (width() + bias) x outputs(), feature-major, last the bias. None for sequences
  ChainWeights chain;           // of sequences
  GraphPart graph;              // of graphs, and of label sets with edges
  std::shared_ptr<const SequenceInput> input;  // how files of sequences are read; null: the rows come as they are
  std::string solver;                          // that found the weights
  double lambda = 0, tol = 0;
  std::size_t n = 0, tokens = 0;  // examples; labels in all, where they differ
  int epochs = 0;
  std::uint64_t oracle_calls = 0, seed = 0;
  double train_loss = 0, norm_squared = 0;
  Certificate certificate;
  bool interrupted = false;  // training was stopped from outside

  std::size_t k() const { return classes.size(); }
  // How many scores the weights give a row of features: one a class; of rankings one an item where the loss is of rank
  // one, else one a cell (item, position); of matchings one for the pair; of label sets one a label, with edges one
  // for off and one for on; of graphs one a label, for every type of node.
  std::size_t outputs() const;
  // What these scores are of: classes, items, item_position (from 1), label_0 and label_1, or type:label.
  std::vector<std::string> output_names() const;
  // How many features the weights apply to.
  std::size_t width() const { return map.kind == FeatureKind::linear ? d : map.points.rows; }

  // Of all but sequences: scores v(x), n x outputs(). Refuses features whose number does not fit.
  std::vector<double> scores(const FeaturesView& x, const Context& context = {}) const;
  // The decoder applied to every row of scores. Rankings: the position of every item from 0, n x k; label sets: marks 0
  // and 1, n x k.
  std::vector<std::int32_t> decode_scores(std::span<const double> scores, const Context& context = {}) const;
  std::vector<std::int32_t> predict(const FeaturesView& x, const Context& context = {}) const;
  // `groups` says which rows of x belong together. Sequences: one label a row. Matchings, M x M rows each, pair (i, j)
  // in row i M + j: the partner of every point i, from 0.
  std::vector<std::int32_t> predict(const FeaturesView& x, const Groups& groups, const Context& context = {}) const;
  // Graphs: one label a node, of which every row of x is one.
  std::vector<std::int32_t> predict(const FeaturesView& x, const Groups& graphs, const GraphStructure& structure,
                                    const Context& context = {}) const;
  // Class probabilities, n x k; of rankings those of every cell (item, position), n x k x k; of label sets that each is
  // on. Only where the surrogate
  // defines them (crf), UsageError otherwise.
  std::vector<double> marginals(std::span<const double> scores, const Context& context = {}) const;

  // Written to a temporary file beside `path`, synced and renamed: the old file stays whole until the new one is.
  void save(const std::string& path) const;
  // Checks magic, version, sizes, checksum and every field before use; throws Error on any defect.
  static Model load(const std::string& path);
  std::string to_bytes() const;
  static Model from_bytes(std::span<const char> bytes, const std::string& name);
};

}  // namespace m4n
