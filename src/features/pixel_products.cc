// Products of neighbouring pixels (pixel_products.h).
#include "features/pixel_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "core/message.h"
#include "data/text.h"

namespace m4n::detail {
namespace {

// Calls body(a, b) for all neighbours, in the order of the columns.
template <class Body>
void each_pair(const PixelGrid& grid, Body&& body) {
  const std::size_t h = grid.height, w = grid.width;
  for (std::size_t i = 0; i < h; ++i)
    for (std::size_t j = 0; j + 1 < w; ++j) body(i * w + j, i * w + j + 1);
  for (std::size_t i = 0; i + 1 < h; ++i)
    for (std::size_t j = 0; j < w; ++j) body(i * w + j, (i + 1) * w + j);
  for (std::size_t i = 0; i + 1 < h; ++i)
    for (std::size_t j = 0; j + 1 < w; ++j) body(i * w + j, (i + 1) * w + j + 1);
  for (std::size_t i = 0; i + 1 < h; ++i)
    for (std::size_t j = 0; j + 1 < w; ++j) body(i * w + j + 1, (i + 1) * w + j);
}

}  // namespace

std::size_t PixelGrid::columns() const {
  return pixels() + height * (width - 1) + (height - 1) * width + 2 * (height - 1) * (width - 1);
}

PixelGrid PixelGrid::parse(const std::string& text) {
  PixelGrid grid;
  const char* const end = text.data() + text.size();
  const auto height = std::from_chars(text.data(), end, grid.height);
  const bool cross = height.ec == std::errc{} && height.ptr != end && *height.ptr == 'x';
  if (cross) {
    const auto width = std::from_chars(height.ptr + 1, end, grid.width);
    const auto fits = [](std::size_t side) { return side >= 1 && side <= largest_side; };
    if (width.ec == std::errc{} && width.ptr == end && fits(grid.height) && fits(grid.width)) return grid;
  }
  throw UsageError(
      say("--pixel-products {}; expected HEIGHTxWIDTH such as 16x8, sides from 1 to {}", shown(text), largest_side));
}

void PixelGrid::check(std::size_t found, const std::string& file) const {
  if (found == pixels()) return;
  throw Error(
      say("{}: {} pixels an example, but --pixel-products {}x{} needs {}", file, found, height, width, pixels()));
}

std::string PixelGrid::name(std::size_t column) const {
  std::string found = std::to_string(column + 1);
  std::size_t place = pixels();
  each_pair(*this, [&](std::size_t a, std::size_t b) {
    if (place++ == column) found = fmt::format("{}*{}", a + 1, b + 1);
  });
  return found;
}

void pixel_products(const PixelGrid& grid, std::span<const double> pixels, std::span<double> out) {
  std::copy(pixels.begin(), pixels.end(), out.begin());
  double* product = out.data() + grid.pixels();
  each_pair(grid, [&](std::size_t a, std::size_t b) { *product++ = pixels[a] * pixels[b]; });
}

SparseMatrix with_pixel_products(const PixelGrid& grid, const DenseView& pixels) {
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

}  // namespace m4n::detail
