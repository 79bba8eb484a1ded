"""Predictions that are no class: frames of costs with more columns, and m4n.costs."""

import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import blobs, tagged, write_csv
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

import m4n
from m4n import MaxMinClassifier, MaxMinClassifierCV, MaxMinOrdinalClassifier, MaxMinSequenceLabeler, costs

NAMES = np.array(["low", "mid", "top"])
FORMS = {
    "m4n": {},
    "smoothed": {"smoothing": 1.0},
    "crf": {"surrogate": "crf"},
    "qs": {"surrogate": "qs"},
    "rbf": {"features": "rbf"},
}


def mean_cost(frame, truth, predicted, weight=None):
    """Row by row, by names."""
    each = [frame.loc[t, p] for t, p in zip(truth, predicted)]
    return np.average(each, weights=weight)


@pytest.fixture
def frame():
    return pd.DataFrame(
        [[0.0, 1, 3, 0.4, 0.9], [2, 0, 1, 0.4, 0.1], [5, 1, 0, 0.4, 2]],
        dtype=float,
        index=list(NAMES),
        columns=[*NAMES, "ask", "wait"],
    )


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_score_is_minus_the_mean_cost(frame, options):
    X, y = blobs(seed=1)
    found = MaxMinClassifier(frame, **options).fit(X, NAMES[y])
    predicted = found.predict(X)
    assert found.certificate_.converged
    assert found.classes_.tolist() == list(NAMES)
    assert found.predictions_.tolist() == [*NAMES, "ask", "wait"]
    assert np.array_equal(found.cost_matrix_, frame.to_numpy())
    assert set(predicted) <= set(frame.columns) and set(predicted) & {"ask", "wait"}
    assert found.score(X, NAMES[y]) == pytest.approx(-mean_cost(frame, NAMES[y], predicted))
    weight = np.arange(len(y)) % 3 + 0.5
    assert found.score(X, NAMES[y], weight) == pytest.approx(-mean_cost(frame, NAMES[y], predicted, weight))
    # A label that was never seen costs the most.
    unseen = np.where(np.arange(len(y)) == 0, "none", NAMES[y])
    expected = (5 + len(y) * -found.score(X, NAMES[y]) - frame.loc[NAMES[y][0], predicted[0]]) / len(y)
    assert found.score(X, unseen) == pytest.approx(-expected)


def test_frames_in_any_order(frame):
    X, y = blobs(seed=2)
    right = MaxMinClassifier(frame).fit(X, NAMES[y])
    rows, columns = ["top", "low", "mid"], ["ask", "mid", "wait", "top", "low"]
    assert MaxMinClassifier(frame.loc[rows, columns]).fit(X, NAMES[y]).to_bytes() == right.to_bytes()
    # Actions keep the order of the frame.
    turned = MaxMinClassifier(frame.loc[rows, ["wait", "low", "ask", "mid", "top"]]).fit(X, NAMES[y])
    assert turned.predictions_.tolist() == [*NAMES, "wait", "ask"]
    assert -turned.score(X, NAMES[y]) == pytest.approx(mean_cost(frame, NAMES[y], turned.predict(X)))
    # Classes that y has not are left out, as rows and as columns.
    more = frame.copy()
    more.loc["none"] = 7.0
    more.insert(2, "none", [7.0, 7, 7, 0])
    assert MaxMinClassifier(more).fit(X, NAMES[y]).to_bytes() == right.to_bytes()


def test_arrays_have_the_classes_first(frame):
    X, y = blobs(seed=3)
    one = MaxMinClassifier(frame.iloc[:, :4].to_numpy()).fit(X, NAMES[y])
    assert one.predictions_.tolist() == [*NAMES, "reject"]
    two = MaxMinClassifier(frame.to_numpy()).fit(X, NAMES[y])
    assert two.predictions_.tolist() == [*NAMES, "action1", "action2"]
    named = MaxMinClassifier(frame).fit(X, NAMES[y])
    assert np.array_equal(two.decision_function(X), named.decision_function(X))


