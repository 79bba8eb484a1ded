// The container of model_file.h, laid out and taken apart.
//
// Writing costs one pass over the arrays and one over the bytes for the checksum; in memory the bytes, once. Reading
// checks in this order: preamble, sizes, checksum, JSON, the list of arrays; then each field and array as it is taken.
// Nothing is allocated from a number that has not been compared with the number of bytes at hand.
#include "model/model_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/checksum.h"
#include "core/message.h"

namespace m4n::detail {

using Tree = nlohmann::json;

// ---- writing

namespace {

void pad_to_eight(std::string* bytes, char filling) {
  while (bytes->size() % 8 != 0) bytes->push_back(filling);
}

std::size_t up_to_eight(std::size_t size) { return (size + 7) / 8 * 8; }

template <class Real>
std::size_t size_of(std::span<const Real> values) {
  return values.size_bytes();
}
std::size_t size_of(const std::vector<std::string>& values) {
  std::size_t size = sizeof(std::uint64_t) * values.size();
  for (const std::string& value : values) size += value.size();
  return size;
}

const char* type_of(std::span<const double>) { return "f64"; }
const char* type_of(std::span<const float>) { return "f32"; }
const char* type_of(const std::vector<std::string>&) { return "strings"; }

template <class Real>
void append_array(std::string* bytes, std::span<const Real> values) {
  append_little_endian(bytes, values);
}
void append_array(std::string* bytes, const std::vector<std::string>& values) {
  for (const std::string& value : values) append_little_endian<std::uint64_t>(bytes, value.size());
  for (const std::string& value : values) bytes->append(value);
}

}  // namespace

struct ModelFileWriter::Fields {
  Tree values = Tree::object();
};

ModelFileWriter::ModelFileWriter(std::string kind) : kind_(std::move(kind)), fields_(std::make_unique<Fields>()) {}
ModelFileWriter::~ModelFileWriter() = default;

void ModelFileWriter::field(const std::string& name, bool value) { fields_->values[name] = value; }
void ModelFileWriter::field(const std::string& name, std::uint64_t value) { fields_->values[name] = value; }
void ModelFileWriter::field(const std::string& name, int value) { fields_->values[name] = value; }
void ModelFileWriter::field(const std::string& name, const std::string& value) { fields_->values[name] = value; }

void ModelFileWriter::real(const std::string& name, double value) {
  if (std::isnan(value)) throw Error(say("the model cannot be written: its field '{}' is not a number", name));
  if (std::isinf(value))
    fields_->values[name] = value > 0 ? "inf" : "-inf";
  else
    fields_->values[name] = value;
}

void ModelFileWriter::own_array(std::string name, std::vector<double> values) {
  owned_.push_back(std::make_unique<std::vector<double>>(std::move(values)));
  array(std::move(name), std::span<const double>(*owned_.back()));
}

std::string ModelFileWriter::to_bytes() const {
  std::size_t payload_size = 0;
  Tree directory = Tree::array();
  for (const Array& array : arrays_)
    std::visit(
        [&](const auto& values) {
          directory.push_back({{"name", array.name},
                               {"type", type_of(values)},
                               {"count", values.size()},
                               {"offset", payload_size},
                               {"bytes", size_of(values)}});
          payload_size += up_to_eight(size_of(values));
        },
        array.values);

  const Tree header = {{"arrays", std::move(directory)}, {"fields", fields_->values}, {"kind", kind_}};
  std::string header_text;
  try {
    header_text = header.dump();
  } catch (const Tree::exception& error) {
    throw Error(say("the model cannot be written: a text field is not valid UTF-8 ({})", error.what()));
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
    std::visit([&](const auto& values) { append_array(&bytes, values); }, array.values);
    pad_to_eight(&bytes, '\0');  // the preamble and the header are multiples of eight
  }
  append_little_endian(&bytes, crc64(bytes));
  return bytes;
}

// ---- reading

namespace {

constexpr const char* remedy = "copy it again from its source, or train again";

// Parses JSON but refuses deep nesting and keys that occur twice (a parser would silently keep the last one).
Tree parse_strictly(std::span<const char> text) {
  constexpr int deepest = 4;
  std::vector<std::set<std::string>> keys_of_open_objects;
  using Event = Tree::parse_event_t;
  const auto watch = [&](int depth, Event event, const Tree& parsed) {
    if (depth > deepest) throw Error("values are nested too deeply");
    if (event == Event::object_start) keys_of_open_objects.emplace_back();
    if (event == Event::object_end) keys_of_open_objects.pop_back();
    if (event == Event::key && !keys_of_open_objects.back().insert(parsed.get<std::string>()).second)
      throw Error(say("the key {} occurs twice", parsed.dump()));
    return true;
  };
  return Tree::parse(text.begin(), text.end(), watch);
}

bool has_exactly(const Tree& object, std::initializer_list<const char*> keys) {
  return object.is_object() && object.size() == keys.size() &&
         std::all_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
}

}  // namespace

std::uint64_t promised_model_size(std::span<const char> preamble, const std::string& name) {
  const auto fail = [&](const std::string& what) { throw Error(say("{}: {}", name, what)); };
  const std::string_view start(preamble.data(), std::min(preamble.size(), model_magic.size()));
  if (start.empty()) fail("is empty; expected a model written by m4n train");
  if (start != model_magic.substr(0, start.size()))
    fail("is not a model file of m4n: it does not start with the letters M4NMODEL; give a file written by m4n train");
  if (preamble.size() < model_preamble_size)
    fail(fmt::format("is truncated: {} bytes are less than the preamble; {}", preamble.size(), remedy));
  const auto version = read_little_endian<std::uint32_t>(preamble.subspan(8).first<4>());
  const auto mark = read_little_endian<std::uint32_t>(preamble.subspan(12).first<4>());
  if (mark != model_byte_order_mark) fail(fmt::format("is damaged: its byte-order mark is {:#010x}; {}", mark, remedy));
  if (version == 0) fail(fmt::format("is damaged: there is no format version 0; {}", remedy));
  if (version > model_format_version)
    fail(
        fmt::format("has format version {}, but this m4n reads versions up to {}: it was written by a newer m4n; "
                    "update m4n, or train again",
                    version, model_format_version));
  const auto header = read_little_endian<std::uint64_t>(preamble.subspan(16).first<8>());
  const auto payload = read_little_endian<std::uint64_t>(preamble.subspan(24).first<8>());
  constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max() / 4;
  if (header % 8 != 0 || payload % 8 != 0 || header > largest || payload > largest)
    fail(fmt::format("is damaged: impossible sizes {} of the header and {} of the payload; {}", header, payload,
                     remedy));
  return model_preamble_size + header + payload + sizeof(std::uint64_t);
}

struct ModelFileReader::Fields {
  Tree values;
  std::set<std::string> taken, taken_arrays;

