"""Displays: their numbers against numpy and scikit-learn, and what they refuse."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import blobs
from matplotlib import pyplot
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import m4n
from m4n.plot import CertificateDisplay, CostConfusionDisplay, LambdaPathDisplay, ReliabilityDisplay
from m4n.plot.reliability import reliability

COST = np.array([[0, 1, 2.5], [2, 0, 1], [3, 1.5, 0]])


pytestmark = pytest.mark.filterwarnings("ignore::m4n.SearchWarning")


@pytest.fixture(autouse=True)
def figures():
    yield
    pyplot.close("all")


def is_drawn(display):
    """The figure has axes of its own, and can be written."""
    display.figure_.canvas.draw()
    return display.ax_ in display.figure_.axes


# ---- where the cost comes from


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_and_shares_of_classes(weighted):
    X, y = blobs(spread=2)
    weight = np.linspace(0, 2, len(y)) if weighted else None
    model = m4n.MaxMinClassifier(COST).fit(X, y)
    display = CostConfusionDisplay.from_estimator(model, X, y, sample_weight=weight)
    counts = confusion_matrix(y, model.predict(X), sample_weight=weight)
    assert np.allclose(display.counts, counts) and np.allclose(display.costs, counts * COST)
    assert np.allclose(display.shares, counts * COST / (counts * COST).sum())
    assert display.costs.sum() / display.counts.sum() == pytest.approx(-model.score(X, y, weight))
    assert is_drawn(display)
    t, p = np.unravel_index(display.shares.argmax(), (3, 3))
    text = f"{display.shares[t, p]:.0%}\n{counts[t, p]:.4g} \N{MULTIPLICATION SIGN} {COST[t, p]:.3g}"
    assert display.text_[t, p].get_text() == text
    assert (np.equal(display.text_, None) == (counts == 0)).all()
    again = CostConfusionDisplay.from_predictions(y, model.predict(X), COST, sample_weight=weight)
    assert np.array_equal(again.counts, display.counts) and np.array_equal(again.costs, display.costs)


def test_grades_with_steps_as_costs():
    X, y = blobs(k=5, spread=2)
    model = m4n.MaxMinOrdinalClassifier().fit(X, y)
    display = CostConfusionDisplay.from_estimator(model, X, y)
    steps = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    assert np.allclose(display.costs, confusion_matrix(y, model.predict(X), labels=range(5)) * steps)
    by_name = CostConfusionDisplay.from_predictions(y, model.predict(X), "absolute", labels=range(5))
    assert np.array_equal(by_name.costs, display.costs)
    plain = CostConfusionDisplay.from_predictions(y, model.predict(X), labels=range(5))
    assert plain.costs.sum() == (y != model.predict(X)).sum()


def test_actions_are_columns():
    X, y = blobs(spread=2)
    names = np.array(["a", "b", "c"])[y]
    costs = m4n.costs.reject(["a", "b", "c"], 0.3)
    model = m4n.MaxMinClassifier(costs, surrogate="crf").fit(X, names)
    found = model.predict(X)
    display = CostConfusionDisplay.from_estimator(model, X, names)
    assert display.shares.shape == (3, 4) and [*display.prediction_labels] == ["a", "b", "c", "reject"]
    expected = [[((names == t) & (found == p)).sum() * costs.loc[t, p] for p in costs.columns] for t in costs.index]
    assert np.allclose(display.costs, expected) and display.costs[:, 3].sum() > 0 and is_drawn(display)
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["a", "b", "c", "reject"]
    again = CostConfusionDisplay.from_predictions(names, found, costs)
    assert np.array_equal(again.costs, display.costs)


def test_costs_by_example():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(size=80), "amount": rng.uniform(1, 10, size=80)})
    y = np.where(X["income"] + rng.normal(size=80) > 0, "paid", "default")
    model = m4n.MaxMinClassifier([[0, "amount"], [2, 0]], ignore=["amount"], surrogate="crf").fit(X, y)
    found = model.predict(X)
    display = CostConfusionDisplay.from_estimator(model, X, y)
    lost = X["amount"][(y == "default") & (found == "paid")].sum()
    declined = ((y == "paid") & (found == "default")).sum()
    assert np.allclose(display.costs, [[0, lost], [2 * declined, 0]]) and lost > 0 and declined > 0
    bills = np.zeros((80, 2, 2))
    bills[:, 0, 1], bills[:, 1, 0] = X["amount"], 2
    by_array = m4n.MaxMinClassifier(surrogate="crf").fit(X[["income"]], y, costs=bills)
    again = CostConfusionDisplay.from_estimator(by_array, X[["income"]], y, costs=bills)
    assert np.allclose(again.costs, display.costs)
    assert np.allclose(CostConfusionDisplay.from_predictions(y, found, bills).costs, display.costs)


def test_pipelines_and_searches():
    X, y = blobs(spread=2)
    model = make_pipeline(StandardScaler(), m4n.MaxMinClassifier(COST))
    search = GridSearchCV(model, {"maxminclassifier__lam": [0.1, 0.01]}, cv=2).fit(X, y)
    display = CostConfusionDisplay.from_estimator(search, X, y)
    assert np.allclose(display.costs, confusion_matrix(y, search.predict(X)) * COST)


def test_plot_draws_where_it_is_told():
    X, y = blobs(n=60)
    _, (left, right) = pyplot.subplots(1, 2)
    model = m4n.MaxMinClassifier(COST).fit(X, y)
    display = CostConfusionDisplay.from_estimator(model, X, y, ax=left, colorbar=False, include_values=False)
    assert display.ax_ is left and display.figure_ is left.figure and np.equal(display.text_, None).all()
    assert display.plot(ax=right, cmap="Blues").ax_ is right and display.im_.get_cmap().name == "Blues"
    assert pyplot.get_fignums() == [left.figure.number]


def test_names_are_no_formulas():
    names = np.array(["$a_1$", "$x"])
    display = CostConfusionDisplay.from_predictions(names, names[::-1])
    assert is_drawn(display) and display.ax_.get_yticklabels()[0].get_text() == "$a_1$"
    assert is_drawn(ReliabilityDisplay.from_predictions(["$x", "$y", "$x"], np.full((3, 2), 0.5), labels=["$y", "$x"]))


def test_nothing_costs_anything():
    display = CostConfusionDisplay.from_predictions([0, 1], [0, 1])
    assert display.shares.tolist() == [[0, 0], [0, 0]] and is_drawn(display)


def test_what_the_cost_display_refuses():
    X, y = blobs(n=60)
    ranker = m4n.MaxMinRanker().fit(X, np.argsort(np.argsort(X[:, :3])) + 1)
    with pytest.raises(m4n.Error, match=r"found MaxMinRanker.*report\(X, y\)"):
        CostConfusionDisplay.from_estimator(ranker, X, y)
    with pytest.raises(m4n.Error, match="found LogisticRegression.*from_predictions"):
        CostConfusionDisplay.from_estimator(LogisticRegression().fit(X, y), X, y)
    model = m4n.MaxMinClassifier(COST).fit(X, y)
    with pytest.raises(m4n.Error, match="y holds 7, which is none of"):
        CostConfusionDisplay.from_estimator(model, X, np.where(y == 0, 7, y))
    with pytest.raises(m4n.Error, match="y_pred holds 'd'"):
        CostConfusionDisplay.from_predictions(["a", "b"], ["a", "d"], labels=["a", "b"])
    with pytest.raises(m4n.Error, match=r"cost_matrix has the shape \(2, 2\)"):
        CostConfusionDisplay.from_predictions(y, y, [[0, 1], [1, 0]])
    with pytest.raises(m4n.Error, match="from_estimator knows the columns"):
        CostConfusionDisplay.from_predictions(["a", "b"], ["a", "b"], [[0, "amount"], [1, 0]])
    with pytest.raises(m4n.Error, match="y is empty"):
        CostConfusionDisplay.from_estimator(model, X, [])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        CostConfusionDisplay.from_estimator(model, X, y[1:])
    with pytest.raises(m4n.Error, match="cost_matrix must be one of"):
        CostConfusionDisplay.from_predictions(y, y, "hamming")
    with pytest.raises(m4n.Error, match="labels names 'a' twice"):
        CostConfusionDisplay.from_predictions(["a", "b"], ["a", "b"], labels=["a", "b", "a"])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -1.0, 1e308])
def test_costs_that_have_no_shares(wrong):
    names = np.array(["a", "b"])
    costs = np.array([[0, 1], [wrong, 0]])
    for given in (costs, costs.tolist(), pd.DataFrame(costs, names, names)):
        message = rf"row 'b' \(truth\), column 'a' \(prediction\): the cost is {re.escape(f'{wrong:g}')}; expected"
        with pytest.raises(m4n.Error, match=message):
            CostConfusionDisplay.from_predictions(names, names, given)
    by_example = np.stack([[[0, 1], [1, 0]], costs])
    with pytest.raises(m4n.Error, match="of example 2 .*: row 'b' .*, column 'a'"):
        CostConfusionDisplay.from_predictions(names, names, by_example)


def test_an_estimator_that_gains_has_no_shares_either():
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier(COST - 5 * np.eye(3)).fit(X, y)
    with pytest.raises(m4n.Error, match="row 0 .*, column 0 .*: the cost is -5; .*add the same amount"):
        CostConfusionDisplay.from_estimator(model, X, y)


# ---- how lambda was chosen


def test_paths_are_those_of_the_table():
    X, y = blobs(spread=2)
    search = m4n.MaxMinClassifierCV(COST, surrogate=["m4n", "crf"], lams=[0.3, 0.1, 0.01], cv=4, extend=False).fit(X, y)
    display = LambdaPathDisplay.from_estimator(search)
    table = pd.DataFrame(search.cv_results_)
    assert set(display.paths) == {"m4n", "crf"}
    for name, path in display.paths.items():
        own = table[table.surrogate == name].sort_values("lam")
        parts = own[[f"split{s}_cost" for s in range(4)]].to_numpy()
        assert np.array_equal(path.lams, own.lam) and np.allclose(path.mean_costs, parts.mean(axis=1))
        assert np.allclose(path.errors, parts.std(axis=1, ddof=1) / 2)
        assert np.array_equal(display.lines_[name].lines[0].get_xdata(), path.lams)
    assert display.chosen == (search.surrogate_, search.lam_)
    (cost,) = display.chosen_.get_ydata()
    assert cost == pytest.approx(search.best_cost_)
    assert is_drawn(display) and display.ax_.get_xscale() == "log"


def test_smoothing_and_decoders_have_names():
    X, y = blobs(spread=2)
    search = m4n.MaxMinClassifierCV(COST, surrogate="auto", lams=[0.1, 0.01], cv=3, extend=False).fit(X, y)
    display = LambdaPathDisplay.from_estimator(search)
    table = pd.DataFrame(search.cv_results_)
    kinds = table.groupby(["surrogate", "smoothing", "decode"]).ngroups
    assert len(display.paths) == kinds > len(set(table.surrogate)) and display.chosen[0] in display.paths
    assert sum(len(path.lams) for path in display.paths.values()) == len(table)
    assert any("smoothing" in name for name in display.paths) and {"m4n, argmax", "m4n, adversary"} < set(display.paths)


def test_what_the_path_display_refuses():
    X, y = blobs(n=60)
    search = m4n.MaxMinClassifierCV(lams=[0.1], cv=2).fit(X, y)
    for other in (m4n.MaxMinClassifier().fit(X, y), m4n.MaxMinClassifierCV.from_bytes(search.to_bytes())):
        with pytest.raises(m4n.Error, match="needs the table cv_results_"):
            LambdaPathDisplay.from_estimator(other)


# ---- how well it is trained


@pytest.mark.parametrize("x", ["epoch", "seconds"])
def test_the_interval_of_a_fit(x):
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier(tol=1e-6).fit(X, y)
    display = CertificateDisplay.from_estimator(model, x=x)
    upper, lower = display.lines_
    assert (
        np.array_equal(upper.get_ydata(), model.log_["primal"]) and upper.get_ydata()[-1] == model.certificate_.primal
    )
    assert np.array_equal(lower.get_ydata(), model.log_["dual"]) and lower.get_ydata()[-1] == model.certificate_.dual
    assert np.array_equal(upper.get_xdata(), model.log_[x]) and is_drawn(display)
    bottom, top = display.ax_.get_ylim()
    assert bottom < model.certificate_.dual and top > model.log_["primal"].max()


def test_the_log_of_the_command_line(cli, tmp_path):
    data, log = tmp_path / "rows.csv", tmp_path / "log.jsonl"
    cli("generate", "--task", "ranking", "--n", 40, "--out", data)
    cli("train", data, "--log", log, "--model", tmp_path / "m.m4n")
    display = CertificateDisplay.from_log(log)
    written = pd.read_json(log, lines=True)
    for name in display.log:
        assert np.allclose(display.log[name], written[name], rtol=1e-12), name
    assert is_drawn(display)


def test_what_the_certificate_display_refuses(tmp_path):
    X, y = blobs(n=60)
    model = m4n.MaxMinClassifier().fit(X, y)
    with pytest.raises(m4n.Error, match="has no log_.*from_log"):
        CertificateDisplay.from_estimator(m4n.MaxMinClassifier.from_bytes(model.to_bytes()))
    with pytest.raises(m4n.Error, match="x must be one of 'epoch', 'seconds'"):
        CertificateDisplay.from_estimator(model, x="time")
    with pytest.raises(FileNotFoundError):
        CertificateDisplay.from_log(tmp_path / "nothing")
    (tmp_path / "log").write_text('{"epoch": 1}\n')
    with pytest.raises(m4n.Error, match="line 1: .*expected a line of"):
        CertificateDisplay.from_log(tmp_path / "log")


# ---- whether probabilities are right


def test_frequencies_are_those_of_calibration_curve():
    X, y = blobs(n=300, spread=2)
    model = m4n.MaxMinClassifier(surrogate="crf").fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y, n_bins=7)
    p = model.predict_proba(X)
    assert list(display.curves) == [0, 1, 2] and is_drawn(display)
    for c, curve in display.curves.items():
        frequency, probability = calibration_curve(y == c, p[:, c], n_bins=7)
        assert np.allclose(curve.frequency, frequency) and np.allclose(curve.probability, probability)
        assert (curve.low <= frequency).all() and (frequency <= curve.high).all()
        assert np.allclose(display.lines_[c].lines[0].get_xydata(), np.column_stack([probability, frequency]))


def test_weights_count_as_repeated_examples():
    X, y = blobs(n=90, spread=2)
    model = m4n.MaxMinClassifier(surrogate="crf").fit(X, y)
    weight = np.arange(90) % 3
    rows = np.repeat(np.arange(90), weight)
    weighted = ReliabilityDisplay.from_estimator(model, X, y, sample_weight=weight).curves
    repeated = ReliabilityDisplay.from_estimator(model, X[rows], y[rows]).curves
    for c in weighted:
        assert np.allclose(weighted[c].frequency, repeated[c].frequency)
        assert np.allclose(weighted[c].probability, repeated[c].probability)
        assert (weighted[c].high - weighted[c].low >= repeated[c].high - repeated[c].low - 1e-12).all()


def test_intervals_hold_the_probability_that_the_outcomes_have():
    """That of Wilson: of 400 samples, about 95%."""
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        curve = reliability(np.full(50, 0.2), (rng.random(50) < 0.2).astype(float), np.ones(50), 10)
        held += bool(curve.low[0] <= 0.2 <= curve.high[0])
    assert 0.92 < held / 400 < 0.98


def test_two_classes_and_sets_of_labels():
    X, y = blobs(n=200, k=2, spread=2)
    model = LogisticRegression().fit(X, y)
    display = ReliabilityDisplay.from_estimator(model, X, y)
    frequency, probability = calibration_curve(y, model.predict_proba(X)[:, 1], n_bins=10)
    assert list(display.curves) == [1] and np.allclose(display.curves[1].frequency, frequency)
    assert np.allclose(display.curves[1].probability, probability)
    marks = pd.DataFrame({"hot": X[:, 0] > 0, "wet": X[:, 1] > 0}).astype(int)
    sets = m4n.MaxMinMultiLabelClassifier(surrogate="crf").fit(X, marks)
    display = ReliabilityDisplay.from_estimator(sets, X, marks[["wet", "hot"]])
    frequency, _ = calibration_curve(marks["wet"], sets.predict_proba(X)[:, 1], n_bins=10)
    assert list(display.curves) == ["hot", "wet"] and np.allclose(display.curves["wet"].frequency, frequency)


def test_smoothed_models_take_the_costs_of_the_examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    bills = np.zeros((60, 2, 2))
    bills[:, 0, 1], bills[:, 1, 0] = rng.uniform(1, 10, size=60), 2
    model = m4n.MaxMinClassifier(smoothing=2.0).fit(X, y, costs=bills)
    display = ReliabilityDisplay.from_estimator(model, X, y, costs=bills)
    frequency, _ = calibration_curve(y, model.predict_proba(X, costs=bills)[:, 1], n_bins=10)
    assert np.allclose(display.curves[1].frequency, frequency)


def test_what_the_reliability_display_refuses():
    X, y = blobs(n=60)
    with pytest.raises(m4n.Error, match="MaxMinClassifier has no predict_proba: surrogate='crf'"):
        ReliabilityDisplay.from_estimator(m4n.MaxMinClassifier().fit(X, y), X, y)
    ranks = np.argsort(np.argsort(X[:, :3])) + 1
    ranker = m4n.MaxMinRanker(surrogate="crf").fit(X, ranks)
    with pytest.raises(m4n.Error, match=r"MaxMinRanker has no predict_proba: report\(X, y\)"):
        ReliabilityDisplay.from_estimator(ranker, X, ranks)
    with pytest.raises(m4n.Error, match="y_prob has 2 columns for the 3 classes"):
        ReliabilityDisplay.from_predictions(y, np.full((60, 2), 0.5))
    with pytest.raises(m4n.Error, match="y_prob must be n x k probabilities"):
        ReliabilityDisplay.from_predictions(y, np.full(60, 0.5))
    with pytest.raises(m4n.Error, match="y_true is empty"):
        ReliabilityDisplay.from_predictions([], np.zeros((0, 3)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ReliabilityDisplay.from_predictions(y[1:], np.full((60, 3), 0.3))
    for wrong in (0, 1001, 2.5, True, "10"):
        with pytest.raises(m4n.Error, match="n_bins must be a whole number from 1 to 1000"):
            ReliabilityDisplay.from_predictions(y, np.full((60, 3), 1 / 3), n_bins=wrong)
    assert ReliabilityDisplay.from_predictions(y, np.full((60, 3), 1 / 3), n_bins=np.int64(1000)).curves
    with pytest.raises(m4n.Error, match="y_true holds 7, which is none of 0, 1, 2"):
        ReliabilityDisplay.from_predictions(np.where(y == 0, 7, y), np.full((60, 3), 1 / 3), labels=[0, 1, 2])
    with pytest.raises(m4n.Error, match="labels names 1 twice"):
        ReliabilityDisplay.from_predictions(y, np.full((60, 3), 1 / 3), labels=[0, 1, 1])
    with pytest.raises(m4n.Error, match="y_true must be n x k of 0 and 1; found 2"):
        ReliabilityDisplay.from_predictions([[0, 1], [2, 0]], np.full((2, 2), 0.3))


@pytest.mark.parametrize(
    "row, expected",
    [
        ([0.5, 0.4, 0.098], "probabilities that sum to 1"),
        ([0.9, 0.9, 0.9], "probabilities that sum to 1"),
        ([1.5, -0.5, 0.0], "probabilities from 0 to 1"),
        ([np.nan, 0.5, 0.5], "probabilities from 0 to 1"),
    ],
)
def test_rows_that_are_no_probabilities(row, expected):
    rows = np.full((3, 3), 0.3333)  # rounded
    ReliabilityDisplay.from_predictions([0, 1, 2], rows)
    rows[1] = row
    with pytest.raises(m4n.Error, match=rf"y_prob\[1\] is {re.escape(str(row))}; expected {expected}"):
        ReliabilityDisplay.from_predictions([0, 1, 2], rows)


def test_without_matplotlib_it_says_what_to_install():
    program = "import sys; sys.modules['matplotlib'] = None; import m4n; import m4n.plot"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode != 0 and "pip install matplotlib" in done.stderr.splitlines()[-1]
    assert (
        subprocess.run([sys.executable, "-c", "import sys, m4n; sys.exit('matplotlib' in sys.modules)"]).returncode == 0
    )


def test_without_torch_it_says_what_to_install():
    program = "import sys, m4n; sys.modules['torch'] = None; import m4n.torch"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: m4n.torch needs torch: pip install m4n[torch]"
