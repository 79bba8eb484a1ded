// Atoms of labellings: gathered, appended, weighed again, dropped (labelling_atoms.h).
#include "solvers/labelling_atoms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solvers/atom_weights.h"

namespace m4n::detail {
namespace {

// Amounts that only the rounding of weights that sum to 1 leaves behind.
constexpr double rounding = 1e-14;

}  // namespace

void add_part(AlignedVector<double>& dense, std::vector<std::uint32_t>& touched, std::size_t part, double amount) {
  if (dense[part] == 0) touched.push_back(static_cast<std::uint32_t>(part));
  dense[part] += amount;
}

void collect_parts(AtomScratch& scratch) {
  // What a part that was touched, cancelled and touched again has, is taken where it is met first.
  scratch.parts.clear();
  const auto collect = [&](AlignedVector<double>& dense, std::vector<std::uint32_t>& touched) {
    for (const std::uint32_t part : touched) {
      if (std::abs(dense[part]) > rounding) scratch.parts.push_back({dense[part], part});
      dense[part] = 0;
    }
    touched.clear();
  };
  collect(scratch.unary, scratch.touched_unary);
  scratch.unary_parts = scratch.parts.size();
  collect(scratch.tail, scratch.touched_tail);
}

bool AtomBlock::holds_together() const {
  std::uint32_t end = 0;
  for (const Atom& atom : atoms_) {
    if (atom.first != end || atom.middle < atom.first || atom.last < atom.middle) return false;
    end = atom.last;
  }
  return !atoms_.empty() && atoms_[0].last == 0 && end == parts_.size() && gram_.size() == size() * (size() + 1) / 2 &&
         is_mixture(atoms_);
}

bool AtomBlock::fits(std::size_t rows, std::size_t stride, std::size_t tail) const {
  const auto below = [](std::span<const AtomPart> parts, std::size_t limit) {
    return std::all_of(parts.begin(), parts.end(), [&](const AtomPart& p) { return p.part < limit; });
  };
  for (std::size_t a = 0; a < size(); ++a)
    if (!below(unary_parts(a), rows * stride) || !below(tail_parts(a), tail)) return false;
  return std::all_of(contested_.begin(), contested_.end(), [&](std::uint32_t m) { return m < rows; });
}

void gram_of_new(const AtomBlock& block, const double* image, AtomScratch& scratch) {
  const std::span<const AtomPart> unary = std::span<const AtomPart>(scratch.parts).first(scratch.unary_parts),
                                  tail = std::span<const AtomPart>(scratch.parts).subspan(scratch.unary_parts);
  for (const AtomPart& p : tail) scratch.tail[p.part] = p.amount;
  const auto inner = [&](std::span<const AtomPart> a, std::span<const AtomPart> b) {
    double sum = 0;
    for (const AtomPart& p : a) sum += p.amount * image[p.part];
    for (const AtomPart& p : b) sum += p.amount * scratch.tail[p.part];
    return sum;
  };
  scratch.gram.clear();
  for (std::size_t a = 0; a < block.size(); ++a)
    scratch.gram.push_back(inner(block.unary_parts(a), block.tail_parts(a)));
  scratch.gram.push_back(inner(unary, tail));
  for (const AtomPart& p : tail) scratch.tail[p.part] = 0;
}

double AtomBlock::risk() const {
  double sum = 0;
  for (const Atom& atom : atoms_) sum += atom.weight * atom.risk;
  return sum;
}

double AtomBlock::gains(const double* unary, const double* tail, AtomScratch& scratch) const {
  scratch.gain.resize(size());
  double current = 0;
  for (std::size_t a = 0; a < size(); ++a) {
    double gain = atoms_[a].risk;
    for (const AtomPart& p : unary_parts(a)) gain += p.amount * unary[p.part];
    for (const AtomPart& p : tail_parts(a)) gain += p.amount * tail[p.part];
    scratch.gain[a] = gain;
    current += atoms_[a].weight * gain;
  }
  return current;
}

void AtomBlock::contest(std::size_t a, std::size_t stride) {
  for (const AtomPart& p : unary_parts(a)) {
    const auto m = static_cast<std::uint32_t>(p.part / stride);
    if (mark(m)) contested_.push_back(m);
  }
}

// False if the position was marked before.
bool AtomBlock::mark(std::uint32_t m) {
  if (m >= is_contested_.size()) is_contested_.resize(m + std::size_t{1}, 0);
  return std::exchange(is_contested_[m], std::uint8_t{1}) == 0;
}

void AtomBlock::append(double risk, std::size_t stride, const AtomScratch& scratch) {
  const auto first = static_cast<std::uint32_t>(parts_.size());
  parts_.insert(parts_.end(), scratch.parts.begin(), scratch.parts.end());
  atoms_.push_back({risk, 0, first, first + static_cast<std::uint32_t>(scratch.unary_parts),
                    static_cast<std::uint32_t>(parts_.size()), 0});
  gram_.insert(gram_.end(), scratch.gram.begin(), scratch.gram.end());
  contest(size() - 1, stride);
}

double AtomBlock::reweigh(double c, AtomScratch& scratch) {
  return reweigh_atoms(
      atoms_, [&](std::size_t a, std::size_t b) { return gram(a, b); }, c, scratch.gain, scratch.slope, scratch.change);
}

void AtomBlock::forget(unsigned visits, std::size_t stride) {
  // The truth costs nothing and stays.
  const auto stays = [&](std::size_t a) { return a == 0 || atoms_[a].weight > 0 || atoms_[a].idle < visits; };
  std::size_t first = 0;
  while (first < size() && stays(first)) ++first;
  if (first == size()) return;
  std::size_t entry = 0;
  for (std::size_t a = 0; a < size(); ++a)
    for (std::size_t b = 0; stays(a) && b <= a; ++b)
      if (stays(b)) gram_[entry++] = gram(a, b);
  gram_.resize(entry);
  std::size_t kept = 0;
  std::uint32_t end = 0;
  for (std::size_t a = 0; a < size(); ++a) {
    if (!stays(a)) continue;
    Atom atom = atoms_[a];
    std::copy(parts_.begin() + atom.first, parts_.begin() + atom.last, parts_.begin() + end);
    const std::uint32_t shift = atom.first - end;
    atom.first -= shift;
    atom.middle -= shift;
    atom.last -= shift;
    end = atom.last;
    atoms_[kept++] = atom;
  }
  atoms_.resize(kept);
  parts_.resize(end);
  contested_.clear();
  is_contested_.assign(is_contested_.size(), 0);
  for (std::size_t a = 1; a < size(); ++a) contest(a, stride);
}

}  // namespace m4n::detail
