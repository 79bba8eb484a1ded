// Model to file and back; what stands in the file is in model_layout.cc. A file this version does not understand is
// refused.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "m4n/error.h"
#include "m4n/model.h"
#include "model/atomic_file.h"
#include "model/model_check.h"
#include "model/model_file.h"
#include "model/model_layout.h"

namespace m4n {
namespace {

[[noreturn]] void fail_to_read(const std::string& path, int error) {
  throw Error(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error)));
}

class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path), number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (number_ < 0) fail_to_read(path_, errno);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::close(number_); }

  // Known for regular files only; a pipe tells when it ends.
  bool size_differs_from(std::uint64_t expected, std::uint64_t* found) const {
    struct stat status {};
    if (::fstat(number_, &status) != 0) fail_to_read(path_, errno);
    *found = static_cast<std::uint64_t>(status.st_size);
    return S_ISREG(status.st_mode) && *found != expected;
  }
  // Appends up to `count` bytes, fewer only at the end of the file. Memory grows with what has really arrived.
  void append_to(std::string* bytes, std::uint64_t count) const {
    constexpr std::uint64_t largest_step = std::uint64_t{1} << 20;
    while (count > 0) {
      const std::size_t before = bytes->size();
      const auto step = static_cast<std::size_t>(std::min(count, largest_step));
      bytes->resize(before + step);
      const ssize_t got = ::read(number_, bytes->data() + before, step);
      bytes->resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail_to_read(path_, errno);
      if (got == 0) return;
      count -= static_cast<std::uint64_t>(got);
    }
  }

 private:
  const std::string& path_;
  int number_;
};

std::string read_model_bytes(const std::string& path) {
  const InputFile file(path);
  std::string bytes;
  file.append_to(&bytes, model_preamble_size);
  const std::uint64_t promised = promised_model_size(bytes, path);
  std::uint64_t size = 0;
  if (file.size_differs_from(promised, &size))
    throw Error(
        fmt::format("{}: is {}: it has {} bytes, its preamble promises {}; copy it again from its source, or "
                    "train again",
                    path, size < promised ? "truncated" : "damaged", size, promised));
  file.append_to(&bytes, promised - bytes.size() + 1);  // one more, to see that it ends there
  return bytes;
}

}  // namespace

std::string Model::to_bytes() const {
  check_model(*this, "model");
  return model_bytes(*this);
}

Model Model::from_bytes(std::span<const char> bytes, const std::string& name) {
  ModelFileReader file(bytes, name);
  Model model = read_model(file);
  check_model(model, name);
  return model;
}

void Model::save(const std::string& path) const {
  check_model(*this, path);
  write_file_atomically(path, model_bytes(*this));
}

Model Model::load(const std::string& path) { return from_bytes(read_model_bytes(path), path); }

}  // namespace m4n
