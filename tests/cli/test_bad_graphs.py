"""Bad label sets and graphs: the message names the file, the line, what was found and what was expected."""

import numpy as np
import pytest
from conftest import DONE, FAILED, WRONG_USAGE
from label_files import graph_text, graphs, grid, label_sets, write_label_sets

SETS = "x,y1,y2,y3\n1,1,0,0\n2,0,1,1\n-1,1,1,0\n"
GRAPH = "graph\nnode a A 1 2\nnode b B 0 1\nnode c A 1 1\nedge a b 5\nedge b c -1\n"


@pytest.fixture
def complaint(m4n, tmp_path):
    """Trains on a text, which must fail, and leaves no model; the message."""

    def run(text, *options, code=FAILED, names_the_file=True):
        data, model = tmp_path / "bad.data", tmp_path / "bad.m4n"
        data.write_text(text)
        result = m4n("train", data, "--model", model, *options, expect=code)
        assert not model.exists() and result.stdout == ""
        assert not names_the_file or str(data) in result.stderr
        assert len(result.stderr) < 1000
        return result.stderr

    return run


@pytest.mark.parametrize(
    "text, words",
    [
        ("x,y1,y2\n1,1,0\n1,2,0\n", ["line 3", "'y1'", "2", "0", "1"]),
        ("x,y1,y2\n1,1,0.5\n", ["line 2", "'y2'", "0.5"]),
        ("x,y1,y2\n1,-1,0\n", ["line 2", "'y1'", "-1"]),
        ("x,y1,y2\n1,1,yes\n", ["line 2", "'y2'", "'yes'"]),
        ("x,y1,y2\n1,1,nan\n", ["line 2", "'y2'", "'nan'"]),
        ("x,y1,y2\n1,1,\n", ["line 2", "'y2'", "missing"]),
        ("x,y1,y2\n1,1\n", ["line 2", "2 cells", "expected 3"]),
        ("x,y1,y2\n1,1,0,1\n", ["line 2", "4 cells", "expected 3"]),
        ("x,y1,y3\n1,1,0\n", ["line 1", "y2 is not among them"]),
        ("x,y2,y3\n1,1,0\n", ["line 1", "y1 is not among them"]),
        ("x,y1,y2,y1\n1,1,0,1\n", ["line 1", "'y1'"]),
        ("x,z\n1,1\n", ["line 1", "no output columns", "'x', 'z'"]),
        ("y1,y2\n1,0\n", ["line 1", "no feature columns"]),
        ("x,y1,y2\nnan,1,0\n", ["line 2", "'x'", "'nan'"]),
        ("x,y1,y2\n", ["only a header"]),
        ("", ["empty"]),
        ("1 1:2\n0 1:3\n", ["y1, y2"]),
        (GRAPH, ["line 1"]),
    ],
    ids=repr,
)
def test_bad_label_sets(complaint, text, words):
    message = complaint(text, "--task", "multilabel")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "text, words",
    [
        (GRAPH.replace("edge b c", "edge b d"), ["line 6", "no node 'd'"]),
        (GRAPH + "graph\nnode x A 1 1\nedge x a 1\n", ["line 9", "no node 'a' in this graph"]),
        (GRAPH.replace("edge b c", "edge b b"), ["line 6", "node 'b' with itself"]),
        (GRAPH + "edge a b 1\n", ["line 7", "'a' and 'b'", "line 5"]),
        (GRAPH + "edge b a 1\n", ["line 7", "'b' and 'a'", "line 5"]),
        (GRAPH.replace("node b B 0 1", "node b B"), ["line 3", "node 'b' has no features"]),
        (GRAPH.replace("node b B 0 1", "node b"), ["line 3", "node NAME LABEL"]),
        (GRAPH.replace("node b B 0 1", "node b B 0"), ["line 3", "1 feature", "have 2"]),
        (GRAPH.replace("node b B 0 1", "node b B 0 1 1"), ["line 3", "3 features", "have 2"]),
        (GRAPH.replace("node b B 0 1", "node b B 0 nan"), ["line 3", "feature 2", "'nan'"]),
        (GRAPH.replace("node b B 0 1", "node b B 0 inf"), ["line 3", "feature 2", "'inf'"]),
        (GRAPH.replace("node b B 0 1", "node b B 0 1e13"), ["line 3", "feature 2", "'1e13'", "at most 1000000000000"]),
        (GRAPH.replace("node b B 0 1", "node b B 0 x"), ["line 3", "feature 2", "'x'"]),
        (GRAPH.replace("node b B", "node b ?"), ["line 3", "'b'", "not known"]),
        (GRAPH.replace("node c", "node b"), ["line 4", "node 'b'", "line 3"]),
        (GRAPH.replace("c -1", "c"), ["line 6", "0 features", "have 1"]),
        (GRAPH.replace("c -1", "c nan"), ["line 6", "feature 1", "'nan'"]),
        (GRAPH.replace("edge b", "edge:x b"), ["line 6", "a type"]),
        (GRAPH.replace("node b", "node:x b"), ["line 3", "a type"]),
        (GRAPH.replace("node b", "node: b"), ["line 3", "'node:'"]),
        (GRAPH.replace("edge a b 5", "edge a"), ["line 5", "edge NAME NAME"]),
        (GRAPH.replace("edge a b", "arc a b"), ["line 5", "'arc'", "expected graph, node, edge"]),
        (GRAPH.replace("graph\n", "graph 3\n"), ["line 1", "'3'"]),
        (GRAPH + "graph\ngraph\nnode a A 1 1\n", ["line 7", "no nodes"]),
        (GRAPH + "graph\n", ["line 7", "no nodes"]),
        (GRAPH[6:], ["line 1", "before the first line `graph`"]),
        ("# nothing\n", ["no graph"]),
        ("", ["no graph"]),
        (SETS, ["line 1", "'x,y1,y2,y3'"]),
    ],
    ids=repr,
)
def test_bad_graphs(complaint, text, words):
    message = complaint(text, "--task", "graph")
    assert all(word in message for word in words), message


