"""m4n.boosting in XGBoost and LightGBM, beside softprob with decisions of least expected cost."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from m4n import oracle
from m4n.boosting import objective

xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
ROUNDS = 40


def of_xgboost(**more):
    return xgboost.XGBClassifier(n_estimators=ROUNDS, learning_rate=0.3, max_depth=3, n_jobs=1, **more)


def of_lightgbm(**more):
    return lightgbm.LGBMClassifier(
        n_estimators=ROUNDS, learning_rate=0.3, max_depth=3, n_jobs=1, verbose=-1, deterministic=True, **more
    )


def scores_of(model, x):
    return model.predict(x, **{"raw_score" if isinstance(model, lightgbm.LGBMClassifier) else "output_margin": True})


def split(load):
    """At most 400 examples to learn from, and costs."""
    x, y = load(return_X_y=True)
    k = y.max() + 1
    cost = np.random.default_rng(2).uniform(0.1, 1.9, size=(k, k)) * (1 - np.eye(k))
    x, t, y, truth = train_test_split(x, y, train_size=0.6, random_state=0, stratify=y)
    return x[:400], t, y[:400], truth, cost


def smoothed_loss(scores, y, cost, smoothing):
    v = np.column_stack([0 * scores, scores]) if scores.ndim == 1 else scores
    unit = cost.sum() / (cost.size - len(cost))
    return oracle.loss(unit * v, y, cost, smoothing=smoothing)[0].mean() / unit


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("learner", [of_xgboost, of_lightgbm])
def test_beside_softprob(learner, load):
    """It costs much less than to ignore the features, and not much more than softprob: docs/boosting.md says how much."""
    x, t, y, truth, cost = split(load)
    loss = objective(cost)
    model = clone(learner(objective=loss)).fit(x, y)
    paid = cost[truth, loss.decode(scores_of(model, t))].mean()
    softprob = cost[truth, (learner().fit(x, y).predict_proba(t) @ cost).argmin(axis=1)].mean()
    blind = min(cost[truth, p].mean() for p in range(len(cost)))
    assert paid < 0.3 * blind and paid < softprob + 0.1 * blind


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
@pytest.mark.parametrize("learner", [of_xgboost, of_lightgbm])
def test_every_round_lowers_the_loss(learner, load):
    """As a bound of the Hessian makes it do, with steps shortened by learning_rate or not."""
    x, _, y, _, cost = split(load)
    seen = []

    class Watched(objective):
        def __call__(self, y_true, y_pred, sample_weight=None):
            seen.append(np.asarray(y_pred, dtype=float).copy())
            return super().__call__(y_true, y_pred, sample_weight)

    loss = Watched(cost)
    learner(objective=loss).set_params(learning_rate=1.0).fit(x, y)
    values = [smoothed_loss(scores, y, cost, loss.smoothing) for scores in seen]
    assert len(seen) == ROUNDS and (np.diff(values) <= 1e-9).all() and values[-1] < 0.2 * values[0]


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_native_interfaces_do_the_same(load):
    x, t, y, _, cost = split(load)
    k, loss = len(cost), objective(cost)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    classes = {"num_class": k} if k > 2 else {}
    given = {"learning_rate": 0.3, "max_depth": 3, "nthread": 1, "disable_default_eval_metric": 1, "base_score": 0.0}
    native = xgboost.train({**given, **classes}, xgboost.DMatrix(x, y, weight=weight), ROUNDS, obj=loss)
    model = of_xgboost(objective=loss, base_score=0.5).fit(x, y, sample_weight=weight)
    found = native.predict(xgboost.DMatrix(t), output_margin=True)
    assert found.shape == scores_of(model, t).shape and (loss.decode(found) == loss.decode(scores_of(model, t))).all()

    given = {"learning_rate": 0.3, "max_depth": 3, "num_threads": 1, "verbose": -1, "deterministic": True}
    data = lightgbm.Dataset(x, y, weight=weight)
    native = lightgbm.train({"objective": loss, **given, **classes}, data, ROUNDS)
    model = of_lightgbm(objective=loss).fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(native.predict(t, raw_score=True), scores_of(model, t), atol=1e-9)
