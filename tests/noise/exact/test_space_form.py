from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from riemdp import InvalidParameterError, NotAttainableError
from riemdp.noise import RadialLaw
from riemdp.noise.exact import SpaceFormDraw

mpmath = pytest.importorskip("mpmath")

KINDS = ["gaussian", "laplace"]
#: dimension, curvature, sigma, radius: with and without a ball that cuts
SPACES = {
    "circle": (1, 1.0, 0.6, 1.5),
    "S2": (2, 1.0, 0.4, None),
    "S5": (5, 0.3, 0.3, 0.9),
    "H2": (2, -1.0, 0.4, 1.0),
    "H4": (4, -2.5, 0.15, None),
    "H1": (1, -1.0, 0.7, None),
}


def space(name, kind):
    dim, curvature, sigma, radius = SPACES[name]
    return SpaceFormDraw(kind, dim, curvature, sigma, radius)


def footpoint_of(law):
    return [Fraction((-1) ** i * (i + 1), 3 * law.dim**2) for i in range(law.dim)]


def distance(reader, law):
    """Rejection under the envelope by its public numbers; levels relative to the bound."""
    m, sign = law.dim - 1, 1 if law.curvature > 0 else -1
    sigma = mpmath.mpf(law.sigma) * mpmath.sqrt(abs(law.curvature))
    touches = law._radial.touches
    level = mpmath.mpf(touches.level.numerator) / touches.level.denominator
    end = mpmath.pi if sign > 0 else mpmath.inf

    def h(r):
        # the sine as a difference of exponentials
        growth = mpmath.expj(r).imag if sign > 0 else (mpmath.exp(r) - mpmath.exp(-r)) / 2
        energy = r / sigma if law.kind == "laplace" else (r / sigma) ** 2 / 2
        return (m * mpmath.log(growth) if m else 0) - energy - level

    def slope(r):
        cosine = mpmath.expj(r).real if sign > 0 else (mpmath.exp(r) + mpmath.exp(-r)) / 2
        sine = mpmath.sqrt(abs(1 - cosine**2))
        return m * cosine / sine - (1 / sigma if law.kind == "laplace" else r / sigma**2)

    pieces = []  # start, end, start's log height, slope
    low, high = mpmath.mpf(0), end
    if touches.left is not None:
        x = mpmath.mpf(touches.left.numerator) / touches.left.denominator
        low = x - h(x) / slope(x)
        pieces.append((mpmath.mpf(0), low, -slope(x) * low, slope(x)))
    if touches.right is not None:
        x = mpmath.mpf(touches.right.numerator) / touches.right.denominator
        high = x - h(x) / slope(x)
    pieces.append((low, high, mpmath.mpf(0), mpmath.mpf(0)))
    if touches.right is not None:
        pieces.append((high, end, mpmath.mpf(0), slope(x)))

    def area(start, stop, height, rate):
        if rate == 0:
            return stop - start
        last = mpmath.exp(height + rate * (stop - start)) if stop != mpmath.inf else 0
        return (last - mpmath.exp(height)) / rate

    areas = [area(*piece) for piece in pieces]
    while True:
        place, mark = reader() * sum(areas), reader()
        index = 0
        while place > areas[index]:
            place -= areas[index]
            index += 1
        start, _, height, rate = pieces[index]
        if rate == 0:
            r = start + place
        else:
            r = start + mpmath.log1p(place * rate * mpmath.exp(-height)) / rate
        if mark < mpmath.exp(h(r) - height - rate * (r - start)):
            return r


