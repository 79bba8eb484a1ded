// A model as programs see it, and its file. What stands in the file beside the common part is the structure's
// (Structure::write, read, check). Nothing about times, paths or threads: same model, same bytes.
#include "m4n/model.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "core/atomic_file.h"
#include "core/message.h"
#include "model/check.h"
#include "model/model_file.h"
#include "structures/structure.h"
#include "surrogates/registry.h"

namespace m4n {
namespace detail {
namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();

void write_common(ModelFileWriter& file, const ModelCommon& model) {
  file.field("task", model.task);
  file.field("surrogate", to_string(model.surrogate));
  file.field("decode", to_string(model.decode));
  file.field("loss", model.loss_name);
  file.field("k", std::uint64_t{model.classes.size()});
  file.field("d", std::uint64_t{model.d});
  file.field("sparse", model.sparse);
  file.field("solver", model.solver);
  file.real("lambda", model.lambda);
  file.real("tol", model.tol);
  file.field("n", std::uint64_t{model.n});
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
}

// Arrays are taken only with the length that k and d demand; k and d are bounded by the arrays before they are used for
// anything else. What the structure reads is for its check to see.
ModelCommon read_common(ModelFileReader& file, const StructureTraits& traits) {
  constexpr auto or_none = ModelFileReader::Length::exact_or_none;
  ModelCommon model;
  model.task = file.text("task");
  model.surrogate = file.choice<SurrogateKind>("surrogate");
  model.decode = file.choice<Decoder>("decode");
  model.loss_name = file.text("loss");
  const std::uint64_t k = file.natural("k", traits.fewest_labels, traits.most_labels);
  const std::uint64_t d = file.natural("d", 0, std::numeric_limits<std::uint32_t>::max());
  model.d = static_cast<std::size_t>(d);
  model.sparse = file.flag("sparse");
  model.solver = file.text("solver");
  model.lambda = file.real("lambda");
  model.tol = file.real("tol");
  model.n = model.parts = static_cast<std::size_t>(file.natural("n", 0, std::numeric_limits<std::size_t>::max()));
  model.epochs = static_cast<int>(file.natural("epochs", 0, std::numeric_limits<int>::max()));
  model.oracle_calls = file.natural("oracle_calls", 0, any);
  model.seed = file.natural("seed", 0, any);
  model.train_loss = file.real("train_loss");
  model.norm_squared = file.real("norm_squared");
  model.certificate = {file.real("primal"), file.real("dual"), file.flag("converged")};
  model.interrupted = file.flag("interrupted");
  model.classes = file.strings("classes", k);
  model.feature_names = file.strings("feature_names", d, or_none);
  if (file.has_array("fold_column")) model.fold_column = file.strings("fold_column", 1)[0];
  return model;
}

// Distinct names; numbers about the training finite where they must be, and not negative where they cannot be; a
// surrogate and a decoder that go together. Cost: linear in the size of the model.
void check_common(const ModelCommon& model, const std::string& name) {
  const ModelCheck check(name);
  const StructureTraits& traits = structure_named(model.task).traits();
  check.require(model.classes.size() >= traits.fewest_labels && model.classes.size() <= traits.most_labels,
                fmt::format("it has {} {}; expected {} to {}", model.classes.size(), traits.label.many,
                            traits.fewest_labels, traits.most_labels));
  check.require(model.d <= std::numeric_limits<std::uint32_t>::max(), fmt::format("it has {} features", model.d));
  check.require_distinct("class", model.classes);
  if (!model.feature_names.empty()) check.require_length("feature_names", model.feature_names.size(), model.d);
  check.require_distinct("feature name", model.feature_names);
  check.require_finite("cost", model.cost);

  check.require(model.surrogate != SurrogateKind::qs || traits.no_quadratic.empty(),
                fmt::format("its surrogate qs is not one of {}", traits.example.many));
  check.require(model.decode != Decoder::automatic, "its decoder is still to be chosen (auto)");
  check.require((model.decode == Decoder::viterbi) == (traits.largest == Decoder::viterbi) ||
                    (model.decode != Decoder::viterbi && model.decode != Decoder::argmax),
                fmt::format("{} is no decoder of {}", to_string(model.decode), traits.example.many));
  check.require_not_negative("smoothing", model.smoothing);
  check.require(model.smoothing == 0 || surrogate_row(model.surrogate).smoothing,
                "only the surrogate m4n can be smoothed, but it has another one");
  check.require(model.smoothing == 0 || structure_named(model.task).takes("smoothing"),
                fmt::format("its surrogate is smoothed, which {} have not", traits.example.many));
  check.require(goes_with(model.decode, model.surrogate, model.smoothing, traits.losses == LossFamily::classes),
                fmt::format("the decoder {} does not go with the surrogate {} of {}", to_string(model.decode),
                            to_string(model.surrogate), traits.example.many));
  check.require_not_negative("lambda", model.lambda);
  check.require_not_negative("tol", model.tol);
  check.require(model.epochs >= 0, fmt::format("epochs is {}", model.epochs));
  check.require(model.parts >= model.n || !traits.several_parts,
                fmt::format("it has {} {} but {} {}", model.n, traits.example.many, model.parts,
                            traits.part.many != nullptr ? traits.part.many : traits.label.many));
  check.require(std::isfinite(model.train_loss), fmt::format("train_loss is {}", model.train_loss));
  check.require_not_negative("norm_squared", model.norm_squared);
  // A solver that was stopped before its first certificate has the bounds -infinity and infinity.
  check.require(!std::isnan(model.certificate.primal) && !std::isnan(model.certificate.dual),
                "its certificate is not a number");
}

void check_model(const Model& model, const std::string& name) {
  const ModelCheck check(name);
  check.require(model.part() != nullptr, "it has no weights");
  check_common(model.common(), name);
  structure_of(model).check(model, name);
}

std::string bytes_of(const Model& model) {
  const Structure& structure = structure_of(model);
  ModelFileWriter file(structure.kind_of(model));
  write_common(file, model.common());
  structure.write_part(model, file);
  return file.to_bytes();
}

// The structure that a file of this kind and task is of; refuses what this version does not understand.
const Structure& structure_for(ModelFileReader& file, const std::string& task) {
  std::vector<std::string> kinds;
  bool known = false;
  const Structure* own = nullptr;
  for (const Structure* structure : structures()) {
    for (const std::string& kind : structure->kinds()) {
      if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
      known = known || kind == file.kind();
      if (kind == file.kind() && structure->name() == task) own = structure;
    }
  }
  if (!known)
    file.fail(fmt::format(
        "it holds a model of the kind '{}', but this m4n knows the kinds '{}' only: it was written by a newer m4n; "
        "update m4n, or train again",
        file.kind(), fmt::join(kinds, "', '")));
  const std::vector<std::string> tasks = task_names();
  if (std::find(tasks.begin(), tasks.end(), task) == tasks.end())
    file.fail(fmt::format("the field 'task' of its header is '{}'; expected one of: {}", task, fmt::join(tasks, ", ")));
  if (own == nullptr) file.fail(fmt::format("a model of the kind '{}' cannot have the task {}", file.kind(), task));
  return *own;
}

void require_probabilities(const Model& model) { Structure::require_probabilities(model, "the model", {}); }

[[noreturn]] void fail_to_read(const std::string& path, int error) {
  throw Error(say("{}: cannot be read: {}", path, std::generic_category().message(error)));
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
        say("{}: is {}: it has {} bytes, its preamble promises {}; copy it again from its source, or train again", path,
            size < promised ? "truncated" : "damaged", size, promised));
  file.append_to(&bytes, promised - bytes.size() + 1);  // one more, to see that it ends there
  return bytes;
}

}  // namespace
}  // namespace detail

