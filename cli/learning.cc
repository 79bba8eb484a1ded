#include "learning.h"

#include <fmt/format.h>

#include "core/option_values.h"
#include "data/text.h"
#include "files.h"
#include "messages.h"

namespace m4n::cli {

void require_option_files(const TrainOptions& options) {
  if (names_a_file(options.loss)) require_readable(options.loss, "--loss");
  if (names_a_file(options.class_weight)) require_readable(options.class_weight, "--class-weight");
}

RawTable read_labelled(const std::string& path, TrainOptions& options, bool quiet) {
  RawTable table = read_table(path, options.read, true);
  if (!options.task) {
    options.task = guess_task(table, options.bins);
    note(quiet,
         fmt::format("task {}, guessed from the columns of {} (--task sets it)", to_string(*options.task), path));
  }
  if (!table.left_out.empty())
    note(quiet, fmt::format("{}: left out beside the label {}, which they would give away: {} (--target takes another "
                            "column as the label)",
                            path, shown(table.target_name), shown_list(table.left_out, 10)));
  return table;
}

}  // namespace m4n::cli
