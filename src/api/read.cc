// See m4n/read.h: which structure a file is of, and the way to its reader.
#include "m4n/read.h"

#include <fmt/format.h>

#include "core/message.h"
#include "core/option_values.h"
#include "losses/cost_matrix.h"
#include "losses/registry.h"
#include "structures/structure.h"
#include "structures/table_structure.h"

namespace m4n {
namespace detail {
namespace {

std::string guess_note(const std::string& task, const char* from, const std::string& path) {
  return fmt::format("task {}, guessed from the {} of {} (--task sets it)", task, from, path);
}

// The structure that the form of a file gives away, or an option or a format that only it has; null: a table, whose
// columns will tell.
const Structure* structure_by_form(const TrainOptions& options, std::string_view head) {
  for (const Structure* structure : structures())
    if (structure->recognises(options, head)) return structure;
  return nullptr;
}

const TableStructure& structure_by_columns(const RawTable& table, const TrainOptions& options) {
  for (const Structure* structure : structures())
    if (const auto* own = dynamic_cast<const TableStructure*>(structure); own && own->recognises(table, options))
      return *own;
  throw Error(say("{}: no task fits its columns; => name one with --task", table.path));
}

}  // namespace
}  // namespace detail

TrainingData read(const std::string& path, TrainOptions& options, const Notes& note, const Context& context) {
  using namespace detail;
  validate(options);
  if (names_a_file(options.loss) && !options.loss.starts_with(tree_prefix))
    options.read.costs = words_in_costs(options.loss);
  const Notes told = note ? note : [](const std::string&) {};
  Input input = Input::open(path);
  LineReader lines(input, {context.threads});
  if (!options.task.empty()) return structure_named(options.task).read(lines, options, told);
  if (const Structure* const own = structure_by_form(options, lines.peek())) {
    options.task = own->name();
    const bool by_form = own->recognises({}, lines.peek());
    told(guess_note(options.task, by_form ? "form" : "options beside the name", path));
    validate(options);
    return own->read(lines, options, told);
  }
  RawTable table = read_table(lines, options.read, Truth::required, nullptr);
  const TableStructure& found = structure_by_columns(table, options);
  options.task = found.name();
  told(guess_note(options.task, "columns", path));
  validate(options);
  return found.training_data(std::move(table), options, told);
}

Examples read(const std::string& path, const Model& model, const ReadOptions& options, Truth truth,
              const Context& context) {
  detail::Input input = detail::Input::open(path);
  detail::LineReader lines(input, {context.threads});
  return detail::structure_of(model).read(lines, model, options, truth, "the model");
}

}  // namespace m4n
