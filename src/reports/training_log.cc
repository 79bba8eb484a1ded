// What a page knows of files: the log of a training, and the checksum of data (model_page.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/checksum.h"
#include "core/message.h"
#include "data/text.h"
#include "reports/model_page.h"

namespace m4n::detail {

// A training returns the least primal and the largest dual value it has seen, digit by digit: both are in its log.
void refuse_log_of_another(const std::vector<Progress>& log, const Model& model, const std::string& path) {
  const Certificate& own = model.certificate();
  const auto has_primal = [&](const Progress& step) { return step.primal == own.primal; };
  const auto has_dual = [&](const Progress& step) { return step.dual == own.dual; };
  if (std::any_of(log.begin(), log.end(), has_primal) && std::any_of(log.begin(), log.end(), has_dual)) return;
  const Progress& last = log.back();
  throw Error(
      say("{}: is the log of another training: it ends after {} with the optimum in [{}, {}], while the model has [{}, "
          "{}] after {}; => give the file that `train --log` wrote when it wrote this model, or leave --log out",
          path, counted(static_cast<std::uint64_t>(last.epoch), "epoch"), last.dual, last.primal, own.dual, own.primal,
          counted(static_cast<std::uint64_t>(model.common().epochs), "epoch")));
}

std::vector<Progress> read_training_log(const std::string& path) {
  Input input = Input::open(path);
  LineReader lines(input);
  std::vector<Progress> out;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const auto found = nlohmann::json::parse(line, nullptr, false);
    const auto refuse = [&] {
      throw Error(
          say("{}: line {}: found {}, expected a line of `train --log`: epoch, seconds, primal, dual, "
              "relative_gap",
              input.name(), lines.line_number(), shown(line)));
    };
    if (!found.is_object()) refuse();
    const auto number = [&](const char* key) {
      if (!found.contains(key) || !found[key].is_number()) refuse();
      return found[key].get<double>();
    };
    Progress step;
    step.epoch = static_cast<int>(std::clamp(number("epoch"), 0.0, 1e9));
    step.seconds = number("seconds");
    step.primal = number("primal");
    step.dual = number("dual");
    step.relative_gap = number("relative_gap");
    out.push_back(step);
  }
  if (out.empty()) throw Error(say("{}: holds no certificate; expected lines of `train --log`", input.name()));
  return out;
}

std::string file_origin(const std::string& path, std::size_t trailer) {
  if (path == "-") return "standard input";
  const std::string name = std::filesystem::path(path).filename().string();
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return name;
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(std::size_t{1} << 20);
  std::uint64_t sum = 0;
  for (std::uintmax_t size = std::filesystem::file_size(path, unknown),
                      left = size - std::min<std::uintmax_t>(trailer, size);
       file && left > 0; left -= static_cast<std::uintmax_t>(file.gcount())) {
    file.read(piece.data(), static_cast<std::streamsize>(std::min<std::uintmax_t>(piece.size(), left)));
    sum = crc64(std::span<const char>(piece.data(), static_cast<std::size_t>(file.gcount())), sum);
  }
  return fmt::format("{}, CRC-64/XZ {:016x}", name, sum);
}

}  // namespace m4n::detail
