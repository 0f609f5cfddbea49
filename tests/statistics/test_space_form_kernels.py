"""Fractions for the weights of records, and the loops that use them, as plain Python."""

from __future__ import annotations

import itertools
import json
import math
from importlib import resources

import mpmath
import numpy as np
import pytest

import build_arc_weights as tool
from riemdp import Hyperbolic, Sphere
from riemdp.statistics import _space_form_kernels as loops
from riemdp.statistics._compiled_space_form import fractions

EPS = 2.0**-52
TABLE = json.loads(
    resources.files("riemdp.statistics").joinpath("data/arc_weights.json").read_text("ascii")
)["classes"]
NAMES = [f"{row['space']} {len(row['over'])}" for row in TABLE]


@pytest.mark.fast("sphere 8", "hyperbolic 8")
@pytest.mark.parametrize("row", TABLE, ids=NAMES)
def test_the_errors_are_proved_again_on_the_whole_interval(row):
    near, error = tool.certify(row["over"], row["under"], row["low"], row["high"])
    assert near <= row["approximation"] <= 1e-15
    assert error <= row["error"] <= 1e-14


@pytest.mark.parametrize("which", ["over", "under"])
def test_a_coefficient_that_is_off_is_not_certified(which):
    row = TABLE[0]
    wrong = {**row, which: [*row[which][:3], row[which][3] * (1.0 + 1e-13), *row[which][4:]]}
    tool.ctx.prec = 300
    parts = [tool.intervals(row["low"], row["high"])[i] for i in (0, 20, 90)]
    bounds = [
        float(tool.approximation(of["over"], of["under"], *part).upper())
        for of in (row, wrong)
        for part in parts
    ]
    assert max(bounds[:3]) <= row["approximation"]
    assert max(bounds[3:]) > 10.0 * row["approximation"]


def test_the_parts_of_the_proof_cover_the_intervals():
    tool.ctx.prec = 300
    for row in TABLE:
        parts = [(m - r, m + r) for m, r in tool.intervals(row["low"], row["high"])]
        parts.sort(key=lambda part: float(part[0]))
        assert parts[0][0] <= row["low"]
        assert parts[-1][1] >= row["high"]
        assert all(low <= high for (_, high), (low, _) in itertools.pairwise(parts))


def test_the_function_of_the_proof_is_that_of_angles_and_lengths():
    tool.ctx.prec = 200
    for theta in (1e-8, 0.3, 1.2, 2.5):
        angle = tool.arb(theta)
        assert abs(tool.weight(1 + angle.cos()) * angle.sin() / angle - 1) < 1e-40
        cosh = (angle.exp() + (-angle).exp()) / 2
        sinh = (angle.exp() - (-angle).exp()) / 2
        assert abs(tool.weight(1 + cosh) * sinh / angle - 1) < 1e-40
    for middle in (2, 1.3, 2.9):  # Taylor polynomials are of the same function
        series, gap = tool.series(tool.arb(middle)), tool.arb(1e-3)
        value = sum(series[i] * gap**i for i in range(tool.TERMS))
        assert series.length() == tool.TERMS
        assert abs(value - tool.weight(tool.arb(middle) + gap)) < 1e-40


def exact_weight(c):
    with mpmath.workdps(50):
        c = mpmath.mpf(float(c))
        if c == 1:
            return mpmath.mpf(1)
        return mpmath.acos(c) / mpmath.sqrt(1 - c * c) if c < 1 else _length_weight(c)


def _length_weight(c):
    return mpmath.acosh(c) / mpmath.sqrt(c * c - 1)


@pytest.mark.parametrize("row", TABLE, ids=NAMES)
def test_what_float64_makes_of_a_weight_is_within_what_is_proved(row):
    middle = np.geomspace(row["low"], row["high"], 40) - 1.0
    near = 1.0 + np.array([-3.0, -1.0, 0.0, 1.0, 5.0]) * EPS
    cosine = np.concatenate([middle[1:-1], near])
    x, over, under = 1.0 + cosine, np.zeros(len(cosine)), np.ones(len(cosine))
    for a, b in zip(row["over"], row["under"], strict=True):
        over, under = over * x + a, under * x + b
    with mpmath.workdps(50):
        errors = [
            abs(float(mpmath.mpf(w) / exact_weight(c) - 1))
            for w, c in zip((over / under).tolist(), cosine, strict=True)
        ]
    assert max(errors) <= row["error"]
    assert max(errors) > 0.01 * row["error"]


@pytest.mark.slow
def test_the_table_is_built_again():
    assert tool.build() == TABLE


def filled(manifold, data, weights=(1.0,), center=None):
    width = data.shape[1]
    tiles = np.full((-(-len(data) // loops.TILE), width + 3, loops.TILE), math.nan)
    total, known = np.empty(width), np.empty(2)
    center = manifold.origin if center is None else center
    with np.errstate(all="ignore"):
        loops.fill_tiles(
            data, np.array(weights), center, manifold.curvature, 4.0 * EPS, tiles, total, known
        )
    return tiles, total, known


@pytest.mark.parametrize(
    "manifold", [Sphere(2, 4.0), Sphere(3), Hyperbolic(2), Hyperbolic(3, -4.0)]
)
def test_tiles_hold_the_records(manifold, random_points):
    rng = np.random.default_rng(0)
    data = manifold.validate(random_points(manifold, rng, 150))
    weights = rng.uniform(size=150)
    width = data.shape[1]
    tiles, total, known = filled(manifold, data, weights)
    rows = np.swapaxes(tiles, 1, 2).reshape(-1, width + 3)
    np.testing.assert_array_equal(rows[:150, :width], data)
    np.testing.assert_array_equal(rows[150:, :width], data[[-1] * 106])
    np.testing.assert_array_equal(rows[:, width], np.append(weights, np.zeros(106)))
    np.testing.assert_allclose(total, weights @ data, rtol=1e-13, atol=1e-13)
    assert known[0] == 256
    extreme = (data @ manifold.origin).min() if manifold.curvature > 0.0 else data[:, 0].max()
    assert known[1] == pytest.approx(extreme, rel=1e-15)
    np.testing.assert_allclose(filled(manifold, data)[1], data.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2)], ids=str)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200, "far", "negative"])
def test_a_record_that_is_not_on_the_manifold_is_not_counted(manifold, bad):
    data = np.tile(manifold.origin, (140, 1))
    assert filled(manifold, data)[2][0] == 256
    for row, rest in ((7, 255), (139, 139)):  # the last one is repeated
        wrong = data.copy()
        if bad == "far":
            wrong[row] *= 1.0 + 1e-15 * (2.0 if manifold.curvature > 0.0 else 3.0)
        elif bad == "negative":
            wrong[row] *= -1.0
        else:
            wrong[row, 1] = bad
        found = filled(manifold, wrong)
        harmless = bad == "negative" and manifold.curvature > 0.0
        assert found[2][0] == (256 if harmless else rest)
        if harmless:
            assert found[2][1] == -1.0


def test_the_smallest_intervals_come_first():
    for space in ("sphere", "hyperbolic"):
        of = fractions(space)
        widths = of.limits[:, 1] / of.limits[:, 0]
        assert (np.diff(widths) > 0.0).all()
        assert (of.degrees % 4 == 0).all()
        assert (of.degrees >= 8).all()
        assert (of.limits[:, 0] < 2.0).all()
        assert (of.limits[:, 1] > 2.0).all()
        assert of.coefficients.shape == (len(of.degrees), 2, of.degrees.max())