def test_one_label_is_not_enough_for_graphs(complaint):
    message = complaint(GRAPH.replace(" B ", " A "))
    assert "'A'" in message and "at least two" in message


def test_treewidth_has_a_limit(m4n, complaint, tmp_path):
    small = tmp_path / "small.txt"
    small.write_text(grid(3))
    wide = grid(30)
    message = complaint(grid(2) + wide)
    assert "line 10" in message and "treewidth" in message and "limit" in message and "GB" in message
    m4n("train", small, "--model", tmp_path / "m.m4n", expect=DONE)
    large = tmp_path / "large.txt"
    large.write_text(grid(2) + wide)
    for command in ("predict", "eval"):
        message = m4n(command, tmp_path / "m.m4n", large, expect=FAILED).stderr
        assert str(large) in message and "line 10" in message and "treewidth" in message and "limit" in message
    # All 40 labels joined with each other.
    x, marks = label_sets(10, 2, 40)
    data = write_label_sets(tmp_path / "sets.csv", x, marks)
    edges = tmp_path / "edges"
    edges.write_text("".join(f"{a} {b}\n" for b in range(1, 41) for a in range(1, b)))
    message = m4n("train", data, "--edges", edges, "--model", tmp_path / "s.m4n", expect=FAILED).stderr
    assert (
        str(edges) in message and "treewidth 39" in message and "limit" in message and not (tmp_path / "s.m4n").exists()
    )


@pytest.mark.parametrize(
    "text, words",
    [
        ("y1,y2\ny1,y9\n", ["line 2", "'y9' is no label", "'y1', 'y2', 'y3'"]),
        ("y1,4\n", ["line 1", "'4' is no label", "from 1 to 3"]),
        ("y2 y2\n", ["line 1", "'y2' is joined with itself"]),
        ("y1,y2\n\n2,1\n", ["line 3", "the edge of line 1 once more"]),
        ("y1\n", ["line 1", "1 words"]),
        ("y1,y2,y3\n", ["line 1", "3 words"]),
        ("", ["no edges", "--edges none"]),
    ],
    ids=repr,
)
def test_bad_edges_between_labels(complaint, tmp_path, text, words):
    edges = tmp_path / "edges.csv"
    edges.write_text(text)
    message = complaint(SETS, "--edges", edges, names_the_file=False)
    assert str(edges) in message and all(word in message for word in words), message


