from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    Hyperbolic,
    InsufficientSamplesError,
    InvalidParameterError,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
    TangentLaplace,
)
from riemdp.auditing import audit_sampler
from riemdp.auditing._sampler import direction_tests, radius_test
from riemdp.noise import RadialLaw
from riemdp.research import GeneralizedGaussian, RestrictedLaplace
from riemdp.research._isotropic import radii


@dataclass(frozen=True)
class Sampler:
    """A sampler given by a function of normal coordinates."""

    draw: Any
    manifold: Any = field(default_factory=lambda: Euclidean(2))

    def sample(self, footpoint, size, generator):
        vectors = self.draw((size, self.manifold.dim), generator)
        return self.manifold.exp(footpoint, self.manifold.tangent_vector(footpoint, vectors))


GAUSSIAN = RadialLaw("gaussian", 2, 0.0, 1.0)


def p_values(draw, rng, law=GAUSSIAN):
    return audit_sampler(Sampler(draw), np.zeros(2), samples=20_000, law=law, generator=rng)


@pytest.mark.slow
def test_p_values_are_uniform_on_the_right_law():
    results = [
        p_values(lambda shape, g: g.normal(size=shape), np.random.default_rng(seed))
        for seed in range(200)
    ]
    for name in ("radius", "direction", "axes", "independence"):
        values = np.array([getattr(result, name) for result in results])
        assert 0.02 <= np.mean(values < 0.1) <= 0.2, name
        assert 0.3 < values.mean() < 0.7, name
    assert np.mean([result.verdict == "violated" for result in results]) <= 0.1


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda shape, g: 0.97 * g.normal(size=shape), "radius"),
        (lambda shape, g: g.normal(size=shape) + np.array([0.05, 0.0]), "direction"),
        (lambda shape, g: g.normal(size=shape) * [1.05, 0.95], "axes"),
        (
            lambda shape, g: (
                (v := g.normal(size=shape))
                * np.where(
                    (g.random(shape[0]) < 0.2) & (np.linalg.norm(v, axis=1) > 1.0),
                    np.sign(v[:, 0]),
                    1.0,
                )[:, None]
            ),
            "independence",
        ),
    ],
)
def test_each_flaw_has_its_test(draw, name, rng):
    result = p_values(draw, rng)
    assert result.verdict == "violated"
    assert getattr(result, name) < 1e-4


def test_draws_that_stay_are_caught(rng):
    def stays(shape, generator):
        return generator.normal(size=shape) * (generator.random(shape[0]) < 0.95)[:, None]

    assert p_values(stays, rng).radius < 1e-4
    assert p_values(lambda shape, g: np.zeros(shape), rng).verdict == "violated"


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    "mechanism",
    [
        RiemannianLaplace(Sphere(3), 0.4),
        RiemannianGaussian(Hyperbolic(2), 0.5),
        RestrictedLaplace(Sphere(2), 0.4, ball=Ball(Sphere(2), [0, 0, 1.0], 0.5)),
        TangentLaplace(SPDAffineInvariant(2), 0.3, base=2.0 * np.eye(2)),
        GeneralizedGaussian(1.0, 5.0),
    ],
    ids=str,
)
def test_mechanisms_follow_their_law(mechanism):
    manifold = mechanism.manifold
    footpoint = np.array([0, 0, 1.0]) if mechanism.manifold == Sphere(2) else manifold.origin
    result = audit_sampler(
        mechanism,
        footpoint,
        samples=10_000,
        confidence=0.9999,
        generator=np.random.default_rng(0),
    )
    assert result.verdict == "consistent", result


def test_a_restricted_law_is_audited_at_the_centre():
    sphere = Sphere(2)
    mechanism = RestrictedLaplace(sphere, 0.4, ball=Ball(sphere, [0, 0, 1.0], 0.5))
    aside = sphere.exp([0, 0, 1.0], [0.1, 0, 0])
    with pytest.raises(InvalidParameterError, match="centre"):
        audit_sampler(mechanism, aside, samples=1000)


def test_bad_input():
    with pytest.raises(InsufficientSamplesError, match="1000"):
        audit_sampler(GeneralizedGaussian(1.0, 1.0), [0.0], samples=999)
    with pytest.raises(InvalidParameterError, match="law"):
        audit_sampler(Sampler(lambda shape, g: np.zeros(shape)), np.zeros(2), samples=1000)


def test_the_parts(rng):
    radius = radii(GAUSSIAN, 5000, rng)
    assert radius_test(radius, GAUSSIAN) > 1e-3
    assert radius_test(1.2 * radius, GAUSSIAN) < 1e-10
    line = direction_tests(np.abs(rng.normal(size=(2000, 1))))
    assert line[0] < 1e-10
    assert line[1] == 1.0
    assert direction_tests(np.zeros((0, 3))) == (0.0, 0.0, 0.0)
