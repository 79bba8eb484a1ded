// The plan of a junction tree (junction_tree.h): buckets and their terms, the way down from tables to marginals, the
// way up by sums of terms.
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "structures/graphs/junction_tree.h"

namespace m4n::detail {

namespace {

using kernels::GraphStep;
using kernels::GraphStepKind;

// Runs are at least this long if the separator has as many labellings.
constexpr std::uint64_t least_run = 3;

}  // namespace

JunctionPlanner::JunctionPlanner(const FactorGraph& graph, const Elimination& elimination, bool counting)
    : graph_(&graph), elimination_(&elimination), counting_(counting), edges_of_(graph.nodes()), inbox_(graph.nodes()) {
  // The arena starts with what joins without effect, one for every label of any x.
  room(arena_, graph.widest());
  index_ = 1;  // and entry 0 of the index is the offset of the only row
  if (!counting_) plan_.index.push_back(0);
  for (std::uint32_t e = 0; e < graph.edges().size(); ++e) {
    const auto [u, v] = graph.edges()[e];
    edges_of_[std::min(elimination.place[u], elimination.place[v])].push_back(e);
    plan_.edge_mass.push_back(
        number(static_cast<double>(room(mass_, graph.labels(u) * row_stride<double>(graph.labels(v))))));
  }
  edges_ = mass_;
  plan_.edge_size = number(edges_);
  plan_.buckets.resize(graph.nodes());
  for (std::size_t place = 0; place < graph.nodes(); ++place) plan_bucket(place);
  plan_.arena_size = number(arena_);
  plan_.table_size = number(tables_);
  plan_.mass_size = number(mass_);
}

double JunctionPlanner::bytes() const {
  double small = 0;
  for (const JunctionBucket& bucket : plan_.buckets) small += 12 * static_cast<double>(bucket.separator.size());
  small += static_cast<double>(plan_.steps.size() * sizeof(GraphStep) + plan_.flows.size() * sizeof(JunctionFlow) +
                               plan_.buckets.size() * sizeof(JunctionBucket));
  const auto unary = static_cast<double>(graph_->nodes() * row_stride<double>(graph_->widest()));
  return small + 8 * (arena_ + tables_ + mass_ + edges_ + 2 * unary) + 4 * index_;
}

// Takes entries on a cache line of their own, with room behind for vectors that run over the end.
std::uint64_t JunctionPlanner::room(double& total, std::uint64_t entries) const {
  const double at = total;
  total += static_cast<double>(kernels::padded(entries) + kernels::graph_slack);
  return counting_ ? 0 : static_cast<std::uint64_t>(at);
}

std::uint64_t JunctionPlanner::size_of(Scope scope) const {
  std::uint64_t size = 1;
  for (const std::size_t i : nodes_of(scope)) size *= extent_[i];
  return size;
}

std::vector<std::size_t> JunctionPlanner::nodes_of(Scope scope) const {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < extent_.size(); ++i)
    if ((scope >> i & 1) != 0) nodes.push_back(i);
  return nodes;
}

std::uint32_t JunctionPlanner::offsets(const Term& term, Scope scope, bool with_x) {
  if (!with_x && size_of(scope) == 1) return 0;
  const double at = index_;
  index_ += static_cast<double>(size_of(scope)) * (with_x ? labels_ : 1);
  if (counting_) return 0;
  Offsets list{0}, next;
  const auto extend = [&](std::uint64_t extent, std::uint64_t stride) {
    next.clear();
    for (const std::uint64_t base : list)
      for (std::uint64_t label = 0; label < extent; ++label) next.push_back(base + label * stride);
    std::swap(list, next);
  };
  if (with_x) extend(labels_, term.x_stride);
  for (const std::size_t i : nodes_of(scope)) extend(extent_[i], term.stride[i]);
  for (const std::uint64_t offset : list) plan_.index.push_back(static_cast<std::uint32_t>(offset));
  return static_cast<std::uint32_t>(at);
}

kernels::GraphTerm JunctionPlanner::resolve(const Term& term, Scope rows) {
  kernels::GraphTerm out;
  out.offsets = offsets(term, rows, false);
  if (counting_) return out;
  out.at = static_cast<std::uint32_t>(term.at);
  out.x_stride = static_cast<std::uint32_t>(term.x_stride);
  out.outside = term.outside;
  return out;
}

// A table in the arena, x outermost and the nodes of the scope behind, the last fastest.
JunctionPlanner::Term JunctionPlanner::own_term(Scope scope, std::uint64_t at) const {
  Term out{false, at, scope, 1, std::vector<std::uint64_t>(extent_.size(), 0), 0};
  for (std::size_t i = extent_.size(); i-- > 0;) {
    if ((scope >> i & 1) == 0) continue;
    out.stride[i] = out.x_stride;
    out.x_stride *= extent_[i];
  }
  return out;
}

