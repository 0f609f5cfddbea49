"""Gradients on spheres and hyperbolic spaces, in float64 and as integers."""

from __future__ import annotations

import math
import pickle

import mpmath as mp
import numpy as np
import pytest

from riemdp import Ball, Hyperbolic, Sphere
from riemdp._errors import ConvergenceError
from riemdp.statistics.curved._descent_space_form import (
    logarithm_error,
    logarithms,
    space_form_descent,
)
from riemdp.statistics.curved._space_form_sums import SpaceFormSums

DIGITS = 50


def cases(dim, radius, rng):
    """Points and records, among them opposite ones, equal ones, and ones next to each other."""
    for kind in range(24):
        point, record = rng.normal(size=(2, dim))
        point *= radius * rng.random() ** 0.1 / np.linalg.norm(point)
        record *= radius / np.linalg.norm(record)
        if kind % 6 == 1:
            record = -point / np.linalg.norm(point) * radius
        if kind % 6 == 2:
            record = point * (1.0 + 1e-8 * rng.normal(size=dim))
        if kind % 6 == 3:
            point = 0.0 * point
        if kind % 6 == 4:
            record = point
        yield point, record


def in_the_ambient_space(curvature, vector):
    k, zero = mp.sqrt(abs(mp.mpf(curvature))), mp.mpf(0)
    even, odd = (mp.cos, mp.sin) if curvature > 0 else (mp.cosh, mp.sinh)
    length = k * mp.sqrt(sum((x * x for x in vector), zero))
    scale = odd(length) / length if length else mp.mpf(1)
    return [even(length), *(scale * k * x for x in vector)]


def by_vectors(curvature, point, record):
    """The logarithm in the ambient space, transported along the geodesic by its own formula."""
    sign = mp.mpf(1 if curvature > 0 else -1)
    p, x = (
        in_the_ambient_space(curvature, [mp.mpf(float(a)) for a in rows])
        for rows in (point, record)
    )

    def inner(a, b):
        return sign * a[0] * b[0] + sum(u * v for u, v in zip(a[1:], b[1:], strict=True))

    cosine = sign * inner(p, x)
    across = [a - cosine * b for a, b in zip(x, p, strict=True)]
    size = mp.sqrt(max(inner(across, across), mp.mpf(0)))
    between = mp.atan2(size, cosine) if curvature > 0 else mp.asinh(size)
    log = [a * (between / size if size else 1) for a in across]
    origin = [mp.mpf(1)] + [mp.mpf(0)] * len(point)
    # parallel transport from p to the origin: v - sign <v, o> / (1 + sign <p, o>) (p + o)
    share = sign * inner(log, origin) / (1 + sign * inner(p, origin))
    moved = [a - share * (b + c) for a, b, c in zip(log, p, origin, strict=True)]
    return [a / mp.sqrt(abs(mp.mpf(curvature))) for a in moved[1:]]


@pytest.mark.parametrize(
    ("curvature", "radius", "dim"),
    [(1.0, 0.4, 2), (1.0, 1.2, 5), (4.0, 0.3, 3), (-1.0, 1.0, 2), (-1.0, 4.0, 5), (-0.25, 3.0, 3)],
)
def test_logarithms_are_right_to_what_is_allowed(curvature, radius, dim):
    allowed = logarithm_error(dim, curvature, radius)
    with mp.workdps(DIGITS):
        worst = 0.0
        for point, record in cases(dim, radius, np.random.default_rng(0)):
            found = logarithms(curvature, point, record[None])[0]
            right = by_vectors(curvature, point, record)
            rest = [mp.mpf(float(a)) - b for a, b in zip(found, right, strict=True)]
            worst = max(worst, float(mp.sqrt(sum(x * x for x in rest))))
    assert 0.0 < worst <= 0.25 * allowed


def test_a_step_is_a_logarithm_seen_from_the_other_side():
    point, along = np.array([0.3, -0.2]), np.array([0.1, 0.25])
    for curvature in (1.0, -1.0):
        there = logarithms(curvature, -point, along[None])
        back = logarithms(curvature, point, there)[0]
        assert np.allclose(back, along, rtol=0.0, atol=1e-14)


