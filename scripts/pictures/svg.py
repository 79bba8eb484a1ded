"""SVG by hand: shapes, axes and whole files, in the classes of the style sheet of m4n's own pictures.

Every number has one decimal, so that a file does not depend on the last digits of what it shows.
"""

import html
import math
import re

MARKERS = ("circle", "square", "diamond", "triangle")  # beside the colour, for those who cannot tell colours apart
LETTER = 6.4  # the width of one, about
RAISED = str.maketrans("-0123456789", "\u207b\u2070\xb9\xb2\xb3\u2074\u2075\u2076\u2077\u2078\u2079")


def style(m4n):
    """The style sheet of the pictures that m4n draws, with its colours for light and for dark."""
    return re.search("<style>(.*?)</style>", m4n.picture_of_a_loss(), re.DOTALL).group(1)


def document(title, description, width, height, body, style):
    title, description = html.escape(title), html.escape(description)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{1.25 * width:.0f}" '
        f'height="{1.25 * height:.0f}" role="img" aria-labelledby="t d">\n<title id="t">{title}</title>\n'
        f'<desc id="d">{description}</desc>\n<style>{style}</style>\n'
        f'<rect width="100%" height="100%" class="paper"/>\n{body}\n</svg>\n'
    )


def text(x, y, words, anchor="start", css=""):
    css = f' class="{css}"' if css else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{css}>{html.escape(words)}</text>'


def line(x1, y1, x2, y2, css):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{css}"/>'


def polygon(points, css):
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{css}"/>'


def marker(x, y, number):
    css, r = f"dot s{number}", 4
    kind = MARKERS[number % len(MARKERS)]
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" class="{css}"/>'
    shapes = {
        "square": [(-r, -r), (r, -r), (r, r), (-r, r)],
        "diamond": [(-1.4 * r, 0), (0, -1.4 * r), (1.4 * r, 0), (0, 1.4 * r)],
        "triangle": [(-1.2 * r, r), (1.2 * r, r), (0, -1.2 * r)],
    }
    return polygon([(x + dx, y + dy) for dx, dy in shapes[kind]], css)


def legend(names, x, y):
    """In one row, from (x, y) on."""
    out = []
    for number, name in enumerate(names):
        out += [line(x, y, x + 26, y, f"path s{number}"), marker(x + 13, y, number), text(x + 32, y + 4, name)]
        x += 32 + LETTER * len(name) + 14
    return "\n".join(out)


class Axis:
    """From data to the picture, linear or logarithmic, with round marks."""

    def __init__(self, low, high, start, end, log=False):
        self.log, self.start, self.end = log, start, end
        self.low, self.high = self.place(low), self.place(high)

    def place(self, value):
        return math.log10(value) if self.log else value

    def __call__(self, value):
        return self.start + (self.place(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def marks(self, most=6):
        if self.log:
            first, last = math.ceil(self.low - 1e-9), math.floor(self.high + 1e-9)
            step = max(1, math.ceil((last - first) / most))
            return [10.0**e for e in range(first, last + 1, step)]
        power = 10 ** math.floor(math.log10((self.high - self.low) / most))
        step = next(f * power for f in (1, 2, 5, 10) if f * power * most >= self.high - self.low)
        return [m * step for m in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)]

    def mark_text(self, value):
        if not self.log:
            return f"{value:.3g}"
        exponent = round(math.log10(value))
        if exponent > -4:
            return f"{value:,.{max(0, -exponent)}f}"
        return "10" + str(exponent).translate(RAISED)


def chart(series, x, y, x_name, y_name):
    """Lines with markers over two axes. `series`: of every line its points, or None where it is left out."""
    left, right, top, bottom = x.start, x.end, y.end, y.start
    out = []
    for value in y.marks(5):
        out += [
            line(left, y(value), right, y(value), "grid"),
            text(left - 6, y(value) + 4, y.mark_text(value), "end", "mark"),
        ]
    for value in x.marks():
        out += [
            line(x(value), top, x(value), bottom, "grid"),
            text(x(value), bottom + 16, x.mark_text(value), "middle", "mark"),
        ]
    for number, points in enumerate(series):
        places = [(x(a), y(b)) for a, b in points]
        out.append(f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in places)}" class="path s{number}"/>')
        out += [marker(a, b, number) for a, b in places] if len(places) <= 40 else []
    out.append(text((left + right) / 2, bottom + 34, x_name, "middle", "axis"))
    middle = (top + bottom) / 2
    out.append(
        f'<text class="axis" text-anchor="middle" transform="translate({left - 44:.1f} {middle:.1f}) rotate(-90)">'
        f"{html.escape(y_name)}</text>"
    )
    return "\n".join(out)
