from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import InvalidBudgetError, InvalidParameterError
from riemdp_papers._checks import count, positive


def test_numbers_get_through_as_python_numbers():
    assert type(positive(np.float32(2.0), "x")) is float
    assert positive(math.inf, "x", finite=False) == math.inf
    assert type(count(np.int64(3), "n")) is int


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, True, "1", None, np.ones(2), 1j])
def test_what_is_not_positive_is_refused_by_name(value):
    with pytest.raises(InvalidBudgetError, match="x must be positive and finite"):
        positive(value, "x", error=InvalidBudgetError)
    if value != math.inf if np.isscalar(value) else True:
        with pytest.raises(InvalidParameterError, match="x must be positive, got"):
            positive(value, "x", finite=False)


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, np.ones(2)])
def test_what_is_no_count_is_refused_by_name(value):
    with pytest.raises(InvalidParameterError, match="n must be a positive integer") as found:
        count(value, "n")
    assert "array([" not in str(found.value)
