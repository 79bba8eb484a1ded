"""Label sets: train, predict, eval, cv, info, dump, generate against plain Python; costs, edges, columns, signals."""

import gzip
import json
import math
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import DONE, INTERRUPTED, NOT_CONVERGED, write_csv
from label_files import (
    NOT_IN_INFO,
    TRAIN_KEYS,
    label_cost,
    label_metrics,
    label_sets,
    labellings,
    probabilities,
    read_marks,
    values_of,
    write_label_sets,
)

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


def test_generated_label_sets(m4n, tmp_path):
    path = tmp_path / "a.csv"
    report = m4n.json("generate", "--task", "multilabel", "--n", 70, "--seed", 3, "--out", path)
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    d, k = report["d"], report["k"]
    assert header == [f"x{j}" for j in range(1, d + 1)] + [f"y{j}" for j in range(1, k + 1)] and len(rows) == 70
    assert all(sorted(row[:d]) == ["0"] * (d - 1) + ["1"] and set(row[d:]) <= {"0", "1"} for row in rows)
    assert (report["n"], report["seed"]) == (70, 3) and 0 < report["bayes_risk"] < 0.5
    longer = m4n("generate", "--task", "multilabel", "--n", 90, "--seed", 3, expect=DONE).stdout
    assert longer.startswith(path.read_text()) and longer.count("\n") == 91
    assert m4n("generate", "--task", "multilabel", "--n", 70, "--seed", 4, expect=DONE).stdout != path.read_text()


@pytest.mark.parametrize("surrogate, edges", [(s, e) for s, e in COMBINATIONS if e != "file"])
def test_much_data_brings_the_loss_near_the_bayes_risk(m4n, tmp_path, surrogate, edges):
    learn, judge = tmp_path / "learn.csv", tmp_path / "judge.csv"
    risk = m4n.json("generate", "--task", "multilabel", "--n", 3000, "--seed", 5, "--out", learn)["bayes_risk"]
    m4n("generate", "--task", "multilabel", "--n", 6000, "--seed", 6, "--out", judge, expect=DONE)
    # The frequencies of a region are the best rule; no model of these columns can be better.
    table = np.loadtxt(judge, delimiter=",", skiprows=1)
    d = m4n.json("generate", "--task", "multilabel", "--n", 1, "--out", tmp_path / "one.csv")["d"]
    regions, marks = table[:, :d].argmax(axis=1), table[:, d:]
    rates = np.array([marks[regions == r].mean(axis=0) for r in range(d)])
    assert np.minimum(rates, 1 - rates).mean() == pytest.approx(risk, abs=0.01)
    m4n.train(learn, tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edges, "--tol", "1e-2", "--time-limit", 10)
    found = m4n.json("eval", tmp_path / "m.m4n", judge)["loss"]
    assert risk - 0.02 < found < risk + 0.03


def test_json_keys_and_the_guess(m4n, marked, tmp_path):
    result = m4n("train", marked[0], "--model", tmp_path / "m.m4n", "--json", expect=DONE)
    assert result.stdout.count("\n") == 1 and "task multilabel, guessed" in result.stderr
    report = json.loads(result.stdout)
    assert set(report) == TRAIN_KEYS
    assert (report["n"], report["d"], report["k"], report["features"]) == (40, 3, SIZE, "linear")
    assert (report["task"], report["surrogate"], report["loss"]) == ("multilabel", "m4n", "hamming")
    assert (report["solver"], report["decode"]) == ("prox", "argmax")
    assert report["converged"] and 0 <= report["relative_gap"] <= 1e-3


