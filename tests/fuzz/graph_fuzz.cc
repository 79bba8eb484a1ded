// Any bytes as graphs: refused in words, or graphs whose parts fit together, and which are the same when written and
// read again.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "m4n/error.h"
#include "structures/graphs/text.h"

namespace m4n::detail::fuzz {
namespace {

std::optional<GraphText> read(std::string_view text) {
  try {
    Input input = Input::memory(text, "fuzz");
    LineReader lines(input);
    return read_graph_text(lines);
  } catch (const Error&) {
    return std::nullopt;  // refused in words
  }
}

void check(const GraphText& g) {
  const std::size_t nodes = g.node_line.size(), edges = g.structure.edge.size();
  if (g.nodes.end(g.graphs() - 1) != nodes || g.x.values.size() != nodes * g.x.cols || g.label.size() != nodes ||
      g.structure.edges.count() != g.graphs() || g.structure.edges.end(g.graphs() - 1) != edges ||
      g.structure.edge_features.values.size() != edges * g.structure.edge_features.cols)
    std::abort();
  std::string text;
  for (std::size_t i = 0; i < g.graphs(); ++i) {
    const std::size_t first = g.nodes.begin(i), count = g.nodes.end(i) - first;
    const std::size_t first_edge = g.structure.edges.begin(i), own = g.structure.edges.end(i) - first_edge;
    const std::span<const GraphEdge> list = std::span(g.structure.edge).subspan(first_edge, own);
    const FactorGraph graph(std::vector<std::uint32_t>(count, 2), {list.begin(), list.end()});  // throws where none
    if (graph.nodes() != count) std::abort();
    std::vector<std::string> labels;
    for (std::size_t m = first; m < first + count; ++m)
      labels.push_back(g.label[m] == unknown_label ? "?" : g.label_names[static_cast<std::size_t>(g.label[m])]);
    const auto part = [](const DenseMatrix& all, std::size_t row, std::size_t rows) {
      const auto begin = all.values.begin() + static_cast<std::ptrdiff_t>(row * all.cols);
      return DenseMatrix{rows, all.cols, {begin, begin + static_cast<std::ptrdiff_t>(rows * all.cols)}};
    };
    text += graph_to_text(labels, part(g.x, first, count), list, part(g.structure.edge_features, first_edge, own));
  }
  const std::optional<GraphText> again = read(text);
  if (!again || again->label != g.label || again->x.values != g.x.values || again->structure.edge != g.structure.edge ||
      again->structure.edge_features.values != g.structure.edge_features.values)
    std::abort();
}

}  // namespace
}  // namespace m4n::detail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  m4n::detail::looks_like_graphs(text);
  if (const auto g = m4n::detail::fuzz::read(text)) m4n::detail::fuzz::check(*g);
  return 0;
}