def test_numbered_classes_and_an_action_are_objects():
    X, y = blobs(seed=4)
    frame = costs.reject([0, 1, 2], 0.4)
    found = MaxMinClassifier(frame).fit(X, y)
    assert found.predictions_.dtype == object and found.predictions_.tolist() == [0, 1, 2, "reject"]
    predicted = found.predict(X)
    assert predicted.dtype == object and {type(p) for p in predicted.tolist()} == {int, str}
    assert found.score(X, y) == pytest.approx(-mean_cost(frame, y, predicted))
    loaded = MaxMinClassifier.from_bytes(found.to_bytes())
    assert loaded.predictions_.tolist() == [0, 1, 2, "reject"] and np.array_equal(loaded.predict(X), predicted)
    # Without actions they stay numbers, and with words all are words.
    assert MaxMinClassifier(costs.balanced(y)).fit(X, y).predict(X).dtype.kind == "i"
    assert MaxMinClassifier(costs.reject(NAMES, 0.4)).fit(X, NAMES[y]).predict(X).dtype.kind == "U"


def test_truth_values_and_fractions_as_classes():
    X, y = blobs(k=2, seed=5)
    found = MaxMinClassifier(costs.reject([False, True], 0.1)).fit(X, y == 1)
    assert found.predictions_.tolist() == [False, True, "reject"] and "reject" in found.predict(X).tolist()
    grades = np.array([0.5, 2.0])
    found = MaxMinOrdinalClassifier(costs.reject([0.5, 2.0], 0.1), categories=grades).fit(X, grades[y])
    assert found.predictions_.tolist() == [0.5, 2.0, "reject"]
    assert found.score(X, grades[y]) == pytest.approx(
        -mean_cost(costs.reject([0.5, 2.0], 0.1), grades[y], found.predict(X))
    )


def test_actions_alone():
    X, y = blobs(seed=6)
    frame = pd.DataFrame([[0, 5], [1, 0], [4, 1]], index=[2, 0, 1], columns=["treat", "wait"])
    for options in FORMS.values():
        found = MaxMinClassifier(frame, **options).fit(X, y)
        assert found.predictions_.tolist() == ["treat", "wait"]
        assert set(found.predict(X)) == {"treat", "wait"}
        assert found.score(X, y) == pytest.approx(-mean_cost(frame, y, found.predict(X)))


def test_many_classes_and_few_actions():
    X, y = blobs(n=220, k=11, d=6, seed=7, spread=0.7)
    frame = pd.DataFrame({"in": y_cost(0), "out": y_cost(1)})
    for options in FORMS.values():
        found = MaxMinClassifier(frame, lam=0.01, **options).fit(X, y)
        assert found.certificate_.converged and found.certificate_.gap >= 0
        best_constant = min(frame[name].to_numpy()[y].mean() for name in frame)
        assert -found.score(X, y) < best_constant


def y_cost(action):
    return [float((c % 3 == 0) == (action == 1)) for c in range(11)]


def test_scores_and_coefficients_fit_together():
    X, y = blobs(k=2, seed=8)
    words = NAMES[y]
    frame = costs.reject(NAMES[:2], 0.2)
    for surrogate in ("m4n", "crf"):
        found = MaxMinClassifier(frame, surrogate=surrogate).fit(X, words)
        assert found.coef_.shape == (1, X.shape[1]) and found.decision_function(X).shape == (len(X),)
        assert np.allclose(X @ found.coef_[0] + found.intercept_, found.decision_function(X))
    found = MaxMinClassifier(frame, surrogate="qs").fit(X, words)
    assert found.coef_.shape == (3, X.shape[1]) and found.decision_function(X).shape == (len(X), 3)
    assert np.allclose(X @ found.coef_.T + found.intercept_, found.decision_function(X))
    assert np.array_equal(found.predictions_[found.decision_function(X).argmax(axis=1)], found.predict(X))


def test_rejection_follows_the_probabilities_of_the_crf():
    X, y = blobs(seed=9)
    found = MaxMinClassifier(costs.reject(NAMES, 0.2), surrogate="crf").fit(X, NAMES[y])
    p = found.predict_proba(X)
    assert p.shape == (len(X), 3)
    expected = np.where(1 - p.max(axis=1) < 0.2, NAMES[p.argmax(axis=1)], "reject")
    assert np.array_equal(found.predict(X), expected)
    assert (expected == "reject").any() and (expected != "reject").any()


