"""Rows of features for the library, and what is made of them."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy import sparse

from . import _core
from ._options import positive, word

SAMPLED = ("rbf-centers", "nystrom", "fourier")
REALS = [np.float64, np.float32]  # what the library reads as it is


def features_for_core(X: Any) -> Any:
    """The array itself, or the parts of a CSR matrix in canonical form."""
    if not sparse.issparse(X):
        # Steps of a record are no multiples of a number's size.
        aligned = X.flags.aligned and not any(step % X.itemsize for step in X.strides)
        return X if aligned else np.ascontiguousarray(X)
    if not X.has_canonical_format or not X.data.all():
        X.check_format(full_check=True)  # what follows trusts it
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
    return X.indptr, X.indices, X.data, X.shape[1]


def feature_options(estimator: Any) -> dict[str, str]:
    """As with the kernels of scikit-learn, what the features have no use for is passed over; but it must make sense."""
    features = word("features", estimator.features, _core.choices("features"))
    options = {"features": features}
    median = estimator.gamma is None or isinstance(estimator.gamma, str) and estimator.gamma == "median"
    gamma = "median" if median else positive("gamma", estimator.gamma)
    asked = 1 if estimator.n_components is None else estimator.n_components
    components = positive("n_components", asked, numbers.Integral)
    degree = positive("degree", estimator.degree, numbers.Integral)
    if features != "linear":
        options["gamma"] = gamma
    if features in SAMPLED and estimator.n_components is not None:
        options["components"] = components
    if features == "poly":
        options["degree"] = degree
    return options


def feature_parameters(model: Any) -> dict[str, Any]:
    """The parameters that give such features."""
    found = model.features()
    kind = found["kind"]
    return {
        "features": kind,
        "gamma": None if kind == "linear" else found["gamma"],
        "degree": found["degree"] if kind == "poly" else 3,
        "n_components": found["points"] if kind in SAMPLED else None,
        "standardize": found["standardized"],
        "fit_intercept": found["bias"],
    }
