// What m4n predict writes for sequences, as it comes: text with a column or a line a token, a CSV, or one JSON object.
#pragma once
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "m4n/model.h"
#include "predict_sequences.h"

namespace m4n::cli {

struct Labelling {
  std::vector<std::int32_t> label;
  double score = 0, probability = 0;  // the latter for crf only
};

// All that was asked for about one sentence.
struct Answer {
  std::vector<Labelling> best;    // the decoder's one, or the k best
  std::vector<double> marginals;  // M x k, where asked for
};

class SequenceWriter {
 public:
  SequenceWriter(const Model& model, const SequencePrediction& asked);

  // A line a token; `begin(m, text)` writes what stands before the label of token m, with its separator.
  void add(const Answer& answer, char separator, const std::function<void(std::size_t, std::string&)>& begin);
  void add_line(std::string_view line);
  void add_csv_header();

  // What there is goes out now, unless it goes to a file as a whole.
  void flush();
  void finish();

 private:
  nlohmann::ordered_json names(const Labelling& labelling) const;
  void add_json(const Answer& answer);

  const Model& model_;
  const SequencePrediction& asked_;
  bool csv_;
  std::vector<std::string> names_;  // as they are written
  std::string text_;
  nlohmann::ordered_json json_;
};

// Blank lines stay where they are.
class LineEcho {
 public:
  void before(std::size_t line, SequenceWriter& writer) {
    for (; line_ < line; ++line_) writer.add_line("");
  }
  void pass(std::size_t count) { line_ += count; }

 private:
  std::size_t line_ = 1;  // the next one to be written
};

}  // namespace m4n::cli