  const Tree* find(const std::string& field) const {
    const auto found = values.find(field);
    return found == values.end() ? nullptr : &*found;
  }
};

ModelFileReader::~ModelFileReader() = default;

ModelFileReader::ModelFileReader(std::span<const char> bytes, std::string name)
    : name_(std::move(name)), fields_(std::make_unique<Fields>()) {
  const std::uint64_t promised = promised_model_size(bytes.first(std::min(bytes.size(), model_preamble_size)), name_);
  if (bytes.size() != promised)
    fail(fmt::format("is {}: it has {} bytes, its preamble promises {}; {}",
                     bytes.size() < promised ? "truncated" : "damaged", bytes.size(), promised, remedy));
  const std::uint64_t found = crc64(bytes.first(bytes.size() - 8));
  const auto stored = read_little_endian<std::uint64_t>(bytes.last<8>());
  if (found != stored)
    fail(fmt::format("is damaged: its checksum is {:016x}, but its content gives {:016x}; {}", stored, found, remedy));
  const auto header_size = static_cast<std::size_t>(read_little_endian<std::uint64_t>(bytes.subspan(16).first<8>()));
  const std::span<const char> content = bytes.subspan(model_preamble_size, bytes.size() - model_preamble_size - 8);
  read_header(content.first(header_size), content.subspan(header_size));
}

void ModelFileReader::read_header(std::span<const char> text, std::span<const char> payload) {
  Tree header;
  try {
    header = parse_strictly(text);
  } catch (const Tree::exception& error) {
    fail(fmt::format("its header is not valid JSON: {}", error.what()));
  } catch (const Error& error) {
    fail(fmt::format("its header is not valid: {}", error.what()));
  }
  if (!has_exactly(header, {"arrays", "fields", "kind"}) || !header["arrays"].is_array() ||
      !header["fields"].is_object() || !header["kind"].is_string())
    fail("its header must hold exactly the list 'arrays', the object 'fields' and the text 'kind'");
  kind_ = header["kind"].get<std::string>();
  fields_->values = std::move(header["fields"]);

  std::size_t position = 0;  // where the next array must start
  const auto read_entry = [&](const Tree& entry) {
    if (!has_exactly(entry, {"name", "type", "count", "offset", "bytes"}) || !entry["name"].is_string() ||
        !entry["type"].is_string() || !entry["count"].is_number_unsigned() || !entry["offset"].is_number_unsigned() ||
        !entry["bytes"].is_number_unsigned())
      fail("an entry of 'arrays' in its header must hold exactly name, type, count, offset and bytes");
    Array array{
        entry["name"].get<std::string>(), entry["type"].get<std::string>(), entry["count"].get<std::uint64_t>(), {}};
    const auto size = entry["bytes"].get<std::uint64_t>();
    if (entry["offset"].get<std::uint64_t>() != position || size > payload.size() - position)
      fail(fmt::format("its array '{}' does not lie where it must in the payload", array.name));
    const bool fits = array.type == "f64"       ? size % 8 == 0 && size / 8 == array.count
                      : array.type == "f32"     ? size % 4 == 0 && size / 4 == array.count
                      : array.type == "strings" ? size / 8 >= array.count
                                                : false;
    if (!fits)
      fail(fmt::format("its array '{}' cannot hold {} entries of type '{}' in {} bytes", array.name, array.count,
                       array.type, size));
    array.bytes = payload.subspan(position, static_cast<std::size_t>(size));
    position += static_cast<std::size_t>(size);
    for (; position % 8 != 0; ++position)  // the payload ends at a multiple of 8, so this stays inside
      if (payload[position] != 0) fail(fmt::format("the bytes after its array '{}' are not zero", array.name));
    return array;
  };
  std::set<std::string> names;
  for (const Tree& entry : header["arrays"]) {
    arrays_.push_back(read_entry(entry));
    if (!names.insert(arrays_.back().name).second)
      fail(fmt::format("its header lists the array '{}' twice", arrays_.back().name));
  }
  if (position != payload.size())
    fail(fmt::format("its arrays end at byte {} of a payload of {} bytes", position, payload.size()));
}

// What is quoted from a damaged file may be long; the start of it says enough.
void ModelFileReader::fail(const std::string& what) const {
  constexpr std::size_t longest = 400;
  throw Error(say("{}: {}{}", name_, what.substr(0, longest), what.size() > longest ? "..." : ""));
}

void ModelFileReader::fail_field(const std::string& field, const std::string& expected) const {
  const Tree* const found = fields_->find(field);
  fail(fmt::format("the field '{}' of its header is {}; expected {}", field,
                   found == nullptr ? "missing" : found->dump().substr(0, 60), expected));
}

bool ModelFileReader::flag(const std::string& field) {
  const Tree* const found = fields_->find(field);
  if (found == nullptr) fail_field(field, "it to be there");
  fields_->taken.insert(field);
  const Tree& value = *found;
  if (!value.is_boolean()) fail_field(field, "true or false");
  return value.get<bool>();
}

std::uint64_t ModelFileReader::natural(const std::string& field, std::uint64_t smallest, std::uint64_t largest) {
  const Tree* const found = fields_->find(field);
  if (found == nullptr) fail_field(field, "it to be there");
  fields_->taken.insert(field);
  const Tree& value = *found;
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < smallest || value.get<std::uint64_t>() > largest)
    fail_field(field, fmt::format("a whole number from {} to {}", smallest, largest));
  return value.get<std::uint64_t>();
}

