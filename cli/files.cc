// Whether files can be read and written, asked of the file system (files.h).
#include "files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/option_values.h"
#include "m4n/error.h"
#include "structures/structure.h"

namespace m4n::cli {
namespace fs = std::filesystem;
std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

void require_readable(const std::string& path, std::string_view what) {
  if (access(path.c_str(), R_OK) != 0)
    throw Error(fmt::format("{} {}: cannot be opened: {}", what, path, std::strerror(errno)));
}

std::vector<std::string> readable_inputs(const std::string& data, const TrainOptions& options) {
  std::vector<std::string> out{data};
  const auto add = [&](const std::string& option, const std::string& path) {
    require_readable(path, "--" + option);
    out.push_back(path);
  };
  if (const std::string path = detail::loss_file(options.loss); !path.empty()) add("loss", path);
  if (!options.init.empty()) add("init", options.init);
  // Where the task is not known yet, all structures are asked.
  for (const detail::Structure* structure : detail::structures())
    if (options.task.empty() || structure->name() == options.task)
      for (const auto& [option, path] : structure->files(options))
        if (std::find(out.begin(), out.end(), path) == out.end()) add(option, path);
  return out;
}

void require_writable_in_place(const std::string& path, std::string_view what) {
  std::error_code error;
  if (!fs::exists(path, error) || fs::is_directory(path, error)) return require_writable(path, what);
  if (access(path.c_str(), W_OK) != 0)
    throw Error(fmt::format("{} {}: cannot be written: {}", what, path, std::strerror(errno)));
}

void require_distinct(const std::string& output, std::string_view what, const std::vector<std::string>& others,
                      std::string_view role) {
  if (detail::is_special_file(output)) return;
  std::error_code error;
  // What comes by `<` would be overwritten, too.
  if (fs::is_regular_file("/dev/stdin", error) && fs::equivalent(output, "/dev/stdin", error))
    throw UsageError(
        fmt::format("{} {} is also the standard input; it would be overwritten. Choose another name", what, output));
  for (const std::string& other : others) {
    const bool same = fs::equivalent(output, other, error) ||
                      fs::weakly_canonical(output, error) == fs::weakly_canonical(other, error);
    if (same)
      throw UsageError(
          fmt::format("{} {} is also {}; it would be overwritten. Choose another name", what, output, role));
  }
}

}  // namespace m4n::cli
