"""Pictures of times, from the small files in docs/pictures/data; each says in its head which command measured it."""

import csv

import svg


def rows_of(path):
    """A CSV file with a header, behind lines of comments."""
    with open(path, newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def gap_over_time(data, style):
    """The certified relative gap over the seconds of training: the paper's algorithm and the solvers of this house."""
    curves = {}
    for row in rows_of(data / "gap.csv"):
        curves.setdefault(row["solver"], []).append((float(row["seconds"]), float(row["relative_gap"])))
    every = [point for points in curves.values() for point in points]
    seconds, gaps = [p[0] for p in every], [p[1] for p in every]
    x = svg.Axis(min(seconds) / 1.3, max(seconds) * 1.3, 64, 660, log=True)
    y = svg.Axis(min(gaps) / 1.3, 1, 330, 50, log=True)
    last = {name: points[-1] for name, points in curves.items()}
    body = [
        svg.legend(list(curves), 64, 20),
        svg.chart(list(curves.values()), x, y, "seconds of training, one thread", "relative duality gap"),
    ]
    description = "; ".join(f"{name}: {gap:.1e} after {seconds:.2g} s" for name, (seconds, gap) in last.items())
    return svg.document("Certified gap against time, letter data", description, 680, 380, "\n".join(body), style)


def speed_beside_peers(data, style):
    """How many times as fast as a peer at the same task: bars from one, the peer."""
    rows = rows_of(data / "peers.csv")
    ratios = [float(row["peer_seconds"]) / float(row["m4n_seconds"]) for row in rows]
    tall, top, left = 28, 8, 296
    bottom = top + tall * len(rows)
    x = svg.Axis(0, max(ratios), left, 620)
    body = []
    for value in x.marks(8):
        body += [
            svg.line(x(value), top, x(value), bottom, "grid"),
            svg.text(x(value), bottom + 16, x.mark_text(value), "middle", "mark"),
        ]
    for number, (row, ratio) in enumerate(zip(rows, ratios)):
        y = top + tall * number
        body += [
            svg.text(left - 8, y + 18, f"{row['peer']}: {row['task']}", "end"),
            f'<rect x="{left:.1f}" y="{y + 6:.1f}" width="{x(ratio) - left:.1f}" height="16" class="bar chosen"/>',
            f'<rect x="{x(ratio) + 2:.1f}" y="{y + 6:.1f}" width="38" height="16" class="paper"/>',
            svg.text(x(ratio) + 6, y + 18, f"{ratio:.1f}x", css="strong"),
        ]
    body += [
        svg.line(x(1), top, x(1), bottom, "even"),
        svg.text((left + x.end) / 2, bottom + 34, "times as fast as the peer (dashed: as fast)", "middle", "axis"),
    ]
    style += ".even{stroke:#fff;stroke-width:1.5;stroke-dasharray:4 3}"
    description = "; ".join(
        f"{row['task']}: {row['m4n_seconds']} s, {row['peer']} {row['peer_seconds']} s" for row in rows
    )
    return svg.document("Speed beside peers, one thread", description, 680, bottom + 46, "\n".join(body), style)
