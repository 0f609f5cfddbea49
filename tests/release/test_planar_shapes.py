"""Shapes of handwritten zeros: what a private mean of real outlines is worth."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from riemdp import GDP, Ball, PlanarShapes, Release, frechet_mean, private_mean, verify


def outline(image, count):
    """Farthest ink in so many directions from the middle of it, as complex landmarks."""
    rows, columns = np.nonzero(image > 100)
    ink = columns - 1j * rows
    ink = ink - 0.5 * (ink.real.max() + ink.real.min() + 1j * (ink.imag.max() + ink.imag.min()))
    turns = np.exp(2j * np.pi * np.arange(count) / count)
    along = (np.conj(turns[:, None]) * ink).real
    return turns * along.max(axis=1)


@pytest.fixture(scope="module")
def zeros():
    folder = os.environ.get("RIEMDP_DATA")
    if folder is None or not (Path(folder) / "mnist_part.npz").exists():
        pytest.skip("RIEMDP_DATA names no folder with mnist_part.npz")
    found = np.load(Path(folder) / "mnist_part.npz")
    return [
        np.array([outline(x, 12) for x in found[f"x_{part}"][found[f"y_{part}"] == 0]])
        for part in ("train", "test")
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", ["riemannian-gaussian", "riemannian-laplace", "wrapped-gaussian"]
)
def test_means_of_outlines_are_as_near_as_expected(zeros, mechanism):
    private, public = zeros
    space = PlanarShapes(12)
    template = frechet_mean(space, public, ball=Ball(space, public[0], 0.7)).value
    ball = Ball(space, template, 0.18)
    inside = ball.contains(private)
    assert 0.9 < np.mean(inside) < 1.0
    exact = frechet_mean(space, ball.project(private), ball=ball).value
    generator = np.random.default_rng(0)
    releases = [
        private_mean(private, ball, GDP(1.0), mechanism=mechanism, generator=generator)
        for _ in range(8)
    ]
    errors = [float(space.dist(release.value, exact)) for release in releases]
    expected = releases[0].expected_distance
    assert np.mean(errors) < 1.2 * expected
    assert 0.5 * expected < np.mean(errors)
    assert np.mean(errors) < 0.03 * np.mean(space.dist(exact, private))
    for release in releases[:2]:
        assert release.proven
        assert verify(Release.from_json(release.to_json())).passed
