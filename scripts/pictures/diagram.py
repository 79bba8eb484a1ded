"""The way of data through the house, as docs/development.md tells it."""

import svg

# Steps from above to below: name, where it is, what it does, what of the structure it calls, what it hands on.
STEPS = (
    ("read", "src/api, src/data", "finds the structure; defects have file and line", "recognises, read", "Dataset"),
    ("prepare", "src/api, src/features", "options; weights, standardising, features", "check, prepare", "TrainingSet"),
    ("solve", "src/solvers, src/games", "a path of lambdas, each ends by its certificate", "solve", "Solution"),
    ("finish", "src/model", "the common part and the structure's, one file", "finish, write", "Model"),
)


def box(x, y, wide, tall, css):
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{tall:.1f}" rx="6" class="{css}"/>'


def down(x, y1, y2):
    return svg.line(x, y1, x, y2 - 8, "contour") + svg.polygon([(x - 5, y2 - 9), (x + 5, y2 - 9), (x, y2)], "axis")


def right(x1, x2, y):
    return svg.line(x1, y, x2 - 8, y, "contour") + svg.polygon([(x2 - 9, y - 5), (x2 - 9, y + 5), (x2, y)], "axis")


def data_flow(style, rooms):
    """`rooms`: the folders of the structures."""
    left, wide, tall, step = 20, 310, 56, 92
    room, room_wide = 470, 190
    middle = left + wide / 2
    top = 70
    end = top + step * len(STEPS)
    body = [
        svg.text(left, 22, "machinery, by layer", css="axis"),
        svg.text(room, 22, "the structure's room", css="axis"),
        svg.text(middle, 46, "files: CSV, LIBSVM, CoNLL, ..; arrays", "middle"),
        down(middle, 52, top),
        box(room, top, room_wide, end - top - step + tall, "contour"),
        svg.text(room + room_wide / 2, top + 24, "src/structures", "middle", "strong"),
    ]
    body += [svg.text(room + room_wide / 2, top + 56 + 22 * i, name, "middle") for i, name in enumerate(rooms)]
    body += [
        svg.text(room + room_wide / 2, top + 200 + 18 * i, words, "middle", "mark")
        for i, words in enumerate(
            ("each implements Structure:", "what is predicted, its oracles,", "its part of a model")
        )
    ]
    for number, (name, where, what, asks, gives) in enumerate(STEPS):
        y = top + step * number
        body += [
            box(left, y, wide, tall, "h1"),
            box(left, y, wide, tall, "contour"),
            svg.text(left + 12, y + 23, name, css="strong"),
            svg.text(left + wide - 12, y + 23, where, "end", "mark"),
            svg.text(left + 12, y + 44, what),
            right(left + wide, room, y + tall / 2),
            svg.text((left + wide + room) / 2, y + tall / 2 - 7, asks, "middle", "mark"),
            down(middle, y + tall, y + step),
            svg.text(middle + 10, y + tall + 22, gives),
        ]
    body += [
        box(left, end, wide, 40, "contour"),
        svg.text(middle, end + 25, "predict, eval, report, info, dump; Python; C++", "middle"),
    ]
    told = " ".join(
        f"{name} ({where}) {what}, calls {asks} of the structure and gives a {gives}."
        for name, where, what, asks, gives in STEPS
    )
    return svg.document("How a fit flows through the house", told, 690, end + 56, "\n".join(body), style)
