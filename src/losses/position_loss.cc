// Position losses, the choice among them that options ask for, and the losses of examples of different sizes
// (position_loss.h).
#include "losses/position_loss.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <utility>

#include "core/assignment.h"
#include "core/message.h"
#include "data/text.h"
#include "losses/registry.h"

namespace m4n::detail {

namespace {

void require_number(double x, const std::string& what) {
  if (!(std::abs(x) <= largest_cost))
    throw Error(say("{} is {}; expected a number between -{} and {}", what, x, largest_cost, largest_cost));
}

// Nonnegative numbers that never rise along the positions.
void require_falling(std::span<const double> values, const char* what) {
  for (std::size_t j = 0; j < values.size(); ++j) {
    require_number(values[j], fmt::format("the {} of position {}", what, j));
    if (values[j] < 0) throw Error(say("the {} of position {} is {}; expected 0 or more", what, j, values[j]));
    if (j > 0 && values[j] > values[j - 1])
      throw Error(
          say("the {} of position {} is {}, more than that of the position before it, {}; expected "
              "numbers that never rise; position 0 is the best",
              what, j, values[j], values[j - 1]));
  }
}

}  // namespace

PositionLoss::PositionLoss(std::string name, Form form, std::size_t size)
    : name_(std::move(name)), form_(form), size_(size), weights_(size, 1.0), costs_(size * size) {
  if (size == 0) throw UsageError(say("the loss {} wants at least one item, there is none", name_));
}

PositionLoss PositionLoss::hamming(std::size_t size) {
  PositionLoss out = weighted_hamming(std::vector<double>(size, 1.0));
  out.name_ = "hamming";
  return out;
}

PositionLoss PositionLoss::weighted_hamming(std::span<const double> weights) {
  PositionLoss out("weighted hamming", Form::hamming, weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    require_number(weights[i], fmt::format("the weight of item {}", i));
    if (weights[i] < 0) throw Error(say("the weight of item {} is {}; expected 0 or more", i, weights[i]));
    out.weights_[i] = weights[i] / static_cast<double>(weights.size());
    out.equal_ = out.equal_ && weights[i] == weights[0];
  }
  for (std::size_t k = 0; k < out.size_; ++k)
    for (std::size_t j = 0; j < out.size_; ++j) out.costs_[k * out.size_ + j] = k == j ? 0 : 1;
  // Any two permutations without a common position differ in all items; there is one beside every other from M = 2 on.
  for (const double w : out.weights_) out.maximum_ += out.size_ > 1 ? w : 0;
  return out;
}

PositionLoss PositionLoss::footrule(std::size_t size) {
  PositionLoss out("footrule", Form::general, size);
  std::fill(out.weights_.begin(), out.weights_.end(), 1 / static_cast<double>(size));
  for (std::size_t k = 0; k < size; ++k)
    for (std::size_t j = 0; j < size; ++j) out.costs_[k * size + j] = static_cast<double>(k > j ? k - j : j - k);
  out.find_extremes();
  return out;
}

// With k' = M-1-k and j' = M-1-j, which fall: (k - j)^2 = k'^2 + j'^2 - 2 k' j', whose squares sum to the same for all
// permutations.
PositionLoss PositionLoss::squared(std::size_t size) {
  std::vector<double> gains(size), discounts(size);
  double squares = 0;
  for (std::size_t j = 0; j < size; ++j) {
    gains[j] = static_cast<double>(size - 1 - j);
    discounts[j] = 2 * gains[j] / static_cast<double>(size);
    squares += gains[j] * discounts[j];
  }
  return rank_one("squared", squares, std::move(gains), std::move(discounts));
}

PositionLoss PositionLoss::precision_at(std::size_t size, std::size_t k) {
  if (k == 0 || k > size)
    throw UsageError(say("precision at {} of {} positions; expected a number from 1 to {}", k, size, size));
  std::vector<double> gains(size), discounts(size);
  std::fill_n(gains.begin(), k, 1 / static_cast<double>(k));
  std::fill_n(discounts.begin(), k, 1.0);
  return rank_one(fmt::format("precision at {}", k), 1, std::move(gains), std::move(discounts));
}

PositionLoss PositionLoss::dcg(std::span<const double> gains, std::span<const double> discounts) {
  if (gains.size() != discounts.size())
    throw UsageError(
        say("{} gains and {} discounts; expected one of each for every position", gains.size(), discounts.size()));
  require_falling(gains, "gain");
  require_falling(discounts, "discount");
  double best = 0;
  for (std::size_t j = 0; j < gains.size(); ++j) best += gains[j] * discounts[j];
  if (!(best > 0))
    throw Error("no position has both a gain and a discount above 0; expected at least the first one to");
  std::vector<double> share(gains.begin(), gains.end());
  for (double& g : share) g /= best;
  return rank_one("dcg", 1, std::move(share), {discounts.begin(), discounts.end()});
}

PositionLoss PositionLoss::dcg(std::span<const double> gains) {
  std::vector<double> discounts(gains.size());
  for (std::size_t j = 0; j < gains.size(); ++j) discounts[j] = 1 / std::log2(2.0 + static_cast<double>(j));
  return dcg(gains, discounts);
}

PositionLoss PositionLoss::matrix(std::span<const double> costs, std::size_t size) {
  if (costs.size() != size * size)
    throw UsageError(say("{} position costs for {} positions; expected {}", costs.size(), size, size * size));
  PositionLoss out("matrix", Form::general, size);
  std::fill(out.weights_.begin(), out.weights_.end(), 1 / static_cast<double>(size));
  for (std::size_t e = 0; e < costs.size(); ++e)
    require_number(costs[e], fmt::format("the cost of position {} for the true position {}", e % size, e / size));
  out.costs_.assign(costs.begin(), costs.end());
  out.find_extremes();
  double right = 0;
  for (std::size_t k = 0; k < size; ++k) right += out.cost(k, k) / static_cast<double>(size);
  if (out.minimum_ < right - 1e-12 * (out.maximum_ - out.minimum_))
    throw Error(
        say("by these position costs some wrong permutation costs {} and the right one {}; expected none to be "
            "cheaper; => lower the costs on the diagonal",
            out.minimum_, right));
  return out;
}

PositionLoss PositionLoss::rank_one(std::string name, double constant, std::vector<double> gains,
                                    std::vector<double> discounts) {
  PositionLoss out(std::move(name), Form::rank_one, gains.size());
  out.constant_ = constant;
  for (std::size_t k = 0; k < out.size_; ++k)
    for (std::size_t j = 0; j < out.size_; ++j) out.costs_[k * out.size_ + j] = -gains[k] * discounts[j];
  out.gains_ = std::move(gains);
  out.discounts_ = std::move(discounts);
  out.find_extremes();
  return out;
}

// Of sum_i w B[t_i][y_i] with equal weights w: an assignment of predicted to true positions.
void PositionLoss::find_extremes() {
  Assignment assignment;
  std::vector<double> negative(costs_.size());
  for (std::size_t e = 0; e < costs_.size(); ++e) negative[e] = -costs_[e];
  maximum_ = constant_ + weights_[0] * assignment.solve(costs_, size_);
  minimum_ = constant_ - weights_[0] * assignment.solve(negative, size_);
}

double PositionLoss::mean_mistake() const {
  if (size_ < 2) return 0;
  const auto size = static_cast<double>(size_);
  const double weights = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  const double random = constant_ + weights * std::accumulate(costs_.begin(), costs_.end(), 0.0) / (size * size);
  return size / (size - 1) * (random - minimum_);
}

double PositionLoss::operator()(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted) const {
  if (form_ == Form::hamming && equal_) {  // often asked for by the double oracle
    std::int32_t wrong = 0;
    for (std::size_t i = 0; i < size_; ++i) wrong += truth[i] != predicted[i] ? 1 : 0;
    return wrong * weights_[0];
  }
  double sum = constant_;
  for (std::size_t i = 0; i < size_; ++i)
    sum += weights_[i] * cost(static_cast<std::size_t>(truth[i]), static_cast<std::size_t>(predicted[i]));
  return sum;
}

void PositionLoss::apply(std::span<const double> truth, std::span<double> out) const { multiply(truth, false, out); }

void PositionLoss::apply_transposed(std::span<const double> predicted, std::span<double> out) const {
  multiply(predicted, true, out);
}

// Row by row out = w p B, or w p B^T: O(M^3), O(M^2) for Hamming and rank-one losses.
void PositionLoss::multiply(std::span<const double> p, bool transposed, std::span<double> out) const {
  const std::size_t m = size_;
  for (std::size_t i = 0; i < m; ++i) {
    const double* from = p.data() + i * m;
    double* to = out.data() + i * m;
    const double w = weights_[i];
    if (form_ == Form::hamming) {
      double total = 0;
      for (std::size_t j = 0; j < m; ++j) total += from[j];
      for (std::size_t j = 0; j < m; ++j) to[j] = w * (total - from[j]);
    } else if (form_ == Form::rank_one) {
      const double* inner = (transposed ? discounts_ : gains_).data();
      const double* outer = (transposed ? gains_ : discounts_).data();
      double mean = 0;
      for (std::size_t j = 0; j < m; ++j) mean += inner[j] * from[j];
      for (std::size_t j = 0; j < m; ++j) to[j] = -w * mean * outer[j];
    } else if (transposed) {
      for (std::size_t k = 0; k < m; ++k) {
        double sum = 0;
        for (std::size_t j = 0; j < m; ++j) sum += cost(k, j) * from[j];
        to[k] = w * sum;
      }
    } else {
      std::fill_n(to, m, 0.0);
      for (std::size_t k = 0; k < m; ++k) {
        const double mass = w * from[k];
        if (mass == 0) continue;
        for (std::size_t j = 0; j < m; ++j) to[j] += mass * cost(k, j);
      }
    }
  }
}

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 28;
// A named loss of rankings that can be learnt.
std::optional<LossChoice> ranking_loss(const std::string& name) {
  const auto found = find_loss(name);
  return found && found->loss->is_of(LossFamily::rankings) && found->loss->positions != nullptr ? found : std::nullopt;
}

struct Numbers {
  std::vector<double> values;
  std::size_t rows = 0;
};

// Rows of M numbers. A first row that is none must name the items in their order.
Numbers read_numbers(const std::string& path, const std::vector<std::string>& items) {
  Input input = Input::open(path);
  const std::string text = read_all(input, largest_file);
  Input memory = Input::memory(text, input.name());
  LineReader lines(memory);
  Numbers out;
  bool first = true;
  for (std::string_view line; lines.next(line);) {
    if (trim(line).empty()) continue;
    const std::vector<std::string> cells = split_cells(line, input.name(), lines.line_number());
    if (cells.size() != items.size())
      throw Error(say("{}: line {}: {} cells for {} items; expected {}", input.name(), lines.line_number(),
                      cells.size(), items.size(), items.size()));
    if (first && cells == items) {
      first = false;
      continue;
    }
    first = false;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto value = finite_number(cells[c]);
      if (!value)
        throw Error(say("{}: line {}, column {}: {} is no finite number; expected a weight or a cost", input.name(),
                        lines.line_number(), c + 1, shown(cells[c])));
      out.values.push_back(*value);
    }
    ++out.rows;
  }
  if (out.rows != 1 && out.rows != items.size())
    throw Error(
        say("{}: {} rows of numbers; expected one row with the weights of the {} items, or {} rows with "
            "the costs cost[true position][predicted position]",
            input.name(), out.rows, items.size(), items.size()));
  return out;
}

}  // namespace

