"""What is refused, as data: the parameter, its value, what was expected and what to do."""

import numpy as np
import pytest

import m4n
from m4n import MaxMinClassifier

X = np.array([[0.0], [1.0], [2.0], [3.0]])
Y = np.array([0, 0, 1, 1])


def refused(**parameters):
    with pytest.raises(m4n.Error) as caught:
        MaxMinClassifier(**parameters).fit(X, Y)
    return caught.value


def test_a_wrong_value_is_named():
    error = refused(lam=-1.0)
    assert (error.option, error.value) == ("lam", "-1.0")
    assert error.expected and error.expected in str(error)


def test_the_remedy_speaks_of_parameters():
    error = refused(surrogate="m3n", smoothing=1)
    assert error.remedy == "Leave it out, or use surrogate m4n"
    assert str(error).endswith(error.remedy)
    assert "--" not in str(error) and "=>" not in str(error)


@pytest.mark.parametrize("parameters", [{"surrogate": "svm"}, {"random_state": -1}])
def test_what_python_checks_itself_is_refused_alike(parameters):
    error = refused(**parameters)
    assert isinstance(error, ValueError)
    assert next(iter(parameters)) in str(error)
