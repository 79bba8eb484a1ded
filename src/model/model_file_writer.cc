// Lays out the container described in model_file.h: arrays first, because the header lists where they came to lie.
// Cost: one pass over the arrays and one over the bytes for the checksum.
#include <fmt/format.h>

#include <cmath>

#include "m4n/error.h"
#include "model/checksum.h"
#include "model/little_endian.h"
#include "model/model_file.h"

namespace m4n {
namespace {

void pad_to_eight(std::string* bytes, char filling) {
  while (bytes->size() % 8 != 0) bytes->push_back(filling);
}

const char* append_array(std::string* payload, std::span<const double> values) {
  append_little_endian(payload, values);
  return "f64";
}

const char* append_array(std::string* payload, std::span<const float> values) {
  append_little_endian(payload, values);
  return "f32";
}

const char* append_array(std::string* payload, std::span<const std::string> values) {
  for (const std::string& value : values) append_little_endian<std::uint64_t>(payload, value.size());
  for (const std::string& value : values) payload->append(value);
  return "strings";
}

}  // namespace

void ModelFileWriter::real(const std::string& name, double value) {
  if (std::isnan(value)) throw Error(fmt::format("the model cannot be written: its field '{}' is not a number", name));
  if (std::isinf(value)) {
    fields_[name] = value > 0 ? "inf" : "-inf";
  } else {
    fields_[name] = value;
  }
}

std::string ModelFileWriter::to_bytes() const {
  std::string payload;
  nlohmann::json directory = nlohmann::json::array();
  for (const Array& array : arrays_) {
    pad_to_eight(&payload, '\0');
    const std::size_t offset = payload.size();
    const char* type = std::visit([&](auto values) { return append_array(&payload, values); }, array.values);
    const std::size_t count = std::visit([](auto values) { return values.size(); }, array.values);
    directory.push_back({{"name", array.name},
                         {"type", type},
                         {"count", count},
                         {"offset", offset},
                         {"bytes", payload.size() - offset}});
  }
  pad_to_eight(&payload, '\0');

  const nlohmann::json header = {{"arrays", std::move(directory)}, {"fields", fields_}, {"kind", kind_}};
  std::string header_text;
  try {
    header_text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("the model cannot be written: a text field is not valid UTF-8 ({})", error.what()));
  }
  pad_to_eight(&header_text, ' ');

  std::string bytes;
  bytes.reserve(model_preamble_size + header_text.size() + payload.size() + sizeof(std::uint64_t));
  bytes += model_magic;
  append_little_endian(&bytes, model_format_version);
  append_little_endian(&bytes, model_byte_order_mark);
  append_little_endian<std::uint64_t>(&bytes, header_text.size());
  append_little_endian<std::uint64_t>(&bytes, payload.size());
  bytes += header_text;
  bytes += payload;
  append_little_endian(&bytes, crc64(bytes));
  return bytes;
}

}  // namespace m4n
