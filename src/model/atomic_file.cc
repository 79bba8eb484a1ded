// POSIX calls behind AtomicFile. The temporary file is created with O_EXCL under a name that holds the
// process number and a counter, so that two writers never share one; it lives in the same directory because rename
// is atomic only within one file system.
#include "model/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/message.h"

namespace m4n::detail {
namespace {

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw Error(say("{}: {}: {}", path, what, std::generic_category().message(error)));
}

}  // namespace

class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int number = -1) : number_(number) {}
  OwnedDescriptor(const OwnedDescriptor&) = delete;
  OwnedDescriptor& operator=(const OwnedDescriptor&) = delete;
  ~OwnedDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  void open(int number) { number_ = number; }
  // Some file systems report a failed write only here.
  void close(const std::string& path) {
    if (::close(std::exchange(number_, -1)) != 0 && errno != EINTR) fail(path, "cannot be closed", errno);
  }

 private:
  int number_;
};

// Removes the temporary file unless it has been renamed.
class TemporaryRemover {
 public:
  TemporaryRemover() = default;
  TemporaryRemover(const TemporaryRemover&) = delete;
  TemporaryRemover& operator=(const TemporaryRemover&) = delete;
  ~TemporaryRemover() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void remove_at_end(std::string path) { path_ = std::move(path); }
  void release() { path_.clear(); }

 private:
  std::string path_;
};

namespace {

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  constexpr std::size_t largest_write = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), largest_write));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, "cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The number behind /dev/stdout, /dev/stderr and /dev/fd/N. Opening these names again would lose the position where
// a redirection stands, so the descriptor itself is used.
std::optional<int> descriptor_named(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  constexpr std::string_view folder = "/dev/fd/";
  if (!path.starts_with(folder)) return std::nullopt;
  int number = -1;
  const char* end = path.data() + path.size();
  const auto [stop, error] = std::from_chars(path.data() + folder.size(), end, number);
  return error == std::errc() && stop == end && number >= 0 ? std::optional(number) : std::nullopt;
}

std::string follow_links(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);
  if (!resolved) fail(path, "cannot be resolved", errno);
  return resolved.get();
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Creates a new file in `directory`; the mode is what the umask leaves of rw-rw-rw-.
int create_temporary(const std::string& directory, const std::string& path, std::string* name) {
  constexpr int attempts = 10000;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    *name = fmt::format("{}/.m4n-{}-{}.tmp", directory, ::getpid(), attempt);
    const int number = ::open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number >= 0) return number;
    if (errno != EEXIST) break;
  }
  fail(path, "cannot be created", errno);
}

// Makes the rename last. File systems that cannot sync a directory are taken at their word.
void sync_directory(const std::string& directory, const std::string& path) {
  const OwnedDescriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0 && ::fsync(folder.get()) != 0 && errno == EIO) fail(path, "its folder cannot be synced", errno);
}

}  // namespace

struct AtomicFile::State {
  std::string path, target;  // as asked for, and what is replaced; no target: written to directly
  std::string temporary;
  std::optional<int> open_already;
  OwnedDescriptor file;
  TemporaryRemover remover;
  std::string waiting;  // small pieces go out together

  void flush() {
    write_all(open_already.value_or(file.get()), waiting, path);
    waiting.clear();
  }
};

AtomicFile::AtomicFile(const std::string& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  if (path.empty()) throw Error("a file name is needed to write to, but it is empty");
  s.open_already = descriptor_named(path);
  if (s.open_already) return;
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) throw Error(say("{}: is a directory; => give the name of a file", path));
  if (exists && !S_ISREG(old.st_mode)) {
    s.file.open(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (s.file.get() < 0) fail(path, "cannot be opened for writing", errno);
    return;
  }
  // Renaming over a write-protected file would succeed; its owner asked for something else.
  if (exists && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail(path, "cannot be overwritten", errno);
  s.target = exists ? follow_links(path) : path;
  s.file.open(create_temporary(directory_of(s.target), path, &s.temporary));
  s.remover.remove_at_end(s.temporary);
  if (exists && ::fchmod(s.file.get(), old.st_mode & 07777) != 0) fail(path, "its permissions cannot be kept", errno);
}

AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view bytes) {
  constexpr std::size_t enough = std::size_t{1} << 16;
  state_->waiting += bytes;
  if (state_->waiting.size() >= enough) state_->flush();
}

void AtomicFile::finish() {
  State& s = *state_;
  s.flush();
  if (s.open_already) return;
  if (s.target.empty()) return s.file.close(s.path);
  if (::fsync(s.file.get()) != 0) fail(s.path, "cannot be synced", errno);
  s.file.close(s.path);
  if (::rename(s.temporary.c_str(), s.target.c_str()) != 0) fail(s.path, "cannot be replaced", errno);
  s.remover.release();
  sync_directory(directory_of(s.target), s.path);
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.finish();
}

}  // namespace m4n::detail