BALLS = [Ball(Sphere(3), [0.0, 0.0, 0.0, 1.0], 0.7), Ball(Hyperbolic(2), Hyperbolic(2).origin, 1.0)]


def descent_in(ball, tol=1e-11):
    return space_form_descent(sums_in(ball), tol)


def sums_in(ball):
    return SpaceFormSums(ball.manifold.dim, ball.manifold.curvature, ball.radius)


def records_in(ball, n=300):
    rows = np.random.default_rng(1).normal(size=(n, ball.manifold.dim))
    rows *= (ball.radius * np.linspace(0.0, 1.0, n) / np.linalg.norm(rows, axis=1))[:, None]
    return rows * (1.0 - 2.0**-40)


@pytest.mark.parametrize("ball", BALLS, ids=repr)
@pytest.mark.parametrize("last", [False, True])
def test_integers_do_not_depend_on_order_and_parts(ball, last):
    descent = descent_in(ball)
    rows, point = records_in(ball), np.full(ball.manifold.dim, 0.1)
    whole = descent.seen(rows, point, last=last)
    turned = np.random.default_rng(2).permutation(len(rows))
    for cut in ([1, 2, 7, 150], [64, 128]):
        parts = [
            pickle.loads(pickle.dumps(descent.seen(np.ascontiguousarray(some), point, last=last)))
            for some in np.split(rows[turned], cut)
        ]
        found = parts[0]
        for part in parts[1:]:
            found = part + found
        assert found == whole


@pytest.mark.parametrize("ball", BALLS, ids=repr)
def test_the_last_pass_certifies_as_much_as_all_records_together(ball, space_forms):
    curvature = ball.manifold.curvature
    descent = descent_in(ball)
    rows, point = records_in(ball), np.zeros(ball.manifold.dim)
    bound = space_forms.certificate(curvature, ball.radius, point, rows, 1e-11)
    assert bound > 1e-3
    partial = descent.seen(rows, point, last=True)
    tol = bound * (1.0 + 1e-9)
    assert descent.certified(point, point, partial, tol)
    with pytest.raises(ConvergenceError):
        descent.certified(point, point, partial, tol * (1.0 - 1e-6) if curvature < 0 else 1e-3)


def test_a_hostile_record_is_one_of_many():
    """A thousand at one place and one at the other end; it moves the mean by its share."""
    ball = BALLS[1]
    rows = np.zeros((1001, 2))
    rows[-1, 0] = 1.0 - 2.0**-40
    descent = descent_in(ball)
    point = descent.start()
    for number in range(len(descent.steps)):
        point = descent.moved(point, descent.seen(rows, point, last=False), number)
    assert descent.certified(point, point, descent.seen(rows, point, last=True), 1e-11)
    assert math.isclose(point[0], 1.0 / 1001, rel_tol=1e-3)
    assert ball.radius == 1.0


def test_wide_and_flat_balls_are_not_offered():
    assert space_form_descent(SpaceFormSums(2, 1.0, 1.3), 1e-10) is None
    assert space_form_descent(SpaceFormSums(2, -1.0, 65.0), 1e-3) is None
    assert space_form_descent(SpaceFormSums(2, -1.0, 1.0), 1e-16) is None


@pytest.mark.parametrize(
    ("curvature", "radius"), [(1.0, 0.01), (1.0, 0.4), (1.0, 1.2), (-1.0, 0.01), (-1.0, 4.0)]
)
@pytest.mark.parametrize("dim", [2, 10])
def test_at_the_least_tolerance_steps_are_offered(curvature, radius, dim):
    sums = SpaceFormSums(dim, curvature, radius)
    descent = space_form_descent(sums, sums.floor)
    assert 3 <= len(descent.steps) < 160
    assert len(space_form_descent(sums, 1e-4 * radius).steps) < len(descent.steps)