PositionLossChoice PositionLossChoice::parse(const std::string& spec, const std::vector<std::string>& items) {
  if (items.empty()) {
    if (spec != "hamming")
      throw UsageError(
          say("--loss {}: the points of a matching have no order and their number varies, so that only hamming has a "
              "meaning. => Leave it out",
              spec));
    return remembered(spec, {}, 0);
  }
  if (ranking_loss(spec)) return remembered(spec, {}, items.size());
  if (const auto found = find_loss(spec); found && found->loss->refusal != nullptr)
    throw UsageError(say("--loss {}: {}", spec, found->loss->refusal));
  std::error_code ignored;
  if (!std::filesystem::exists(spec, ignored))
    throw UsageError(say("unknown loss {} of rankings, and there is no file of that name; expected {}|FILE.csv",
                         shown(spec), fmt::join(loss_names(LossFamily::rankings), "|")));
  return from_values(read_numbers(spec, items).values, items.size(), spec);
}

PositionLossChoice PositionLossChoice::from_values(const std::vector<double>& values, std::size_t items,
                                                   const std::string& origin) {
  if (values.size() != items && values.size() != items * items)
    throw Error(say("{}: {} numbers for {} items; expected {} weights or {} costs", origin, values.size(), items, items,
                    items * items));
  const char* const name = values.size() == items ? "weighted" : "matrix";
  try {
    return remembered(name, values, items);
  } catch (const Error& error) {
    throw Error(say("{}: {}", origin, error.message()));
  }
}

