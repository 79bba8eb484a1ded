// The way up: the terms of a bucket in the layouts that steps read, and their sums.
#include <algorithm>

#include "structures/graphs/junction_planner.h"

namespace m4n::detail {

using kernels::GraphStep;
using kernels::GraphStepKind;

JunctionPlanner::Term JunctionPlanner::gather(const Term& term, Scope scope) {
  Term out = own_term(scope, 0);
  out.at = room(arena_, out.x_stride * labels_);
  GraphStep step{GraphStepKind::gather};
  step.terms = 1;
  step.to = number(static_cast<double>(out.at));
  step.term[0] = resolve(term, 0);
  step.term[0].offsets = offsets(term, scope, true);
  step.labels = labels_;
  step.rows = number(static_cast<double>(out.x_stride));
  step.run = 1;
  plan_.steps.push_back(step);
  return out;
}

// Rows that lie `stride` apart become columns; returns where they go.
std::uint64_t JunctionPlanner::transpose(const Term& term, std::uint64_t rows, std::uint64_t stride,
                                         std::uint64_t columns) {
  GraphStep step{GraphStepKind::transpose};
  const std::uint64_t at = room(arena_, columns * kernels::transposed_stride(rows));
  step.terms = 1;
  step.to = number(static_cast<double>(at));
  step.term[0] = resolve(term, 0);
  step.term[0].x_stride = number(static_cast<double>(stride));
  step.labels = 1;
  step.rows = number(static_cast<double>(rows));
  step.run = number(static_cast<double>(columns));
  plan_.steps.push_back(step);
  return at;
}

// A term that involves the last group, with all nodes of the group and in their order.
JunctionPlanner::Term JunctionPlanner::arrange(const Term& term) {
  if (contiguous(term)) return term;
  if (term.scope != group_.scope || group_.last - group_.first > 1) return gather(term, term.scope | group_.scope);
  const std::uint64_t run = extent_[group_.first];  // an edge whose columns are the labels of x
  Term out = own_term(term.scope, 0);
  out.at = transpose(term, run, term.stride[group_.first], labels_);
  out.x_stride = kernels::transposed_stride(run);
  return out;
}

// A term that does not, with the labels of x next to each other.
JunctionPlanner::Term JunctionPlanner::scalar_of(const Term& term) {
  if (term.x_stride == 1) return term;
  return scalar_term(term.scope, transpose(term, labels_, term.x_stride, size_of(term.scope)));
}

JunctionPlanner::Term JunctionPlanner::scalar_term(Scope scope, std::uint64_t at) const {
  Term out = own_term(scope, at);
  out.x_stride = 1;
  for (std::uint64_t& stride : out.stride) stride *= kernels::transposed_stride(labels_);
  return out;
}

// A step that sums terms over the scope, in rows of the last group.
GraphStep JunctionPlanner::sum_step(GraphStepKind kind, std::span<const Term> scalars, std::span<const Term> terms,
                                    Scope scope) {
  const Scope rows = scope & ~group_.scope;
  GraphStep step{kind};
  step.scalars = static_cast<std::uint8_t>(scalars.size());
  step.terms = static_cast<std::uint8_t>(terms.size());
  for (std::size_t k = 0; k < scalars.size(); ++k) step.scalar[k] = resolve(scalars[k], rows);
  for (std::size_t k = 0; k < terms.size(); ++k) step.term[k] = resolve(terms[k], rows);
  step.labels = labels_;
  step.rows = number(static_cast<double>(size_of(rows)));
  step.run = number(static_cast<double>(size_of(group_.scope)));
  return step;
}

JunctionPlanner::Scope JunctionPlanner::union_of(std::span<const Term> terms) {
  Scope scope = 0;
  for (const Term& term : terms) scope |= term.scope;
  return scope;
}

// Every step has a scalar: here the start of the arena, which joins without effect.
JunctionPlanner::Term JunctionPlanner::add_terms(std::span<const Term> terms) {
  const Scope scope = union_of(terms);
  const Term nothing{false, 0, 0, 1, std::vector<std::uint64_t>(extent_.size(), 0), 0};
  Term out = own_term(scope, 0);
  out.at = room(arena_, out.x_stride * labels_);
  GraphStep step = sum_step(GraphStepKind::add, std::span(&nothing, 1), terms, scope);
  step.to = number(static_cast<double>(out.at));
  plan_.steps.push_back(step);
  return out;
}

// Here the labels of x are the run, and every labelling of the scope is a row.
JunctionPlanner::Term JunctionPlanner::add_scalars(std::span<const Term> scalars) {
  const Scope scope = union_of(scalars);
  const std::uint64_t run = kernels::transposed_stride(labels_), rows = size_of(scope);
  Term out = scalar_term(scope, room(arena_, rows * run));
  GraphStep step{GraphStepKind::add};
  step.scalars = 1;  // nothing
  step.terms = static_cast<std::uint8_t>(scalars.size());
  for (std::size_t k = 0; k < scalars.size(); ++k) step.term[k] = resolve(scalars[k], scope);
  step.scalar[0].offsets = resolve({false, 0, 0, 0, std::vector<std::uint64_t>(extent_.size(), 0), 0}, scope).offsets;
  step.to = number(static_cast<double>(out.at));
  step.labels = 1;
  step.rows = number(static_cast<double>(rows));
  step.run = number(static_cast<double>(run));
  plan_.steps.push_back(step);
  return out;
}

// A step has room for a few terms: the smallest are added up before.
template <class Add>
void JunctionPlanner::merge_surplus(std::vector<Term>& terms, std::size_t room_for, Add&& add) {
  while (terms.size() > room_for) {
    std::stable_sort(terms.begin(), terms.end(),
                     [&](const Term& a, const Term& b) { return size_of(a.scope) < size_of(b.scope); });
    const std::size_t count = std::min(kernels::most_terms, terms.size() - room_for + 1);
    const Term sum = add(std::span(terms).first(count));
    terms.erase(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(count));
    terms.push_back(sum);
  }
}

void JunctionPlanner::plan_sums(std::span<const Term> terms) {
  std::vector<Term> scalars, others;
  for (const Term& term : terms) {
    if ((term.scope & group_.scope) == 0) {
      scalars.push_back(scalar_of(term));
    } else {
      others.push_back(arrange(term));
    }
  }
  merge_surplus(scalars, kernels::most_scalars, [&](std::span<const Term> some) { return add_scalars(some); });
  merge_surplus(others, kernels::most_terms, [&](std::span<const Term> some) { return add_terms(some); });
  GraphStep step = sum_step(GraphStepKind::finish, scalars, others, whole());
  step.to = number(static_cast<double>(room(arena_, size_of(whole()))));
  step.table = number(static_cast<double>(room(tables_, labels_ * kernels::padded(size_of(whole())))));
  plan_.steps.push_back(step);
}

}  // namespace m4n::detail
