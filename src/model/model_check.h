// What every model must satisfy, whether it was just trained or just read.
#pragma once
#include <string>

#include "m4n/model.h"

namespace m4n {

// Throws an Error that starts with `name` and says which part of the model does not fit the others or its range.
void check_model(const Model& model, const std::string& name);

inline constexpr int largest_degree = 20;  // of a polynomial kernel

// a * b, or the largest number where that does not fit: no array can have that length, so a comparison fails.
std::uint64_t product_or_largest(std::uint64_t a, std::uint64_t b);

}  // namespace m4n
