"""Exact releases at the ends of scales, footpoints and grids: they end, in one round or two."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    ZCDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
    private_mean,
)
from riemdp.noise.exact import _draw, _ladder
from riemdp.release._rounded_value import replayed

#: Space, mechanism, scale, radius of the ball, and how far all records are from its centre.
SETTINGS = {
    "H2 next to the Laplace limit": (Hyperbolic(2), RiemannianLaplace, 1 - 1e-9, 1.0, 0.5),
    "H10 next to the Laplace limit": (Hyperbolic(10), RiemannianLaplace, (1 - 1e-9) / 9, 1.0, 1.0),
    "SPD2 near the Laplace limit": (SPDAffineInvariant(2), RiemannianLaplace, 1.2, 1.0, 1.0),
    "SPD3 near the Laplace limit": (SPDAffineInvariant(3), RiemannianLaplace, 0.65, 1.0, 0.5),
    "SPD3, wide": (SPDAffineInvariant(3), RiemannianGaussian, 1.4, 1.0, 1.0),
    "S2, nearly uniform": (Sphere(2), RiemannianGaussian, 100.0, 1.5, 1.5),
    "S2, nearly uniform, Laplace": (Sphere(2), RiemannianLaplace, 100.0, 1.5, 1e-300),
    "S2, narrow": (Sphere(2), RiemannianLaplace, 1e-6, 1e-6, 1e-6),
    "H2, narrow": (Hyperbolic(2), RiemannianGaussian, 1e-6, 1e-6, 1e-300),
    "SPD2, narrow": (SPDAffineInvariant(2), RiemannianGaussian, 1e-6, 1e-6, 1e-6),
    "R2, grid of 2^-84": (Euclidean(2), RiemannianLaplace, 2.0**-44, 2.0**-44, 2.0**-44),
    "R2, 1e-300": (Euclidean(2), RiemannianGaussian, 1.0, 1.0, 1e-300),
    "R2, all tiny": (Euclidean(2), RiemannianGaussian, 1e-70, 1e-70, 1e-300),
    "R2, all huge": (Euclidean(2), RiemannianLaplace, 1e70, 1e70, 1e70),
    "H2, centre": (Hyperbolic(2), RiemannianLaplace, 0.5, 1.0, 0.0),
    "SPD2, centre": (SPDAffineInvariant(2), RiemannianGaussian, 0.5, 1.0, 0.0),
}
#: Where draws may be so long that a second round is needed; how long they are is released.
LONG = {name for name in SETTINGS if "limit" in name}
#: Where fewer bits than a question begins with decide nearly all, whatever the footpoint is.
QUICK = {"R2, 1e-300", "R2, all tiny"}


@pytest.fixture
def precisions(monkeypatch):
    """Working precisions at which draws were rounded."""
    import flint

    found, nearest = set(), _ladder.Ladder.nearest

    def noted(number):
        found.add(flint.ctx.prec)
        return nearest(number)

    monkeypatch.setattr(_ladder.Ladder, "nearest", staticmethod(noted))
    return found


@pytest.mark.parametrize("count", [2, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.fast(8)
def test_releases_at_extremes(name, count, precisions):
    manifold, mechanism, sigma, radius, length = SETTINGS[name]
    ball = Ball(manifold, manifold.origin, radius)
    # all in one place, one coordinate after the other
    record = ball.point(length * np.eye(manifold.dim)[0])
    data = np.repeat(record[None], 10, axis=0)
    budget = PureDP(2.0) if mechanism is RiemannianLaplace else ZCDP(2.0)
    for _ in range(count):
        release = private_mean(data, ball, budget, mechanism=mechanism(manifold, sigma))
        assert len(release.rounded) == manifold.dim
        value = replayed(release.offer, release.rounded, release.grid).raw
        assert np.array_equal(release.value, value)
        assert ball.contains(value) or not release.projected
    assert len(precisions) <= (2 if name in LONG else 1)
    assert precisions or name in QUICK


def test_fewer_bits_to_begin_with_are_noticed(monkeypatch, precisions):
    monkeypatch.setattr(_draw.ExactDraw.rounded, "__defaults__", (24,))
    monkeypatch.setitem(_draw.ExactDraw.draw.__kwdefaults__, "precision", 24)
    ball = Ball(Euclidean(1), [0.0], 1.0)
    mechanism = RiemannianLaplace(Euclidean(1), 1.0)
    private_mean([[0.5]] * 10, ball, PureDP(1.0), mechanism=mechanism)
    assert len(precisions) > 1
