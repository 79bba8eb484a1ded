// Writing and reading the directory of a cross-validation, and its lock (cv_store.h).
#include "selection/cv_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/settings.h"
#include "core/atomic_file.h"
#include "core/checksum.h"
#include "core/message.h"
#include "core/option_values.h"
#include "data/text.h"
#include "m4n/read.h"
#include "structures/structure.h"

namespace m4n::detail {
namespace {

namespace fs = std::filesystem;
using Tree = nlohmann::ordered_json;

constexpr const char* header =
    "split,surrogate,smoothing,decode,gamma,lambda,validation,test,relative_gap,converged,constant,seconds,oracle_"
    "error\n";
enum CellColumn {
  c_split,
  c_surrogate,
  c_smoothing,
  c_decode,
  c_gamma,
  c_lambda,
  c_validation,
  c_test,
  c_gap,
  c_converged,
  c_constant,
  c_seconds,
  c_oracle_error,
  columns
};

std::string gamma_text(const std::optional<double>& gamma) { return gamma ? fmt::format("{}", *gamma) : "median"; }

// What cells depend on: of the options all but those that the candidates and the paths bring along.
Tree settings(const Dataset& data, std::span<const double> raw_target, const CvOptions& options) {
  constexpr std::array<std::string_view, 5> of_cells{"surrogate", "smoothing", "decode", "gamma", "lambda"};
  Tree candidates = Tree::array(), gammas = Tree::array();
  for (const Candidate& c : options.candidates)
    candidates.push_back({to_string(c.surrogate), c.smoothing, to_string(c.decode)});
  for (const auto& gamma : options.gammas) gammas.push_back(gamma_text(gamma));
  Tree out;
  for (const auto& [name, value] : settings_of(options.train, data, of_cells)) out[name] = value;
  // A limit of every fit changes what is found.
  out["time-limit"] = options.train.time_limit ? Tree(*options.train.time_limit) : Tree(nullptr);
  out["targets"] = checksum_text(raw_target);
  out["candidates"] = candidates;
  out["race"] = options.race;
  out["lambdas"] = options.lambdas;
  out["warm_path"] = options.warm_path;
  out["gammas"] = gammas;
  out["stratify"] = options.plan.stratify;
  out["splits"] = options.plan.splits;
  out["ratio"] = options.plan.ratio;
  out["folds"] = options.plan.folds;
  out["fold of"] = fmt::format("{:016x}", checksum_of<std::int32_t>(options.plan.fold_of, 0));
  return out;
}

// Nothing is written where nothing has changed.
void update_file(const std::string& path, const std::string& text) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::string(std::istreambuf_iterator<char>(file), {}) != text) write_file_atomically(path, text);
}

void refuse_other_settings(const std::string& directory, const Tree& now) {
  std::ifstream file(directory + "/settings.json");
  const Tree before = Tree::parse(file, nullptr, false);
  if (!before.is_object())
    throw Error(say("--out {}: its settings.json is damaged; => remove the directory, or name another", directory));
  const auto entries = [](const Tree& tree) {
    Settings out;
    for (const auto& [key, value] : tree.items())
      out.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
    return out;
  };
  if (const std::string other = difference(entries(now), entries(before)); !other.empty())
    throw Error(say("--out {}: it holds results of other settings ({}); => name another directory, or remove it",
                    directory, other));
}

}  // namespace

void DirectoryLock::acquire(const std::string& directory) {
  file_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file_ < 0) throw Error(say("--out {}: cannot be opened: {}", directory, std::strerror(errno)));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0)
    throw Error(say("--out {}: another run is using it; wait for it, or name another directory", directory));
}

DirectoryLock::~DirectoryLock() {
  if (file_ >= 0) ::close(file_);
}

std::vector<std::string> CvStore::files(const std::string& directory) {
  return {directory + "/settings.json", directory + "/cells.csv", directory + "/cv.json"};
}