def other_formulas(reader, law, footpoint):
    """Boosts and rotations as matrices, distances by their cosines."""
    sign, k = (1 if law.curvature > 0 else -1), mpmath.sqrt(abs(law.curvature))
    cosine, sine = (mpmath.cos, mpmath.sin) if sign > 0 else (mpmath.cosh, mpmath.sinh)
    arc = mpmath.acos if sign > 0 else mpmath.acosh
    r = distance(reader, law)
    turn = reader.direction(law.dim)
    start = [k * v for v in footpoint]
    t = mpmath.norm(start)
    axis = [v / t for v in start] if t else [mpmath.mpf(1)] + [mpmath.mpf(0)] * (law.dim - 1)
    move = mpmath.eye(law.dim + 1)
    move[0, 0] = cosine(t)
    for i, a in enumerate(axis):
        move[0, i + 1], move[i + 1, 0] = -sign * sine(t) * a, sine(t) * a
        for j, b in enumerate(axis):
            move[i + 1, j + 1] += (cosine(t) - 1) * a * b
    point = move * mpmath.matrix([cosine(r), *(sine(r) * u for u in turn)])
    length = arc(point[0])
    across = list(point[1:])
    drawn = length / k
    if law.radius is not None:
        drawn = min(drawn, mpmath.mpf(law.radius))
    return [drawn * x / mpmath.norm(across) for x in across]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_the_starting_precision_changes_nothing(kind, name, same):
    law = space(name, kind)
    assert same(law, footpoint_of(law), 42, range(5)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_the_starting_precision_changes_nothing_in_many_draws(kind, name, same):
    law = space(name, kind)
    assert same(law, footpoint_of(law), 42, range(200)) == 0


EXTREMES = {
    "S2, wide": (2, 1.0, 100.0, None, 0.7),
    "S2, narrow": (2, 1.0, 1e-6, 0.5, 0.2),
    "S2, at the cut": (2, 1.0, 0.3, None, math.pi / math.sqrt(2.0)),
    "circle, wide": (1, 1.0, 100.0, 1.0, 1.0),
    "circle, half a step at the end": (1, 1.0, 1.0, 0.1, 0.1),
    "H2, near the limit": (2, -1.0, 1.0 - 1e-12, 2.0, 1.0),
    "H64, near the limit": (64, -1.0, (1.0 - 1e-9) / 63, 1.0, 0.1),
    "H3, far": (3, -1.0, 0.3, 14.0, 8.0),
    "H2, at the boundary": (2, -1.0, 0.3, 1.0, math.sqrt(0.5)),
    "H2, next to the centre": (2, -1.0, 0.3, 1.0, 1e-300),
    "S3, centre": (3, 1.0, 0.3, 1.0, 0.0),
    "H2, small and curved": (2, -1e-6, 1e-9, None, 1e-3),
}


@pytest.mark.fast(3)
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("grid", [40, 55, 84])
def test_extremes_end_and_do_not_depend_on_the_starting_precision(name, grid, same):
    dim, curvature, sigma, radius, value = EXTREMES[name]
    for kind in KINDS:
        law = SpaceFormDraw(kind, dim, curvature, sigma, radius)
        assert same(law, [value] * dim, grid, range(3)) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_other_formulas_give_the_same_integers(kind, name, mismatches):
    law = space(name, kind)
    assert mismatches(other_formulas, law, footpoint_of(law), 60, range(4)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_other_formulas_give_the_same_integers_in_many_draws(kind, name, mismatches):
    law = space(name, kind)
    assert mismatches(other_formulas, law, footpoint_of(law), 60, range(500)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXTREMES if name != "S2, at the cut"])
def test_other_formulas_give_the_same_integers_at_extremes(name, mismatches):
    dim, curvature, sigma, radius, value = EXTREMES[name]
    for kind in KINDS:
        law = SpaceFormDraw(kind, dim, curvature, sigma, radius)
        # acosh next to 1 and far out takes digits that 420 bits have
        assert mismatches(other_formulas, law, [value] * dim, 53, range(30)) == 0


@pytest.mark.fast("S2")
@pytest.mark.parametrize("name", ["S2", "H4"])
def test_rounding_the_middle_of_a_ball_gives_other_integers(name, mismatches, guess):
    guess("nearest")
    law = space(name, "laplace")
    footpoint = footpoint_of(law)
    assert mismatches(other_formulas, law, footpoint, 44, range(20), precision=48) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["S2", "H4"])
def test_comparing_the_middles_of_balls_gives_other_integers(name, mismatches, guess):
    law = space(name, "laplace")
    footpoint = footpoint_of(law)
    assert mismatches(other_formulas, law, footpoint, 20, range(100), precision=10) == 0
    guess("less")
    assert mismatches(other_formulas, law, footpoint, 20, range(100), precision=10) >= 5


def fit(law, value, sigma, count, generator):
    """Smaller p-value of the distances from the footpoint and of a cosine of the directions."""
    footpoint = [value] * law.dim
    found = 2.0**-45 * law.draws(footpoint, 45, count, generator=generator)
    sign, k = np.sign(law.curvature), math.sqrt(abs(law.curvature))
    sine, cosine = (np.sin, np.cos) if sign > 0 else (np.sinh, np.cosh)
    r, t = k * np.linalg.norm(found, axis=1), k * np.linalg.norm(footpoint)
    along = k * k * found @ np.array(footpoint) / t / r
    cosine_of = cosine(r) * cosine(t) + sign * sine(r) * sine(t) * along
    distance = (np.arccos if sign > 0 else np.arccosh)(cosine_of) / k
    end = math.pi / k if sign > 0 else math.inf
    radial = RadialLaw(law.kind, law.dim, law.curvature, sigma, upper=end)
    pvalue = scipy.stats.kstest(distance, radial.cdf).pvalue
    if law.dim == 1:
        return pvalue
    # angle at the footpoint between centre and draw
    toward = (cosine(r) - cosine(t) * cosine_of) / (sine(t) * sine(k * distance))
    half = 0.5 * (law.dim - 1)
    beta = scipy.stats.beta(half, half)
    return min(pvalue, scipy.stats.kstest(0.5 * (1.0 + sign * toward), beta.cdf).pvalue)


