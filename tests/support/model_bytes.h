// FlatModel files taken apart and put together again with a right checksum, so that tests reach the checks behind it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/checksum.h"
#include "model/model_file.h"
#include "support/flat_model.h"

namespace m4n::detail::test {

inline std::string seal(std::string_view header, std::string_view payload) {
  std::string bytes(model_magic);
  append_little_endian(&bytes, model_format_version);
  append_little_endian(&bytes, model_byte_order_mark);
  append_little_endian<std::uint64_t>(&bytes, header.size());
  append_little_endian<std::uint64_t>(&bytes, payload.size());
  bytes += header;
  bytes += payload;
  append_little_endian(&bytes, crc64(bytes));
  return bytes;
}

struct OpenedModel {
  nlohmann::json header;
  std::string payload;
  std::string sealed() const {
    std::string text = header.dump();
    text.resize((text.size() + 7) / 8 * 8, ' ');
    return seal(text, payload);
  }
};

inline std::size_t header_size(std::string_view bytes) {
  return static_cast<std::size_t>(read_little_endian<std::uint64_t>(std::span(bytes).subspan(16).first<8>()));
}

// Bytes of a valid file.
inline OpenedModel open_model(std::string_view bytes) {
  const std::size_t size = header_size(bytes);
  return {nlohmann::json::parse(bytes.substr(32, size)),
          std::string(bytes.substr(32 + size, bytes.size() - 40 - size))};
}

// Any bytes of at least a preamble and a checksum: keeps the size of the header where it fits, repairs the rest of the
// preamble and the checksum, drops what is over a multiple of 8.
inline std::string resealed(std::string_view bytes) {
  const std::size_t content = (bytes.size() - 40) / 8 * 8;
  const std::size_t header = std::min(header_size(bytes) / 8 * 8, content);
  return seal(bytes.substr(32, header), bytes.substr(32 + header, content - header));
}

}  // namespace m4n::detail::test
