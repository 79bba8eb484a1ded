#include "learning.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/option_values.h"
#include "core/wording.h"
#include "data/table.h"
#include "data/text.h"
#include "files.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "messages.h"
#include "transform/read_sequences.h"
#include "transform/text_template.h"

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
  if (guessed && means_sequences(options, lines.peek())) {
    options.task = Task::sequence;
    note_guess(options, means_sequences({}, lines.peek()) ? "form" : "options beside the name", path, quiet);
  }
  if (options.task == Task::sequence) return read_sequences(lines, options, quiet);
  RawTable table = read_table(lines, options.read, true, nullptr);
  if (guessed) {
    options.task = guess_task(table, options.bins);
    note_guess(options, "columns", path, quiet);
  }
  if (!table.left_out.empty())
    note(quiet, fmt::format("{}: left out beside the label {}, which they would give away: {} (--target takes another "
                            "column as the label)",
                            path, shown(table.target_name), shown_list(table.left_out, 10)));
  TrainingData out;
  if (options.bins > 0) out.raw_target = raw_targets(table);
  out.folds = std::move(table.folds);
  out.data = label_for_training(std::move(table), *options.task, options.bins, options.binning);
  return out;
}

}  // namespace m4n::cli
