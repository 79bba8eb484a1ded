#include "sequence_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "csv_out.h"
#include "structures/chains/sequence_labels.h"
#include "messages.h"
#include "model/atomic_file.h"
#include "structures/chains/input.h"

namespace m4n::cli {

SequenceWriter::SequenceWriter(const Model& model, const SequencePrediction& asked)
    : model_(model), asked_(asked), csv_(model.input->format == Format::ocr), names_(model.classes) {
  if (csv_)
    for (std::string& name : names_) name = csv_cell(name);
  if (!asked.json) return;
  json_ = {{"n", 0}, {"tokens", 0}, {"classes", model.classes}};
  json_[asked.k_best > 0 ? "k_best" : "label"] = nlohmann::ordered_json::array();
  if (asked.marginals) json_["marginals"] = nlohmann::ordered_json::array();
}

void SequenceWriter::add(const Answer& answer, char separator,
                         const std::function<void(std::size_t, std::string&)>& begin) {
  if (asked_.json) return add_json(answer);
  for (std::size_t m = 0; m < answer.best[0].label.size(); ++m) {
    begin(m, text_);
    const std::size_t columns = std::max<std::size_t>(asked_.k_best, 1);
    for (std::size_t r = 0; r < columns; ++r) {
      if (r > 0) text_ += separator;
      // There may be fewer labellings than were asked for.
      text_ += r < answer.best.size() ? std::string_view(names_[static_cast<std::size_t>(answer.best[r].label[m])])
                                      : unknown_label_name;
    }
    for (std::size_t k = 0; asked_.marginals && k < model_.k(); ++k) {
      text_ += separator;
      if (!csv_) (text_ += names_[k]) += ':';
      fmt::format_to(std::back_inserter(text_), "{}", answer.marginals[m * model_.k() + k]);
    }
    text_ += '\n';
  }
}

void SequenceWriter::add_line(std::string_view line) {
  if (!asked_.json) (text_ += line) += '\n';
}

void SequenceWriter::add_csv_header() {
  std::string line = "label";
  for (std::size_t r = 2; r <= asked_.k_best; ++r) line += fmt::format(",label_{}", r);
  for (std::size_t k = 0; asked_.marginals && k < model_.k(); ++k) line += "," + csv_cell("p_" + model_.classes[k]);
  add_line(line);
}

void SequenceWriter::flush() {
  if (!asked_.out.empty() || asked_.json) return;
  print(text_);
  finish_output();
  text_.clear();
}

void SequenceWriter::finish() {
  // Names may hold bytes that are not UTF-8; JSON may not.
  if (asked_.json) text_ = json_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  if (!asked_.out.empty()) return write_file_atomically(asked_.out, text_);
  print(text_);
  finish_output();
}

nlohmann::ordered_json SequenceWriter::names(const Labelling& labelling) const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const std::int32_t label : labelling.label) out.push_back(model_.classes[static_cast<std::size_t>(label)]);
  return out;
}

void SequenceWriter::add_json(const Answer& answer) {
  const std::size_t length = answer.best[0].label.size();
  json_["n"] = json_["n"].get<std::size_t>() + 1;
  json_["tokens"] = json_["tokens"].get<std::size_t>() + length;
  if (asked_.k_best == 0) {
    json_["label"].push_back(names(answer.best[0]));
  } else {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Labelling& labelling : answer.best) {
      all.push_back({{"score", labelling.score}, {"label", names(labelling)}});
      if (model_.surrogate == SurrogateKind::crf) all.back()["probability"] = labelling.probability;
    }
    json_["k_best"].push_back(std::move(all));
  }
  if (!asked_.marginals) return;
  nlohmann::ordered_json tokens = nlohmann::ordered_json::array();
  for (std::size_t m = 0; m < length; ++m)
    tokens.push_back(std::span(answer.marginals).subspan(m * model_.k(), model_.k()));
  json_["marginals"].push_back(std::move(tokens));
}

}  // namespace m4n::cli
