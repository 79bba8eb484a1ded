// The names of the choices a user can make, each written down once: what options, reports and model files print is
// what they read back.
//
//   to_string(SurrogateKind::m3n)                        "m3n"   (declared in m4n/options.h)
//   parse_name<SurrogateKind>("m3n", "--surrogate")      SurrogateKind::m3n
//   parse_name<SurrogateKind>("svm", "--surrogate")      UsageError that lists m4n, m3n, crf, qs
//   joined_names<SurrogateKind>("|")                     "m4n|m3n|crf|qs"
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "m4n/options.h"

namespace m4n::detail {

template <class Enum>
struct EnumName {
  Enum value;
  const char* name;
};

// All names of a choice, in the order they are shown. Defined for every enum of m4n/options.h.
template <class Enum>
std::span<const EnumName<Enum>> enum_names();

template <class Enum>
std::optional<Enum> find_by_name(std::string_view name) {
  for (const EnumName<Enum>& entry : enum_names<Enum>())
    if (name == entry.name) return entry.value;
  return std::nullopt;
}

template <class Enum>
const char* name_of(Enum value) {
  for (const EnumName<Enum>& entry : enum_names<Enum>())
    if (value == entry.value) return entry.name;
  return "unknown";
}

template <class Enum>
std::string joined_names(std::string_view separator) {
  std::string joined;
  for (const EnumName<Enum>& entry : enum_names<Enum>()) {
    if (!joined.empty()) joined += separator;
    joined += entry.name;
  }
  return joined;
}

// Throws the UsageError "WHAT: 'NAME' is not a known value; expected one of: ...".
[[noreturn]] void refuse_name(std::string_view name, std::string_view what, const std::string& valid_names);

// `what` is whatever the value was given for ("--surrogate"); it opens the message.
template <class Enum>
Enum parse_name(std::string_view name, std::string_view what) {
  if (const std::optional<Enum> found = find_by_name<Enum>(name)) return *found;
  refuse_name(name, what, joined_names<Enum>(", "));
}

template <>
std::span<const EnumName<SurrogateKind>> enum_names();
template <>
std::span<const EnumName<SolverKind>> enum_names();
template <>
std::span<const EnumName<OracleKind>> enum_names();
template <>
std::span<const EnumName<Decoder>> enum_names();
template <>
std::span<const EnumName<StepRule>> enum_names();
template <>
std::span<const EnumName<Binning>> enum_names();
template <>
std::span<const EnumName<FeatureKind>> enum_names();
template <>
std::span<const EnumName<Landmarks>> enum_names();

}  // namespace m4n::detail