double ModelFileReader::real(const std::string& field) {
  const Tree* const found = fields_->find(field);
  if (found == nullptr) fail_field(field, "it to be there");
  fields_->taken.insert(field);
  const Tree& value = *found;
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (!value.is_number()) fail_field(field, "a number");
  return value.get<double>();
}

std::string ModelFileReader::text(const std::string& field) {
  const Tree* const found = fields_->find(field);
  if (found == nullptr) fail_field(field, "it to be there");
  fields_->taken.insert(field);
  const Tree& value = *found;
  if (!value.is_string()) fail_field(field, "a text");
  return value.get<std::string>();
}

const ModelFileReader::Array& ModelFileReader::take_array(const std::string& name, const char* type,
                                                          std::uint64_t count, Length length) {
  const auto found = std::find_if(arrays_.begin(), arrays_.end(), [&](const Array& a) { return a.name == name; });
  if (found == arrays_.end()) fail(fmt::format("its array '{}' is missing", name));
  if (found->type != type) fail(fmt::format("its array '{}' has type '{}'; expected '{}'", name, found->type, type));
  if (found->count != count && !(length == Length::exact_or_none && found->count == 0))
    fail(fmt::format("its array '{}' has {} entries; expected {}{}", name, found->count, count,
                     length == Length::exact_or_none ? " or none" : ""));
  fields_->taken_arrays.insert(name);
  return *found;
}

