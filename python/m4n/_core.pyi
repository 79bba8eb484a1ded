"""
The C++ library behind m4n. Use the estimators of the package m4n and m4n.oracle instead.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray

__version__: str = ...

def simd_names() -> list[str]:
    """The instruction sets that this machine supports, the best first."""

def simd() -> str:
    """The instruction set in use."""

def set_simd(name: str) -> None:
    """
    Use another instruction set, or 'auto', in the whole process; M4N_SIMD does so, too.
    """

class Data:
    """Examples, with labels ready for fit(), which takes them away."""

    def set_weights(
        self, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    ) -> None: ...
    def set_labels(
        self,
        label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: int | Sequence[int],
    ) -> None:
        """As in examples(), where the rows were there before."""

    def set_costs(
        self,
        costs: tuple[
            Sequence[str],
            Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        ],
    ) -> None:
        """
        Names of columns, and their numbers, n x names: what costs of the examples name.
        """

    def set_edges(
        self,
        counts: Sequence[int],
        ends: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        features: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        columns: int,
    ) -> None:
        """
        Of graphs: so many edges each, their two ends one behind the other, a row of features per edge.
        """

    @property
    def examples(self) -> int: ...

def examples(
    x: object,
    rows: int | Sequence[int],
    label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    labels: int | Sequence[int],
    names: Sequence[str],
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
    feature_names: Sequence[str],
    label_edges: Sequence[tuple[int, int]],
) -> Data:
    """
    Examples that own runs of rows and of labels: the same number each, or as many as a list says.
    """

def attribute_sequences(
    items: list,
    lengths: Sequence[int],
    label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    names: Sequence[str],
    min_count: int,
    hash_bits: int,
) -> Data: ...
def encoded(model: Model, items: list, lengths: Sequence[int]) -> Data: ...
def k_best(model: Model, examples: Data, count: int) -> list:
    """Of every sequence the best labellings, as (score, labels)."""

def attribute_names(model: Model) -> list[str]: ...
def takes_attributes(model: Model) -> bool: ...
def hash_bits(model: Model) -> int: ...

class Model:
    def scores(self, x: object, threads: int) -> NDArray[numpy.float64]:
        """Of rows of features, rows x outputs."""

    def decode(
        self,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        threads: int,
        costs: tuple[
            Sequence[str],
            Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        ]
        | None = None,
    ) -> NDArray[numpy.int32]: ...
    def probabilities(
        self,
        scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        threads: int,
        costs: tuple[
            Sequence[str],
            Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        ]
        | None = None,
    ) -> NDArray[numpy.float64]: ...
    def predict(self, examples: Data, threads: int) -> NDArray[numpy.int32]:
        """Labels of all examples, in a row."""

    def marginals(self, examples: Data, threads: int) -> NDArray[numpy.float64]: ...
    def mean_loss(
        self,
        lengths: Sequence[int],
        truth: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        predicted: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
        costs: tuple[
            Sequence[str],
            Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
        ]
        | None = None,
    ) -> float: ...
    def save(self, path: bytes) -> None: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes, name: str) -> Model: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, arg: bytes, /) -> None: ...
    def certificate(self) -> dict: ...
    def arrays(self) -> dict:
        """Its weights, for the input as it comes."""

    def features(self) -> dict: ...
    def cost(self) -> NDArray[numpy.float64]: ...
    @property
    def task(self) -> str: ...
    @property
    def surrogate(self) -> str: ...
    @property
    def decoder(self) -> str: ...
    @property
    def loss(self) -> str: ...
    @property
    def smoothing(self) -> float: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def cost_columns(self) -> list[str]: ...
    @property
    def ignored_columns(self) -> list[str]: ...
    @property
    def predictions(self) -> list[str]: ...
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
    def train_loss(self) -> float: ...

class WarmStart:
    """What a fit leaves for the next one."""

    def __init__(self) -> None: ...

def fit(
    data: Data,
    options: Mapping[str, str],
    cost: tuple[Sequence[float], Sequence[str], Sequence[str]],
    total: float | None,
    threads: int,
    observe: object | None,
    start: WarmStart | None = None,
) -> tuple:
    """The model, and the log of its training."""

def choose(
    data: Data,
    options: Mapping[str, str],
    cost: tuple[Sequence[float], Sequence[str], Sequence[str]],
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

def tree_costs(rows: str, classes: Sequence[str], inner: bool) -> tuple[list[float], list[str]]:
    """
    The way between classes of a tree, of lines child,parent,length: costs by rows, names of predictions.
    """

def folds(data: Data, task: str, count: int, seed: int) -> list[int]:
    """
    The fold of every example, numbered from 0: random, with labels as frequent in each as in all.
    """

def choices(option: str) -> list[str]:
    """The words that an option takes."""

def losses(task: str) -> list[str]:
    """The names of the losses of a task; precision@K stands for all K."""

def page(
    model: Model,
    examples: Data | None,
    unseen: Sequence[str],
    ids: Sequence[str],
    names: tuple[str, str],
    maker: str,
    log: Sequence[tuple[int, float, float, float, float]],
    show_examples: bool,
    markdown: bool,
    seed: int,
    threads: int,
) -> str:
    """
    The page of a model, as HTML or Markdown. Labels of examples count the model's, then those unseen.
    """

def read_log(path: str) -> dict:
    """
    What `m4n train --log` wrote: a column by quantity, an entry by certificate.
    """

def write_file(path: bytes, text: str) -> None:
    """The file is there whole or not at all."""

class ColumnMoments:
    """What standardising has to know of the columns of some rows."""

    def __getstate__(self) -> tuple: ...
    def __setstate__(
        self,
        arg: tuple[
            float,
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            bool,
        ],
        /,
    ) -> None: ...

def column_moments(
    x: object,
    weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)] | None,
) -> ColumnMoments: ...
def standardizer(parts: Sequence[ColumnMoments]) -> tuple:
    """Mean and inverse scale of the columns, from all parts."""

class Parted:
    """What a fit in parts learns, without the examples."""

    def __init__(
        self,
        options: Mapping[str, str],
        cost: tuple[Sequence[float], Sequence[str], Sequence[str]],
        names: Sequence[str],
        feature_names: Sequence[str],
    ) -> None: ...
    def __getstate__(self) -> tuple[dict[str, str], tuple[list[float], list[str], list[str]], list[str], list[str]]: ...
    def __setstate__(
        self,
        arg: tuple[
            Mapping[str, str], tuple[Sequence[float], Sequence[str], Sequence[str]], Sequence[str], Sequence[str]
        ],
        /,
    ) -> None: ...
    def round(
        self,
        x: object,
        label: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        w: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        moving: float | None,
        smoothing: float,
        centres: tuple[
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
            Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ]
        | None,
        threads: int,
    ) -> tuple:
        """Sums and gradient of a part at w, and its centres where they move."""

    def fit(
        self,
        examples: int,
        weight: float,
        d: int,
        sparse: bool,
        mean: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        inverse_scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        round: Callable,
        judge: Callable,
        observe: object | None,
    ) -> Model: ...

def named_cost(name: str, k: int) -> NDArray[numpy.float64]:
    """The k x k costs of a name, [true][predicted]."""

def max_min(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
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

class Starts:
    """What oracles keep of examples between visits."""

    def __init__(self) -> None: ...

@overload
def class_loss(
    scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    surrogate: str,
    smoothing: float,
    ignored: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: Sequence[int],
    threads: int,
) -> tuple: ...
@overload
def class_loss(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    y: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    surrogate: str,
    smoothing: float,
    ignored: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    shape: Sequence[int],
    threads: int,
) -> tuple: ...
def class_decode(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    surrogate: str,
    decode: str,
    smoothing: float,
    shape: Sequence[int],
    threads: int,
) -> NDArray[numpy.int64]: ...
@overload
def chain_loss(
    emissions: Annotated[
        NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    tags: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    surrogate: str,
    tol: float,
    rounds: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
@overload
def chain_loss(
    emissions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    tags: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    surrogate: str,
    tol: float,
    rounds: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
@overload
def permutation_loss(
    scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    name: str,
    cost: Sequence[float],
    surrogate: str,
    tol: float,
    rounds: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
@overload
def permutation_loss(
    scores: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    name: str,
    cost: Sequence[float],
    surrogate: str,
    tol: float,
    rounds: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
@overload
def permutation_loss(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    name: str,
    cost: Sequence[float],
    surrogate: str,
    tol: float,
    rounds: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
@overload
def permutation_loss(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    target: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    name: str,
    cost: Sequence[float],
    surrogate: str,
    tol: float,
    rounds: int,
    starts: Starts | None,
    index: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    threads: int,
) -> tuple: ...
def chain_k_best(
    emissions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    count: int,
    threads: int,
) -> tuple: ...
def chain_game(
    emissions: Annotated[
        NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
    ],
    lengths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    transitions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    end: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    cost: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)],
    tol: float,
    rounds: int,
    threads: int,
) -> tuple: ...
def permutation_decode(
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)],
    sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    name: str,
    cost: Sequence[float],
    adversary: bool,
    tol: float,
    threads: int,
) -> NDArray[numpy.int64]: ...
def rank_one_parts(name: str, size: int) -> tuple: ...