@pytest.mark.parametrize("surrogate, edges", COMBINATIONS)
def test_default_lambda(m4n, marked, tmp_path, edge_option, surrogate, edges):
    report = m4n.train(marked[0], tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edge_option(edges))
    labels = SIZE if surrogate in ("m4n", "m3n") else 1  # their loss is an average over labels
    assert report["lambda"] == pytest.approx(labels / 40, rel=1e-15)


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "costs"])
@pytest.mark.parametrize("surrogate, edges", COMBINATIONS)
def test_every_way_with_every_surrogate(m4n, marked, tmp_path, costs, edge_option, surrogate, edges, uneven):
    """What was said of training is what eval, predict and info say; predictions are the best of their scores."""
    path, _, truth = marked
    model = tmp_path / "m.m4n"
    options = ["--surrogate", surrogate, "--edges", edge_option(edges), *(["--loss", costs] if uneven else [])]
    report = m4n.train(path, model, "--task", "multilabel", *options)
    assert report["dual"] <= report["primal"] and report["converged"]
    assert report["loss"] == ("costs" if uneven else "hamming")
    joined = edges != "none"
    assert report["decode"] == {"crf": "expected", "m4n": "adversary" if uneven else "argmax"}.get(surrogate, "argmax")
    info = m4n.json("info", model)
    for key in TRAIN_KEYS - NOT_IN_INFO:
        assert info[key] == report[key], key
    assert info["classes"] == NAMES
    if uneven:
        np.testing.assert_array_equal(np.ravel(info["cost"]), np.concatenate([MISS, ALARM]))

    rows = m4n.predict(model, path, "--scores", *(["--marginals"] if surrogate == "crf" else []))
    predicted = read_marks(rows, SIZE)
    miss, alarm = (MISS, ALARM) if uneven else (1, 1)
    assert label_cost(miss, alarm, truth, predicted).mean() == pytest.approx(report["train_loss"], abs=1e-12)
    assert m4n.json("eval", model, path)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)

    tables = tables_of(m4n.json("dump", model), info)
    assert len(tables) == {"none": 0, "tree": SIZE - 1, "file": 4}[edges]
    everyone = labellings(SIZE, 2)
    for row, y in zip(rows, predicted):
        if joined:
            unary = np.array([[float(row[f"score_{name}_{a}"]) for a in (0, 1)] for name in NAMES])
        else:
            unary = np.array([[-1, 1]]) * np.array([[float(row[f"score_{name}"])] for name in NAMES])
        if report["decode"] == "argmax":
            value = values_of(unary, tables, y[None])[0]
            assert value == pytest.approx(values_of(unary, tables, everyone).max(), rel=1e-9, abs=1e-12)
        if surrogate == "crf":
            p = probabilities(unary, tables, everyone)[:, 1]
            np.testing.assert_allclose([float(row[f"p_{name}"]) for name in NAMES], p, rtol=1e-9, atol=1e-12)
            if report["decode"] == "expected":
                np.testing.assert_array_equal(y, p * miss > (1 - p) * alarm)
        if surrogate == "m4n" and uneven and not joined:
            np.testing.assert_array_equal(y, unary[:, 1] > (ALARM - MISS) / (4 * SIZE))


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "costs"])
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_labels_apart_are_classes(m4n, marked, tmp_path, costs, surrogate, uneven):
    """Without edges: one problem of two classes a label, with scores s and -s, the costs divided by M, and the same lambda.
    Costs divided by M are the costs themselves with scores M times as large: lambda / M, and the objective divided by M."""
    path, x, marks = marked
    strict = ["--surrogate", surrogate, "--tol", "1e-11", "--epochs", 100000]
    lambda_ = 0.02
    together = m4n.train(path, tmp_path / "m.m4n", "--lambda", lambda_, *strict, *(["--loss", costs] if uneven else []))
    averaged = surrogate != "crf"
    miss, alarm = (MISS, ALARM) if uneven else (np.ones(SIZE), np.ones(SIZE))
    scores = m4n.predict(tmp_path / "m.m4n", path, "--scores")
    primal, norm, shared, loss = [], [], [], 0
    for j in range(SIZE):
        own = write_csv(tmp_path / "own.csv", x, marks[:, j])
        matrix = tmp_path / "matrix.csv"
        scale = SIZE if averaged else 1
        matrix.write_text(f"0,{float(alarm[j] / scale)!r}\n{float(miss[j] / scale)!r},0\n")
        apart = m4n.train(own, tmp_path / "c.m4n", "--task", "multiclass", "--lambda", lambda_, "--loss", matrix, *strict)
        primal.append(apart["primal"])
        norm.append(apart["norm_squared"])
        loss += apart["train_loss"] * scale / SIZE
        rows = m4n.predict(tmp_path / "c.m4n", own, "--scores")
        assert [row["label"] for row in rows] == [row[f"y{j + 1}"] for row in scores]
        np.testing.assert_allclose([float(row[f"score_y{j + 1}"]) for row in scores], [float(row["score_1"]) for row in rows],
                                   atol=1e-4)  # fmt: skip
        if not uneven:
            scaled = lambda_ / SIZE if averaged else lambda_
            usual = m4n.train(own, tmp_path / "c.m4n", "--task", "multiclass", "--lambda", repr(scaled), *strict)
            shared.append(usual["primal"] / scale)
    assert together["converged"]
    assert together["primal"] == pytest.approx(math.fsum(primal), rel=1e-10)
    assert together["norm_squared"] == pytest.approx(math.fsum(norm), rel=1e-5)
    assert together["train_loss"] == pytest.approx(loss, abs=1e-12)
    if shared:
        assert together["primal"] == pytest.approx(math.fsum(shared), rel=1e-10)


