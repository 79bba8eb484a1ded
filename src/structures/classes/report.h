// What reports show of classes and grades alone.
#pragma once
#include <span>
#include <vector>

#include "structures/structure.h"

namespace m4n::detail {

// Of costs that differ from example to example; see Structure::each_answer and best_constant.
void visit_varying_costs(const Model& model, const Examples& examples, std::span<const std::int32_t> predicted,
                         const AnswerVisitor& visit);
std::vector<std::int32_t> best_constant_of_varying_costs(const Model& model, const Examples& examples);

// How well every class is found; how far off grades are, and what a predicted grade means.
std::vector<Exhibit> class_exhibits(const Judged& judged);
std::vector<Exhibit> grade_exhibits(const Judged& judged);

}  // namespace m4n::detail
