"""The open table of laws: by class of space, never inferred."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    ApproxDP,
    Ball,
    PureDP,
    RiemannianGaussian,
    RiemannianLaplace,
    Sphere,
    UnprovenMechanismError,
    UnsupportedManifoldError,
    plan,
    private_mean,
    research,
    verify,
)
from riemdp.noise import Family, IsotropicLaw, Law, RadialLaw, _rules, family, has_family, rule
from riemdp.privacy import GaussianCurve, PureCurve
from riemdp.research import RestrictedLaplace
from riemdp.research._ball_laplace import BallLaplace


class Warped(Sphere):
    """A changed sphere."""


class Dented(Sphere):
    """One that says that its curvature varies."""

    constant_curvature = None


def test_no_law_is_inferred_from_what_a_space_states(bumpy):
    manifold = bumpy(2)
    assert manifold.constant_curvature == 1.0
    ball = Ball(manifold, [0.0, 0.0, 1.0], 0.3)
    for call in (
        lambda: family("laplace", manifold),
        lambda: RiemannianLaplace(manifold, 0.1),
        lambda: RiemannianGaussian(manifold, 0.1),
        lambda: RestrictedLaplace(manifold, 0.1, ball=ball),
        lambda: IsotropicLaw("laplace", manifold, 0.1),
        lambda: BallLaplace(ball, 0.1),
    ):
        with pytest.raises(UnsupportedManifoldError, match="tangent-laplace"):
            call()
    assert not has_family("laplace", manifold)
    assert has_family("laplace", Sphere(2))  # the control


def test_auto_takes_tangent_noise_where_there_is_no_law(bumpy):
    manifold = bumpy(2)
    ball = Ball(manifold, [0.0, 0.0, 1.0], 0.3)
    points = np.tile(ball.center, (10, 1))
    rows = {row.mechanism: row.problem for row in plan(manifold, 0.3, 10, PureDP(1.0)).rows}
    assert rows["tangent-laplace"] is None
    assert "known" in rows["riemannian-laplace"]
    release = private_mean(points, ball, PureDP(1.0), allow_unproven=True)
    assert release.mechanism.name == "tangent-laplace"
    assert not release.proven


def test_a_changed_space_has_the_law_of_its_class_unproven():
    mechanism = RiemannianLaplace(Warped(2), 0.1)
    assert mechanism.proofs()["law on Warped"] is None
    assert not mechanism.proven
    assert RiemannianLaplace(Sphere(2), 0.1).proven
    with pytest.raises(UnsupportedManifoldError):
        RiemannianLaplace(Dented(2), 0.1)


class BumpyLaw(Law):
    """A law of another library: noise on a sphere in disguise."""

    def __init__(self, kind, manifold, sigma):
        self.kind, self.manifold, self.sigma = kind, manifold, sigma
        self.inside = IsotropicLaw(kind, Sphere(manifold.dim), sigma)

    @property
    def radial(self):
        return RadialLaw(self.kind, self.manifold.dim, 1.0, self.sigma)

    def sample(self, footpoint, size=None, generator=None):
        return research.sample(self.inside, footpoint, size, generator)


class BumpyFamily(Family):
    """A family of another library, whose author names a proof."""

    proof = constant_normaliser = "https://example.org/bumpy"

    def law(self, sigma):
        return BumpyLaw(self.kind, self.manifold, sigma)

    def curve(self, sigma, sensitivity):
        if self.kind == "laplace":
            return PureCurve(sensitivity / sigma)
        return GaussianCurve(1.01 * sensitivity / sigma)


@pytest.fixture
def table(monkeypatch):
    """A copy of the rules that a test may add to."""
    monkeypatch.setattr(_rules, "_rules", dict(_rules._rules))


def test_a_rule_gives_a_foreign_space_both_mechanisms(table, bumpy):
    rule(("laplace", "gaussian"), bumpy)(BumpyFamily)
    manifold = bumpy(2)
    ball = Ball(manifold, [0.0, 0.0, 1.0], 0.3)
    points = np.tile(ball.center, (10, 1))
    for mechanism, budget in (
        ("riemannian-laplace", PureDP(1.0)),
        ("riemannian-laplace", ApproxDP(1.0, 1e-6)),
        ("riemannian-gaussian", ApproxDP(1.0, 1e-6)),
    ):
        kind = {"riemannian-laplace": RiemannianLaplace}.get(mechanism, RiemannianGaussian)
        found = kind.calibrate(manifold, 0.06, budget)
        assert found.satisfies(0.06, budget)
        assert not kind(manifold, 0.999 * found.sigma).satisfies(0.06, budget)
        assert found.proofs()["law on Bumpy"] == "https://example.org/bumpy"
        assert [name for name, proof in found.proofs().items() if proof is None] == ["Bumpy"]
        draws = ball.project(research.sample(found, points, generator=np.random.default_rng(0)))
        assert np.all(ball.contains(draws))
        with pytest.raises(UnsupportedManifoldError, match="density"):
            found.log_density(points, points)
    assert found.sigma == pytest.approx(
        1.01 * RiemannianGaussian.calibrate(_plane(), 0.06, budget).sigma, rel=1e-9
    )
    # a rule on the space leaves its own claim open
    with pytest.raises(UnprovenMechanismError, match="Bumpy"):
        private_mean(points, ball, PureDP(1.0), mechanism="tangent-laplace")
    release = private_mean(
        points, ball, PureDP(1.0), mechanism="tangent-laplace", allow_unproven=True
    )
    assert not verify(release).passed


def _plane():
    from riemdp import Euclidean

    return Euclidean(2)


def test_the_nearest_rule_wins(table):
    rule("laplace", Warped)(BumpyFamily)
    assert type(family("laplace", Warped(2))) is BumpyFamily
    assert type(family("laplace", Sphere(2))) is not BumpyFamily
    assert type(family("gaussian", Warped(2))) is not BumpyFamily
