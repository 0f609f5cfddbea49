"""The page on what the papers leave open: every status is checked by running what it says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import (
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    RaoDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    TangentGaussian,
    TangentLaplace,
    research,
)
from riemdp.research import ConformalRejection, GeneralizedGaussian, RestrictedLaplace
from riemdp.spaces import Product

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "first_to_deliver.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| paper")
]


def _exact_constant():
    for radius in (0.4, 1.5):
        ball = Ball(Sphere(2), Sphere(2).origin, radius)
        found = riemdp.frechet_mean_sensitivity(ball, 1000)
        np.testing.assert_allclose(found, 2.0 * math.tan(radius) / 1000.0, rtol=1e-9)
    with pytest.raises(riemdp.UnsupportedBallError):
        riemdp.frechet_mean_sensitivity(Ball(Sphere(2), Sphere(2).origin, 1.6), 1000)


def _positive_curvature():
    assert RiemannianGaussian(Sphere(5, 2.0), 0.3).privacy(0.1).mu() < 0.1 / 0.3


def _gaussian():
    assert RiemannianGaussian(Sphere(2), 1.0).privacy(1.0).mu() == pytest.approx(0.82248, abs=1e-5)


def _lipschitz_scores():
    law = _rejection(2)
    assert np.isfinite(research.sample(law, np.zeros(2), generator=np.random.default_rng(0))).all()


def _rejection(dim, space=Euclidean):
    ball = Ball(space(dim), space(dim).origin, 1.0)
    return ConformalRejection(
        ball, lambda points: np.full(points.shape[:-1], 1.0), 1.0, 0.05, bounds=(0.9, 1.0)
    )


def _approximate():
    budget = ApproxDP(1.0, 1e-6)
    law = RiemannianGaussian.calibrate(Hyperbolic(2), 0.01, budget)
    curve = law.privacy(0.01)
    assert curve.delta_at(1.0) <= 1e-6
    assert curve.epsilon_at(1e-6) <= 1.0
    assert RiemannianGaussian(Hyperbolic(2), 0.9 * law.sigma).privacy(0.01).delta_at(1.0) > 1e-6


def _definitions():
    budgets = (
        riemdp.ZCDP(0.1),
        riemdp.MeanCDP(0.1, 0.3),
        riemdp.RDP(8.0, 0.5),
        riemdp.GDP(0.5),
        riemdp.KLDP(0.1),
        RaoDP(0.5, distance="angle"),
    )
    for budget in budgets:
        law = RiemannianGaussian.calibrate(Sphere(2), 0.01, budget)
        assert law.satisfies(0.01, budget)
        assert not RiemannianGaussian(Sphere(2), 0.5 * law.sigma).satisfies(0.01, budget)


def _any_manifold():
    for space in (Sphere(2), Hyperbolic(2), SPDAffineInvariant(3), SPDLogEuclidean(2)):
        assert TangentGaussian(space, 2.0, base=space.origin).privacy(1.0).mu() == 0.5
    _gaussian()


def _affine_invariant():
    space = SPDAffineInvariant(2)
    plane = Hyperbolic(2, -0.5)
    both = [RiemannianGaussian(x, 0.3).privacy(0.1).mu() for x in (space, plane)]
    assert both[0] == pytest.approx(both[1], rel=1e-6)
    assert 1.0 / 3.0 < RiemannianGaussian(SPDAffineInvariant(3), 0.3).privacy(0.1).mu() < 0.35


def _no_monte_carlo():
    curves = [RiemannianGaussian(Sphere(3), 0.7).privacy(0.4) for _ in range(2)]
    assert curves[0].mu() == curves[1].mu()
    # an upper bound: the curve of that mu is nowhere below
    at = np.linspace(0.0, 2.0, 9)
    mu = riemdp.GDP(curves[0].mu())
    assert all(mu.delta_at(float(x)) >= curves[0].delta_at(float(x)) - 1e-9 for x in at)
    assert curves[0].delta_at(0.0) > riemdp.GDP(0.999 * curves[0].mu()).delta_at(0.0)


def _utility():
    law = RiemannianGaussian(Sphere(2), 0.3)
    draws = Sphere(2).dist(
        Sphere(2).origin, research.sample(law, Sphere(2).origin, 4000, np.random.default_rng(1))
    )
    assert law.expected_distance() == pytest.approx(float(np.mean(draws)), abs=0.02)
    assert float(np.mean(draws <= law.error_quantile(0.9))) == pytest.approx(0.9, abs=0.03)


def _more_general():
    space = Product(Sphere(2), Hyperbolic(2))
    assert RiemannianGaussian(space, 0.3).privacy(0.1).mu() > 0.0
    _affine_invariant()


def _not_compact():
    with pytest.raises(riemdp.RiemdpError):
        Ball(Hyperbolic(2), Hyperbolic(2).origin, math.inf)
    law = _rejection(3, Hyperbolic)
    origin = Hyperbolic(3).origin
    assert law.ball.contains(research.sample(law, origin, generator=np.random.default_rng(0)))


def _boundary():
    line = Ball(Euclidean(1), np.zeros(1), 1.0)
    law = RestrictedLaplace(Euclidean(1), 0.1, ball=line)
    assert law.privacy(0.1).pure_epsilon() == pytest.approx(2.0, rel=1e-9)

    # on matrices too, at a scale that has no law on the whole space
    space = SPDAffineInvariant(3)
    ball = Ball(space, space.origin, 1.0)
    law = RestrictedLaplace(space, 2.0, ball=ball)
    assert law.privacy(0.1).pure_epsilon() == pytest.approx(0.1, rel=1e-9)
    assert ball.contains(research.sample(law, space.origin, generator=np.random.default_rng(0)))
    with pytest.raises(riemdp.RiemdpError):
        RiemannianLaplace(space, 2.0)


def _tangent():
    for space in (Sphere(2), Hyperbolic(2), SPDAffineInvariant(2)):
        law = TangentLaplace(space, 0.1, base=space.origin)
        assert law.privacy(0.1).pure_epsilon() == pytest.approx(1.0, rel=1e-9)
        draw = research.sample(law, space.origin, generator=np.random.default_rng(0))
        assert np.isfinite(space.dist(space.origin, draw))


def _higher_dimensions():
    draw = research.sample(_rejection(6), np.zeros(6), generator=np.random.default_rng(0))
    assert np.linalg.norm(draw) <= 1.0


def _own_summary():
    median = riemdp.statistics.PointStatistic(0.02, n=500, function=lambda points: points[0])
    ball = Ball(Sphere(2), Sphere(2).origin, 0.5)
    points = np.tile(Sphere(2).origin, (500, 1))
    with pytest.raises(riemdp.UnprovenMechanismError):
        riemdp.private_statistic(median, points, ball, riemdp.GDP(1.0))


def _all_laws():
    """Randomised response, a discrete pair, attains what an angle has of pure privacy."""
    angle = riemdp.convert(riemdp.PureDP(1.0), RaoDP, distance="angle").theta
    share = math.e / (1.0 + math.e)
    affinity = 2.0 * math.sqrt(share * (1.0 - share))
    assert angle == pytest.approx(2.0 * math.acos(affinity), rel=1e-9)


def _rao_on_spaces():
    for space in (Sphere(2), Hyperbolic(3), SPDLogEuclidean(2), SPDAffineInvariant(2)):
        for mechanism in (RiemannianGaussian, RiemannianLaplace):
            assert 0.0 < mechanism(space, 0.3).rao(0.1, "parametric").theta < 0.4


def _rao_of_others():
    assert TangentGaussian(Euclidean(1), 1.0).rao(1.0, "parametric").theta == pytest.approx(1.0)
    assert GeneralizedGaussian(2.0, 3.0).rao(1.0, "parametric").theta == pytest.approx(
        0.8707, abs=1e-4
    )
    ball = Ball(Sphere(2), Sphere(2).origin, 0.5)
    assert RestrictedLaplace(Sphere(2), 0.1, ball=ball).rao(0.1, "parametric").theta <= 1.0 + 1e-9
    with pytest.raises((riemdp.RiemdpError, AttributeError)):
        _rejection(2).rao(0.1, "angle")


def _connected():
    angle = riemdp.convert(riemdp.GDP(1.0), RaoDP, distance="angle")
    assert math.cos(0.5 * angle.theta) == pytest.approx(math.exp(-0.125), rel=1e-9)
    with pytest.raises(riemdp.NoConversionError):
        riemdp.convert(angle, riemdp.GDP)


def _lines():
    """Slope and first component of points along one geodesic of a sphere."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.5)
    times = np.linspace(-1.0, 1.0, 2001)
    points = ball.point(times[:, None] * [0.8, 0.6])
    line = riemdp.private_statistic(
        riemdp.statistics.TangentRegression(-1.0, 1.0),
        riemdp.Records(points, covariates=times),
        ball,
        riemdp.GDP(5.0),
        generator=np.random.default_rng(0),
    )
    np.testing.assert_allclose(line.value.coefficients[1], [0.8, 0.6], atol=0.05)
    moments = riemdp.private_moments(
        points, ball, riemdp.GDP(5.0), second="matrix", generator=np.random.default_rng(0)
    )
    first = np.linalg.eigh(moments.value.covariance)[1][:, -1]
    assert abs(first @ [0.8, 0.6]) > 0.99


