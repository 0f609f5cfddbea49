"""What happens to a record depends on that record alone, to the last bit.

Row j of a data set is replaced by extreme, graded, boundary and slightly invalid records: what is
left of all other rows after validation and clipping must not change in a single bit, on both sides
of every size at which arrays are cut into chunks.
"""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.manifolds import _manifold, _symmetric
from riemdp.manifolds import _sphere as sphere_module
from riemdp.manifolds._ball import clip_norm
from riemdp.manifolds._spd_affine_invariant import spectral_log
from riemdp.summaries._frechet_mean import _record_coordinates

SPACES = [
    Euclidean(1),
    Euclidean(3),
    Sphere(1),
    Sphere(2),
    Sphere(4, 2.5),
    Hyperbolic(1),
    Hyperbolic(2),
    Hyperbolic(4, -2.5),
    SPDLogEuclidean(1),
    SPDLogEuclidean(2),
    SPDLogEuclidean(3),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
]


def chunk_sizes(manifold):
    """Lengths at which some step of validation or clipping starts another chunk or way."""
    entries = int(np.prod(manifold.point_shape))
    if len(manifold.point_shape) == 2:
        return [_symmetric._CHUNK_ENTRIES // entries]
    return [sphere_module._FEW // entries, _manifold._CHUNK_ENTRIES // entries]


def used(ball, points):
    """All that a summary knows of the records: every array that is made of them one by one."""
    data = ball.manifold.validate(points)
    with np.errstate(all="ignore"):
        arrays = [data, _record_coordinates(ball, data)]
        if isinstance(ball.manifold, SPDAffineInvariant):
            logs, vectors = spectral_log(ball.center, data)
            arrays += [clip_norm(logs, ball.radius), vectors]
        else:
            arrays.append(ball.project(data))
    return arrays


def graded(k, exponents, rng):
    factors = rng.normal(size=(k, 2 * k))
    scale = 10.0 ** np.resize(exponents, k)
    matrix = scale[:, None] * (factors @ factors.T / (2 * k)) * scale
    return 0.5 * (matrix + matrix.T)


def replacements(manifold, ball, rng):
    """Valid records of every awkward kind."""
    vector = rng.normal(size=manifold.dim)
    vector *= ball.radius / np.linalg.norm(vector)
    found = [ball.center, ball.point(vector), ball.point(5.0 * vector), ball.point(1e-160 * vector)]
    if isinstance(manifold, Euclidean):
        found += [np.full(manifold.dim, x) for x in (1e-320, 1e160, 1.7e308, -1.7e308)]
    elif isinstance(manifold, Sphere):
        found += [-ball.center, ball.point(vector) * (1.0 + 7e-7), ball.center * (1.0 - 7e-7)]
    elif isinstance(manifold, Hyperbolic):
        far = np.zeros(manifold.dim + 1)
        for size in (1e3, 1e100, 1e150):
            far[1] = size
            far[0] = np.sqrt(size**2 - 1.0 / manifold.curvature)
            found.append(far.copy())
        off = np.array(ball.point(vector))
        off[0] *= 1.0 + 2e-7
        found.append(off)
    else:
        k = manifold.k
        found += [x * np.eye(k) for x in (1e-320, 1e-300, 1e-145, 1e-130, 1e130, 1e300)]
        found += [graded(k, e, rng) for e in ([6, -6], [100, -100], [0, -9, 9], [-150, 3])]
        dense = graded(k, [0], rng)
        dense[0, -1] *= 1.0 + 1e-8
        found.append(dense)
    return found


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_other_rows_keep_every_bit(manifold):
    rng = np.random.default_rng(3)
    # neither at the origin nor axis-parallel
    start = Ball(manifold, manifold.origin, 0.5)
    center = start.point(rng.normal(size=manifold.dim) * 0.2)
    ball = Ball(manifold, center, 0.7)
    awkward = replacements(manifold, ball, rng)
    for size in chunk_sizes(manifold):
        for n in (size, size + 1):
            plain = nudged(manifold, ball.point(0.6 * rng.normal(size=(n, manifold.dim))), rng)
            before = used(ball, plain)
            for first in range(0, len(awkward), 3):
                chosen = awkward[first : first + 3]
                rows = [0, n // 2, n - 1][: len(chosen)]
                other = plain.copy()
                other[rows] = chosen
                kept = np.ones(n, dtype=bool)
                kept[rows] = False
                for was, now in zip(before, used(ball, other), strict=True):
                    assert was[kept].tobytes() == now[kept].tobytes(), (n, first)


def nudged(manifold, points, rng):
    """Every other record off by an ulp or two, which is left as it is."""
    if len(manifold.point_shape) == 1 and not isinstance(manifold, Euclidean):
        points[::2, 0] *= 1.0 + rng.choice([-1.0, 1.0], size=len(points[::2])) * 2.0**-52
    return points


@pytest.mark.parametrize("manifold", SPACES, ids=str)
def test_one_record_among_some_that_have_to_be_mended(manifold):
    """Every other row is a little off, and mended."""
    rng = np.random.default_rng(4)
    ball = Ball(manifold, manifold.origin, 0.7)
    plain = nudged(manifold, ball.point(0.6 * rng.normal(size=(50, manifold.dim))), rng)
    if len(manifold.point_shape) == 2 and manifold.k > 1:
        plain[1::2, 0, 1] *= 1.0 + 1e-8
    elif not isinstance(manifold, Euclidean):
        plain[1::2, 0] *= 1.0 + 1e-8
    before = used(ball, plain)
    kept = np.arange(50) != 17
    for record in replacements(manifold, ball, rng):
        other = plain.copy()
        other[17] = record
        for was, now in zip(before, used(ball, other), strict=True):
            assert was[kept].tobytes() == now[kept].tobytes()
