// The picture of a loss (loss_page.h), after the first figure of the paper. Regions and levels are those of a grid.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "games/matrix_game.h"
#include "reports/loss_page.h"
#include "surrogates/registry.h"

namespace m4n::detail {
namespace {

constexpr std::size_t corners = 3;
constexpr double panel = 190, between_panels = 16, head = 34;
using Point = std::pair<double, double>;

// Score of class c, or its corner of the triangle, in the direction of its angle: left below, right below, above.
Point direction(std::size_t c) {
  const std::array<double, corners> degrees{210, 330, 90};
  const double angle = degrees[c] * std::numbers::pi / 180;
  return {std::cos(angle), std::sin(angle)};
}

// What a surrogate makes of scores: the risk where the classes are equally likely, and the prediction.
struct Scored {
  double risk = 0;
  std::size_t answer = 0;
};
struct Plane {
  std::string title, decoded;
  double reach;  // the scores that are shown, from the middle
  std::function<Scored(const std::array<double, corners>&)> at;
};

std::size_t largest_of(std::span<const double> values) {
  return static_cast<std::size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// The polygon cut to the side of a line on which value(point) >= 0, which is linear.
std::vector<std::array<double, corners>> clipped(
    const std::vector<std::array<double, corners>>& polygon,
    const std::function<double(const std::array<double, corners>&)>& value) {
  std::vector<std::array<double, corners>> out;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const auto &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double at_a = value(a), at_b = value(b);
    if (at_a >= 0) out.push_back(a);
    if ((at_a > 0 && at_b < 0) || (at_a < 0 && at_b > 0)) {
      std::array<double, corners> between{};
      for (std::size_t c = 0; c < corners; ++c) between[c] = a[c] + at_a / (at_a - at_b) * (b[c] - a[c]);
      out.push_back(between);
    }
  }
  return out;
}

std::string label(double x, double y, std::string_view text, std::string_view css = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\" class=\"{}\">{}</text>", x, y, css,
                     html_escaped(cut(text, 30)));
}

std::string simplex(const CostMatrix& cost, const std::vector<std::string>& classes, double left) {
  const double middle = left + panel / 2, centre = head + panel * 0.6, radius = panel * 0.46;
  const auto place = [&](const std::array<double, corners>& p) {
    double x = middle, y = centre;
    for (std::size_t c = 0; c < corners; ++c) {
      x += radius * p[c] * direction(c).first;
      y -= radius * p[c] * direction(c).second;
    }
    return fmt::format("{:.1f},{:.1f} ", x, y);
  };
  const std::vector<std::array<double, corners>> whole{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  std::string out = label(middle, 14, "best answer by probability", "strong");
  for (std::size_t y = 0; y < cost.predictions(); ++y) {
    auto region = whole;
    for (std::size_t z = 0; z < cost.predictions() && !region.empty(); ++z)
      region = clipped(region, [&](const std::array<double, corners>& p) {
        double less = 0;
        for (std::size_t t = 0; t < corners; ++t) less += p[t] * (cost(t, z) - cost(t, y));
        return less;
      });
    std::string points;
    for (const auto& p : region) points += place(p);
    if (region.size() > 2) out += fmt::format("<polygon points=\"{}\" class=\"f{} outline\"/>", points, y % 6);
  }
  for (std::size_t c = 0; c < corners; ++c)
    out += label(std::clamp(middle + radius * direction(c).first, left + 22, left + panel - 22),
                 centre - radius * direction(c).second + (c == 2 ? -6 : 16), classes[c]);
  return out;
}

// Levels by marching squares: the segments in which the risk, taken to be linear on the sides of a square, is `level`.
std::string contour(const std::vector<double>& risk, std::size_t side, double level,
                    const std::function<Point(double, double)>& place) {
  std::string path;
  const auto value = [&](std::size_t r, std::size_t c) { return risk[r * side + c] - level; };
  for (std::size_t r = 0; r + 1 < side; ++r)
    for (std::size_t c = 0; c + 1 < side; ++c) {
      const std::array<std::pair<std::size_t, std::size_t>, 4> at{{{r, c}, {r, c + 1}, {r + 1, c + 1}, {r + 1, c}}};
      std::vector<Point> crossed;
      for (std::size_t e = 0; e < 4; ++e) {
        const auto [r1, c1] = at[e];
        const auto [r2, c2] = at[(e + 1) % 4];
        const double a = value(r1, c1), b = value(r2, c2);
        if ((a < 0) == (b < 0)) continue;
        const double share = a / (a - b);
        crossed.push_back(place(std::lerp(static_cast<double>(c1), static_cast<double>(c2), share),
                                std::lerp(static_cast<double>(r1), static_cast<double>(r2), share)));
      }
      for (std::size_t s = 0; s + 1 < crossed.size(); s += 2)
        path += fmt::format("M{:.1f} {:.1f}L{:.1f} {:.1f}", crossed[s].first, crossed[s].second, crossed[s + 1].first,
                            crossed[s + 1].second);
    }
  return path;
}

std::string plane_panel(const Plane& plane, const std::vector<std::string>& classes, double left) {
  constexpr std::size_t side = 61;
  const double cell = panel / side;
  std::vector<double> risk;
  std::vector<std::size_t> answer;
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side; ++c) {
      const double x = plane.reach * (2.0 * (static_cast<double>(c) + 0.5) / side - 1);
      const double y = -plane.reach * (2.0 * (static_cast<double>(r) + 0.5) / side - 1);
      std::array<double, corners> v{};
      for (std::size_t i = 0; i < corners; ++i)
        v[i] = std::sqrt(2.0 / 3.0) * (x * direction(i).first + y * direction(i).second);
      const Scored found = plane.at(v);
      risk.push_back(found.risk);
      answer.push_back(found.answer);
    }
  std::string out = label(left + panel / 2, 14, plane.title, "strong") +
                    label(left + panel / 2, 28, "decoded by " + plane.decoded, "mark");
  std::vector<std::string> paths(6);
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side;) {
      std::size_t end = c;
      while (end < side && answer[r * side + end] == answer[r * side + c]) ++end;
      paths[answer[r * side + c] % 6] +=
          fmt::format("M{:.1f} {:.2f}h{:.1f}v{:.2f}h{:.1f}z", left + cell * static_cast<double>(c),
                      head + cell * static_cast<double>(r), cell * static_cast<double>(end - c), cell + 0.3,
                      -cell * static_cast<double>(end - c));
      c = end;
    }
  for (std::size_t y = 0; y < paths.size(); ++y)
    if (!paths[y].empty())
      out += fmt::format("<path d=\"{}\" class=\"f{}\" shape-rendering=\"crispEdges\"/>", paths[y], y);
  const auto [least, most] = std::minmax_element(risk.begin(), risk.end());
  const auto place = [&](double c, double r) { return Point{left + cell * (c + 0.5), head + cell * (r + 0.5)}; };
  constexpr int levels = 7;
  std::string lines;
  for (int l = 0; l < levels; ++l) {
    const double share = (l + 0.4) / levels;
    lines += contour(risk, side, *least + share * share * (*most - *least), place);
  }
  out += fmt::format("<path d=\"{}\" class=\"contour\"/>", lines);
  for (std::size_t c = 0; c < corners; ++c)
    out += label(left + panel / 2 + 0.42 * panel * direction(c).first,
                 head + panel / 2 - 0.42 * panel * direction(c).second + 4, classes[c]);
  return out;
}

}  // namespace

