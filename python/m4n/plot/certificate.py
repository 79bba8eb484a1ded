"""How well an estimator is trained."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import _core
from .._errors import Error
from .._options import file_name, in_python_words, word
from ._display import Display, last_step


class CertificateDisplay(Display):
    """The interval that provably holds the best possible objective, as training went on.

    Parameters
    ----------
    log : dict of arrays: epoch, seconds, primal, dual, relative_gap, an entry by certificate; as ``log_`` of estimators

    Attributes
    ----------
    lines_ : the upper and the lower end
    interval_, ax_, figure_ : what plot drew
    """

    def __init__(self, log: dict[str, Any]) -> None:
        self.log = log

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **plot: Any) -> CertificateDisplay:
        """Of the last fit of an estimator; ``plot`` is for plot()."""
        estimator = last_step(estimator)
        check_is_fitted(estimator)
        if not hasattr(estimator, "log_"):
            raise Error(
                f"this {type(estimator).__name__} has no log_, which fit of m4n's estimators keeps and model files do "
                "not. CertificateDisplay.from_log takes the file of m4n train --log"
            )
        return cls(estimator.log_).plot(ax=ax, **plot)

    @classmethod
    def from_log(cls, path: Any, *, ax: Any = None, **plot: Any) -> CertificateDisplay:
        """Of a file that the command ``m4n train --log`` wrote; ``plot`` is for plot()."""
        name = file_name("path", path)
        os.stat(name)  # an OSError says what is not there
        with in_python_words():
            return cls(_core.read_log(name)).plot(ax=ax, **plot)

    def plot(self, *, ax: Any = None, x: str = "epoch", **line_kw: Any) -> CertificateDisplay:
        """Draw both ends over ``x``, 'epoch' (passes over the data) or 'seconds'. ``line_kw`` is for matplotlib's plot.

        In view are the values that primal takes, and as much below: dual often starts much lower.
        """
        over, low, high = (
            np.asarray(self.log[name]) for name in (word("x", x, ("epoch", "seconds")), "dual", "primal")
        )
        ax = self._on(ax)
        style = {"marker": "o", "markersize": 3, **line_kw}
        (upper,) = ax.plot(over, high, label="primal: this far", **style)
        (lower,) = ax.plot(over, low, label="dual: cannot be lower", **style)
        self.lines_ = (upper, lower)
        self.interval_ = ax.fill_between(over, low, high, alpha=0.15, color="gray", label="holds the optimum")
        ax.set(xlabel="passes over the data" if x == "epoch" else x, ylabel="objective")
        ax.set_title(f"relative gap {np.asarray(self.log['relative_gap'])[-1]:.2g} at the end")
        if (span := max(high.max() - high[-1], 2 * (high[-1] - low[-1]))) > 0:
            ax.set_ylim(low[-1] - span, high[-1] + 1.1 * span)
        self._add_legend()
        return self
