"""Labels of the nodes of graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Sequence

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._cv import ListSearch
from ._errors import Error
from ._estimator import Training, has_probabilities
from ._features import REALS, features_for_core
from ._labels import Costs, class_names, encode, predictions_of
from ._options import in_python_words, listed, shown, threads_of
from ._pages import Judged
from ._parameters import LamParameter, documented
from ._parts import PartEstimator, cut, labels_of
from ._weights import kept_of, weights_of, with_weights

EXPECTED = "(features of nodes, edges) or (features of nodes, edges, features of edges), or a networkx graph"


class Graph(NamedTuple):
    nodes: np.ndarray  # a row of features per node
    edges: np.ndarray  # pairs of nodes, from 0
    edge_features: np.ndarray  # a row per edge; no columns: they have none


def _from_networkx(graph: Any, number: int) -> tuple[Any, Any, Any]:
    """The attribute x of nodes, and of edges where they have it."""
    names = list(graph.nodes)
    try:
        nodes = [graph.nodes[name]["x"] for name in names]
    except KeyError:
        raise Error(f"graph {number}: a node has no attribute 'x'; expected its features there") from None
    place = {name: i for i, name in enumerate(names)}
    edges = [(place[a], place[b]) for a, b in graph.edges]
    features = [data["x"] for _, _, data in graph.edges(data=True) if "x" in data]
    if features and len(features) != len(edges):
        raise Error(f"graph {number}: some edges have an attribute 'x' and others have not; expected all or none")
    return nodes, edges, features or None


def graph_of(value: Any, number: int) -> Graph:
    """One graph, checked."""
    if hasattr(value, "nodes") and hasattr(value, "edges") and not isinstance(value, tuple):
        value = _from_networkx(value, number)
    if not isinstance(value, (tuple, list)) or len(value) not in (2, 3):
        raise TypeError(f"graph {number} is {shown(value)}; expected {EXPECTED}")
    try:
        nodes = check_array(value[0], dtype=REALS)
    except (OverflowError, TypeError, ValueError) as error:
        raise type(error)(f"graph {number}: {error}") from None
    edges = np.asarray(value[1] if len(value[1]) else np.zeros((0, 2), dtype=np.int64))
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise Error(f"graph {number}: edges must be pairs of numbers of nodes, found {shown(value[1])}")
    if len(edges) and (edges.min() < 0 or edges.max() >= len(nodes)):
        raise Error(f"graph {number}: an edge names a node that is not one of 0 to {len(nodes) - 1}")
    if (edges[:, 0] == edges[:, 1]).any():
        raise Error(f"graph {number}: an edge joins a node with itself; leave it out")
    if len(np.unique(np.sort(edges, axis=1), axis=0)) != len(edges):
        raise Error(f"graph {number}: two nodes are joined twice; give every pair one edge")
    features = value[2] if len(value) == 3 and value[2] is not None else np.zeros((len(edges), 0))
    own = np.asarray(features, dtype=np.float64).reshape(len(edges), -1) if len(edges) else np.zeros((0, 0))
    if not np.isfinite(own).all():
        raise Error(f"graph {number}: features of edges must be finite numbers")
    return Graph(np.asarray(nodes, dtype=np.float64), edges.astype(np.int32), own)


def graphs_of(X: Any) -> list[Graph]:
    graphs = [graph_of(value, i) for i, value in enumerate(listed("X", X))]
    if not graphs:
        raise Error("X has no graphs")
    widths = {graph.edge_features.shape[1] for graph in graphs if len(graph.edges)}
    for i, graph in enumerate(graphs):
        if graph.nodes.shape[1] != graphs[0].nodes.shape[1]:
            raise Error(f"graph {i} has {graph.nodes.shape[1]} features per node; expected {graphs[0].nodes.shape[1]}")
    if len(widths) > 1:
        raise Error(f"the edges of some graphs have {min(widths)} features, those of others {max(widths)}")
    return graphs


def data_of(graphs: list[Graph], label: Any, names: Sequence[str]) -> Any:
    lengths = [len(graph.nodes) for graph in graphs]
    data = _core.examples(
        features_for_core(np.concatenate([graph.nodes for graph in graphs])), lengths, label,
        lengths if label is not None else 1, list(names), None, [], [],
    )  # fmt: skip
    columns = max((graph.edge_features.shape[1] for graph in graphs if len(graph.edges)), default=0)
    features = [graph.edge_features.reshape(len(graph.edges), -1) for graph in graphs if len(graph.edges)]
    data.set_edges(
        [len(graph.edges) for graph in graphs],
        np.ascontiguousarray(np.concatenate([graph.edges for graph in graphs]).ravel(), dtype=np.int32),
        np.ascontiguousarray(np.concatenate(features).ravel() if features else np.zeros(0)),
        columns,
    )
    return data


@dataclass(kw_only=True, eq=False, repr=False)
class GraphEstimator(PartEstimator):
    """Shared by MaxMinGraphLabeler and its CV form."""

    _task = _noun = "graph"
    _part = "node"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from graphs X and the labels y of their nodes.

        A graph is (features of nodes, edges), perhaps with the features of edges behind them: arrays n x d, m x 2 and
        m x c; or a networkx graph whose nodes, and perhaps edges, have their features in the attribute 'x'. Graphs of
        weight zero count as absent."""
        return self._fit(X, y, sample_weight)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        X, y = listed("X", X), [labels_of(labels, i, self._noun) for i, labels in enumerate(listed("y", y))]
        if len(X) != len(y):
            raise Error(f"{len(X)} graphs and {len(y)} lists of labels do not belong together")
        weights, examples = weights_of(sample_weight, np.zeros(len(X))), len(X)
        X, y = kept_of(X, weights), kept_of(y, weights)
        graphs = graphs_of(X)
        for i, (graph, labels) in enumerate(zip(graphs, y)):
            if len(graph.nodes) != len(labels):
                raise Error(f"graph {i} has {len(graph.nodes)} nodes and {len(labels)} labels")
        classes, label = encode(np.concatenate(y))
        if len(classes) < 2:
            raise Error(f"only one class in y, {classes!r}; {type(self).__name__} needs at least two")
        options, cost = self._options(classes)
        with in_python_words():
            data = data_of(graphs, label, class_names(classes))
        with_weights(data, weights)
        return Training(data, options, cost, classes, examples, weights.kept, weights.total)

    def _options(self, classes: np.ndarray) -> tuple[dict[str, str], Costs]:
        options = self._common_options()
        return self._with_costs(options, classes)

    def _adopt(self, model: Any, classes: Any) -> Any:
        super()._adopt(model, classes)
        self.classes_, self.n_features_in_ = classes, model.d
        self.predictions_ = predictions_of(classes, model.predictions)
        self.cost_matrix_ = model.cost().reshape(len(classes), -1)
        weights = model.arrays()
        self.coef_, self.intercept_ = weights["coef"], weights["intercept"]
        self.edge_coef_ = weights["edge_weights"]
        return self

    def _apply(self, function: str, X: Any) -> tuple[np.ndarray, list[int]]:
        check_is_fitted(self)
        graphs = graphs_of(X)
        with in_python_words():
            return (
                getattr(self._model, function)(data_of(graphs, None, []), threads_of(self.n_jobs)),
                [len(graph.nodes) for graph in graphs],
            )

    def _judged_by(self, X: Any, y: Any, costs: Any) -> Judged:
        graphs = graphs_of(X)
        return self._judged_by_labels(data_of(graphs, None, []), [len(graph.nodes) for graph in graphs], y)

    def predict(self, X: Any) -> list[list[Any]]:
        """A list of labels for every graph, one per node."""
        label, lengths = self._apply("predict", X)
        return cut(self.predictions_[label.astype(np.int64).ravel()].tolist(), lengths)

    @available_if(has_probabilities)
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """The probabilities of the labels of every node, nodes x k for every graph; only with surrogate='crf'."""
        probabilities, lengths = self._apply("marginals", X)
        return np.split(probabilities.reshape(-1, len(self.classes_)), np.cumsum(lengths)[:-1])

    @classmethod
    def _parameters_of(cls, model: Any) -> dict[str, Any]:
        features = model.features()
        own = {"fit_intercept": features["bias"], "standardize": features["standardized"]}
        return {**super()._parameters_of(model), **own}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = True
        return tags


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinGraphLabeler(LamParameter, GraphEstimator):
    """A label for every node of a graph, by scores of nodes and of the labels that an edge joins.

    Inference is exact, by junction trees: for trees, grids that are not too wide, and other graphs of small treewidth.

    Attributes
    ----------
    classes_, n_features_in_, n_iter_, certificate_, lam_, decode_, cost_matrix_ : as those of MaxMinClassifier
    coef_, intercept_ : k x d and k
    edge_coef_ : 1 x (c + 1) x k x k, of the features of edges, the last of a constant 1

    Examples
    --------
    >>> from m4n import MaxMinGraphLabeler
    >>> X = [([[1.0], [0.0], [-1.0]], [(0, 1), (1, 2)]), ([[-1.0], [0.2]], [(0, 1)])]
    >>> y = [["hot", "hot", "cold"], ["cold", "cold"]]
    >>> MaxMinGraphLabeler(lam=0.1).fit(X, y).predict([([[2.0], [-0.1]], [(0, 1)])])
    [['hot', 'hot']]
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class MaxMinGraphLabelerCV(ListSearch, GraphEstimator):
    """MaxMinGraphLabeler with lam, and if asked the surrogate, chosen by the mean cost on held-out graphs.

    The attributes are those of MaxMinClassifierCV, and of MaxMinGraphLabeler.
    """
