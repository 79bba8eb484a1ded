"""How close to the optimum a fit came."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning


@dataclass(frozen=True)
class Certificate:
    """The best possible objective lies between ``dual`` and ``primal``, whatever the solver did.

    ``gap`` is their difference, ``relative_gap`` that divided by ``primal``; ``converged`` says whether it is at most
    the tolerance that was asked for.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    converged: bool


def warn_unless_converged(estimator: Any) -> Any:
    """To be called from what fit calls: the warning points at the line that called fit."""
    certificate = estimator.certificate_
    if not certificate.converged:
        warnings.warn(
            f"stopped after {estimator.n_iter_} iterations at a relative gap of {certificate.relative_gap:.3g}, the "
            f"tolerance is {float(estimator.tol):.3g}: allow more with max_iter, ask for less with tol, or regularise "
            "more with a larger lam",
            ConvergenceWarning,
            stacklevel=4,
        )
    return estimator
