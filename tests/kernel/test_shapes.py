"""Shapes: no row is longer, and no two are farther apart, than is stated; as integers."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp._errors import InvalidParameterError
from riemdp.kernel import (
    UNIT,
    Classes,
    Line,
    Moment,
    Products,
    Shape,
    Vector,
    _shapes,
)

#: Largest relative gap to a norm or move that is attained.
SHARP = Fraction(1, 10**6)


def shapes(dim):
    return [
        Vector(dim),
        Moment(dim),
        Moment(dim, "matrix"),
        Moment(dim, scalar=1 << 10),
        Products(dim),
        *(Classes(dim, 2, second) for second in ("none", "scalar", "matrix")),
        Classes(dim, 2, "matrix", shares=False),
        Line(dim),
    ]


#: Complex vectors have an even number of entries.
ALL = [each for dim in (1, 2, 3) for each in shapes(dim)]
ALL += [Products(dim, hermitian=True) for dim in (4, 6)]


def beside_of(shape):
    """What a record may have beside its vector."""
    if isinstance(shape, Classes):
        return [0, 1, -1]
    return [1.0, -1.0, 0.3, 0.0] if isinstance(shape, Line) else [None]


def vectors(dim, seed=0):
    """Vectors up to norm 1: ends, right angles, the pairs that attain constants, others."""
    rng = np.random.default_rng(seed)
    axes = np.eye(dim)
    free = rng.normal(size=(12, dim))
    free /= np.linalg.norm(free, axis=1, keepdims=True)
    frame = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    frame = np.where(np.abs(frame) < 1.0, frame, np.sign(frame))
    cosine = -(5.0**0.5 - 2.0)
    short = [cosine * axes[0], cosine * free[0], 0.5 * free[1], 2.0**-40 * axes[0], 0.0 * axes[0]]
    half = np.full((1, dim), dim**-0.5)
    return np.concatenate([axes, -axes, free, -free[:4], frame, -frame, half, -half, short])


def all_rows(shape, seed=0):
    rows = []
    given = vectors(shape.dim, seed)
    for each in beside_of(shape):
        beside = None if each is None else np.full(len(given), each)
        rows += shape.rows(given, beside).astype(object).tolist()
    return [*rows, [0] * shape.size]


def square(row):
    return sum(x * x for x in row)


def farthest(rows):
    """Largest square of the distance of two rows, exactly."""
    floats = np.array(rows, dtype=np.float64)
    size = np.sum(floats**2, axis=1)
    gaps = size[:, None] + size - 2.0 * floats @ floats.T
    near = np.argwhere(np.triu(gaps >= gaps.max() * (1.0 - 1e-6), 1))
    return max(square(a - b for a, b in zip(rows[i], rows[j], strict=True)) for i, j in near)


@pytest.mark.parametrize("shape", ALL, ids=str)
def test_no_row_is_longer_and_no_two_are_farther_apart(shape):
    norm = move = 0
    for seed in range(6):
        rows = all_rows(shape, seed)
        assert len(rows[0]) == shape.size
        norm, move = max(norm, *map(square, rows)), max(move, farthest(rows))
    assert norm <= shape.longest <= shape.norm * UNIT**2 < shape.longest + 1
    assert move <= shape.move * UNIT**2
    assert norm >= shape.norm * UNIT**2 * (1 - SHARP)
    # in one dimension there are no right angles
    sharp = shape.dim > 1 or not isinstance(shape, Products)
    assert move >= shape.move * UNIT**2 * (1 - SHARP) or not sharp


@pytest.mark.parametrize("shape", [s for s in ALL if not isinstance(s, Moment)], ids=str)
def test_moves_of_random_pairs_stay_below(shape):
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 4000, shape.dim))
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    other /= np.linalg.norm(other, axis=1, keepdims=True)
    choices = beside_of(shape)
    picks = rng.integers(0, len(choices), size=(2, 4000))
    given = [None if choices[0] is None else np.array(choices)[pick] for pick in picks]
    gaps = (shape.rows(one, given[0]) - shape.rows(other, given[1])).astype(object)
    assert np.sum(gaps**2, axis=1).max() <= shape.move * UNIT**2


def at_right_angles(dim, count, near):
    """Pairs of orthogonal unit vectors, near the first two axes or anywhere."""
    rng = np.random.default_rng(5)
    one, other = rng.normal(size=(2, count, dim))
    if near:
        one, other = np.eye(dim)[0] + 2.0**-12 * one, np.eye(dim)[1] + 2.0**-12 * other
    other = other - one * (np.sum(one * other, axis=1) / np.sum(one * one, axis=1))[:, None]
    return [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (one, other)]


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize("dim", [2, 3])
def test_rounding_takes_products_over_their_real_move_and_not_over_the_stated_one(dim, near):
    """A control: without the term for rounding some pairs would be too far apart."""
    farther = 0
    for shape in (Products(dim), Classes(dim, 2, "matrix")):
        one, other = at_right_angles(dim, 10_000, near)
        labels = (np.zeros(len(one), int), np.ones(len(one), int))
        rows = shape.rows(one, labels[0]), shape.rows(other, labels[1])
        count = rows[0][:, :2].any(axis=1) & rows[1][:, -3:].any(axis=1)  # rounded over 1 none does
        assert count.mean() > 0.999
        found = np.sum((rows[0] - rows[1])[count].astype(object) ** 2, axis=1)
        exact = 2 if isinstance(shape, Products) else 4
        farther += np.sum(found > exact * UNIT**2)
        assert found.max() <= shape.move * UNIT**2
        assert found.min() > shape.move * UNIT**2 * (1 - SHARP)
    assert farther > 0 or not near


def root_up(square):
    """A square root, up to 2^-80 more."""
    return Fraction(math.isqrt(square << 160) + 1, 1 << 80)


@pytest.mark.parametrize("dim", range(1, 7))
def test_stated_moves_leave_room_for_every_coordinate_that_is_rounded(dim):
    """The real square, and 7 times 5/2 steps times the root of their number, rounded up."""
    pairs = dim * (dim + 1) // 2
    for shape, square, rounded in (
        (Vector(dim), 4, 0),
        (Moment(dim), 4, 0),  # test_moment_lemma.py
        (Moment(dim, "matrix"), 4, pairs),
        (Products(dim), 2, pairs),
        (Products(2 * dim, hermitian=True), 2, dim * dim),
        (Classes(dim, 3), 4, 0),
        (Classes(dim, 3, "scalar"), 4, 1),
        (Classes(dim, 3, "matrix"), 4, pairs),
        (Line(dim), 8, dim + 1),
    ):
        root = next(k for k in itertools.count() if k**2 >= rounded)
        assert shape.move == square + 7 * Fraction(5, 2) * root / UNIT
        steps = Fraction(5, 2)
        if rounded:
            assert shape.move >= (root_up(square) + steps * root_up(rounded) / UNIT) ** 2


def over(first, second, weight, n):
    """By how much squares of moves exceed 4 n^2, of rows of these squared norms.

    Of two norms rows in opposite directions are farthest apart, and what stands beside them is a
    function of norms: floor(weight / 2^10 |s|^2 / n).
    """
    a, b = first[:, None], second[None]
    last = weight * a // (n << 10) - weight * b // (n << 10)
    across = 2.0 * np.sqrt(a.astype(np.float64)) * np.sqrt(b.astype(np.float64))
    return float((a + b + last**2 - 4 * n * n + across).max())


def squared_norms(n, dim):
    """All of integer rows no longer than n."""
    found = np.arange(n + 1, dtype=np.int64) ** 2
    if dim == 2:
        found = np.unique(found[:, None] + found)
    return found[found <= n * n]


@pytest.mark.parametrize("dim", [1, 2])
def test_a_second_moment_moves_no_farther_whatever_the_two_rows(dim):
    """All pairs on small grids, with weights that leave room for rounding on these."""
    for bits, weights in ((4, (1024, 1400)), (5, (1024, 1500)), (6, (1024, 1600))):
        squares = squared_norms(1 << bits, dim)
        assert [over(squares, squares, each, 1 << bits) for each in weights] == [0.0, 0.0]
    assert over(squares, squares, _shapes._FREE, 1 << bits) > 1.0  # the control: too coarse


@pytest.mark.parametrize("bits", [15, 20, 24])
def test_the_largest_weight_leaves_room_for_rounding_on_fine_grids(bits):
    """In any dimension: norms next to the longest, and all others at wide steps or next to them."""
    n = 1 << bits
    longest = n * n - np.arange(200, dtype=np.int64)
    others = np.linspace(0.0, float(n), 8000).astype(np.int64) ** 2
    others = np.concatenate([others, longest, longest - n, (n - np.arange(200)) ** 2])
    worst = over(longest, others, _shapes._FREE, n)
    assert worst <= 2.0**-50 * n * n
    assert over(longest, others, _shapes._FREE + 1, n) > 1e-6 * n * n  # the control


def test_weights_are_the_largest_under_their_limits():
    golden = Fraction(27725424859373686, 10**16)  # phi^5 / 4
    for stated, whole, limit in (
        (_shapes._FREE, 1 << 10, golden),
        (_shapes._ROOT_HALF, _shapes._WHOLE, Fraction(1, 2)),
        (_shapes._ROOT_TWO, _shapes._WHOLE, Fraction(2)),
    ):
        assert Fraction(stated, whole) ** 2 < limit < Fraction(stated + 1, whole) ** 2


def test_weights_that_are_too_large_are_found(monkeypatch):
    """Controls: a search with weights a little over each limit goes over what is stated."""
    with monkeypatch.context() as patch:
        patch.setattr(_shapes, "_check", lambda *_: None)
        shape = Moment(2, scalar=_shapes._FREE + 40)
    u = (1.0 - (1.0 - 2.0 / (shape.scalar / 1024.0) ** 2) ** 0.5) / 2.0
    rows = shape.rows(np.array([[1.0, 0.0], [-u, 0.0]]))
    assert farthest(rows.astype(object).tolist()) > shape.move * UNIT**2
    right = np.eye(2)
    with monkeypatch.context() as patch:
        patch.setattr(_shapes, "_ROOT_HALF", _shapes._ROOT_HALF + 2**14)
        labels = np.array([0, 1])
        shape = Classes(2, 2, "matrix")
        rows = shape.rows(right, labels).astype(object).tolist()
        assert farthest(rows) > shape.move * UNIT**2
    with monkeypatch.context() as patch:
        patch.setattr(_shapes, "_ROOT_TWO", _shapes._ROOT_TWO + 2**12)
        rows = Products(2).rows(np.array([[1.0, 1.0], [1.0, -1.0]]) * 0.5**0.5)
        assert farthest(rows.astype(object).tolist()) > Products(2).move * UNIT**2
        rows = Line(2).rows(np.array([[1.0, 0.0]]), np.ones(1))
        assert square(rows.tolist()[0]) > Line(2).longest
    with monkeypatch.context() as patch:
        patch.setattr(Classes, "share", UNIT + 2**20)
        rows = Classes(2, 2).rows(np.array([[1.0, 0.0]] * 2), labels).astype(object).tolist()
        assert farthest(rows) > Classes(2, 2).move * UNIT**2


def truncated(numerator, denominator):
    return int(Fraction(numerator, denominator)) if numerator >= 0 else -(-numerator // denominator)


def test_products_are_those_of_integers():
    rng = np.random.default_rng(8)
    ends = [0, 1, -1, 2**20, -(2**20), 2**20 - 1, UNIT, -UNIT, UNIT - 1, 1 - UNIT, 3, -3]
    some = np.array([*ends, *rng.integers(-UNIT, UNIT + 1, size=60)])
    one, other = (each.ravel() for each in np.meshgrid(some, some))
    found = _shapes._products((one, other)).tolist()
    assert found == [truncated(int(a) * int(b), UNIT) for a, b in zip(one, other, strict=True)]
    again = _shapes._products((one, other), (-other, one // 2)).tolist()
    wanted = [
        truncated(a * b - b * (a // 2), UNIT)
        for a, b in zip(one.tolist(), other.tolist(), strict=True)
    ]
    assert again == wanted
    times = _shapes._times(one, _shapes._ROOT_TWO).tolist()
    assert times == [truncated(a * _shapes._ROOT_TWO, 1 << 22) for a in one.tolist()]
    big = np.array([4 * UNIT, -4 * UNIT])  # weights up to 4
    assert _shapes._products((big, np.array([UNIT - 1] * 2))).tolist() == [
        truncated(4 * UNIT * (UNIT - 1), UNIT),
        truncated(-4 * UNIT * (UNIT - 1), UNIT),
    ]


@pytest.mark.parametrize("dim", [1, 3, 40])
def test_shapes_are_computed_of_their_integers(dim):
    """Written again in Python's integers."""
    rng = np.random.default_rng(dim)
    given = rng.normal(size=(20, dim))
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    given[0] *= 2.0**-25
    own = _shapes.on_grid(given).tolist()
    pairs = list(itertools.combinations(range(dim), 2))
    half, two, whole = _shapes._ROOT_HALF, _shapes._ROOT_TWO, _shapes._WHOLE

    def outer(row, on, above):
        diagonal = [truncated(truncated(x * x, UNIT) * on, whole) for x in row]
        across = [truncated(truncated(row[i] * row[j], UNIT) * above, whole) for i, j in pairs]
        return [*diagonal, *across]

    def scalar(row, weight):
        return [weight * (square(row) >> 30) >> 20]

    assert Moment(dim).rows(given).tolist() == [[*r, *scalar(r, 1705)] for r in own]
    matrix = [[*r, *outer(r, half, whole)] for r in own]
    assert Moment(dim, "matrix").rows(given).tolist() == matrix
    assert Products(dim).rows(given).tolist() == [outer(r, whole, two) for r in own]
    numbers = rng.uniform(-1, 1, size=20)
    t = [math.trunc(x * UNIT) for x in numbers]
    squares = [truncated(truncated(s * s, UNIT) * two, whole) for s in t]
    line = [
        [*r, *(truncated(s * x, UNIT) for x in r), s, square]
        for r, s, square in zip(own, t, squares, strict=True)
    ]
    assert Line(dim).rows(given, numbers).tolist() == line
    codes = rng.integers(-1, 2, size=20)
    found = Classes(dim, 2, "scalar").rows(given, codes).tolist()
    for row, code, each in zip(own, codes.tolist(), found, strict=True):
        blocks = [row if k == code else [0] * dim for k in (0, 1)]
        assert each == [
            *blocks[0],
            *blocks[1],
            *(UNIT * (k == code) for k in (0, 1)),
            *scalar(row, 1024),
        ]