@pytest.mark.parametrize("uneven", [False, True], ids=["hamming", "costs"])
def test_qs_is_least_squares(m4n, marked, tmp_path, costs, uneven):
    path, x, marks = marked
    report = m4n.train(path, tmp_path / "m.m4n", "--surrogate", "qs", "--lambda", 0.05, "--tol", "1e-12", "--standardize", "no",
                       *(["--loss", costs] if uneven else []))  # fmt: skip
    miss, alarm = (MISS, ALARM) if uneven else (1, 1)
    z, target = np.c_[x, np.ones(40)], np.where(marks == 1, miss, np.negative(alarm)) / 2
    weights = np.linalg.solve(z.T @ z / 40 + 0.05 * np.eye(4), z.T @ target / 40)
    value = ((z @ weights - target) ** 2).sum() / 40 + 0.05 * (weights**2).sum()
    assert report["primal"] == pytest.approx(value, rel=1e-11)
    assert report["norm_squared"] == pytest.approx(2 * (weights**2).sum(), rel=1e-9)
    rows = m4n.predict(tmp_path / "m.m4n", path, "--scores")
    np.testing.assert_allclose([[float(row[f"score_{name}"]) for name in NAMES] for row in rows], z @ weights, atol=1e-9)


def test_one_label_is_two_classes(m4n, tmp_path):
    x, marks = label_sets(30, 2, 1, seed=4)
    data = write_label_sets(tmp_path / "one.csv", x, marks)
    classes = write_csv(tmp_path / "classes.csv", x, marks[:, 0])
    for surrogate in ("m4n", "m3n", "crf"):
        options = ["--surrogate", surrogate, "--lambda", 0.1, "--tol", "1e-10", "--epochs", 100000]
        for edges in ([], ["--edges", "none"], ["--edges", "tree"]):
            one = m4n.train(data, tmp_path / "m.m4n", "--task", "multilabel", *edges, *options)
            two = m4n.train(classes, tmp_path / "c.m4n", *options)
            assert one["primal"] == pytest.approx(two["primal"], rel=1e-9)
            found = [row["y1"] for row in m4n.predict(tmp_path / "m.m4n", data)]
            assert found == [row["label"] for row in m4n.predict(tmp_path / "c.m4n", classes)]
            assert set(m4n.json("eval", tmp_path / "m.m4n", data)["metrics"]) == {"hamming", "subset_accuracy", "micro_f1", "macro_f1"}


@pytest.mark.parametrize("options", [
    [],
    ["--edges", "tree"],
    ["--surrogate", "m3n", "--edges", "tree", "--bias", "no"],
    ["--surrogate", "crf", "--edges", "tree"],
    ["--surrogate", "crf", "--standardize", "no"],
    ["--surrogate", "crf", "--features", "nystrom", "--components", "7", "--edges", "tree"],
    ["--surrogate", "qs", "--features", "fourier", "--components", "9"],
    ["--surrogate", "m3n", "--features", "rbf"],
    ["--features", "laplacian", "--edges", "tree"],
], ids=" ".join)  # fmt: skip
def test_same_bytes_for_any_threads(m4n, marked, tmp_path, options):
    for name, threads in (("a", 1), ("b", 3), ("c", 1)):
        m4n.train(marked[0], tmp_path / name, "--threads", threads, "--seed", 5, *options)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    outputs = {m4n("predict", tmp_path / "a", marked[0], "--scores", "--threads", t, expect=DONE).stdout for t in (1, 3)}
    assert len(outputs) == 1


@pytest.mark.parametrize("features", ["rbf", "laplacian", "poly", "rbf-centers", "nystrom", "fourier"])
@pytest.mark.parametrize("surrogate, edges", [("m4n", "none"), ("m4n", "tree"), ("m3n", "none"), ("crf", "tree"), ("crf", "none"),
                                              ("qs", "none")])  # fmt: skip
def test_features(m4n, marked, tmp_path, features, surrogate, edges):
    path, _, truth = marked
    report = m4n.train(path, tmp_path / "m.m4n", "--features", features, "--surrogate", surrogate, "--edges", edges, "--lambda", 0.05,
                       "--epochs", 20000)  # fmt: skip
    assert report["converged"] and report["features"] == features
    predicted = read_marks(m4n.predict(tmp_path / "m.m4n", path), SIZE)
    assert (truth != predicted).mean() == pytest.approx(report["train_loss"], abs=1e-12)
    assert m4n.json("eval", tmp_path / "m.m4n", path)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)


