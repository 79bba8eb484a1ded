// Loss, metrics and resamples from rows of numbers (rows_evaluator.h).
#include "structures/rows_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/message.h"

namespace m4n::detail {
namespace {

class RowsEvaluator : public Evaluator {
 public:
  RowsEvaluator(ExampleRows rows, std::span<const double> weight, std::function<void(Evaluation&)> add_tables)
      : rows_(std::move(rows)), add_tables_(std::move(add_tables)) {
    const std::size_t n = rows_.values.size() / rows_.width;
    if (!weight.empty() && weight.size() != n)
      throw Error(say("evaluation: {} examples but {} weights", n, weight.size()));
    for (std::size_t i = 0; i < n; ++i) {
      const double w = weight.empty() ? 1 : weight[i];
      if (!(std::isfinite(w) && w >= 0))
        throw Error(say("evaluation: weight {} of example {} is not a finite number >= 0", w, i + 1));
      weight_.push_back(w);
      if (w > 0) drawn_.push_back(i);
    }
    if (drawn_.empty()) throw Error("evaluation: the weights sum to 0; expected a positive number");
  }

  Evaluation evaluate() const override {
    Sums all(*this);
    for (std::size_t i = 0; i < weight_.size(); ++i) all.add_row(i);
    if (!std::isfinite(all.weight()))
      throw Error(say("evaluation: the weights sum to {}; expected a positive number", all.weight()));
    const std::vector<double> measured = all.values();
    Evaluation out;
    out.n = weight_.size();
    out.loss = measured[0];
    for (std::size_t m = 0; m < rows_.names.size(); ++m) out.metrics.emplace_back(rows_.names[m], measured[1 + m]);
    if (add_tables_) add_tables_(out);
    return out;
  }
  std::vector<double> losses() const override {
    std::vector<double> out;
    for (std::size_t i = 0; i < weight_.size(); ++i)
      out.push_back(rows_.measure(std::span(rows_.values).subspan(i * rows_.width, rows_.width), 1)[0]);
    return out;
  }
  std::size_t examples() const override { return drawn_.size(); }
  std::unique_ptr<Tally> tally() const override { return std::make_unique<Sums>(*this); }

 private:
  class Sums : public Tally {
   public:
    explicit Sums(const RowsEvaluator& all) : all_(all), sum_(all.rows_.width) {}
    void clear() override {
      std::fill(sum_.begin(), sum_.end(), 0.0);
      weight_ = 0;
    }
    void add(std::size_t example) override { add_row(all_.drawn_[example]); }
    std::vector<double> values() const override { return all_.rows_.measure(sum_, weight_); }

    void add_row(std::size_t i) {
      const double w = all_.weight_[i];
      const double* const row = all_.rows_.values.data() + i * sum_.size();
      for (std::size_t c = 0; c < sum_.size(); ++c) sum_[c] += w * row[c];
      weight_ += w;
    }
    double weight() const { return weight_; }

   private:
    const RowsEvaluator& all_;
    std::vector<double> sum_;
    double weight_ = 0;
  };

  ExampleRows rows_;
  std::function<void(Evaluation&)> add_tables_;
  std::vector<double> weight_;
  std::vector<std::size_t> drawn_;  // with a positive weight
};

}  // namespace

LabelledPredictions::LabelledPredictions(const Examples& examples, LabelView all_truth, LabelView all_predicted)
    : groups(examples.data.labels), truth(all_truth), predicted(all_predicted) {
  const std::size_t n = groups.count(), total = n > 0 ? groups.end(n - 1) : 0;
  if (n == 0) throw Error("evaluation: there are no examples");
  if (truth.size() != total || predicted.size() != total)
    throw Error(say("evaluation: {} examples of {} parts, {} true labels and {} predictions", n, total, truth.size(),
                    predicted.size()));
  for (std::size_t i = 0; i < n; ++i)
    if (size(i) == 0) throw Error(say("evaluation: example {} has no parts", i + 1));
}

std::unique_ptr<Evaluator> rows_evaluator(ExampleRows rows, std::span<const double> weight,
                                          std::function<void(Evaluation&)> add_tables) {
  return std::make_unique<RowsEvaluator>(std::move(rows), weight, std::move(add_tables));
}

std::vector<std::size_t> classes_of_predictions(const Model& model) {
  std::vector<std::size_t> out;
  for (const std::string& name : model.predictions())
    out.push_back(static_cast<std::size_t>(std::find(model.classes().begin(), model.classes().end(), name) -
                                           model.classes().begin()));
  return out;
}

void add_class_tables(const Model& model, LabelView truth, LabelView predicted, Evaluation& out) {
  const std::size_t k = model.k(), width = model.predictions().size();
  const std::vector<std::size_t> class_of = classes_of_predictions(model);
  for (const std::string& name : model.classes()) out.labels.emplace_back(name, FoundCounts{});
  out.parts = truth.size();
  out.confusion.resize(k * width);
  for (std::size_t e = 0; e < truth.size(); ++e) {
    const auto p = static_cast<std::size_t>(predicted[e]);
    const std::size_t y = class_of[p];
    if (y < k) ++out.labels[y].second.predicted;
    const auto t = static_cast<std::size_t>(truth[e]);
    if (t >= k) {
      ++out.unseen;
      continue;
    }
    ++out.labels[t].second.actual;
    if (t == y) ++out.labels[y].second.found;
    ++out.confusion[t * width + p];
  }
}

std::vector<Exhibit> found_exhibits(const std::string& title, const std::string& what,
                                    const std::vector<std::pair<std::string, FoundCounts>>& counts) {
  constexpr std::size_t most = 60;
  if (counts.empty()) return {};
  std::vector<std::size_t> order(counts.size());
  for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
  if (order.size() > most) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return counts[a].second.actual > counts[b].second.actual; });
    order.resize(most);
    std::sort(order.begin(), order.end());
  }
  Table table{title,
              {{what},
               {"true", true},
               {"predicted", true},
               {"found", true},
               {"precision", true},
               {"recall", true},
               {"F1", true}},
              {},
              order.size() < counts.size() ? fmt::format("The {} most frequent of {}.", most, counts.size()) : ""};
  for (const std::size_t j : order) {
    const auto& [name, found] = counts[j];
    table.rows.push_back({name, std::to_string(found.actual), std::to_string(found.predicted),
                          std::to_string(found.found), fmt::format("{:.3f}", found.precision()),
                          fmt::format("{:.3f}", found.recall()), fmt::format("{:.3f}", found.f1())});
  }
  return {std::move(table)};
}

}  // namespace m4n::detail
