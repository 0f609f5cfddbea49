"""Proved distances from means of subspaces and shapes: against 50 digits, and with parts broken."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import ConvergenceError
from riemdp.spaces import clip_norm
from riemdp.statistics.curved import _certified_grassmann as certified
from riemdp.statistics.curved import _certified_grassmann as parts
from riemdp.statistics.curved._certified_grassmann import (
    Subspaces,
    angle_over_sine,
    certificate,
    floor,
    refined,
)
from riemdp.statistics.curved._space_form_sums import SpaceFormSums

mpmath = pytest.importorskip("mpmath")

LINE, PLANE = Subspaces(1, 1, planar=True), Subspaces(2, 1, planar=True)
SPACES = [LINE, PLANE, Subspaces(3, 1), Subspaces(1, 3), Subspaces(2, 2), Subspaces(2, 3)]
RADII = [1e-6, 0.1, 0.4, 0.7, 0.78]


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def name(space):
    return f"CP{space.rows}" if space.planar else f"{space.rows}x{space.columns}"


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("space", SPACES, ids=name)
@pytest.mark.fast("CP2-0.4", "2x2-0.78", "CP1-1e-06")
def test_no_certificate_is_below_the_distance_from_the_mean(subspaces, space, radius):
    rng = np.random.default_rng([round(1e6 * radius), subspaces.dim_of(space)])
    least = floor(space, radius)
    for kind in subspaces.KINDS:
        records = subspaces.some_records(rng, space, radius, kind)
        found, bound, _ = refined(space, records, radius, least)
        assert bound <= least
        mean = subspaces.exact_mean(space, found, records, 1e-3 * min(bound, 1e-9))
        assert (
            subspaces.norm(subspaces.exact_log(mean, subspaces.exact_frame(space, found))) <= bound
        )
        for size in (1e-3 * radius, 1e-7 * radius):
            point = found + size * rng.normal(size=found.shape)
            known = certificate(space, point, records, 0.0)
            distance = subspaces.norm(
                subspaces.exact_log(mean, subspaces.exact_frame(space, point))
            )
            assert distance <= known
            if radius <= 0.4 and size > 1e-12:
                assert known <= 4.0 * distance


@pytest.mark.parametrize("space", [PLANE, Subspaces(2, 2), Subspaces(3, 1)], ids=name)
@pytest.mark.parametrize("radius", [0.4, 0.75])
@pytest.mark.fast("0.75-CP2", "0.4-2x2")
def test_on_a_plane_of_largest_curvature_it_is_the_distance(subspaces, space, radius):
    """Two opposite records: the Hessian across is what the bound says, and the mean is known."""
    along, across = subspaces.extremes(space)
    records = radius * (1.0 - 2.0**-40) * np.array([along, -along])
    for size in (1e-4, 1e-8):
        known = certificate(space, size * across, records, 2e-4)
        assert size <= known <= size * (1.0 + 2e-2) + 2.0 * floor(space, radius)


@pytest.mark.parametrize("space", [PLANE, Subspaces(2, 2)], ids=name)
def test_less_curvature_would_be_noticed(subspaces, monkeypatch, space):
    along, across = subspaces.extremes(space)
    records = 0.75 * np.array([along, -along])
    monkeypatch.setattr(Subspaces, "curvature", 0.9 * space.curvature)
    assert certificate(space, 1e-6 * across, records, 1e-5) < 0.95e-6


@pytest.mark.parametrize("space", [PLANE, Subspaces(2, 2)], ids=name)
def test_a_wrong_logarithm_would_be_noticed(subspaces, monkeypatch, space):
    """Of one record by its sign, and of all by a millionth of the weights."""
    rng = np.random.default_rng(3)
    records = subspaces.some_records(rng, space, 0.4, "any")
    right, _, _ = refined(space, records, 0.4, 1e-12)
    given = certified.logarithms

    def turned(*arguments):
        found, errors = given(*arguments)
        found[0] = -found[0]
        return found, errors

    monkeypatch.setattr(certified, "logarithms", turned)
    wrong, bound, _ = refined(space, records, 0.4, 1e-12)
    assert bound <= 1e-12
    assert np.linalg.norm(wrong - right) > 1e-3
    monkeypatch.setattr(certified, "logarithms", given)
    monkeypatch.setattr(
        parts, "angle_over_sine", lambda c: angle_over_sine(c) * (1.0 + 1e-6 * (c < 0.9))
    )
    wrong, bound, _ = refined(space, records, 0.4, 1e-12)
    assert bound <= 1e-12
    assert np.linalg.norm(wrong - right) > 1e-9


def test_the_hessian_is_bounded_from_below():
    angles = np.concatenate([np.linspace(1e-8, 3.1415, 300), [0.0]])
    for x, value in zip(angles, certified._bend(angles), strict=True):
        wanted = mpmath.mpf(float(x)) * mpmath.cot(mpmath.mpf(float(x))) if x else mpmath.mpf(1)
        assert value <= wanted
        assert value >= wanted - 2e-4 - 1e-5 * abs(wanted)
    assert (certified._bend(np.array([math.pi, 4.0])) == -math.inf).all()


@pytest.mark.parametrize("radius", [1e-3, 0.4, 0.75])
@pytest.mark.parametrize(
    ("space", "curvature"),
    [(LINE, 4.0), (Subspaces(3, 1), 1.0), (Subspaces(1, 2), 1.0)],
    ids=lambda value: name(value) if isinstance(value, Subspaces) else "",
)
def test_spheres_are_as_their_own_certificate_says(
    subspaces, space_forms, space, curvature, radius
):
    """CP^1 is a sphere of curvature 4, and lines are locally those of unit vectors."""
    pytest.importorskip("flint")
    rng = np.random.default_rng(11)
    records = np.concatenate(
        [subspaces.some_records(rng, space, radius, kind) for kind in subspaces.KINDS]
    )
    tol = max(1e-12, 2.0 * floor(space, radius))
    ours, bound, _ = refined(space, records, radius, tol)
    rounding = 2.0 * SpaceFormSums(ours.size, curvature, radius).floor
    assert space_forms.certificate(curvature, radius, ours, records, tol) <= bound + rounding
    theirs = subspaces.space_form_mean(curvature, records, radius)
    assert certificate(space, theirs, records, tol) <= tol
    assert np.linalg.norm(ours - theirs) <= 1.5 * tol * curvature


def test_weights_count_as_repetitions(subspaces):
    rng = np.random.default_rng(5)
    records = subspaces.some_records(rng, PLANE, 0.6, "any")
    times = np.array([1, 2, 3, 1, 0, 4])
    point = records.mean(axis=0)
    one = certificate(PLANE, point, np.repeat(records, times, axis=0), 0.1)
    assert one < math.inf
    for scale in (1.0, 0.37):
        assert certificate(PLANE, point, records, 0.1, weights=scale * times) == pytest.approx(one)


@pytest.mark.parametrize("space", [PLANE, Subspaces(2, 3)], ids=name)
def test_order_does_not_count(subspaces, space):
    rng = np.random.default_rng(9)
    records = np.concatenate(
        [subspaces.some_records(rng, space, 0.7, kind) for kind in subspaces.KINDS]
    )
    tol = floor(space, 0.7)
    found = [
        refined(space, rows, 0.7, tol)[0]
        for rows in (records, records[::-1], rng.permutation(records))
    ]
    assert max(np.linalg.norm(x - found[0]) for x in found) <= 2.0 * tol * 1.6 * 2.0


def test_what_cannot_be_proved_is_infinite(subspaces):
    along, across = subspaces.extremes(PLANE)
    records = 0.5 * np.array([along, across])
    assert certificate(PLANE, 0.24 * (along + across), records, 0.1) < 0.1
    assert certificate(PLANE, np.full(4, np.nan), records, 0.1) == math.inf
    assert certificate(PLANE, along, records, 0.1) == math.inf
    assert certificate(PLANE, 0.2 * along, 1.6 * records, 0.1) == math.inf  # beyond pi/4
    assert certificate(PLANE, 0.2 * along, np.full((1, 4), np.inf), 0.1) == math.inf
    assert floor(PLANE, math.pi / 4.0) == math.inf
    with pytest.raises(ConvergenceError, match="cannot be certified"):
        refined(PLANE, records, 0.5, 1e-17)
    with pytest.raises(ConvergenceError, match="cannot be certified"):
        refined(PLANE, 1.6 * records, 0.5, 1e-3)


@pytest.mark.parametrize("radius", [1e-9, 0.1, 0.7, 0.7838])
def test_all_data_can_be_certified_to_the_floor(subspaces, radius):
    """Those that are hard: nearly all at two ends, on top of each other, on the boundary."""
    rng = np.random.default_rng([7, round(1e9 * radius)])
    for space in (LINE, PLANE, Subspaces(3, 1), Subspaces(2, 2), Subspaces(4, 3)):
        assert floor(space, radius) <= 1e-3 * radius
        for kind in subspaces.KINDS:
            records = subspaces.some_records(rng, space, radius, kind)
            records = np.repeat(records, rng.integers(1, 20, size=len(records)), axis=0)
            _, _, passes = refined(space, records, radius, floor(space, radius))
            assert passes < 100


@pytest.mark.parametrize(
    ("space", "scale"), [(PLANE, 2.0), (Subspaces(2, 2), math.sqrt(2.0))], ids=["CP2", "2x2"]
)
def test_replacing_a_record_moves_the_mean_as_far_as_is_said(subspaces, space, scale):
    """At least .995 of the sensitivity with a pair that is made for it."""
    radius, n = 0.4, 2001
    along, across = subspaces.extremes(space)
    rest = np.repeat(radius * np.array([along, -along]), n // 2, axis=0)
    means = []
    for sign in (1.0, -1.0):
        records = np.concatenate([rest, sign * radius * across[None]])
        means.append(refined(space, records, radius, 1e-12)[0])
    sensitivity = 2.0 * math.tan(scale * radius) / (scale * n)
    share = subspaces.distance(space, *means) / sensitivity
    assert 0.995 <= share <= 1.0


@pytest.mark.parametrize(
    ("space", "scale"), [(PLANE, 2.0), (Subspaces(2, 2), math.sqrt(2.0))], ids=["CP2", "2x2"]
)
@pytest.mark.slow
def test_no_search_exceeds_the_sensitivity(subspaces, space, scale):
    """Up the hill, over weighted data and the record that is replaced."""
    rng, best = np.random.default_rng(2), 0.0
    for radius in (0.3, 0.6, 0.76):
        for _ in range(4):
            rows = radius * np.concatenate([rng.normal(size=(4, subspaces.dim_of(space)))])
            weights, found, width = rng.uniform(0.01, 1.0, size=3), 0.0, 0.5
            for _ in range(100):
                tried = clip_norm(rows + width * radius * rng.normal(size=rows.shape), radius)
                shares = np.clip(weights + width * rng.normal(size=3), 1e-3, 1.0)
                means = [
                    refined(space, tried[[0, 1, i]], radius, 1e-7, weights=shares)[0]
                    for i in (2, 3)
                ]
                bound = 2.0 * math.tan(scale * radius) / scale * shares[2] / shares.sum()
                share = subspaces.distance(space, *means) / min(2.0 * radius, bound + 2e-7)
                assert share <= 1.0
                if share > found:
                    rows, weights, found = tried, shares, share
                else:
                    width = max(0.95 * width, 0.01)
            best = max(best, found)
    assert best >= 0.8
