"""Newton's method on spheres and hyperbolic spaces, as loops for a compiler.

Plain Python, which numba compiles on demand: :mod:`riemdp.statistics._compiled_space_form`.
Records lie in tiles, an axis of the ambient space after the other, so that the lanes of a processor
hold records side by side. Sums over records are made lane by lane, in an order that is fixed; a
compiler may contract ``a * b + c``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._lanes import WIDE, turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]

#: Records of a tile; lanes of a sum, each of which adds ``TILE / LANES`` records of a tile; and
#: tiles after which the lanes are emptied into others.
TILE, LANES, RUN = 128, 16, 64
#: Rows that are looked at before an interval is chosen.
_ROWS = 64
#: Newton steps; more than a few are left to the solver that shortens them.
_STEPS = 12
_PRODUCTS = 20
#: As in :mod:`riemdp.statistics._space_form_mean`, where the method is described.
_HESSIAN_FLOOR = 1e-12
_TINY = 1e-32
_LONGEST = 350.0


def fill_tiles(  # noqa: PLR0917
    data: FloatArray,
    weights: FloatArray,
    center: FloatArray,
    curvature: float,
    rounding: float,
    tiles: FloatArray,
    total: FloatArray,
    known: FloatArray,
) -> None:
    """Rearrange records, check them and add them up.

    Parameters
    ----------
    data : ndarray, shape (n, d + 1)
    weights : ndarray, shape (n,)
        Or one number, the weight of each.
    center : ndarray, shape (d + 1,)
        Of a ball on the sphere; any vector on hyperbolic spaces.
    curvature, rounding : float
        Relative deviation of squares from the manifold up to which a record is good.
    tiles : ndarray, shape (t, d + 4, TILE)
        Records, the last one repeated behind itself; their weights, zeros behind the last record;
        and room for :func:`solve`.
    total : ndarray, shape (d + 1,)
        Sum of the records, each times its weight.
    known : ndarray, shape (2,)
        How many are good, those behind the last one as well. On spheres the least product with the
        centre, on hyperbolic spaces the largest time coordinate.
    """
    n, width = data.shape
    spherical, weighted, alike = curvature > 0.0, len(weights) > 1, weights[0]
    square, along = np.empty(TILE), np.empty(TILE)
    good, extreme = np.zeros(TILE), np.empty(TILE)
    sums, runs = np.empty((width, LANES)), np.zeros((width, LANES))
    last = np.empty((TILE, width))  # the last few, and copies of the last one
    first = 0 if spherical else 1  # coordinate that counts as the others do
    extreme[:] = math.inf if spherical else 0.0
    for run in range(0, len(tiles), RUN):
        sums[:] = 0.0
        for tile in range(run, min(run + RUN, len(tiles))):
            begin = tile * TILE
            source, at = data, begin
            if begin + TILE > n:
                for i in range(TILE):
                    for j in range(width):
                        last[i, j] = data[min(begin + i, n - 1), j]
                source, at = last, 0
            for i in range(TILE):
                square[i], along[i] = 0.0, 0.0
                tiles[tile, width, i] = alike if begin + i < n else 0.0
            if weighted:
                for i in range(begin, min(begin + TILE, n)):
                    tiles[tile, width, i - begin] = weights[i]
            if width < WIDE:
                for j in range(width):
                    for i in range(TILE):
                        tiles[tile, j, i] = source[at + i, j]
            else:
                numbers, row = source.reshape(-1), tiles[tile].reshape(-1)
                for block in range(0, width, WIDE):
                    j = min(block, width - WIDE)  # the last ones, some of them again
                    for i in range(0, TILE, WIDE):
                        turn(numbers, (at + i) * width + j, width, row, j * TILE + i, TILE)
            for j in range(first, width - 1, 2):
                p, q = center[j], center[j + 1]
                for i in range(TILE):
                    x, y = tiles[tile, j, i], tiles[tile, j + 1, i]
                    square[i] += x * x + y * y
                    along[i] += p * x + q * y
            if (width - first) % 2:
                p = center[width - 1]
                for i in range(TILE):
                    x = tiles[tile, width - 1, i]
                    square[i] += x * x
                    along[i] += p * x
            if spherical:
                for i in range(TILE):
                    good[i] += 1.0 if abs(curvature * square[i] - 1.0) <= rounding else 0.0
                    extreme[i] = along[i] if along[i] < extreme[i] else extreme[i]
            else:
                for i in range(TILE):
                    time, wanted = tiles[tile, 0, i], square[i] - 1.0 / curvature
                    near = abs(time * time - wanted) <= rounding * wanted
                    good[i] += 1.0 if near & (time > 0.0) & (wanted < math.inf) else 0.0
                    extreme[i] = time if time > extreme[i] else extreme[i]
            for j in range(width):
                for i in range(LANES):
                    one = (
                        tiles[tile, width, i] * tiles[tile, j, i]
                        + tiles[tile, width, LANES + i] * tiles[tile, j, LANES + i]
                    )
                    two = (
                        tiles[tile, width, 2 * LANES + i] * tiles[tile, j, 2 * LANES + i]
                        + tiles[tile, width, 3 * LANES + i] * tiles[tile, j, 3 * LANES + i]
                    )
                    three = (
                        tiles[tile, width, 4 * LANES + i] * tiles[tile, j, 4 * LANES + i]
                        + tiles[tile, width, 5 * LANES + i] * tiles[tile, j, 5 * LANES + i]
                    )
                    four = (
                        tiles[tile, width, 6 * LANES + i] * tiles[tile, j, 6 * LANES + i]
                        + tiles[tile, width, 7 * LANES + i] * tiles[tile, j, 7 * LANES + i]
                    )
                    sums[j, i] += (one + two) + (three + four)
        for j in range(width):
            for i in range(LANES):
                runs[j, i] += sums[j, i]
    known[0], known[1] = 0.0, extreme[0]
    for i in range(TILE):
        known[0] += good[i]
        known[1] = min(known[1], extreme[i]) if spherical else max(known[1], extreme[i])
    for j in range(width):
        total[j] = 0.0
        for i in range(LANES):
            total[j] += runs[j, i]


def solve(  # noqa: PLR0917
    tiles: FloatArray,
    curvature: float,
    weight: float,
    goal: float,
    enough: float,
    limits: FloatArray,
    degrees: NDArray[np.int64],
    coefficients: FloatArray,
    point: FloatArray,
    found: FloatArray,
) -> None:
    """Take Newton steps until the gradient is as small as is wanted, or give up.

    Parameters
    ----------
    tiles, curvature
        See :func:`fill_tiles`. Behind the weights: c of each record, and its w times its weight.
    weight : float
        Sum of the weights.
    goal, enough : float
        Norm of the gradient, as a share of the mean of ``theta cot(theta)`` at most 1, at which to
        stop; residual of a Newton equation that is not worth another product.
    limits : ndarray, shape (c, 2)
        Intervals of ``1 + c``, the smallest first.
    degrees : ndarray of int, shape (c,)
    coefficients : ndarray, shape (c, 2, m)
        See ``tools/build_arc_weights.py``.
    point : ndarray, shape (d + 1,)
        Where to begin, at unit curvature: where it ended.
    found : ndarray, shape (7,)
        1 if the goal was met; norm of the gradient; mean of ``theta cot(theta)``; least and largest
        c; passes; the interval.
    """
    count, width = len(tiles), len(point)
    spherical = curvature > 0.0
    k = math.sqrt(abs(curvature))
    sign = 1.0 if spherical else -1.0
    signs = np.ones(width)
    if not spherical:
        signs[1:] = -1.0  # minus the Minkowski product: what takes the place of a cosine
    least_cosine = -1.0 if spherical else 1.0
    floor = 1.0 + _HESSIAN_FLOOR if spherical else 1.0 - _HESSIAN_FLOOR
    scaled, image, gradient = np.empty(width), np.empty(width), np.empty(width)
    direction, residual, search = np.empty(width), np.empty(width), np.empty(width)
    over, under, low, high = np.empty((4, TILE))
    products = np.empty(TILE)
    sums, sums_of_runs = np.empty((2, width, LANES))
    found[:] = 0.0
    last, chosen = math.inf, -1
    stiffness, uneven = 1.0, math.inf
    for j in range(width):
        scaled[j] = k * signs[j] * point[j]
    # an interval that the farthest of some rows lies well within
    farthest = 1.0
    every = max(1, count * TILE // _ROWS)
    for row in range(0, count * TILE, every):
        c = 0.0
        for j in range(width):
            c += scaled[j] * tiles[row // TILE, j, row % TILE]
        farthest = min(farthest, c) if spherical else max(farthest, c)
    guess = 1.0 + farthest + 0.25 * (farthest - 1.0)
    for each in range(len(degrees)):
        if chosen < 0 and limits[each, 0] <= guess <= limits[each, 1]:
            chosen = each
    if chosen < 0:
        chosen = len(degrees) - 1
    while found[5] < _STEPS:
        # a pass
        found[5] += 1.0
        low[:], high[:] = math.inf, -math.inf
        sums_of_runs[:] = 0.0
        degree = degrees[chosen]
        a0, a1 = coefficients[chosen, 0, 0], coefficients[chosen, 0, 1]
        a2, a3 = coefficients[chosen, 0, 2], coefficients[chosen, 0, 3]
        a4, a5 = coefficients[chosen, 0, 4], coefficients[chosen, 0, 5]
        a6, a7 = coefficients[chosen, 0, 6], coefficients[chosen, 0, 7]
        b0, b1 = coefficients[chosen, 1, 0], coefficients[chosen, 1, 1]
        b2, b3 = coefficients[chosen, 1, 2], coefficients[chosen, 1, 3]
        b4, b5 = coefficients[chosen, 1, 4], coefficients[chosen, 1, 5]
        b6, b7 = coefficients[chosen, 1, 6], coefficients[chosen, 1, 7]
        for run in range(0, count, RUN):
            sums[:] = 0.0
            for tile in range(run, min(run + RUN, count)):
                q0, q1 = scaled[0], scaled[1]
                for i in range(TILE):
                    products[i] = q0 * tiles[tile, 0, i] + q1 * tiles[tile, 1, i]
                for j in range(2, width - 1, 2):
                    p0, p1 = scaled[j], scaled[j + 1]
                    for i in range(TILE):
                        products[i] += p0 * tiles[tile, j, i] + p1 * tiles[tile, j + 1, i]
                if width % 2:
                    p0 = scaled[width - 1]
                    for i in range(TILE):
                        products[i] += p0 * tiles[tile, width - 1, i]
                for i in range(TILE):
                    c = products[i]
                    low[i] = c if c < low[i] else low[i]
                    high[i] = c if c > high[i] else high[i]
                    c = least_cosine if c < least_cosine else c
                    tiles[tile, width + 1, i] = c
                    x = 1.0 + c
                    y = (
                        (((((a0 * x + a1) * x + a2) * x + a3) * x + a4) * x + a5) * x + a6
                    ) * x + a7
                    z = (
                        ((((((x + b0) * x + b1) * x + b2) * x + b3) * x + b4) * x + b5) * x + b6
                    ) * x + b7
                    over[i], under[i] = y, z
                for step in range(8, degree, 4):
                    p0, p1 = coefficients[chosen, 0, step], coefficients[chosen, 0, step + 1]
                    p2, p3 = coefficients[chosen, 0, step + 2], coefficients[chosen, 0, step + 3]
                    q0, q1 = coefficients[chosen, 1, step], coefficients[chosen, 1, step + 1]
                    q2, q3 = coefficients[chosen, 1, step + 2], coefficients[chosen, 1, step + 3]
                    for i in range(TILE):
                        x = 1.0 + tiles[tile, width + 1, i]
                        over[i] = (((over[i] * x + p0) * x + p1) * x + p2) * x + p3
                        under[i] = (((under[i] * x + q0) * x + q1) * x + q2) * x + q3
                for i in range(TILE):
                    tiles[tile, width + 2, i] = tiles[tile, width, i] * (over[i] / under[i])
                for j in range(width):
                    for i in range(LANES):
                        one = (
                            tiles[tile, width + 2, i] * tiles[tile, j, i]
                            + tiles[tile, width + 2, LANES + i] * tiles[tile, j, LANES + i]
                        )
                        two = (
                            tiles[tile, width + 2, 2 * LANES + i] * tiles[tile, j, 2 * LANES + i]
                            + tiles[tile, width + 2, 3 * LANES + i] * tiles[tile, j, 3 * LANES + i]
                        )
                        three = (
                            tiles[tile, width + 2, 4 * LANES + i] * tiles[tile, j, 4 * LANES + i]
                            + tiles[tile, width + 2, 5 * LANES + i] * tiles[tile, j, 5 * LANES + i]
                        )
                        four = (
                            tiles[tile, width + 2, 6 * LANES + i] * tiles[tile, j, 6 * LANES + i]
                            + tiles[tile, width + 2, 7 * LANES + i] * tiles[tile, j, 7 * LANES + i]
                        )
                        sums[j, i] += (one + two) + (three + four)
            for j in range(width):
                for i in range(LANES):
                    sums_of_runs[j, i] += sums[j, i]
        found[3], found[4] = low[0], high[0]
        for i in range(TILE):
            found[3], found[4] = min(found[3], low[i]), max(found[4], high[i])
        nearest, farthest = 1.0 + max(found[3], least_cosine), 1.0 + found[4]
        if not (limits[chosen, 0] <= nearest and farthest <= limits[chosen, 1]):
            before, chosen = chosen, -1
            for each in range(len(degrees)):
                if chosen < 0 and (limits[each, 0] <= nearest and farthest <= limits[each, 1]):
                    chosen = each
            if chosen < 0 or chosen == before:
                return
            continue
        found[6] = chosen
        # the gradient of -F
        mean_a = 0.0
        for j in range(width):
            gradient[j] = 0.0
            for i in range(LANES):
                gradient[j] += sums_of_runs[j, i]
            gradient[j] *= k / weight
            mean_a += gradient[j] * signs[j] * point[j]
        along = 0.0
        for j in range(width):
            gradient[j] -= mean_a * point[j]
            along += gradient[j] * signs[j] * point[j]
        square = 0.0
        for j in range(width):
            gradient[j] -= along * point[j]  # the rounding of the loop before
        if spherical:
            for j in range(width):
                square += gradient[j] * gradient[j]
        else:  # from coordinates, where nothing cancels
            slope = gradient[0] / (1.0 + point[0])
            for j in range(1, width):
                square += (gradient[j] - point[j] * slope) ** 2
        size = math.sqrt(square)
        found[1], found[2] = size, mean_a
        if size <= goal * min(1.0, mean_a):
            found[0] = 1.0
            return
        if not size <= 0.5 * last:
            return
        last = size
        # Newton's equation; near the end the Hessian is as good as a number, if it was before
        least = size * min(0.1, 0.01 * size)
        least = max(least, min(0.1 * size, enough))
        share = sign * k * k / weight
        for j in range(width):
            direction[j], residual[j], search[j] = 0.0, gradient[j], gradient[j]
        products_left = _PRODUCTS
        if uneven * size <= 0.25 * goal:
            products_left = 0
            for j in range(width):
                direction[j] = gradient[j] / stiffness
        fresh = True
        for _ in range(products_left):
            for j in range(width):
                scaled[j] = share * signs[j] * search[j]
            sums_of_runs[:] = 0.0
            for run in range(0, count, RUN):
                sums[:] = 0.0
                for tile in range(run, min(run + RUN, count)):
                    q0, q1 = scaled[0], scaled[1]
                    for i in range(TILE):
                        over[i] = q0 * tiles[tile, 0, i] + q1 * tiles[tile, 1, i]
                    for j in range(2, width - 1, 2):
                        p0, p1 = scaled[j], scaled[j + 1]
                        for i in range(TILE):
                            over[i] += p0 * tiles[tile, j, i] + p1 * tiles[tile, j + 1, i]
                    if width % 2:
                        p0 = scaled[width - 1]
                        for i in range(TILE):
                            over[i] += p0 * tiles[tile, width - 1, i]
                    if fresh:  # what the Hessian makes of w
                        for i in range(TILE):
                            c = tiles[tile, width + 1, i]
                            across = tiles[tile, width, i] - tiles[tile, width + 2, i] * c
                            tiles[tile, width + 2, i] = across / (sign * (floor - c * c))
                    for i in range(TILE):
                        over[i] *= tiles[tile, width + 2, i]
                    for j in range(width):
                        for i in range(LANES):
                            one = (
                                over[i] * tiles[tile, j, i]
                                + over[LANES + i] * tiles[tile, j, LANES + i]
                            )
                            two = (
                                over[2 * LANES + i] * tiles[tile, j, 2 * LANES + i]
                                + over[3 * LANES + i] * tiles[tile, j, 3 * LANES + i]
                            )
                            three = (
                                over[4 * LANES + i] * tiles[tile, j, 4 * LANES + i]
                                + over[5 * LANES + i] * tiles[tile, j, 5 * LANES + i]
                            )
                            four = (
                                over[6 * LANES + i] * tiles[tile, j, 6 * LANES + i]
                                + over[7 * LANES + i] * tiles[tile, j, 7 * LANES + i]
                            )
                            sums[j, i] += (one + two) + (three + four)
                for j in range(width):
                    for i in range(LANES):
                        sums_of_runs[j, i] += sums[j, i]
            for j in range(width):
                image[j] = 0.0
                for i in range(LANES):
                    image[j] += sums_of_runs[j, i]
            for _ in range(2):  # the second time removes the rounding of the first
                along = 0.0
                for j in range(width):
                    along += image[j] * signs[j] * point[j]
                for j in range(width):
                    image[j] -= along * point[j]
            bend = 0.0
            for j in range(width):
                image[j] += mean_a * search[j]
                bend += sign * search[j] * signs[j] * image[j]
            if not bend > 0.0:
                return
            if width == 3:
                # The trace is known, so Cayley and Hamilton give the inverse of the Hessian.
                trace, length = 1.0 + mean_a, 0.0
                for j in range(width):
                    length += sign * image[j] * signs[j] * image[j]
                determinant = trace * bend - length
                if trace > 0.0 and determinant > 0.0:
                    for j in range(width):
                        direction[j] = (square / determinant) * (trace * search[j] - image[j])
                    break
            step_length = square / bend
            before_square = square
            if fresh:
                stiffness = bend / square
            square = 0.0
            for j in range(width):
                direction[j] += step_length * search[j]
                residual[j] -= step_length * image[j]
                square += sign * residual[j] * signs[j] * residual[j]
            if fresh:
                uneven = math.sqrt(max(square, 0.0) / before_square)
            fresh = False
            if square <= least * least:
                break
            for j in range(width):
                search[j] = residual[j] + (square / before_square) * search[j]
        # the exponential
        square = 0.0
        if spherical:
            for j in range(width):
                square += direction[j] * direction[j]
        else:
            slope = direction[0] / (1.0 + point[0])
            for j in range(1, width):
                square += (direction[j] - point[j] * slope) ** 2
        angle = max(math.sqrt(square), _TINY)
        if not angle < _LONGEST:
            return
        even = math.cos(angle) if spherical else math.cosh(angle)
        odd = (math.sin(angle) if spherical else math.sinh(angle)) / angle
        square = 0.0 if spherical else 1.0
        for j in range(width):
            point[j] = even * point[j] + odd * direction[j]
            if spherical or j > 0:
                square += point[j] * point[j]
        if spherical:
            for j in range(width):
                point[j] /= math.sqrt(square)
        else:
            point[0] = math.sqrt(square)
        for j in range(width):
            scaled[j] = k * signs[j] * point[j]
