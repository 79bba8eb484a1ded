"""What there is to look at: the page of a model, and what a notebook shows of it."""

from __future__ import annotations

import html
from typing import Any, ClassVar, NamedTuple, Sequence

import numpy as np
from sklearn import get_config
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._errors import Error
from ._example_costs import has_columns
from ._options import encoded, in_python_words, seed_of, threads_of, yes_no
from ._weights import positive_weights

UNKNOWN = -1  # a label, as the library counts them


class Judged(NamedTuple):
    """Examples that a model is judged by. Labels are counted as the model does; those that it has never seen come
    behind, by their names in ``unseen``."""

    data: Any
    unseen: Sequence[str] = ()


def unknown_labels(count: int) -> np.ndarray:
    return np.full(count, UNKNOWN, dtype=np.int32)


def readable(text: Any) -> str:
    """As a page in UTF-8 can hold it."""
    return str(text).encode(errors="replace").decode()


def ids_of(X: Any, examples: int) -> list[str]:
    """What the page calls the examples: the index of a data frame, or numbers from 0."""
    return [readable(name) for name in (X.index if has_columns(X) and hasattr(X, "index") else range(examples))]


class Pages:
    """Of every estimator."""

    _by_example: ClassVar[bool] = False  # whether costs may differ from example to example

    def _judged_by(self, X: Any, y: Any, costs: Any) -> Judged:
        """``y``: None: nobody knows."""
        raise NotImplementedError

    def report(
        self: Any,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        costs: Any = None,
        path: Any = None,
        markdown: bool = False,
        examples: bool = True,
        title: Any = None,
        data_name: Any = "X",
        random_state: Any = None,
    ) -> str:
        """The page that the command ``m4n report`` makes: what predictions cost on X, y, where the cost comes from, how
        well the model is trained, and what it goes by.

        Parameters
        ----------
        X, y : data that the model has not seen; without y the page says what is predicted, without both what it is
        sample_weight : weights of the examples
        costs : n x k x K, where fit was given such costs
        path : where the page is written, too: the file is there whole or not at all
        markdown : write Markdown instead of HTML
        examples : whether the costliest examples are shown, by the index of a data frame X or numbers from 0
        title : of the page; None: the name of the class
        data_name : what the page calls the data
        random_state : of the resamples behind the intervals; None is 0

        Returns
        -------
        The page as a str: HTML that needs nothing else, with all names escaped, or Markdown.
        """
        check_is_fitted(self)
        own_name = type(self).__name__
        if costs is not None and not self._by_example:
            raise Error(f"costs: those of {own_name} are the same for all examples; leave them out")
        if X is None and any(given is not None for given in (y, sample_weight, costs)):
            raise Error("y, sample_weight and costs belong to examples, but X is None; pass X")
        target = None if path is None else encoded(path)
        shows, as_text = yes_no("examples", examples) == "yes", yes_no("markdown", markdown) == "yes"
        with in_python_words(self._cost_name):
            judged = Judged(None) if X is None else self._judged_by(X, y, costs)
            ids: list[str] = []
            if X is not None:
                ids = ids_of(X, judged.data.examples)
                if sample_weight is not None:
                    judged.data.set_weights(positive_weights(sample_weight, np.zeros(len(ids))))
            page = _core.page(
                self._model, judged.data, list(judged.unseen), ids,
                (readable(own_name if title is None else title), readable(data_name)), f"{own_name}.report",
                self._steps(), shows, as_text, int(seed_of(random_state)), threads_of(self.n_jobs),
            )  # fmt: skip
        if target is not None:
            _core.write_file(target, page)
        return page

    def _steps(self: Any) -> list[tuple[Any, ...]]:
        """The certificates of the fit; none for models that were loaded."""
        return list(zip(*(column.tolist() for column in getattr(self, "log_", {}).values())))

    # ---- in a notebook: scikit-learn's diagram, and below it what was learnt

    def _facts(self: Any) -> list[tuple[str, str]]:
        """What there is to say of a fitted estimator in a line each."""
        model, certificate = self._model, self.certificate_
        smoothed = f", smoothing {model.smoothing:.4g}" if model.smoothing > 0 else ""
        facts = [("cost", f"{model.train_loss:.4g} in the mean on the training data (loss {model.loss})")]
        if hasattr(self, "best_cost_"):
            facts.append(("held out", f"{self.best_cost_:.4g} in the mean on parts that the fits had not seen"))
        return [
            *facts,
            ("surrogate", f"{model.surrogate}{smoothed}, decoded by {self.decode_}"),
            ("lam", f"{self.lam_:.6g}"),
            (
                "certificate",
                f"The best possible objective lies between {certificate.dual:.6g} and {certificate.primal:.6g}. This "
                f"model is at {certificate.primal:.6g}: longer training lowers it by at most "
                f"{certificate.relative_gap:.3%}, which is "
                + ("within tol." if certificate.converged else "more than tol: training ended early."),
            ),
            ("more", "docs/python.md, How to read the certificate; report(X, y) makes a page with pictures"),
        ]

    def _summary(self: Any) -> str:
        """As HTML; nothing before a fit."""
        if not hasattr(self, "_model"):
            return ""
        cell = 'style="text-align: left; vertical-align: top; white-space: normal"'
        rows = "".join(
            f"<tr><th {cell}>{html.escape(name)}</th><td {cell}>{html.escape(text)}</td></tr>"
            for name, text in self._facts()
        )
        return f'<table class="m4n-summary">{rows}</table>'

    def _repr_html_inner(self: Any) -> str:
        return super()._repr_html_inner() + self._summary()  # type: ignore[misc]

    def _repr_mimebundle_(self: Any, **options: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if get_config()["display"] == "diagram":
            bundle["text/html"] += self._summary()
        return bundle
