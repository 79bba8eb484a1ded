// Field by field, bit by bit: -0.0 differs from 0.0.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "structures/chains/data.h"
#include "support/flat_model.h"

namespace m4n::detail::test {

inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

inline std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> result;
  for (const double value : values) result.push_back(bits(value));
  return result;
}

inline void expect_same_chain(const ChainWeights& a, const ChainWeights& b) {
  ASSERT_EQ(a.features.index(), b.features.index());
  if (const auto* narrow = std::get_if<std::vector<float>>(&a.features)) {
    const auto& other = std::get<std::vector<float>>(b.features);
    ASSERT_EQ(narrow->size(), other.size());
    for (std::size_t i = 0; i < other.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>((*narrow)[i]), std::bit_cast<std::uint32_t>(other[i]));
  } else {
    EXPECT_EQ(bits(std::get<std::vector<double>>(a.features)), bits(std::get<std::vector<double>>(b.features)));
  }
  EXPECT_EQ(bits(a.bias), bits(b.bias));
  EXPECT_EQ(bits(a.transitions), bits(b.transitions));
  EXPECT_EQ(bits(a.start), bits(b.start));
  EXPECT_EQ(bits(a.end), bits(b.end));
}

inline void expect_same_input(const SequenceInput& a, const SequenceInput& b) {
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.attributes.text(), b.attributes.text());
  EXPECT_EQ(a.attributes.attributes(), b.attributes.attributes());
  EXPECT_EQ(a.feature_columns, b.feature_columns);
  EXPECT_EQ(a.dictionary.to_bytes(), b.dictionary.to_bytes());
  ASSERT_EQ(a.grid.has_value(), b.grid.has_value());
  if (!a.grid) return;
  EXPECT_EQ(a.grid->height, b.grid->height);
  EXPECT_EQ(a.grid->width, b.grid->width);
}

inline void expect_same_graph(const FlatGraph& a, const FlatGraph& b) {
  ASSERT_EQ(a.edges.size(), b.edges.size());
  for (std::size_t e = 0; e < a.edges.size(); ++e) {
    EXPECT_EQ(a.edges[e].u, b.edges[e].u);
    EXPECT_EQ(a.edges[e].v, b.edges[e].v);
  }
  EXPECT_EQ(bits(a.weights), bits(b.weights));
  EXPECT_EQ(a.node_types, b.node_types);
  EXPECT_EQ(a.edge_types, b.edge_types);
  EXPECT_EQ(a.feature_names, b.feature_names);
  EXPECT_EQ(a.features, b.features);
}

inline void expect_same_model(const FlatModel& a, const FlatModel& b) {
  EXPECT_EQ(a.task, b.task);
  EXPECT_EQ(a.surrogate, b.surrogate);
  EXPECT_EQ(a.decode, b.decode);
  EXPECT_EQ(bits(a.smoothing), bits(b.smoothing));
  EXPECT_EQ(a.loss_name, b.loss_name);
  EXPECT_EQ(bits(a.cost), bits(b.cost));
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.predictions, b.predictions);
  EXPECT_EQ(a.bins.rule, b.bins.rule);
  EXPECT_EQ(bits(a.bins.cuts), bits(b.bins.cuts));
  EXPECT_EQ(a.feature_names, b.feature_names);
  EXPECT_EQ(a.target_column, b.target_column);
  EXPECT_EQ(a.weights_column, b.weights_column);
  EXPECT_EQ(a.id_column, b.id_column);
  EXPECT_EQ(a.fold_column, b.fold_column);
  EXPECT_EQ(a.d, b.d);
  EXPECT_EQ(a.sparse, b.sparse);
  EXPECT_EQ(bits(a.standardizer.mean), bits(b.standardizer.mean));
  EXPECT_EQ(bits(a.standardizer.inverse_scale), bits(b.standardizer.inverse_scale));
  EXPECT_EQ(a.map.kind, b.map.kind);
  EXPECT_EQ(a.map.kernel.kind, b.map.kernel.kind);
  EXPECT_EQ(bits(a.map.kernel.gamma), bits(b.map.kernel.gamma));
  EXPECT_EQ(a.map.kernel.degree, b.map.kernel.degree);
  EXPECT_EQ(a.map.points.rows, b.map.points.rows);
  EXPECT_EQ(bits(a.map.points.values), bits(b.map.points.values));
  EXPECT_EQ(bits(a.map.phase), bits(b.map.phase));
  EXPECT_EQ(a.bias, b.bias);
  EXPECT_EQ(bits(a.weights), bits(b.weights));
  EXPECT_EQ(a.solver, b.solver);
  EXPECT_EQ(bits(a.lambda), bits(b.lambda));
  EXPECT_EQ(bits(a.tol), bits(b.tol));
  EXPECT_EQ(a.n, b.n);
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.oracle_calls, b.oracle_calls);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(bits(a.train_loss), bits(b.train_loss));
  EXPECT_EQ(bits(a.norm_squared), bits(b.norm_squared));
  EXPECT_EQ(bits(a.certificate.primal), bits(b.certificate.primal));
  EXPECT_EQ(bits(a.certificate.dual), bits(b.certificate.dual));
  EXPECT_EQ(a.certificate.converged, b.certificate.converged);
  EXPECT_EQ(a.interrupted, b.interrupted);
  // Of classes the tokens are the examples, which a model made by hand need not say.
  if (a.task != "multiclass" && a.task != "ordinal") {
    EXPECT_EQ(a.parts, b.parts);
  }
  EXPECT_EQ(a.points, b.points);
  expect_same_chain(a.chain, b.chain);
  expect_same_graph(a.graph, b.graph);
  ASSERT_EQ(a.input != nullptr, b.input != nullptr);
  if (a.input) expect_same_input(*a.input, *b.input);
}

}  // namespace m4n::detail::test