def test_hermitian_products_are_those_of_complex_integers():
    rng = np.random.default_rng(4)
    given = rng.normal(size=(20, 6))
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    two = _shapes._ROOT_TWO
    found = Products(6, hermitian=True).rows(given).tolist()
    for row, each in zip(_shapes.on_grid(given).tolist(), found, strict=True):
        x, y = row[:3], row[3:]
        real = [x[i] * x[j] + y[i] * y[j] for i in range(3) for j in range(i + 1, 3)]
        imaginary = [y[i] * x[j] - x[i] * y[j] for i in range(3) for j in range(i + 1, 3)]
        above = [truncated(truncated(p, UNIT) * two, 1 << 22) for p in (*real, *imaginary)]
        squares = [truncated(a * a + b * b, UNIT) for a, b in zip(x, y, strict=True)]
        assert each == [*squares, *above]


HOSTILE = np.array(
    [
        [np.nan, 0.0], [0.0, np.inf], [-np.inf, 0.0], [1.0, 1.0], [1.0, 2.0**-20], [1e300, -1e300],
        [-(2.0**23), 0.0], [2.0**24, 0.0], [-(2.0**63), 0.0], [1.0 + 2.0**-39, 0.0],
    ]
)  # fmt: skip


@pytest.mark.parametrize("shape", shapes(2), ids=str)
def test_what_is_no_vector_counts_as_zero_without_a_warning(shape, recwarn):
    for each in beside_of(shape):
        beside = None if each is None else np.full(len(HOSTILE), each)
        found = shape.rows(HOSTILE, beside)
        zero = shape.rows(np.zeros_like(HOSTILE), beside)
        assert found.tolist() == zero.tolist()
    assert not recwarn.list


