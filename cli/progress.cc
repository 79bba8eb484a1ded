#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "m4n/error.h"

namespace m4n::cli {
namespace {

constexpr int bar_width = 20;

// The gap falls roughly geometrically, so the way from the first gap to the tolerance is measured in logarithms.
double fraction_done(double first_gap, const Progress& progress) {
  const bool measurable = first_gap > progress.tol && progress.relative_gap > 0;
  const double by_gap = measurable ? std::log(first_gap / progress.relative_gap) / std::log(first_gap / progress.tol)
                                   : (progress.relative_gap <= progress.tol ? 1.0 : 0.0);
  const double by_epoch = static_cast<double>(progress.epoch) / std::max(1, progress.epochs);
  return std::clamp(std::max(by_gap, by_epoch), 0.0, 1.0);
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : visible_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

void ProgressLine::draw(const Progress& progress) {
  if (!visible_) return;
  if (first_gap_ <= 0) first_gap_ = progress.relative_gap;
  const int filled = static_cast<int>(std::lround(fraction_done(first_gap_, progress) * bar_width));
  const std::string bar = std::string(filled, '#') + std::string(bar_width - filled, '.');
  const std::string line =
      fmt::format("\r\x1b[K[{}] epoch {} of at most {}  gap {:.1e} (tolerance {:.1e})  {:.1f} s", bar, progress.epoch,
                  progress.epochs, progress.relative_gap, progress.tol, progress.seconds);
  std::fputs(line.c_str(), stderr);
}

TrainingLog::TrainingLog(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path, std::ios::trunc);
  if (!file_) throw Error(fmt::format("--log {}: cannot open it for writing: {}", path, std::strerror(errno)));
}

void TrainingLog::write(const Progress& progress) {
  if (path_.empty()) return;
  const nlohmann::ordered_json line{{"epoch", progress.epoch},
                                    {"seconds", progress.seconds},
                                    {"primal", progress.primal},
                                    {"dual", progress.dual},
                                    {"relative_gap", progress.relative_gap}};
  file_ << line.dump() << std::endl;
  if (!file_) throw Error(fmt::format("--log {}: cannot write to it: {}", path_, std::strerror(errno)));
}

}  // namespace m4n::cli
