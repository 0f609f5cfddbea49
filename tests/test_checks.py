import collections
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from riemdp import (
    Accountant,
    Ball,
    Euclidean,
    PureDP,
    RiemdpError,
    plan,
    private_mean,
    private_statistic,
)
from riemdp._checks import (
    count,
    did_you_mean,
    is_one_of,
    plain_array,
    positive,
    real,
    real_array,
    real_entries,
    scale,
    shown,
)
from riemdp._errors import InvalidBudgetError, InvalidParameterError

NO_NUMBERS = ["x", "1.0", None, [1.0], (1.0,), np.ones(1), np.ones(2), 1j, True, np.True_, {}]


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(4, 2), np.array(2)])
def test_numbers_become_floats(value):
    for check in (real, positive):
        result = check(value, "x")
        assert type(result) is float
        assert result == 2.0


@pytest.mark.parametrize("value", [*NO_NUMBERS, np.array("x"), np.array(True), 10**400])
def test_what_is_no_number_is_refused(value):
    for check in (real, positive):
        with pytest.raises(InvalidParameterError, match=r"^width must"):
            check(value, "width")
        with pytest.raises(InvalidBudgetError):
            check(value, "width", error=InvalidBudgetError)


def test_real_lets_nan_and_infinity_through():
    assert math.isnan(real(math.nan, "x"))
    assert real(-math.inf, "x") == -math.inf


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, -0.0])
def test_positive_has_limits_and_advice(value):
    with pytest.raises(InvalidParameterError, match=r"^x must be positive and finite, got [^;]*$"):
        positive(value, "x")
    with pytest.raises(InvalidParameterError, match=r"; take another$"):
        positive(value, "x", "take another")


def test_scales_have_a_range_and_a_way_out():
    for good in (1e-75, 1.0, 1e75, np.float32(2.0)):
        assert scale(good, "radius") == good
    for wrong in (0.999e-75, 5e-324, 1.001e75, 3e231):
        with pytest.raises(InvalidParameterError, match=r"^radius must lie between .* the data$"):
            scale(wrong, "radius")
    for wrong in (0.0, -1.0, math.nan, math.inf, 10**400, "1", True):
        with pytest.raises(InvalidParameterError, match="radius"):
            scale(wrong, "radius")


def test_count():
    assert count(3, "n") == 3
    assert type(count(np.int64(3), "n")) is int
    for value in (0, -1, 1.0, np.float64(2.0), *NO_NUMBERS, 2**63, 10**400, 10**5000):
        with pytest.raises(InvalidParameterError, match=r"^n must be a positive integer"):
            count(value, "n")


def test_real_array():
    assert real_array([1, 2], "q").dtype == np.float64
    assert real_array(0.5, "q").shape == ()
    for values in ("x", None, ["a"], [None], True, [True], 1j, [[1.0], [1.0, 2.0]], 10**400):
        with pytest.raises(InvalidParameterError, match=r"^q must hold real numbers"):
            real_array(values, "q")


def test_real_array_copies_only_where_it_has_to():
    array = np.arange(3.0)
    assert real_array(array, "q") is array
    entries = real_entries(array.astype(np.float32), "q")
    assert entries.dtype == np.float32  # the precision it came in, for tolerances
    assert real_array(array.astype(">f8"), "q").dtype == np.float64
    with pytest.raises(InvalidParameterError):
        real_array([True, False], "q")
    np.testing.assert_array_equal(real_array([True, False], "q", booleans=True), [1.0, 0.0])


def test_long_doubles_beyond_float64_are_infinite_without_a_warning():
    if np.finfo(np.longdouble).max > np.finfo(np.float64).max:
        assert real_array(np.array(["1e4000"]).astype(np.longdouble), "q")[0] == math.inf


def test_containers_are_read(container):
    array = np.arange(6.0).reshape(3, 2)
    for read in (plain_array, real_entries, real_array):
        result = read(container(array), "q")
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, array)


def test_what_is_no_array_of_reals_is_refused(refused):
    for read in (real_entries, real_array):
        for array in (np.arange(3.0), np.arange(6.0).reshape(3, 2)):
            with pytest.raises(InvalidParameterError, match=r"^q must (not be a masked|hold real)"):
                read(refused(array), "q")
            with pytest.raises(InvalidBudgetError):
                read(refused(array), "q", error=InvalidBudgetError)


