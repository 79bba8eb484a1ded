// The way down: from the table p(x, S) of a bucket to the separators of the buckets below and to its edges.
#include "structures/graphs/junction_planner.h"

namespace m4n::detail {

void JunctionPlanner::plan_flows(std::span<const Term> terms, JunctionBucket& bucket) {
  bucket.first_flow = static_cast<std::uint32_t>(plan_.flows.size());
  std::optional<std::uint64_t> row_sums;  // where p(x, S without the innermost group) is, once it was needed
  for (const Term& term : terms.subspan(1)) flow_to(term, row_sums);
  bucket.last_flow = static_cast<std::uint32_t>(plan_.flows.size());
}

// Adds p(x, scope) to where the marginals of the term belong, in the layout of the term.
void JunctionPlanner::flow_to(const Term& target, std::optional<std::uint64_t>& row_sums) {
  const Scope rows = whole() & ~group_.scope;
  // Entries of `from` with the given scope go to their places, one by one.
  const auto scatter = [&](Scope scope, std::uint64_t from) {
    JunctionFlow flow{JunctionFlow::Kind::scatter};
    flow.from = number(static_cast<double>(from));
    flow.to = number(static_cast<double>(target.mass));
    flow.size = number(static_cast<double>(size_of(scope) * labels_));
    flow.offsets = offsets(target, scope, true);
    plan_.flows.push_back(flow);
  };
  const auto project = [&](const Term& to, std::uint64_t at) {
    JunctionFlow flow{JunctionFlow::Kind::project};
    flow.to = number(static_cast<double>(at));
    flow.to_stride = number(static_cast<double>(to.x_stride));
    flow.offsets = offsets(to, rows, false);
    plan_.flows.push_back(flow);
  };
  if (target.scope == 0) {
    JunctionFlow flow{JunctionFlow::Kind::own};
    flow.to = number(static_cast<double>(target.mass));
    plan_.flows.push_back(flow);
  } else if (contiguous(target)) {
    project(target, target.mass);
  } else if ((target.scope & group_.scope) == 0) {
    if (!row_sums) {
      row_sums = room(mass_, size_of(rows) * labels_);
      JunctionFlow flow{JunctionFlow::Kind::row_sums};
      flow.to = number(static_cast<double>(*row_sums));
      plan_.flows.push_back(flow);
    }
    scatter(rows, *row_sums);
  } else {
    const Term wider = own_term(target.scope | group_.scope, 0);
    const std::uint64_t at = room(mass_, wider.x_stride * labels_);
    project(wider, at);
    scatter(wider.scope, at);
  }
}

}  // namespace m4n::detail
