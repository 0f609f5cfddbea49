"""Noise about aligned representatives: that of the slice, folded down to what it stands for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation

from riemdp import (
    KendallShapes,
    PlanarShapes,
    QuotientBall,
    RiemannianGaussian,
    RiemannianLaplace,
    Sphere,
    research,
)
from riemdp.noise import RadialLaw, family
from riemdp.research._isotropic import radii

SIZE = 5_000


def draws(ball, kind, sigma, foot, seed=0):
    law = family(kind, ball.manifold).law(sigma)
    generator = np.random.default_rng(seed)
    return research.sample(law, ball.point(np.asarray(foot)), SIZE, generator)


def reference(kind, dim, sigma, foot, seed):
    """Draws on the sphere about a point near its first axis, with a radial law and no frame."""
    generator = np.random.default_rng(seed)
    radius = radii(RadialLaw(kind, dim, 1.0, sigma, math.pi), (SIZE,), generator)
    length = np.linalg.norm(foot)
    base = np.concatenate([[math.cos(length)], np.sinc(length / math.pi) * np.asarray(foot)])
    vectors = generator.normal(size=(SIZE, dim + 1))
    vectors -= (vectors @ base)[:, None] * base
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.cos(radius)[:, None] * base + np.sin(radius)[:, None] * vectors


@pytest.mark.parametrize("sigma", [0.3, 1.5])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_planar_shapes_follow_the_sphere_folded_at_its_equator(kind, sigma):
    space = PlanarShapes(4)
    template = np.random.default_rng(1).normal(size=(4, 2))
    ball = QuotientBall(space, template, 1.2, mean="aligned")
    found = space.dist(ball.center, draws(ball, kind, sigma, np.zeros(4)))
    noise = family(kind, ball.manifold).law(sigma)
    about = space.dist(
        ball.center, research.sample(noise, ball.center, SIZE, np.random.default_rng(2))
    )
    law = RadialLaw(kind, 4, 1.0, sigma, math.pi)

    def folded(angle):
        return law.cdf(angle) + 1.0 - law.cdf(math.pi - np.asarray(angle))

    for distances in (found, about):
        assert stats.kstest(distances, folded).pvalue > 1e-4
    # the controls: without the fold, and in the dimension of all unit vectors
    if sigma > 1.0:
        assert stats.kstest(found, law.cdf).pvalue < 1e-9
    above = RadialLaw(kind, 5, 1.0, sigma, math.pi)
    assert stats.kstest(found, lambda a: above.cdf(a) + 1.0 - above.cdf(math.pi - a)).pvalue < 1e-9


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_solid_shapes_follow_the_sphere_of_their_slice(kind):
    space, sigma = KendallShapes(4), {"laplace": 0.1, "gaussian": 0.4}[kind]
    bend = 0.1 * np.random.default_rng(2).normal(size=(4, 3))
    template = space.validate(space.origin + bend)
    ball = QuotientBall(space, template, 1.2, mean="aligned")
    assert ball.manifold.injectivity_radius > 0.75  # the footpoint is aligned
    foot = np.array([0.5, -0.3, 0.0, 0.4, 0.2])
    found = draws(ball, kind, sigma, foot)
    # the same law by a frame of its own: a basis of what rotations do not move the template to
    rows = space.lift(template).reshape(3, 3)
    spins = [np.zeros((3, 3)) for _ in range(3)]
    for spin, (i, j) in zip(spins, ((0, 1), (0, 2), (1, 2)), strict=True):
        spin[i], spin[j] = -rows[j], rows[i]
    fixed = np.stack([rows, *spins]).reshape(4, 9)
    basis = np.linalg.svd(fixed)[2][4:]
    there = space.cover.log(
        space.lift(template), ball.manifold.slice.embed(ball.manifold.aligned(ball.point(foot)))
    )
    frame = np.concatenate([rows.reshape(1, 9), basis])
    plain = reference(kind, 5, sigma, basis @ there, 3) @ frame
    wanted = space.push(plain)
    marks = space.validate(np.random.default_rng(4).normal(size=(2, 4, 3)))
    for mark in (template, ball.point(foot), *marks):
        one, other = space.dist(mark, found), space.dist(mark, wanted)
        assert stats.ks_2samp(one, other).pvalue > 1e-4
    # the control: about the template itself
    one, other = (space.dist(template, x) for x in (found, draws(ball, kind, sigma, np.zeros(5))))
    assert stats.ks_2samp(one, other).pvalue < 1e-6


def test_exact_draws_are_those_of_the_sphere(rotations):
    for space, template, sphere in (
        (PlanarShapes(4), PlanarShapes(4).origin, Sphere(4)),
        (KendallShapes(4), KendallShapes(4).origin, Sphere(5)),
        (rotations.SO3(), np.eye(3), Sphere(3, 0.25)),
    ):
        ball = QuotientBall(space, template, 1.2, mean="aligned")
        assert ball.manifold.slice.space == sphere
        for kind in ("laplace", "gaussian"):
            below, above = (family(kind, each).law(0.3) for each in (ball.manifold, sphere))
            assert below.exact_draw(1.2) == above.exact_draw(1.2)
            assert below.exact_draw().proof is not None


def test_privacy_and_proofs_are_those_of_the_slice():
    plane, planar = Sphere(4), QuotientBall(PlanarShapes(4), PlanarShapes(4).origin, 1.0, "aligned")
    for mechanism in (RiemannianLaplace, RiemannianGaussian):
        below, above = mechanism(planar.manifold, 0.3), mechanism(plane, 0.3)
        assert below.privacy(0.2) == above.privacy(0.2)
        assert below.rao(0.2, "angle") == above.rao(0.2, "angle")
        assert below.expected_distance() == above.expected_distance()
        assert below.proven
        assert below.proofs()["law on Aligned"] == "docs/proofs/aligned-means.md"
    # noise about points, each of which has its representative by a rule
    points = PlanarShapes(4).validate(np.random.default_rng(5).normal(size=(3, 4, 2)))
    law = family("gaussian", planar.manifold).law(1e-9)
    near = research.sample(law, points, generator=np.random.default_rng(6))
    np.testing.assert_allclose(planar.manifold.dist(points, near), 0.0, atol=1e-7)
    turn = Rotation.from_rotvec([0.0, 0.0, 1.0]).as_matrix()[:2, :2]
    turned = research.sample(law, points @ turn.T, generator=np.random.default_rng(6))
    np.testing.assert_allclose(turned, near, atol=1e-12)