def test_masks_are_found_where_numpy_strips_them():
    masked = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    deep = masked
    for _ in range(20):
        deep = [deep]
    hidden = [
        masked,
        [masked, masked],
        ([1.0, 2.0], masked),
        [[0.0, 1.0], [0.0, np.ma.masked]],
        [np.ones(2), masked],
        collections.deque([masked]),
        collections.UserList([masked]),
        deep,
    ]
    for values in hidden:
        with pytest.raises(InvalidParameterError, match=r"^q must not be a masked array"):
            plain_array(values, "q")
    # negative control: NumPy itself says nothing, and shows what was hidden
    assert np.asarray([masked, masked])[0, 1] == 2.0
    for plain in ([1.0, [2.0]], [[1.0], 2.0], [[1.0, 2.0], [1.0]]):
        assert plain_array(plain, "q") is None
    for plain in ("text", ["text"], [b"bytes"], [None], [list], [{"a": 1}], range(3), [], 1.0):
        assert plain_array(plain, "q").shape == np.shape(plain)


def test_names():
    assert is_one_of("a", ("a", "b"))
    for value in ("c", "", None, 1, ["a"], np.array(["a", "b"])):
        assert not is_one_of(value, ("a", "b"))


def test_messages_show_scalars_but_no_coordinates():
    assert shown("word") == "'word'"
    assert shown(3) == "3"
    assert shown(None) == "None"
    assert shown(np.array([271828.0])) == "ndarray"
    assert shown([271828.0]) == "list"
    assert shown(np.ma.masked_array([271828.0])) == "MaskedArray"
    assert "401" not in shown(10**400)
    assert len(shown("y" * 10**6)) < 50
    assert shown(10**5000) == f"an integer of {(10**5000).bit_length()} bits"


SECRET = 0.737312
RECORDS = ["Jane Doe, HIV+", Decimal(str(SECRET)), SECRET + 1j, np.float64(SECRET), 737312, b"Jane"]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_no_message_shows_what_may_be_a_record(record):
    """Neither as data nor in the place of another argument, as when two are swapped."""
    ball, budget = Ball(Euclidean(2), [0.0, 0.0], 1.0), PureDP(1.0)
    points, account = np.zeros((5, 2)), Accountant(PureDP(1.0))
    calls = [
        lambda: private_mean(record, ball, budget),
        lambda: private_mean([record, record], ball, budget),
        lambda: private_mean(ball, record, budget),
        lambda: private_mean(points, ball, record),
        lambda: private_mean(points, ball, budget, adjacency=record),
        lambda: private_mean(points, ball, budget, accountant=record),
        lambda: private_mean(points, ball, budget, generator=record),
        lambda: private_statistic(record, points, ball, budget),
        lambda: Ball(record, [0.0, 0.0], 1.0),
        lambda: plan(record, 1.0, 10, budget),
        lambda: Accountant(record),
        lambda: account.spend(record, "label"),
    ]
    if not isinstance(record, str):  # a name of one that is not known is shown
        calls.append(lambda: private_mean(points, ball, budget, mechanism=record))
        calls.append(lambda: account.spend(budget, record))
    for number, call in enumerate(calls):
        with pytest.raises(RiemdpError) as caught:
            call()
        for text in ("737312", "Jane", "HIV"):
            assert text not in str(caught.value), number


def test_parameters_keep_their_values_in_messages():
    with pytest.raises(RiemdpError, match=r"-0\.5"):
        Ball(Euclidean(2), [0.0, 0.0], -0.5)
    with pytest.raises(RiemdpError, match="'wide'"):
        Ball(Euclidean(2), [0.0, 0.0], "wide")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("laplace", "did you mean tangent-laplace or riemannian_laplace? "),
        ("Tangent_Laplace", "did you mean tangent-laplace? "),
        ("tangent-laplca", "did you mean tangent-laplace? "),
        ("heat", ""),
        ("", ""),
        ("-", ""),
        (3, ""),
    ],
)
def test_close_names_are_asked_for(name, said):
    known = ["auto", "tangent-laplace", "riemannian_laplace"]
    assert did_you_mean(name, known) == said
