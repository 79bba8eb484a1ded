// Which labels may follow each other in a sequence. Labellings that break a constraint do not exist, neither for the
// truth nor for predictions: their transitions score `chain_padding`, far below anything that is learnt.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/views.h"
#include "m4n/dataset.h"

namespace m4n::detail {

class ChainConstraints {
 public:
  ChainConstraints() = default;  // everything is allowed
  // bio, bioes, or a CSV file of what is forbidden: lines from,to, where * is any label, and START and END are the ends
  // of a sequence; or `pairs:` and such lines themselves. Refuses constraints under which sequences of some length
  // could not be labelled at all.
  static ChainConstraints parse(const std::string& spec, const std::vector<std::string>& labels);
  // As a model keeps them: 1 where allowed, else 0; R x R transitions, R starts, R ends. None: everything is.
  static ChainConstraints from_values(const std::vector<double>& allowed, std::size_t labels);
  const std::vector<double>& values() const { return allowed_; }

  bool empty() const { return allowed_.empty(); }
  bool transition(std::size_t from, std::size_t to) const { return allowed_[from * labels_ + to] != 0; }
  bool start(std::size_t label) const { return allowed_[labels_ * labels_ + label] != 0; }
  bool end(std::size_t label) const { return allowed_[(labels_ + 1) * labels_ + label] != 0; }
  // What is added to scores: 0 where allowed, else chain_padding. Transitions, then starts, then ends.
  std::vector<double> penalties() const;
  // The first position whose label may not stand there; nullopt: the labelling is allowed.
  std::optional<std::size_t> violation(LabelView y) const;
  // The first length of sequences that have no labelling; nullopt: there is none.
  std::optional<std::size_t> length_without_labelling() const;

 private:
  std::size_t labels_ = 0;
  std::vector<double> allowed_;
};

// Throws Error on the first sequence that is not allowed; `where(sequence, position)` says where it stands.
void require_allowed(const ChainConstraints& constraints, std::span<const std::int32_t> label, const Groups& sequences,
                     const std::vector<std::string>& names,
                     const std::function<std::string(std::size_t, std::size_t)>& where);

}  // namespace m4n::detail
