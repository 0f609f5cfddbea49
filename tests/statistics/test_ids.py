"""Ids of records: none comes twice, and none is kept."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Euclidean, InvalidParameterError, Records
from riemdp.statistics._data import digests, first_twice, has_twice, has_unknown

KEY = b"secret"


def test_the_second_of_two_is_found_and_kinds_are_kept_apart():
    assert first_twice([1, "1", 2]) is None
    assert first_twice([3, 1, "a", 1, 1]) == 3


def test_digests_say_which_are_the_same_and_nothing_else():
    one = digests([1, "1", "\udc80", 2**70], KEY)
    assert one.nbytes == 16 * 4
    assert not has_twice([one, digests([2], KEY)])
    assert has_twice([one, digests(["1"], KEY)])
    assert not has_twice([one, digests(["1"], b"other")])  # of another pass
    assert not has_twice([])


def test_an_id_that_is_not_known_is_found():
    known = digests(range(10), KEY)
    assert not has_unknown([digests([3], KEY), digests([9, 0], KEY)], known)
    assert not has_unknown([], known)
    assert has_unknown([digests([3, 10], KEY)], known)


def test_records_with_an_id_twice_are_refused_without_a_word_of_it():
    space, points = Euclidean(1), np.zeros((3, 1))
    with pytest.raises(InvalidParameterError, match="row 2") as caught:
        Records(points, ids=["Ann", "Bob", "Ann"]).validated(space)
    assert "Ann" not in str(caught.value)
    valid = Records(points, ids=["Ann", "Bob", "Eve"]).validated(space)
    assert valid.ids is None
    with pytest.raises(InvalidParameterError, match="one for each"):
        Records(points, ids=[1, 2]).validated(space)
    assert len(Records(points, ids=[1, 2, 3]).at(slice(1, 3)).ids) == 2
