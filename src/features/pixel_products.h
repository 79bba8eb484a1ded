// Pictures on a grid of height x width pixels, given row by row: the pixels, followed by the products of neighbours,
//
//     x[i][j] x[i][j+1],   x[i][j] x[i+1][j],   x[i][j] x[i+1][j+1],   x[i][j+1] x[i+1][j]
//
// (right, below, the two diagonals), each for all i, j row by row. A linear score of these sees strokes, not dots.
// There are H (W-1) + (H-1) W + 2 (H-1) (W-1) of them: 442 on 16 x 8.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "m4n/dataset.h"

namespace m4n::detail {

struct PixelGrid {
  static constexpr std::size_t largest_side = 10000;
  std::size_t height = 0, width = 0;
  std::size_t pixels() const { return height * width; }
  std::size_t columns() const;                 // pixels and products
  std::string name(std::size_t column) const;  // "17", or "17*18" for a product, counted from 1

  // From text such as 16x8; throws UsageError otherwise.
  static PixelGrid parse(const std::string& text);
  // Throws Error if the data do not have as many columns as the grid has pixels.
  void check(std::size_t found, const std::string& file) const;
};

// One picture, into `out` with grid.columns() entries.
void pixel_products(const PixelGrid& grid, std::span<const double> pixels, std::span<double> out);

// All rows, but only what is not zero, which for black and white pictures is a small part.
SparseMatrix with_pixel_products(const PixelGrid& grid, const DenseView& pixels);

}  // namespace m4n::detail
