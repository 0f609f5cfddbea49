"""Where the search for means on spheres and hyperbolic spaces ends, and in how many passes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp.statistics.curved import _space_form_search
from riemdp.statistics.curved._space_form_search import nearest_point
from riemdp.statistics.curved._space_form_sums import SpaceFormSums

CASES = [(1.0, 0.4), (1.0, 1.5), (-1.0, 0.5), (-1.0, 5.0)]


def scattered(dim, radius, seed=0):
    """Records in a ball, most of them at its boundary, on one side."""
    vectors = np.random.default_rng(seed).normal(size=(40, dim))
    vectors[:, 0] += 1.0
    lengths = np.where(np.arange(40) < 30, 1.0, 0.1) * radius
    return vectors * (lengths / np.linalg.norm(vectors, axis=1))[:, None]


@pytest.fixture
def passes(monkeypatch):
    """Count passes over the records."""
    count, given = [], SpaceFormSums.sums
    monkeypatch.setattr(SpaceFormSums, "sums", lambda *args: count.append(None) or given(*args))
    return count


@pytest.mark.parametrize(("curvature", "radius"), CASES)
@pytest.mark.parametrize("dim", [2, 7])
def test_it_ends_within_the_tolerance_in_few_passes(passes, curvature, radius, dim):
    sums, records = SpaceFormSums(dim, curvature, radius), scattered(dim, radius)
    tol = 64.0 * sums.errors[0] * max(1.0, radius * radius)
    if curvature > 0.0:
        tol /= radius / math.tan(radius)
    point, bound = nearest_point(sums, records, None, tol)
    assert bound <= tol
    assert len(passes) <= 40
    closer, _ = nearest_point(sums, records, None, tol / 2.0)
    assert np.linalg.norm(point - closer) <= 1.5 * tol


def test_weights_stand_for_records_that_repeat():
    sums, records = SpaceFormSums(3, -1.0, 2.0), scattered(3, 2.0)
    whole = np.arange(40) % 3
    point, _ = nearest_point(sums, records, whole, 1e-9)
    again, _ = nearest_point(sums, np.repeat(records, whole, axis=0), None, 1e-9)
    np.testing.assert_array_equal(point, again)


def test_too_few_passes_certify_nothing(monkeypatch):
    monkeypatch.setattr(_space_form_search, "_PASSES", 2)
    _, bound = nearest_point(SpaceFormSums(3, -1.0, 2.0), scattered(3, 2.0), None, 1e-9)
    assert bound == math.inf
