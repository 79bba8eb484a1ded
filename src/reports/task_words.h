// What the examples, parts and outputs of a task are called in reports.
#pragma once
#include <string>

#include "core/wording.h"
#include "m4n/options.h"

namespace m4n {

// "12 sequences, 100 tokens", "5 rankings", "12 examples".
inline std::string examples_text(Task task, std::size_t n, std::size_t parts) {
  switch (task) {
    case Task::sequence:
      return counted(n, "sequence") + ", " + counted(parts, "token");
    case Task::ranking:
      return counted(n, "ranking");
    case Task::matching:
      return counted(n, "matching") + ", " + counted(parts, "point");
    case Task::graph:
      return counted(n, "graph") + ", " + counted(parts, "node");
    default:
      return counted(n, "example");
  }
}

// "3 classes", "5 items", "at most 10 points a side".
inline std::string outputs_text(Task task, std::size_t k) {
  if (task == Task::ranking) return counted(k, "item");
  if (task == Task::matching) return "at most " + counted(k, "point") + " a side";
  if (task == Task::multilabel || task == Task::graph) return counted(k, "label");
  return counted(k, "class", "classes");
}

inline const char* outputs_word(Task task) {
  if (task == Task::ranking) return "items";
  return task == Task::multilabel || task == Task::graph ? "labels" : "classes";
}

}  // namespace m4n