def test_what_is_beside_a_vector_is_checked_too():
    one = np.array([[1.0, 0.0]] * 6)
    wild = np.array([np.nan, np.inf, 1.5, -1.5, 1e300, 1.0 + 2.0**-39])
    zero = np.zeros(6)
    assert Line(2).rows(one, wild).tolist() == Line(2).rows(one, zero).tolist()
    codes = np.array([-1, 2, 7, -(2**63), 2**62, -2])
    for second in ("none", "matrix"):
        shape = Classes(2, 2, second)
        found = shape.rows(one, codes)
        assert not found[:, :6].any()
        assert max(map(square, found.tolist())) <= shape.longest


@pytest.mark.parametrize("shape", [*shapes(3), Products(4, hermitian=True)], ids=str)
def test_rows_depend_on_no_order_and_no_layout(shape):
    dim = shape.dim
    given = vectors(dim, 2)
    choices = beside_of(shape)
    beside = None if choices[0] is None else np.resize(np.array(choices), len(given))
    rows = shape.rows(given, beside)

    def at(order):
        return None if beside is None else beside[order]

    order = np.random.default_rng(0).permutation(len(given))
    assert shape.rows(given[order], at(order)).tolist() == rows[order].tolist()
    assert shape.rows(given[::-1], at(slice(None, None, -1))).tolist() == rows[::-1].tolist()
    assert shape.rows(np.asfortranarray(given), beside).tolist() == rows.tolist()
    for i, row in enumerate(rows.tolist()):
        assert shape.rows(given[i : i + 1], at(slice(i, i + 1))).tolist() == [row]
    assert shape.rows(given[:0], at(slice(0))).shape == (0, shape.size)
    assert rows.dtype == np.int64


