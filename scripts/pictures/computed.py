"""Pictures whose numbers are computed here, by m4n or by hand: the same on every machine."""

import itertools
import math
import random
import textwrap

import svg

SURROGATES = ("m3n", "m4n", "crf", "qs")
NAMES = [name.upper() for name in SURROGATES]


def excess_risk(m4n, style):
    """The first part of `m4n demo`: a panel for every cost."""
    wide, tall, room = 300, 190, 92
    body = [svg.legend(NAMES, 60, 20)]
    told = []
    for number, study in enumerate(m4n.json("demo")["synthetic"]):
        left, top = 60 + (number % 2) * (wide + 84), 96 + (number // 2) * (tall + room + 26)
        levels = study["levels"]
        curves = [[(level["n"], level["fits"][name]["excess_risk"]) for level in levels] for name in SURROGATES]
        largest = max(excess for points in curves for _, excess in points)
        x = svg.Axis(levels[0]["n"], levels[-1]["n"], left, left + wide, log=True)
        y = svg.Axis(-0.03 * largest, 1.05 * largest, top + tall, top)
        kind, meaning = study["title"].split(": ")
        body.append(svg.text(left, top - 44, kind, css="strong"))
        body += [svg.text(left, top - 28 + 15 * row, words) for row, words in enumerate(textwrap.wrap(meaning, 48))]
        body.append(svg.chart(curves, x, y, "number of examples", "excess risk"))
        ends = ", ".join(f"{name} {points[-1][1]:.2f}" for name, points in zip(NAMES, curves))
        told.append(f"{study['cost_name']} costs: {ends}")
    description = f"Expected cost above the best possible one. With {levels[-1]['n']:,} examples: {'; '.join(told)}."
    return svg.document("Excess risk against the number of examples", description, 784, 646, "\n".join(body), style)


# ---- label noise: five classes on a circle, of which a share of the training labels is replaced by another one

CLASSES, EXAMPLES, FRESH, SEEDS = "abcde", 600, 4000, 4
NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
FEATURES = {"rbf": "rbf kernel", "linear": "linear features"}


def write_circle(path, count, noise, seed):
    draw = random.Random(seed)
    lines = ["x1,x2,label"]
    for _ in range(count):
        label = draw.randrange(len(CLASSES))
        angle = 2 * math.pi * label / len(CLASSES)
        x = [math.cos(angle) + 0.25 * draw.gauss(0, 1), math.sin(angle) + 0.25 * draw.gauss(0, 1)]
        if draw.random() < noise:
            label = (label + 1 + draw.randrange(len(CLASSES) - 1)) % len(CLASSES)
        lines.append(f"{x[0]:.4f},{x[1]:.4f},{CLASSES[label]}")
    path.write_text("\n".join(lines) + "\n")


def clean_errors(m4n, folder):
    """By features and surrogate: the error on clean examples for every share of noise, the mean over some samples."""
    fresh, noisy, model = folder / "fresh.csv", folder / "noisy.csv", folder / "model.m4n"
    write_circle(fresh, FRESH, 0, 99)
    errors = {key: [0.0] * len(NOISE) for key in itertools.product(FEATURES, SURROGATES)}
    for (at, noise), seed in itertools.product(enumerate(NOISE), range(SEEDS)):
        write_circle(noisy, EXAMPLES, noise, seed)
        for features, name in errors:
            options = ("--surrogate", name, "--features", features, "--lambda", "1e-3", "--model", model)
            m4n.json("train", noisy, *options)
            errors[features, name][at] += m4n.json("eval", model, fresh)["loss"] / SEEDS
    return errors


def label_noise(m4n, style, folder):
    """A panel for each kind of features: those that can express the best scores, and those that cannot."""
    errors = clean_errors(m4n, folder)
    body, told = [svg.legend(NAMES, 60, 20)], []
    for number, (features, meaning) in enumerate(FEATURES.items()):
        left = 60 + 384 * number
        x, y = svg.Axis(0, NOISE[-1], left, left + 300), svg.Axis(-0.02, 0.85, 280, 74)
        curves = [list(zip(NOISE, errors[features, name])) for name in SURROGATES]
        body.append(svg.text(left, 58, meaning, css="strong"))
        body.append(svg.chart(curves, x, y, "share of training labels that are wrong", "error on clean examples"))
        for at in (NOISE.index(0.4), NOISE.index(0.6)):
            ends = ", ".join(f"{name.upper()} {errors[features, name][at]:.2f}" for name in SURROGATES)
            told.append(f"{meaning}, {NOISE[at]:.0%} wrong labels: {ends}.")
    description = f"Five classes on a circle, {EXAMPLES} examples. {' '.join(told)}"
    return svg.document("Error under label noise", description, 784, 330, "\n".join(body), style)


# ---- the max-min game of three classes, solved by trying all corners of its pieces

ZERO_ONE = ((0, 1, 1), (1, 0, 1), (1, 1, 0))  # by prediction
CORNERS = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
LEVELS = 12  # between the least and the largest payoff


def payoff(mu, scores, answer):
    return sum((cost + score) * mass for cost, score, mass in zip(ZERO_ONE[answer], scores, mu))


def value(mu, scores):
    return min(payoff(mu, scores, answer) for answer in range(3))


def cut_to(polygon, inside):
    """The part of a convex polygon on the side of a line where inside(point) >= 0, which is linear."""
    out = []
    for a, b in zip(polygon, polygon[1:] + polygon[:1]):
        at_a, at_b = inside(a), inside(b)
        if at_a >= 0:
            out.append(a)
        if at_a * at_b < 0:
            out.append(tuple(p + at_a / (at_a - at_b) * (q - p) for p, q in zip(a, b)))
    return out


def level_line(polygon, height):
    """Where a linear function that vanishes at the level crosses the polygon; None: nowhere."""
    ends = []
    for a, b in zip(polygon, polygon[1:] + polygon[:1]):
        at_a, at_b = height(a), height(b)
        if at_a * at_b < 0:
            ends.append(tuple(p + at_a / (at_a - at_b) * (q - p) for p, q in zip(a, b)))
    return ends if len(ends) == 2 else None


def game_panel(left, scores, title):
    """The max player's triangle, coloured by the min player's answer, with levels of the payoff and the solution."""
    middle, centre, radius = left + 105, 168, 104
    corner = [
        (middle + radius * math.cos(math.radians(a)), centre - radius * math.sin(math.radians(a)))
        for a in (210, 330, 90)
    ]

    def place(mu):
        return tuple(sum(mass * end[axis] for mass, end in zip(mu, corner)) for axis in (0, 1))

    regions = []
    for answer in range(3):
        region = list(CORNERS)
        for other in set(range(3)) - {answer}:
            region = cut_to(region, lambda mu: payoff(mu, scores, other) - payoff(mu, scores, answer))  # noqa: B023
        regions.append(region)
    candidates = [mu for region in regions for mu in region]
    best = max(candidates, key=lambda mu: value(mu, scores))
    low, high = min(value(mu, scores) for mu in candidates), value(best, scores)
    out = [svg.text(middle, 20, title, "middle", "strong")]
    for answer, region in enumerate(regions):
        out.append(svg.polygon([place(mu) for mu in region], f"f{answer} outline"))
        for level in range(1, LEVELS):
            height = low + (high - low) * level / LEVELS
            found = level_line(region, lambda mu: payoff(mu, scores, answer) - height)  # noqa: B023
            if found:
                out.append(svg.line(*place(found[0]), *place(found[1]), "contour"))
    x, y = place(best)
    out += [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.0" class="solution"/>',
        svg.text(corner[0][0], corner[0][1] + 22, "1", "middle"),
        svg.text(corner[1][0], corner[1][1] + 22, "2", "middle"),
        svg.text(corner[2][0], corner[2][1] - 8, "3", "middle"),
    ]
    shown = ", ".join(f"{mass:.2f}" for mass in best)
    out += [svg.text(middle, 272, f"mu = ({shown})", "middle"), svg.text(middle, 290, f"value {high:.2f}", "middle")]
    return "\n".join(out), f"{title}: mu = ({shown}), value {high:.2f}"


def max_min_game(style):
    """For 0-1 costs: scores without an opinion, with two classes in question, with one ahead by more than a margin."""
    panels = [
        game_panel(16 + 226 * number, scores, f"scores ({', '.join(f'{v:g}' for v in scores)})")
        for number, scores in enumerate(((0, 0, 0), (0.9, 0.6, 0), (1.2, 0.1, 0)))
    ]
    told = "; ".join(words for _, words in panels)
    style += ".solution{fill:#fff;stroke:#000;stroke-width:2}"
    body = "\n".join(panel for panel, _ in panels)
    return svg.document("The max-min game of three classes", told, 684, 304, body, style)
