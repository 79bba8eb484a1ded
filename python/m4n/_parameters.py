"""The parameters that estimators share, each declared once: name, default, what it is.

Estimators are dataclasses whose fields are their parameters; scikit-learn sees an ordinary __init__. ``documented``
writes the section Parameters of a docstring from the fields.
"""

from __future__ import annotations

import dataclasses
import textwrap
from dataclasses import dataclass, field
from typing import Any, TypeVar

WIDTH = 116

Class = TypeVar("Class", bound=type)


def doc(kind: str, text: str = "") -> dict[str, str]:
    """What the docstring says of a parameter: its values, and what it does."""
    return {"kind": kind, "text": text}


def parameter_lines(cls: Any) -> list[str]:
    """The positional ones first, then those of the class before those of its bases."""
    declared = [name for base in cls.__mro__ for name in vars(base).get("__annotations__", ())]
    lines = []
    for own in sorted(dataclasses.fields(cls), key=lambda own: (own.kw_only, declared.index(own.name))):
        lines.append(f"{own.name} : {own.metadata['kind']}, default {own.default!r}")
        text = " ".join(own.metadata["text"].split())
        lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return lines


def documented(cls: Class) -> Class:
    """The docstring with its parameters, before the section Attributes or at the end."""
    if cls.__doc__ is None:  # python -OO
        return cls
    text = textwrap.dedent("    " + cls.__doc__).rstrip()
    before, attributes, after = text.partition("\n\nAttributes\n")
    section = "\n".join(["", "", "Parameters", "----------", *parameter_lines(cls)])
    cls.__doc__ = before + section + attributes + after + "\n"
    return cls


@dataclass(kw_only=True, eq=False, repr=False)
class LearningParameters:
    """Of every estimator."""

    surrogate: Any = field(
        default="m4n",
        metadata=doc(
            "'m4n', 'm3n', 'crf' or 'qs'", "Max-min margin, max-margin, log-likelihood, or squared error of the costs."
        ),
    )
    decode: Any = field(
        default=None,
        metadata=doc(
            "None, 'argmax', 'adversary' or 'expected'",
            """From scores to an output: the largest score, the min player's most likely answer (m4n), or the least
            expected cost (crf). None: the usual one for surrogate and costs, see ``decode_``.""",
        ),
    )
    tol: float = field(default=1e-3, metadata=doc("float", "Stop when the relative duality gap is at most that."))
    max_iter: int = field(default=1000, metadata=doc("int", "Passes over the data."))
    standardize: Any = field(
        default=None,
        metadata=doc(
            "bool or None", "Scale every feature to mean 0 and variance 1 (sparse: no centring). None: if X is dense."
        ),
    )
    random_state: Any = field(default=None, metadata=doc("int, RandomState or None", "None is 0: fits are repeatable."))
    n_jobs: Any = field(default=None, metadata=doc("int or None", "Threads; results do not depend on it."))
    verbose: int = field(default=0, metadata=doc("int", "1: print the progress."))


@dataclass(kw_only=True, eq=False, repr=False)
class LamParameter:
    """Of estimators that are given lam, rather than choosing it."""

    lam: Any = field(
        default=None,
        metadata=doc(
            "float or None",
            """Weight of ``|w|^2 / 2`` beside the mean loss. None: 1/n; for m4n and m3n divided by the mean cost of a
            mistake and times the mean number of parts (labels, items, tokens, points), so that the unit of the costs
            does not matter. With sample_weight n is the sum of the weights. The CV form finds the best one.""",
        ),
    )
    warm_start: bool = field(
        default=False,
        metadata=doc(
            "bool",
            """Whether fit starts where the last one ended, so that a fit of data of which a few rows changed takes a
            fraction of the passes. Examples are known by their place. qs starts afresh all the same.""",
        ),
    )
    checkpoint: Any = field(
        default=None,
        metadata=doc(
            "path or None",
            """A file that keeps where fit stands, written every checkpoint_every seconds, at the end and on Ctrl-C, so
            that a fit that was killed goes on from there.""",
        ),
    )
    checkpoint_every: float = field(default=300.0, metadata=doc("float", "Seconds between two checkpoints."))
    resume_from: Any = field(
        default=None,
        metadata=doc(
            "path or None",
            """Go on where this checkpoint, of the same data and parameters, stands: the model is the same, byte by
            byte, as that of a fit that never stopped.""",
        ),
    )


@dataclass(kw_only=True, eq=False, repr=False)
class InterceptParameter:
    fit_intercept: bool = field(
        default=True, metadata=doc("bool", "A constant feature 1, regularised like the others.")
    )


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureParameters(InterceptParameter):
    """Of estimators whose X is a table."""

    features: str = field(
        default="linear",
        metadata=doc("'linear', 'rbf', 'laplacian', 'poly', 'rbf-centers', 'nystrom' or 'fourier'"),
    )
    gamma: Any = field(
        default=None,
        metadata=doc(
            "float, 'median' or None", "Of the kernel; None is 'median', from the distances of training pairs."
        ),
    )
    n_components: Any = field(
        default=None,
        metadata=doc("int or None", "Centres, landmarks or waves; None: 200 for rbf-centers, else 500."),
    )
    degree: int = field(default=3, metadata=doc("int", "Of the poly kernel."))


@dataclass(kw_only=True, eq=False, repr=False)
class SearchParameters:
    """Of estimators that choose lam, and if asked the surrogate."""

    lams: Any = field(
        default=None,
        metadata=doc(
            "sequence of float or None",
            """To choose from, each fit started from the solution of the next larger one; None: 2^0 to 2^-16 in
            the unit of the costs (m4n and m3n: divided by the mean cost of a mistake, times the number of parts), the
            small ones only while the best is among the last two.""",
        ),
    )
    cv: Any = field(
        default=None,
        metadata=doc(
            "int, splitter or iterable",
            """As everywhere in scikit-learn; a number of folds (None: 5) is drawn at random by random_state, with classes
            and labels as frequent in every fold as in all the data.""",
        ),
    )
    surrogate: Any = field(
        default="m4n",
        metadata=doc(
            "str or list",
            """One of those of the plain estimator, 'smoothed' (m4n with smoothing, of classes and grades), several of
            them in a list, or 'auto': m4n (for asymmetric costs with both decoders), smoothed, m3n and crf, as far as
            the task has them.""",
        ),
    )
    extend: bool = field(
        default=True,
        metadata=doc("bool", "Go on beyond the grid, up to four times two steps, while the best lam is at its edge."),
    )
