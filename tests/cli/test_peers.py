"""Against independent truth: scikit-learn's logistic regression, SVM and metrics, and a general LP solver."""

import numpy as np
import pytest
from conftest import blobs, write_csv
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, confusion_matrix, f1_score, mean_absolute_error
from sklearn.svm import LinearSVC


def score_matrix(m4n, model, data, k):
    rows = m4n.predict(model, data, "--scores")
    return np.array([[float(row[f"score_{c}"]) for c in range(k)] for row in rows])


@pytest.mark.parametrize("solver", ["auto", "lbfgs"])
@pytest.mark.parametrize("standardize", ["yes", "no"])
def test_crf_is_logistic_regression(m4n, tmp_path, solver, standardize):
    x, y = blobs(200, 5, 4, seed=11)
    data = write_csv(tmp_path / "data.csv", x, y)
    regularisation = 0.01
    report = m4n.train(data, tmp_path / "m.m4n", "--surrogate", "crf", "--lambda", regularisation, "--tol", "1e-11",
                       "--standardize", standardize, "--solver", solver, "--epochs", 100000)  # fmt: skip
    assert report["converged"]
    z = (x - x.mean(axis=0)) / x.std(axis=0) if standardize == "yes" else x
    z = np.hstack([z, np.ones((len(z), 1))])
    peer = LogisticRegression(C=1 / (regularisation * len(y)), fit_intercept=False, tol=1e-12, max_iter=10000).fit(z, y)
    rows = m4n.predict(tmp_path / "m.m4n", data, "--marginals")
    ours = np.array([[float(row[f"p_{c}"]) for c in range(4)] for row in rows])
    np.testing.assert_allclose(ours, peer.predict_proba(z), atol=1e-5)


def test_m3n_is_the_crammer_singer_svm(m4n, tmp_path):
    x, y = blobs(120, 4, 3, seed=12)
    data = write_csv(tmp_path / "data.csv", x, y)
    regularisation = 0.02
    report = m4n.train(data, tmp_path / "m.m4n", "--surrogate", "m3n", "--lambda", regularisation, "--tol", "1e-7",
                       "--standardize", "no", "--epochs", 100000)  # fmt: skip
    assert report["converged"]
    z = np.hstack([x, np.ones((len(x), 1))])
    peer = LinearSVC(
        multi_class="crammer_singer", C=1 / (regularisation * len(y)), fit_intercept=False, tol=1e-8, max_iter=1000000
    ).fit(z, y)
    v = z @ peer.coef_.T
    hinge = (v + 1 - np.eye(3)[y]).max(axis=1) - v[np.arange(len(y)), y]
    objective = hinge.mean() + regularisation / 2 * (peer.coef_**2).sum()
    # The peer's weights are as good as ours, and our lower bound holds for them.
    assert report["dual"] <= objective * (1 + 1e-12)
    assert report["primal"] == pytest.approx(objective, rel=1e-5)


def maxmin_loss(cost, v, y):
    """max over mu in the simplex of min_p (sum_t mu_t cost[t][p]) + v.mu - v_y, as a linear program in (mu, t)."""
    k = len(v)
    solution = linprog(
        np.append(-v, -1.0),
        A_ub=np.hstack([-cost.T, np.ones((k, 1))]),
        b_ub=np.zeros(k),
        A_eq=[[1.0] * k + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * k + [(None, None)],
    )
    return -solution.fun - v[y]


COSTS = {
    "zero-one": 1 - np.eye(4),
    "absolute": np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float),
    "squared": np.subtract.outer(np.arange(4), np.arange(4)).astype(float) ** 2,
    "matrix": np.array([[0, 1, 2, 5], [3, 0, 1, 1], [0.5, 0.25, 0, 4], [1, 1, 1, 0]], float),
}


@pytest.mark.parametrize("loss", COSTS)
@pytest.mark.parametrize("options", [[], ["--solver", "gbcfw"], ["--oracle", "spmp", "--epochs", "30"]], ids=" ".join)
def test_m4n_objective_is_what_a_linear_program_says(m4n, tmp_path, loss, options):
    x, y = blobs(40, 3, 4, seed=13)
    data = write_csv(tmp_path / "data.csv", x, y)
    spec = loss
    if loss == "matrix":
        spec = tmp_path / "costs.csv"
        np.savetxt(spec, COSTS[loss], delimiter=",")
    report = m4n.train(data, tmp_path / "m.m4n", "--loss", spec, "--lambda", "0.01", *options)
    v = score_matrix(m4n, tmp_path / "m.m4n", data, 4)
    objective = np.mean([maxmin_loss(COSTS[loss], v[i], y[i]) for i in range(len(y))]) + 0.005 * report["norm_squared"]
    # `primal` is exact or an upper bound, `dual` a lower bound of the optimum and so of every objective.
    assert report["dual"] <= objective <= report["primal"] * (1 + 1e-9)
    if not options:
        assert report["converged"]
        assert report["primal"] == pytest.approx(objective, rel=1e-8)


def test_qs_is_ridge_regression_on_the_costs(m4n, tmp_path):
    x, y = blobs(50, 3, 4, seed=14)
    data = write_csv(tmp_path / "data.csv", x, y)
    spec = tmp_path / "costs.csv"
    np.savetxt(spec, COSTS["matrix"], delimiter=",")
    m4n.train(data, tmp_path / "m.m4n", "--surrogate", "qs", "--loss", spec, "--lambda", "0.1", "--standardize", "no")
    z = np.hstack([x, np.ones((len(x), 1))])
    target = -COSTS["matrix"][y]
    w = np.linalg.solve(2 * z.T @ z / len(y) + 0.1 * np.eye(4), 2 * z.T @ target / len(y))
    np.testing.assert_allclose(score_matrix(m4n, tmp_path / "m.m4n", data, 4), z @ w, atol=1e-10)


def labels_and_predictions(m4n, tmp_path, task, k):
    x, y = blobs(150, 3, k, seed=15, spread=2.5)
    data = write_csv(tmp_path / "data.csv", x, y)
    m4n.train(data, tmp_path / "m.m4n", "--task", task)
    predicted = [int(row["label"]) for row in m4n.predict(tmp_path / "m.m4n", data)]
    assert 0 < np.mean(predicted == y) < 1
    return y, predicted, m4n.json("eval", tmp_path / "m.m4n", data)


def test_class_metrics(m4n, tmp_path):
    y, predicted, report = labels_and_predictions(m4n, tmp_path, "multiclass", 4)
    metrics = report["metrics"]
    assert metrics["error"] == pytest.approx(np.mean(predicted != y))
    assert metrics["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, predicted))
    assert metrics["macro_f1"] == pytest.approx(f1_score(y, predicted, average="macro"))
    np.testing.assert_array_equal(metrics["confusion"], confusion_matrix(y, predicted))


def test_grade_metrics(m4n, tmp_path):
    y, predicted, report = labels_and_predictions(m4n, tmp_path, "ordinal", 5)
    metrics = report["metrics"]
    assert metrics["mae"] == pytest.approx(mean_absolute_error(y, predicted))
    assert report["loss"] == pytest.approx(metrics["mae"])
    assert metrics["qwk"] == pytest.approx(cohen_kappa_score(y, predicted, weights="quadratic"))
    assert metrics["within_one"] == pytest.approx(np.mean(np.abs(np.subtract(y, predicted)) <= 1))
    by_grade = [np.mean(np.abs(np.array(predicted)[y == g] - g)) for g in range(5)]
    assert metrics["macro_mae"] == pytest.approx(np.mean(by_grade))
