"""scikit-learn's own checks, for every estimator whose X is a table.

MaxMinRanker and MaxMinMultiLabelClassifier learn from permutations and from columns of 0 and 1, while the checks bring
one label per example. Thin subclasses turn these labels into such outputs, so that everything the checks ask of X,
parameters, attributes and predictions is asked of them, too.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_array

from m4n import (
    MaxMinClassifier,
    MaxMinClassifierCV,
    MaxMinMultiLabelClassifier,
    MaxMinMultiLabelClassifierCV,
    MaxMinOrdinalClassifier,
    MaxMinOrdinalClassifierCV,
    MaxMinRanker,
    MaxMinRankerCV,
)


def halves(y):
    """0 and 1 by the order of the labels, in one column."""
    y = check_array(y, ensure_2d=False, dtype=None, input_name="y").ravel()
    return (np.unique(y, return_inverse=True)[1] % 2)[:, None]


class FromLabels:
    """Learns from, and is judged by, outputs that ``outputs(0 or 1)`` makes of the labels of the checks."""

    def fit(self, X, y, sample_weight=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        return super().fit(X, self.outputs(halves(y)), sample_weight)

    def score(self, X, y, sample_weight=None):
        return super().score(X, self.outputs(halves(y)), sample_weight)


class Ranks(FromLabels):
    """Two items, the first of which is better where the label is in one half."""

    @staticmethod
    def outputs(half):
        return np.hstack([1 + half, 2 - half])


class Marks(FromLabels):
    """One label that is on in one half."""

    @staticmethod
    def outputs(half):
        return half

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = None, None  # what it predicts is not the y of the checks
        return tags


class Ranker(Ranks, MaxMinRanker):
    pass


class RankerCV(Ranks, MaxMinRankerCV):
    pass


class MultiLabel(Marks, MaxMinMultiLabelClassifier):
    pass


class MultiLabelCV(Marks, MaxMinMultiLabelClassifierCV):
    pass


# The tolerance is that of one check, which compares fits by weights with fits by repeated rows to seven digits.
SEARCH = {"lams": [1.0, 0.1, 0.01], "cv": 3, "tol": 1e-13}
ESTIMATORS = [
    MaxMinClassifier(tol=1e-13),
    MaxMinClassifier(surrogate="crf", tol=1e-13),
    MaxMinOrdinalClassifier(tol=1e-13),
    MaxMinClassifierCV(**SEARCH),
    MaxMinOrdinalClassifierCV(**SEARCH),
    Ranker(tol=1e-13),
    RankerCV(**SEARCH),
    MultiLabel(tol=1e-13),
    MultiLabelCV(**SEARCH),
]


def exclusions(estimator):
    """Checks that cannot hold, with the reason. test_weights.py and test_permutations.py have what can be asked."""
    if not isinstance(estimator, Ranks):
        return {}
    reason = "wants one column of predictions, and the least a ranking has is two items"
    return {"check_estimator_sparse_array": reason, "check_estimator_sparse_matrix": reason}


@pytest.mark.filterwarnings("ignore:the grades .* are words:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exclusions)
def test_estimator(estimator, check):
    check(estimator)
