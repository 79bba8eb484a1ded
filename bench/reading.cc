// bench_reading FOLDER: megabytes per second (by the clock) of reading plain CSV, LIBSVM and CoNLL files, generated
// into FOLDER, from the page cache, by one thread and by two; CoNLL with the template `chunking` to rows of attributes.
// Beside them std::strtod walks over the same bytes in memory: what parsing the numbers alone would cost with the C
// library.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "core/rng.h"
#include "m4n/error.h"
#include "m4n/read.h"
#include "support.h"

namespace m4n::detail::bench {
namespace {

// One line of each kind; `decimal` are numbers as a program prints them, the others small integers such as pixels.
std::string csv_line(Rng& rng, bool decimal) {
  std::string line;
  for (int f = 0; f < (decimal ? 50 : 400); ++f)
    line +=
        decimal ? fmt::format("{:.9g},", rng.normal()) : fmt::format("{},", rng.uniform() < 0.8 ? 0 : rng.below(256));
  return line + std::to_string(rng.below(10)) + "\n";
}
std::string libsvm_line(Rng& rng) {
  std::string line = std::to_string(rng.below(10));
  std::uint64_t index = 0;
  for (int f = 0; f < 40; ++f) line += fmt::format(" {}:{:.6g}", index += 1 + rng.below(1000), rng.normal());
  return line + "\n";
}

// A sentence: words whose frequencies fall like their ranks, a tag that goes with the word, a label.
std::string sentence(Rng& rng) {
  std::string text;
  for (std::uint64_t tokens = 5 + rng.below(30); tokens > 0; --tokens) {
    const auto word = static_cast<int>(std::exp(10 * rng.uniform()));
    text += fmt::format("word{} T{} {}\n", word, word % 40, rng.below(3) == 0 ? "B-NP" : "I-NP");
  }
  return text + "\n";
}

// A file of at least `megabytes`: `different` lines, over and over.
template <class Line>
void write_file(const std::filesystem::path& path, const std::string& header, double megabytes, int different,
                Line&& line) {
  Rng rng(5);
  std::string block;
  for (int l = 0; l < different; ++l) block += line(rng);
  std::ofstream out(path, std::ios::binary);
  out << header;
  const auto wanted = static_cast<std::size_t>(1e6 * megabytes);
  for (std::size_t size = 0; size < wanted; size += block.size()) out << block;
  if (!out.flush()) throw Error(fmt::format("cannot write {}; is the disk full?", path.string()));
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Every number of the text by strtod, skipping what lies between; the sum keeps the compiler from leaving it out.
double walk(const std::string& text) {
  double sum = 0;
  const char* at = text.c_str();
  const char* const end = at + text.size();
  while (at < end) {
    char* next = nullptr;
    const double x = std::strtod(at, &next);
    sum += x;
    at = next == at ? at + 1 : next;
  }
  return sum;
}

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// read(threads) reads the file.
Json measure(const std::filesystem::path& path, const std::string& what, int repeats, bool numbers,
             const std::function<void(unsigned threads)>& read) {
  const std::string text = contents(path);
  const double megabytes = 1e-6 * static_cast<double>(text.size());
  double one = std::numeric_limits<double>::infinity(), two = one;
  for (int r = 0; r < repeats; ++r) {  // in turn, so that what disturbs the machine disturbs both
    one = std::min(one, seconds_of([&] { read(1); }));
    two = std::min(two, seconds_of([&] { read(2); }));
  }
  Json out = {{"file", what},
              {"megabytes", megabytes},
              {"megabytes_per_second", megabytes / one},
              {"two_threads_megabytes_per_second", megabytes / two}};
  fmt::print(stderr, "  {}: {:.0f} MB/s, two threads {:.0f} MB/s\n", what, megabytes / one, megabytes / two);
  if (!numbers) return out;
  double sum = 0;
  const double theirs = fastest(repeats, [&] { sum += walk(text.substr(text.find('\n') + 1)); });
  fmt::print(stderr, "  strtod {:.0f} MB/s\n", megabytes / theirs);
  if (!(sum == sum)) throw Error("strtod found something that is not a number");
  out["strtod_megabytes_per_second"] = megabytes / theirs;
  return out;
}

Json reading(const Settings& settings) {
  if (settings.others.size() != 1) throw UsageError("expected FOLDER, where the files to read are written");
  const std::filesystem::path folder = settings.others[0];
  const double megabytes = settings.quick ? 5 : 100;
  const int repeats = settings.quick ? 1 : 3;
  const auto header = [](int features) {
    std::string line;
    for (int f = 1; f <= features; ++f) line += fmt::format("x{},", f);
    return line + "label\n";
  };
  Json out = Json::array();
  const auto one = [&](const char* name, const char* what, const std::string& head, int different, bool numbers,
                       auto&& line, const TrainOptions& options) {
    const std::filesystem::path path = folder / name;
    write_file(path, head, megabytes, different, line);
    out.push_back(measure(path, what, repeats, numbers, [&](unsigned threads) {
      TrainOptions own = options;
      read(path.string(), own, {}, {threads, {}, {}});
    }));
    std::filesystem::remove(path);
  };
  TrainOptions table, text;
  table.task = "multiclass";
  text.task = "sequence";
  text.text_template = "chunking";
  one(
      "integers.csv", "CSV, integers", header(400), 1000, true, [](Rng& rng) { return csv_line(rng, false); }, table);
  one(
      "decimals.csv", "CSV, 9 digits", header(50), 1000, true, [](Rng& rng) { return csv_line(rng, true); }, table);
  one("sparse.libsvm", "LIBSVM, 6 digits", "", 1000, true, libsvm_line, table);
  one("sentences.txt", "CoNLL, template chunking", "", 20000, false, sentence, text);
  return {{"reading", out}};
}

}  // namespace
}  // namespace m4n::detail::bench

int main(int argc, char** argv) { return m4n::detail::bench::run_program(argc, argv, m4n::detail::bench::reading); }
