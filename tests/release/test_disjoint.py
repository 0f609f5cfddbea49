"""What groups have in common, and what holds of all of them: checked one by one."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import GDP, RDP, ZCDP, ApproxDP, InvalidParameterError, PureDP
from riemdp.privacy import Budget
from riemdp.release._disjoint import check_apart, check_people, weakest


@pytest.mark.parametrize(
    ("guarantees", "expected"),
    [
        ([PureDP(1.0)], PureDP(1.0)),
        ([PureDP(0.5), PureDP(1.0), PureDP(1.0)], PureDP(1.0)),
        ([ApproxDP(0.5, 1e-6), ApproxDP(1.0, 1e-5)], ApproxDP(1.0, 1e-5)),
        ([ApproxDP(1.0, 1e-6), ApproxDP(0.5, 1e-5)], None),
        ([RDP(2.0, 1.0), RDP(4.0, 1.0)], RDP(2.0, 1.0)),  # orders below follow
        ([RDP(2.0, 1.0), RDP(4.0, 5.0)], None),
        ([GDP(1.0), PureDP(0.001)], None),
        ([GDP(1.0), GDP(0.5, adjacency="add-remove")], None),
        ([ZCDP(0.1, xi=0.2), ZCDP(0.2, xi=0.1)], None),
    ],
    ids=str,
)
def test_the_weakest_guarantee_follows_from_all(guarantees, expected):
    assert weakest(guarantees) == expected
    assert weakest(guarantees[::-1]) == expected


class Told(PureDP):
    """A definition that is no dataclass of its own: what it holds is no field."""

    name = "elsewhere.Told"

    def __init__(self, epsilon, told):
        super().__init__(epsilon)
        object.__setattr__(self, "told", told)


class Silent(Budget):
    """The same of a definition that says nothing at all of what it holds."""

    name = "elsewhere.SilentDefinition"

    def __init__(self, epsilon):
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "adjacency", "replace-one")

    def delta_at(self, epsilon):
        return PureDP(self.epsilon).delta_at(epsilon)

    def epsilon_at(self, delta):
        return PureDP(self.epsilon).epsilon_at(delta)


def test_definitions_that_are_no_dataclasses_do_not_follow_from_one_another():
    weak, strong = Silent(5.0), Silent(1.0)
    assert weak != strong
    assert not strong.follows_from(weak)
    assert weakest([strong, weak]) is None
    assert weakest([weak, weak]) is weak
    assert not Told(1.0, 2).follows_from(Told(1.0, 3))
    assert Told(1.0, 2).follows_from(Told(0.5, 2))


def test_nothing_is_read_of_what_is_no_array():
    check_apart({"a": [[1.0]], "b": [[1.0]], "c": lambda: 1 / 0})
    rows = np.zeros((4, 2))
    check_apart({"a": rows[:2], "b": rows[2:], "c": rows.copy()})
    with pytest.raises(InvalidParameterError, match="groups 'a' and 'b' share memory"):
        check_apart({"a": rows[:3], "b": rows[2:]})


def test_the_same_person_has_the_same_id_of_the_same_type():
    check_people({"a": [1, "2"], "b": ["1", 2]}, {}, many_records=False)
    check_people({"a": [1, 1], "b": [2]}, {}, many_records=True)
    with pytest.raises(InvalidParameterError, match="row 1 is of the same person as row 0"):
        check_people({"a": [1, 1], "b": [2]}, {}, many_records=False)
    with pytest.raises(InvalidParameterError, match="nobody may be in two groups"):
        check_people({"a": [1, 1], "b": [1]}, {}, many_records=True)


def test_what_is_too_hard_to_tell_counts_as_shared(monkeypatch):
    series = np.arange(12.0)
    even, odd = series[::2].reshape(3, 2), series[1::2].reshape(3, 2)
    assert np.may_share_memory(even, odd)
    check_apart({"a": even, "b": odd})  # they do not

    def too_hard(*arguments, **options):
        raise np.exceptions.TooHardError

    monkeypatch.setattr(np, "shares_memory", too_hard)
    with pytest.raises(InvalidParameterError, match="share memory"):
        check_apart({"a": even, "b": odd})
