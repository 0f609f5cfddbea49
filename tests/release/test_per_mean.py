"""Noise of one mean among many: laws, the rule of thumb, and means over regions."""

import math

import numpy as np
import pytest
from scipy import stats

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    Power,
    Product,
    ProductBall,
    PureDP,
    Rotations,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    plan,
    private_mean,
    research,
)
from riemdp.mechanisms import RiemannianGaussian, TangentLaplace

MIXED = Product(Power(Hyperbolic(2), 2), Sphere(2), Euclidean(1))


def released(ball, budget, n=10, **options):
    points = np.repeat(ball.center[None], n, axis=0)
    return private_mean(points, ball, budget, generator=np.random.default_rng(0), **options)


@pytest.mark.parametrize("factor", [0, 1, 2, 3])
def test_curved_factors_have_their_own_laws(factor):
    law = RiemannianGaussian(MIXED, 0.4)
    ball = Ball(MIXED, MIXED.origin, 0.3)
    draws = research.sample(law, MIXED.origin, size=2000, generator=np.random.default_rng(1))
    parts = [MIXED.split(draws), MIXED.split(MIXED.origin)]
    own, foot = ([p[0][..., 0, :], p[0][..., 1, :], p[1], p[2]][factor] for p in parts)
    distances = MIXED.factors[factor].dist(foot, own)
    found = law.factor_law(ball, factor)
    edges = found.quantile(np.linspace(0.1, 0.9, 9))
    counts = np.histogram(distances, [0.0, *edges, np.inf])[0]
    assert stats.chisquare(counts).pvalue > 1e-4
    other = np.histogram(distances, [0.0, *(1.15 * edges), np.inf])[0]
    assert stats.chisquare(other).pvalue < 1e-4  # the control
    squares = np.square(distances)
    error = abs(squares.mean() - found.mean_square())
    assert error < 4.0 * squares.std() / math.sqrt(len(squares))


def test_matrices_of_a_power():
    power = Power(SPDAffineInvariant(2), 50)
    law = RiemannianGaussian(power, 0.3).factor_law(Ball(power, power.origin, 1.0), 7)
    alone = RiemannianGaussian(SPDAffineInvariant(2), 0.3)
    assert law.mean() == alone.expected_distance()
    assert law.quantile(0.9) == alone.error_quantile(0.9)


def test_flat_factors_have_chi_laws():
    ball = ProductBall(Power(SPDLogEuclidean(3), 50), np.eye(3), rms_radius=0.8)
    release = released(ball, GDP(0.5), n=40)
    assert release.noise_per_mean == pytest.approx(2 * 0.8 * math.sqrt(300) / (40 * 0.5))
    chi = stats.chi(6, scale=release.sigma)
    assert release.error_quantile(0.95, factor=49) == pytest.approx(chi.ppf(0.95))
    assert release.error_quantile(0.95) > 5.0 * release.error_quantile(0.95, factor=0)
    for factor in (-1, 50, 1.0, True):
        with pytest.raises(InvalidParameterError, match="from 0 to 49"):
            release.error_quantile(0.95, factor=factor)


def test_what_is_not_known_is_refused_by_name():
    power = Power(Rotations(), 5)
    ball = Ball(power, power.origin, 0.3)
    with pytest.raises(UnsupportedError, match="in one factor, Rotations"):
        RiemannianGaussian(power, 0.3).factor_law(ball, 2)
    assert plan(power, ball, 50, GDP(1.0))["riemannian-gaussian"].noise_per_mean is None
    one = released(Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5), GDP(1.0))
    assert one.error_quantile(0.9, factor=0) == one.error_quantile(0.9)


@pytest.mark.parametrize(("n", "c", "mu"), [(100, 1.0, 1.0), (500, 2.0, 0.5)])
def test_the_rule(n, c, mu):
    ball = ProductBall(Power(Euclidean(2), 40), [0.0, 0.0], rms_radius=0.6)
    table = plan(ball.manifold, ball, n, GDP(mu), spread=0.6 / c)
    assert table.per_mean.largest == pytest.approx(n * mu**2 / (4 * c**2))
    assert table.per_mean.ratio == pytest.approx(80 / (n * mu**2 / (4 * c**2)))
    assert f"K d = {n * mu**2 / (4 * c**2):.4g}" in str(table)


