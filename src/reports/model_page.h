// What a model is, what it costs and where it errs, as a page; and what a cross-validation found.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "m4n/context.h"
#include "m4n/cross_validate.h"
#include "m4n/evaluate.h"
#include "m4n/model.h"
#include "m4n/read.h"
#include "reports/page.h"

namespace m4n::detail {

struct PageRequest {
  std::string model, data;                                    // their names, as shown; empty: there is none
  std::vector<std::pair<std::string, std::string>> origin{};  // provenance beyond what the model knows
  std::vector<Progress> log{};                                // of the training, where it was kept
  bool examples = true;                                       // the costliest ones are shown
  std::uint64_t seed = 0;                                     // of the resamples
  Context context{};
};

// `examples`: null: there are none. Refuses data in which some examples have labels and others have not.
Page model_page(const Model& model, const Examples* examples, const PageRequest& request);

// `refit`: the choice, fitted on all data; null: it was not.
Page cv_page(const CvResult& result, const CvOptions& options, const Model* refit, const PageRequest& request);

// The lines of `train --log`; throws Error, with the line, where it is none.
std::vector<Progress> read_training_log(const std::string& path);
// Throws Error where the log is not of the training that made the model; `path` stands in the message.
void refuse_log_of_another(const std::vector<Progress>& log, const Model& model, const std::string& path);

// "file.csv, CRC-64/XZ 1f.." of a file that can be read again, without the last `trailer` bytes; standard input has
// only its name.
std::string file_origin(const std::string& path, std::size_t trailer = 0);
// A model file ends with its own checksum, which makes the checksum of the whole the same for all of them.
inline constexpr std::size_t model_trailer = 8;

// "(95% interval 0.1 to 0.2)", or why there is none.
std::string interval_text(const Interval& interval, std::string (*shown)(double));

// ---- sections of a page

Section certificate_section(const Model& model, const std::vector<Progress>& log);
Section weight_section(const Model& model);
Section origin_section(const Model* model, const PageRequest& request);

// What predictions of labelled examples cost, beside what else could have been predicted.
struct CostFindings {
  Section cost;
  std::string sentence;  // the same in a sentence
};
CostFindings cost_findings(const Model& model, const Examples& examples, std::span<const double> losses,
                           const PageRequest& request);
// What costs how much: by kinds of answers, and if a cost were another.
std::vector<Section> answer_sections(const Model& model, const Examples& examples,
                                     std::span<const std::int32_t> predicted, const PageRequest& request);

}  // namespace m4n::detail
