// A file is there whole or not at all, whatever happens while it is written.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace m4n::detail {

// Writes a temporary file beside `path` piece by piece; finish() syncs it, renames it over `path` and syncs the
// directory. On any failure (no such directory, no permission, disk full), and if it is never finished, the temporary
// file is removed, an existing `path` stays as it was, and Error says the path and the system's reason. The permissions
// of an existing file and a symbolic link to it are kept; one that leads nowhere yet is followed. What a process left
// that was killed while it wrote the same file is removed.
// What is no regular file (/dev/null, /dev/stdout, /dev/fd/N, a FIFO, a terminal) is written to directly.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  void write(std::string_view bytes);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

void write_file_atomically(const std::string& path, std::string_view bytes);

// A device, a pipe, a terminal.
bool is_special_file(const std::string& path);
// Throws Error unless a new file can be made and renamed to `path`, or it is special. `what` is the option, as in
// "--model".
void require_writable(const std::string& path, std::string_view what);

}  // namespace m4n::detail
