// See pixel_products.h.
#include "transform/pixel_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "data/text.h"
#include "m4n/error.h"

namespace m4n {

std::size_t PixelGrid::columns() const {
  return pixels() + height * (width - 1) + (height - 1) * width + 2 * (height - 1) * (width - 1);
}

PixelGrid PixelGrid::parse(const std::string& text) {
  constexpr std::size_t largest_side = 10000;
  PixelGrid grid;
  const char* const end = text.data() + text.size();
  const auto height = std::from_chars(text.data(), end, grid.height);
  const bool cross = height.ec == std::errc{} && height.ptr != end && *height.ptr == 'x';
  if (cross) {
    const auto width = std::from_chars(height.ptr + 1, end, grid.width);
    const auto fits = [](std::size_t side) { return side >= 1 && side <= largest_side; };
    if (width.ec == std::errc{} && width.ptr == end && fits(grid.height) && fits(grid.width)) return grid;
  }
  throw UsageError(fmt::format("--pixel-products {}; expected HEIGHTxWIDTH such as 16x8, sides from 1 to {}",
                               shown(text), largest_side));
}

void PixelGrid::check(std::size_t found, const std::string& file) const {
  if (found == pixels()) return;
  throw Error(fmt::format("{}: {} pixels an example, but --pixel-products {}x{} needs {}", file, found, height, width,
                          pixels()));
}

void pixel_products(const PixelGrid& grid, std::span<const double> pixels, std::span<double> out) {
  const std::size_t h = grid.height, w = grid.width;
  if (out.data() != pixels.data()) std::copy(pixels.begin(), pixels.end(), out.begin());
  const double* const x = out.data();
  double* product = out.data() + grid.pixels();
  for (std::size_t i = 0; i < h; ++i)
    for (std::size_t j = 0; j + 1 < w; ++j) *product++ = x[i * w + j] * x[i * w + j + 1];
  for (std::size_t i = 0; i + 1 < h; ++i)
    for (std::size_t j = 0; j < w; ++j) *product++ = x[i * w + j] * x[(i + 1) * w + j];
  for (std::size_t i = 0; i + 1 < h; ++i)
    for (std::size_t j = 0; j + 1 < w; ++j) *product++ = x[i * w + j] * x[(i + 1) * w + j + 1];
  for (std::size_t i = 0; i + 1 < h; ++i)
    for (std::size_t j = 0; j + 1 < w; ++j) *product++ = x[i * w + j + 1] * x[(i + 1) * w + j];
}

DenseMatrix with_pixel_products(const PixelGrid& grid, const DenseView& pixels) {
  DenseMatrix result{pixels.rows, grid.columns(), {}};
  result.values.resize(result.rows * result.cols);
  for (std::size_t i = 0; i < pixels.rows; ++i)
    pixel_products(grid, pixels.row(i), std::span(result.values).subspan(i * result.cols, result.cols));
  return result;
}

SparseMatrix sparse_with_pixel_products(const PixelGrid& grid, const DenseView& pixels) {
  SparseMatrix result;
  result.cols = grid.columns();
  std::vector<double> row(result.cols);
  for (; result.rows < pixels.rows; ++result.rows) {
    pixel_products(grid, pixels.row(result.rows), row);
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c] == 0) continue;
      result.column.push_back(static_cast<std::uint32_t>(c));
      result.value.push_back(row[c]);
    }
    result.row_start.push_back(result.column.size());
  }
  return result;
}

}  // namespace m4n
