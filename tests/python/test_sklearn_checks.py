"""scikit-learn's own checks, for every estimator of tables.

MaxMinRanker and MaxMinMultiLabelClassifier have tables for X, but their Y are permutations, and several columns of 0 and
1: the checks make a y of their own, which they must refuse. test_permutations.py and test_multilabel.py have those of
the checks that make sense.
"""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from m4n import MaxMinClassifier, MaxMinClassifierCV, MaxMinOrdinalClassifier, MaxMinOrdinalClassifierCV

# The tolerance is that of one check, which compares fits by weights with fits by repeated rows to seven digits.
ESTIMATORS = [
    MaxMinClassifier(tol=1e-13),
    MaxMinClassifier(surrogate="crf", tol=1e-13),
    MaxMinOrdinalClassifier(tol=1e-13),
    MaxMinClassifierCV(lams=[1.0, 0.1, 0.01], cv=3, tol=1e-13),
    MaxMinOrdinalClassifierCV(lams=[1.0, 0.1, 0.01], cv=3, tol=1e-13),
]


def exclusions(estimator):
    """Checks that cannot hold, with the reason. test_weights.py has the same check with the digits there are."""
    if estimator.surrogate != "crf":
        return {}
    reason = "crf keeps its dual variables in single precision: scores near zero agree to fewer than seven digits"
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@pytest.mark.filterwarnings("ignore:the grades .* are words:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=exclusions)
def test_estimator(estimator, check):
    check(estimator)
