// Model to file and back. The kind "linear" is a matrix of weights on the simplex: fields hold what it is and how it
// was found, arrays hold what grows with k and d; "mapped" adds the feature map its weights apply to. Nothing about
// times, paths or threads: same model, same bytes.
//
// A later kind or field gets its own branch here; a file this version does not understand is refused.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "m4n/error.h"
#include "m4n/model.h"
#include "model/atomic_file.h"
#include "model/model_check.h"
#include "model/model_file.h"

namespace m4n {
namespace {

constexpr const char* linear_kind = "linear";
constexpr const char* mapped_kind = "mapped";  // linear in features that are computed from the input

std::string to_bytes_checked(const Model& model, const std::string& name) {
  check_model(model, name);
  const bool linear = model.map.kind == FeatureKind::linear;
  const std::vector<std::string> columns{model.target_column, model.weights_column, model.id_column};
  ModelFileWriter file(linear ? linear_kind : mapped_kind);
  file.field("task", to_string(model.task));
  file.field("surrogate", to_string(model.surrogate));
  file.field("decode", to_string(model.decode));
  file.real("smoothing", model.smoothing);
  file.field("loss", model.loss_name);
  file.field("binning", to_string(model.bins.rule));
  file.field("k", model.k());
  file.field("d", model.d);
  file.field("sparse", model.sparse);
  file.field("bias", model.bias);
  file.field("solver", model.solver);
  file.real("lambda", model.lambda);
  file.real("tol", model.tol);
  file.field("n", model.n);
  file.field("epochs", model.epochs);
  file.field("oracle_calls", model.oracle_calls);
  file.field("seed", model.seed);
  file.real("train_loss", model.train_loss);
  file.real("norm_squared", model.norm_squared);
  file.real("primal", model.certificate.primal);
  file.real("dual", model.certificate.dual);
  file.field("converged", model.certificate.converged);
  file.field("interrupted", model.interrupted);
  file.array("classes", model.classes);
  file.array("feature_names", model.feature_names);
  file.array("columns", columns);
  if (!model.fold_column.empty()) file.array("fold_column", {&model.fold_column, 1});
  file.array("cost", model.cost);
  file.array("cuts", model.bins.cuts);
  file.array("mean", model.standardizer.mean);
  file.array("inverse_scale", model.standardizer.inverse_scale);
  file.array("weights", model.weights);
  if (!linear) {
    file.field("features", to_string(model.map.kind));
    file.field("kernel", to_string(model.map.kernel.kind));
    file.real("gamma", model.map.kernel.gamma);
    file.field("degree", model.map.kernel.degree);
    file.field("width", model.width());
    file.array("points", model.map.points.values);
    file.array("phase", model.map.phase);
  }
  return file.to_bytes();
}

// Arrays are taken only with the length that k and d demand; k and d are bounded by the arrays before they are used
// for anything else.
Model read_model(ModelFileReader& file, bool linear) {
  constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
  constexpr auto or_none = ModelFileReader::Length::exact_or_none;
  Model model;
  model.task = file.choice<Task>("task");
  model.surrogate = file.choice<SurrogateKind>("surrogate");
  model.decode = file.choice<Decoder>("decode");
  model.smoothing = file.real("smoothing");
  model.loss_name = file.text("loss");
  model.bins.rule = file.choice<Binning>("binning");
  const std::uint64_t k = file.natural("k", 2, std::numeric_limits<std::int32_t>::max());
  const std::uint64_t d = file.natural("d", 0, std::numeric_limits<std::uint32_t>::max());
  model.d = static_cast<std::size_t>(d);
  model.sparse = file.flag("sparse");
  model.bias = file.flag("bias");
  model.solver = file.text("solver");
  model.lambda = file.real("lambda");
  model.tol = file.real("tol");
  model.n = static_cast<std::size_t>(file.natural("n", 0, std::numeric_limits<std::size_t>::max()));
  model.epochs = static_cast<int>(file.natural("epochs", 0, std::numeric_limits<int>::max()));
  model.oracle_calls = file.natural("oracle_calls", 0, any);
  model.seed = file.natural("seed", 0, any);
  model.train_loss = file.real("train_loss");
  model.norm_squared = file.real("norm_squared");
  model.certificate = {file.real("primal"), file.real("dual"), file.flag("converged")};
  model.interrupted = file.flag("interrupted");
  model.classes = file.strings("classes", k);
  model.feature_names = file.strings("feature_names", d, or_none);
  const std::vector<std::string> columns = file.strings("columns", 3);
  model.target_column = columns[0];
  model.weights_column = columns[1];
  model.id_column = columns[2];
  if (file.has_array("fold_column")) model.fold_column = file.strings("fold_column", 1)[0];
  model.cost = file.doubles("cost", product_or_largest(k, k));
  model.bins.cuts = file.doubles("cuts", k - 1, or_none);
  model.standardizer.mean = file.doubles("mean", d, or_none);
  model.standardizer.inverse_scale = file.doubles("inverse_scale", d, or_none);
  std::uint64_t width = d;
  if (!linear) {
    model.map.kind = file.choice<FeatureKind>("features");
    model.map.kernel.kind = file.choice<KernelKind>("kernel");
    model.map.kernel.gamma = file.real("gamma");
    model.map.kernel.degree = static_cast<int>(file.natural("degree", 1, largest_degree));
    width = file.natural("width", 0, std::numeric_limits<std::uint32_t>::max());
    model.map.points = {static_cast<std::size_t>(width), model.d, file.doubles("points", product_or_largest(width, d))};
    model.map.phase = file.doubles("phase", width, or_none);
  }
  model.weights = file.doubles("weights", product_or_largest(width + (model.bias ? 1 : 0), k));
  file.finish();
  return model;
}

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

std::string Model::to_bytes() const { return to_bytes_checked(*this, "model"); }

Model Model::from_bytes(std::span<const char> bytes, const std::string& name) {
  ModelFileReader file(bytes, name);
  const bool linear = file.kind() == linear_kind;
  if (!linear && file.kind() != mapped_kind)
    file.fail(fmt::format(
        "it holds a model of the kind '{}', but this m4n knows the kinds '{}' and '{}' only: it was written "
        "by a newer m4n; update m4n, or train again",
        file.kind(), linear_kind, mapped_kind));
  Model model = read_model(file, linear);
  check_model(model, name);
  return model;
}

void Model::save(const std::string& path) const { write_file_atomically(path, to_bytes_checked(*this, path)); }

Model Model::load(const std::string& path) { return from_bytes(read_model_bytes(path), path); }

}  // namespace m4n
