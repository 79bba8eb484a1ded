// Heat maps, bars and charts as SVG (page.h), in the classes of the page's style sheet: no colour is written here.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/message.h"
#include "reports/page.h"

namespace m4n::detail {
namespace {

constexpr double picture_width = 400, text_height = 15, letter = 6.4;  // letter: the width of one, about
constexpr std::size_t longest_name = 22;

std::string text_at(double x, double y, std::string_view anchor, std::string_view text, std::string_view css = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>", x, y, anchor,
                     css.empty() ? "" : fmt::format(" class=\"{}\"", css), html_escaped(text));
}

std::string line_from(double x1, double y1, double x2, double y2, std::string_view css) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>", x1, y1, x2, y2,
                     css);
}

double name_width(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names)
    longest = std::max(longest, std::min<std::size_t>(cut(name, longest_name).size(), longest_name));
  return letter * static_cast<double>(longest) + 8;
}

// An axis from data to the picture, linear or logarithmic, with round marks.
class Axis {
 public:
  Axis(double low, double high, bool log, double from, double to) : log_(log), from_(from), to_(to) {
    low_ = place(low);
    high_ = place(high);
    if (!(high_ > low_)) {
      const double room = std::max(std::abs(low_), 1.0) * 0.5;
      low_ -= room;
      high_ += room;
    }
  }
  double operator()(double value) const { return from_ + (place(value) - low_) / (high_ - low_) * (to_ - from_); }
  std::vector<double> marks(int most) const {
    std::vector<double> out;
    if (log_) {
      const auto first = static_cast<int>(std::ceil(low_ - 1e-9)), last = static_cast<int>(std::floor(high_ + 1e-9));
      const int step = std::max(1, (last - first + most) / most);
      for (int e = first; e <= last; e += step) out.push_back(std::pow(10.0, e));
      if (out.size() < 2) out = {std::pow(10.0, low_), std::pow(10.0, high_)};
      return out;
    }
    const double raw = (high_ - low_) / most, power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0})
      if (factor * power >= raw) {
        step = factor * power;
        break;
      }
    // By whole multiples: sums of steps would not meet zero.
    for (double m = std::ceil(low_ / step - 1e-9); m * step <= high_ + 1e-9 * step; ++m) out.push_back(m * step + 0.0);
    return out;
  }

 private:
  double place(double value) const { return log_ ? std::log10(std::max(value, 1e-300)) : value; }
  bool log_;
  double from_, to_, low_ = 0, high_ = 1;
};

// Thousands in full, for few know 1e+04 at a glance.
std::string mark_text(double value) {
  return std::abs(value) >= 1000 && std::abs(value) < 1e6 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// Steps of colour by the share of the largest; what is beyond zero on the other side has the other colour.
std::string heat_class(double value, double largest) {
  if (std::isnan(value)) return "none";
  const double share = largest > 0 ? std::abs(value) / largest : 0;
  const int step = share <= 0 ? 0 : 1 + std::min(7, static_cast<int>(share * 8));
  return fmt::format("{}{}", value < 0 ? 'n' : 'h', step);
}

}  // namespace

std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "\u2026";
}

Picture picture_of(const HeatMap& map) {
  const std::size_t rows = map.rows.size(), columns = map.columns.size();
  const double left = std::min(name_width(map.rows) + text_height, 170.0);
  const double cell = std::clamp((picture_width - left) / static_cast<double>(columns), 8.0, 44.0);
  const double tall = std::clamp(cell, 12.0, 30.0), top = std::min(name_width(map.columns) * 0.8 + 24, 140.0);
  const bool written = cell >= 34;
  double largest = 0;
  for (const double v : map.values) largest = std::isnan(v) ? largest : std::max(largest, std::abs(v));
  Picture out;
  std::map<std::string, std::string> paths;  // the cells of one colour
  std::string numbers;
  out.width = left + cell * static_cast<double>(columns) + 34;
  out.height = top + tall * static_cast<double>(rows) + 6;
  out.svg += text_at(left + cell * static_cast<double>(columns) / 2, 11, "middle", map.column_axis, "axis");
  const double middle = top + tall * static_cast<double>(rows) / 2;
  out.svg += fmt::format(
      "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(10 {:.1f}) rotate(-90)\">{}</text>", middle,
      html_escaped(map.row_axis));
  for (std::size_t c = 0; c < columns; ++c) {
    const double x = left + cell * (static_cast<double>(c) + 0.5);
    out.svg += fmt::format("<text transform=\"translate({:.1f} {:.1f}) rotate(-40)\">{}</text>", x, top - 5,
                           html_escaped(cut(map.columns[c], longest_name)));
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const double y = top + tall * static_cast<double>(r);
    out.svg += text_at(left - 5, y + tall / 2 + 4, "end", cut(map.rows[r], longest_name));
    for (std::size_t c = 0; c < columns; ++c) {
      const double v = map.values[r * columns + c], x = left + cell * static_cast<double>(c);
      const std::string css = heat_class(v, largest);
      paths[css] += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h{:.1f}z", x, y, cell - 1, tall - 1, 1 - cell);
      if (written && !std::isnan(v) && v != 0)
        numbers += text_at(x + (cell - 1) / 2, y + tall / 2 + 4, "middle", fmt::format("{:.3g}", v), "v" + css);
    }
  }
  for (const auto& [css, path] : paths) out.svg += fmt::format("<path d=\"{}\" class=\"{}\"/>", path, css);
  out.svg += numbers;
  // Where the cells lie, for the script that says what is under the pointer.
  out.cells = fmt::format("{:.1f} {:.1f} {:.2f} {:.2f}", left, top, cell, tall);
  out.description = fmt::format("Heat map, {} by {}.", counted(rows, "row"), counted(columns, "column"));
  return out;
}