def test_a_kernel_of_many_labels_is_that_of_each(m4n, marked, tmp_path):
    path, x, marks = marked
    options = ["--features", "rbf", "--gamma", 0.3, "--lambda", 0.05, "--surrogate", "crf", "--tol", "1e-9"]
    together = m4n.train(path, tmp_path / "m.m4n", *options)
    apart = [m4n.train(write_csv(tmp_path / "own.csv", x, marks[:, j]), tmp_path / "c.m4n", *options)["primal"] for j in range(SIZE)]
    assert together["primal"] == pytest.approx(sum(apart), rel=1e-8)


def test_edges_without_use_change_nothing(m4n, marked, tmp_path):
    """A huge lambda leaves no room for tables; edges can only lower the objective."""
    for surrogate in ("m4n", "m3n", "crf"):
        options = ["--surrogate", surrogate, "--tol", "1e-6", "--lambda"]
        apart, tree = (m4n.train(marked[0], tmp_path / "m.m4n", "--edges", e, *options, 0.03) for e in ("none", "tree"))
        assert tree["primal"] < apart["primal"] and tree["dual"] <= apart["primal"]
        apart, tree = (m4n.train(marked[0], tmp_path / "m.m4n", "--edges", e, *options, 1e6) for e in ("none", "tree"))
        assert tree["primal"] == pytest.approx(apart["primal"], rel=1e-5)


def test_a_tree_joins_the_labels_that_tell_about_each_other(m4n, tmp_path):
    rng = np.random.default_rng(7)
    first, third = rng.integers(0, 2, (2, 200))
    noisy = lambda marks: np.where(rng.random(200) < 0.1, 1 - marks, marks)  # noqa: E731
    marks = np.c_[first, noisy(third), third, noisy(first)]
    data = write_label_sets(tmp_path / "data.csv", rng.normal(size=(200, 2)), marks)
    m4n.train(data, tmp_path / "m.m4n", "--edges", "tree", "--surrogate", "crf")
    edges = {frozenset(edge) for edge in m4n.json("info", tmp_path / "m.m4n")["graph"]["edges"]}
    assert {frozenset(("y1", "y4")), frozenset(("y2", "y3"))} < edges and len(edges) == 3


def test_dump_gives_the_scores(m4n, marked, tmp_path):
    path, x, _ = marked
    for edges in ("none", "tree"):
        m4n.train(path, tmp_path / "m.m4n", "--edges", edges)
        dump = m4n.json("dump", tmp_path / "m.m4n")
        rows = m4n.predict(tmp_path / "m.m4n", path, "--scores")
        names = [key[6:] for key in rows[0] if key.startswith("score_")]
        assert len(names) == (SIZE if edges == "none" else 2 * SIZE)
        z = (x - dump["mean"]) * dump["inverse_scale"]
        weight = {(entry["feature"], entry["class"]): entry["weight"] for entry in dump["weights"]}
        for name in names:
            own = z @ [weight.get((f"x{j}", name), 0) for j in range(1, 4)] + weight.get(("(bias)", name), 0)
            np.testing.assert_allclose([float(row["score_" + name]) for row in rows], own, rtol=1e-9, atol=1e-12)
        sizes = [abs(entry["weight"]) for entry in dump["weights"]]
        assert sizes == sorted(sizes, reverse=True)
        table = m4n("dump", tmp_path / "m.m4n", expect=DONE).stdout.splitlines()
        assert table[0] == "feature,class,weight" and len(table) == 1 + len(dump["weights"])


