"""Graphs: train, predict, eval, cv, info, dump, generate against all labellings; types, edge features, signals."""

import json
import time

import numpy as np
import pytest
from conftest import DONE, NOT_CONVERGED, write_csv
from label_files import (
    NOT_IN_INFO,
    TRAIN_KEYS,
    GraphModel,
    graph_text,
    graphs,
    grid,
    labellings,
    probabilities,
    values_of,
)

SURROGATES = ["m4n", "m3n", "crf"]
KINDS = {
    "plain": {},
    "features": {"edge_features": 2},
    "types": {"types": True},
    "both": {"edge_features": 1, "types": True},
}
COST = np.array([[0, 1, 4], [2, -0.5, 1], [1, 3, 0]])
GRAPH_KEYS = TRAIN_KEYS | {"nodes"}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """{kind: (file, graphs)}: 25 graphs of 1 to 6 nodes, two features and three labels."""
    folder = tmp_path_factory.mktemp("graphs")
    out = {}
    for number, (kind, options) in enumerate(KINDS.items()):
        examples = graphs([1 + i % 6 for i in range(25)], 2, 3, seed=number + 1, **options)
        path = folder / f"{kind}.txt"
        path.write_text(graph_text(examples))
        out[kind] = path, examples
    return out


@pytest.fixture
def costs(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text(",A,B,C\n" + "".join(f"{name}," + ",".join(map(str, row)) + "\n" for name, row in zip("ABC", COST)))
    return path


def predicted_labels(rows, examples):
    """The labels of prediction rows, a list per graph."""
    at = iter(rows)
    out = []
    for number, graph in enumerate(examples, 1):
        own = [next(at) for _ in graph["label"]]
        assert [row["graph"] for row in own] == [str(number)] * len(own)
        assert [row["node"] for row in own] == [f"n{m}" for m in range(len(own))]
        out.append(np.array(["ABC".index(row["label"]) for row in own]))
    assert next(at, None) is None
    return out


def test_generated_graphs(m4n, tmp_path):
    path = tmp_path / "g.txt"
    report = m4n.json("generate", "--task", "graph", "--n", 60, "--seed", 3, "--out", path)
    text = path.read_text()
    assert text.splitlines().count("graph") == 60 and (report["n"], report["d"], report["k"], report["seed"]) == (
        60,
        6,
        3,
        3,
    )
    assert 0 < report["bayes_risk"] < 2 / 3
    longer = m4n("generate", "--task", "graph", "--n", 80, "--seed", 3, expect=DONE).stdout
    assert longer.startswith(text) and longer.splitlines().count("graph") == 80
    assert m4n("generate", "--task", "graph", "--n", 60, "--seed", 4, expect=DONE).stdout != text


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_much_data_brings_the_loss_near_the_bayes_risk(m4n, tmp_path, surrogate):
    learn, judge = tmp_path / "learn.txt", tmp_path / "judge.txt"
    m4n("generate", "--task", "graph", "--n", 300, "--seed", 5, "--out", learn, expect=DONE)
    risk = m4n.json("generate", "--task", "graph", "--n", 1000, "--seed", 6, "--out", judge)["bayes_risk"]
    lambda_ = 0.003 if surrogate == "crf" else 0.03
    m4n.train(
        learn, tmp_path / "m.m4n", "--surrogate", surrogate, "--lambda", lambda_, "--tol", "1e-2", "--time-limit", 15
    )
    found = m4n.json("eval", tmp_path / "m.m4n", judge)["loss"]
    assert risk - 0.02 < found < risk + (0.02 if surrogate == "crf" else 0.05)


def test_json_keys_and_the_guess(m4n, drawn, tmp_path):
    path, examples = drawn["plain"]
    result = m4n("train", path, "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert result.stdout.count("\n") == 1 and "task graph, guessed" in result.stderr
    report = json.loads(result.stdout)
    assert set(report) == GRAPH_KEYS
    nodes = sum(len(graph["label"]) for graph in examples)
    assert (report["n"], report["d"], report["k"], report["nodes"]) == (25, 2, 3, nodes)
    assert (report["task"], report["surrogate"], report["loss"], report["features"]) == (
        "graph",
        "m4n",
        "hamming",
        "linear",
    )
    assert (report["solver"], report["decode"]) == ("atoms", "argmax")
    assert report["converged"] and 0 <= report["relative_gap"] <= 1e-3


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_default_lambda(m4n, drawn, tmp_path, surrogate):
    path, examples = drawn["plain"]
    report = m4n.train(path, tmp_path / "m.m4n", "--surrogate", surrogate)
    nodes = report["nodes"] / 25 if surrogate != "crf" else 1  # their loss is an average over nodes
    assert report["lambda"] == pytest.approx(nodes / 25, rel=1e-15)


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "matrix"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("surrogate", SURROGATES)
def test_every_kind_with_every_surrogate(m4n, drawn, tmp_path, costs, surrogate, kind, uneven):
    """What was said of training is what eval, predict and info say; predictions are the best of all labellings."""
    path, examples = drawn[kind]
    model = tmp_path / "m.m4n"
    report = m4n.train(path, model, "--surrogate", surrogate, *(["--loss", costs] if uneven else []))
    assert report["dual"] <= report["primal"] and report["converged"]
    assert report["loss"] == ("matrix" if uneven else "hamming")
    assert report["decode"] == {"crf": "expected", "m4n": "adversary" if uneven else "argmax"}.get(surrogate, "argmax")
    info = m4n.json("info", model)
    for key in GRAPH_KEYS - NOT_IN_INFO:
        assert info[key] == report[key], key
    typed = "types" in KINDS[kind]
    assert sorted(info["graph"]["node_types"]) == (["s", "t"] if typed else [])
    assert sorted(info["graph"]["edge_types"]) == (["p", "q"] if typed else [])
    assert info["graph"]["edge_features"] == KINDS[kind].get("edge_features", 0)

    rows = m4n.predict(model, path, *(["--marginals"] if surrogate == "crf" else []))
    found = predicted_labels(rows, examples)
    cost = COST if uneven else 1 - np.eye(3)
    loss = np.mean([cost[graph["label"], y].mean() for graph, y in zip(examples, found)])
    assert loss == pytest.approx(report["train_loss"], abs=1e-12)
    judged = m4n.json("eval", model, path)
    assert judged["loss"] == pytest.approx(loss, abs=1e-12)
    right = np.concatenate([graph["label"] == y for graph, y in zip(examples, found)])
    whole = np.mean([(graph["label"] == y).all() for graph, y in zip(examples, found)])
    assert judged["metrics"]["node_accuracy"] == pytest.approx(right.mean(), abs=1e-12)
    assert judged["metrics"]["graph_accuracy"] == pytest.approx(whole, abs=1e-12)
    assert np.sum(judged["metrics"]["confusion"]) == right.size == judged["nodes"]

    weights = GraphModel(m4n.json("dump", model), info)
    at = 0
    for graph, y in zip(examples, found):
        unary, tables, everyone = weights.unary(graph), weights.edges(graph), labellings(len(y), 3)
        if report["decode"] == "argmax":
            value = values_of(unary, tables, y[None])[0]
            assert value == pytest.approx(values_of(unary, tables, everyone).max(), rel=1e-9, abs=1e-9)
        if surrogate == "crf":
            p = probabilities(unary, tables, everyone)
            shown = [[float(row[f"p_{name}"]) for name in "ABC"] for row in rows[at : at + len(y)]]
            np.testing.assert_allclose(shown, p, rtol=1e-8, atol=1e-12)
            expected = p @ cost
            np.testing.assert_allclose(expected[np.arange(len(y)), y], expected.min(axis=1), rtol=1e-9, atol=1e-12)
        at += len(y)


@pytest.mark.parametrize("surrogate", SURROGATES)
def test_graphs_of_one_node_are_classes(m4n, tmp_path, surrogate):
    examples = graphs([1] * 40, 2, 3, seed=9)
    path = tmp_path / "g.txt"
    path.write_text(graph_text(examples))
    classes = write_csv(
        tmp_path / "c.csv", np.vstack([g["x"] for g in examples]), ["ABC"[g["label"][0]] for g in examples]
    )
    options = ["--surrogate", surrogate, "--lambda", 0.05, "--tol", "1e-9", "--epochs", 100000]
    one = m4n.train(path, tmp_path / "g.m4n", *options)
    two = m4n.train(classes, tmp_path / "c.m4n", *options)
    assert one["primal"] == pytest.approx(two["primal"], rel=2e-9)
    assert one["train_loss"] == pytest.approx(two["train_loss"], abs=1e-12)
    found = [row["label"] for row in m4n.predict(tmp_path / "g.m4n", path)]
    assert found == [row["label"] for row in m4n.predict(tmp_path / "c.m4n", classes)]


def test_graphs_of_two_labels_are_label_sets(m4n, tmp_path):
    """Two nodes and an edge in every graph, each node with features of its own by its type: label sets with an edge."""
    rng = np.random.default_rng(11)
    x, marks = rng.normal(size=(30, 2)), rng.integers(0, 2, (30, 2))
    sets = tmp_path / "sets.csv"
    sets.write_text("x1,x2,y1,y2\n" + "".join(f"{a!r},{b!r},{y},{z}\n" for (a, b), (y, z) in zip(x.tolist(), marks)))
    joined = tmp_path / "edges"
    joined.write_text("y1,y2\n")
    path = tmp_path / "g.txt"
    path.write_text("".join(f"graph\nnode:1 a {y} {a!r} {b!r}\nnode:2 b {z} {a!r} {b!r}\nedge a b\n"
                            for (a, b), (y, z) in zip(x.tolist(), marks)))  # fmt: skip
    for surrogate in SURROGATES:
        options = ["--surrogate", surrogate, "--lambda", 0.05, "--tol", "1e-8", "--epochs", 20000]
        one = m4n.train(path, tmp_path / "g.m4n", *options)
        two = m4n.train(sets, tmp_path / "s.m4n", "--edges", joined, *options)
        assert one["primal"] == pytest.approx(two["primal"], rel=2e-8)
        assert one["train_loss"] == pytest.approx(two["train_loss"], abs=1e-12)


@pytest.mark.parametrize("options", [[], ["--surrogate", "m3n", "--bias", "no"], ["--surrogate", "crf", "--standardize", "no"],
                                     ["--decode", "adversary"], ["--surrogate", "crf", "--decode", "argmax"]],
                         ids=" ".join)  # fmt: skip
def test_same_bytes_for_any_threads(m4n, drawn, tmp_path, options):
    path, _ = drawn["both"]
    for name, threads in (("a", 1), ("b", 3), ("c", 1)):
        m4n.train(path, tmp_path / name, "--threads", threads, "--seed", 5, *options)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    assert len({m4n("predict", tmp_path / "a", path, "--threads", t, expect=DONE).stdout for t in (1, 3)}) == 1


def test_labels_may_be_unknown_to_predict_and_unseen_in_eval(m4n, drawn, tmp_path):
    path, examples = drawn["types"]
    m4n.train(path, tmp_path / "m.m4n")
    unknown = tmp_path / "unknown.txt"
    unknown.write_text(graph_text(examples, known=False))
    first, second = (m4n("predict", tmp_path / "m.m4n", data, expect=DONE).stdout for data in (path, unknown))
    assert first == second
    other = tmp_path / "other.txt"
    other.write_text(graph_text(examples, names="ABZ"))
    result = m4n("eval", tmp_path / "m.m4n", other, "--json", expect=DONE)
    report, usual = json.loads(result.stdout), m4n.json("eval", tmp_path / "m.m4n", path)
    assert "never seen" in result.stderr and "'Z'" in result.stderr
    assert report["unseen"] == usual["labels"]["C"]["actual"] and report["loss"] >= usual["loss"]


def test_json_predictions(m4n, drawn, tmp_path):
    path, examples = drawn["plain"]
    m4n.train(path, tmp_path / "m.m4n", "--surrogate", "crf")
    answer = m4n.json("predict", tmp_path / "m.m4n", path, "--marginals")
    rows = m4n.predict(tmp_path / "m.m4n", path, "--marginals")
    assert answer["n"] == 25 and answer["classes"] == ["A", "B", "C"]
    assert sum(answer["label"], []) == [row["label"] for row in rows]
    assert sum(answer["node"], []) == [row["node"] for row in rows]
    assert sum(answer["marginals"], []) == [[float(row[f"p_{name}"]) for name in "ABC"] for row in rows]
    assert np.sum(sum(answer["marginals"], []), axis=1) == pytest.approx([1] * len(rows))
    assert "marginals" not in m4n.json("predict", tmp_path / "m.m4n", path)


def test_gzip_standard_input_and_the_bootstrap(m4n, drawn, tmp_path):
    path, _ = drawn["features"]
    m4n.same_from_gzip_and_standard_input(path, tmp_path)
    report = m4n.json("eval", tmp_path / "a", path, "--bootstrap", 50)
    interval = report["bootstrap"]["metrics"]["node_accuracy"]
    assert interval["low"] < report["metrics"]["node_accuracy"] < interval["high"] and interval["se"] > 0
    assert m4n.json("eval", tmp_path / "a", path, "--bootstrap", 50, "--threads", 1) == report


def test_text_reports(m4n, drawn, tmp_path):
    result = m4n("train", drawn["types"][0], "--model", tmp_path / "m.m4n", "--quiet", expect=DONE)
    assert result.stderr == "" and "converged" in result.stdout and "25 graphs" in result.stdout
    assert "25 graphs" in m4n("info", tmp_path / "m.m4n", expect=DONE).stdout
    text = m4n("eval", tmp_path / "m.m4n", drawn["types"][0], expect=DONE).stdout
    assert "node_accuracy" in text and "graph_accuracy" in text and "\nA " in text


def test_cv(m4n, drawn, tmp_path):
    path, _ = drawn["both"]
    options = ["--splits", 3, "--lambdas", "1,0.1", "--extend", "no", "--seed", 2, "--surrogates", "auto"]
    report = m4n.json("cv", path, *options, "--model", tmp_path / "m.m4n")
    assert {row["surrogate"] for row in report["results"]} == set(SURROGATES) and report["splits"] == 3
    assert m4n.json("info", tmp_path / "m.m4n")["lambda"] == report["best_lambda"]
    again = m4n.json("cv", path, *options, "--threads", 1)
    for key in ("curve", "test_mean", "test_se", "best_lambda", "best_surrogate"):
        assert again[key] == report[key], key
    folds = m4n.json("cv", path, "--folds", 4, "--surrogates", "crf", "--lambdas", "0.1", "--extend", "no")
    assert folds["splits"] == 4 and 0 <= folds["test_mean"] <= 1


def test_a_small_grid_is_learnt(m4n, tmp_path):
    data = tmp_path / "grid.txt"
    data.write_text(grid(8))
    for surrogate in SURROGATES:
        report = m4n.train(
            data, tmp_path / "m.m4n", "--surrogate", surrogate, "--lambda", "1e-3", "--tol", "1e-2", "--time-limit", 10
        )
        assert report["dual"] <= report["primal"] and report["nodes"] == 64


def test_limits(m4n, drawn, tmp_path):
    hard = ["--lambda", "1e-7", "--tol", "1e-12", "--epochs", 1000000000]
    started = time.monotonic()
    report = m4n.train(drawn["plain"][0], tmp_path / "m.m4n", *hard, "--time-limit", 0.3)
    assert not report["converged"] and report["dual"] <= report["primal"] and time.monotonic() - started < 15
    m4n("train", drawn["plain"][0], "--model", tmp_path / "m.m4n", *hard, "--time-limit", 0.1, "--require-converged",
        expect=NOT_CONVERGED)  # fmt: skip


@pytest.mark.parametrize("surrogate", ["m4n", "m3n"])
def test_a_signal_saves_and_exits_with_130(m4n, drawn, tmp_path, surrogate):
    path, model = drawn["plain"][0], tmp_path / "m.m4n"
    report = m4n.interrupted_training(path, model, "--surrogate", surrogate, "--lambda", "1e-9")
    assert len(m4n.predict(model, path)) == report["nodes"]
