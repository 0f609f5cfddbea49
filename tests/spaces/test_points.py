"""Checks on points that all manifolds share."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import InvalidParameterError, NotOnManifoldError
from riemdp.spaces import as_floats, check_points, raise_first
from riemdp.spaces._points import check_broadcast


def test_leading_axes_have_to_broadcast():
    for good in ((3,), (4, 1), (), (1,)):
        check_broadcast(np.zeros((*good, 2, 2)), np.zeros((3, 2, 2)), 2)
    with pytest.raises(InvalidParameterError, match=r"\(4,\) of the points and \(3,\)"):
        check_broadcast(np.zeros((4, 2)), np.zeros((3, 2)), 1)


def test_shapes_and_entries_are_checked():
    with pytest.raises(NotOnManifoldError, match=r"shape \(\.\.\., 2, 2\), got \(2, 3\)"):
        check_points(np.zeros((2, 3)), (2, 2))
    bad = np.zeros((4, 2, 3))
    bad[1, 1, 2] = np.inf
    with pytest.raises(NotOnManifoldError, match=r"row \(1, 1\) has entries that are NaN"):
        check_points(bad, (3,))
    huge = np.full((4, 3), 1e308)  # the sum overflows, the entries are finite
    assert np.array_equal(check_points(huge, (3,)), huge)


def test_rows_are_counted_from_the_first_of_a_chunk():
    with pytest.raises(NotOnManifoldError, match=r"^row 12 is bad$"):
        raise_first(np.array([False, False, True]), "is bad", 10)
    with pytest.raises(NotOnManifoldError, match=r"^the point is bad$"):
        raise_first(np.array(True), "is bad")
    raise_first(np.zeros(3, dtype=bool), "is bad")


def test_other_containers_become_plain_arrays():
    assert type(as_floats([1, 2])) is np.ndarray
    assert as_floats([1, 2]).dtype == np.float64
    with pytest.raises(NotOnManifoldError):
        as_floats(np.ma.masked_array([1.0, 2.0], [True, False]))
