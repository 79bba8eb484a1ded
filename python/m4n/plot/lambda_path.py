"""How lam, and the surrogate, were chosen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._errors import Error
from ._display import Display, last_step


class CostPath(NamedTuple):
    """The mean cost on held-out parts over lams, with its standard error over the parts."""

    lams: np.ndarray
    mean_costs: np.ndarray
    errors: np.ndarray


class LambdaPathDisplay(Display):
    """The mean cost on held-out parts over lam, for every surrogate that was tried, and the one that was chosen.

    Parameters
    ----------
    paths : dict of CostPath (lams, mean_costs, errors), by the names of what was tried
    chosen : the name, and the lam, of the choice

    Attributes
    ----------
    lines_ : dict of matplotlib's ErrorbarContainer, by name
    chosen_, ax_, figure_ : what plot drew
    """

    def __init__(self, paths: dict[str, CostPath], chosen: tuple[str, float]) -> None:
        self.paths, self.chosen = paths, chosen

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **plot: Any) -> LambdaPathDisplay:
        """Of a CV estimator that was fitted; ``plot`` is for plot()."""
        estimator = last_step(estimator)
        check_is_fitted(estimator)
        table = getattr(estimator, "cv_results_", {})
        if not {"surrogate", "smoothing", "decode", "lam", "mean_cost"} <= set(table):
            raise Error(
                "LambdaPathDisplay needs the table cv_results_ of m4n's CV estimators, which this "
                f"{type(estimator).__name__} has not: fit a CV form; model files do not keep the table"
            )
        tried = list(zip(table["surrogate"].tolist(), table["smoothing"].tolist(), table["decode"].tolist()))
        parts = np.column_stack([column for name, column in table.items() if name.startswith("split")])
        count = (~np.isnan(parts)).sum(axis=1)
        spread = np.nansum((parts - table["mean_cost"][:, None]) ** 2, axis=1)
        errors = np.sqrt(spread / np.maximum(count - 1, 1) / count)
        names = names_of_tried(list(dict.fromkeys(tried)))
        paths = {}
        for kind, name in names.items():
            own = np.flatnonzero([other == kind for other in tried])
            own = own[np.argsort(table["lam"][own])]
            paths[name] = CostPath(table["lam"][own], table["mean_cost"][own], errors[own])
        chosen = names[(estimator.surrogate_, estimator.smoothing_, estimator.decode_)]
        return cls(paths, (chosen, estimator.lam_)).plot(ax=ax, **plot)

    def plot(self, *, ax: Any = None, **errorbar_kw: Any) -> LambdaPathDisplay:
        """Draw the means with bars of one standard error, and a ring around the choice. ``errorbar_kw`` is for
        matplotlib's errorbar."""
        ax = self._on(ax)
        style = {"marker": "o", "markersize": 3, "capsize": 2, "elinewidth": 0.8, **errorbar_kw}
        self.lines_ = {
            name: ax.errorbar(path.lams, path.mean_costs, path.errors, label=name, **style)
            for name, path in self.paths.items()
        }
        name, lam = self.chosen
        path = self.paths[name]
        cost = path.mean_costs[np.argmin(np.abs(np.log(path.lams / lam)))]
        (self.chosen_,) = ax.plot(
            [lam], [cost], linestyle="none", marker="o", markersize=12, markerfacecolor="none", markeredgewidth=1.5,
            color="black", label=f"chosen: {name}, lam {lam:.3g}", zorder=5,
        )  # fmt: skip
        ax.set(xscale="log", xlabel="lam", ylabel="mean cost on held-out parts")
        self._add_legend()
        return self


def names_of_tried(kinds: list[tuple[str, float, str]]) -> dict[tuple[str, float, str], str]:
    """Names for surrogates, smoothings and decoders: as short as tells them apart."""
    names = {}
    for surrogate, smoothing, decode in kinds:
        name = f"{surrogate}, smoothing {smoothing:g}" if smoothing > 0 else surrogate
        alike = [other for other in kinds if other[:2] == (surrogate, smoothing)]
        names[surrogate, smoothing, decode] = f"{name}, {decode}" if len(alike) > 1 else name
    return names