@pytest.mark.parametrize("options", FORMS.values(), ids=FORMS)
def test_pickled_saved_and_loaded(frame, options, tmp_path):
    X, y = blobs(seed=10)
    found = MaxMinClassifier(frame, **options).fit(X, NAMES[y])
    found.save(tmp_path / "m.m4n")
    for again in (
        pickle.loads(pickle.dumps(found)),
        MaxMinClassifier.load(tmp_path / "m.m4n"),
        MaxMinClassifier.from_bytes(found.to_bytes()),
    ):
        assert again.predictions_.tolist() == found.predictions_.tolist()
        assert np.array_equal(again.predict(X), found.predict(X)) and again.to_bytes() == found.to_bytes()
        assert again.score(X, NAMES[y]) == found.score(X, NAMES[y])
        # It is fitted again with the same costs and the same names.
        assert clone(again).fit(X, NAMES[y]).to_bytes() == found.to_bytes()
    assert clone(found).cost_matrix.equals(frame)
    assert not hasattr(clone(found), "predictions_")


def test_the_tool_reads_it(frame, cli, tmp_path):
    X, y = blobs(seed=11)
    found = MaxMinClassifier(frame).fit(X, NAMES[y])
    found.save(tmp_path / "m.m4n")
    data = write_csv(tmp_path / "d.csv", X, NAMES[y])
    assert cli("predict", tmp_path / "m.m4n", data).split()[1:] == found.predict(X).tolist()
    judged = cli("eval", tmp_path / "m.m4n", data, "--json")
    assert judged["loss"] == pytest.approx(-found.score(X, NAMES[y]))
    assert judged["metrics"]["rejected"] == pytest.approx(np.isin(found.predict(X), ["ask", "wait"]).mean())


@pytest.mark.filterwarnings("ignore::m4n.SearchWarning")
def test_search(frame):
    X, y = blobs(seed=12)
    found = MaxMinClassifierCV(frame, surrogate="auto", lams=[0.1, 0.01], cv=3, extend=False).fit(X, NAMES[y])
    table = found.cv_results_
    tried = set(zip(table["surrogate"].tolist(), table["decode"].tolist()))
    assert tried == {("m4n", "adversary"), ("m4n", "expected"), ("crf", "expected")}
    assert found.predictions_.tolist() == [*NAMES, "ask", "wait"]
    assert set(found.predict(X)) <= set(found.predictions_)
    plain = MaxMinClassifierCV(frame, lams=[0.1, 0.01], cv=3, extend=False).fit(X, NAMES[y])
    same = MaxMinClassifier(frame, lam=plain.lam_).fit(X, NAMES[y])
    assert np.array_equal(plain.predict(X), same.predict(X))
    with pytest.raises(ValueError, match="m3n scores classes against classes|m3n"):
        MaxMinClassifierCV(frame, surrogate=["m4n", "m3n"], lams=[0.1], cv=3).fit(X, NAMES[y])


def test_cross_val_score_of_scikit_learn(frame):
    X, y = blobs(seed=13)
    found = cross_val_score(MaxMinClassifier(frame), X, NAMES[y], cv=3)
    assert np.isfinite(found).all() and (found <= 0).all()


def test_what_knows_classes_only_is_refused(frame):
    X, y = blobs(seed=14)
    for options, message in (
        ({"surrogate": "m3n"}, "m3n"),
        ({"decode": "argmax"}, "argmax"),
        ({"surrogate": "crf", "decode": "argmax"}, "argmax"),
    ):
        with pytest.raises(m4n.Error, match=message) as caught:
            MaxMinClassifier(frame, **options).fit(X, NAMES[y])
        assert "ask" in str(caught.value) and "--" not in str(caught.value)


def test_bad_frames_are_refused(frame):
    X, y = blobs(seed=15)

    def refused(costs):
        with pytest.raises(m4n.Error) as caught:
            MaxMinClassifier(costs).fit(X, NAMES[y])
        return str(caught.value)

    assert "expected" in refused(frame.rename(index={"low": "lwo"}))
    assert "expected" in refused(frame.rename(columns={"low": "lwo"}))
    assert "expected" in refused(frame.drop(index="mid"))
    assert "two columns called 'ask'" in refused(frame.rename(columns={"wait": "ask"}))
    assert "two rows called" in refused(pd.concat([frame, frame]))
    assert "finite" in refused(frame.where(frame != 0.9, np.nan))
    assert "finite" in refused(frame.where(frame != 0.9, np.inf))
    assert "cost" in refused(frame.drop(columns=["low", "mid"]))
    assert "shape" in refused(frame.to_numpy()[:, :2])
    assert "shape" in refused(frame.to_numpy()[:2])
    wrong = frame.copy()
    wrong.loc["mid", "top"] = -1
    assert "'mid'" in refused(wrong) and "'top'" in refused(wrong)
    # Actions may be as cheap as they like.
    wrong = frame.copy()
    wrong["wait"] = -1.0
    assert (MaxMinClassifier(wrong).fit(X, NAMES[y]).predict(X) == "wait").all()


