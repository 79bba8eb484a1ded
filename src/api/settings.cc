// Settings from the table of options (settings.h).
#include "api/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "structures/structure.h"

namespace m4n::detail {

std::uint64_t data_checksum(const Dataset& data) {
  std::uint64_t sum = 0;
  if (const auto* dense = std::get_if<DenseMatrix>(&data.x)) {
    sum = checksum_of<double>(dense->values, sum);
  } else {
    const auto& sparse = std::get<SparseMatrix>(data.x);
    sum = checksum_of<std::size_t>(sparse.row_start, sum);
    sum = checksum_of<std::uint32_t>(sparse.column, sum);
    sum = checksum_of<double>(sparse.value, sum);
  }
  sum = checksum_of<std::int32_t>(data.label, sum);
  if (data.label.size() != data.examples()) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < data.examples(); ++i) ends.push_back(data.labels.end(i));
    sum = checksum_of<std::size_t>(ends, sum);
  }
  if (data.graph) {
    std::vector<std::uint32_t> ends = data.graph->node_type;
    for (const GraphEdge& edge : data.graph->edge) ends.insert(ends.end(), {edge.u, edge.v});
    ends.insert(ends.end(), data.graph->edge_type.begin(), data.graph->edge_type.end());
    sum = checksum_of<std::uint32_t>(ends, sum);
    sum = checksum_of<double>(data.graph->edge_features.values, sum);
  }
  for (const std::string& name : data.class_names) sum = checksum_of<char>({name.c_str(), name.size() + 1}, sum);
  sum = checksum_of<double>(data.weight, sum);
  return checksum_of<double>(data.costs.values.values, sum);
}

Settings settings_of(const TrainOptions& options, const Dataset& data, std::span<const std::string_view> left_out) {
  const Structure& structure = structure_named(options.task);
  const LossSummary loss = structure.loss(options, data);
  Settings out{{"data", fmt::format("{:016x}", data_checksum(data))},
               {"examples", fmt::format("{}", data.examples())},
               {"costs", checksum_text(loss.values)}};
  for (const OptionRow& row : train_option_table()) {
    if (row.effect == OptionEffect::on_the_run || std::count(left_out.begin(), left_out.end(), row.name) > 0) continue;
    const std::string text = row.given(options) ? row.text(options) : "";
    out.emplace_back(row.name, text.empty() ? row.fallback : text);
  }
  for (const auto& own : structure.settings(options, data)) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& entry) { return entry.first == own.first; });
    if (same == out.end())
      out.push_back(own);
    else
      same->second = own.second;  // of files: what is in them, not what they are called
  }
  return out;
}

}  // namespace m4n::detail
