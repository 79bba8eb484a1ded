// The table of losses that have names (registry.h), and how options are looked up in it.
#include "losses/registry.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/option_values.h"

namespace m4n::detail {
namespace {

constexpr unsigned classes = static_cast<unsigned>(LossFamily::classes),
                   parts = static_cast<unsigned>(LossFamily::parts),
                   label_sets = static_cast<unsigned>(LossFamily::label_sets),
                   rankings = static_cast<unsigned>(LossFamily::rankings),
                   matchings = static_cast<unsigned>(LossFamily::matchings);

double unequal(double truth, double predicted) { return truth == predicted ? 0.0 : 1.0; }
double distance(double truth, double predicted) { return std::abs(truth - predicted); }
double squared_distance(double truth, double predicted) { return (truth - predicted) * (truth - predicted); }

PositionLoss hamming(std::size_t items, std::size_t) { return PositionLoss::hamming(items); }
PositionLoss footrule(std::size_t items, std::size_t) { return PositionLoss::footrule(items); }
PositionLoss spearman(std::size_t items, std::size_t) { return PositionLoss::squared(items); }
PositionLoss precision(std::size_t items, std::size_t first) { return PositionLoss::precision_at(items, first); }
// The gain of position j is M - 1 - j.
PositionLoss dcg(std::size_t items, std::size_t) {
  std::vector<double> gains(items);
  for (std::size_t j = 0; j < items; ++j) gains[j] = static_cast<double>(items - 1 - j);
  return PositionLoss::dcg(gains);
}

constexpr NamedLoss table[] = {
    {.name = "zero-one",
     .families = classes,
     .help = "every mistake costs 1",
     .elsewhere = "for the parts of an output it is averaged, and called hamming",
     .cost = unequal,
     .kind = LossKind::zero_one},
    {.name = "absolute",
     .families = classes | parts,
     .help = "the distance of grades",
     .elsewhere = "for rankings it is called footrule",
     .cost = distance,
     .kind = LossKind::absolute,
     .counts_steps = true},
    {.name = "squared",
     .families = classes | parts,
     .help = "the square of the distance of grades",
     .elsewhere = "for rankings it is called spearman",
     .cost = squared_distance,
     .counts_steps = true},
    {.name = "hamming",
     .families = parts | label_sets | rankings | matchings,
     .help = "the share of the parts of an output that are wrong",
     .elsewhere = "for classes it is called zero-one",
     .cost = unequal,
     .kind = LossKind::zero_one,
     .positions = hamming},
    {.name = "footrule", .families = rankings, .help = "the mean distance of ranks", .positions = footrule},
    {.name = "spearman",
     .families = rankings,
     .help = "the mean squared distance of ranks",
     .scores_items = true,
     .positions = spearman},
    {.name = "dcg", .families = rankings, .help = "lost discounted gain", .scores_items = true, .positions = dcg},
    {.name = "precision@",
     .families = rankings,
     .help = "the share of the first K that is missed",
     .scores_items = true,
     .positions = precision},
    {.name = "kendall",
     .families = rankings,
     .help = "pairs of items in the wrong order",
     .refusal =
         "Kendall's distance looks at pairs of items, and minimising it over permutations is NP-hard; it is among "
         "the metrics of eval. Train with footrule or spearman, which are close to it"},
};

// Digits alone, at least 1.
std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr std::size_t most = 999'999'999;
  if (error != std::errc{} || end != text.data() + text.size() || value < 1 || value > most) return std::nullopt;
  return value;
}

}  // namespace

std::span<const NamedLoss> named_losses() { return table; }

std::optional<LossChoice> find_loss(std::string_view name) {
  for (const NamedLoss& loss : table) {
    const std::string_view own = loss.name;
    if (!own.ends_with('@')) {
      if (name == own) return LossChoice{&loss, 0};
    } else if (name.starts_with(own)) {
      if (const auto number = number_of(name.substr(own.size()))) return LossChoice{&loss, *number};
    }
  }
  return std::nullopt;
}

std::vector<std::string> loss_names(std::optional<LossFamily> family) {
  std::vector<std::string> out;
  for (const NamedLoss& loss : table)
    if (loss.can_be_learnt() && (!family || loss.is_of(*family))) out.push_back(loss.shown_name());
  return out;
}

std::string loss_file(const std::string& spec) {
  if (spec.starts_with(tree_prefix)) return spec.substr(std::string_view(tree_prefix).size());
  return names_a_file(spec) ? spec : "";
}

}  // namespace m4n::detail