std::vector<std::string> ModelCommon::columns_of_costs() const {
  std::vector<std::string> out;
  for (const std::string& column : cost_columns)
    if (!column.empty() && std::find(out.begin(), out.end(), column) == out.end()) out.push_back(column);
  return out;
}

Model::Model(ModelCommon common, std::shared_ptr<const ModelPart> part)
    : common_(std::move(common)), part_(std::move(part)) {}

std::vector<std::string> Model::output_names() const { return detail::structure_of(*this).output_names(*this); }

std::vector<double> Model::scores(const FeaturesView& x, const Context& context) const {
  return detail::structure_of(*this).scores(*this, x, context);
}

std::vector<std::int32_t> Model::decode_scores(std::span<const double> scores, const Context& context) const {
  return detail::structure_of(*this).decode(*this, scores, {}, context);
}

std::vector<std::int32_t> Model::predict(const FeaturesView& x, const Context& context) const {
  return decode_scores(scores(x, context), context);
}

std::vector<std::int32_t> Model::predict(const Dataset& examples, const Context& context) const {
  return detail::structure_of(*this).predictor(*this)->predict(examples, nullptr, context);
}

std::vector<double> Model::marginals(const Dataset& examples, const Context& context) const {
  detail::require_probabilities(*this);
  return detail::structure_of(*this).predictor(*this)->marginals(examples, nullptr, context);
}

std::vector<double> Model::marginals(std::span<const double> scores, const Context& context) const {
  detail::require_probabilities(*this);
  return detail::structure_of(*this).marginals(*this, scores, {}, context);
}

std::string Model::to_bytes() const {
  detail::check_model(*this, "model");
  return detail::bytes_of(*this);
}

Model Model::from_bytes(std::span<const char> bytes, const std::string& name) {
  detail::ModelFileReader file(bytes, name);
  const std::string task = file.text("task");
  const detail::Structure& structure = detail::structure_for(file, task);
  ModelCommon common = detail::read_common(file, structure.traits());
  std::shared_ptr<const ModelPart> part = structure.read_part(file, common);
  file.finish();
  Model model(std::move(common), std::move(part));
  detail::check_model(model, name);
  return model;
}

void Model::save(const std::string& path) const {
  detail::check_model(*this, path);
  detail::write_file_atomically(path, detail::bytes_of(*this));
}

Model Model::load(const std::string& path) { return from_bytes(detail::read_model_bytes(path), path); }

}  // namespace m4n