@pytest.mark.slow
def test_plans_say_when_the_centre_is_better():
    power = Power(SPDLogEuclidean(3), 100_000)
    ball = ProductBall(power, np.eye(3), rms_radius=0.4)
    few, many = (plan(power, ball, n, GDP(1.0), signal=0.75) for n in (100, 5000))
    assert few.per_mean.noise == pytest.approx(6.2, rel=0.01)
    assert many.per_mean.noise == pytest.approx(0.124, rel=0.01)
    assert few.per_mean.template_is_better
    assert not many.per_mean.template_is_better
    assert "the public centre is the better estimate" in str(few)
    assert "better estimate" not in str(many)
    assert "827" in str(few)  # the n at which both are alike


def test_plans_price_balls_of_factors():
    power = Power(Sphere(2), 20)
    ball = ProductBall(power, [0.0, 0.0, 1.0], radii=0.6)
    row = plan(power, ball, 50, GDP(1.0))["tangent-gaussian"]
    release = released(ball, GDP(1.0), n=50, mechanism="tangent-gaussian")
    assert row.sigma == release.sigma
    assert row.noise_per_mean == release.noise_per_mean
    plain = plan(power, 0.6, 50, GDP(1.0))["tangent-gaussian"]
    assert plain.sigma != row.sigma
    with pytest.raises(InvalidParameterError, match="the ball belongs to"):
        plan(Power(Sphere(2), 21), ball, 50, GDP(1.0))


def test_guesses_are_about_many_means():
    with pytest.raises(InvalidParameterError, match="signal"):
        plan(Sphere(2), 0.5, 50, GDP(1.0), signal=0.3)
    for guess in ("spread", "signal"):
        with pytest.raises(InvalidParameterError, match="positive"):
            plan(Power(Sphere(2), 3), 0.5, 50, GDP(1.0), **{guess: 0.0})
    assert plan(Sphere(2), 0.5, 50, GDP(1.0), spread=0.3).per_mean is None


def test_pure_noise_grows_faster_and_says_so():
    noise = {}
    for copies in (10, 40):
        power = Power(Euclidean(3), copies)
        ball = ProductBall(power, np.zeros(3), rms_radius=1.0)
        for budget in (PureDP(1.0), GDP(1.0)):
            table = plan(power, ball, 100, budget)
            noise[copies, type(budget)] = table.per_mean.noise
            assert ("pure noise" in str(table.best.warning)) == (budget == PureDP(1.0))
        release = released(ball, PureDP(1.0))
        assert any("pure noise on" in warning for warning in release.warnings)
        assert not any("pure noise on" in warning for warning in released(ball, GDP(1.0)).warnings)
    # under GDP the Laplace law has a curve of its own, and nearly the same noise as the Gaussian
    rows = plan(power, ball, 100, GDP(1.0))
    assert rows["tangent-laplace"].warning == ""
    assert rows["tangent-laplace"].noise_per_mean < 1.1 * rows.best.noise_per_mean
    assert noise[40, PureDP] / noise[10, PureDP] == pytest.approx(4.0, rel=0.05)
    assert noise[40, GDP] / noise[10, GDP] == pytest.approx(2.0, rel=1e-6)
    law = TangentLaplace(Power(Euclidean(3), 1), 1.0)
    alone = released(Ball(law.manifold, np.zeros((1, 3)), 1.0), PureDP(1.0))
    assert not any("pure noise on" in warning for warning in alone.warnings)


@pytest.mark.parametrize(
    ("space", "case"),
    [
        (Euclidean(1), (1000, 20, 20, 0.09)),
        pytest.param(SPDLogEuclidean(3), (10_000, 100, 2, 0.06), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_means_of_regions_need_draws_that_were_not_projected(space, case, projecting):
    copies, n, draws, shortened = case
    power = Power(space, copies)
    ball = ProductBall(power, space.origin, rms_radius=0.65)
    signal = np.zeros((copies, space.dim))
    signal[:, 0] = 0.3
    points = np.repeat(ball.point(signal.reshape(1, -1)), n, axis=0)
    generator = np.random.default_rng(3)

    def mean_of_all():
        found = []
        for _ in range(draws):
            release = private_mean(points, ball, GDP(1.0), generator=generator)
            own = power.coordinates(ball.center, release.value).reshape(copies, -1)
            found.append(own[:, 0].mean())
        return np.mean(found)

    deviation = 2.0 * 0.65 / n / math.sqrt(draws)
    assert abs(mean_of_all() - 0.3) < 4.0 * deviation
    projecting(True)
    assert mean_of_all() == pytest.approx(shortened, abs=0.02)
