"""Releases of aligned means: exact, as documents, of real landmarks."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    KendallShapes,
    PlanarShapes,
    PureDP,
    QuotientBall,
    Release,
    frechet_mean,
    frechet_mean_sensitivity,
    plan,
    private_mean,
    private_median,
    private_variance,
    register,
    verify,
)
from riemdp.spaces import Power, Product

MECHANISMS = (
    "riemannian-gaussian",
    "riemannian-laplace",
    "wrapped-gaussian",
    "wrapped-laplace",
    "tangent-gaussian",
    "tangent-laplace",
)


def seeded(seed):
    return np.random.default_rng(seed)


def passes(release):
    found = Release.from_json(release.to_json())
    assert found.ball == release.ball
    assert found.mechanism == release.mechanism
    np.testing.assert_array_equal(found.raw, release.raw)
    return [check.name for check in verify(found).checks if not check.passed]


@pytest.fixture(scope="module")
def solid():
    space = KendallShapes(5)
    template = seeded(0).normal(size=(5, 3))
    ball = QuotientBall(space, template, 1.1, mean="aligned")
    shapes = space.validate(template + 0.3 * seeded(1).normal(size=(500, 5, 3)))
    turns = Rotation.random(500, random_state=2).as_matrix()
    return ball, 3.0 * np.einsum("nij,nkj->nki", turns, shapes) + 1.0


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_releases_shapes_exactly(solid, mechanism):
    ball, records = solid
    budget = GDP(4.0) if "gaussian" in mechanism else PureDP(20.0)
    release = private_mean(records, ball, budget, mechanism=mechanism)
    assert release.proven
    assert len(release.rounded) == 8
    assert passes(release) == []
    assert ball.contains(release.value)
    # a class: the canonical configuration, as of any other turn of it
    space = ball.manifold.space
    np.testing.assert_array_equal(space.validate(release.value), release.value)
    aligned = frechet_mean(ball.manifold, ball.project(space.validate(records)), ball=ball).value
    far = float(space.dist(release.value, aligned))
    assert far < 4.0 * release.error_quantile(0.95)  # or less likely than 1e-14


@pytest.mark.parametrize("kind", ["rotations", "planar"])
def test_releases_of_other_spaces(rotations, registry, kind):
    register(rotations.SO3)
    space = rotations.SO3() if kind == "rotations" else PlanarShapes(6)
    center = space.origin
    radius = 2.5 if kind == "rotations" else 1.3  # beyond any proved intrinsic mean
    ball = QuotientBall(space, center, radius, mean="aligned")
    records = ball.point(0.4 * seeded(3).normal(size=(400, space.dim)))
    release = (
        private_mean(records, ball, GDP(1.0), mechanism="riemannian-gaussian")
        if kind == "planar"
        else private_mean(
            records, ball, GDP(1.0), mechanism="riemannian-gaussian", allow_unproven=True
        )
    )
    assert passes(release) == ([] if kind == "planar" else ["proof"])
    assert release.value.shape == ((6,) if kind == "planar" else (3, 3))
    assert np.iscomplexobj(release.value) == (kind == "planar")
    # public numbers, from a plan
    rows = plan(ball.manifold, radius=radius, n=400, budget=GDP(1.0)).rows
    (row,) = [row for row in rows if row.mechanism == "riemannian-gaussian"][:1]
    assert row.sensitivity == pytest.approx(release.sensitivity, rel=1e-9)


def test_other_statistics_see_aligned_records(solid):
    ball, records = solid
    for released in (
        private_median(records, ball, GDP(2.0)),
        private_variance(records, ball, GDP(2.0)),
        private_mean(records, ball, GDP(2.0), method="refined"),
    ):
        assert released.proven
        assert passes(released) == []
    found = private_variance(records, ball, GDP(200.0)).value[0]
    aligned = ball.manifold
    points = ball.project(aligned.validate(records))
    mean = frechet_mean(aligned, points, ball=ball).value
    assert float(found) == pytest.approx(np.mean(np.square(aligned.dist(mean, points))), rel=0.2)


@pytest.mark.parametrize("combined", [lambda part: Product(part, part), lambda p: Power(p, 2)])
def test_an_aligned_space_is_a_factor(combined):
    space = PlanarShapes(4)
    part = QuotientBall(space, space.origin, 1.0, mean="aligned").manifold
    product = combined(part)
    ball = Ball(product, product.origin, 1.0)
    assert frechet_mean_sensitivity(ball, 100) == pytest.approx(0.02 * np.tan(1.0))
    records = ball.point(0.2 * seeded(4).normal(size=(100, 8)))
    release = private_mean(records, ball, ApproxDP(1.0, 1e-6), mechanism="wrapped-gaussian")
    assert release.proven
    assert passes(release) == []


def test_records_all_at_the_cut_locus_are_released(rotations, registry):
    register(rotations.SO3)
    ball = QuotientBall(rotations.SO3(), np.eye(3), 3.0, mean="aligned")
    records = np.repeat(np.diag([1.0, -1.0, -1.0])[None], 200, axis=0)
    release = private_mean(
        records, ball, GDP(1.0), mechanism="tangent-gaussian", allow_unproven=True
    )
    assert passes(release) == ["proof"]
    assert float(ball.manifold.dist(np.eye(3), release.value)) > 2.5


def landmarks():
    folder = os.environ.get("RIEMDP_DATA")
    if not folder or not (path := Path(folder) / "geomstats_small.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with geomstats_small.npz")
    with np.load(path) as file:
        return np.array(file["optical_nerves"], dtype=float)


def test_shapes_of_optical_nerves():
    """Five landmarks of 22 eyes of monkeys, in three dimensions."""
    nerves = landmarks()
    space = KendallShapes(5)
    template, records = nerves[0], nerves[1:]  # of one eye that is public
    ball = QuotientBall(space, template, 0.4, mean="aligned")
    assert np.all(ball.contains(records))
    release = private_mean(records, ball, GDP(2.0), mechanism="wrapped-gaussian")
    assert release.proven
    assert passes(release) == []
    assert release.sensitivity == pytest.approx(2.0 * np.tan(0.4) / 21, rel=1e-6)
    mean = frechet_mean(ball.manifold, space.validate(records), ball=ball).value
    # the tangent mean about the mean is zero: of so small a ball it is nearly the intrinsic one
    gradient = np.linalg.norm(space.log(mean, records).mean(axis=0))
    assert gradient < 0.4**3
    # twelve draws are as far as is said
    errors = [
        float(
            space.dist(
                private_mean(
                    records,
                    ball,
                    GDP(2.0),
                    mechanism="wrapped-gaussian",
                    generator=seeded(seed),
                ).value,
                mean,
            )
        )
        for seed in range(12)
    ]
    assert np.mean(errors) < 1.3 * release.expected_distance
