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


def certified(model: Any, tol: float) -> Certificate:
    """The certificate of a model, with a warning if the tolerance was not reached."""
    certificate = Certificate(**model.certificate())
    if not certificate.converged:
        warnings.warn(
            f"stopped after {model.epochs} iterations at a relative gap of {certificate.relative_gap:.3g}, the "
            f"tolerance is {tol:.3g}: allow more with max_iter, ask for less with tol, or regularise more with lam",
            ConvergenceWarning,
            stacklevel=3,
        )
    return certificate
