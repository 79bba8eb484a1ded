// Data that a structure makes of itself (Structure::generate), in a file, and read back as users read it.
#pragma once
#include <fstream>
#include <string>

#include "m4n/read.h"
#include "structures/structure.h"
#include "support/temp_dir.h"

namespace m4n::detail::test {

class GeneratedFile {
 public:
  GeneratedFile(const std::string& task, std::size_t n, std::uint64_t seed) {
    FileSink sink(path());
    made = structure_named(task).generate({n, seed}, sink);
    sink.file.close();
    options.task = task;
    for (const auto& [name, value] : made.options)
      for (const OptionRow& row : train_option_table())
        if (row.name == name) row.set(options, value);
    data = read(path(), options).data;
  }
  std::string path() const { return folder_ / "data"; }

  Generated made;
  TrainOptions options;  // with what follows from the file
  Dataset data;

 private:
  struct FileSink : TextSink {
    explicit FileSink(const std::string& path) : file(path, std::ios::binary) {}
    void write(std::string_view text) override { file << text; }
    std::ofstream file;
  };
  TempDir folder_;
};

}  // namespace m4n::detail::test
