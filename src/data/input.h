// Bytes from a file, from standard input ("-") or from memory, gzip'd or not. Gzip is found by its first two bytes
// (1f 8b), never by the file's name; concatenated members are read one after the other. Bytes come in the pieces the
// caller asks for, so the text of a file is never held as a whole.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace m4n::detail {

class Input {
 public:
  // Throws Error if there is no such file, it is a directory or it cannot be read.
  static Input open(const std::string& path);
  // `text` must outlive the Input; `name` stands for the file in messages.
  static Input memory(std::string_view text, const std::string& name);
  Input(Input&&) noexcept;
  Input& operator=(Input&&) noexcept;
  ~Input();

  // Up to `size` > 0 bytes of (unpacked) text, as many as are there now but at least one; 0 only at the end.
  std::size_t read(char* out, std::size_t size);
  // The share of the stored bytes read so far, in [0, 1]; 0 where the total is not known (standard input).
  double fraction_read() const;
  const std::string& name() const;

 private:
  struct State;
  explicit Input(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// All of a small file; refuses more than `limit` bytes.
std::string read_all(Input& input, std::size_t limit);

}  // namespace m4n::detail
