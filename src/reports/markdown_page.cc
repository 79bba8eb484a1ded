// Pages as Markdown (page.h): pictures become the tables of their numbers.
#include <fmt/format.h>

#include "reports/page.h"

namespace m4n::detail {
namespace {

// What would mean something to Markdown or HTML stands behind a backslash; html_escaped() has seen to the rest.
std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char c : html_escaped(text)) {
    if (std::string_view("\\`*_[]|~#").find(c) != std::string_view::npos && !(c == '#' && out.ends_with('&')))
      out += '\\';
    out += c;
  }
  return out;
}

std::string cell_markdown(const std::string& text) {
  return fmt::format(" {} |", markdown_escaped(cut(text, longest_cell)));
}

class MarkdownWriter {
 public:
  std::string text;

  void operator()(const Words& words) { text += markdown_escaped(words.text) + "\n\n"; }
  void operator()(const Table& table) {
    if (!table.title.empty()) text += fmt::format("### {}\n\n", markdown_escaped(table.title));
    std::string names = "|", rule = "|";
    for (const Column& column : table.columns) {
      names += cell_markdown(column.name);
      rule += column.number ? "---:|" : "---|";
    }
    text += names + "\n" + rule + "\n";
    for (const auto& row : table.rows) {
      text += "|";
      for (const std::string& cell : row) text += cell_markdown(cell);
      text += "\n";
    }
    text += "\n";
    note(table.note);
  }
  void operator()(const Drawing& drawing) {
    text += fmt::format("### {}\n\n{}\n\n", markdown_escaped(drawing.title), markdown_escaped(drawing.description));
    note(drawing.note);
  }
  template <class Shown>
  void operator()(const Shown& picture) {
    (*this)(table_of(picture));
    note(picture.note);
  }

 private:
  void note(const std::string& words) {
    if (!words.empty()) text += markdown_escaped(words) + "\n\n";
  }
};

}  // namespace

std::string page_markdown(const Page& page) {
  MarkdownWriter writer;
  writer.text = fmt::format("# {}\n\n{}\n\n", markdown_escaped(page.title), markdown_escaped(page.lead));
  for (const Section& section : page.sections) {
    writer.text += fmt::format("## {}\n\n", markdown_escaped(section.title));
    for (const Exhibit& exhibit : section.exhibits) std::visit(writer, exhibit);
  }
  while (writer.text.ends_with("\n\n")) writer.text.pop_back();
  return writer.text;
}

}  // namespace m4n::detail