def test_rows_are_read_back_with_their_weights():
    given = np.array([[0.6, -0.3, 0.2]])
    products = given.T @ given
    above = np.triu_indices(3, 1)
    for shape, start in ((Moment(3, "matrix"), 3), (Classes(3, 2, "matrix"), 8), (Products(3), 0)):
        on, across = shape.weights
        row = shape.rows(given, np.array([0]))[0, start:] / UNIT
        np.testing.assert_allclose(row[:3] / on, np.diag(products), atol=1e-11)
        np.testing.assert_allclose(row[3:] / across, products[above], atol=1e-11)
    assert Moment(3).weights == (1705 / 1024, 0.0)
    assert Classes(3, 2, "scalar").weights == (1.0, 0.0)
    row = Line(3).rows(given, np.array([0.5]))[0] / UNIT
    assert row[-1] / Line(3).weight == pytest.approx(0.25, abs=1e-11)


def test_what_states_no_norm_and_no_move_is_no_shape():
    assert Shape.__abstractmethods__ == {"size", "norm", "move", "rows"}
    assert all(isinstance(getattr(Shape, name), property) for name in ("size", "norm", "move"))


@pytest.mark.parametrize("shape", shapes(2), ids=str)
def test_no_shape_changes_after_its_numbers_are_checked(shape):
    for field in dataclasses.fields(shape):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(shape, field.name, 10**9)


def test_numbers_at_their_limits_are_taken():
    for most, make in ((_shapes._FREE, lambda value: Moment(2, scalar=value)),):
        bounds = [make(value).norm for value in (0, most)]
        assert bounds[0] == 1 < bounds[1]
        with pytest.raises(InvalidParameterError, match=f"from 0 to {most}, got {most + 1}"):
            make(most + 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda value: Moment(2, scalar=value),
    ],
)
@pytest.mark.parametrize("value", [-1, 2**42 + 1, 1.0, True])
def test_numbers_that_no_bound_is_proved_for_are_refused(make, value):
    with pytest.raises(InvalidParameterError, match="must be an integer from 0 to"):
        make(value)