Picture picture_of(const Bars& bars) {
  std::vector<std::string> names;
  double most = 0, least = 0;
  for (const Bar& bar : bars.bars) {
    names.push_back(bar.name);
    for (const double v : {bar.value, bar.low.value_or(bar.value), bar.high.value_or(bar.value)}) {
      if (!std::isfinite(v)) continue;
      most = std::max(most, v);
      least = std::min(least, v);
    }
  }
  const double tall = 26, number = 62, top = 6;
  const double bottom = top + tall * static_cast<double>(bars.bars.size());
  Picture out;
  out.width = picture_width;
  out.height = bottom + 34;
  // Names stand above their bars, so that they may be long.
  const Axis x(least, most, false, 4, picture_width - number);
  for (const double mark : x.marks(5)) {
    out.svg += line_from(x(mark), top, x(mark), bottom, "grid");
    out.svg += text_at(x(mark), bottom + 13, "middle", mark_text(mark), "mark");
  }
  for (std::size_t b = 0; b < bars.bars.size(); ++b) {
    const Bar& bar = bars.bars[b];
    const double y = top + tall * static_cast<double>(b), zero = x(0), end = x(bar.value);
    out.svg += text_at(4, y + 10, "start", cut(bar.name, 52), bar.marked ? "strong" : "");
    out.svg +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"9\" class=\"bar{}\"/>",
                    std::min(zero, end), y + 14, std::max(std::abs(end - zero), 0.5), bar.marked ? " chosen" : "");
    if (bar.low && bar.high) {
      out.svg += line_from(x(*bar.low), y + 18.5, x(*bar.high), y + 18.5, "error");
      for (const double edge : {*bar.low, *bar.high}) out.svg += line_from(x(edge), y + 15, x(edge), y + 22, "error");
    }
    out.svg += text_at(picture_width - 2, y + 22, "end", shown_number(bar.value), bar.marked ? "strong" : "");
  }
  out.svg += text_at((picture_width - number) / 2, bottom + 28, "middle", bars.axis, "axis");
  out.description = fmt::format("Bars of {}, {}.", bars.axis, counted(bars.bars.size(), "bar"));
  return out;
}

