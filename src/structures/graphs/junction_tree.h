// Junction trees: the order of elimination, the plan of all steps of inference, and the trees themselves, one per
// shape.
//
// What inference on a graph does, step by step, worked out once per shape.
//
// Nodes are eliminated one after the other (min_fill below). The bucket of node x with the separator S
// joins all that involves x and nothing eliminated before: the unary scores of x, its edges to S, and the messages of
// earlier buckets that hand over to x. Its table has an entry for every label of x and every labelling of S; going up,
// x is maximised or summed out of it, and the message over S goes to the first node of S to be eliminated. This is
// message passing on the clique tree with the cliques {x} + S.
//
// S is ordered by elimination, so that a message lies in the order in which the next bucket wants it, the receiving
// node outermost. The last nodes of S, as many as fill a vector with their labels, are the run of the table; terms that
// do not involve them are the same for a whole run. Other layouts than these are made before: edges are transposed, a
// term that involves only a part of the run is spread over it. When maximising, the table itself is never stored.
//
// Going down, p(x, S) = p(x | S) p(S) is summed down to the separators of the buckets that sent messages and to the
// edges. Conditional distributions are never divided by a marginal, so that labels without mass do no harm.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/views.h"
#include "structures/graphs/factor_graph.h"
#include "structures/graphs/kernels.h"

namespace m4n::detail {

// The order in which the nodes of a graph are eliminated. Eliminating a node joins all of its neighbours to each other
// and takes it away; the neighbours it had then are its separator. The largest separator is the treewidth of the order.
//
// Min-fill: next is always the node whose elimination adds the fewest edges; of several the one whose table (its labels
// times those of its neighbours) is smallest; of several the one with the smallest number. A tree is eliminated from
// its leaves and gets the treewidth 1, a chain from its first node to its last. The counts of added edges are kept up
// to date, so that an elimination costs O(w^2 d) for a separator of w nodes with up to d neighbours. The search ends
// early where a table would have more than 2^40 entries: no machine will work with such an order.

struct Elimination {
  std::vector<std::uint32_t> order;                   // nodes
  std::vector<std::uint32_t> place;                   // of every node in the order
  std::vector<std::vector<std::uint32_t>> separator;  // of order[i], by place
  std::size_t treewidth = 0;
  bool complete = true;  // false: it ended early, and `order` and `separator` stop at the table that is too large
};

Elimination min_fill(const FactorGraph& graph);

struct JunctionBucket {
  std::uint32_t node = 0, labels = 0;
  std::vector<std::uint32_t> separator;                  // by elimination
  std::vector<std::uint32_t> row_stride, column_stride;  // of each of them in the rows and in a run of the table
  std::uint32_t size = 1;                                // entries of the message
  std::uint32_t finish = 0;                              // the step that makes the message
  std::uint32_t mass = 0;                                // p(S) in the arena of masses
  std::uint32_t first_flow = 0, last_flow = 0;
};

// A sum that goes down from the table of a bucket.
struct JunctionFlow {
  enum class Kind : std::uint8_t {
    own,       // mass[to + x] = p(x)
    project,   // mass[to + x to_stride + offset[row] + c] += table[x][row][c]
    row_sums,  // mass[to + x rows + row] = sum_c table[x][row][c]
    scatter    // mass[to + index[i]] += mass[from + i],  i < size
  };
  Kind kind;
  std::uint32_t from = 0, to = 0, to_stride = 0, size = 0, offsets = 0;
};

struct JunctionPlan {
  std::vector<kernels::GraphStep> steps;
  std::vector<std::uint32_t> index;
  std::vector<JunctionBucket> buckets;  // in the order of elimination
  std::vector<JunctionFlow> flows;
  std::vector<std::uint32_t> edge_mass;  // where the marginals of every edge are, padded rows; they come first
  std::uint32_t edge_size = 0;           // entries of all of them
  std::uint32_t arena_size = 0, table_size = 0, mass_size = 0;  // entries of the workspaces
};

// The bytes that the plan and the workspaces of one thread take, without making them. The order must be complete.
double plan_bytes(const FactorGraph& graph, const Elimination& elimination);
// `plan_bytes` must be below 2^34, so that 32 bits count all entries.
JunctionPlan make_plan(const FactorGraph& graph, const Elimination& elimination);

// The maker of plans. It runs twice: once to count what the plan would take, in floating point so that nothing can
// overflow, and once to make it.

class JunctionPlanner {
 public:
  JunctionPlanner(const FactorGraph& graph, const Elimination& elimination, bool counting);

  double bytes() const;
  JunctionPlan& plan() { return plan_; }

 private:
  using Scope = std::uint64_t;  // a set of nodes of the separator, by their place in it
  using Offsets = std::vector<std::uint64_t>;

