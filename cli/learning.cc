#include "learning.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "core/option_values.h"
#include "core/wording.h"
#include "structures/graphs/data.h"
#include "structures/permutations/matching_text.h"
#include "data/table.h"
#include "data/text.h"
#include "files.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "messages.h"
#include "structures/chains/read.h"
#include "features/text_template.h"

namespace m4n::cli {
namespace {

void note_guess(const TrainOptions& options, const char* from, const std::string& path, bool quiet) {
  note(quiet, fmt::format("task {}, guessed from the {} of {} (--task sets it)", to_string(*options.task), from, path));
}

TrainingData read_sequences(LineReader& lines, const TrainOptions& options, bool quiet) {
  constexpr const char* fold_column = "fold";
  validate(options);
  TrainingSequences sequences = read_training_sequences(lines, options);
  const std::string& asked = options.read.fold;
  if (!asked.empty() && (asked != fold_column || sequences.folds.empty()))
    throw UsageError(
        fmt::format("--folds {}: of the formats of sequences only ocr has folds, in its column {}; give a number of "
                    "random folds",
                    asked, fold_column));
  note(quiet, fmt::format("{}: {}, {}, {} ({})", lines.file(), counted(sequences.data.examples(), "sequence"),
                          counted(sequences.data.label.size(), "token"), counted(cols(sequences.data.x), "feature"),
                          to_string(sequences.data.input->format)));
  if (asked.empty()) sequences.folds.clear();
  return {std::move(sequences.data), {}, std::move(sequences.folds)};
}

// Of formats of their own, which have no columns.
void require_own_format(const TrainOptions& options, Format format, const char* what) {
  validate(options);
  if (options.read.format != Format::automatic && options.read.format != format)
    throw UsageError(fmt::format("--format {}: {} have the format {}. Leave it out", to_string(options.read.format),
                                 what, to_string(format)));
  if (!options.read.fold.empty())
    throw UsageError(
        fmt::format("--folds {}: files of {} have no columns; give a number of random folds", options.read.fold, what));
}

TrainingData read_matching_file(LineReader& lines, const TrainOptions& options, bool quiet) {
  require_own_format(options, Format::matching, "matchings");
  TrainingData out{read_matchings(lines), {}, {}};
  note(quiet, fmt::format("{}: {}, {}, {}", lines.file(), counted(out.data.examples(), "matching"),
                          counted(out.data.label.size(), "point"), counted(cols(out.data.x), "feature")));
  return out;
}

TrainingData read_graph_file(LineReader& lines, const TrainOptions& options, bool quiet) {
  require_own_format(options, Format::graph, "graphs");
  TrainingData out{graphs_for_training(read_graph_text(lines)), {}, {}};
  const GraphStructure& structure = *out.data.graph;
  note(quiet, fmt::format("{}: {}, {} with {}, {} with {}", lines.file(), counted(out.data.examples(), "graph"),
                          counted(out.data.label.size(), "node"), counted(cols(out.data.x), "feature"),
                          counted(structure.edge.size(), "edge"), counted(structure.edge_features.cols, "feature")));
  return out;
}

// The task that the form of a file gives away, or the format asked for; the columns of a table tell the others.
std::optional<Task> task_of_form(const TrainOptions& options, std::string_view head) {
  const Format format = options.read.format;
  const bool free = format == Format::automatic;
  if (format == Format::matching || (free && looks_like_matchings(head))) return Task::matching;
  if (format == Format::graph || (free && looks_like_graphs(head))) return Task::graph;
  if (means_sequences(options, head)) return Task::sequence;
  return std::nullopt;
}

}  // namespace

std::vector<std::string> readable_inputs(const std::string& data, const TrainOptions& options) {
  std::vector<std::string> out{data};
  const auto add = [&](bool is_file, const std::string& path, const char* option) {
    if (!is_file) return;
    require_readable(path, option);
    out.push_back(path);
  };
  add(names_a_file(options.loss), options.loss, "--loss");
  add(names_a_file(options.class_weight), options.class_weight, "--class-weight");
  add(!options.edges.empty() && options.edges != "none" && options.edges != "tree", options.edges, "--edges");
  const std::string& text = options.text_template;
  if (!text.empty() && !names_a_file(text) && builtin_template(text).empty() && !std::filesystem::exists(text))
    throw UsageError(
        fmt::format("--template: found {}, expected chunking, ner, pos or the name of a file", shown(text)));
  add(!text.empty() && builtin_template(text).empty(), text, "--template");
  return out;
}

TrainingData read_training(const std::string& path, TrainOptions& options, bool quiet) {
  Input input = Input::open(path);
  LineReader lines(input);
  const bool guessed = !options.task.has_value();
  if (guessed) {
    options.task = task_of_form(options, lines.peek());
    const char* const told_by = task_of_form({}, lines.peek()) == options.task ? "form" : "options beside the name";
    if (options.task) note_guess(options, told_by, path, quiet);
  }
  if (options.task == Task::sequence) return read_sequences(lines, options, quiet);
  if (options.task == Task::matching) return read_matching_file(lines, options, quiet);
  if (options.task == Task::graph) return read_graph_file(lines, options, quiet);
  if (options.task)
    options.read.outputs = options.task == Task::ranking      ? OutputColumns::ranks
                           : options.task == Task::multilabel ? OutputColumns::marks
                                                              : OutputColumns::one;
  RawTable table = read_table(lines, options.read, true, nullptr);
  if (guessed) {
    options.task = guess_task(table, options.bins);
    note_guess(options, "columns", path, quiet);
  }
  if (!table.left_out.empty())
    note(quiet,
         options.task == Task::ranking || options.task == Task::multilabel
             ? fmt::format("{}: left out beside the {}: {}", path, options.task == Task::ranking ? "ranks" : "marks",
                           shown_list(table.left_out, 10))
             : fmt::format("{}: left out beside the label {}, which they would give away: {} (--target takes another "
                           "column as the label)",
                           path, shown(table.target_name), shown_list(table.left_out, 10)));
  TrainingData out;
  if (guessed) validate(options);
  if (options.bins > 0) out.raw_target = raw_targets(table);
  out.folds = std::move(table.folds);
  out.data = label_for_training(std::move(table), *options.task, options.bins, options.binning);
  return out;
}

}  // namespace m4n::cli
