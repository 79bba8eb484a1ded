"""
The C++ library behind m4n. Use the estimators of the package m4n and m4n.oracle instead.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray

__version__: str = ...

def simd_names() -> list[str]:
    """The instruction sets that this machine supports, the best first."""

def simd() -> str:
    """The instruction set in use."""

def set_simd(name: str) -> None:
    """Use another instruction set, or 'auto', in the whole process; M4N_SIMD does so, too."""

class Data:
    """Examples with labels, ready for fit(), which takes them away."""

def table(
    x: object,
    label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    class_names: Sequence[str],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    feature_names: Sequence[str],
) -> Data:
    """One row and one label an example."""

def sequences(
    x: object,
    lengths: Sequence[int],
    label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    class_names: Sequence[str],
) -> Data:
    """One row and one label a token."""

def attribute_sequences(
    items: list,
    lengths: Sequence[int],
    label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    class_names: Sequence[str],
    min_count: int,
    hash_bits: int,
) -> Data: ...
def predict_sequences(
    model: Model, x: object, lengths: Sequence[int], attributes: bool, threads: int
) -> NDArray[numpy.int32]: ...
def sequence_marginals(
    model: Model, x: object, lengths: Sequence[int], attributes: bool, threads: int
) -> NDArray[numpy.float64]: ...
def outputs(
    x: object,
    label: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    names: Sequence[str],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    feature_names: Sequence[str],
    label_edges: Sequence[tuple[int, int]],
) -> Data:
    """
    One row an example, with the positions of all items or the marks of all labels.
    """

def matchings(
    parts: list,
    points: Sequence[int],
    partner: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> Data:
    """A row a pair of points and a partner a point."""

def predict_matchings(model: Model, parts: list, points: Sequence[int], threads: int) -> NDArray[numpy.int32]: ...
def matching_marginals(model: Model, parts: list, points: Sequence[int], threads: int) -> NDArray[numpy.float64]: ...
def permutation_loss(
    model: Model,
    sizes: Sequence[int],
    truth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    predicted: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
) -> float: ...

class Model:
    def scores(self, x: object, threads: int) -> NDArray[numpy.float64]: ...
    def decode(
        self,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        threads: int,
    ) -> NDArray[numpy.int32]: ...
    def probabilities(
        self,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        threads: int,
    ) -> NDArray[numpy.float64]: ...
    def save(self, path: bytes) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes, name: str) -> Model: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, arg: bytes, /) -> None: ...
    def certificate(self) -> dict: ...
    def weights(self) -> dict: ...
    def attribute_names(self) -> list[str]: ...
    def cost(self) -> NDArray[numpy.float64]: ...
    def edge_weights(self) -> NDArray[numpy.float64]: ...
    @property
    def task(self) -> str: ...
    @property
    def surrogate(self) -> str: ...
    @property
    def decoder(self) -> str: ...
    @property
    def features(self) -> str: ...
    @property
    def gamma(self) -> float: ...
    @property
    def loss(self) -> str: ...
    @property
    def smoothing(self) -> float: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def feature_names(self) -> list[str]: ...
    @property
    def d(self) -> int: ...
    @property
    def lam(self) -> float: ...
    @property
    def tol(self) -> float: ...
    @property
    def epochs(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def bias(self) -> bool: ...
    @property
    def standardized(self) -> bool: ...
    @property
    def degree(self) -> int: ...
    @property
    def points(self) -> int: ...
    @property
    def edges(self) -> list[tuple[int, int]]: ...
    @property
    def hash_bits(self) -> int: ...

def fit(
    data: Data, options: Mapping[str, str], cost: Sequence[float], threads: int, observe: object | None
) -> Model: ...
def choose(
    data: Data,
    options: Mapping[str, str],
    cost: Sequence[float],
    surrogates: Sequence[str],
    lambdas: Sequence[float],
    extend: bool,
    splits: Sequence[
        tuple[
            Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ]
    ],
    threads: int,
    observe_search: object | None,
    observe_fit: object | None,
) -> tuple:
    """
    Choose a surrogate and lambda by the loss on held-out parts, and fit the choice on all the data.
    """

def max_min(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
def loss(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    surrogate: str,
    smoothing: float,
    threads: int,
) -> tuple: ...
def max_min_chain(
    unary: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    tol: float,
    threads: int,
) -> tuple: ...
def viterbi(
    unary: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
def max_min_permutation(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    name: str,
    cost: Sequence[float],
    tol: float,
    threads: int,
) -> tuple: ...
def assignment(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
def sinkhorn(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    tol: float,
    steps: int,
    threads: int,
) -> tuple: ...