Picture picture_of(const Chart& chart) {
  constexpr double tall = 230, left = 54, right = 24, top = 8;  // half of a mark may stand beyond an axis
  const double inf = std::numeric_limits<double>::infinity();
  double x_low = inf, x_high = -inf, y_low = inf, y_high = -inf;
  const auto widen = [](double v, bool log, double& low, double& high) {
    if (!std::isfinite(v) || (log && v <= 0)) return;
    low = std::min(low, v);
    high = std::max(high, v);
  };
  for (const Series& s : chart.series) {
    for (const double v : s.x) widen(v, chart.log_x, x_low, x_high);
    for (const auto* values : {&s.y, &s.low, &s.high})
      for (const double v : *values) widen(v, chart.log_y, y_low, y_high);
  }
  if (chart.diagonal) {
    x_low = y_low = std::min(x_low, y_low);
    x_high = y_high = std::max(x_high, y_high);
  }
  if (!(x_low <= x_high)) x_low = 0, x_high = 1;
  if (!(y_low <= y_high)) y_low = 0, y_high = 1;
  const double room = chart.log_y ? 0 : 0.04 * (y_high - y_low);
  const Axis x(x_low, x_high, chart.log_x, left, picture_width - right);
  const Axis y(y_low - room, y_high + room, chart.log_y, top + tall, top);
  Picture out;
  out.width = picture_width;
  for (const double mark : y.marks(5)) {
    out.svg += line_from(left, y(mark), picture_width - right, y(mark), "grid");
    out.svg += text_at(left - 5, y(mark) + 4, "end", mark_text(mark), "mark");
  }
  for (const double mark : x.marks(6)) {
    out.svg += line_from(x(mark), top, x(mark), top + tall, "grid");
    out.svg += text_at(x(mark), top + tall + 14, "middle", mark_text(mark), "mark");
  }
  if (chart.diagonal) out.svg += line_from(x(x_low), y(x_low), x(x_high), y(x_high), "diagonal");
  const auto shown_x = [&](double v) { return std::isfinite(v) && (!chart.log_x || v > 0); };
  const auto shown_y = [&](double v) { return std::isfinite(v) && (!chart.log_y || v > 0); };
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& own = chart.series[s];
    const std::string css = fmt::format("s{}", s % 6);
    std::string points, shapes;
    for (std::size_t p = 0; p < own.x.size(); ++p) {
      if (!shown_x(own.x[p]) || !shown_y(own.y[p])) continue;
      const double px = x(own.x[p]), py = y(own.y[p]);
      points += fmt::format("{:.1f},{:.1f} ", px, py);
      if (!own.low.empty() && shown_y(own.low[p]) && shown_y(own.high[p]))
        shapes += line_from(px, y(own.low[p]), px, y(own.high[p]), "bars " + css);
      if (own.marked == p)
        shapes += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" class=\"ring {}\"/>", px, py, css);
      if (own.x.size() <= 60)
        shapes += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" class=\"dot {}\"/>", px, py, css);
    }
    out.svg += fmt::format("<polyline points=\"{}\" class=\"path {}\"/>{}", points, css, shapes);
  }
  double below = top + tall + 30;
  out.svg += text_at((left + picture_width - right) / 2, below, "middle", chart.x_axis, "axis");
  out.svg += fmt::format(
      "<text class=\"axis\" text-anchor=\"middle\" transform=\"translate(11 {:.1f}) rotate(-90)\">{}</text>",
      top + tall / 2, html_escaped(chart.y_axis));
  if (chart.series.size() > 1) {
    double at = left;
    below += 20;
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
      const std::string name = cut(chart.series[s].name, 30);
      const double wide = 26 + letter * static_cast<double>(name.size());
      if (at + wide > picture_width && at > left) at = left, below += text_height + 2;
      out.svg += line_from(at, below - 4, at + 16, below - 4, fmt::format("path s{}", s % 6));
      out.svg += text_at(at + 20, below, "start", name);
      at += wide + 6;
    }
  }
  out.height = below + 8;
  out.description =
      fmt::format("Chart of {} over {}, {}.", chart.y_axis, chart.x_axis, counted(chart.series.size(), "line"));
  return out;
}

Table table_of(const HeatMap& map) {
  Table out{map.title, {{map.row_axis + " \\ " + map.column_axis}}, {}, {}};
  for (const std::string& name : map.columns) out.columns.push_back({name, true});
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    out.rows.push_back({map.rows[r]});
    for (std::size_t c = 0; c < map.columns.size(); ++c)
      out.rows.back().push_back(shown_number(map.values[r * map.columns.size() + c]));
  }
  return out;
}

Table table_of(const Bars& bars) {
  const bool intervals =
      std::any_of(bars.bars.begin(), bars.bars.end(), [](const Bar& b) { return b.low.has_value(); });
  Table out{bars.title, {{""}, {bars.axis, true}}, {}, {}};
  if (intervals) out.columns.insert(out.columns.end(), {{"from", true}, {"to", true}});
  for (const Bar& bar : bars.bars) {
    out.rows.push_back({bar.name, shown_number(bar.value)});
    if (!intervals) continue;
    out.rows.back().push_back(bar.low ? shown_number(*bar.low) : "");
    out.rows.back().push_back(bar.high ? shown_number(*bar.high) : "");
  }
  return out;
}

// Of long lines every so many points.
Table table_of(const Chart& chart) {
  constexpr std::size_t most = 60;
  Table out{chart.title, {{"line"}, {chart.x_axis, true}, {chart.y_axis, true}}, {}, {}};
  const bool errors =
      std::any_of(chart.series.begin(), chart.series.end(), [](const Series& s) { return !s.low.empty(); });
  if (errors) out.columns.insert(out.columns.end(), {{"from", true}, {"to", true}});
  for (const Series& s : chart.series) {
    const std::size_t step = std::max<std::size_t>(1, (s.x.size() + most - 1) / most);
    for (std::size_t p = 0; p < s.x.size(); ++p) {
      if (p % step != 0 && p + 1 != s.x.size() && s.marked != p) continue;
      out.rows.push_back({s.name + (s.marked == p ? " (chosen)" : ""), shown_number(s.x[p]), shown_number(s.y[p])});
      if (!errors) continue;
      out.rows.back().push_back(s.low.empty() ? "" : shown_number(s.low[p]));
      out.rows.back().push_back(s.high.empty() ? "" : shown_number(s.high[p]));
    }
  }
  return out;
}

}  // namespace m4n::detail
