"""Weights of records that are not private."""

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError
from riemdp.statistics._shares import shares_of


def test_shares_add_up_to_one_however_large_the_weights():
    shares = shares_of([1e308, 1e308, 0.0, 1e308 / 2], 4)
    np.testing.assert_allclose(shares, [0.4, 0.4, 0.0, 0.2], rtol=1e-15)


def test_shares_of_booleans_are_equal():
    np.testing.assert_array_equal(shares_of([True, False, True], 3), [0.5, 0.0, 0.5])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1.0, 2.0], "shape"),
        ([1.0, -1.0, 2.0], "row 1"),
        ([1.0, 2.0, np.nan], "row 2"),
        ([np.inf, 2.0, 1.0], "row 0"),
        ([0.0, 0.0, 0.0], "all are zero"),
        (["a", "b", "c"], "weights"),
    ],
)
def test_what_is_no_weight_is_refused(weights, said):
    with pytest.raises(InvalidParameterError, match=said):
        shares_of(weights, 3)
