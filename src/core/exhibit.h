// Tables and pictures as numbers and names: what structures and commands have to show, and src/reports draws. Names may
// be any bytes of the user's; who draws escapes them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace m4n::detail {

struct Words {
  std::string text;  // a paragraph
};

struct Column {
  std::string name;
  bool number = false;  // set to the right, and sorted as numbers
};
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
  std::string note{};  // below it; empty: nothing
};

// Of NaN nothing is shown.
struct HeatMap {
  std::string title, row_axis, column_axis;
  std::vector<std::string> rows, columns;
  std::vector<double> values;  // rows x columns
  std::string note{};
};

struct Bar {
  std::string name;
  double value = 0;
  std::optional<double> low{}, high{};  // an interval around it
  bool marked = false;
};
struct Bars {
  std::string title, axis;
  std::vector<Bar> bars;
  std::string note{};
};

struct Series {
  std::string name;
  std::vector<double> x, y;
  std::vector<double> low{}, high{};    // error bars; empty: none
  std::optional<std::size_t> marked{};  // the point that was chosen
};
struct Chart {
  std::string title, x_axis, y_axis;
  bool log_x = false, log_y = false;
  bool diagonal = false;  // with the line y = x
  std::vector<Series> series;
  std::string note{};
};

// A picture that is drawn already.
struct Drawing {
  std::string title, description;
  std::string svg;  // what stands inside <svg>, safe as it is
  double width = 0, height = 0;
  std::string note{};
};

using Exhibit = std::variant<Words, Table, HeatMap, Bars, Chart, Drawing>;

struct Section {
  std::string title;
  std::vector<Exhibit> exhibits;
};

// Four digits; a dash for what is no number.
std::string shown_number(double value);
std::string shown_percent(double share);

}  // namespace m4n::detail
