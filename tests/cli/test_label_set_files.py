"""Label sets: features, columns, reports, cv, dump, limits and signals."""

import math
import time

import numpy as np
import pytest
from conftest import DONE, NOT_CONVERGED, write_csv
from label_files import (  # noqa: F401 (fixtures)
    COMBINATIONS,
    NAMES,
    SIZE,
    SURROGATES,
    label_metrics,
    label_sets,
    marked,
    read_marks,
    write_label_sets,
)


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
    outputs = {
        m4n("predict", tmp_path / "a", marked[0], "--scores", "--threads", t, expect=DONE).stdout for t in (1, 3)
    }
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
    apart = [
        m4n.train(write_csv(tmp_path / "own.csv", x, marks[:, j]), tmp_path / "c.m4n", *options)["primal"]
        for j in range(SIZE)
    ]
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
    noisy = lambda marks: np.where(rng.random(200) < 0.1, 1 - marks, marks)
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
    assert (
        np.shape(answer["marginals"]) == (40, SIZE)
        and 0 < np.min(answer["marginals"]) < np.max(answer["marginals"]) < 1
    )
    # What is predicted is a file of label sets again.
    m4n("predict", tmp_path / "cv.m4n", plain, "--out", tmp_path / "out.csv", expect=DONE)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "y1,y2,y3,y4"


def test_cv_chooses_among_surrogates(m4n, marked, tmp_path):
    options = ["--splits", 3, "--lambdas", "1,0.1", "--extend", "no", "--seed", 2]
    report = m4n.json(
        "cv",
        marked[0],
        "--surrogates",
        "m4n,m3n,crf,qs",
        *options,
        "--model",
        tmp_path / "m.m4n",
        "--out",
        tmp_path / "o",
    )
    assert {row["surrogate"] for row in report["results"]} == set(SURROGATES) and report["splits"] == 3
    assert report["best_surrogate"] in SURROGATES and len(report["curve"]) == 2
    assert m4n.json("info", tmp_path / "m.m4n")["lambda"] == report["best_lambda"]
    automatic = m4n.json("cv", marked[0], "--surrogates", "auto", "--edges", "tree", *options)
    assert {row["surrogate"] for row in automatic["results"]} == {"m4n", "m3n", "crf"}
    again = m4n.json("cv", marked[0], "--surrogates", "auto", "--edges", "tree", *options, "--threads", 1)
    for key in ("curve", "test_mean", "test_se", "best_lambda", "best_surrogate"):
        assert again[key] == automatic[key], key


def test_gzip_and_standard_input(m4n, marked, tmp_path):
    m4n.same_from_gzip_and_standard_input(marked[0], tmp_path)


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
    for count, surrogate, edges in (
        (1, "m4n", "none"),
        (1, "m4n", "tree"),
        (20, "m4n", "none"),
        (20, "m3n", "tree"),
        (20, "crf", "tree"),
    ):
        data = write_label_sets(tmp_path / "data.csv", x[:count], marks[:count])
        report = m4n.train(data, tmp_path / "m.m4n", "--surrogate", surrogate, "--edges", edges, "--tol", "1e-2")
        assert report["k"] == 300 and report["converged"]
        assert m4n.json("eval", tmp_path / "m.m4n", data)["loss"] == pytest.approx(report["train_loss"], abs=1e-12)


def test_limits(m4n, marked, tmp_path):
    hard = ["--edges", "tree", "--lambda", "1e-7", "--tol", "1e-12", "--epochs", 1000000000]
    started = time.monotonic()
    report = m4n.train(marked[0], tmp_path / "m.m4n", *hard, "--time-limit", 0.3)
    assert not report["converged"] and report["dual"] <= report["primal"] and time.monotonic() - started < 15
    m4n(
        "train",
        marked[0],
        "--model",
        tmp_path / "m.m4n",
        *hard,
        "--time-limit",
        0.1,
        "--require-converged",
        expect=NOT_CONVERGED,
    )


@pytest.mark.parametrize(
    "options", [["--solver", "prox"], ["--edges", "tree"], ["--surrogate", "m3n", "--edges", "tree"]], ids=" ".join
)
def test_a_signal_saves_and_exits_with_130(m4n, marked, tmp_path, options):
    path, model = marked[0], tmp_path / "m.m4n"
    m4n.interrupted_training(path, model, *options, "--lambda", "1e-9")
    assert len(m4n.predict(model, path)) == 40
