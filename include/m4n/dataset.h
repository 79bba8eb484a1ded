// The one validated form in which data reaches the learner, whatever file it came from.
//
// Features are rows, dense or compressed sparse (CSR). An EXAMPLE owns a run of feature rows and a run of integer
// labels. For classes and grades each run has length one; a sentence owns one row and one label per token; a ranking
// owns one row and M ranks, a set of labels one row and M marks 0 or 1; a matching owns M x M rows and M partners; a
// graph one row and one label per node. `Groups` says which run belongs to whom.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "m4n/visibility.h"

namespace m4n {

// Row-major n x d. The view may be strided (a slice of a larger array).
struct DenseView {
  const double* data = nullptr;
  std::size_t rows = 0, cols = 0, stride = 0;
  std::span<const double> row(std::size_t i) const { return {data + i * stride, cols}; }
};

// CSR: row i holds the pairs (column[e], value[e]), row_start[i] <= e < row_start[i+1], columns strictly increasing.
// No values at all, in sequences only: every one is 1, as with the attributes of texts.
struct SparseRow {
  std::span<const std::uint32_t> column;
  std::span<const double> value;
};
struct SparseView {
  std::span<const std::size_t> row_start;  // rows + 1 entries
  std::span<const std::uint32_t> column;
  std::span<const double> value;
  std::size_t rows = 0, cols = 0;
  SparseRow row(std::size_t i) const {
    const std::size_t first = row_start[i], count = row_start[i + 1] - first;
    return {column.subspan(first, count), value.empty() ? value : value.subspan(first, count)};
  }
};
using FeaturesView = std::variant<DenseView, SparseView>;

struct DenseMatrix {
  std::size_t rows = 0, cols = 0;
  std::vector<double> values;
  DenseView view() const { return {values.data(), rows, cols, cols}; }
};
struct SparseMatrix {
  std::size_t rows = 0, cols = 0;
  std::vector<std::size_t> row_start{0};
  std::vector<std::uint32_t> column;
  std::vector<double> value;
  SparseView view() const { return {row_start, column, value, rows, cols}; }
};
using Features = std::variant<DenseMatrix, SparseMatrix>;

inline FeaturesView view(const Features& x) {
  return std::visit([](const auto& m) -> FeaturesView { return m.view(); }, x);
}
inline std::size_t rows(const Features& x) {
  return std::visit([](const auto& m) { return m.rows; }, x);
}
inline std::size_t cols(const Features& x) {
  return std::visit([](const auto& m) { return m.cols; }, x);
}

// Cuts 0..total into consecutive runs: `stride` each, or as `offsets` say where that is not empty.
class Groups {
 public:
  explicit Groups(std::size_t count = 0, std::size_t stride = 1) : count_(count), stride_(stride) {}
  explicit Groups(std::vector<std::size_t> offsets) : count_(offsets.size() - 1), offsets_(std::move(offsets)) {}
  std::size_t count() const { return count_; }
  std::size_t begin(std::size_t i) const { return offsets_.empty() ? i * stride_ : offsets_[i]; }
  std::size_t end(std::size_t i) const { return begin(i + 1); }
  // Where the runs begin, and the end of the last.
  std::vector<std::size_t> offsets() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i <= count_; ++i) out.push_back(begin(i));
    return out;
  }

 private:
  std::size_t count_, stride_ = 1;
  std::vector<std::size_t> offsets_;
};

// Where a raw target is cut into grades: at quantiles of the training targets, or into intervals of equal width.
enum class Binning { quantile, width };
inline constexpr int max_bins = 1000;

// Labels 0..K-1 are the number of cut points strictly below the raw target.
struct OrdinalBins {
  Binning rule = Binning::quantile;
  std::vector<double> cuts;  // K - 1, non-decreasing; none: the labels came as they are
};

// K grades of these targets, of which there is at least one.
M4N_API OrdinalBins cut_into_grades(std::vector<double> targets, int bins, Binning rule);
M4N_API std::int32_t grade_of(double target, const OrdinalBins& bins);

// A label that is not known: the file has none, or the model has never seen it.
inline constexpr std::int32_t unknown_label = -1;

// An undirected edge between two nodes, or two labels of a set, counted from 0. Its table of scores has a row for every
// label of `u` and a column for every label of `v`.
struct GraphEdge {
  std::uint32_t u, v;
  bool operator==(const GraphEdge&) const = default;
};

// What joins the labels of examples that are graphs. Node m of an example is the m-th of its labels (Dataset::labels);
// its features are row m of the example's rows, or, where an example has fewer rows than nodes, consecutive nodes share
// a row: with one row per example and M labels that is a multi-label problem with dependencies.
struct GraphStructure {
  Groups edges;                                 // which edges belong to which example
  std::vector<GraphEdge> edge;                  // the ends count from 0 in every example
  DenseMatrix edge_features;                    // a row per edge; no columns: edges have none
  std::vector<std::string> edge_feature_names;  // empty: the file names none

  // Weights are tied over all nodes, and over all edges, of the same type.
  std::vector<std::uint32_t> node_type;                       // of every row of features; empty: all of one type
  std::vector<std::uint32_t> edge_type;                       // empty: all of one type
  std::vector<std::string> node_type_names, edge_type_names;  // empty: one type without a name

  std::size_t node_types() const { return node_type_names.empty() ? 1 : node_type_names.size(); }
  std::size_t edge_types() const { return edge_type_names.empty() ? 1 : edge_type_names.size(); }
  std::size_t type_of_row(std::size_t row) const { return node_type.empty() ? 0 : node_type[row]; }
  std::size_t type_of_edge(std::size_t e) const { return edge_type.empty() ? 0 : edge_type[e]; }
};

// How a file became rows of features, where the model must read others the same way (the template of a text, say). Its
// structure knows what is in it.
struct M4N_API InputForm {
  virtual ~InputForm() = default;
};

// Numbers of every example that its costs name (an amount, a fee): a column per name, a row per example.
struct CostColumns {
  std::vector<std::string> names;
  DenseMatrix values;
};

struct Dataset {
  Features x;
  std::vector<std::string> feature_names;  // empty: the file names none; they count as 1, 2, ...
  std::vector<std::int32_t> label;         // indices into class_names, or unknown_label
  std::vector<std::string> class_names;
  OrdinalBins bins;                             // the labels are grades cut from a raw target
  std::vector<double> weight;                   // of each example; empty: all equal
  CostColumns costs;                            // of classes and grades, where costs differ from example to example
  Groups feature_rows, labels;                  // which rows and labels an example owns
  std::shared_ptr<const InputForm> input;       // how a file was read; null: the rows came as they are
  std::shared_ptr<const GraphStructure> graph;  // of graphs
  std::size_t examples() const { return labels.count(); }
};

M4N_API Features take_rows(const Features& x, const std::vector<std::size_t>& index);

// These examples, in this order; an example may occur more than once.
M4N_API Dataset subset(const Dataset& data, std::span<const std::size_t> examples);

}  // namespace m4n
