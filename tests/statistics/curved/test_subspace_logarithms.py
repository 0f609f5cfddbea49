"""Logarithms of subspaces: each error is bounded, of the parts and of the whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.statistics.curved import _certified_grassmann as parts
from riemdp.statistics.curved._certified_grassmann import (
    Subspaces,
    angle_over_sine,
    floor,
    frames_of,
)

mpmath = pytest.importorskip("mpmath")

LINE, PLANE = Subspaces(1, 1, planar=True), Subspaces(2, 1, planar=True)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def name(space):
    return f"CP{space.rows}" if space.planar else f"{space.rows}x{space.columns}"


@pytest.mark.parametrize("radius", [1e-6, 0.4, 0.78])
@pytest.mark.parametrize("space", [LINE, PLANE, Subspaces(3, 1), Subspaces(2, 3)], ids=name)
@pytest.mark.fast("CP2-0.4", "2x3-0.78")
def test_errors_of_logarithms_are_bounded(subspaces, space, radius):
    rng = np.random.default_rng([1, round(1e6 * radius)])
    records = np.concatenate(
        [subspaces.some_records(rng, space, radius, kind) for kind in subspaces.KINDS]
    )
    exact = [subspaces.exact_frame(*seen_as(space, record)) for record in records]
    for point in (np.zeros(subspaces.dim_of(space)), -records[0], records[0], records[8]):
        frame = frames_of(space.matrices(point[None]))[0]
        found, errors = parts.logarithms(space, frame, space.matrices(records))
        base = subspaces.exact_frame(*seen_as(space, point))
        for i, frame_of_record in enumerate(exact):
            wanted = subspaces.exact_log(base, frame_of_record)
            wrong = subspaces.norm(wanted - mpmath.matrix(found[i].tolist()))
            assert wrong <= errors[i]
            assert errors[i] <= 2.0 * math.sqrt(space.copies) * floor(space, radius)


def seen_as(space, coordinates):
    """The real matrices that it works with, as a space and coordinates."""
    matrix = space.matrices(coordinates[None])[0]
    return Subspaces(*matrix.shape), matrix.ravel()


def test_weights_are_right_to_their_error():
    cosines = np.concatenate(
        [np.cos(np.linspace(0.0, 3.14, 200)), 1.0 - 10.0 ** np.arange(-16.0, 0.0), [1.0, -1 + 1e-9]]
    )
    for cosine, value in zip(cosines, angle_over_sine(cosines), strict=True):
        x = mpmath.acos(mpmath.mpf(float(cosine)))
        wanted = x / mpmath.sin(x) if x else mpmath.mpf(1)
        assert abs(value / wanted - 1) <= parts._ANGLE * 2.0**-53
        slope = parts._slope(np.array([cosine]))[0]
        if x:
            assert slope >= (mpmath.sin(x) - x * mpmath.cos(x)) / mpmath.sin(x) ** 3


def far_values(values, vectors):
    return values - 1e-9, vectors


def long_vectors(values, vectors):
    return values, vectors * (1.0 + 1e-9)


def skew_vectors(values, vectors):
    skew = np.eye(vectors.shape[-1])
    skew[0, -1] += 1e-9
    return values, vectors @ skew


@pytest.mark.parametrize("wrong", [far_values, long_vectors, skew_vectors])
def test_what_a_decomposition_returns_is_not_believed(monkeypatch, subspaces, wrong):
    space, rng = Subspaces(3, 2), np.random.default_rng(4)
    records = subspaces.some_records(rng, space, 0.7, "boundary")
    frame = frames_of(space.matrices(-0.7 * records[:1]))[0]
    right, before = parts.logarithms(space, frame, space.matrices(records))
    given = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrices: wrong(*given(matrices)))
    found, errors = parts.logarithms(space, frame, space.matrices(records))
    apart = np.sqrt(((found - right) ** 2).sum(axis=(1, 2)))
    assert (apart > 1e3 * before).all()
    assert (apart <= errors).all()
    assert (errors <= 1e2 * apart).all()
    monkeypatch.setattr(parts, "_slope", np.zeros_like)
    monkeypatch.setattr(parts, "_defect", lambda frames: np.zeros(len(frames)))
    _, errors = parts.logarithms(space, frame, space.matrices(records))
    assert (errors < apart).all()
