"""Parameters of estimators as options of the library, and its messages in the words of the estimators."""

from __future__ import annotations

import contextlib
import numbers
import os
from decimal import Decimal
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
    "every": "checkpoint_every",
    "resume": "resume_from",
}

MOST_THREADS = 4096
LARGEST_SEED = 2**64 - 1
MOST_DIGITS = 40  # of whole numbers in messages
MOST_SHOWN = 80  # letters of a value in a message


def parameter_name(option: str, cost: str) -> str:
    """What an option of the library is called here; ``cost`` is the parameter of costs."""
    return cost if option == "loss" else PARAMETER_OF.get(option, option.replace("-", "_"))


def words_of(pieces: Any, cost: str) -> list[tuple[str, bool]]:
    """The pieces of a message of the library in the words of the estimators; and whether they are of the remedy."""
    return [(parameter_name(text, cost) if is_option else text, is_remedy) for is_option, text, is_remedy in pieces]


@contextlib.contextmanager
def in_python_words(cost: str = "cost_matrix") -> Iterator[None]:
    """Errors of the library tell the names of options from other words; here they are parameters, ``cost`` that of
    costs."""

    try:
        yield
    except Error as error:
        if not error.pieces:  # said here, in these words
            raise
        words = words_of(error.pieces, cost)
        error.args = ("".join(text for text, _ in words),)
        error.remedy = "".join(text for text, is_remedy in words if is_remedy) or error.remedy
        error.option = parameter_name(error.option, cost)
        raise


def whole_text(value: int) -> str:
    """The digits of a whole number; of one that has very many, the first and the exponent."""
    return repr(value) if abs(value) < 10**MOST_DIGITS else f"{Decimal(value):.3e}"


def shown(value: Any) -> str:
    """A value in one short line of a message."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return whole_text(int(value))
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # a number in it has more digits than Python writes
        text = f"{type(value).__name__} with a number of very many digits"
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 3] + "..."


def refusal(option: str, value: Any, expected: str, remedy: str = "", *, text: str = "") -> Error:
    """The error to raise where a parameter has a wrong value; ``text`` is the message before the remedy, if it is not
    the usual one."""
    text = text or f"{option} must be {expected}; found {shown(value)}"
    error = Error(f"{text}. {remedy}" if remedy else text)
    error.option, error.expected, error.remedy = option, expected, remedy
    error.value = value if isinstance(value, str) else shown(value)
    return error


def number(name: str, value: Any, kind: type = numbers.Real) -> str:
    """A number as the library reads it back, bit by bit; one that is too large for it keeps its size, and the library
    says what it expects."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        expected = "a whole number" if kind is numbers.Integral else "a number"
        raise TypeError(f"{name} must be {expected}, found {shown(value)}")
    plain: Any = value
    if kind is numbers.Integral:
        return whole_text(int(plain))
    try:
        return repr(float(plain))
    except OverflowError:
        return whole_text(int(plain))


def positive(name: str, value: Any, kind: type = numbers.Real) -> str:
    """A number above zero, as the library reads it back; it may know an upper limit."""
    found, whole = number(name, value, kind), kind is numbers.Integral
    if not float(found) > 0 or not whole and np.isinf(float(found)):
        raise refusal(name, value, "a whole number from 1" if whole else "a positive number that is finite")
    return found


def quoted(names: Any) -> str:
    return ", ".join(map(repr, names))


def word(name: str, value: Any, allowed: Any) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise refusal(name, value, f"one of {quoted(allowed)}")
    return value


def listed(name: str, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, dict, set)) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a list, found {shown(value)}")
    return list(value)


def reals(name: str, value: Any, expected: str) -> np.ndarray:
    """Numbers in an array; ``expected`` says of which shape."""
    try:
        found = np.asarray(value)
        if found.dtype.kind not in "biufO":
            raise TypeError
        return np.asarray(found, dtype=np.float64, order="C")
    except OverflowError:
        raise refusal(name, value, f"numbers of a size up to {np.finfo(np.float64).max:.3g}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {expected}, found {shown(value)}") from None


def yes_no(name: str, value: Any) -> str:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, found {shown(value)}")
    return "yes" if value else "no"


def threads_of(n_jobs: Optional[int]) -> int:
    """As everywhere in scikit-learn: None is 1, -1 all; results do not depend on it."""
    if n_jobs is not None and (isinstance(n_jobs, (bool, np.bool_)) or not isinstance(n_jobs, numbers.Integral)):
        raise TypeError(f"n_jobs must be None or a whole number, found {shown(n_jobs)}")
    if n_jobs == 0:
        raise refusal("n_jobs", n_jobs, "None or a whole number other than 0", "-1 stands for all processors")
    return min(int(effective_n_jobs(n_jobs)), MOST_THREADS)


def seed_of(random_state: Any) -> str:
    """None is 0: a fit is repeatable unless a generator is passed."""
    if random_state is None:
        return "0"
    expected = f"None, a whole number from 0 to {LARGEST_SEED}, or a RandomState"
    whole = isinstance(random_state, numbers.Integral)
    if isinstance(random_state, (bool, np.bool_)) or whole and not 0 <= int(random_state) <= LARGEST_SEED:
        raise refusal("random_state", random_state, expected)
    if whole:
        return str(int(random_state))
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise refusal("random_state", random_state, expected) from None
    return str(int(generator.randint(np.iinfo(np.int32).max)))


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
    for option, parameter in (("checkpoint", "checkpoint"), ("resume", "resume_from")):
        if getattr(estimator, parameter, None) is not None:
            options[option] = file_name(parameter, getattr(estimator, parameter))
    if "checkpoint" in options:
        options["every"] = number("checkpoint_every", estimator.checkpoint_every)
    return options


def file_name(name: str, value: Any) -> str:
    """The name of a file that the library opens."""
    try:
        path = os.fsdecode(os.fspath(value))
        path.encode()
    except TypeError:
        raise TypeError(f"{name} must be the name of a file, found {shown(value)}") from None
    except UnicodeEncodeError:
        raise refusal(name, value, "a name in UTF-8") from None
    if not path or "\0" in path:
        raise refusal(name, value, "the name of a file")
    return path


def encoded(path: Any) -> bytes:
    """The name of a file as the system has it."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise refusal("path", shown(path), "the name of a file", text="embedded null byte in the path")
    return name


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
        raise TypeError(f"verbose must be a whole number, found {shown(verbose)}")
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