CvStore::CvStore(std::string directory, const Dataset& data, std::span<const double> raw_target,
                 const CvOptions& options)
    : directory_(std::move(directory)),
      path_(directory_ + "/cells.csv"),
      candidates_(options.candidates),
      gammas_(options.gammas),
      splits_(make_splits(data.examples(), options.plan, options.train.seed).size()) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (!fs::is_directory(directory_))
    throw Error(say("--out {}: cannot be made a directory: {}", directory_,
                    error ? error.message() : "there is a file of that name"));
  lock_.acquire(directory_);
  const Tree now = settings(data, raw_target, options);
  for (const std::string& path : files(directory_))
    if (fs::exists(path) && !fs::is_regular_file(path))
      throw Error(say("--out {}: {} is no regular file; => name another directory", directory_, path));
  if (fs::exists(running()) && !fs::is_directory(running()))
    throw Error(say("--out {}: {} is no directory; => name another directory", directory_, running()));
  if (fs::exists(directory_ + "/settings.json")) {
    refuse_other_settings(directory_, now);
    read_cells();
  } else {
    std::vector<std::string> own = files(directory_);
    own.push_back(running());
    for (const std::string& path : own)
      if (fs::exists(path))
        throw Error(say(
            "--out {}: there is a file {}, but not of a cross-validation (no settings.json); => name another directory",
            directory_, path));
    write_file_atomically(directory_ + "/settings.json", now.dump(1) + "\n");
  }
  std::string text = header;
  for (const CvCell& cell : known_) text += line(cell);
  update_file(path_, text);  // without a last line that was cut off
  file_.open(path_, std::ios::app);
  if (!file_) throw Error(say("{}: cannot be written: {}", path_, std::strerror(errno)));
}

std::string CvStore::line(const CvCell& cell) const {
  const Candidate& c = candidates_[cell.candidate];
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", cell.split + 1, to_string(c.surrogate), c.smoothing,
                     to_string(c.decode), gamma_text(gammas_[cell.gamma]), cell.lambda, cell.validation, cell.test,
                     cell.relative_gap, cell.converged ? 1 : 0, cell.constant ? 1 : 0, cell.seconds,
                     cell.oracle_error ? fmt::format("{}", *cell.oracle_error) : "");
}

void CvStore::read_cells() {
  std::ifstream file(path_);
  std::string text;
  if (std::getline(file, text) && text + "\n" != header)
    throw Error(say("{}: line 1: found {}, expected {}; => remove the directory, or name another", path_, shown(text),
                    shown(trim(header))));
  for (std::size_t number = 2; std::getline(file, text) && !file.eof(); ++number) {
    const std::vector<std::string> cells = split_cells(text, path_, number);
    const auto fail = [&] {
      throw Error(
          say("{}: line {}: found {}, which is no cell of this cross-validation; => remove the line, or the directory",
              path_, number, shown(text)));
    };
    if (cells.size() != columns) fail();
    CvCell cell;
    const auto value = [&](CellColumn column) {
      const auto found = finite_number(cells[column]);
      if (!found) fail();
      return *found;
    };
    const double split = value(c_split);
    if (!(split >= 1 && split <= static_cast<double>(splits_)) || split != std::floor(split)) fail();
    cell.split = static_cast<std::size_t>(split) - 1;
    while (cell.candidate < candidates_.size() &&
           !(cells[c_surrogate] == to_string(candidates_[cell.candidate].surrogate) &&
             cells[c_decode] == to_string(candidates_[cell.candidate].decode) &&
             value(c_smoothing) == candidates_[cell.candidate].smoothing))
      ++cell.candidate;
    while (cell.gamma < gammas_.size() && cells[c_gamma] != gamma_text(gammas_[cell.gamma])) ++cell.gamma;
    if (cell.candidate == candidates_.size() || cell.gamma == gammas_.size()) fail();
    cell.lambda = value(c_lambda);
    cell.validation = value(c_validation);
    cell.test = value(c_test);
    cell.relative_gap = value(c_gap);
    cell.converged = value(c_converged) != 0;
    cell.constant = value(c_constant) != 0;
    cell.seconds = value(c_seconds);
    if (!cells[c_oracle_error].empty()) cell.oracle_error = value(c_oracle_error);
    known_.push_back(cell);
  }
}

void CvStore::add(std::span<const CvCell> cells) {
  std::string text;
  for (const CvCell& cell : cells) text += line(cell);
  file_ << text << std::flush;
  if (!file_) throw Error(say("{}: cannot be written: {}", path_, std::strerror(errno)));
}

void CvStore::finish(const CvResult& result, const std::string& report) {
  file_.close();
  std::string text = header;
  for (const CvCell& cell : result.cells) text += line(cell);
  update_file(path_, text);
  // All cells are known now. What is not there, or of others, is left as it is.
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(running(), error))
    if (entry.path().extension() == ".m4nc" || entry.path().filename().string().starts_with(".m4n-"))
      fs::remove(entry.path(), error);
  fs::remove(running(), error);
  write_file_atomically(directory_ + "/cv.json", report);  // last: it says that all is done
}

bool CvStore::finished(const std::string& directory) { return fs::exists(directory + "/cv.json"); }

}  // namespace m4n::detail