@pytest.mark.parametrize(
    "text, words",
    [
        ("1,1\n1,1\n", ["2", "3 labels"]),
        ("y1,1,1\ny2,1,1\n", ["'y3'"]),
        ("y1,1,1\ny2,1,1\ny9,1,1\n", ["line 3", "'y9'"]),
        ("y1,1,1\ny2,1,1\ny1,1,1\n", ["line 3", "'y1'"]),
        ("1,1\n1,-1\n1,1\n", ["line 2", "'-1'"]),
        ("1,1\n0,1\n1,1\n", ["line 2", "'0'", "a miss of label 'y2'"]),
        ("1,1\n1,nan\n1,1\n", ["line 2", "'nan'"]),
        ("1,1\n1,1e31\n1,1\n", ["line 2", "'1e31'", "a false alarm of label 'y2'"]),
        ("1,1\n1\n1,1\n", ["line 2"]),
        ("", ["0"]),
    ],
    ids=repr,
)
def test_bad_costs_of_labels(complaint, tmp_path, text, words):
    costs = tmp_path / "costs.csv"
    costs.write_text(text)
    message = complaint(SETS, "--loss", costs, names_the_file=False)
    assert str(costs) in message and all(word in message for word in words), message


@pytest.mark.parametrize(
    "options, words",
    [
        (["--surrogate", "qs", "--edges", "tree"], ["--surrogate qs", "edges"]),
        (["--oracle", "spmp"], ["--oracle spmp"]),
        (["--solver", "gbcfw"], ["--solver gbcfw"]),
        (["--edges", "tree", "--oracle", "spmp"], ["--oracle spmp"]),
        (["--smoothing", "1"], ["--smoothing"]),
        (["--solver", "atoms"], ["--solver atoms", "--edges"]),
        (["--solver", "prox", "--edges", "tree"], ["--solver prox", "atoms"]),
        (["--solver", "lbfgs"], ["--solver lbfgs"]),
        (["--surrogate", "crf", "--solver", "prox", "--edges", "tree"], ["--solver prox", "lbfgs"]),
        (["--decode", "expected"], ["--decode expected", "--surrogate crf"]),
        (["--decode", "viterbi"], ["--task sequence"]),
        (["--surrogate", "m3n", "--decode", "adversary"], ["m3n"]),
        (["--loss", "zero-one"], ["hamming"]),
        (["--loss", "absolute"], ["--loss absolute"]),
        (["--loss", "footrule"], ["--task ranking"]),
        (["--bins", "3"], ["--bins"]),
        (["--target", "y1"], ["--target"]),
        (["--class-weight", "balanced"], ["--class-weight"]),
        (["--gamma", "1"], ["--gamma"]),
        (["--format", "graph"], ["--task graph"]),
        (["--format", "conll"], ["--task sequence"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_options_that_mean_nothing_for_label_sets(complaint, options, words):
    message = complaint(SETS, "--task", "multilabel", *options, code=WRONG_USAGE, names_the_file=False)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    "options, words",
    [
        (["--surrogate", "qs"], ["--surrogate qs"]),
        (["--oracle", "spmp"], ["--oracle spmp"]),
        (["--smoothing", "1"], ["--smoothing"]),
        (["--solver", "prox"], ["--solver prox", "atoms"]),
        (["--surrogate", "crf", "--solver", "atoms"], ["lbfgs"]),
        (["--edges", "tree"], ["--edges", "--task multilabel"]),
        (["--edges", "none"], ["--edges", "--task multilabel"]),
        (["--features", "rbf"], ["--features"]),
        (["--weights", "w"], ["--weights"]),
        (["--id", "w"], ["--id"]),
        (["--target", "w"], ["--target"]),
        (["--format", "csv"], ["--format csv"]),
        (["--loss", "zero-one"], ["hamming"]),
        (["--loss", "dcg"], ["--task ranking"]),
        (["--decode", "viterbi"], ["--task sequence"]),
        (["--surrogate", "m3n", "--decode", "expected"], ["m3n"]),
        (["--class-weight", "balanced"], ["--class-weight"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_options_that_mean_nothing_for_graphs(complaint, options, words):
    message = complaint(GRAPH, "--task", "graph", *options, code=WRONG_USAGE, names_the_file=False)
    assert all(word in message for word in words), message


def test_edges_are_for_label_sets_only(complaint, small, m4n):
    assert "--task multilabel" in m4n("train", small, "--edges", "tree", expect=WRONG_USAGE).stderr


def test_files_that_are_not_there(complaint, tmp_path):
    absent = tmp_path / "absent.csv"
    for option in ("--edges", "--loss"):
        message = complaint(SETS, option, absent, names_the_file=False)
        assert str(absent) in message and option in message


def test_marks_are_nothing_else(m4n, complaint, tmp_path):
    for option in ("--id", "--weights"):
        assert "'y1' is one of the output columns" in complaint(SETS, option, "y1", code=WRONG_USAGE)
    data = tmp_path / "data"
    data.write_text(SETS)
    assert "'y2' is one of the output columns" in m4n("cv", data, "--folds", "y2", expect=WRONG_USAGE).stderr
    # A label beside the marks would give them away.
    data.write_text("label,x,y1,y2\na,1,1,0\nb,2,0,1\na,2,1,0\n")
    result = m4n("train", data, "--task", "multilabel", "--model", tmp_path / "m.m4n", expect=DONE)
    assert "left out" in result.stderr and "'label'" in result.stderr and "''" not in result.stderr
    assert {row["feature"] for row in m4n.json("dump", tmp_path / "m.m4n")["weights"]} <= {"x", "(bias)"}


def test_folds_of_graphs_have_no_column(m4n, tmp_path):
    data = tmp_path / "data"
    data.write_text(GRAPH * 4)
    assert "--folds" in m4n("cv", data, "--folds", "part", expect=WRONG_USAGE).stderr
    data.write_text(SETS)
    assert "'part'" in m4n("cv", data, "--folds", "part", expect=FAILED).stderr


def test_models_of_other_tasks_sizes_and_features(m4n, tmp_path, small):
    typed = graph_text(graphs([3, 4, 2, 3], 2, 2, edge_features=1, types=True))
    data = {
        "sets": SETS,
        "two": "x,y1,y2\n1,1,0\n2,0,1\n",
        "wide": "x,z,y1,y2,y3\n1,1,1,0,0\n2,2,0,1,1\n",
        "graphs": GRAPH,
        "typed": typed,
        "narrow": GRAPH.replace(" 1 2\n", " 1\n").replace(" 0 1\n", " 0\n").replace("c A 1 1\n", "c A 1\n"),
        "bare": GRAPH.replace("b 5", "b").replace("c -1", "c"),
        "unknown": GRAPH.replace("node c A", "node c ?"),
        "classes": small.read_text(),
    }
    paths, models = {}, {}
    for name, text in data.items():
        paths[name], models[name] = tmp_path / f"{name}.data", tmp_path / f"{name}.m4n"
        paths[name].write_text(text)
        if name != "unknown":
            m4n("train", paths[name], "--model", models[name], expect=DONE)

    def refused(command, model, name, *words):
        message = m4n(command, models[model], paths[name], expect=FAILED).stderr
        assert str(paths[name]) in message and all(word in message for word in words), message

    for command in ("predict", "eval"):
        for model, others in {
            "sets": ["graphs", "classes"],
            "graphs": ["sets", "classes"],
            "classes": ["sets", "graphs"],
        }.items():
            for other in others:
                refused(command, model, other, "line 1")
        refused(command, "sets", "wide", "line 1", "'z'")
        refused(command, "wide", "sets", "line 1", "'z'")
        refused(command, "graphs", "narrow", "1 features", "trained on 2")
        refused(command, "graphs", "bare", "0 features", "trained on 1")
        refused(command, "bare", "graphs", "1 features", "trained on 0")
        refused(command, "graphs", "typed", "types")
        refused(command, "typed", "graphs", "types")
    refused("eval", "sets", "two", "line 1", "2 output columns", "the model has 3")
    refused("eval", "two", "sets", "line 1", "3 output columns", "the model has 2")
    refused("eval", "graphs", "unknown", "line 4", "'c'")
    m4n("predict", models["graphs"], paths["unknown"], expect=DONE)
    m4n("predict", models["two"], paths["sets"], expect=DONE)  # its marks are left alone


@pytest.mark.parametrize("kind", ["sets", "graphs"])
def test_options_of_predict_and_eval(m4n, tmp_path, kind):
    data, model = tmp_path / "data", tmp_path / "m.m4n"
    data.write_text(SETS if kind == "sets" else GRAPH)
    m4n("train", data, "--model", model, expect=DONE)
    refused = [["--marginals"], ["--k-best", 2], ["--target", "y1"], ["--format", "conll"]]
    refused += (
        [["--format", "graph"]]
        if kind == "sets"
        else [["--scores"], ["--id", "x"], ["--weights", "x"], ["--format", "csv"]]
    )
    for options in refused:
        assert options[0] in m4n("predict", model, data, *options, expect=WRONG_USAGE).stderr
    for options in (
        [["--target", "y1"]] if kind == "sets" else [["--target", "a"], ["--weights", "a"], ["--format", "libsvm"]]
    ):
        assert options[0] in m4n("eval", model, data, *options, expect=WRONG_USAGE).stderr
    for folder in (tmp_path / "no" / "out", tmp_path):
        message = m4n("predict", model, data, "--out", folder, expect=FAILED).stderr
        assert str(folder) in message
        assert str(folder) in m4n("train", data, "--model", folder, expect=FAILED).stderr
    whole = model.read_bytes()
    for damaged in (whole[:-9], whole[:200], whole.replace(b"labels", b"lapels"), whole + b"\0", b""):
        model.write_bytes(damaged)
        for command in (["predict", model, data], ["eval", model, data], ["info", model], ["dump", model]):
            assert str(model) in m4n(*command, expect=FAILED).stderr


@pytest.mark.parametrize("edges", ["none", "tree"])
@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_huge_and_tiny_values(m4n, tmp_path, surrogate, edges):
    """A certificate that holds, or a refusal that says why; never a number that is none."""
    x, marks = label_sets(12, 2, 3, seed=5)
    for scale in (1e-300, 1e-12, 1e12, 1e150, 1e300):
        data, model = write_label_sets(tmp_path / "data.csv", x * scale, marks), tmp_path / "m.m4n"
        for standardize in ("yes", "no"):
            result = m4n("train", data, "--edges", edges, "--surrogate", surrogate, "--standardize", standardize, "--model", model,
                         "--epochs", 50, "--json")  # fmt: skip
            assert result.returncode in (DONE, FAILED), result.stderr
            assert "nan" not in result.stdout and "inf" not in result.stdout.replace("info", "")
            if result.returncode == DONE:
                out = m4n("predict", model, data, "--scores")
                assert out.returncode in (DONE, FAILED) and "nan" not in out.stdout
                rows = [row.split(",") for row in out.stdout.splitlines()[1:]]
                assert all(np.isfinite([float(cell) for cell in row]).all() for row in rows)


@pytest.mark.parametrize("surrogate", ["m4n", "m3n", "crf"])
def test_huge_and_tiny_values_of_graphs(m4n, tmp_path, surrogate):
    for scale in (1e-300, 1e-12, 1e11):
        examples = graphs([3, 4, 1, 2], 2, 2, seed=3, edge_features=1)
        for graph in examples:
            graph["x"], graph["z"] = graph["x"] * scale, graph["z"] * scale
        data, model = tmp_path / "data.txt", tmp_path / "m.m4n"
        data.write_text(graph_text(examples))
        for standardize in ("yes", "no"):
            result = m4n(
                "train",
                data,
                "--surrogate",
                surrogate,
                "--standardize",
                standardize,
                "--model",
                model,
                "--epochs",
                50,
                "--json",
            )
            assert result.returncode in (DONE, FAILED), result.stderr
            assert "nan" not in result.stdout
            if result.returncode == DONE:
                out = m4n("predict", model, data)
                assert out.returncode in (DONE, FAILED), out.stderr


def test_values_beyond_the_model_are_refused(m4n, tmp_path):
    """Edges with features far beyond those of training, so that scores overflow."""
    learn, judge, model = tmp_path / "learn.txt", tmp_path / "judge.txt", tmp_path / "m.m4n"
    text = "graph\nnode a A 1\nnode b B 2\nedge a b {}\ngraph\nnode a A 1\nnode b A 2\nedge a b {}\n"
    learn.write_text(text.format("1e-300", "-2e-300"))
    judge.write_text(text.format("1e-300", "1e11"))
    for surrogate in ("m4n", "m3n", "crf"):
        m4n("train", learn, "--surrogate", surrogate, "--model", model, expect=DONE)
        for command in ("predict", "eval"):
            message = m4n(command, model, judge, expect=FAILED).stderr
            assert "example 2" in message and "edge 1" in message and "too large" in message
        m4n("predict", model, learn, expect=DONE)
