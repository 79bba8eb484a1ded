// The container of a model, whatever its kind: a few named fields and a few named arrays.
//
//   offset  size  content (all numbers little-endian)
//        0     8  the letters M4NMODEL
//        8     4  format version, 1
//       12     4  byte-order mark, 0x01020304
//       16     8  H, size of the header
//       24     8  P, size of the payload
//       32     H  JSON {"arrays": [...], "fields": {...}, "kind": "..."}; blanks at its end fill it to a multiple of 8
//     32+H     P  the arrays, each at a multiple of 8, zeros between them
//   32+H+P     8  CRC-64/XZ of all bytes before it
//
// An entry of "arrays" is {"name", "type", "count", "offset", "bytes"}; offsets count from the start of the payload and
// the arrays lie in the order they are listed without holes. Types: "f64" and "f32", IEEE numbers; "strings", the
// lengths of all strings as 64-bit numbers followed by their bytes (any bytes; JSON could hold UTF-8 only).
//
// Every size is compared with the size of the file before memory is asked for, so a damaged file costs no more
// memory than its own size times a small constant. Every field and array must be known: a file that holds something
// this version does not understand is refused rather than half understood.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/enum_names.h"

namespace m4n::detail {

inline constexpr std::string_view model_magic = "M4NMODEL";
inline constexpr std::uint32_t model_format_version = 1;
inline constexpr std::uint32_t model_byte_order_mark = 0x01020304;
inline constexpr std::size_t model_preamble_size = 32;

// Collects fields and arrays and lays them out. Arrays of numbers must outlive the writer. Same input, same bytes.
class ModelFileWriter {
 public:
  explicit ModelFileWriter(std::string kind);
  ~ModelFileWriter();

  void field(const std::string& name, bool value);
  void field(const std::string& name, std::uint64_t value);
  void field(const std::string& name, int value);
  void field(const std::string& name, const std::string& value);
  void field(const std::string& name, const char* value) { field(name, std::string(value)); }
  // JSON has no infinities; they are written as the words "inf" and "-inf".
  void real(const std::string& name, double value);
  void array(std::string name, std::span<const double> values) { arrays_.push_back({std::move(name), values}); }
  void array(std::string name, std::span<const float> values) { arrays_.push_back({std::move(name), values}); }
  void array(std::string name, std::vector<std::string> values) {
    arrays_.push_back({std::move(name), std::move(values)});
  }
  // For numbers that would not outlive the writer.
  void own_array(std::string name, std::vector<double> values);
  std::string to_bytes() const;

 private:
  struct Array {
    std::string name;
    std::variant<std::span<const double>, std::span<const float>, std::vector<std::string>> values;
  };
  struct Fields;
  std::string kind_;
  std::unique_ptr<Fields> fields_;
  std::vector<Array> arrays_;
  std::vector<std::unique_ptr<std::vector<double>>> owned_;
};

// Checks the container as a whole when it is constructed, and each field and array when it is taken out. Every defect
// is an Error that starts with `name`, the path of the file. The bytes must outlive the reader.
class ModelFileReader {
 public:
  ModelFileReader(std::span<const char> bytes, std::string name);
  ~ModelFileReader();

  const std::string& kind() const { return kind_; }
  const std::string& name() const { return name_; }
  bool flag(const std::string& field);
  std::uint64_t natural(const std::string& field, std::uint64_t smallest, std::uint64_t largest);
  // A number, or one of the infinities; never NaN.
  double real(const std::string& field);
  std::string text(const std::string& field);
  template <class Enum>
  Enum choice(const std::string& field) {
    if (const std::optional<Enum> found = find_by_name<Enum>(text(field))) return *found;
    fail_field(field, "one of: " + joined_names<Enum>(", "));
  }
  // An array that must hold `count` entries or, where allowed, none.
  enum class Length { exact, exact_or_none };
  bool has_array(const std::string& array) const;
  std::vector<double> doubles(const std::string& array, std::uint64_t count, Length length = Length::exact);
  std::vector<float> floats(const std::string& array, std::uint64_t count);
  bool is_float(const std::string& array) const;  // whether it is there and holds floats
  std::vector<std::string> strings(const std::string& array, std::uint64_t count, Length length = Length::exact);
  // To be called last: refuses what has not been asked for.
  void finish() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Array {
    std::string name, type;
    std::uint64_t count = 0;
    std::span<const char> bytes;
  };
  struct Fields;
  void read_header(std::span<const char> text, std::span<const char> payload);
  const Array& take_array(const std::string& name, const char* type, std::uint64_t count, Length length);
  [[noreturn]] void fail_field(const std::string& field, const std::string& expected) const;

  std::string name_, kind_;
  std::unique_ptr<Fields> fields_;
  std::vector<Array> arrays_;
};

// Checks the first 32 bytes against each other and returns the size the whole file must have.
std::uint64_t promised_model_size(std::span<const char> preamble, const std::string& name);

}  // namespace m4n::detail