#: dimension, curvature, sigma, draws that tell a scale 5 % off
FITS = {
    "circle": (1, 1.0, 0.5, 20_000),
    "S2": (2, 1.0, 0.4, 10_000),
    "S10": (10, 2.0, 0.1, 5_000),
    "H2": (2, -1.0, 0.4, 10_000),
    "H10": (10, -0.5, 0.08, 5_000),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FITS)
def test_draws_follow_the_law_and_another_scale_is_noticed(kind, name, holds):
    dim, curvature, sigma, count = FITS[name]
    law = SpaceFormDraw(kind, dim, curvature, sigma)
    assert holds(lambda generator: fit(law, 0.3, sigma, count, generator))
    assert fit(law, 0.3, 1.05 * sigma, count, np.random.default_rng(20211)) < 1e-3


@pytest.mark.fast("H2-laplace")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FITS)
def test_a_few_draws_follow_the_law(kind, name, holds):
    dim, curvature, sigma, _ = FITS[name]
    law = SpaceFormDraw(kind, dim, curvature, sigma)
    assert holds(lambda generator: fit(law, 0.3, sigma, 200, generator))
    assert fit(law, 0.3, 1.5 * sigma, 200, np.random.default_rng(20211)) < 1e-2


def test_draws_are_shortened_to_the_ball():
    for dim, curvature in ((2, 1.0), (3, -1.0), (1, 1.0)):
        law = SpaceFormDraw("gaussian", dim, curvature, 2.0, 0.25)
        lengths = [np.linalg.norm(law.draw([0.1] * dim, 48).values()) for _ in range(60)]
        assert max(lengths) == pytest.approx(0.25, abs=1e-13)
        assert min(lengths) <= 0.25


def test_the_end_of_a_segment_may_lie_between_two_points_of_the_grid():
    """There the draw has positive probability, and no precision decides a tie."""
    law = SpaceFormDraw("gaussian", 1, 1.0, 1.0, 0.75)
    generator = np.random.default_rng(0)
    found = {law.draw([0.5], 1, generator=generator).integers[0] for _ in range(60)}
    assert found == {-2, -1, 0, 1, 2}


def test_the_laplace_law_needs_a_normaliser():
    with pytest.raises(NotAttainableError, match="normaliser"):
        SpaceFormDraw("laplace", 3, -1.0, 0.5)
    # the product is 1 - 2^-53 in float64 and at least 1 in truth
    sigma, curvature = _over_the_limit()
    with pytest.raises(NotAttainableError, match="normaliser"):
        SpaceFormDraw("laplace", 2, -curvature, sigma)
    SpaceFormDraw("laplace", 3, -1.0, np.nextafter(0.5, 0.0)).draw([0.0] * 3, 40)
    SpaceFormDraw("gaussian", 3, -1.0, 5.0).draw([0.0] * 3, 40)


def test_whether_a_law_can_be_drawn_is_known_before_a_draw():
    SpaceFormDraw("gaussian", 2, -1.0, 1e10).check_drawable()
    with pytest.raises(NotAttainableError, match="certified"):
        SpaceFormDraw("gaussian", 2, -1.0, 1e150).check_drawable()


def _over_the_limit():
    for i in range(1, 10_000):
        curvature = 1.0 + i / 1024
        sigma = 1.0 / math.sqrt(curvature)
        for near in (sigma, np.nextafter(sigma, 0.0), np.nextafter(sigma, 2.0)):
            over = Fraction(float(near)) ** 2 * Fraction(curvature) >= 1
            if over and near / (1.0 / math.sqrt(curvature)) < 1.0:
                return float(near), curvature
    raise AssertionError


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("gaussian", 2, 0.0, 1.0), "FlatDraw"),
        (("gaussian", 0, 1.0, 1.0), "dim"),
        (("gaussian", 2, 1.0, 0.0), "sigma"),
        (("gaussian", 2, 1.0, 1.0, 0.0), "radius"),
        (("heat", 2, 1.0, 1.0), "kind"),
    ],
)
def test_laws_that_are_none(arguments, text):
    with pytest.raises(InvalidParameterError, match=text):
        SpaceFormDraw(*arguments)
