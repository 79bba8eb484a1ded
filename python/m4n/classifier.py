"""Classes without an order."""

from __future__ import annotations

from typing import Any

from ._cv import TableSearch
from ._tabular import MaxMinTabular


class MaxMinClassifier(MaxMinTabular):
    """Linear or kernel classifier that minimises the cost its user states.

    Minimises the mean surrogate loss plus lam/2 |w|^2, and certifies how close to the optimum it came.

    Parameters
    ----------
    cost_matrix : None, k x k array or 'zero-one', 'absolute', 'squared', default None
        cost_matrix[true][predicted], classes in the order of classes_. None, 'zero-one': every mistake costs 1.
        The others are |i - j| and (i - j)^2 for the ranks i and j of classes that are numbers. A data frame whose rows and columns
        are named by classes may have any order, and more classes than y.
    surrogate : 'm4n', 'm3n', 'crf' or 'qs', default 'm4n'
        Max-min margin, max-margin, log-likelihood, or squared error of the costs.
    smoothing : float, default 0
        m4n only: of the max-min game, in units of the mean cost of a mistake; 0 is plain m4n.
    decode : None, 'argmax', 'adversary' or 'expected', default None
        From scores to a class: the largest score, the min player's most likely answer (m4n), or the least expected
        cost (crf, qs, smoothed m4n). None: the usual one for surrogate and costs, see decode_.
    features : 'linear', 'rbf', 'laplacian', 'poly', 'rbf-centers', 'nystrom' or 'fourier', default 'linear'
    gamma : float, 'median' or None, default None
        Of the kernel; None is 'median', from the distances of training pairs.
    n_components : int or None, default None
        Centres, landmarks or waves; None: 200 for rbf-centers, else 500.
    degree : int, default 3
        Of the poly kernel.
    lam : float or None, default None
        Weight of |w|^2 / 2 beside the mean loss; None: 1/n, with sample_weight 1 / their sum. Large costs want a
        smaller one: MaxMinClassifierCV finds it.
    tol : float, default 1e-3
        Stop when the relative duality gap is at most that.
    max_iter : int, default 1000
        Passes over the data.
    class_weight : None, 'balanced' or dict, default None
    standardize : bool or None, default None
        Scale every feature to mean 0 and variance 1 (sparse: no centring). None: if X is dense.
    fit_intercept : bool, default True
        A constant feature 1, regularised like the others.
    random_state : int, RandomState or None, default None
        None is 0: fits are repeatable.
    n_jobs : int or None, default None
        Threads; results do not depend on it.
    verbose : int, default 0

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, n_iter_
    coef_, intercept_ : of linear features, for X as it comes; one row for two classes
    certificate_ : Certificate, with primal, dual, gap, relative_gap, converged
    lam_, decode_, cost_matrix_, gamma_ : what was used

    Examples
    --------
    >>> from m4n import MaxMinClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MaxMinClassifier(lam=0.01).fit(X, y).certificate_.converged
    True
    """

    _task = "multiclass"
    _usual_cost = None

    def __init__(
        self,
        cost_matrix: Any = None,
        *,
        surrogate: str = "m4n",
        smoothing: float = 0.0,
        decode: Any = None,
        features: str = "linear",
        gamma: Any = None,
        n_components: Any = None,
        degree: int = 3,
        lam: Any = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        standardize: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost_matrix = cost_matrix
        self.surrogate = surrogate
        self.smoothing = smoothing
        self.decode = decode
        self.features = features
        self.gamma = gamma
        self.n_components = n_components
        self.degree = degree
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MaxMinClassifierCV(TableSearch, MaxMinTabular):
    """MaxMinClassifier with lam, and if asked the surrogate, chosen by the mean cost on held-out parts.

    Parameters
    ----------
    lams : sequence of float or None, default None
        To choose from, each fit started from the solution of the next larger one; None: 2^0 to 2^-16, those below
        2^-8 only while the best is among the last two.
    cv : int, splitter or iterable, default None
        As everywhere in scikit-learn; None: 5 stratified folds.
    surrogate : str or list, default 'm4n'
        'm4n', 'smoothed' (m4n with smoothing, 4 unless given), 'm3n', 'crf', 'qs', several of them in a list, or
        'auto': m4n (for asymmetric costs with both decoders), smoothed, m3n, crf.
    extend : bool, default True
        Go on beyond the grid, up to four times two steps, while the best lam is at its edge.

    The others are those of MaxMinClassifier.

    Attributes
    ----------
    lam_ : the lam that was chosen
    best_cost_ : its mean cost on the held-out parts
    surrogate_, smoothing_, decode_ : and what with
    cv_results_ : dict of arrays: surrogate, smoothing, decode, lam, mean_cost, std_cost, converged, split<i>_cost

    Those of MaxMinClassifier, of the fit on all the data.
    """

    _task = "multiclass"
    _usual_cost = None

    def __init__(
        self,
        cost_matrix: Any = None,
        *,
        lams: Any = None,
        cv: Any = None,
        surrogate: Any = "m4n",
        smoothing: float = 0.0,
        decode: Any = None,
        features: str = "linear",
        gamma: Any = None,
        n_components: Any = None,
        degree: int = 3,
        tol: float = 1e-3,
        max_iter: int = 1000,
        extend: bool = True,
        class_weight: Any = None,
        standardize: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
    ) -> None:
        self.cost_matrix = cost_matrix
        self.lams = lams
        self.cv = cv
        self.surrogate = surrogate
        self.smoothing = smoothing
        self.decode = decode
        self.features = features
        self.gamma = gamma
        self.n_components = n_components
        self.degree = degree
        self.tol = tol
        self.max_iter = max_iter
        self.extend = extend
        self.class_weight = class_weight
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
