// Reading bytes, unpacked where they are gzip'd. A truncated or damaged gzip stream is an Error, whatever was read
// before: zlib checks the length and the CRC-32 at the end of every member.
#include "data/input.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "core/message.h"

namespace m4n::detail {
namespace {

constexpr std::size_t packed_buffer_size = std::size_t{1} << 18;
constexpr int gzip_window_bits = 15 + 16;  // the largest window, gzip framing

}  // namespace

struct Input::State {
  struct CloseFile {
    void operator()(std::FILE* opened) const {
      if (opened != stdin) std::fclose(opened);
    }
  };
  std::string name;
  std::unique_ptr<std::FILE, CloseFile> file;  // null: the bytes are in `text`
  std::string_view text;
  std::uint64_t stored_total = 0, stored_read = 0;
  std::string head;  // the first bytes, read to look for the gzip mark and not yet passed on
  bool packed = false, member_open = false, stored_end = false;
  std::string damage;  // of the packed bytes
  std::vector<unsigned char> packed_buffer;
  z_stream zip{};

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (packed) inflateEnd(&zip);
  }

  std::size_t read_source(char* out, std::size_t size) {
    std::size_t count = 0;
    if (file) {
      ssize_t got = -1;
      while ((got = ::read(::fileno(file.get()), out, size)) < 0 && errno == EINTR) {
      }
      if (got < 0) throw Error(say("{}: cannot be read: {}", name, std::generic_category().message(errno)));
      count = static_cast<std::size_t>(got);
    } else {
      count = std::min(size, text.size());
      std::copy_n(text.data(), count, out);
      text.remove_prefix(count);
    }
    stored_read += count;
    if (count == 0 && stored_read < stored_total)
      throw Error(say(
          "{}: ends after {} bytes, but had {} when it was opened: it is being written, or was cut; => read it again "
          "when it is whole",
          name, stored_read, stored_total));
    return count;
  }

  std::size_t read_stored(char* out, std::size_t size) {
    const std::size_t from_head = std::min(size, head.size());
    if (from_head == 0) return read_source(out, size);
    std::memcpy(out, head.data(), from_head);
    head.erase(0, from_head);
    return from_head;
  }

  void look_for_gzip() {
    char next = 0;
    while (head.size() < 2 && read_source(&next, 1) == 1) head.push_back(next);
    if (head != "\x1f\x8b") return;
    packed_buffer.resize(packed_buffer_size);
    if (inflateInit2(&zip, gzip_window_bits) != Z_OK) throw Error(say("{}: no memory to unpack the gzip data", name));
    packed = member_open = true;
  }

  // Makes packed bytes available; false at the end of the file.
  bool refill_packed() {
    if (zip.avail_in > 0) return true;
    const std::size_t count = read_stored(reinterpret_cast<char*>(packed_buffer.data()), packed_buffer.size());
    zip.next_in = packed_buffer.data();
    zip.avail_in = static_cast<uInt>(count);
    return count > 0;
  }

  std::size_t read_packed(char* out, std::size_t size) {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;
    std::size_t done = 0;
    while (done < size && !stored_end && damage.empty()) {
      if (done > 0 && zip.avail_in == 0) break;  // a failure to read more is for the next call
      if (!refill_packed()) {
        if (member_open)
          throw Error(say("{}: the gzip data end too early (a truncated file); fetch or pack it again", name));
        stored_end = true;
        break;
      }
      if (!member_open) {
        inflateReset(&zip);
        member_open = true;
      }
      const std::size_t room = std::min(size - done, most_at_once);
      zip.next_out = reinterpret_cast<Bytef*>(out + done);
      zip.avail_out = static_cast<uInt>(room);
      const int status = inflate(&zip, Z_NO_FLUSH);
      done += room - zip.avail_out;
      if (status == Z_STREAM_END) {
        member_open = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        damage = zip.msg != nullptr ? zip.msg : "zlib cannot unpack it";
        break;
      }
    }
    // What is behind the damage is not read; what is before it may be refused for reasons of its own.
    if (done == 0 && !damage.empty())
      throw Error(say("{}: damaged gzip data ({}); fetch or pack it again", name, damage));
    return done;
  }
};

Input::Input(std::unique_ptr<State> state) : state_(std::move(state)) { state_->look_for_gzip(); }
Input::Input(Input&&) noexcept = default;
Input& Input::operator=(Input&&) noexcept = default;
Input::~Input() = default;

Input Input::open(const std::string& path) {
  auto state = std::make_unique<State>();
  if (path == "-") {
    state->name = "standard input";
    state->file.reset(stdin);
    return Input(std::move(state));
  }
  state->name = path;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(say("{}: is a directory; => name a data file in it", path));
  state->file.reset(std::fopen(path.c_str(), "rb"));
  if (!state->file) throw Error(say("{}: cannot be opened: {}", path, std::generic_category().message(errno)));
  struct stat file {};
  if (::fstat(::fileno(state->file.get()), &file) == 0 && S_ISREG(file.st_mode))
    state->stored_total = static_cast<std::uint64_t>(file.st_size);
  return Input(std::move(state));
}

Input Input::memory(std::string_view text, const std::string& name) {
  auto state = std::make_unique<State>();
  state->name = name;
  state->text = text;
  state->stored_total = text.size();
  return Input(std::move(state));
}

std::size_t Input::read(char* out, std::size_t size) {
  return state_->packed ? state_->read_packed(out, size) : state_->read_stored(out, size);
}

double Input::fraction_read() const {
  if (state_->stored_total == 0) return 0;
  const std::uint64_t waiting = state_->head.size() + (state_->packed ? state_->zip.avail_in : 0);
  return std::min(1.0, static_cast<double>(state_->stored_read - waiting) / static_cast<double>(state_->stored_total));
}

const std::string& Input::name() const { return state_->name; }

std::string read_all(Input& input, std::size_t limit) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  std::string text;
  for (std::size_t count = piece; count > 0;) {
    const std::size_t before = text.size();
    text.resize(before + piece);
    count = input.read(text.data() + before, piece);
    text.resize(before + count);
    if (text.size() > limit)
      throw Error(say("{}: more than {} bytes, too large for a file of this kind", input.name(), limit));
  }
  return text;
}

}  // namespace m4n::detail
