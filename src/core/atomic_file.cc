// POSIX calls behind AtomicFile. The temporary file is created with O_EXCL under a name that holds a checksum of the
// file's own, the process number and a counter, so that two writers never share one; it lives in the same directory
// because rename is atomic only within one file system. Its writer keeps it locked: one that lets itself be locked is
// left from a process that was killed, and the next who writes the same file removes it.
#include "core/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/checksum.h"
#include "core/message.h"

namespace m4n::detail {
namespace fs = std::filesystem;
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

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Where links lead, even if there is nothing yet.
std::string follow_links(const std::string& path) {
  constexpr int most_links = 40;  // as the system allows
  std::string place = path;
  for (int link = 0; link <= most_links; ++link) {
    const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(place.c_str(), nullptr), &std::free);
    if (resolved) return resolved.get();
    if (errno != ENOENT) break;
    std::string next(4096, '\0');
    const ssize_t length = ::readlink(place.c_str(), next.data(), next.size());
    if (length < 0) return place;
    next.resize(static_cast<std::size_t>(length));
    place = next.starts_with('/') ? next : directory_of(place) + "/" + next;
  }
  fail(path, "cannot be resolved", errno);
}

std::string name_prefix(const std::string& target) {
  return fmt::format(".m4n-{:016x}-", crc64(std::string_view(target).substr(target.rfind('/') + 1)));
}

// What writers of the same file left who were killed.
void remove_leftovers(const std::string& directory, const std::string& prefix) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(directory.c_str()), &::closedir);
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix) || !name.ends_with(".tmp")) continue;
    const std::string path = fmt::format("{}/{}", directory, name);
    const OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  }
}

// Creates a new file in `directory`, locked; the mode is what the umask leaves of rw-rw-rw-.
int create_temporary(const std::string& directory, const std::string& prefix, const std::string& path,
                     std::string* name) {
  constexpr int attempts = 10000;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    *name = fmt::format("{}/{}{}-{}.tmp", directory, prefix, ::getpid(), attempt);
    const int number = ::open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number < 0 && errno == EEXIST) continue;
    if (number < 0) break;
    ::flock(number, LOCK_EX);  // where file systems cannot lock, leftovers stay
    struct stat now {};
    if (::fstat(number, &now) == 0 && now.st_nlink > 0) return number;
    ::close(number);  // another writer took it for a leftover before it was locked
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
  s.target = follow_links(path);
  const std::string directory = directory_of(s.target), prefix = name_prefix(s.target);
  remove_leftovers(directory, prefix);
  s.file.open(create_temporary(directory, prefix, path, &s.temporary));
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
  const OwnedDescriptor lock(::dup(s.file.get()));  // locked until it has its name
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

bool is_special_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void require_writable(const std::string& path, std::string_view what) {
  if (is_special_file(path)) return;
  std::error_code error;
  if (fs::is_directory(path, error)) throw Error(fmt::format("{} {}: is a directory; name a file in it", what, path));
  const fs::path parent = fs::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  if (!fs::is_directory(directory, error))
    throw Error(fmt::format("{} {}: there is no directory {}; create it first", what, path, directory));
    // Permissions, read-only file systems and quotas have many forms; only making a file tells. One without a name
    // leaves nothing behind, whatever happens.
#ifdef O_TMPFILE
  if (const int nameless = open(directory.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600); nameless >= 0) {
    close(nameless);
    return;
  }
#endif
  std::string probe = (fs::path(directory) / ".m4n-probe-XXXXXX").string();
  const int file = mkstemp(probe.data());
  if (file < 0)
    throw Error(fmt::format("{} {}: cannot write in directory {}: {}", what, path, directory, std::strerror(errno)));
  close(file);
  unlink(probe.c_str());
}

}  // namespace m4n::detail
