// A page of sections, as HTML and as Markdown.
//
// The HTML is one file without a reference to anything outside it: pictures are inline SVG, colours follow the light or
// dark setting of the reader, nothing needs its few lines of script. All names and texts are escaped. Every picture has
// a description and, folded away, its numbers as a table.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/exhibit.h"

namespace m4n::detail {

struct Page {
  std::string title, lead;  // the lead: what it is, in a sentence or two
  std::vector<Section> sections;
};

std::string page_html(const Page& page);
std::string page_markdown(const Page& page);
// One picture as a file of its own, with its colours.
std::string svg_file(const Exhibit& picture);

// Text in HTML: bytes that are no UTF-8 and control characters are replaced.
std::string html_escaped(std::string_view text);
// What is too long for a name in a table or a picture, cut behind a whole character.
std::string cut(std::string_view text, std::size_t most);
inline constexpr std::size_t longest_cell = 300;

// The inside of an <svg>, its size, and what it shows in a sentence.
struct Picture {
  std::string svg, description;
  double width = 0, height = 0;
  std::string cells{};  // of heat maps: left, top, width and height of the cells
};
Picture picture_of(const HeatMap& map);
Picture picture_of(const Bars& bars);
Picture picture_of(const Chart& chart);
// Their numbers.
Table table_of(const HeatMap& map);
Table table_of(const Bars& bars);
Table table_of(const Chart& chart);

}  // namespace m4n::detail
