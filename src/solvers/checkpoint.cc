// Writing and reading checkpoints (checkpoint.h).
#include "solvers/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/atomic_file.h"
#include "core/checksum.h"
#include "core/message.h"
#include "m4n/version.h"

namespace m4n::detail {
namespace {

constexpr std::string_view magic = "M4NSTATE";
constexpr std::uint32_t format = 2;

constexpr int least_pause = 10;  // between two times of saving, in units of how long that takes

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(say("{}: {}; => name a file that --checkpoint wrote, or start without it", path, what));
}

}  // namespace

void require_place_for_checkpoint(const std::string& path) {
  require_writable(path, "--checkpoint");
  if (std::filesystem::is_fifo(path)) throw Error(say("--checkpoint {}: is a pipe; => name a file", path));
}

CheckpointFile read_checkpoint(const std::string& path) {
  if (std::filesystem::is_fifo(path)) refuse(path, "is a pipe");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be opened");
  std::string bytes(magic.size(), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (bytes != magic) refuse(path, "is no checkpoint");  // before the rest of what may have no end is read
  bytes.append(std::istreambuf_iterator<char>(file), {});
  constexpr std::size_t ends = magic.size() + sizeof format + sizeof(std::uint64_t);
  if (bytes.size() < ends) refuse(path, "is no checkpoint");
  const std::span<const char> all(bytes);
  const auto body = all.first(all.size() - sizeof(std::uint64_t));
  if (crc64(body) != read_little_endian<std::uint64_t>(all.last<sizeof(std::uint64_t)>()))
    refuse(path, "is damaged: its checksum is wrong");
  StateLoader load(body.subspan(magic.size()), path);
  std::uint32_t version = 0;
  CheckpointFile out;
  load(version);
  if (version != format) refuse(path, "is a checkpoint of another version of m4n");
  load(out.settings, out.kind);
  const auto rest = body.subspan(magic.size() + load.position());
  out.rest.assign(rest.begin(), rest.end());
  return out;
}

Checkpoint::Checkpoint(std::string file, double seconds, Saves saves, Settings settings, std::string kind)
    : file_(std::move(file)), settings_(std::move(settings)), kind_(std::move(kind)), seconds_(seconds), saves_(saves) {
  settings_.emplace(settings_.begin(), "version", M4N_VERSION);
}

bool Checkpoint::due() const {
  const auto passed = std::chrono::steady_clock::now() - saved_;
  return !file_.empty() && passed >= std::chrono::duration<double>(seconds_) && passed >= least_pause * saving_;
}

void Checkpoint::resume(const std::string& path) {
  CheckpointFile found = read_checkpoint(path);
  if (const std::string other = difference(settings_, found.settings); !other.empty())
    throw Error(
        say("{}: is a checkpoint of other data or options ({}); => give it those, or start without it", path, other));
  resumed_ = path;
  resumed_state_ = std::move(found.rest);
  StateLoader load(resumed_state_, resumed_);
  std::string point;
  load(point, over_);
  if (kept_) kept_->load(load);
}

void Checkpoint::save(const State& stage) {
  const auto start = saved_ = std::chrono::steady_clock::now();
  AtomicFile file(file_);
  std::uint64_t sum = 0;
  const auto write = [&](std::span<const char> bytes) {
    sum = crc64(bytes, sum);
    file.write({bytes.data(), bytes.size()});
  };
  write(magic);
  StateSaver save(write);
  std::uint32_t version = format;
  save(version, settings_, kind_);
  // The dual point behind its length, for those who want nothing else.
  std::uint64_t length = 0;
  StateSaver count([&](std::span<const char> bytes) { length += bytes.size(); });
  if (!scopes_.empty()) scopes_[0].save(count);
  save(length);
  if (!scopes_.empty()) scopes_[0].save(save);
  save(over_);
  if (kept_) kept_->save(save);
  for (std::size_t s = 1; s < scopes_.size(); ++s) scopes_[s].save(save);
  stage.save(save);
  std::string end;
  append_little_endian(&end, sum);
  file.write(end);
  file.finish();
  saved_ = std::chrono::steady_clock::now();
  saving_ = saved_ - start;
}

void Checkpoint::load(const State& stage) {
  StateLoader load(resumed_state_, resumed_);
  std::string point;
  load(point, over_);
  if (kept_) kept_->load(load);
  if (!scopes_.empty()) {
    StateLoader own(point, resumed_);
    scopes_[0].load(own);
    own.expect(own.position() == point.size());
  }
  for (std::size_t s = 1; s < scopes_.size(); ++s) scopes_[s].load(load);
  stage.load(load);
  load.expect(load.position() == resumed_state_.size());
  resumed_.clear();
  resumed_state_ = {};
}

// A disk that is full is no reason to lose what is being computed.
void SolverStage::save(const Checkpoint::State& state) const try {
  checkpoint_->save(state);
  checkpoint_->failed_ = false;
} catch (const Error& error) {
  if (!context_->warn) throw;
  if (std::exchange(checkpoint_->failed_, true)) return;
  context_->warn(say("{}; training goes on, and tries again when the next checkpoint is due", error.message()));
}

}  // namespace m4n::detail