# ---- m4n.costs ---------------------------------------------------------------------------------------------------


def test_reject_adds_a_column_and_leaves_the_frame_alone(frame):
    before = frame.copy()
    found = costs.reject(frame, 0.25, name="pass")
    assert frame.equals(before) and found["pass"].tolist() == [0.25] * 3
    assert found.drop(columns="pass").equals(frame)
    twice = costs.reject(found, 1)
    assert twice.columns.tolist() == [*frame.columns, "pass", "reject"]
    assert costs.reject(iter(["a", "b"]), -1).to_numpy().tolist() == [[0, 1, -1], [1, 0, -1]]


def test_balanced_weighs_classes_by_their_rarity():
    y = ["a"] * 6 + ["b"] * 3 + ["c"]
    found = costs.balanced(y)
    assert found.index.tolist() == found.columns.tolist() == ["a", "b", "c"]
    for name, count in (("a", 6), ("b", 3), ("c", 1)):
        others = [other for other in "abc" if other != name]
        assert found.loc[name, name] == 0 and np.allclose(found.loc[name, others], 10 / (3 * count))
        assert count * found.loc[name, others[0]] == pytest.approx(10 / 3)  # the same in all
    assert costs.balanced(np.array([1, 1, 0])).index.tolist() == [0, 1]


def test_gains_become_costs():
    gains = pd.DataFrame({"lend": [5.0, -100], "decline": [0.0, 0]}, index=["pays", "defaults"])
    found = costs.from_business(gains)
    assert found.loc["pays"].tolist() == [0, 5] and found.loc["defaults"].tolist() == [100, 0]
    as_dicts = {t: {d: gains.loc[t, d] for d in gains} for t in gains.index}
    assert costs.from_business(as_dicts).equals(found)
    # Adding a number to a row of gains changes nothing.
    assert costs.from_business(gains.add([7, -3], axis=0)).equals(found)


def test_trees_of_classes():
    edges = [("cat", "animal"), ("dog", "animal", 0.5), ("animal", "thing", 2), ("car", "thing")]
    names = ["dog", "car", "cat"]
    found = costs.tree(edges, names)
    assert found.index.tolist() == found.columns.tolist() == names
    assert found.to_numpy().tolist() == [[0, 3.5, 1.5], [3.5, 0, 4], [1.5, 4, 0]]
    inner = costs.tree(edges, names, inner=True)
    assert inner.columns.tolist() == [*names, "animal", "thing"]
    assert inner.loc["dog"].tolist() == [0, 3.5, 1.5, 0.5, 2.5]
    numbers = costs.tree({1: "odd", 3: "odd", 2: "all", "odd": "all"}, [1, 2, 3], inner=True)
    assert numbers.index.tolist() == [1, 2, 3] and numbers.columns.tolist() == [1, 2, 3, "odd", "all"]
    quoted = costs.tree({'a,"b"': "x", "c": "x"}, ['a,"b"', "c"])
    assert quoted.to_numpy().tolist() == [[0, 2], [2, 0]]
    X, y = blobs(seed=16)
    fitted = MaxMinClassifier(numbers).fit(X, y + 1)
    assert fitted.predictions_.tolist() == [1, 2, 3, "odd", "all"]
    assert fitted.score(X, y + 1) == pytest.approx(-mean_cost(numbers, y + 1, fitted.predict(X)))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: costs.reject(["a", "a"], 0.2), "at least two classes, each once"),
        (lambda: costs.reject(["a"], 0.2), "at least two classes"),
        (lambda: costs.reject(["a", "reject"], 0.2), "no prediction has yet"),
        (lambda: costs.reject(["a", "b"], float("nan")), "cost must be a finite number"),
        (lambda: costs.reject(["a", "b"], float("inf")), "cost must be a finite number"),
        (lambda: costs.balanced(["a", "a"]), "at least two classes"),
        (lambda: costs.balanced([]), "at least two classes"),
        (lambda: costs.from_business({"pays": {"lend": 5}, "defaults": {"decline": 0}}), "'decline'.*'pays'"),
        (lambda: costs.from_business({"pays": {"lend": float("inf")}}), "'lend'.*'pays'"),
        (lambda: costs.tree({"a": "b", "b": "a"}, ["a", "b"]), "circle"),
        (lambda: costs.tree({"a": "x"}, ["a", "b"]), "class 'b' is no node"),
        (lambda: costs.tree([("a", "x"), ("b", "y")], ["a", "b"]), "no parent"),
        (lambda: costs.tree([("a", "x"), ("a", "y")], ["a"]), "has a parent already"),
        (lambda: costs.tree([("a", "x", -1)], ["a"]), "positive"),
        (lambda: costs.tree([("a", "x", 0)], ["a"]), "positive"),
        (lambda: costs.tree([("a", "x", "far")], ["a"]), "'far'"),
        (lambda: costs.tree([("a",)], ["a"]), "1 cell"),
        (lambda: costs.tree({}, ["a", "b"]), "empty"),
        (lambda: costs.tree({"a": "x", "b": "x"}, ["a", "a"]), "'a' occurs twice"),
    ],
)
def test_bad_input_of_costs_is_refused(call, message):
    with pytest.raises(m4n.Error, match=message):
        call()


