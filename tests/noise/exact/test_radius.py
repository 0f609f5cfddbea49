from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import kstest

from riemdp import NotAttainableError
from riemdp._working_precision import working_precision
from riemdp.noise import RadialLaw
from riemdp.noise.exact import Bits
from riemdp.noise.exact._ladder import Ladder
from riemdp.noise.exact._radius import ExactRadius, exact_radius

flint = pytest.importorskip("flint")

LAWS = [
    ("laplace", 1, 1.0, 0.3),
    ("gaussian", 1, 1.0, 100.0),
    ("gaussian", 9, 2.5, 1e-6),
    ("laplace", 1, -1.0, 1.0 - 1e-12),
    ("laplace", 63, -1.0, (1.0 - 1e-9) / 63),
    ("laplace", 4, -0.3, 0.2),
    ("gaussian", 99, -1.0, 2.0),
    ("gaussian", 0, 1.0, 0.5),
    ("laplace", 0, 1.0, 0.5),
    ("laplace", 0, 1.0, 5.0),
]


@pytest.mark.parametrize("numbers", LAWS)
def test_the_envelope_lies_above(numbers):
    """Everywhere, by balls: at the touching points it may meet."""
    law = exact_radius(*numbers)
    before = flint.ctx.prec
    flint.ctx.prec = 300
    try:
        pieces = law._pieces()
        density = pieces.density
        end = math.pi if numbers[2] > 0 else law.profile.mode + 50.0 * float(density.sigma)
        for share in np.linspace(0.001, 0.999, 200):
            r = flint.arb(float(share) * end)
            log_envelope = pieces.level
            if r < pieces.left:
                log_envelope += pieces.left_rate * (r - pieces.left)
            elif r > pieces.right:
                log_envelope -= pieces.right_rate * (r - pieces.right)
            assert not density.log(r) > log_envelope
        # not too far above: the acceptance
        peak = density.log(flint.arb(law.profile.mode)) if numbers[1] else 0
        assert pieces.level - peak < 1e-20
        assert pieces.left <= pieces.right or numbers[1] == 0
    finally:
        flint.ctx.prec = before


@pytest.mark.parametrize("numbers", [("laplace", 1, 1.0, 0.3), ("gaussian", 4, -1.0, 0.5)])
def test_no_level_is_certified_below_the_maximum(numbers):
    """Touching points on one side of the mode bound nothing."""
    kind, power, curvature, sigma = numbers
    law = ExactRadius(kind, power, Fraction(curvature), Fraction(sigma))
    left, right, mode = law.touches.left, law.touches.right, Fraction(law.profile.mode)
    before = flint.ctx.prec
    flint.ctx.prec = 256
    try:
        assert law._level(left, right) == law.touches.level
        assert law._level(left, mode * Fraction(99, 100)) is None
        assert law._level(mode * Fraction(101, 100), right) is None
        assert law._level(right, left) is None
    finally:
        flint.ctx.prec = before


@pytest.mark.parametrize(
    "numbers",
    [
        ("gaussian", 1, -1.0, 1e150),  # points of float64 are further apart than the law is wide
        ("gaussian", 1, 1e-300, 1e-200),
        ("laplace", 0, -1e-300, 1e-200),
        ("laplace", 1, 1.0, 5e-324),
    ],
)
def test_scales_of_no_use_are_refused(numbers):
    with pytest.raises(NotAttainableError, match="certified"):
        _ = exact_radius(*numbers).touches


def test_no_level_is_certified_that_nearly_no_proposal_passes():
    """As another thread might bring about that lowers the precision meanwhile."""
    law = ExactRadius("gaussian", 300, Fraction(-1), Fraction(0.01))
    touches = law.touches
    before = flint.ctx.prec
    try:
        for precision in range(2, 64):
            flint.ctx.prec = precision
            level = law._level(touches.left, touches.right)
            assert level is None or 0 <= level - touches.level < 3
        flint.ctx.prec = 256
        mode = Fraction(law.profile.mode)
        near = [mode + (x - mode) / 1000 for x in (touches.left, touches.right)]
        far = [mode + (x - mode) * 100 for x in (touches.left, touches.right)]
        assert law._level(*near) is None
        assert law._level(touches.left, far[1]) is None
    finally:
        flint.ctx.prec = before


def test_numbers_are_worked_out_once():
    law = exact_radius("laplace", 2, -1.0, 0.25)
    assert exact_radius("laplace", 2, -1.0, 0.25) is law
    assert law.touches is law.touches


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize(("dim", "curvature"), [(199, 1.0), (1000, 1.0), (1000, -1.0)])
def test_radii_of_many_dimensions_follow_their_law(kind, dim, curvature):
    scale = 0.0172 if kind == "gaussian" else 0.5 * min(0.0172 / math.sqrt(dim), 1.0 / dim)
    law = exact_radius(kind, dim - 1, curvature, scale)
    bits, ladder = Bits(np.random.default_rng(8)), Ladder(128)
    with working_precision(128):
        radii = np.array([float(law.draw(bits, ladder)()) for _ in range(5000)])
    known = RadialLaw(kind, dim, curvature, scale)
    assert kstest(radii, known.cdf).pvalue > 1e-4
    # by the density itself, in few lines; negative controls: one percent of scale, of dimension
    grid = np.linspace(0.5, 1.5, 200_001) * np.median(radii)

    def pvalue(power, scale):
        growth = np.log(np.sin(grid) if curvature > 0.0 else np.sinh(grid))
        energy = grid / scale if kind == "laplace" else 0.5 * (grid / scale) ** 2
        height = power * growth - energy
        cumulative = np.cumsum(np.exp(height - height.max()))
        return kstest(radii, lambda r: np.interp(r, grid, cumulative / cumulative[-1])).pvalue

    assert pvalue(dim - 1, scale) > 1e-4
    assert pvalue(dim - 1, 0.99 * scale) < 1e-4
    assert pvalue(0.95 * (dim - 1), scale) < 1e-4
