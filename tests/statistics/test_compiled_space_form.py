"""Means by compiled loops: certificates are true, and all that is not plain is left alone."""

from __future__ import annotations

import math
import sys
import warnings

import numpy as np
import pytest

from riemdp import GDP, Ball, Hyperbolic, RiemdpError, Sphere, frechet_mean, private_mean
from riemdp.statistics import _certified_space_form
from riemdp.statistics import _compiled_space_form as compiled
from riemdp.statistics import _space_form_kernels as loops
from riemdp.statistics._solver_of_space import mean_solver

EPS = 2.0**-52
SPACES = [Sphere(2), Sphere(4, 4.0), Hyperbolic(2), Hyperbolic(4, -0.25)]


def quiet(loop):
    """As compiled: not a number is not worth a warning."""

    def run(*arrays):
        with np.errstate(all="ignore"):
            loop(*arrays)

    return run


PLAIN = compiled.Kernels(quiet(loops.fill_tiles), quiet(loops.solve))


@pytest.fixture
def by_loops(monkeypatch):
    """The loops as plain Python, for however few records."""
    monkeypatch.setattr(compiled, "WORTH", 1)
    monkeypatch.setattr(compiled, "kernels", lambda: PLAIN)


@pytest.fixture
def by_numba(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(compiled, "WORTH", 1)
    assert compiled.kernels() is not None


def ball_of(manifold, radius=0.7):
    return Ball(manifold, manifold.origin, radius / math.sqrt(abs(manifold.curvature)))


def points(manifold, rng, n, radius=0.6):
    """Records, most on one side."""
    size = radius / math.sqrt(abs(manifold.curvature))
    coordinates = rng.normal(size=(n, manifold.dim))
    coordinates *= size / np.linalg.norm(coordinates, axis=-1, keepdims=True)
    coordinates *= rng.uniform(0.2, 1.0, (n, 1))
    coordinates[: n // 3] = np.abs(coordinates[: n // 3])
    return ball_of(manifold).manifold.validate(ball_of(manifold, 2.0 * radius).point(coordinates))


def error_bound(manifold, data, value, weights=None):
    """Proved distance to the mean, in ball arithmetic, of coordinates that are rounded once."""
    origin = Ball(manifold, manifold.origin, 1.5 / math.sqrt(abs(manifold.curvature)))
    whole = None if weights is None else np.round(weights * 2.0**52).astype(np.int64)
    point, records = origin.coordinates(value), origin.coordinates(data)
    return _certified_space_form.certificate(
        manifold.curvature, point, records, 1e-14, weights=whole
    )


@pytest.mark.usefixtures("by_loops")
@pytest.mark.parametrize("manifold", SPACES, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_certificates_are_true(manifold, weighted):
    rng = np.random.default_rng(manifold.dim)
    data = points(manifold, rng, 40)
    weights = rng.uniform(0.1, 1.0, 40) if weighted else None
    ball = ball_of(manifold) if manifold.curvature > 0.0 else None
    found = compiled.mean(manifold, data, weights, ball, 1e-10)
    assert found is not None
    value, bound, passes = found
    true = error_bound(manifold, data, value, weights)
    assert true <= bound <= 1e-10
    assert passes <= 4
    mean = frechet_mean(manifold, data, weights, ball=ball)
    np.testing.assert_array_equal(mean.value, value)
    assert (mean.error_bound, mean.passes) == (bound, passes)
    # a point that is farther away than is claimed is known by it
    away = manifold.exp(value, manifold.tangent_vector(value, np.eye(manifold.dim)[0] * 3e-10))
    assert error_bound(manifold, data, away, weights) > 1e-10


@pytest.mark.usefixtures("by_loops")
@pytest.mark.parametrize("manifold", [Sphere(3), Hyperbolic(3)], ids=str)
def test_a_weight_that_is_off_is_found_out(manifold, monkeypatch):
    data = points(manifold, np.random.default_rng(1), 40)
    ball = ball_of(manifold) if manifold.curvature > 0.0 else None
    of = compiled.fractions("sphere" if manifold.curvature > 0.0 else "hyperbolic")
    wrong = of.coefficients.copy()
    wrong[:, 1, 0] *= 1.0 + 1e-4
    patched = compiled.Fractions(of.limits, of.degrees, wrong, of.errors)
    monkeypatch.setattr(compiled, "fractions", lambda _: patched)
    value, bound, _ = compiled.mean(manifold, data, None, ball, 1e-10)
    assert error_bound(manifold, data, value) > 2.0 * bound


@pytest.mark.usefixtures("by_loops")
@pytest.mark.parametrize("manifold", [Sphere(2), Sphere(5), Hyperbolic(2), Hyperbolic(5)], ids=str)
def test_one_record_and_equal_records_are_their_mean(manifold):
    data = points(manifold, np.random.default_rng(2), 1)
    ball = ball_of(manifold) if manifold.curvature > 0.0 else None
    for n in (1, 2, 128, 129):
        value, bound, passes = compiled.mean(manifold, np.tile(data, (n, 1)), None, ball, 1e-10)
        assert manifold.dist(value, data[0]) <= bound <= 1e-13 * (4.0 + n)
        assert passes == 1


@pytest.mark.usefixtures("by_loops")
def test_records_at_the_mean_while_others_are_beyond_a_right_angle():
    sphere = Sphere(2)
    ball = Ball(sphere, sphere.exp(sphere.origin, [0.9, 0.0, 0.0]), 1.5)
    data = np.repeat(sphere.origin[None], 40, axis=0)
    data[5] = [math.sin(2.0), 0.0, math.cos(2.0)]
    data = sphere.validate(data)
    weights = np.ones(40)
    weights[5] = 1e-14
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value, bound, _ = compiled.mean(sphere, data, weights, ball, 1e-10)
    assert error_bound(sphere, data, value, weights) <= bound + 2e-15


@pytest.mark.usefixtures("by_loops")
def test_next_to_the_hemisphere_and_far_out():
    for many, beyond in ((19, False), (3, True)):  # 120 degrees, where the next fraction begins
        sphere = Sphere(3)
        ball = Ball(sphere, sphere.origin, 1.5)
        sides = np.zeros((41, 3))
        sides[:, 0] = 1.3
        sides[:many, 0] *= -1.0
        sides[2, 1] = 0.3
        data = sphere.validate(ball.point(sides))
        value, bound, _ = compiled.mean(sphere, data, None, ball, 1e-10)
        assert error_bound(sphere, data, value) <= bound
        assert (sphere.dist(value, data).max() > math.acos(-0.5)) == beyond
    space = Hyperbolic(3)
    for distance in (1.0, 2.4, 3.5, 4.4):  # of all four fractions
        ends = np.zeros((4, 4))
        ends[:, 0] = math.cosh(distance)
        ends[:, 1] = [math.sinh(distance), *3 * [-math.sinh(distance)]]
        value, bound, _ = compiled.mean(space, space.validate(ends), None, None, 1e-6)
        expected = [math.cosh(distance / 2.0), -math.sinh(distance / 2.0), 0.0, 0.0]
        assert space.dist(value, expected) <= bound + 1e-12 * math.cosh(distance)
    ends[:, 0], ends[:, 1] = math.cosh(8.0), [math.sinh(8.0), *3 * [-math.sinh(8.0)]]
    assert compiled.mean(space, space.validate(ends), None, None, 1e-3) is None
    assert frechet_mean(space, ends, tol=1e-3).error_bound <= 1e-3


def test_each_part_of_the_allowance():
    """Of the note, part by part: 26 additions with one tile, 8 of a tile and 16 of its lanes."""
    of = compiled._allowance
    assert of(9, 1, 0.0, 0.0) == pytest.approx((24.0 + 26.0) * EPS, rel=1e-12, abs=0.0)
    assert of(9, 640, 0.0, 0.0) == pytest.approx((24.0 + 98.0) * EPS, rel=1e-12, abs=0.0)
    # at a right angle the weight is pi / 2; on hyperbolic spaces it is 1 at most
    right = math.pi / 2.0
    rounding = 24.0 * (1.0 + right)
    assert of(9, 1, 0.0, right) == pytest.approx(
        (rounding + 26.0 * right) * EPS, rel=1e-12, abs=0.0
    )
    assert of(9, 1, 0.0, right, spread=1.0) == pytest.approx(
        (rounding + 26.0) * EPS, rel=1e-12, abs=0.0
    )
    assert of(9, 1, 0.0, right, spread=7.0) == pytest.approx(
        (rounding + 26.0) * 7.0 * EPS, rel=1e-12, abs=0.0
    )
    assert of(9, 1, 0.0, right, spread=0.5) == of(9, 1, 0.0, right, spread=1.0)
    sphere = of(9, 1, 1e-3, right)
    assert sphere == pytest.approx(2e-3 * right, rel=1e-9, abs=0.0)
    assert of(9, 1, 1e-3, right, spread=3.0) == pytest.approx(
        3e-3 * (right + 1.0), rel=1e-9, abs=0.0
    )
    assert of(9, 1, 1e-3, right, lost=2.0) - sphere == pytest.approx(
        96.0 * math.pi * EPS, rel=1e-3, abs=0.0
    )


@pytest.mark.usefixtures("by_loops")
def test_what_the_allowance_is_told(monkeypatch):
    told, allowance = {}, compiled._allowance

    def listen(*given, **beyond):
        told.clear()
        told.update(zip(("width", "tiles", "error", "reach"), given, strict=True), **beyond)
        return allowance(*given, **beyond)

    monkeypatch.setattr(compiled, "_allowance", listen)
    sphere = Sphere(3, 4.0)
    ball = Ball(sphere, sphere.origin, 0.75)
    sides = np.zeros((150, 3))
    sides[:, 0], sides[:10, 0] = -0.7, 0.7
    data = sphere.validate(ball.point(sides))
    weights = np.linspace(1.0, 2.0, 150)
    value, _, _ = compiled.mean(sphere, data, weights, ball, 1e-10)
    angles = 2.0 * sphere.dist(value, data)
    beyond = angles > math.pi / 2.0
    lost = np.sum(weights[beyond] / np.sin(angles[beyond]) ** 2) / np.sum(weights)
    assert beyond.sum() == 10
    assert told["lost"] == pytest.approx(lost, rel=1e-9)
    assert (told["width"], told["tiles"]) == (4, 2)
    assert told["reach"] == pytest.approx(angles.max(), rel=1e-9)
    assert "spread" not in told
    assert told["error"] == compiled.fractions("sphere").errors[1]  # beyond 120 degrees
    space = Hyperbolic(2, -4.0)
    data = points(space, np.random.default_rng(9), 30)
    value, _, _ = compiled.mean(space, data, None, None, 1e-10)
    assert told["spread"] == pytest.approx(4.0 * value[0] * data[:, 0].max(), rel=1e-9)
    assert told["reach"] == pytest.approx(2.0 * space.dist(value, data).max(), rel=1e-9)
    assert (told["width"], told["tiles"]) == (3, 1)
    assert "lost" not in told
    assert told["error"] == compiled.fractions("hyperbolic").errors[0]


@pytest.mark.usefixtures("by_loops")
def test_an_end_that_is_not_the_goal_is_left_to_the_other_solver(monkeypatch):
    sphere = Sphere(2)
    data, ball = points(sphere, np.random.default_rng(10), 30), ball_of(sphere)
    assert compiled.mean(sphere, data, None, ball, 1e-10) is not None

    def gives_up(*arrays):
        quiet(loops.solve)(*arrays)
        arrays[-1][0] = 0.0

    monkeypatch.setattr(
        compiled, "kernels", lambda: compiled.Kernels(quiet(loops.fill_tiles), gives_up)
    )
    assert compiled.mean(sphere, data, None, ball, 1e-10) is None


def outcomes(call):
    """What a call returns or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            mean = call()
        except RiemdpError as error:
            return type(error), str(error)
    return mean.value, mean.error_bound


def spoiled(manifold):
    """Data and weights that something is wrong with, and what is mended."""
    data = points(manifold, np.random.default_rng(3), 30)
    given = {"weights": None}

    def with_row(*entries):
        other = data.copy()
        other[17] = entries[0] if len(entries) == 1 else [*entries, *data[17, len(entries) :]]
        return other

    yield "not a number", with_row(math.nan, 0.0), given
    yield "infinite", with_row(math.inf), given
    yield "infinite in space", with_row(data[17, 0], math.inf), given
    yield "squares overflow", with_row(data[17, 0], 1e200), given
    yield "off", with_row(1.1 * data[17]), given
    yield "a little off", with_row((1.0 + 1e-9) * data[17]), given
    yield "negative", with_row(-data[17]), given
    yield "zero", with_row(0.0 * data[17]), given
    yield "two bad rows", np.concatenate([with_row(math.nan), with_row(math.inf)]), given
    yield "no rows", data[:0], given
    yield "one axis", data[0], given
    yield "too wide", np.pad(data, ((0, 0), (0, 1))), given
    yield "single precision", data.astype(np.float32), given
    yield "list", data.tolist(), given
    yield "masked", np.ma.masked_array(data), given
    yield "weights with a hole", data, {"weights": [math.nan] * 30}
    yield "negative weights", data, {"weights": -np.ones(30)}
    yield "no weight", data, {"weights": np.zeros(30)}
    yield "too few weights", data, {"weights": np.ones(29)}
    yield "bad data and weights", with_row(math.nan), {"weights": -np.ones(30)}
    yield "tiny tolerance", data, {"tol": 1e-18}
    yield "no ball", data, {"ball": None}
    yield "small ball", data, {"ball": ball_of(manifold, 0.1)}
    yield "large ball", data, {"ball": ball_of(manifold, 1.6)}
    yield "ball of another space", data, {"ball": ball_of(type(manifold)(3, manifold.curvature))}


@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2, -4.0)], ids=str)
def test_what_is_wrong_is_said_as_without(manifold, monkeypatch):
    left = 0
    for name, data, given in spoiled(manifold):
        options = {"ball": ball_of(manifold), **given}
        expected = outcomes(lambda d=data, o=options: frechet_mean(manifold, d, **o))
        with monkeypatch.context() as patched:
            patched.setattr(compiled, "WORTH", 1)
            patched.setattr(compiled, "kernels", lambda: PLAIN)
            found = outcomes(lambda d=data, o=options: frechet_mean(manifold, d, **o))
        if isinstance(expected[0], type):
            assert found == expected, name
            left += 1
        else:
            assert manifold.dist(found[0], expected[0]) <= found[1] + expected[1], name
    assert left >= 14


@pytest.mark.usefixtures("by_loops")
def test_arrays_that_are_not_plain_change_nothing():
    manifold, ball = Sphere(2), ball_of(Sphere(2))
    data = points(manifold, np.random.default_rng(4), 30)
    value = compiled.mean(manifold, data, None, ball, 1e-10)[0]
    fixed = data.copy()
    fixed.flags.writeable = False
    for other in (fixed, np.asfortranarray(data), np.repeat(data, 2, axis=0)[::2]):
        np.testing.assert_array_equal(compiled.mean(manifold, other, None, ball, 1e-10)[0], value)
    assert compiled.mean(manifold, data.astype(">f8"), None, ball, 1e-10) is None or (
        sys.byteorder == "big"
    )


def test_few_or_very_many_records_do_not_load_numba(monkeypatch):
    monkeypatch.setattr(compiled, "WORTH", 2**14)
    monkeypatch.setattr(compiled, "MOST", 2**15)
    monkeypatch.setattr(compiled, "kernels", lambda: pytest.fail("numba was asked for"))
    for width in (3, 10):
        assert not compiled.is_worthwhile(np.empty((2**14 // width, width)), width)
        assert not compiled.is_worthwhile(np.empty((2**15 // width + 1, width)), width)
        enough = np.zeros((2**14 // width + 1, width))
        for other in (enough.tolist(), enough.astype(np.float32), enough[:, :2], enough[None]):
            assert not compiled.is_worthwhile(other, width)
        with pytest.raises(pytest.fail.Exception):
            compiled.is_worthwhile(enough, width)
    assert not compiled.is_worthwhile(np.empty((2**14, 2)), 2)


def test_wide_records_are_left_to_the_other_solver(monkeypatch):
    # a tile of one record is as large as that of 128, and sums along a record are made in sequence
    monkeypatch.setattr(compiled, "kernels", lambda: PLAIN)
    monkeypatch.setattr(compiled, "WORTH", 2**14)
    for n in (5, 500):
        assert compiled.is_worthwhile(np.zeros((n, compiled.WIDEST)), compiled.WIDEST)
        assert not compiled.is_worthwhile(np.zeros((n, compiled.WIDEST + 1)), compiled.WIDEST + 1)


def test_without_numba_nothing_is_compiled_and_nothing_is_said(monkeypatch):
    shipped = compiled.kernels
    shipped.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(compiled, "WORTH", 1)
    sphere = Sphere(2)
    data = points(sphere, np.random.default_rng(5), 30)
    assert compiled.mean(sphere, data, None, ball_of(sphere), 1e-10) is None
    assert frechet_mean(sphere, data, ball=ball_of(sphere)).error_bound <= 1e-10
    shipped.cache_clear()


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_no_release_asks_for_compiled_code(manifold, monkeypatch):
    """Its bits must depend neither on what is installed nor on how many records there are."""
    monkeypatch.setattr(compiled, "WORTH", 1)
    monkeypatch.setattr(compiled, "kernels", lambda: pytest.fail("numba was asked for"))
    data, ball = points(manifold, np.random.default_rng(6), 50), ball_of(manifold)
    solver = mean_solver(manifold)
    for weights in (None, np.full(50, 0.02)):
        assert np.isfinite(solver.near(ball, data, weights, 1e-8)).all()
    private_mean(data, ball, GDP(50.0), generator=np.random.default_rng(0))
    with pytest.raises(pytest.fail.Exception):
        frechet_mean(manifold, data, ball=ball)


@pytest.mark.slow
@pytest.mark.usefixtures("by_numba")
@pytest.mark.parametrize("manifold", [*SPACES, Sphere(20), Hyperbolic(20)], ids=str)
def test_what_numba_makes_of_the_loops(manifold, monkeypatch):
    rng = np.random.default_rng(7)
    for n in (1, 127, 300, 20_000):
        data = points(manifold, rng, n)
        ball = ball_of(manifold) if manifold.curvature > 0.0 else None
        weights = rng.uniform(0.0, 1.0, n)
        for given in (None, weights):
            value, bound, _ = compiled.mean(manifold, data, given, ball, 1e-10)
            if n <= 300:
                assert error_bound(manifold, data, value, given) <= bound + 2e-15
            with monkeypatch.context() as patched:
                patched.setattr(compiled, "WORTH", sys.maxsize)
                other = frechet_mean(manifold, data, given, ball=ball)
            assert manifold.dist(value, other.value) <= bound + other.error_bound


@pytest.mark.slow
@pytest.mark.usefixtures("by_numba")
@pytest.mark.parametrize(
    "manifold", [Sphere(2), Sphere(20), Hyperbolic(2), Hyperbolic(20)], ids=str
)
def test_how_much_of_the_allowance_is_used(manifold):
    # Long runs of equal rows: rounding in sums adds up instead of averaging out.
    rng = np.random.default_rng(8)
    shares = []
    for radius in (1e-3, 0.3, 0.7, 1.0):
        few = points(manifold, rng, 3, radius)
        for counts in ([1, 1, 1], [20, 9, 4], [20_000, 900, 1]):
            data = np.repeat(few, counts, axis=0)
            ball = ball_of(manifold, 1.4) if manifold.curvature > 0.0 else None
            tol, found = 1e-8, None
            while True:
                closer = compiled.mean(manifold, data, None, ball, tol)
                if closer is None:
                    break
                found, tol = closer, 0.6 * closer[1]
            total = np.array(counts) / sum(counts)
            true = error_bound(manifold, few, found[0], total)
            assert true <= found[1]
            shares.append(true / found[1])
            assert true <= 0.5 * found[1] + 1e-15  # the rounding of coordinates
    print(f"used share of the allowance, {manifold}", max(shares))
    assert max(shares) > 1e-3
