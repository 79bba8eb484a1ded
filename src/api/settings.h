// Everything that the digits of a fit depend on (core/settings.h): what cross-validation and checkpoints compare with
// an earlier run before they go on with what it left.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/checksum.h"
#include "core/settings.h"
#include "m4n/dataset.h"
#include "m4n/options.h"

namespace m4n::detail {

// Of features, labels, weights, costs, and what joins labels.
std::uint64_t data_checksum(const Dataset& data);
// Of any other numbers that belong to them.
template <class T>
std::uint64_t checksum_of(std::span<const T> values, std::uint64_t before) {
  return crc64({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, before);
}

// The options that results depend on, without those named in `left_out`, the costs and the data.
Settings settings_of(const TrainOptions& options, const Dataset& data, std::span<const std::string_view> left_out = {});

}  // namespace m4n::detail