PositionLossChoice PositionLossChoice::remembered(const std::string& name, const std::vector<double>& values,
                                                  std::size_t items) {
  const bool numbers = name == "weighted" || name == "matrix";
  if (!numbers && !ranking_loss(name)) throw Error(say("unknown loss {} of permutations", shown(name)));
  if (values.size() != (name == "weighted" ? items : name == "matrix" ? items * items : 0))
    throw Error(say("the loss {} has {} numbers for {} items", name, values.size(), items));
  if (items > largest_ranking) throw Error(say("{} items to rank; expected at most {}", items, largest_ranking));
  PositionLossChoice out;
  out.name_ = name;
  out.values_ = values;
  if (items > 0) {
    const double range = out.make(items).range();  // refuses what has no meaning
    if (numbers && !(range >= smallest_range))
      throw Error(
          say("all permutations cost the same by these numbers (within {}), so that there is nothing to learn; "
              "expected wrong ones to cost at least {} more",
              range, smallest_range));
  }
  return out;
}

PositionLoss PositionLossChoice::make(std::size_t items) const {
  if (name_ == "weighted") return PositionLoss::weighted_hamming(values_);
  if (name_ == "matrix") return PositionLoss::matrix(values_, items);
  const LossChoice choice = *ranking_loss(name_);
  if (choice.number >= items && choice.number > 0)
    throw UsageError(
        say("--loss {}: all {} items are among the first {}, so every ranking is right; expected {}1 to {}{}", name_,
            items, choice.number, choice.loss->name, choice.loss->name, items - 1));
  return choice.loss->positions(items, choice.number);
}

bool PositionLossChoice::scores_items(const std::string& name) {
  const auto found = find_loss(name);
  return found && found->loss->scores_items;
}

}  // namespace m4n::detail
