// All structures. A folder has a function that makes its structures; its line is here.
#include <iterator>

#include "structures/structure.h"

namespace m4n::detail {

using Structures = std::vector<std::unique_ptr<Structure>>;

Structures class_structures();
Structures label_set_structures();
Structures chain_structures();
Structures permutation_structures();
Structures graph_structures();

namespace {

struct Registry {
  Structures owned;
  std::vector<const Structure*> all;

  Registry() {
    for (Structures (*make)() :
         {class_structures, label_set_structures, chain_structures, permutation_structures, graph_structures})
      for (std::unique_ptr<Structure>& structure : make()) add(std::move(structure));
  }
  void add(std::unique_ptr<Structure> structure) {
    all.push_back(structure.get());
    owned.push_back(std::move(structure));
  }
};

Registry& registry() {
  static Registry all;
  return all;
}

}  // namespace

const std::vector<const Structure*>& structures() { return registry().all; }

void add_structure(std::unique_ptr<Structure> structure) { registry().add(std::move(structure)); }

}  // namespace m4n::detail
