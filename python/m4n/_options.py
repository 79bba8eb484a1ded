"""Parameters of estimators as options of the library, and its messages in the words of the estimators."""

from __future__ import annotations

import contextlib
import numbers
from typing import Any, Iterator, Optional

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from . import _core
from ._errors import Error

# Options of the library that estimators call otherwise.
PARAMETER_OF = {
    "lambda": "lam",
    "lambdas": "lams",
    "epochs": "max_iter",
    "components": "n_components",
    "seed": "random_state",
    "threads": "n_jobs",
    "bias": "fit_intercept",
    "hash": "hash_bits",
    "folds": "cv",
    "surrogates": "surrogate",
}

MOST_THREADS = 4096


@contextlib.contextmanager
def in_python_words(cost: str = "cost_matrix") -> Iterator[None]:
    """Errors of the library tell the names of options from other words; here they are parameters, ``cost`` that of
    costs."""

    def called(option: str) -> str:
        return cost if option == "loss" else PARAMETER_OF.get(option, option.replace("-", "_"))

    try:
        yield
    except Error as error:
        if not error.pieces:  # said here, in these words
            raise
        words = [(called(text) if is_option else text, is_remedy) for is_option, text, is_remedy in error.pieces]
        error.args = ("".join(text for text, _ in words),)
        error.remedy = "".join(text for text, is_remedy in words if is_remedy) or error.remedy
        error.option = called(error.option)
        raise


def number(name: str, value: Any, kind: type = numbers.Real) -> str:
    """A number as the library reads it back, bit by bit."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        expected = "a whole number" if kind is numbers.Integral else "a number"
        raise TypeError(f"{name} must be {expected}, found {value!r}")
    plain: Any = value
    return repr(int(plain)) if kind is numbers.Integral else repr(float(plain))


def quoted(names: Any) -> str:
    return ", ".join(map(repr, names))


def word(name: str, value: Any, allowed: Any) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise Error(f"{name} must be one of {quoted(allowed)}; found {value!r}")
    return value


def listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, dict, set)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a list, found {value!r:.80}")
    return list(value)


def reals(name: str, value: Any, expected: str) -> np.ndarray:
    """Numbers in an array; ``expected`` says of which shape."""
    try:
        found = np.asarray(value)
        if found.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(found, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {expected}, found {value!r}") from None


def yes_no(name: str, value: Any) -> str:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, found {value!r}")
    return "yes" if value else "no"


def threads_of(n_jobs: Optional[int]) -> int:
    """As everywhere in scikit-learn: None is 1, -1 all; results do not depend on it."""
    if n_jobs is not None and (isinstance(n_jobs, (bool, np.bool_)) or not isinstance(n_jobs, numbers.Integral)):
        raise TypeError(f"n_jobs must be None or a whole number, found {n_jobs!r}")
    return min(int(effective_n_jobs(n_jobs)), MOST_THREADS)


def seed_of(random_state: Any) -> str:
    """None is 0: a fit is repeatable unless a generator is passed."""
    if random_state is None:
        return "0"
    if isinstance(random_state, (bool, np.bool_)):
        raise TypeError(f"random_state must be None, a whole number or a RandomState, found {random_state!r}")
    if isinstance(random_state, numbers.Integral):
        if random_state < 0:
            raise Error(f"random_state must not be negative, found {random_state}")
        return str(int(random_state))
    return str(int(check_random_state(random_state).randint(np.iinfo(np.int32).max)))


def solver_options(estimator: Any) -> dict[str, str]:
    """What all estimators have in common."""
    options = {
        "tol": number("tol", estimator.tol),
        "epochs": number("max_iter", estimator.max_iter, numbers.Integral),
        "seed": seed_of(estimator.random_state),
    }
    if hasattr(estimator, "fit_intercept"):
        options["bias"] = yes_no("fit_intercept", estimator.fit_intercept)
    if getattr(estimator, "lam", None) is not None:
        options["lambda"] = number("lam", estimator.lam)
    if estimator.standardize is not None:
        options["standardize"] = yes_no("standardize", estimator.standardize)
    return options


def surrogate_options(estimator: Any, decoders: tuple[str, ...]) -> dict[str, str]:
    surrogate = word("surrogate", estimator.surrogate, _core.choices("surrogate"))
    return {"surrogate": surrogate, **decoding_options(estimator, decoders)}


def decoding_options(estimator: Any, decoders: tuple[str, ...]) -> dict[str, str]:
    """Smoothing and decoder, of one surrogate or of those to choose among."""
    options = {}
    smoothing = number("smoothing", getattr(estimator, "smoothing", 0.0))
    if smoothing != "0.0":
        options["smoothing"] = smoothing
    if estimator.decode is not None:
        options["decode"] = word("decode", estimator.decode, decoders)
    return options


def is_talkative(verbose: Any) -> bool:
    if not isinstance(verbose, (numbers.Real, np.bool_)):
        raise TypeError(f"verbose must be a whole number, found {verbose!r}")
    return bool(verbose)


def printer(verbose: Any) -> Any:
    """Called by the library with where a fit stands; None where nothing is to be said."""
    if not is_talkative(verbose):
        return None

    def show(epoch: int, seconds: float, primal: float, dual: float, relative_gap: float) -> None:
        print(f"[m4n] epoch {epoch}, {seconds:.2f} s: primal {primal:.6g}, dual {dual:.6g}, gap {relative_gap:.2e}")

    return show


def cv_printer(verbose: Any) -> Any:
    if not is_talkative(verbose):
        return None

    def show(done: int, total: int, seconds: float) -> None:
        print(f"[m4n] {done} of {total} paths, {seconds:.2f} s")

    return show