@pytest.mark.parametrize("cost", ["cheap", None, True, [0.2]])
def test_the_cost_of_rejection_is_a_number(cost):
    with pytest.raises(TypeError, match="cost must be a number"):
        costs.reject(["a", "b"], cost)


def test_max_margin_has_no_actions():
    X, y = tagged()
    with pytest.raises(m4n.Error, match="some predictions are no class .*reject"):
        MaxMinSequenceLabeler(costs.reject(["B", "I", "O"], 0.2), surrogate="m3n").fit(X, y)


def test_probabilities_of_a_smoothed_game():
    X, y = load_iris(return_X_y=True)
    matrix = np.array([[0, 1, 4.0], [2, 0, 1], [9, 3, 0]])
    model = m4n.MaxMinClassifier(matrix, smoothing=4.0, tol=1e-6).fit(X, y)
    p = model.predict_proba(X)
    assert p.shape == (150, 3) and np.allclose(p.sum(axis=1), 1) and p.min() >= 0
    assert (p == 0).any(), "the smoothed game gives sparse distributions"
    risk = p @ matrix
    found = risk[np.arange(150), model.predict(X)]
    assert np.allclose(found, risk.min(axis=1), atol=1e-6)
    with pytest.raises(AttributeError) as refused:
        m4n.MaxMinClassifier(matrix).fit(X, y).predict_proba(X)
    assert "surrogate='m4n' defines no probabilities; fit with surrogate='crf'" in str(refused.value.__cause__)


def test_tokens_nodes_and_labels_are_rejected():
    random = np.random.default_rng(0)
    tokens = [random.normal(size=(5, 3)) for _ in range(40)]
    tags = [["ab"[int(x[0] + 0.7 * random.normal() > 0)] for x in rows] for rows in tokens]
    costs = m4n.costs.reject(["a", "b"], 0.2)
    labeler = m4n.MaxMinSequenceLabeler(costs, surrogate="crf").fit(tokens, tags)
    found = labeler.predict(tokens)
    assert {tag for row in found for tag in row} == {"a", "b", "reject"}
    assert labeler.predictions_.tolist() == ["a", "b", "reject"]
    bill = np.mean([np.mean([0.2 if p == "reject" else p != t for p, t in zip(*rows)]) for rows in zip(found, tags)])
    assert labeler.score(tokens, tags) == pytest.approx(-bill)
    again = m4n.MaxMinSequenceLabeler.from_bytes(labeler.to_bytes())
    assert again.predict(tokens) == found and list(again.cost_matrix.columns) == ["a", "b", "reject"]
    graphs = [(rows, [(0, 1), (1, 2), (2, 3), (3, 4)]) for rows in tokens]
    nodes = m4n.MaxMinGraphLabeler(costs, surrogate="crf").fit(graphs, tags)
    assert "reject" in {tag for row in nodes.predict(graphs) for tag in row}
    assert nodes.score(graphs, tags) < 0
    X = random.normal(size=(200, 3))
    Y = (X[:, :2] + 0.7 * random.normal(size=(200, 2)) > 0).astype(int)
    sets = m4n.MaxMinMultiLabelClassifier([[1, 1], [1, 1], [0.2, 0.2]], surrogate="crf").fit(X, Y)
    marks = sets.predict(X)
    assert set(marks.ravel()) == {-1, 0, 1}
    assert sets.score(X, Y) == pytest.approx(-np.where(marks < 0, 0.2, marks != Y).mean())
    assert np.shape(m4n.MaxMinMultiLabelClassifier.from_bytes(sets.to_bytes()).cost) == (3, 2)
