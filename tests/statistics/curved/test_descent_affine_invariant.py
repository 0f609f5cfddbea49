"""Gradients of affine-invariant records as integers, and steps in many digits."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest

from riemdp._errors import ConvergenceError
from riemdp.spaces import _symmetric
from riemdp.statistics.curved import _certified_affine_invariant as certified
from riemdp.statistics.curved._descent_affine_invariant import (
    _displaced,
    affine_invariant_descent,
)


def records_in(k, radius, n, seed=0):
    rng = np.random.default_rng(seed)
    matrices = _symmetric.symmetrise(rng.normal(size=(n, k, k)))
    lengths = radius * rng.random(n) ** 0.3 / np.linalg.norm(matrices, axis=(1, 2))
    return certified.exact_records(matrices * lengths[:, None, None], radius)


def right_logarithm(point, record):
    """The logarithm of a record as seen from the point, in many digits, in the symmetric frame."""
    s = mp.matrix(_symmetric.unvecd(point, len(record)).tolist())
    inverse = mp.expm(-s / 2)
    values, vectors = mp.eigsy(inverse * mp.expm(mp.matrix(record.tolist())) * inverse.T)
    return vectors * mp.diag([mp.log(a) for a in values]) * vectors.T


@pytest.mark.parametrize(("k", "radius"), [(2, 1.0), (3, 0.1), (3, 2.0)])
def test_the_gradient_is_right_to_what_is_allowed(k, radius):
    records = records_in(k, radius, 6)
    descent = affine_invariant_descent(k, radius, 1e-9)
    point = 0.9 * radius * np.full(len(descent.start()), len(descent.start()) ** -0.5)
    partial = descent.seen(records, descent.view(point), last=True)
    found = certified.gradient(partial, k)
    with mp.workdps(50):
        right = sum(
            (right_logarithm(point, record) for record in records),
            mp.zeros(k),
        ) / len(records)
        rest = float(mp.mnorm(mp.matrix(found.tolist()) - right, "f"))
    stated = partial.total[-2] / len(records) * 2.0**-54
    assert 0.0 < rest <= stated + certified.rounding(k, radius) + descent.view(point)[1]
    assert max(rest, stated) <= certified.usual_error(k, radius)


@pytest.mark.parametrize(("k", "radius"), [(2, 2.0), (3, 0.5), (5, 4.0)])
def test_steps_are_right_to_the_last_bit(k, radius):
    """Of coordinates that are rounded; without the corrections they are not."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        point, along = rng.normal(size=(2, k * (k + 1) // 2))
        point *= radius / np.linalg.norm(point)
        along *= 0.5 * radius / np.linalg.norm(along)
        found = _displaced(point, _symmetric.unvecd(along, k))
        with mp.workdps(50):
            root = mp.expm(mp.matrix(_symmetric.unvecd(point, k).tolist()) / 2)
            along_it = mp.expm(mp.matrix(_symmetric.unvecd(along, k).tolist()))
            values, vectors = mp.eigsy(root * along_it * root.T)
            right = vectors * mp.diag([mp.log(a) for a in values]) * vectors.T
            rest = float(mp.mnorm(mp.matrix(_symmetric.unvecd(found, k).tolist()) - right, "f"))
        assert rest <= 4.0 * 2.0**-53 * np.linalg.norm(found)


def test_integers_do_not_depend_on_order_and_parts():
    """Records far from the point are decomposed, in another way than those next to it."""
    radius, n = 6.0, 300
    records = records_in(3, radius, n)
    records[::3] *= 1e-3
    descent = affine_invariant_descent(3, radius, 1e-8)
    view = descent.view(np.full(6, 2.0))
    whole = descent.seen(records, view, last=True)
    turned = np.random.default_rng(2).permutation(n)
    for cut in ([1, 2, 7, 150], [64, 128]):
        parts = [
            descent.seen(records[rows], pickle.loads(pickle.dumps(view)), last=True)
            for rows in np.split(turned, cut)
        ]
        found = parts[-1]
        for part in parts[:-1]:
            found = part + found
        assert found == whole


def test_a_hostile_record_is_one_of_many():
    """A thousand at the centre, and one at the boundary with the worst condition there is."""
    records = np.zeros((1001, 3, 3))
    records[-1] = np.diag([2.0 * 0.7, -2.0 * 0.7, 0.0])
    descent = affine_invariant_descent(3, 2.0, 1e-11)
    point = descent.start()
    for number in range(len(descent.steps)):
        partial = descent.seen(records, descent.view(point), last=False)
        point = descent.moved(point, partial, number)
    view = descent.view(point)
    partial = descent.seen(records, view, last=True)
    assert descent.certified(point, view, partial, 1e-11)
    assert np.allclose(point[:3], np.diag(records[-1]) / 1001, rtol=0.0, atol=1e-12)


def test_what_is_not_proved_is_no_certificate():
    """Not even where it is one record of many."""
    records = records_in(3, 0.5, 50)
    descent = affine_invariant_descent(3, 0.5, 1e-9)
    view = descent.view(descent.start())
    partial = descent.seen(records, view, last=True)
    assert descent.certified(descent.start(), view, partial, 1.0)
    broken = records.copy()
    broken[7] = np.nan
    partial = descent.seen(broken, view, last=True)
    assert partial.total[-1] == 1
    with pytest.raises(ConvergenceError):
        descent.certified(descent.start(), view, partial, 1.0)
    assert np.isfinite(descent.moved(descent.start(), partial, 0)).all()
    partial = descent.seen(records, view, last=False)  # where nobody has looked
    with pytest.raises(ConvergenceError):
        descent.certified(descent.start(), view, partial, 1.0)


@pytest.mark.parametrize(("k", "radius"), [(2, 0.3), (3, 1.0), (5, 2.0)])
def test_the_last_bound_is_that_of_all_records_together(k, radius):
    """Far from the mean, where the gradient decides, and at it, where errors do."""
    records = records_in(k, radius, 40)
    descent = affine_invariant_descent(k, radius, 2.0 * certified.floor(k, radius))
    point, bounds = descent.start(), []
    for number in range(len(descent.steps) + 1):
        view = descent.view(point)
        partial = descent.seen(records, view, last=True)
        bounds.append(certified.bound(view[1], partial, k, radius, point))
        moved = certified.bound(5e-4, partial, k, radius, point)
        assert moved - bounds[-1] == pytest.approx(5e-4 - view[1], rel=1e-8)
        if number < len(descent.steps):
            point = descent.moved(point, partial, number)
    lost = partial.total[-2] / 40 * 2.0**-54 + certified.rounding(k, radius)
    assert bounds[0] > 1e9 * lost
    assert bounds[-1] < 2.0 * lost  # so neither could be left out


def test_balls_in_which_rounding_is_too_much_are_not_offered():
    assert affine_invariant_descent(3, 0.5, 1e-16) is None
    assert affine_invariant_descent(3, 65.0, 1.0) is None
    assert affine_invariant_descent(3, 2.0, 0.4 * certified.floor(3, 2.0)) is None
    assert affine_invariant_descent(3, 2.0, certified.floor(3, 2.0)) is not None
