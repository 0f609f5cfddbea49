"""Gaussian noise of products."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    NotAttainableError,
    Power,
    PureDP,
    RaoDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedManifoldError,
    private_mean,
    research,
)
from riemdp.noise import _independent, family
from riemdp.noise._pushed import PushedFamily
from riemdp.noise._spaces import SpaceFormGaussian, SpaceFormLaplace
from riemdp.privacy import GaussianCurve
from riemdp.research import Metropolis
from riemdp.spaces import FlatProduct, Product

FLAT = Product(Euclidean(1), SPDLogEuclidean(2))
CURVED = Product(Sphere(2), Euclidean(1), Hyperbolic(2))


def test_flat_factors_are_exact():
    for manifold in (FLAT, FlatProduct(*FLAT.spaces)):
        curve = family("gaussian", manifold).curve(0.5, 0.1)
        assert curve.mu() == pytest.approx(0.2, rel=1e-12)
        assert curve.mu() >= 0.2
        scale = RiemannianGaussian.calibrate(manifold, 0.1, GDP(0.2)).sigma
        assert scale == pytest.approx(0.5, rel=2e-4)


def test_draws_have_independent_gaussian_parts():
    law = family("gaussian", CURVED).law(0.4)
    draws = research.sample(law, CURVED.origin, 20_000, np.random.default_rng(0))
    squares = [
        np.square(space.dist(space.origin, part))
        for space, part in zip(CURVED.spaces, CURVED.split(draws), strict=True)
    ]
    for square, part in zip(squares, law.parts, strict=True):
        assert np.mean(square) == pytest.approx(part.radial.mean_square(), rel=0.05)
    assert np.max(np.abs(np.corrcoef(squares) - np.eye(3))) < 0.03
    dist = CURVED.dist(CURVED.origin, draws)
    assert np.mean(dist) == pytest.approx(law.radial.mean(), rel=0.02)
    levels = [0.05, 0.5, 0.95]
    np.testing.assert_allclose(np.quantile(dist, levels), law.radial.quantile(levels), rtol=0.03)


def test_the_density_is_that_of_the_distance():
    law = family("gaussian", CURVED).law(0.4)
    points = research.sample(law, CURVED.origin, 50, np.random.default_rng(1))
    found = law.log_density(points, CURVED.origin)
    flat = -0.5 * np.square(CURVED.dist(CURVED.origin, points) / 0.4)
    np.testing.assert_allclose(found - flat, (found - flat)[0], atol=1e-9)


@pytest.mark.fast("share2")
@pytest.mark.parametrize("share", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_losses_keep_to_the_curve(share):
    sensitivity, sigma = 0.5, 0.6
    law, draws = family("gaussian", CURVED).law(sigma), 100_000
    moves = [
        sensitivity * part * np.eye(space.dim)[0]
        for space, part in zip(CURVED.spaces, share, strict=True)
    ]
    other = CURVED.point(CURVED.origin, CURVED.join_coordinates(moves))
    assert CURVED.dist(CURVED.origin, other) == pytest.approx(sensitivity)
    points = research.sample(law, CURVED.origin, draws, np.random.default_rng(2))
    loss = law.log_density(points, CURVED.origin) - law.log_density(points, other)
    curve = family("gaussian", CURVED).curve(sigma, sensitivity)
    assert curve.mu() < 1.1 * 0.5 / 0.6 * 1.1
    for epsilon in (0.0, 0.5, 1.0):
        terms = np.maximum(-np.expm1(epsilon - loss), 0.0)
        error = 4.0 * np.std(terms) / math.sqrt(draws)
        assert np.mean(terms) <= float(curve.delta_at(epsilon)) + error
        low = GaussianCurve(0.5 * curve.mu())  # the control
        assert np.mean(terms) > float(low.delta_at(epsilon)) + error


def test_what_is_not_known_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(SpaceFormGaussian, "slope", lambda self, sigma: math.inf)
    with pytest.raises(UnsupportedManifoldError, match="no privacy curve at a distance"):
        family("gaussian", CURVED).curve(0.5, 4.0)


def test_rao_distances():
    mechanism = RiemannianGaussian(CURVED, 0.6)  # whose curve at 0.5 is known by now
    parts = [RiemannianGaussian(space, 0.6).rao(0.5, "parametric") for space in CURVED.spaces]
    assert mechanism.rao(0.5, "parametric").theta == max(part.theta for part in parts)
    assert mechanism.rao(0.5, "angle").theta <= mechanism.rao(0.5, "parametric").theta * 1.1


@pytest.mark.slow
def test_calibration_to_a_rao_distance():
    found = RiemannianGaussian.calibrate(CURVED, 0.3, RaoDP(0.5, distance="angle"))
    assert found.satisfies(0.3, RaoDP(0.5, distance="angle"))


@pytest.mark.slow
def test_means_of_products_are_released():
    generator = np.random.default_rng(3)
    manifold = Product(Hyperbolic(2), Euclidean(1))
    ball = Ball(manifold, manifold.origin, 1.0)
    points = ball.point(generator.normal(size=(100, 3)) * 0.3)
    release = private_mean(
        points, ball, ApproxDP(1.0, 1e-6), mechanism="riemannian-gaussian", generator=generator
    )
    assert release.proven
    assert release.proofs["law on Product"] == "docs/proofs/products.md"
    assert ball.contains(release.value)


def test_where_positive_curvature_varies_it_is_the_tangent_mean():
    generator = np.random.default_rng(3)
    ball = Ball(CURVED, CURVED.origin, 0.5)
    points = ball.point(generator.normal(size=(100, 5)) * 0.1)
    release = private_mean(points, ball, PureDP(1.0), generator=generator)
    assert release.statistic.name == "tangent-mean"


def test_two_proofs_of_one_name_are_proved_if_both_are():
    class Changed(Product):
        name = "Product"
        proof = "https://example.org/changed"

    changed, own = Changed(Euclidean(1), Sphere(2)), Product(Euclidean(1), Sphere(2))
    for spaces in ((changed, own), (own, changed)):
        assert family("gaussian", Product(*spaces)).proofs()["law on Product"] is None
    assert family("gaussian", Product(own, own)).proofs()["law on Product"] is not None


def test_scales_are_found_where_few_suffice():
    """The law of matrices has its least mu at one scale, and none known far beyond."""
    manifold = Product(SPDAffineInvariant(3), Euclidean(1))
    found = RiemannianGaussian.calibrate(manifold, 0.45, GDP(0.5))
    assert found.satisfies(0.45, GDP(0.5))
    assert not RiemannianGaussian(manifold, 0.99 * found.sigma).satisfies(0.45, GDP(0.5))


def test_what_cannot_be_attained_is_refused_at_once():
    manifold = Product(Sphere(2), Hyperbolic(2))
    with pytest.raises(NotAttainableError, match=r"0\.01-GDP"):
        RiemannianGaussian.calibrate(manifold, 0.1, GDP(0.01))
    # so that other noise is taken instead
    ball = Ball(manifold, manifold.origin, 0.7)
    points = np.tile(ball.center, (50, 1))
    release = private_mean(points, ball, GDP(0.01), generator=np.random.default_rng(0))
    assert release.mechanism.name in ("tangent-gaussian", "wrapped-gaussian")


def test_a_factor_of_which_nothing_is_known_leaves_nothing_known(monkeypatch):
    def squares(part, sigma, distances):
        return np.full(len(distances), np.inf)

    monkeypatch.setattr(_independent, "_squares", squares)
    monkeypatch.setattr(SpaceFormGaussian, "slope", lambda self, sigma: math.inf)
    noise = family("gaussian", Product(Sphere(2), Hyperbolic(2)))
    _independent._largest_mu.cache_clear()
    assert _independent._largest_mu(noise, 0.5, 0.1) == math.inf
    _independent._largest_mu.cache_clear()


@pytest.mark.parametrize(("steps", "reached"), [((11.7, 11.7, 0.6), 3), ((13.7, 13.7, 0.6), 2)])
def test_shared_distances_are_bounded_by_whole_cells(monkeypatch, steps, reached):
    """Of factors whose mu jumps to 1 inside a cell, all whose squares fit together count."""
    spaces = [Sphere(2, curvature) for curvature in (1.0, 2.0, 3.0)]
    jumps = dict(zip(spaces, steps, strict=True))

    def squares(part, sigma, distances):
        cells = np.square(np.array(distances) / 0.1) * _independent._CELLS
        return (cells >= jumps[part.manifold]).astype(float)

    monkeypatch.setattr(_independent, "_squares", squares)
    noise = family("gaussian", Product(*spaces))
    assert _independent._shared_mu(noise, 0.5, 0.1) == pytest.approx(math.sqrt(reached))


@pytest.mark.parametrize("copies", [1, 2, 3, 5, 6, 7])
def test_shared_distances_count_every_copy(monkeypatch, copies):
    """Of copies whose mu jumps to 1 in the fifth cell of 24, six fit together."""

    def squares(part, sigma, distances):
        cells = np.square(np.array(distances) / 0.1) * _independent._CELLS
        return (cells >= 4.7).astype(float)

    monkeypatch.setattr(_independent, "_squares", squares)
    noise = family("gaussian", Power(Sphere(2), copies))
    found = _independent._shared_mu(noise, 0.5, 0.1)
    assert found == pytest.approx(math.sqrt(min(copies, 6)))


# Laplace noise, and many copies.

SPACES = {
    "sphere": Sphere(2),
    "hyperbolic": Hyperbolic(2),
    "matrices": SPDAffineInvariant(2),
    "line": Euclidean(1),
}


def pair_along(manifold, distances):
    """Footpoints that differ in every factor by a distance, and a point beyond the second one."""
    ends = []
    for times in (1.0, 1.5):
        moves = [
            times * far * np.eye(space.dim)[0]
            for space, far in zip(manifold.each, distances, strict=True)
        ]
        ends.append(manifold.point(manifold.origin, np.concatenate(moves)))
    return manifold.origin, *ends


@pytest.mark.parametrize("copies", [2, 5])
@pytest.mark.parametrize("name", SPACES)
def test_the_laplace_loss_reaches_its_epsilon(name, copies):
    space = SPACES[name]
    manifold = Product(*[space] * copies)
    sensitivity, sigma = 0.4, 0.3
    foot, other, beyond = pair_along(manifold, [sensitivity / math.sqrt(copies)] * copies)
    assert manifold.dist(foot, other) == pytest.approx(sensitivity)
    mechanism = RiemannianLaplace(manifold, sigma)
    epsilon = mechanism.privacy(sensitivity).pure_epsilon()
    assert epsilon == pytest.approx(math.sqrt(copies) * sensitivity / sigma)
    loss = mechanism.log_density(beyond, other) - mechanism.log_density(beyond, foot)
    assert loss == pytest.approx(epsilon, rel=1e-9)
    assert loss > 1.2 * sensitivity / sigma  # the control: no root of the number of factors
    draws = research.sample(mechanism, other, 500, np.random.default_rng(0))
    losses = mechanism.log_density(draws, other) - mechanism.log_density(draws, foot)
    assert np.max(np.abs(losses)) <= epsilon * (1.0 + 1e-9)


def test_laplace_scales_count_the_factors():
    manifold = Power(SPDAffineInvariant(2), 9)
    assert RiemannianLaplace.calibrate(manifold, 0.1, PureDP(1.0)).sigma == pytest.approx(0.3)
    found = RiemannianLaplace.calibrate(manifold, 0.1, ApproxDP(1.0, 1e-6))
    assert found.satisfies(0.1, ApproxDP(1.0, 1e-6))
    assert not RiemannianLaplace(manifold, 0.99 * found.sigma).satisfies(0.1, ApproxDP(1.0, 1e-6))
    for distance in ("angle", "parametric"):
        budget = RaoDP(0.5, distance=distance)
        assert RiemannianLaplace.calibrate(manifold, 0.1, budget).satisfies(0.1, budget)
    with pytest.raises(NotAttainableError, match="normaliser"):
        RiemannianLaplace.calibrate(manifold, 1.0, PureDP(1.0))
    mixed = Product(Product(Sphere(2), Sphere(2)), Sphere(2))
    known = family("laplace", mixed)
    assert known.total_shift(1.0) == pytest.approx(math.sqrt(3.0))
    assert known.constant_normaliser


def test_a_normaliser_that_moves_doubles_the_laplace_noise(monkeypatch):
    manifold = Product(Sphere(2), Hyperbolic(2))
    monkeypatch.setattr(SpaceFormLaplace, "constant_normaliser", None)
    known = family("laplace", manifold)
    assert known.constant_normaliser is None
    assert known.triangle_epsilon(1.0, 0.1) == pytest.approx(0.2 * math.sqrt(2.0))
    found = RiemannianLaplace.calibrate(manifold, 0.1, PureDP(1.0))
    assert found.sigma == pytest.approx(0.2 * math.sqrt(2.0))


@pytest.mark.parametrize("factors", [(Sphere(2), Hyperbolic(2)), (Hyperbolic(2), Sphere(2))])
def test_one_normaliser_that_moves_is_enough(monkeypatch, factors):
    def known(noise):
        return "docs/proofs/spaces.md" if noise.manifold == Sphere(2) else None

    monkeypatch.setattr(SpaceFormLaplace, "constant_normaliser", property(known))
    assert family("laplace", Product(*factors)).constant_normaliser is None
    assert family("laplace", Power(Sphere(2), 2)).constant_normaliser  # the control


def test_rao_distances_count_the_factors():
    """Many circles, each of which is next to a line for noise this small."""
    copies, shift, sigma = 400, 0.3, 0.1
    manifold = Power(Sphere(1, 0.01), copies)
    found = RiemannianLaplace(manifold, sigma).rao(shift, "angle").theta
    # 2 arccos of the Bhattacharyya coefficient, a product: of one line e^(-t/2) (1 + t/2)
    t = shift / math.sqrt(copies) / sigma
    wanted = 2.0 * math.acos((math.exp(-0.5 * t) * (1.0 + 0.5 * t)) ** copies)
    assert found >= wanted
    # the control: of one line a pure epsilon of shift / sigma would give less
    assert 4.0 * math.atan(math.tanh(0.25 * shift / sigma)) < 0.95 * wanted


def test_a_quotient_counts_the_factors_of_its_cover():
    cover = SimpleNamespace(cover=Product(Sphere(2), Sphere(2)))
    assert PushedFamily("laplace", cover).total_shift(1.0) == pytest.approx(math.sqrt(2.0))
    assert PushedFamily("gaussian", cover).slope(0.5) == family("gaussian", cover.cover).slope(0.5)


def test_a_chain_adds_up_the_distances_too():
    manifold = Product(Sphere(2), Euclidean(1))
    law = family("laplace", manifold).law(0.3)
    points = research.sample(law, manifold.origin, 20, np.random.default_rng(0))
    chain = Metropolis(manifold, 0.3, "laplace")
    energy = chain._potential(manifold.origin, points)
    gap = energy + law.log_density(points, manifold.origin)
    np.testing.assert_allclose(gap, gap[0], atol=1e-9)
    whole = manifold.dist(manifold.origin, points) / 0.3
    assert np.ptp(whole + law.log_density(points, manifold.origin)) > 0.1  # the control


SLOWER = pytest.param("matrices", marks=pytest.mark.slow)


@pytest.mark.fast(2)
@pytest.mark.parametrize("name", ["sphere", "hyperbolic", "line", SLOWER])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_copies_are_drawn_independently(kind, name):
    space, size = SPACES[name], 5_000
    manifold = Product(space, space) if name == "line" else Power(space, 2)
    law = family(kind, manifold).law(0.3)
    center = manifold.point(manifold.origin, np.full(manifold.dim, 0.1))
    ball = Ball(manifold, center, 1.0)
    foot = np.full((size, manifold.dim), -0.1)
    rng = np.random.default_rng(0)
    about = research.sample(law, ball.point(foot), None, rng)
    plain = research.sample(law, ball.point(foot[0]), size, rng)
    for draws in (about, plain):
        parts = zip(
            manifold.each,
            manifold.apart(draws),
            manifold.apart(ball.point(foot[0])),
            strict=True,
        )
        dists = np.array([own.dist(at, drawn) for own, drawn, at in parts])
        single = family(kind, space).law(0.3)
        for dist in dists:
            uniform = single.radial.quantile(np.linspace(0.0, 1.0, 2001)[1:-1])
            expected = np.searchsorted(uniform, dist) / 2000.0
            assert stats.kstest(expected, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(dists)[0, 1]) < 0.06
    assert np.unique(about.reshape(size, -1), axis=0).shape[0] == size


@pytest.mark.fast("sphere")
@pytest.mark.parametrize("name", ["sphere", "hyperbolic", SLOWER])
def test_a_power_is_as_private_as_the_product(name):
    space = SPACES[name]
    power, product = Power(space, 3), Product(space, space, space)
    for kind in ("gaussian", "laplace"):
        one, other = (family(kind, manifold) for manifold in (power, product))
        assert one.curve(0.3, 0.1).mu() == other.curve(0.3, 0.1).mu()
        assert one.law(0.3).radial.mean() == pytest.approx(other.law(0.3).radial.mean(), rel=5e-3)
        draws = [
            family(kind, manifold)
            .law(0.3)
            .exact_draw()
            .draw([0.1] * manifold.dim, 20, generator=np.random.default_rng(0))
            for manifold in (power, product)
        ]
        assert draws[0] == draws[1]
        points = power.point(power.origin, np.full((4, power.dim), 0.2))
        np.testing.assert_allclose(
            one.law(0.3).log_density(points, power.origin),
            other.law(0.3).log_density(points.reshape(4, -1), product.origin),
        )
    single = RiemannianGaussian.calibrate(space, 0.1, GDP(1.0)).sigma
    assert RiemannianGaussian.calibrate(Power(space, 1), 0.1, GDP(1.0)).sigma == pytest.approx(
        single, rel=2e-4
    )


@pytest.mark.parametrize("name", ["sphere", "hyperbolic", "matrices"])
def test_no_shift_of_one_factor_exceeds_the_slope(name):
    space, sigma = SPACES[name], 0.8
    known = family("gaussian", Power(space, 1000))
    for distance in (0.001, 0.3, 1.0):
        alone = family("gaussian", space).curve(sigma, distance)
        mu = known.curve(sigma, distance).mu()
        assert alone.mu_bracket()[0] <= mu
        if distance == 0.001:
            assert mu < 1.001 * alone.mu()  # the control: no smaller slope will do
    assert mu == pytest.approx(known.slope(sigma))


def test_the_noise_of_many_copies_is_found_fast():
    manifold = Power(SPDAffineInvariant(3), 10_000)
    found = RiemannianGaussian.calibrate(manifold, 0.1, GDP(1.0))
    single = RiemannianGaussian.calibrate(SPDAffineInvariant(3), 0.1, GDP(1.0))
    assert single.sigma <= found.sigma <= 1.0002 * single.sigma
