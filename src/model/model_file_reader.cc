// Takes the container of model_file.h apart. Order of the checks: preamble, sizes, checksum, JSON, the list of
// arrays; then each field and array as it is taken. Nothing is allocated from a number that has not been compared
// with the number of bytes at hand.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "m4n/error.h"
#include "model/checksum.h"
#include "model/little_endian.h"
#include "model/model_file.h"

namespace m4n {
namespace {

constexpr const char* remedy = "copy it again from its source, or train again";

// Parses JSON but refuses deep nesting and keys that occur twice (a parser would silently keep the last one).
nlohmann::json parse_strictly(std::span<const char> text) {
  constexpr int deepest = 4;
  std::vector<std::set<std::string>> keys_of_open_objects;
  using Event = nlohmann::json::parse_event_t;
  const auto watch = [&](int depth, Event event, const nlohmann::json& parsed) {
    if (depth > deepest) throw Error("values are nested too deeply");
    if (event == Event::object_start) keys_of_open_objects.emplace_back();
    if (event == Event::object_end) keys_of_open_objects.pop_back();
    if (event == Event::key && !keys_of_open_objects.back().insert(parsed.get<std::string>()).second)
      throw Error(fmt::format("the key {} occurs twice", parsed.dump()));
    return true;
  };
  return nlohmann::json::parse(text.begin(), text.end(), watch);
}

bool has_exactly(const nlohmann::json& object, std::initializer_list<const char*> keys) {
  return object.is_object() && object.size() == keys.size() &&
         std::all_of(keys.begin(), keys.end(), [&](const char* key) { return object.contains(key); });
}

}  // namespace

std::uint64_t promised_model_size(std::span<const char> preamble, const std::string& name) {
  const auto fail = [&](const std::string& what) { throw Error(fmt::format("{}: {}", name, what)); };
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

ModelFileReader::ModelFileReader(std::span<const char> bytes, std::string name) : name_(std::move(name)) {
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
  nlohmann::json header;
  try {
    header = parse_strictly(text);
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("its header is not valid JSON: {}", error.what()));
  } catch (const Error& error) {
    fail(fmt::format("its header is not valid: {}", error.what()));
  }
  if (!has_exactly(header, {"arrays", "fields", "kind"}) || !header["arrays"].is_array() ||
      !header["fields"].is_object() || !header["kind"].is_string())
    fail("its header must hold exactly the list 'arrays', the object 'fields' and the text 'kind'");
  kind_ = header["kind"].get<std::string>();
  fields_ = std::move(header["fields"]);

  std::size_t position = 0;
  std::set<std::string> names;
  for (const nlohmann::json& entry : header["arrays"]) {
    arrays_.push_back(read_entry(entry, payload, &position));
    if (!names.insert(arrays_.back().name).second)
      fail(fmt::format("its header lists the array '{}' twice", arrays_.back().name));
  }
  if (position != payload.size())
    fail(fmt::format("its arrays end at byte {} of a payload of {} bytes", position, payload.size()));
}

// Checks one entry of the list of arrays; `position` is where the array must start and becomes where the next must.
ModelFileReader::Array ModelFileReader::read_entry(const nlohmann::json& entry, std::span<const char> payload,
                                                   std::size_t* position) const {
  if (!has_exactly(entry, {"name", "type", "count", "offset", "bytes"}) || !entry["name"].is_string() ||
      !entry["type"].is_string() || !entry["count"].is_number_unsigned() || !entry["offset"].is_number_unsigned() ||
      !entry["bytes"].is_number_unsigned())
    fail("an entry of 'arrays' in its header must hold exactly name, type, count, offset and bytes");
  Array array{
      entry["name"].get<std::string>(), entry["type"].get<std::string>(), entry["count"].get<std::uint64_t>(), {}};
  const auto size = entry["bytes"].get<std::uint64_t>();
  if (entry["offset"].get<std::uint64_t>() != *position || size > payload.size() - *position)
    fail(fmt::format("its array '{}' does not lie where it must in the payload", array.name));
  const bool fits = array.type == "f64"       ? size % 8 == 0 && size / 8 == array.count
                    : array.type == "f32"     ? size % 4 == 0 && size / 4 == array.count
                    : array.type == "strings" ? size / 8 >= array.count
                                              : false;
  if (!fits)
    fail(fmt::format("its array '{}' cannot hold {} entries of type '{}' in {} bytes", array.name, array.count,
                     array.type, size));
  array.bytes = payload.subspan(*position, static_cast<std::size_t>(size));
  *position += static_cast<std::size_t>(size);
  for (; *position % 8 != 0; ++*position)  // the payload ends at a multiple of 8, so this stays inside
    if (payload[*position] != 0) fail(fmt::format("the bytes after its array '{}' are not zero", array.name));
  return array;
}

// What is quoted from a damaged file may be long; the start of it says enough.
void ModelFileReader::fail(const std::string& what) const {
  constexpr std::size_t longest = 400;
  throw Error(fmt::format("{}: {}{}", name_, what.substr(0, longest), what.size() > longest ? "..." : ""));
}

void ModelFileReader::fail_field(const std::string& field, const std::string& expected) const {
  const auto found = fields_.find(field);
  fail(fmt::format("the field '{}' of its header is {}; expected {}", field,
                   found == fields_.end() ? "missing" : found->dump().substr(0, 60), expected));
}

const nlohmann::json& ModelFileReader::take_field(const std::string& field) {
  const auto found = fields_.find(field);
  if (found == fields_.end()) fail_field(field, "it to be there");
  taken_fields_.insert(field);
  return *found;
}

bool ModelFileReader::flag(const std::string& field) {
  const nlohmann::json& value = take_field(field);
  if (!value.is_boolean()) fail_field(field, "true or false");
  return value.get<bool>();
}

std::uint64_t ModelFileReader::natural(const std::string& field, std::uint64_t smallest, std::uint64_t largest) {
  const nlohmann::json& value = take_field(field);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < smallest || value.get<std::uint64_t>() > largest)
    fail_field(field, fmt::format("a whole number from {} to {}", smallest, largest));
  return value.get<std::uint64_t>();
}

double ModelFileReader::real(const std::string& field) {
  const nlohmann::json& value = take_field(field);
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (!value.is_number()) fail_field(field, "a number");
  return value.get<double>();
}

std::string ModelFileReader::text(const std::string& field) {
  const nlohmann::json& value = take_field(field);
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
  taken_arrays_.insert(name);
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
  for (const auto& [field, value] : fields_.items())
    if (!taken_fields_.contains(field)) fail(fmt::format("its header has the unknown field '{}'; update m4n", field));
  for (const Array& array : arrays_)
    if (!taken_arrays_.contains(array.name)) fail(fmt::format("it has the unknown array '{}'; update m4n", array.name));
}

}  // namespace m4n
