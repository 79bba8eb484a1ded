// The progress lines, the log of a training, and the signals that stop it (progress.h).
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/json.h"
#include "m4n/error.h"

namespace m4n::cli {
namespace {

constexpr int bar_width = 20;
constexpr const char* wiped = "\r\x1b[K";  // back to the start of the line, which is cleared

bool can_redraw(Talk talk) { return talk == Talk::all && isatty(STDERR_FILENO) == 1; }

std::string bar(double fraction) {
  const int filled = static_cast<int>(std::lround(fraction * bar_width));
  return "[" + std::string(filled, '#') + std::string(bar_width - filled, '.') + "]";
}

// The gap falls roughly geometrically, so the way from the first gap to the tolerance is measured in logarithms.
double fraction_done(double first_gap, const Progress& progress) {
  const bool measurable = first_gap > progress.tol && progress.relative_gap > 0;
  const double by_gap = measurable ? std::log(first_gap / progress.relative_gap) / std::log(first_gap / progress.tol)
                                   : (progress.relative_gap <= progress.tol ? 1.0 : 0.0);
  const double by_epoch = static_cast<double>(progress.epoch) / std::max(1, progress.epochs);
  return std::clamp(std::max(by_gap, by_epoch), 0.0, 1.0);
}

}  // namespace

ProgressLine::ProgressLine(Talk talk) : visible_(can_redraw(talk)) {}

ProgressLine::~ProgressLine() {
  if (visible_) std::fputs(wiped, stderr);
}

void ProgressLine::draw(const Progress& progress) {
  if (!visible_) return;
  if (first_gap_ <= 0) first_gap_ = progress.relative_gap;
  const std::string line = fmt::format("{}{} epoch {} of at most {}  gap {:.1e} (tolerance {:.1e})  {:.1f} s", wiped,
                                       bar(fraction_done(first_gap_, progress)), progress.epoch, progress.epochs,
                                       progress.relative_gap, progress.tol, progress.seconds);
  std::fputs(line.c_str(), stderr);
}

CountingLine::CountingLine(Talk talk) : visible_(can_redraw(talk)) {}

CountingLine::~CountingLine() {
  if (visible_) std::fputs(wiped, stderr);
}

void CountingLine::draw(const CvProgress& progress, const std::string& what) const {
  if (!visible_) return;
  const auto done = static_cast<double>(progress.done), total = static_cast<double>(progress.total);
  std::string line = fmt::format("{}{} {}{} of {} paths  {:.0f} s", wiped, bar(done / total),
                                 what.empty() ? "" : what + ": ", progress.done, progress.total, progress.seconds);
  // What was known from an earlier run took no time.
  if (const auto computed = static_cast<double>(progress.done - progress.recalled); computed > 0)
    line += fmt::format(", about {:.0f} s left", progress.seconds * (total - done) / computed);
  std::fputs(line.c_str(), stderr);
}

TrainingLog::TrainingLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path, std::ios::trunc);
  if (!file_) throw Error(fmt::format("--log {}: cannot open it for writing: {}", path, std::strerror(errno)));
}

void TrainingLog::write(const Progress& progress) {
  if (path_.empty()) return;
  const Json line = Json::object({{"epoch", progress.epoch},
                                  {"seconds", progress.seconds},
                                  {"primal", progress.primal},
                                  {"dual", progress.dual},
                                  {"relative_gap", progress.relative_gap}});
  file_ << line.text() << std::endl;
  if (!file_) throw Error(fmt::format("--log {}: cannot write to it: {}", path_, std::strerror(errno)));
}

}  // namespace m4n::cli

namespace m4n::cli {
namespace {

std::atomic<bool> stop_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

void on_stop_signal(int) { stop_flag.store(true, std::memory_order_relaxed); }

}  // namespace

void listen_for_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = on_stop_signal;
  // SA_RESETHAND: the second signal meets the default, which ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    // What the caller has asked to be ignored (nohup) stays ignored.
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

bool stop_requested() { return stop_flag.load(std::memory_order_relaxed); }

}  // namespace m4n::cli