def test_metrics_and_the_bootstrap(m4n, marked, tmp_path):
    path, _, truth = marked
    m4n.train(path, tmp_path / "m.m4n", "--lambda", 1)
    predicted = read_marks(m4n.predict(tmp_path / "m.m4n", path), SIZE)
    report = m4n.json("eval", tmp_path / "m.m4n", path, "--bootstrap", 50)
    expected = label_metrics(truth, predicted)
    assert report["n"] == 40 and set(report["metrics"]) == set(expected) and report["classes"] == NAMES
    for name, value in report["metrics"].items():
        assert value == pytest.approx(expected[name], abs=1e-12), name
    assert report["loss"] == report["metrics"]["hamming"]
    for j, name in enumerate(NAMES):
        counts = report["labels"][name]
        assert (counts["actual"], counts["predicted"]) == (truth[:, j].sum(), predicted[:, j].sum())
        assert counts["found"] == (truth[:, j] & predicted[:, j]).sum()
    interval = report["bootstrap"]["metrics"]["micro_f1"]
    assert interval["low"] < report["metrics"]["micro_f1"] < interval["high"] and interval["se"] > 0
    assert m4n.json("eval", tmp_path / "m.m4n", path, "--bootstrap", 50, "--threads", 1) == report
    text = m4n("eval", tmp_path / "m.m4n", path, expect=DONE).stdout
    assert "subset_accuracy" in text and "macro_f1" in text and all(f"\n{name} " in text for name in NAMES)


@pytest.mark.parametrize("edges", ["none", "tree"])
def test_columns_in_any_order_with_id_weights_and_fold(m4n, marked, tmp_path, edges):
    _, x, marks = marked
    rng = np.random.default_rng(3)
    extra = {"id": [f'a "{i}", b' for i in range(40)], "w": rng.integers(1, 4, 40), "part": rng.integers(0, 3, 40)}
    quoted = extra | {"id": ['"' + name.replace('"', '""') + '"' for name in extra["id"]]}
    plain = write_label_sets(tmp_path / "plain.csv", x, marks, quoted)
    mixed = write_label_sets(tmp_path / "mixed.csv", x, marks, quoted, order=rng.permutation(10))
    columns = ["--id", "id", "--weights", "w"]
    repeated = write_label_sets(tmp_path / "repeated.csv", x.repeat(extra["w"], 0), marks.repeat(extra["w"], 0))
    joined = tmp_path / "edges"
    joined.write_text("y1 y2\n")
    options = ["--lambda", 0.1, "--tol", "1e-8", "--surrogate", "crf", "--edges", joined if edges == "tree" else "none"]
    weighted = m4n.json("cv", plain, *columns, "--folds", "part", "--surrogates", "crf", "--lambdas", "0.1,0.2", "--extend", "no",
                        "--edges", edges, "--model", tmp_path / "cv.m4n")  # fmt: skip
    assert weighted["splits"] == 3 and weighted["n"] == 40
    no_fold = write_label_sets(tmp_path / "no_fold.csv", x, marks, {k: quoted[k] for k in ("id", "w")})
    one = m4n.train(no_fold, tmp_path / "a.m4n", *columns, *options)
    two = m4n.train(repeated, tmp_path / "b.m4n", *options)
    assert one["primal"] == pytest.approx(two["primal"], rel=2e-8) and one["n"] == 40 < two["n"]
    assert one["train_loss"] == pytest.approx(two["train_loss"], rel=1e-12)
    found = m4n.json("eval", tmp_path / "a.m4n", no_fold, "--weights", "w")["metrics"]
    for name, value in m4n.json("eval", tmp_path / "b.m4n", repeated)["metrics"].items():
        assert found[name] == pytest.approx(value, abs=1e-12)
    first, second = (m4n.predict(tmp_path / "cv.m4n", data, "--scores", "--id", "id") for data in (plain, mixed))
    assert first == second and [row["id"] for row in first] == extra["id"]
    bare = write_label_sets(tmp_path / "bare.csv", x, marks[:, :0])
    assert [row["y1"] for row in m4n.predict(tmp_path / "cv.m4n", bare)] == [row["y1"] for row in first]
    answer = m4n.json("predict", tmp_path / "cv.m4n", plain, "--id", "id", "--scores", "--marginals")
    assert answer["labels"] == NAMES and answer["id"] == extra["id"] and answer["n"] == 40
    assert answer["marks"] == [[int(row[name]) for name in NAMES] for row in first]
    assert np.shape(answer["marginals"]) == (40, SIZE) and 0 < np.min(answer["marginals"]) < np.max(answer["marginals"]) < 1
    # What is predicted is a file of label sets again.
    m4n("predict", tmp_path / "cv.m4n", plain, "--out", tmp_path / "out.csv", expect=DONE)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "y1,y2,y3,y4"