Drawing loss_drawing(const NamedCosts& costs, const std::array<std::size_t, 3>& three) {
  std::vector<std::string> classes;
  for (const std::size_t t : three) classes.push_back(costs.classes[t]);
  // The costs among the three; of actions all.
  const bool actions = costs.cost.has_actions();
  std::vector<double> values;
  for (const std::size_t t : three) {
    if (actions)
      for (std::size_t y = 0; y < costs.cost.predictions(); ++y) values.push_back(costs.cost(t, y));
    else
      for (const std::size_t y : three) values.push_back(costs.cost(t, y));
  }
  const CostMatrix cost = CostMatrix::from_values(values, corners, "matrix", classes, costs.name,
                                                  actions ? costs.cost.prediction_names() : std::vector<std::string>{});
  const std::size_t answers = cost.predictions();
  const auto mean_of = [](const std::array<double, corners>& v) { return (v[0] + v[1] + v[2]) / corners; };
  const auto expected = [&](std::size_t y, const std::array<double, corners>& p) {
    return p[0] * cost(0, y) + p[1] * cost(1, y) + p[2] * cost(2, y);
  };
  const auto decoder = [&](SurrogateKind kind) {
    return usual_decoder(kind, 0, cost.symmetric() && !actions, Decoder::argmax);
  };
  MatrixGame::Workspace workspace(std::max(corners, answers));
  const CostMatrix square = cost.squared();
  const MatrixGame square_game(square);
  const std::size_t wide = kernels::padded(square.k());
  const auto play = [&](const std::array<double, corners>& v) {
    AlignedVector<double> scores(wide, 0.0), mu(wide, 0.0), nu(wide, 0.0);
    std::vector<std::uint8_t> state(square.k());
    for (std::size_t i = 0; i < square.k(); ++i) scores[i] = i < corners ? v[i] : -1e6 * cost.range();
    const Bounds value = square_game.solve(std::span(scores).first(square.k()), mu, nu, state, workspace);
    const std::size_t adversary = largest_of(std::span<const double>(nu).first(answers));
    return Scored{value.upper - mean_of(v), decoder(SurrogateKind::m4n) == Decoder::argmax ? largest_of(v) : adversary};
  };
  std::vector<Plane> planes{{"M4N", to_string(decoder(SurrogateKind::m4n)), 2 * cost.range(), play}};
  if (!actions)
    planes.push_back({"M3N", to_string(decoder(SurrogateKind::m3n)), 2 * cost.range(), [&](const auto& v) {
                        double risk = -mean_of(v);
                        for (std::size_t t = 0; t < corners; ++t) {
                          double most = cost(t, 0) + v[0];
                          for (std::size_t y = 1; y < corners; ++y) most = std::max(most, cost(t, y) + v[y]);
                          risk += most / corners;
                        }
                        return Scored{risk, largest_of(v)};
                      }});
  constexpr double crf_reach = 4;
  planes.push_back({"CRF", to_string(decoder(SurrogateKind::crf)), crf_reach, [&](const auto& v) {
                      std::array<double, corners> p{};
                      double sum = 0;
                      for (std::size_t i = 0; i < corners; ++i) sum += p[i] = std::exp(v[i]);
                      for (double& mass : p) mass /= sum;
                      std::size_t best = 0;
                      for (std::size_t y = 1; y < answers; ++y)
                        if (expected(y, p) < expected(best, p) - 1e-12) best = y;
                      return Scored{std::log(sum) - mean_of(v), best};
                    }});
  if (!actions)
    planes.push_back({"QS", to_string(decoder(SurrogateKind::qs)), 1.5 * cost.range(), [&](const auto& v) {
                        double risk = 0;
                        for (std::size_t t = 0; t < corners; ++t)
                          for (std::size_t y = 0; y < corners; ++y) {
                            // Scores with the sum that fits best: only differences are shown.
                            const double mean = (cost(t, 0) + cost(t, 1) + cost(t, 2)) / corners;
                            const double off = v[y] + cost(t, y) - mean;
                            risk += off * off / corners;
                          }
                        return Scored{risk, largest_of(v)};
                      }});
  Drawing out;
  out.title = fmt::format("{}: three classes", costs.name);
  out.description = fmt::format(
      "The triangle of probabilities of {}, {} and {}, coloured by the best answer; beside it the plane of scores for "
      "{} "
      "surrogates, coloured by the prediction, with level lines of the surrogate's risk where the three are equally "
      "likely.",
      classes[0], classes[1], classes[2], planes.size());
  // Two panels by row, which a telephone can show.
  double left = 0, top = 0;
  const auto add = [&](const std::string& drawn) {
    out.svg += fmt::format("<g transform=\"translate({:.0f} {:.0f})\">{}</g>", left, top, drawn);
    out.width = std::max(out.width, left + panel);
    out.height = top + head + panel + 18;
    left += panel + between_panels;
    if (left > 2 * panel) left = 0, top += head + panel + 24;
  };
  add(simplex(cost, classes, 0));
  for (const Plane& plane : planes) add(plane_panel(plane, classes, 0));
  return out;
}

}  // namespace m4n::detail