#: What is run for each line of the page that claims something, by the beginning of its text.
CHECKS = {
    "noise on one tangent space": _tangent,
    "sensitivity of the mean": _exact_constant,
    "a closer look at positively curved": _positive_curvature,
    "the Gaussian mechanism": _gaussian,
    "the exponential mechanism": _lipschitz_scores,
    "approximate DP": _approximate,
    "concentrated DP": _definitions,
    "a Gaussian mechanism on any": _any_manifold,
    "that Pennec": _affine_invariant,
    "private geodesic regression": _lines,
    "private principal geodesic": _lines,
    "how many pairs": _affine_invariant,
    "$(\\varepsilon, \\delta)$-DP by the same": _approximate,
    "an error bound": _no_monte_carlo,
    "a variance estimate": _no_monte_carlo,
    "a theoretical guarantee of utility": _utility,
    "Algorithm 2 and Theorem 4.1 beyond": _more_general,
    "GDP by wrapped": _any_manifold,
    "manifolds that are not compact": _not_compact,
    "manifolds with a boundary": _boundary,
    "higher dimensions": _higher_dimensions,
    "statistics beyond": _own_summary,
    "discrete distributions": _all_laws,
    "data and noise on other": _rao_on_spaces,
    "other mechanisms": _rao_of_others,
    "whether Rao privacy and GDP": _connected,
}