def test_cv_chooses_among_surrogates(m4n, marked, tmp_path):
    options = ["--splits", 3, "--lambdas", "1,0.1", "--extend", "no", "--seed", 2]
    report = m4n.json("cv", marked[0], "--surrogates", "m4n,m3n,crf,qs", *options, "--model", tmp_path / "m.m4n", "--out", tmp_path / "o")
    assert {row["surrogate"] for row in report["results"]} == set(SURROGATES) and report["splits"] == 3
    assert report["best_surrogate"] in SURROGATES and len(report["curve"]) == 2
    assert m4n.json("info", tmp_path / "m.m4n")["lambda"] == report["best_lambda"]
    automatic = m4n.json("cv", marked[0], "--surrogates", "auto", "--edges", "tree", *options)
    assert {row["surrogate"] for row in automatic["results"]} == {"m4n", "m3n", "crf"}
    again = m4n.json("cv", marked[0], "--surrogates", "auto", "--edges", "tree", *options, "--threads", 1)
    for key in ("curve", "test_mean", "test_se", "best_lambda", "best_surrogate"):
        assert again[key] == automatic[key], key


def test_gzip_and_standard_input(m4n, marked, tmp_path):
    path, _, _ = marked
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    m4n("train", path, "--model", tmp_path / "a", expect=DONE)
    m4n("train", packed, "--model", tmp_path / "b", expect=DONE)
    m4n("train", "-", "--model", tmp_path / "c", input=path.read_text(), expect=DONE)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    m4n("predict", tmp_path / "a", path, "--out", tmp_path / "out.csv", expect=DONE)
    assert m4n("predict", tmp_path / "a", input=path.read_text(), expect=DONE).stdout == (tmp_path / "out.csv").read_text()


def test_text_reports(m4n, marked, tmp_path):
    result = m4n("train", marked[0], "--model", tmp_path / "m.m4n", "--quiet", "--edges", "tree", expect=DONE)
    assert result.stderr == "" and "converged" in result.stdout and "4 labels" in result.stdout
    assert "y1, y2, y3, y4" in m4n("info", tmp_path / "m.m4n", expect=DONE).stdout


def test_a_label_that_is_always_on_or_off(m4n, marked, tmp_path):
    _, x, marks = marked
    marks = marks.copy()
    marks[:, 1], marks[:, 2] = 1, 0
    data = write_label_sets(tmp_path / "data.csv", x, marks)
    for surrogate, edges in COMBINATIONS:
        if edges != "file":
            m4n.train(data, tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edges)
            predicted = read_marks(m4n.predict(tmp_path / "m.m4n", data), SIZE)
            assert (predicted[:, 1] == 1).all() and (predicted[:, 2] == 0).all()
            assert math.isfinite(m4n.json("eval", tmp_path / "m.m4n", data)["metrics"]["macro_f1"])


def test_one_example_and_many_labels(m4n, tmp_path):
    x, marks = label_sets(20, 2, 300, seed=6)
    for count, surrogate, edges in ((1, "m4n", "none"), (1, "m4n", "tree"), (20, "m4n", "none"), (20, "m3n", "tree"), (20, "crf", "tree")):
        data = write_label_sets(tmp_path / "data.csv", x[:count], marks[:count])
        report = m4n.train(data, tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edges, "--tol", "1e-2")
        assert report["k"] == 300 and report["converged"]
        assert m4n.json("eval", tmp_path / "m.m4n", data)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)


def test_limits(m4n, marked, tmp_path):
    hard = ["--edges", "tree", "--lambda", "1e-7", "--tol", "1e-12", "--epochs", 1000000000]
    started = time.monotonic()
    report = m4n.train(marked[0], tmp_path / "m.m4n", *hard, "--time-limit", 0.3)
    assert not report["converged"] and report["dual"] <= report["primal"] and time.monotonic() - started < 15
    m4n("train", marked[0], "--model", tmp_path / "m.m4n", *hard, "--time-limit", 0.1, "--require-converged", expect=NOT_CONVERGED)


@pytest.mark.parametrize("options", [[], ["--edges", "tree"], ["--surrogate", "m3n", "--edges", "tree"]], ids=" ".join)
def test_a_signal_saves_and_exits_with_130(m4n, marked, tmp_path, options):
    path, model, log = marked[0], tmp_path / "m.m4n", tmp_path / "log.jsonl"
    process = subprocess.Popen([m4n.binary, "train", path, *options, "--tol", "1e-15", "--lambda", "1e-9", "--epochs", "1000000000",
                                "--model", model, "--log", log, "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    deadline = time.monotonic() + 30
    while (not log.exists() or not log.read_text()) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, messages = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED, messages
    report = json.loads(out)
    assert report["interrupted"] and not report["converged"] and "interrupted" in messages
    assert m4n.json("info", model)["primal"] == report["primal"]
    assert len(m4n.predict(model, path)) == 40
