from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from riemdp import InvalidParameterError, NotAttainableError, research
from riemdp.noise import AffineInvariantLaw, AffineInvariantRadial
from riemdp.noise.exact import AffineInvariantDraw
from riemdp.spaces import SPDAffineInvariant

mpmath = pytest.importorskip("mpmath")

KINDS = ["gaussian", "laplace"]
#: matrix size, sigma, radius
SPACES = {"2": (2, 0.5, None), "3": (3, 0.4, 1.0), "5": (5, 0.15, 0.8)}


def space(name, kind):
    return AffineInvariantDraw(kind, *SPACES[name])


def footpoint_of(law):
    return [Fraction((-1) ** i * (i + 1), 5 * law.coordinates**2) for i in range(law.coordinates)]


def matrix(coordinates, k):
    """Diagonal first, then the upper triangle row by row."""
    rest = iter(coordinates[k:])
    found = mpmath.diag(coordinates[:k])
    for i in range(k):
        for j in range(i + 1, k):
            found[i, j] = found[j, i] = next(rest) / mpmath.sqrt(2)
    return found


def of_eigenvalues(function, symmetric):
    values, vectors = mpmath.eigsy(symmetric)
    return vectors * mpmath.diag([function(x) for x in values]) * vectors.T


class Bound:
    """The bound by its public numbers, at 420 bits."""

    def __init__(self, law):
        knots = law._shells.knots
        self.kind, self.k, self.dim = law.kind, law.k, law.coordinates
        self.sigma = mpmath.mpf(law.sigma)
        self.level = mpmath.mpf(knots.level.numerator) / knots.level.denominator
        k = self.k
        line = mpmath.sqrt(sum((mpmath.mpf(2 * i + 1 - k) / 2) ** 2 for i in range(k)))
        self.steepness = [line, k * mpmath.sqrt((k - 1) / mpmath.mpf(8))]
        ends = self.ends = [mpmath.mpf(x.numerator) / x.denominator for x in knots.ends]
        self.heights = [self.flat(ends[0]) + self.member(ends[0], knots.even[0])]
        self.areas = [ends[0] * mpmath.exp(self.heights[0])]
        for low, high, even in zip(ends[:-1], ends[1:], knots.even, strict=True):
            middle = (low + high) / 2
            tangent = [self.slope(middle) * (r - middle) for r in (low, high)]
            chord = [self.member(r, even) for r in (low, high)]
            self.heights.append(self.flat(middle) + max(map(sum, zip(tangent, chord, strict=True))))
            self.areas.append((high - low) * mpmath.exp(self.heights[-1]))
        self.heights.append(self.flat(ends[-1]) + self.member(ends[-1], knots.last_even))
        self.rate = -self.slope(ends[-1]) - self.steepness[knots.last_even]
        self.areas.append(mpmath.exp(self.heights[-1]) / self.rate)

    def flat(self, r):
        ratio = r / self.sigma
        energy = ratio if self.kind == "laplace" else ratio**2 / 2
        return (self.dim - 1) * mpmath.log(r) - energy - self.level

    def slope(self, r):
        pull = 1 / self.sigma if self.kind == "laplace" else r / self.sigma**2
        return (self.dim - 1) / r - pull

    def member(self, r, even):
        if not even:
            return self.steepness[0] * r
        k, gap = self.k, r * mpmath.sqrt(mpmath.mpf(2) / (self.k - 1))
        return k * (k - 1) / 2 * mpmath.log((mpmath.exp(gap / 2) - mpmath.exp(-gap / 2)) / gap)

    def invert(self, uniform):
        """Norm, and the bound there."""
        place, shell = uniform * sum(self.areas), 0
        while place > self.areas[shell]:
            place -= self.areas[shell]
            shell += 1
        bound = self.heights[shell]
        if shell < len(self.ends):
            return place / mpmath.exp(bound) + (self.ends[shell - 1] if shell else 0), bound
        beyond = -mpmath.log1p(-place / self.areas[shell])
        return self.ends[-1] + beyond / self.rate, bound - beyond


bound_of = functools.lru_cache(Bound)