  // A table over the labels of x and of the nodes in `scope`. Strides are 0 for nodes outside the scope.
  struct Term {
    bool outside;
    std::uint64_t at;
    Scope scope;
    std::uint64_t x_stride;
    std::vector<std::uint64_t> stride;
    std::uint64_t mass = 0;  // where its marginals go, in the same layout
  };
  // The part of the separator whose labellings are one run.
  struct Group {
    std::size_t first, last;
    Scope scope;
  };
  // A message on its way: the place of its bucket and where it lies.
  struct Message {
    std::uint32_t bucket;
    std::uint64_t at;
  };

  void plan_bucket(std::size_t place);
  Group last_group() const;
  std::vector<Term> collect(std::size_t place);
  Term own_term(Scope scope, std::uint64_t at) const;
  Term scalar_term(Scope scope, std::uint64_t at) const;
  Term arrange(const Term& term);
  Term scalar_of(const Term& term);
  Term gather(const Term& term, Scope scope);
  std::uint64_t transpose(const Term& term, std::uint64_t rows, std::uint64_t stride, std::uint64_t columns);
  kernels::GraphStep sum_step(kernels::GraphStepKind kind, std::span<const Term> scalars, std::span<const Term> terms,
                              Scope scope);
  Term add_terms(std::span<const Term> terms);
  Term add_scalars(std::span<const Term> scalars);
  template <class Add>
  void merge_surplus(std::vector<Term>& terms, std::size_t room_for, Add&& add);
  void plan_sums(std::span<const Term> terms);
  void plan_flows(std::span<const Term> terms, JunctionBucket& bucket);
  void flow_to(const Term& target, std::optional<std::uint64_t>& row_sums);

  static Scope union_of(std::span<const Term> terms);
  bool contiguous(const Term& term) const;
  Scope whole() const { return (Scope{1} << extent_.size()) - 1; }
  std::uint64_t size_of(Scope scope) const;  // labellings of the nodes in the scope
  std::vector<std::size_t> nodes_of(Scope scope) const;
  kernels::GraphTerm resolve(const Term& term, Scope rows);
  // Offsets of all labellings of the nodes, the last fastest, with x in front of them if `with_x`.
  std::uint32_t offsets(const Term& term, Scope scope, bool with_x);
  std::uint64_t room(double& total, std::uint64_t entries) const;
  std::uint32_t number(double value) const { return counting_ ? 0 : static_cast<std::uint32_t>(value); }

  const FactorGraph* graph_;
  const Elimination* elimination_;
  bool counting_;
  JunctionPlan plan_;
  double arena_ = 0, tables_ = 0, mass_ = 0, edges_ = 0, index_ = 0;
  std::vector<std::vector<std::uint32_t>> edges_of_;  // by the place of the end that is eliminated first
  std::vector<std::vector<Message>> inbox_;           // by place
  // Of the bucket at hand.
  std::uint32_t labels_ = 0;
  std::vector<std::uint32_t> extent_;  // labels of the nodes of the separator
  Group group_{};
};

// The junction tree of a shape: everything about inference on it that does not depend on scores, made once and kept in
// a cache. A shape whose tables would take more memory than allowed is refused before anything is allocated.

class JunctionTree {
 public:
  static constexpr double default_limit = 256e6;  // bytes

  // Throws Error if the plan and the workspaces of one thread would take more than `limit` bytes.
  explicit JunctionTree(FactorGraph graph, double limit = default_limit);

  const FactorGraph& graph() const { return graph_; }
  const JunctionPlan& plan() const { return plan_; }
  std::size_t treewidth() const { return treewidth_; }  // of the order of elimination: an upper bound
  double bytes() const { return bytes_; }               // plan and workspaces
  double table_entries() const;                         // of all buckets: the additions and the maxima of one decoding

 private:
  FactorGraph graph_;
  std::size_t treewidth_ = 0;
  double bytes_ = 0;
  JunctionPlan plan_;
};

// Junction trees by shape. They stay where they are until the cache is destroyed. Not for several threads at once.
class JunctionTreeCache {
 public:
  explicit JunctionTreeCache(double limit = JunctionTree::default_limit) : limit_(limit) {}
  const JunctionTree& find(const FactorGraph& graph);
  std::size_t size() const { return trees_.size(); }

 private:
  double limit_;
  std::unordered_map<FactorGraph, std::unique_ptr<JunctionTree>, FactorGraphHash> trees_;
};

// The scores of one graph,
//
//     score(y) = sum_m unary[m][y_m] + sum_e pairwise[e][y_u][y_v],
//
// as views: `unary` has a row for every node and at least as many columns as the widest node has labels; the table of
// an edge (u, v) is labels(u) x labels(v), and edges may share tables. Scores are finite. The padding is read as
// numbers that are thrown away.
struct GraphScores {
  const JunctionTree* tree;
  PaddedRows<const double> unary;
  std::span<const PaddedRows<const double>> pairwise;

  const FactorGraph& graph() const { return tree->graph(); }
  std::size_t length() const { return unary.rows(); }
};

double score(const GraphScores& v, LabelView y);

}  // namespace m4n::detail
