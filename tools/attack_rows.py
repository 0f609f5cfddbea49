"""Search for a record that changes what is made of another one.

    python tools/attack_rows.py [--seed 0] [--rounds 20]

One record of a data set is replaced by extreme, graded, boundary and slightly invalid ones. What is
left of all other rows after validation and clipping must not change in a single bit, for numbers of
records on both sides of every size at which arrays are cut into chunks. Exits with 1 if it does.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import numpy as np

from riemdp import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp.manifolds import _norms, _symmetric
from riemdp.manifolds import _sphere as sphere_module
from riemdp.manifolds._norms import clip_norm
from riemdp.manifolds._spd_affine_invariant import spectral_log
from riemdp.statistics._records import record_coordinates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from riemdp import Manifold

    FloatArray = NDArray[np.float64]

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
    SPDLogEuclidean(5),
    SPDAffineInvariant(1),
    SPDAffineInvariant(2),
    SPDAffineInvariant(3),
    SPDAffineInvariant(5),
]


def chunk_sizes(manifold: Manifold) -> list[int]:
    """Return lengths at which some step of validation or clipping starts another chunk or way."""
    entries = int(np.prod(manifold.point_shape))
    if len(manifold.point_shape) == 2:
        return [_symmetric.CHUNK_ENTRIES // entries]
    return [sphere_module._FEW // entries, _norms.CHUNK_ENTRIES // entries]


def used(ball: Ball, points: FloatArray) -> list[FloatArray]:
    """Return every array that a summary makes of the records one by one."""
    data = ball.manifold.validate(points)
    with np.errstate(all="ignore"):
        arrays = [data, record_coordinates(ball, data)]
        if isinstance(ball.manifold, SPDAffineInvariant):
            logs, vectors = spectral_log(ball.center, data)
            arrays += [clip_norm(logs, ball.radius), vectors]
        else:
            arrays.append(ball.project(data))
    return arrays


def graded(k: int, exponents: list[int], rng: np.random.Generator) -> FloatArray:
    """Return ``D C D`` with these powers of ten."""
    factors = rng.normal(size=(k, 2 * k))
    scale = 10.0 ** np.resize(exponents, k)
    matrix = scale[:, None] * (factors @ factors.T / (2 * k)) * scale
    return 0.5 * (matrix + matrix.T)


def replacements(manifold: Manifold, ball: Ball, rng: np.random.Generator) -> list[FloatArray]:
    """Return valid records of every awkward kind."""
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
        found += [
            graded(k, e, rng)
            for e in ([6, -6], [100, -100], [0, -9, 9], [-150, 3], [-150, -75, 0, 75, 150])
        ]
        dense = graded(k, [0], rng)
        dense[0, -1] *= 1.0 + 1e-8
        found.append(dense)
    return found


def nudged(manifold: Manifold, points: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Move every other record by an ulp, which validation leaves as it is."""
    if len(manifold.point_shape) == 1 and not isinstance(manifold, Euclidean):
        points[::2, 0] *= 1.0 + rng.choice([-1.0, 1.0], size=len(points[::2])) * 2.0**-52
    return points


def changed(
    ball: Ball,
    plain: FloatArray,
    rows: Sequence[int],
    records: Sequence[FloatArray],
    before: list[FloatArray] | None = None,
) -> bool:
    """Whether replacing these rows changes a bit of what is made of the others.

    ``before`` is what is made of the plain records, where it is at hand.
    """
    before = used(ball, plain) if before is None else before
    other = plain.copy()
    other[list(rows)] = records
    kept = np.ones(len(plain), dtype=bool)
    kept[list(rows)] = False
    pairs = zip(before, used(ball, other), strict=True)
    return any(was[kept].tobytes() != now[kept].tobytes() for was, now in pairs)


def setting(manifold: Manifold, n: int, rng: np.random.Generator) -> tuple[Ball, FloatArray]:
    """Return a ball away from the origin and n records, some of them off by an ulp."""
    start = Ball(manifold, manifold.origin, 0.5)
    ball = Ball(manifold, start.point(rng.normal(size=manifold.dim) * 0.2), 0.7)
    return ball, nudged(manifold, ball.point(0.6 * rng.normal(size=(n, manifold.dim))), rng)


def main(arguments: list[str] | None = None) -> int:
    """Search, print the counts, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=10, help="data sets of each space")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    found = 0
    for manifold in SPACES:
        sizes = [n for size in chunk_sizes(manifold) for n in (size - 1, size, size + 1)]
        tried = bad = 0
        for number in range(options.rounds):
            n = 50 if number % 2 else int(rng.choice(sizes))
            ball, plain = setting(manifold, n, rng)
            before = used(ball, plain)
            for record in replacements(manifold, ball, rng):
                tried += 1
                bad += changed(ball, plain, [int(rng.integers(n))], [record], before)
        found += bad
        print(f"{manifold}: {tried} replacements, {bad} changed another row")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