def noise_of(reader, law):
    """Logarithm of the draw seen from the footpoint, by rejection."""
    bound = bound_of(law)
    while True:
        place, mark = reader(), reader()
        turn = reader.direction(law.coordinates)
        r, height = bound.invert(place)
        noise = matrix([r * u for u in turn], law.k)
        x = mpmath.eigsy(noise, eigvals_only=True)
        volume = mpmath.mpf(1)
        for i in range(law.k):
            for j in range(i):
                volume *= mpmath.sinh((x[i] - x[j]) / 2) / ((x[i] - x[j]) / 2)
        if mark < volume * mpmath.exp(bound.flat(r) - height):
            return noise


def other_formulas(reader, law, footpoint):
    """The footpoint's root by its eigenvalues, and a logarithm of a symmetric product."""
    k = law.k
    noise = of_eigenvalues(mpmath.exp, noise_of(reader, law))
    root = of_eigenvalues(lambda x: mpmath.exp(x / 2), matrix(footpoint, k))
    drawn = of_eigenvalues(mpmath.log, root * noise * root)
    found = [drawn[i, i] for i in range(k)]
    found += [mpmath.sqrt(2) * drawn[i, j] for i in range(k) for j in range(i + 1, k)]
    length = mpmath.norm(found)
    if law.radius is not None and length > law.radius:
        found = [law.radius * x / length for x in found]
    return found


@pytest.mark.fast("2-laplace", "3-gaussian")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_the_starting_precision_changes_nothing(kind, name, same):
    law = space(name, kind)
    assert same(law, footpoint_of(law), 42, range(2)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_the_starting_precision_changes_nothing_in_many_draws(kind, name, same):
    law = space(name, kind)
    assert same(law, footpoint_of(law), 42, range(100)) == 0


EXTREMES = {
    "near the limit": ("laplace", 2, 0.9 * math.sqrt(2.0), 5.0, 1.0),
    "wide": ("gaussian", 3, 2.0, 4.0, 1.0),
    "narrow": ("gaussian", 3, 1e-6, 1.0, 0.4),
    "at the centre": ("laplace", 3, 0.3, 1.0, 0.0),
    "next to the centre": ("laplace", 3, 0.3, 1.0, 1e-300),
    "at the boundary": ("gaussian", 2, 0.3, 1.0, 1.0 / math.sqrt(3.0)),
    "a multiple of the identity": ("gaussian", 3, 0.3, None, None),
    "large": ("gaussian", 12, 0.1, 1.0, 0.05),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("grid", [40, 84])
def test_extremes_end_and_do_not_depend_on_the_starting_precision(name, grid, same):
    kind, k, sigma, radius, value = EXTREMES[name]
    law = AffineInvariantDraw(kind, k, sigma, radius)
    footpoint = [value] * law.coordinates if value is not None else [0.5, 0.5, 0.5, 0, 0, 0]
    assert same(law, footpoint, grid, range(5)) == 0


@pytest.mark.fast("2-laplace")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SPACES)
def test_other_formulas_give_the_same_integers(kind, name, mismatches):
    law = space(name, kind)
    assert mismatches(other_formulas, law, footpoint_of(law), 60, range(1)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "count"), [("2", 500), ("3", 500), ("5", 50)])