// The last nodes of the separator, as many as fill a run.
JunctionPlanner::Group JunctionPlanner::last_group() const {
  Group group{extent_.size(), extent_.size(), 0};
  for (std::uint64_t run = 1; run < least_run && group.first > 0;) {
    --group.first;
    run *= extent_[group.first];
    group.scope |= Scope{1} << group.first;
  }
  return group;
}

bool JunctionPlanner::contiguous(const Term& term) const {
  if ((term.scope & group_.scope) != group_.scope) return false;
  std::uint64_t stride = 1;
  for (std::size_t i = group_.last; i-- > group_.first;) {
    if (term.stride[i] != stride) return false;
    stride *= extent_[i];
  }
  return true;
}

// What the bucket joins: unary scores, edges, messages.
std::vector<JunctionPlanner::Term> JunctionPlanner::collect(std::size_t place) {
  const std::vector<std::uint32_t>& separator = plan_.buckets[place].separator;
  const std::uint32_t node = plan_.buckets[place].node;
  const auto index_of = [&](std::uint32_t other) {
    return static_cast<std::size_t>(std::find(separator.begin(), separator.end(), other) - separator.begin());
  };
  const std::vector<std::uint64_t> none(extent_.size(), 0);
  std::vector<Term> terms{{true, node, 0, 1, none, 0}};
  for (const std::uint32_t e : edges_of_[place]) {
    const auto [u, v] = graph_->edges()[e];
    const std::size_t i = index_of(u == node ? v : u);
    const std::uint64_t row = row_stride<double>(graph_->labels(v));
    Term& term = terms.emplace_back(Term{true, graph_->nodes() + e, Scope{1} << i, u == node ? row : 1, none, 0});
    term.stride[i] = u == node ? 1 : row;
    term.mass = plan_.edge_mass[e];
  }
  for (const Message& message : inbox_[place]) {
    Scope scope = 0;
    for (const std::uint32_t other : plan_.buckets[message.bucket].separator)
      if (other != node) scope |= Scope{1} << index_of(other);
    terms.push_back(own_term(scope, message.at));
    terms.back().mass = plan_.buckets[message.bucket].mass;
  }
  return terms;
}

void JunctionPlanner::plan_bucket(std::size_t place) {
  JunctionBucket& bucket = plan_.buckets[place];
  bucket.node = elimination_->order[place];
  bucket.labels = labels_ = graph_->labels(bucket.node);
  bucket.separator = elimination_->separator[place];
  extent_.clear();
  for (const std::uint32_t other : bucket.separator) extent_.push_back(graph_->labels(other));
  bucket.size = number(static_cast<double>(size_of(whole())));
  group_ = last_group();
  const Term rows = own_term(whole() & ~group_.scope, 0), columns = own_term(group_.scope, 0);
  for (std::size_t i = 0; i < extent_.size(); ++i) {
    bucket.row_stride.push_back(number(static_cast<double>(rows.stride[i])));
    bucket.column_stride.push_back(number(static_cast<double>(columns.stride[i])));
  }

  const std::vector<Term> terms = collect(place);
  plan_sums(terms);
  bucket.finish = static_cast<std::uint32_t>(plan_.steps.size() - 1);
  bucket.mass = number(static_cast<double>(room(mass_, size_of(whole()))));
  plan_flows(terms, bucket);
  if (!bucket.separator.empty())
    inbox_[elimination_->place[bucket.separator[0]]].push_back(
        {static_cast<std::uint32_t>(place), plan_.steps.back().to});
}

double plan_bytes(const FactorGraph& graph, const Elimination& elimination) {
  return JunctionPlanner(graph, elimination, true).bytes();
}

JunctionPlan make_plan(const FactorGraph& graph, const Elimination& elimination) {
  return std::move(JunctionPlanner(graph, elimination, false).plan());
}

// The way down: from the table p(x, S) of a bucket to the separators of the buckets below and to its edges.

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

// The way up: the terms of a bucket in the layouts that steps read, and their sums.

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

// A step has room for a few terms: the smallest are added up before, of several as small those that came first.
template <class Add>
void JunctionPlanner::merge_surplus(std::vector<Term>& terms, std::size_t room_for, Add&& add) {
  if (terms.size() <= room_for) return;
  using Rank = std::pair<std::uint64_t, std::size_t>;  // size, place in the list
  std::priority_queue<Rank, std::vector<Rank>, std::greater<>> waiting;
  for (std::size_t k = 0; k < terms.size(); ++k) waiting.emplace(size_of(terms[k].scope), k);
  const auto take = [&] {
    const std::size_t k = waiting.top().second;
    waiting.pop();
    return std::move(terms[k]);
  };
  std::vector<Term> some;
  for (;;) {
    some.clear();
    for (std::size_t count = std::min(kernels::most_terms, waiting.size() - room_for + 1); count > 0; --count)
      some.push_back(take());
    const Term sum = add(std::span<const Term>(some));
    if (waiting.size() < room_for) {
      some.clear();
      while (!waiting.empty()) some.push_back(take());
      some.push_back(sum);
      terms = std::move(some);
      return;
    }
    waiting.emplace(size_of(sum.scope), terms.size());
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
