"""Attacks on the low bits of releases: which of two footpoints were they drawn about?

The attacker knows the ball, the mechanism and both candidates, and one of them is the centre,
about which coordinates are. The first two attacks say of each release whether float64 arithmetic
about the other candidate cannot have made it: a single such release refutes that candidate. They
are derived from the public formulas of ``riemdp.noise._polar`` and use no part of the library. The
third looks for anything at all in integers on a grid and in the floats that are made of them.
"""

from __future__ import annotations

import numpy as np
import scipy.stats

#: Bits that a float64 has.
DIGITS = 53
#: More than the absolute error of a reflection of a unit vector that is undone.
BLUR = 2.0**-46


def finer_than_sum(values, footpoint):
    """Whether numbers cannot be draws about a footpoint on the line.

    With ``t = |footpoint|`` in ``[2^(e-1), 2^e)`` a draw is ``|r - t|`` or ``r + t``, with a sign.
    For ``t/2 <= r <= 2t`` the difference is exact and a multiple of the finer unit of the two,
    which is ``2^(e-54)`` at least. For other ``r`` it is a float64 of at least ``t/2``, and the sum
    is one of at least ``t``: these are multiples of ``2^(e-54)`` as well.

    Parameters
    ----------
    values : ndarray, shape (n,)
    footpoint : float
        Not 0.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    steps = np.ldexp(values, DIGITS + 1 - np.frexp(abs(footpoint))[1])
    return np.asarray(steps != np.rint(steps))


def off_reflected_grid(vectors, footpoint, *, lost):
    """Whether vectors cannot have the direction of draws about a footpoint, in dimension d > 1.

    A direction is drawn as ``x`` in a frame that begins with the footpoint's axis, and returned as
    ``x - q n``, ``n = axis + sign(axis_0) e_0``, ``q = <n, x> / (1 + |axis_0|)``: a reflection.
    Where a component of the difference is smaller than the two floats it is made of, it is a
    multiple of the finer of their units and has fewer bits than a float64. The reflection is its
    own inverse, so the attacker knows both floats, and their units, from the direction. About the
    centre the axis is ``e_0``, ``q n`` vanishes but for its first component, and every component
    has all its bits.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)
        Along the draws' normal coordinates; lengths do not matter.
    footpoint : ndarray, shape (d,)
        Normal coordinates, not 0.
    lost : int
        Bits at the end of each component that are not believed: the direction was multiplied by a
        length, on curved spaces by more, and the attacker divides again. With 3 the attack errs in
        fewer than one of 1e5 draws.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    axis = footpoint / np.linalg.norm(footpoint)
    normal = axis.copy()
    normal[0] += 1.0 if axis[0] >= 0.0 else -1.0
    exact = vectors.astype(np.longdouble)
    direction = (exact / np.linalg.norm(exact, axis=1)[:, None]).astype(float)
    change = normal * (direction @ normal / (1.0 + abs(axis[0])))[:, None]
    finer = np.minimum(np.abs(direction - change), np.abs(change)) - BLUR
    unit = np.frexp(np.maximum(finer, BLUR))[1] - DIGITS
    steps = np.ldexp(direction, -unit)
    believed = np.abs(steps) * 2.0 ** (lost - DIGITS)
    return np.any(np.abs(steps - np.rint(steps)) > believed, axis=1)


def same_probability(first, second):
    """p-value that events have the same probability on both sides: Fisher's exact test."""
    table = [[int(x.sum()), int((~x).sum())] for x in (first, second)]
    return float(scipy.stats.fisher_exact(table).pvalue)


def same_bits(first, second, footpoint):
    """p-value that two samples of releases agree in everything that is not their size.

    For candidates that are far closer to each other than the noise: whatever tells them apart is
    a leak then. Compared are the last three bits of the integers, by coordinate and of their sums,
    those of the integers counted from the footpoint, their remainders by the number of records,
    their greatest common divisors, zeros at the end of the floats and their last bits.

    Parameters
    ----------
    first, second : tuple
        Integers, shape (n, d), and floats, shape (n, m), of as many releases, of each side.
    footpoint : sequence of int
        The second candidate in steps of the grid, nearest.

    Returns
    -------
    float
        The smallest p-value times the number of tests.
    """
    columns = [_marks(*side, footpoint) for side in (first, second)]
    found = [_same_counts(a, b) for a, b in zip(*columns, strict=True)]
    return min(found) * len(found)


def _marks(integers, floats, footpoint):
    """Small numbers of each release, a list of columns."""
    integers = np.asarray(integers)
    moved = integers - np.asarray(footpoint)
    found = [*(integers % 8).T, integers.sum(axis=1) % 8, *(integers % 100).T]
    found += [np.bitwise_xor.reduce(integers, axis=1) % 8, (moved % 8 == 0).sum(axis=1)]
    for numbers in (integers, moved):
        found.append(np.minimum(np.gcd.reduce(numbers, axis=1), 9))
    bits = np.ascontiguousarray(floats).view(np.int64)
    found += list((bits % 8).T)
    return [*found, *_zeros(bits).T]


def _zeros(bits):
    """How many zeros an integer ends with, at most 12."""
    return sum((bits % 2**i == 0).astype(int) for i in range(1, 13))


def _same_counts(first, second):
    values = np.unique(np.concatenate([first, second]))
    table = np.array([[np.sum(x == v) for v in values] for x in (first, second)])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] < 2 else float(scipy.stats.chi2_contingency(table).pvalue)
