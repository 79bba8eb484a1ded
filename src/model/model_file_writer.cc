// Lays out the container described in model_file.h. Cost: one pass over the arrays and one over the bytes for the
// checksum; in memory the bytes, once.
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

std::size_t up_to_eight(std::size_t size) { return (size + 7) / 8 * 8; }

template <class Real>
std::size_t size_of(std::span<const Real> values) {
  return values.size_bytes();
}
std::size_t size_of(std::span<const std::string> values) {
  std::size_t size = sizeof(std::uint64_t) * values.size();
  for (const std::string& value : values) size += value.size();
  return size;
}

const char* type_of(std::span<const double>) { return "f64"; }
const char* type_of(std::span<const float>) { return "f32"; }
const char* type_of(std::span<const std::string>) { return "strings"; }

template <class Real>
void append_array(std::string* bytes, std::span<const Real> values) {
  append_little_endian(bytes, values);
}
void append_array(std::string* bytes, std::span<const std::string> values) {
  for (const std::string& value : values) append_little_endian<std::uint64_t>(bytes, value.size());
  for (const std::string& value : values) bytes->append(value);
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
  std::size_t payload_size = 0;
  nlohmann::json directory = nlohmann::json::array();
  for (const Array& array : arrays_)
    std::visit(
        [&](auto values) {
          directory.push_back({{"name", array.name},
                               {"type", type_of(values)},
                               {"count", values.size()},
                               {"offset", payload_size},
                               {"bytes", size_of(values)}});
          payload_size += up_to_eight(size_of(values));
        },
        array.values);

  const nlohmann::json header = {{"arrays", std::move(directory)}, {"fields", fields_}, {"kind", kind_}};
  std::string header_text;
  try {
    header_text = header.dump();
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("the model cannot be written: a text field is not valid UTF-8 ({})", error.what()));
  }
  pad_to_eight(&header_text, ' ');

  std::string bytes;
  bytes.reserve(model_preamble_size + header_text.size() + payload_size + sizeof(std::uint64_t));
  bytes += model_magic;
  append_little_endian(&bytes, model_format_version);
  append_little_endian(&bytes, model_byte_order_mark);
  append_little_endian<std::uint64_t>(&bytes, header_text.size());
  append_little_endian<std::uint64_t>(&bytes, payload_size);
  bytes += header_text;
  for (const Array& array : arrays_) {
    std::visit([&](auto values) { append_array(&bytes, values); }, array.values);
    pad_to_eight(&bytes, '\0');  // the preamble and the header are multiples of eight
  }
  append_little_endian(&bytes, crc64(bytes));
  return bytes;
}

}  // namespace m4n
