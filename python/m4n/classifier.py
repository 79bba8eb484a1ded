"""Classes without an order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._cv import ClassSearch
from ._options import quoted
from ._parameters import LamParameter, doc, documented
from ._tabular import MaxMinTabular


@dataclass(kw_only=True, eq=False, repr=False)
class ClassEstimator(MaxMinTabular):
    """Shared by MaxMinClassifier and its CV form."""

    _task = "multiclass"
    _usual_cost = None

    cost_matrix: Any = field(
        default=None,
        kw_only=False,
        metadata=doc(
            f"None, k x k array or {quoted(_core.losses(_task))}",
            """cost_matrix[true][predicted], classes in the order of ``classes_``. None, 'zero-one': every mistake costs 1.
            The others are ``|i - j|`` and ``(i - j)^2`` for the ranks i and j of classes that are numbers. A data frame whose
            rows and columns are named by classes may have any order, and more classes than y. Further columns are
            predictions that are no class. A cell that is a word names a column of X: the cost differs from example to
            example.""",
        ),
    )


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinClassifier(LamParameter, ClassEstimator):
    """Linear or kernel classifier that minimises the cost its user states.

    Minimises the mean surrogate loss plus ``lam/2 |w|^2``, and certifies how close to the optimum it came.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, n_iter_ : as everywhere in scikit-learn
    coef_, intercept_ : of linear features, for X as it comes; one row for two classes
    certificate_ : Certificate, with primal, dual, gap, relative_gap, converged
    log_ : of the last fit, dict of arrays: epoch, seconds, primal, dual, relative_gap, an entry by certificate
    lam_, decode_, cost_matrix_, gamma_ : what was used

    Examples
    --------
    >>> from m4n import MaxMinClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MaxMinClassifier(lam=0.01).fit(X, y).certificate_.converged
    True
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinClassifierCV(ClassSearch, ClassEstimator):
    """MaxMinClassifier with lam, and if asked the surrogate, chosen by the mean cost on held-out parts.

    Attributes
    ----------
    lam_ : the lam that was chosen
    best_cost_ : its mean cost on the held-out parts
    surrogate_, smoothing_, decode_ : and what with
    cv_results_ : dict of arrays: surrogate, smoothing, decode, lam, mean_cost, std_cost, converged, split<i>_cost
    classes_, coef_, certificate_ and the others : as those of MaxMinClassifier, of the fit on all the data
    """
