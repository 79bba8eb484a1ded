// The table of surrogates, their names (core/enum_names.h) and the decoders that go with them (registry.h).
#include "surrogates/registry.h"

#include <vector>

#include "core/enum_names.h"

namespace m4n::detail {
namespace {

constexpr SurrogateRow rows[] = {
    {.name = "m4n", .help = "max-min margin", .kind = SurrogateKind::m4n, .contains_costs = true, .smoothing = true},
    {.name = "m3n", .help = "max-margin", .kind = SurrogateKind::m3n, .contains_costs = true},
    {.name = "crf", .help = "log-likelihood", .kind = SurrogateKind::crf, .probabilities = true},
    {.name = "qs", .help = "squared error of the costs", .kind = SurrogateKind::qs, .closed_form = true}};

}  // namespace

std::span<const SurrogateRow> surrogate_rows() { return rows; }

const SurrogateRow& surrogate_row(SurrogateKind kind) { return rows[static_cast<std::size_t>(kind)]; }

template <>
std::span<const EnumName<SurrogateKind>> enum_names() {
  static const std::vector<EnumName<SurrogateKind>> names = [] {
    std::vector<EnumName<SurrogateKind>> out;
    for (const SurrogateRow& row : rows) out.push_back({row.kind, row.name});
    return out;
  }();
  return names;
}

bool defines_probabilities(SurrogateKind surrogate, double smoothing) {
  return surrogate_row(surrogate).probabilities || smoothing > 0;
}

bool goes_with(Decoder decoder, SurrogateKind surrogate, double smoothing, bool classes) {
  switch (decoder) {
    case Decoder::argmax:
    case Decoder::viterbi:
      return true;
    case Decoder::adversary:
      return surrogate == SurrogateKind::m4n;
    case Decoder::expected:
      return defines_probabilities(surrogate, smoothing) || (classes && surrogate == SurrogateKind::qs);
    default:
      return false;
  }
}

Decoder usual_decoder(SurrogateKind surrogate, double smoothing, bool symmetric_costs, Decoder largest) {
  if (defines_probabilities(surrogate, smoothing)) return Decoder::expected;
  return surrogate == SurrogateKind::m4n && !symmetric_costs ? Decoder::adversary : largest;
}

}  // namespace m4n::detail

namespace m4n {

const char* to_string(SurrogateKind value) { return detail::name_of(value); }

}  // namespace m4n
