// The losses that have names, written down once: options, help, docs, model files and structures all read this table.
//
// A loss belongs to FAMILIES of structures, by what it is a cost of:
//
//   classes     one class or grade               CostMatrix, cost[true][predicted]
//   parts       every label of an output         CostMatrix, averaged over the parts (tokens, nodes)
//   label_sets  labels that are on or off        LabelCosts, averaged over the labels
//   rankings    positions of items               PositionLoss
//   matchings   partners of points               PositionLoss, for every number of points
//
// A new named loss is one row of the table in registry.cc. Costs without a name are numbers, from a file or a program.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "losses/cost_matrix.h"
#include "losses/position_loss.h"

namespace m4n::detail {

enum class LossFamily : unsigned { classes = 1, parts = 2, label_sets = 4, rankings = 8, matchings = 16 };

struct NamedLoss {
  const char* name;  // one that ends in @ is followed by a number: precision@3
  unsigned families;
  const char* help;  // what it costs, for --help
  // What users of other structures should ask for; null: nothing to say.
  const char* elsewhere = nullptr;
  // How to make it. cost(true, predicted) of classes and parts; positions(items, number) of permutations.
  double (*cost)(double truth, double predicted) = nullptr;
  LossKind kind = LossKind::matrix;  // of the cost: with a closed form, or without
  bool counts_steps = false;         // between grades, which must have an order
  bool scores_items = false;         // of rankings: of rank one, so that one score per item is enough
  PositionLoss (*positions)(std::size_t items, std::size_t number) = nullptr;
  // Why it cannot be learnt, for those that people ask for all the same; null: it can.
  const char* refusal = nullptr;

  bool can_be_learnt() const { return refusal == nullptr; }
  std::string shown_name() const { return std::string(name) + (std::string_view(name).ends_with('@') ? "K" : ""); }
  bool is_of(LossFamily family) const { return (families & static_cast<unsigned>(family)) != 0; }
};

// In the order in which they are shown.
std::span<const NamedLoss> named_losses();

// A row, and the number behind its @.
struct LossChoice {
  const NamedLoss* loss;
  std::size_t number;
};
// nullopt: no loss has this name, or it has no such number.
std::optional<LossChoice> find_loss(std::string_view name);
// The names of a family, or of all, as help shows them: precision@K. Those that cannot be learnt are left out.
std::vector<std::string> loss_names(std::optional<LossFamily> family = std::nullopt);

// --loss tree:FILE, and the file that a loss names; empty: none.
inline constexpr const char* tree_prefix = "tree:";
std::string loss_file(const std::string& spec);

// What a mistake costs by a user's options, for choices and checks that do not look at single costs.
struct LossSummary {
  std::string name;
  std::vector<double> values;              // what a model must remember beside the name
  bool symmetric;                          // as far as decoders care
  double mistake;                          // what one costs in the mean: the unit in which lambda is thought of
  std::vector<std::string> predictions{};  // their names where they are not just the classes
};

}  // namespace m4n::detail
