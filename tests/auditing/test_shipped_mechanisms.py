"""Every shipped mechanism on every manifold, audited at fixed seeds: all consistent."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import (
    GDP,
    ZCDP,
    ApproxDP,
    Ball,
    Euclidean,
    GeneralizedGaussian,
    Hyperbolic,
    InvalidBudgetError,
    InvalidParameterError,
    NotAttainableError,
    PureDP,
    RaoDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedManifoldError,
    frechet_mean,
    frechet_mean_sensitivity,
    private_mean,
    tangent_mean,
    tangent_mean_sensitivity,
)
from riemdp.auditing import (
    DistanceScore,
    audit,
    audit_density_ratio,
    audit_sampler,
    audit_sensitivity,
    extreme_directions,
    footpoint_pair,
    neighbouring_datasets,
)
from riemdp.mechanisms import MECHANISMS
from riemdp.mechanisms._tangent_mechanism import TangentMechanism
from riemdp.privacy import IsotropicCurve

CONFIDENCE = 0.9999
SENSITIVITY = 0.3
#: Expected distance beyond which draws are no matrices of float64 unless a ball cuts them.
WIDEST = 6.0
MANIFOLDS = [
    Euclidean(1),
    Euclidean(3),
    Sphere(1),
    Sphere(2, curvature=0.5),
    Sphere(5),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(3, curvature=-0.5),
    SPDLogEuclidean(2),
    SPDLogEuclidean(3),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
]
#: One of each kind of budget.
BUDGETS = [PureDP(1.0), ApproxDP(1.0, 1e-3), GDP(0.7), ZCDP(0.3), RaoDP(0.8, distance="angle")]


def calibrated(kind, manifold, budget):
    """The mechanism, or None where it has no law there or nothing is proved for the budget."""
    base = {"base": manifold.origin} if issubclass(kind, TangentMechanism) else {}
    try:
        return kind.calibrate(manifold, SENSITIVITY, budget, **base)
    except (UnsupportedManifoldError, InvalidBudgetError, NotAttainableError):
        return None


def cases():
    """Every mechanism that exists, with the budget that it was calibrated to."""
    for manifold in MANIFOLDS:
        for kind in MECHANISMS.values():
            for budget in BUDGETS:
                mechanism = calibrated(kind, manifold, budget)
                if mechanism is not None and mechanism.expected_distance() < WIDEST:
                    yield pytest.param(
                        mechanism, budget, id=f"{mechanism.name}-{manifold}-{type(budget).__name__}"
                    )
        if manifold.constant_curvature is not None:
            ball = Ball(manifold, manifold.origin, 0.6)
            budget = PureDP(1.0)
            mechanism = RiemannianLaplace.calibrate(manifold, SENSITIVITY, budget, ball=ball)
            yield pytest.param(mechanism, budget, id=f"riemannian-laplace-in-ball-{manifold}")
    for power, budget in [
        (0.7, PureDP(1.0)),
        (1.0, GDP(0.7)),
        (2.0, ApproxDP(1.0, 1e-3)),
        (3.0, RaoDP(0.8, distance="angle")),
    ]:
        mechanism = GeneralizedGaussian.calibrate(SENSITIVITY, budget, power=power)
        yield pytest.param(mechanism, budget, id=f"generalized-gaussian-{power:g}")


CASES = list(cases())


def laws():
    """Each mechanism and manifold once."""
    seen = set()
    for case in CASES:
        mechanism = case.values[0]
        key = case.id.rsplit("-", 1)[0]
        if key not in seen:
            seen.add(key)
            yield pytest.param(mechanism, id=key)


def own_claim(mechanism):
    """What a mechanism itself says: its curve, or its angle where no curve is proved."""
    if isinstance(mechanism, GeneralizedGaussian) and mechanism.power == 3.0:
        return mechanism.rao(SENSITIVITY, "angle")
    return mechanism.privacy(SENSITIVITY)


def pairs(mechanism):
    base = getattr(mechanism, "base", None)
    base = mechanism.manifold.origin if base is None else base
    for direction in extreme_directions(mechanism.manifold, base):
        yield footpoint_pair(mechanism.manifold, SENSITIVITY, base=base, direction=direction)


def test_every_mechanism_and_manifold_is_there():
    names = {case.values[0].name for case in CASES}
    assert names == {*MECHANISMS, "generalized-gaussian"}
    for name, least in [
        ("riemannian-laplace", 9),
        ("riemannian-gaussian", 9),
        ("tangent-gaussian", 12),
        ("tangent-laplace", 12),
    ]:
        found = {case.values[0].manifold for case in CASES if case.values[0].name == name}
        assert len(found) >= least, name


def test_the_riemannian_gaussian_has_its_own_curve_on_every_space():
    found = [case.values for case in CASES if isinstance(case.values[0], RiemannianGaussian)]
    curved = [(mechanism, budget) for mechanism, budget in found if mechanism.manifold.dim > 1]
    curved = [pair for pair in curved if pair[0].manifold.constant_curvature]
    assert len({mechanism.manifold for mechanism, _ in curved}) == 4
    for mechanism, budget in curved:
        assert isinstance(own_claim(mechanism), IsotropicCurve)
        # a pure epsilon is had on spheres alone, where distances are bounded
        assert isinstance(mechanism.manifold, Sphere) or not isinstance(budget, PureDP)
    pure = {mechanism.manifold for mechanism, budget in found if isinstance(budget, PureDP)}
    assert pure == {manifold for manifold in MANIFOLDS if isinstance(manifold, Sphere)}


@pytest.mark.parametrize(("mechanism", "budget"), CASES)
def test_privacy_loss(mechanism, budget):
    for seed, (first, second) in enumerate(pairs(mechanism)):
        for claim in (budget, own_claim(mechanism)):
            result = audit(
                mechanism,
                first,
                second,
                claim,
                samples=3000,
                confidence=CONFIDENCE,
                generator=np.random.default_rng(seed),
            )
            assert result.verdict == "consistent", result
            # the audit had something to see; in higher dimension Laplace laws overlap more, and a
            # Gaussian with a pure epsilon has little mass where the loss is large
            gaussian = isinstance(mechanism, RiemannianGaussian) and isinstance(budget, PureDP)
            assert result.mu_lower > 0.0 or mechanism.manifold.dim > 2 or gaussian


@pytest.mark.parametrize("mechanism", list(laws()))
def test_sampler(mechanism):
    footpoint = mechanism.manifold.origin
    if isinstance(mechanism, TangentMechanism) and isinstance(mechanism.manifold, Sphere):
        mechanism = type(mechanism)(mechanism.manifold, 0.05, base=footpoint)  # does not wrap
    result = audit_sampler(
        mechanism,
        footpoint,
        samples=5000,
        confidence=CONFIDENCE,
        generator=np.random.default_rng(0),
    )
    assert result.verdict == "consistent", result


@pytest.mark.parametrize("mechanism", list(laws()))
def test_density_ratio(mechanism):
    claim = own_claim(mechanism)
    if isinstance(claim, RaoDP) or np.isinf(claim.pure_epsilon()):
        claim = None
    for first, second in pairs(mechanism):
        if claim is None:
            with pytest.raises(InvalidParameterError, match="pure epsilon"):
                audit_density_ratio(mechanism, first, second, own_claim(mechanism))
            continue
        result = audit_density_ratio(
            mechanism, first, second, claim, samples=500, generator=np.random.default_rng(0)
        )
        assert result.verdict == "consistent", result
        tight = mechanism.ball is None if isinstance(mechanism, RiemannianLaplace) else True
        assert result.largest > (0.999 if tight else 0.3) * claim.pure_epsilon()


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=str)
def test_sensitivity(manifold):
    ball, n = Ball(manifold, manifold.origin, 0.6), 15
    claimed = frechet_mean_sensitivity(ball, n)
    result = audit_sensitivity(
        lambda points: frechet_mean(manifold, points, ball=ball).value,
        ball,
        n,
        claimed,
        tolerance=1e-10,
        restarts=2,
        steps=15,
        generator=np.random.default_rng(0),
    )
    assert result.verdict == "consistent", result
    assert result.largest > 0.95 * claimed

    def coordinates(points):
        return manifold.tangent_coordinates(ball.center, tangent_mean(ball, points))

    result = audit_sensitivity(
        coordinates,
        ball,
        n,
        tangent_mean_sensitivity(ball, n),
        distance=lambda a, b: np.linalg.norm(a - b),
        restarts=2,
        steps=15,
        generator=np.random.default_rng(0),
    )
    assert result.verdict == "consistent", result
    assert result.largest > 0.999 * result.claimed


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("manifold", [Euclidean(2), Sphere(2), Hyperbolic(2)], ids=str)
def test_release_end_to_end(manifold, name, monkeypatch):
    ball = Ball(manifold, manifold.origin, 0.5)
    budget = GDP(1.5)  # on the hyperbolic plane no Laplace law has much less
    calibrate, known = MECHANISMS[name].calibrate, {}

    def once(space, sensitivity, asked, **options):
        """Calibrate once for all releases, as long as they ask for the same."""
        if (sensitivity, asked) not in known:
            known[sensitivity, asked] = calibrate(space, sensitivity, asked, **options)
        return known[sensitivity, asked]

    monkeypatch.setattr(MECHANISMS[name], "calibrate", once)
    first, second = neighbouring_datasets(ball, 5)
    means = [frechet_mean(manifold, points, ball=ball).value for points in (first, second)]
    result = audit(
        lambda points, generator: (
            private_mean(points, ball, budget, mechanism=name, generator=generator).value
        ),
        first,
        second,
        budget,
        samples=500,
        confidence=CONFIDENCE,
        score=DistanceScore(manifold, *means),
        generator=np.random.default_rng(0),
    )
    assert len(known) == 1  # nothing about the noise depends on the data
    assert result.verdict == "consistent", result
    assert result.mu_lower > 0.0 or "laplace" in name  # that has less loss than the budget allows