def test_other_formulas_give_the_same_integers_in_many_draws(kind, name, count, mismatches):
    law = space(name, kind)
    assert mismatches(other_formulas, law, footpoint_of(law), 60, range(count)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("control", [("nearest", 48, 44, 60), ("less", 8, 20, 200)])
def test_answers_from_the_middles_of_balls_give_other_integers(control, mismatches, guess):
    what, precision, grid, count = control
    law = space("3", "laplace")
    footpoint = footpoint_of(law)
    seeds = range(count)
    assert mismatches(other_formulas, law, footpoint, grid, seeds, precision=precision) == 0
    guess(what)
    assert mismatches(other_formulas, law, footpoint, grid, seeds, precision=precision) >= 2


def fit(law, other, count, generator):
    """Smaller p-value of distances from the footpoint and of two entries, against float64."""
    k = law.k
    manifold = SPDAffineInvariant(k)
    footpoint = [0.2] + [0.1] * (law.coordinates - 1)
    found = np.array([law.draw(footpoint, 45, generator=generator).values() for _ in range(count)])
    center = np.eye(k)
    start = manifold.point(center, np.array(footpoint))
    drawn = manifold.point(center, found)
    noise = manifold.coordinates(start, drawn)
    # seen from the footpoint through its symmetric root or its Cholesky factor: the same law
    others = research.sample(AffineInvariantLaw(law.kind, manifold, other), start, count, generator)
    expected, moved = manifold.coordinates(start, others), manifold.coordinates(center, others)
    radial = AffineInvariantRadial(law.kind, k, other)
    return min(
        scipy.stats.kstest(np.linalg.norm(noise, axis=1), radial.cdf).pvalue,
        scipy.stats.ks_2samp(noise[:, 0], expected[:, 0]).pvalue,
        scipy.stats.ks_2samp(noise[:, k], expected[:, k]).pvalue,
        scipy.stats.ks_2samp(found[:, 0], moved[:, 0]).pvalue,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("k", "sigma"), [(2, 0.5), (3, 0.45)])
def test_draws_follow_the_law_and_another_scale_is_noticed(kind, k, sigma, holds):
    law = AffineInvariantDraw(kind, k, sigma)
    assert holds(lambda generator: fit(law, sigma, 5_000, generator))
    assert fit(law, 1.05 * sigma, 5_000, np.random.default_rng(20211)) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_draws_follow_the_law(kind, holds):
    law = AffineInvariantDraw(kind, 2, 0.5)
    assert holds(lambda generator: fit(law, 0.5, 80, generator))
    assert fit(law, 0.8, 80, np.random.default_rng(20211)) < 1e-3


def test_draws_are_shortened_to_the_ball():
    law = AffineInvariantDraw("gaussian", 2, 1.0, 0.25)
    lengths = [np.linalg.norm(law.draw([0.1, 0.0, 0.0], 48).values()) for _ in range(20)]
    assert max(lengths) == pytest.approx(0.25, abs=1e-13)


@pytest.mark.slow
def test_proposals_are_accepted_as_often_as_computed():
    law, accepted = AffineInvariantDraw("laplace", 3, 0.6), 0

    class Counting(AffineInvariantDraw):
        def _accepts(self, *arguments):
            nonlocal accepted
            accepted += 1
            return super()._accepts(*arguments)

    counting, generator = Counting("laplace", 3, 0.6), np.random.default_rng(4)
    for _ in range(200):
        counting.draw([0.0] * 6, 41, generator=generator)
    share = 200 / accepted
    assert law.acceptance() == pytest.approx(share, abs=4 * math.sqrt(share / accepted))


def test_the_laplace_law_needs_a_normaliser():
    with pytest.raises(NotAttainableError, match="normaliser"):
        AffineInvariantDraw("laplace", 2, math.sqrt(2.0))
    with pytest.raises(NotAttainableError, match="seconds"):
        AffineInvariantDraw("laplace", 3, 0.706).draw([0.0] * 6, 41)
    last = math.sqrt(2.0) * (1.0 - 1e-15)
    with pytest.raises(NotAttainableError, match="seconds"):
        AffineInvariantDraw("laplace", 2, last).draw([0.0] * 3, 41)


def test_wide_laws_that_take_many_bits_are_refused():
    with pytest.raises(NotAttainableError, match="seconds"):
        AffineInvariantDraw("gaussian", 2, 1000.0).check_drawable()


@pytest.mark.parametrize("public", [{"radius": 60.0}, {"reach": 60.0}])
def test_a_far_footpoint_of_the_ball_takes_no_more_bits(tape, public):
    law = AffineInvariantDraw("gaussian", 2, 0.3, **public)
    read = []
    for footpoint in ([0.0, 0.0, 0.0], [42.0, -42.0, 5.0]):
        for seed in range(4):
            bits = tape(seed)
            law.rounded(bits, footpoint, 42)
            read.append(bits.most)
    assert len(set(read)) == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("gaussian", 1, 1.0), "FlatDraw"),
        (("gaussian", 0, 1.0), "positive integer"),
        (("gaussian", 2, 0.0), "sigma"),
        (("gaussian", 2, 1.0, -1.0), "radius"),
        (("gaussian", 2, 1.0, None, -1.0), "reach"),
        (("heat", 2, 1.0), "kind"),
    ],
)
def test_laws_that_are_none(arguments, text):
    with pytest.raises(InvalidParameterError, match=text):
        AffineInvariantDraw(*arguments)
