// Any bytes read as LIBSVM: a table, or an Error; never a crash. Plain and gzip'd bytes, with and without labels, with
// and without a model that says which features to expect.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/table.h"
#include "m4n/error.h"

namespace {

void read(std::string_view text, bool target_required, const m4n::Model* expected) {
  m4n::ReadOptions options;
  options.format = m4n::Format::libsvm;
  try {
    m4n::Input input = m4n::Input::memory(text, "fuzz");
    m4n::RawTable table = m4n::read_table(input, options, target_required, expected);
    if (!target_required) return;
    const m4n::Task task = m4n::guess_task(table, 0);
    m4n::label_for_training(std::move(table), task);
  } catch (const m4n::Error&) {
    return;  // refused in words
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  m4n::Model model;
  model.feature_names = {"x1", "x2"};
  model.d = 2;
  read(text, true, nullptr);
  read(text, false, nullptr);
  read(text, false, &model);
  return 0;
}
