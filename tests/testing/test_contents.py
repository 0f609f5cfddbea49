"""What a part holds compares: a value that is kept anywhere shows, a cache of its own does not."""

from __future__ import annotations

import functools
from collections import deque

import numpy as np
import pytest

from riemdp.testing._contents import contents, state


class Slotted:
    __slots__ = ("kept",)


class Holder:
    shared = ()

    def __init__(self, kept):
        self.kept = kept

    @functools.cached_property
    def once(self):
        return object()


def slotted(value):
    found = Slotted()
    found.kept = value
    return found


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x: [x],
        lambda x: {"key": x},
        lambda x: {x},
        lambda x: deque([x]),
        lambda x: np.array([x]),
        lambda x: (0, [Holder(x)]),
        slotted,
        Holder,
    ],
)
def test_values_show_wherever_they_are(wrap):
    assert contents(wrap(1.5)) == contents(wrap(1.5))
    assert contents(wrap(1.5)) != contents(wrap(2.5))


def test_a_state_is_that_of_the_classes_too():
    part = Holder([1.0])
    before = state(part)
    _ = part.once
    assert state(part) == before
    part.kept.append(2.0)
    assert state(part) != before
    part.kept.pop()
    Holder.shared = ("a record",)
    try:
        assert state(part) != before
    finally:
        Holder.shared = ()
    assert state(part) == before
