"""What all estimators have in common: the way from data to a model of the library, and the model file."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import stat
from typing import Any, ClassVar, Iterator, NamedTuple, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._certificate import Certificate, warn_unless_converged
from ._errors import Error
from ._labels import Costs, classes_from_names
from ._options import (
    encoded,
    in_python_words,
    printer,
    refusal,
    solver_options,
    surrogate_options,
    threads_of,
    yes_no,
)
from ._pages import Pages
from ._parameters import LearningParameters

FIRST_BYTES = b"M4NMODEL"  # of every model file


class Training(NamedTuple):
    """What a fit needs: data for the library, its options, costs by rows; the classes, where outputs have some; the
    number of examples that were given and, where weights of zero leave some out, which are kept; the sum of the weights
    that stand for repeated examples."""

    data: Any
    options: dict[str, str]
    cost: Costs
    classes: Any
    examples: int
    kept: Optional[np.ndarray] = None
    total_weight: Optional[float] = None


@contextlib.contextmanager
def undone_on_failure(estimator: Any) -> Iterator[None]:
    """A fit that fails leaves an estimator as it was."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def site() -> str:
    """Where the documentation is on the web, as the package was told; empty where it was not."""
    try:
        told = importlib.metadata.metadata("m4n").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:  # from a build folder
        return ""
    addresses = dict(address.split(", ", 1) for address in told)
    return addresses.get("Documentation", "").rstrip("/")


def has_probabilities(estimator: Any) -> bool:
    chosen = getattr(estimator, "_model", None) or estimator
    if chosen.surrogate == "crf" or getattr(chosen, "smoothing", 0) > 0:
        return True
    raise AttributeError(
        f"surrogate={chosen.surrogate!r} defines no probabilities; fit with surrogate='crf', or classes and grades with "
        "smoothing"
    )


class Estimator(LearningParameters, Pages, BaseEstimator):
    """An estimator that keeps a model of the library in ``_model``."""

    _task: ClassVar[str]
    _model: Any
    _decoders: ClassVar[tuple[str, ...]] = ("argmax", "adversary", "expected")
    _cost_name: ClassVar[str] = "cost_matrix"  # how the parameter of costs is called
    _doc_link_module = "m4n"  # scikit-learn shows a link to the reference beside an estimator

    @property
    def _doc_link_template(self) -> str:
        return site() and site() + "/api/generated/m4n.{estimator_name}.html"

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **more: Any) -> Any:
        """To be called from fit: warnings point at the line that called it. ``more`` is what only some estimators
        learn from."""
        with undone_on_failure(self):
            training = self._training(X, y, sample_weight, **more)
            self._adopt(self._learn(training, X, y, groups), training.classes)
        return warn_unless_converged(self)

    def _learn(self, training: Training, X: Any, y: Any, groups: Any) -> Any:
        """The model of these data and options. X, y and groups are for those who split."""
        start = None
        if yes_no("warm_start", getattr(self, "warm_start", False)) == "yes":
            start = self.__dict__.get("_start") or _core.WarmStart()
        with in_python_words(self._cost_name):
            model, self.log_ = _core.fit(
                training.data, training.options, training.cost, training.total_weight, threads_of(self.n_jobs),
                printer(self.verbose), start,
            )  # fmt: skip
        self._start = start
        return model

    def __getstate__(self) -> Any:
        """Where the next fit may start is no part of a copy."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_start"}

    def _common_options(self) -> dict[str, str]:
        return {"task": self._task, **solver_options(self), **self._surrogate_options()}

    def _surrogate_options(self) -> dict[str, str]:
        return surrogate_options(self, self._decoders)

    def _adopt(self, model: Any, classes: Any) -> Any:
        """Take over what a model has to say."""
        self._model = model
        self.n_iter_ = model.epochs
        self.lam_ = model.lam
        self.decode_ = model.decoder
        self.certificate_ = Certificate(**model.certificate())
        return self

    def _adopt_weights(self, model: Any) -> None:
        for name in ("coef_", "intercept_", "gamma_"):
            self.__dict__.pop(name, None)
        features = model.features()
        if features["kind"] == "linear":
            weights = model.arrays()
            self.coef_, self.intercept_ = weights["coef"], weights["intercept"]
        else:
            self.gamma_ = features["gamma"]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    # ---- the model file: the same bytes from Python and from the command m4n

    def save(self, path: Any) -> None:
        """Write the model file that the command m4n reads."""
        check_is_fitted(self)
        self._model.save(encoded(path))

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        check_is_fitted(self)
        return self._model.to_bytes()

    @classmethod
    def load(cls, path: Any) -> Any:
        """An estimator from a model file, whether Python or the command m4n wrote it.

        The file names classes in text: names that are all numbers become numbers.
        """
        text = encoded(path).decode(errors="replace")
        if not stat.S_ISREG(os.stat(path).st_mode):  # a device or a pipe may have no end
            remedy = "Give the path of a model file; from_bytes takes the bytes of one from elsewhere"
            raise refusal("path", text, "a regular file", remedy, text=f"{text}: is no regular file")
        with open(path, "rb") as file:
            start = file.read(len(FIRST_BYTES))
            return cls.from_bytes(start + file.read() if start == FIRST_BYTES else start, text)

    @classmethod
    def from_bytes(cls, data: Any, name: str = "the model") -> Any:
        """An estimator from the bytes of a model file; ``name`` stands in messages."""
        model = _core.Model.from_bytes(bytes(memoryview(data)), str(name))
        if model.task != cls._task:
            raise Error(f"{name}: is a model of the task {model.task}; {cls.__name__} is for {cls._task}")
        estimator: Any = cls(**cls._parameters_of(model))
        estimator.n_features_in_ = model.d
        if model.feature_names:
            estimator.feature_names_in_ = np.array(model.feature_names, dtype=object)
        return estimator._adopt(model, classes_from_names(model.classes))

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        """The parameters that give such a model, as far as it remembers them."""
        return {
            "surrogate": model.surrogate,
            "decode": model.decoder,
            "lam": model.lam,
            "tol": model.tol,
            "random_state": model.seed,
        }