std::vector<double> ModelFileReader::doubles(const std::string& array, std::uint64_t count, Length length) {
  return read_little_endian_reals<double>(take_array(array, "f64", count, length).bytes);
}

std::vector<float> ModelFileReader::floats(const std::string& array, std::uint64_t count) {
  return read_little_endian_reals<float>(take_array(array, "f32", count, Length::exact).bytes);
}

bool ModelFileReader::is_float(const std::string& array) const {
  return std::any_of(arrays_.begin(), arrays_.end(),
                     [&](const Array& found) { return found.name == array && found.type == "f32"; });
}

bool ModelFileReader::has_array(const std::string& array) const {
  return std::any_of(arrays_.begin(), arrays_.end(), [&](const Array& found) { return found.name == array; });
}

std::vector<std::string> ModelFileReader::strings(const std::string& array, std::uint64_t count, Length length) {
  const Array& found = take_array(array, "strings", count, length);
  const auto entries = static_cast<std::size_t>(found.count);  // at most bytes / 8, see read_entry
  std::span<const char> rest = found.bytes.subspan(8 * entries);
  std::vector<std::string> values(entries);
  for (std::size_t i = 0; i < entries; ++i) {
    const auto size = read_little_endian<std::uint64_t>(found.bytes.subspan(8 * i).first<8>());
    if (size > rest.size()) fail(fmt::format("the strings of its array '{}' are longer than the array", array));
    values[i].assign(rest.data(), static_cast<std::size_t>(size));
    rest = rest.subspan(static_cast<std::size_t>(size));
  }
  if (!rest.empty()) fail(fmt::format("the strings of its array '{}' are shorter than the array", array));
  return values;
}

void ModelFileReader::finish() const {
  for (const auto& [field, value] : fields_->values.items())
    if (!fields_->taken.contains(field)) fail(fmt::format("its header has the unknown field '{}'; update m4n", field));
  for (const Array& array : arrays_)
    if (!fields_->taken_arrays.contains(array.name))
      fail(fmt::format("it has the unknown array '{}'; update m4n", array.name));
}

}  // namespace m4n::detail
