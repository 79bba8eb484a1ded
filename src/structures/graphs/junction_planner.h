// The maker of plans. It runs twice: once to count what the plan would take, in floating point so that nothing can
// overflow, and once to make it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "structures/graphs/junction_plan.h"

namespace m4n::detail {

class JunctionPlanner {
 public:
  JunctionPlanner(const FactorGraph& graph, const Elimination& elimination, bool counting);

  double bytes() const;
  JunctionPlan& plan() { return plan_; }

 private:
  using Scope = std::uint64_t;  // a set of nodes of the separator, by their place in it
  using Offsets = std::vector<std::uint64_t>;

  // A table over the labels of x and of the nodes in `scope`. Strides are 0 for nodes outside the scope.
  struct Term {
    bool outside;
    std::uint64_t at;
    Scope scope;
    std::uint64_t x_stride;
    std::vector<std::uint64_t> stride;
    std::uint64_t mass = 0;  // where its marginals go, in the same layout
  };
  // The part of the separator whose labellings are one run.
  struct Group {
    std::size_t first, last;
    Scope scope;
  };
  // A message on its way: the place of its bucket and where it lies.
  struct Message {
    std::uint32_t bucket;
    std::uint64_t at;
  };

  void plan_bucket(std::size_t place);
  Group last_group() const;
  std::vector<Term> collect(std::size_t place);
  Term own_term(Scope scope, std::uint64_t at) const;
  Term scalar_term(Scope scope, std::uint64_t at) const;
  Term arrange(const Term& term);
  Term scalar_of(const Term& term);
  Term gather(const Term& term, Scope scope);
  std::uint64_t transpose(const Term& term, std::uint64_t rows, std::uint64_t stride, std::uint64_t columns);
  kernels::GraphStep sum_step(kernels::GraphStepKind kind, std::span<const Term> scalars, std::span<const Term> terms,
                              Scope scope);
  Term add_terms(std::span<const Term> terms);
  Term add_scalars(std::span<const Term> scalars);
  template <class Add>
  void merge_surplus(std::vector<Term>& terms, std::size_t room_for, Add&& add);
  void plan_sums(std::span<const Term> terms);
  void plan_flows(std::span<const Term> terms, JunctionBucket& bucket);
  void flow_to(const Term& target, std::optional<std::uint64_t>& row_sums);

  static Scope union_of(std::span<const Term> terms);
  bool contiguous(const Term& term) const;
  Scope whole() const { return (Scope{1} << extent_.size()) - 1; }
  std::uint64_t size_of(Scope scope) const;  // labellings of the nodes in the scope
  std::vector<std::size_t> nodes_of(Scope scope) const;
  kernels::GraphTerm resolve(const Term& term, Scope rows);
  // Offsets of all labellings of the nodes, the last fastest, with x in front of them if `with_x`.
  std::uint32_t offsets(const Term& term, Scope scope, bool with_x);
  std::uint64_t room(double& total, std::uint64_t entries) const;
  std::uint32_t number(double value) const { return counting_ ? 0 : static_cast<std::uint32_t>(value); }

  const FactorGraph* graph_;
  const Elimination* elimination_;
  bool counting_;
  JunctionPlan plan_;
  double arena_ = 0, tables_ = 0, mass_ = 0, edges_ = 0, index_ = 0;
  std::vector<std::vector<std::uint32_t>> edges_of_;  // by the place of the end that is eliminated first
  std::vector<std::vector<Message>> inbox_;           // by place
  // Of the bucket at hand.
  std::uint32_t labels_ = 0;
  std::vector<std::uint32_t> extent_;  // labels of the nodes of the separator
  Group group_{};
};

}  // namespace m4n::detail
