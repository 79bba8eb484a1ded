"""Consistent, cost-sensitive structured prediction with max-min margin Markov networks.

Estimators in the manner of scikit-learn over the C++ library m4n; see docs/python.md.
"""

from . import costs, oracle
from ._certificate import Certificate
from ._core import __version__, set_simd, simd, simd_names
from ._errors import Error, SearchWarning
from .classifier import MaxMinClassifier, MaxMinClassifierCV
from .graph import MaxMinGraphLabeler, MaxMinGraphLabelerCV
from .matcher import MaxMinMatcher, MaxMinMatcherCV
from .multilabel import MaxMinMultiLabelClassifier, MaxMinMultiLabelClassifierCV
from .ordinal import MaxMinOrdinalClassifier, MaxMinOrdinalClassifierCV
from .ranker import MaxMinRanker, MaxMinRankerCV
from .sequence import MaxMinSequenceLabeler, MaxMinSequenceLabelerCV

__all__ = [
    "Certificate",
    "Error",
    "MaxMinClassifier",
    "MaxMinClassifierCV",
    "MaxMinGraphLabeler",
    "MaxMinGraphLabelerCV",
    "MaxMinMatcher",
    "MaxMinMatcherCV",
    "MaxMinMultiLabelClassifier",
    "MaxMinMultiLabelClassifierCV",
    "MaxMinOrdinalClassifier",
    "MaxMinOrdinalClassifierCV",
    "MaxMinRanker",
    "MaxMinRankerCV",
    "MaxMinSequenceLabeler",
    "MaxMinSequenceLabelerCV",
    "SearchWarning",
    "__version__",
    "costs",
    "oracle",
    "set_simd",
    "simd",
    "simd_names",
]
