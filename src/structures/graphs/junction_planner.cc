// Buckets and their terms. The sums are in junction_planner_sums.cc, the way down is in junction_planner_flows.cc.
#include "structures/graphs/junction_planner.h"

#include <algorithm>
#include <utility>

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
  const double unary = static_cast<double>(graph_->nodes() * row_stride<double>(graph_->widest()));
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

}  // namespace m4n::detail
