"""Shared test tools: hypothesis settings and points drawn without the library's own geometry."""

from __future__ import annotations

import hypothesis
import numpy as np
import pytest

from riemdp import Euclidean, Hyperbolic, Sphere

hypothesis.settings.register_profile("riemdp", deadline=None, derandomize=True, max_examples=20)
hypothesis.settings.load_profile("riemdp")


def _unit(rng, shape):
    vectors = rng.normal(size=shape)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _random_points(manifold, rng, shape=(), spread=1.0):
    """Points of the manifold, about ``spread`` (over sqrt|curvature|) around a natural origin."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if isinstance(manifold, Euclidean):
        return spread * rng.normal(size=(*shape, manifold.dim))
    if isinstance(manifold, (Sphere, Hyperbolic)):
        k = np.sqrt(abs(manifold.curvature))
        direction = _unit(rng, (*shape, manifold.dim))
        angle = spread * rng.uniform(0.0, 1.0, size=(*shape, 1))
        if isinstance(manifold, Sphere):
            parts = [np.cos(angle), np.sin(angle) * direction]
        else:
            parts = [np.cosh(angle), np.sinh(angle) * direction]
        return np.concatenate(parts, axis=-1) / k
    size = manifold.k
    rotation = np.linalg.qr(rng.normal(size=(*shape, size, size)))[0]
    values = np.exp(spread * rng.uniform(-1.0, 1.0, size=(*shape, size)) / np.sqrt(size))
    matrices = (rotation * values[..., None, :]) @ np.swapaxes(rotation, -1, -2)
    return 0.5 * (matrices + np.swapaxes(matrices, -1, -2))


@pytest.fixture(scope="session")
def random_points():
    """``random_points(manifold, rng, shape, spread)``: points, by elementary formulas."""
    return _random_points


@pytest.fixture(scope="session")
def random_rotation():
    """``random_rotation(rng, size)``: an orthogonal matrix."""

    def rotation(rng, size):
        return np.linalg.qr(rng.normal(size=(size, size)))[0]

    return rotation
