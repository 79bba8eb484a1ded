// The tables behind enum_names.h: one row per value. to_string and the parsers both read them. That of surrogates is in
// surrogates/registry.cc.
#include "core/enum_names.h"

#include <fmt/format.h>

#include "core/message.h"

namespace m4n::detail {
namespace {

constexpr EnumName<SolverKind> solver_names[] = {{SolverKind::automatic, "auto"}, {SolverKind::prox, "prox"},
                                                 {SolverKind::atoms, "atoms"},    {SolverKind::smooth, "smooth"},
                                                 {SolverKind::gbcfw, "gbcfw"},    {SolverKind::lbfgs, "lbfgs"}};
constexpr EnumName<OracleKind> oracle_names[] = {{OracleKind::exact, "exact"}, {OracleKind::spmp, "spmp"}};
constexpr EnumName<Decoder> decoder_names[] = {{Decoder::automatic, "auto"},
                                               {Decoder::argmax, "argmax"},
                                               {Decoder::adversary, "adversary"},
                                               {Decoder::expected, "expected"},
                                               {Decoder::viterbi, "viterbi"}};
constexpr EnumName<StepRule> step_names[] = {
    {StepRule::automatic, "auto"}, {StepRule::paper, "paper"}, {StepRule::line_search, "line-search"}};
constexpr EnumName<Binning> binning_names[] = {{Binning::quantile, "quantile"}, {Binning::width, "width"}};

constexpr EnumName<FeatureKind> feature_names[] = {
    {FeatureKind::linear, "linear"},           {FeatureKind::rbf, "rbf"},
    {FeatureKind::laplacian, "laplacian"},     {FeatureKind::poly, "poly"},
    {FeatureKind::rbf_centers, "rbf-centers"}, {FeatureKind::nystrom, "nystrom"},
    {FeatureKind::fourier, "fourier"}};
constexpr EnumName<Landmarks> landmark_names[] = {{Landmarks::kmeans, "kmeans"}, {Landmarks::uniform, "uniform"}};

}  // namespace

template <>
std::span<const EnumName<SolverKind>> enum_names() {
  return solver_names;
}
template <>
std::span<const EnumName<OracleKind>> enum_names() {
  return oracle_names;
}
template <>
std::span<const EnumName<Decoder>> enum_names() {
  return decoder_names;
}
template <>
std::span<const EnumName<StepRule>> enum_names() {
  return step_names;
}
template <>
std::span<const EnumName<Binning>> enum_names() {
  return binning_names;
}

template <>
std::span<const EnumName<FeatureKind>> enum_names() {
  return feature_names;
}
template <>
std::span<const EnumName<Landmarks>> enum_names() {
  return landmark_names;
}
void refuse_name(std::string_view name, std::string_view what, const std::string& valid_names) {
  throw UsageError(say("{}: '{}' is not a known value; expected one of: {}", what, name, valid_names));
}

}  // namespace m4n::detail

namespace m4n {

const char* to_string(SolverKind value) { return detail::name_of(value); }
const char* to_string(OracleKind value) { return detail::name_of(value); }
const char* to_string(Decoder value) { return detail::name_of(value); }
const char* to_string(StepRule value) { return detail::name_of(value); }
const char* to_string(Binning value) { return detail::name_of(value); }
const char* to_string(FeatureKind value) { return detail::name_of(value); }
const char* to_string(Landmarks value) { return detail::name_of(value); }

}  // namespace m4n
