"""Values with several parts: by name, read-only, compared by what was released."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from riemdp.statistics import NamedValues


def made(last=3.0):
    raw = np.array([1.0, 2.0, last])
    return NamedValues(raw, {"mean": raw[:2], "second_moment": float(raw[2])})


def test_parts_are_found_by_name_either_way():
    found = made()
    assert found.second_moment == found["second_moment"] == 3.0
    assert list(found) == ["mean", "second_moment"]
    assert len(found) == 2
    assert "mean" in dir(found)
    assert repr(found).startswith("NamedValues(mean=")
    assert str(found) == "Released values\n  mean           [1 2]\n  second_moment  3"
    assert "second_moment" in found._repr_html_()
    with pytest.raises(AttributeError, match="variance"):
        _ = found.variance
    with pytest.raises(KeyError):
        found["variance"]


def test_arrays_cannot_be_written_to():
    found = made()
    for each in (found.mean, found.raw):
        with pytest.raises(ValueError, match="read-only"):
            each[0] = 5.0


def test_copies_and_pickles_are_equal_and_read_only():
    for again in (copy.deepcopy(made()), pickle.loads(pickle.dumps(made()))):
        assert again == made()
        assert hash(again) == hash(made())
        assert not again.raw.flags.writeable
    assert made() != made(4.0)
    assert made() != {"mean": 1}
