"""Small files of label sets and graphs for the tests, and scores, metrics and the best labelling in plain Python."""

import itertools

import numpy as np
import pytest

TRAIN_KEYS = set(
    "task surrogate loss features n d k lambda smoothing solver decode seed epochs seconds seconds_total primal dual gap "
    "relative_gap converged train_loss norm_squared oracle_calls interrupted model".split()
)
NOT_IN_INFO = {"seconds", "seconds_total", "model"}


def label_sets(n, d, size, seed=0, noise=0.7):
    """Features, and marks 0 or 1 by noisy linear rules; every label is on and off at least once."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    shared = rng.normal(size=(n, 1))  # the labels depend on each other
    marks = (x @ rng.normal(size=(d, size)) + noise * (shared + rng.normal(size=(n, size))) > 0.3).astype(int)
    marks[0], marks[1] = 0, 1
    return x, marks


def write_label_sets(path, x, marks, extra=None, order=None):
    """x1.., y1.. and the columns `extra` ({name: values}) as CSV; `order` shuffles the columns."""
    columns = {f"x{j + 1}": [repr(float(v)) for v in x[:, j]] for j in range(x.shape[1])}
    columns |= {f"y{j + 1}": marks[:, j] for j in range(marks.shape[1])}
    columns |= extra or {}
    names = list(columns) if order is None else [list(columns)[c] for c in order]
    rows = zip(*(columns[name] for name in names))
    path.write_text(",".join(names) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def read_marks(rows, size):
    return np.array([[int(row[f"y{j + 1}"]) for j in range(size)] for row in rows])


def f1(truth, predicted):
    total = truth.sum() + predicted.sum()
    return 2 * (truth & predicted).sum() / total if total else 0


def label_metrics(truth, predicted):
    return {
        "hamming": (truth != predicted).mean(),
        "subset_accuracy": (truth == predicted).all(axis=1).mean(),
        "micro_f1": f1(truth, predicted),
        "macro_f1": np.mean([f1(t, y) for t, y in zip(truth.T, predicted.T)]),
    }


def label_cost(miss, alarm, truth, predicted):
    return np.mean(truth * (1 - predicted) * miss + (1 - truth) * predicted * alarm, axis=1)


def labellings(nodes, values):
    return np.array(list(itertools.product(range(values), repeat=nodes)))


def values_of(unary, edges, everyone):
    """The score of every labelling: unary[m][label], and edges [(u, v, table)]."""
    total = unary[np.arange(len(unary)), everyone].sum(axis=1)
    for u, v, table in edges:
        total = total + np.asarray(table)[everyone[:, u], everyone[:, v]]
    return total


def probabilities(unary, edges, everyone):
    """P(label) of every node under the Gibbs distribution, nodes x labels."""
    value = values_of(unary, edges, everyone)
    p = np.exp(value - value.max())
    p /= p.sum()
    return np.array([[p[everyone[:, m] == a].sum() for a in range(unary.shape[1])] for m in range(len(unary))])


def graphs(sizes, d, labels, seed=0, edge_features=0, types=False):
    """Random graphs as dictionaries: x, label, edges (u, v), edge features, types of nodes and edges."""
    rng = np.random.default_rng(seed)
    rule = rng.normal(size=(d, labels))
    out = []
    for size in sizes:
        x = rng.normal(size=(size, d))
        label = np.argmax(x @ rule + rng.normal(size=(size, labels)), axis=1)
        edges = [(int(rng.integers(m)), m) if rng.random() < 0.5 else (m, int(rng.integers(m))) for m in range(1, size)]
        joined = {frozenset(edge) for edge in edges}
        extra = tuple(rng.choice(size, 2, replace=False)) if size > 2 else ()
        if extra and frozenset(map(int, extra)) not in joined:
            edges.append(tuple(map(int, extra)))
        for u, v in edges:  # neighbours tend to agree
            if rng.random() < 0.6:
                label[v] = label[u]
        graph = {"x": x, "label": label, "edges": edges, "z": rng.normal(size=(len(edges), edge_features))}
        if types:
            graph["node_type"] = rng.integers(2, size=size)
            graph["edge_type"] = rng.integers(2, size=len(edges))
        out.append(graph)
    return out


def graph_text(examples, names="ABCDE", known=True):
    lines = []
    for graph in examples:
        lines.append("graph")
        node_type, edge_type = graph.get("node_type"), graph.get("edge_type")
        for m, (row, label) in enumerate(zip(graph["x"], graph["label"])):
            word = "node" if node_type is None else f"node:{'st'[node_type[m]]}"
            lines.append(" ".join([word, f"n{m}", names[label] if known else "?", *(repr(float(v)) for v in row)]))
        for e, (u, v) in enumerate(graph["edges"]):
            word = "edge" if edge_type is None else f"edge:{'pq'[edge_type[e]]}"
            lines.append(" ".join([word, f"n{u}", f"n{v}", *(repr(float(v)) for v in graph["z"][e])]))
    return "\n".join(lines) + "\n"


def grid(side, label=lambda m: "AB"[m % 2]):
    """The text of a side x side grid."""
    lines = ["graph", *(f"node {m} {label(m)} 1" for m in range(side * side))]
    for m in range(side * side):
        if (m + 1) % side:
            lines.append(f"edge {m} {m + 1}")
        if m + side < side * side:
            lines.append(f"edge {m} {m + side}")
    return "\n".join(lines) + "\n"


class GraphModel:
    """A trained model, from what `m4n dump --json` and `m4n info --json` say."""

    def __init__(self, dump, info):
        self.names = info["classes"]
        self.weight = {(entry["feature"], entry["class"]): entry["weight"] for entry in dump["weights"]}
        self.mean, self.scale = np.array(dump["mean"]), np.array(dump["inverse_scale"])

    def unary(self, graph):
        z = (graph["x"] - self.mean) * self.scale if len(self.scale) else graph["x"]
        types = graph.get("node_type")
        out = []
        for m, row in enumerate(z):
            names = [name if types is None else f"{'st'[types[m]]}:{name}" for name in self.names]
            rows = [*((str(f + 1), value) for f, value in enumerate(row)), ("(bias)", 1)]
            out.append([sum(value * self.weight.get((f, name), 0) for f, value in rows) for name in names])
        return np.array(out)

    def edges(self, graph):
        out = []
        for e, (u, v) in enumerate(graph["edges"]):
            word = "edge" if "edge_type" not in graph else f"edge:{'pq'[graph['edge_type'][e]]}"
            rows = [*((f"({word} {f + 1})", value) for f, value in enumerate(graph["z"][e])), (f"({word})", 1)]
            table = [[sum(value * self.weight.get((f, f"{a} {b}"), 0) for f, value in rows) for b in self.names]
                     for a in self.names]  # fmt: skip
            out.append((u, v, table))
        return out


SIZE = 4
NAMES = [f"y{j}" for j in range(1, SIZE + 1)]
MISS, ALARM = np.array([5.0, 1, 0.5, 2]), np.array([1.0, 1, 3, 2.5])
SURROGATES = ["m4n", "m3n", "crf", "qs"]
EDGES = ["none", "tree", "file"]
COMBINATIONS = [(s, e) for s in SURROGATES for e in EDGES if (s, e) != ("qs", "tree") and (s, e) != ("qs", "file")]


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """40 examples of three features with four labels that depend on each other."""
    x, marks = label_sets(40, 3, SIZE, seed=1)
    return write_label_sets(tmp_path_factory.mktemp("marked") / "marked.csv", x, marks), x, marks


@pytest.fixture
def costs(tmp_path):
    path = tmp_path / "costs.csv"
    rows = [f"{name},{miss},{alarm}" for name, miss, alarm in zip(NAMES, MISS, ALARM)]
    path.write_text("\n".join(["label,miss,false_alarm", *reversed(rows)]) + "\n")
    return path


@pytest.fixture
def edge_option(tmp_path):
    """What --edges is given; the file has a cycle."""

    def option(edges):
        if edges != "file":
            return edges
        path = tmp_path / "edges.csv"
        path.write_text("# a cycle\ny1,y2\ny2 y3\n4\t3\ny1,y4\n")
        return path

    return option


def tables_of(dump, info):
    """[(u, v, table)] of the edges of a model."""
    weight = {(entry["feature"], entry["class"]): entry["weight"] for entry in dump["weights"]}
    out = []
    for first, second in info.get("graph", {}).get("edges", []):
        table = [[weight.get((f"(edge {first} {second})", f"{a}{b}"), 0) for b in (0, 1)] for a in (0, 1)]
        out.append((NAMES.index(first), NAMES.index(second), table))
    return out