#: Of each open line a word that no part and no public name may have.
OPEN = {
    "Theorem 4, the price": "ambient",
    "CAT(0) spaces": "tree",
    "objective perturbation": "objective",
    "the K-norm gradient": "gradient",
    "GDP by the heat kernel": "heat",
}


def test_the_page_has_no_empty_cell_and_its_lines_are_known():
    assert len(ROWS) == len(CHECKS) + len(OPEN)
    assert all(len(row) == 4 and all(row) for row in ROWS)
    assert {row[2] for row in ROWS} == {"delivered", "partly", "open"}
    assert {row[0].split(",")[0] for row in ROWS} == {"Reimherr", "Utpala", "Jiang", "He", "Soto"}


@pytest.mark.fast("the Gaussian mechanism", "approximate DP", "discrete distributions")
@pytest.mark.parametrize("beginning", CHECKS)
def test_what_is_said_to_be_here_runs(beginning):
    (row,) = [row for row in ROWS if row[1].startswith(beginning)]
    assert row[2] in {"delivered", "partly"}
    CHECKS[beginning]()


def test_noise_is_taken_down_to_a_quotient(rotations):
    """The lines on positive curvature and beyond constant curvature name quotients."""
    space = rotations.SO3()
    sphere = RiemannianGaussian(space.cover, 0.3).privacy(0.1).mu()
    assert RiemannianGaussian(space, 0.3).privacy(0.1).mu() == sphere


@pytest.mark.parametrize("beginning", OPEN)
def test_what_is_said_to_be_open_is_not_here(beginning):
    (row,) = [row for row in ROWS if row[1].startswith(beginning)]
    assert row[2] == "open"
    names = [*riemdp.__all__, *riemdp.statistics.__all__, *riemdp.noise.__all__]
    names += [*riemdp.mechanisms.__all__, *riemdp.spaces.__all__]
    assert [name for name in names if OPEN[beginning] in name.lower()] == []


def test_links_of_the_page_lead_somewhere():
    targets = re.findall(r"\]\(([\w./-]+)\)", PAGE)
    assert len(targets) > len(ROWS) / 2
    assert [target for target in targets if not (DOCS / target).exists()] == []
    for name in re.findall(r"`~riemdp\.([\w.]+)`", PAGE):
        item = riemdp
        for part in name.split("."):
            item = getattr(item, part)


def test_the_page_is_reached():
    for page in ("index.md", "comparison.md"):
        assert "first_to_deliver" in (DOCS / page).read_text(encoding="utf-8")
