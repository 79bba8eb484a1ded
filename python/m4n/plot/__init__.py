"""Pictures with matplotlib, which m4n does not install by itself: ``pip install m4n[plot]``.

The displays are those of scikit-learn's manner: ``from_estimator`` or ``from_predictions`` computes and draws, ``plot``
draws again, ``ax_`` and ``figure_`` are what was drawn on.

>>> from sklearn.datasets import load_iris
>>> from m4n import MaxMinClassifier
>>> from m4n.plot import CostConfusionDisplay
>>> X, y = load_iris(return_X_y=True)
>>> model = MaxMinClassifier([[0, 1, 1], [1, 0, 1], [10, 10, 0]]).fit(X, y)
>>> display = CostConfusionDisplay.from_estimator(model, X, y)
>>> display.counts.shape, display.ax_.get_xlabel()
((3, 3), 'prediction')
"""

from .certificate import CertificateDisplay
from .cost_confusion import CostConfusionDisplay
from .lambda_path import LambdaPathDisplay
from .reliability import ReliabilityDisplay

__all__ = ["CertificateDisplay", "CostConfusionDisplay", "LambdaPathDisplay", "ReliabilityDisplay"]
