"""What must hold of a manifold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp import Ball, NotOnManifoldError
from riemdp.testing._tools import (
    ROUNDING,
    available,
    coordinates_in_ball,
    points_in_ball,
    refuses,
    require,
    require_close,
    working_radius,
)

if TYPE_CHECKING:
    from riemdp.spaces import FloatArray, Manifold

_SIZE = 40


def shapes(manifold: Manifold) -> None:
    """Check that every operation returns the shape it should."""
    require(manifold.dim >= 1, "dim is at least 1")
    origin = np.asarray(manifold.origin)
    require(origin.shape == manifold.point_shape, "the origin has shape point_shape")
    require_close(manifold.validate(origin), origin, "the origin is on the manifold")
    points = points_in_ball(manifold, 6, working_radius(manifold)).reshape(
        2, 3, *manifold.point_shape
    )
    vectors = manifold.log(origin, points)
    shape = manifold.point_shape
    for name, found, wanted in (
        ("log", vectors, (2, 3, *manifold.tangent_shape)),
        ("exp", manifold.exp(origin, vectors), (2, 3, *shape)),
        ("dist", manifold.dist(origin, points), (2, 3)),
        (
            "tangent_coordinates",
            manifold.tangent_coordinates(origin, vectors),
            (2, 3, manifold.dim),
        ),
        ("coordinates", manifold.coordinates(origin, points), (2, 3, manifold.dim)),
        ("validate", manifold.validate(points), (2, 3, *shape)),
    ):
        require(np.shape(found) == wanted, f"{name} returns shape {wanted}, not {np.shape(found)}")


def bad_points_are_refused(manifold: Manifold) -> None:
    """Check that ``validate`` takes the manifold's points, and nothing else."""
    shape = manifold.point_shape
    points = points_in_ball(manifold, _SIZE, working_radius(manifold))
    require_close(manifold.validate(points), points, "validate returns points as they are")
    for bad in (np.nan, np.inf):
        broken = points.copy()
        broken.reshape(_SIZE, -1)[3, 0] = bad
        refuses(
            NotOnManifoldError,
            lambda broken=broken: manifold.validate(broken),
            f"validate raises NotOnManifoldError for {bad}",
        )
    refuses(
        NotOnManifoldError,
        lambda: manifold.validate(np.zeros((2, *shape[:-1], shape[-1] + 1))),
        "validate raises NotOnManifoldError for a wrong shape",
    )


def points_come_back_as_written(manifold: Manifold) -> None:
    """Check that ``read`` takes what ``present`` gives, alone and in rows, and that it counts."""
    points = points_in_ball(manifold, _SIZE, working_radius(manifold))
    for rows in (points, points[0]):
        written = manifold.present(rows)
        found = manifold.read(written)
        require(
            found.shape == rows.shape and found.tobytes() == rows.tobytes(),
            "read gives back what present was given, bit by bit",
        )
        require_close(manifold.validate(written), rows, "validate takes what present gives")
        require(manifold.dist(written, rows) <= 1e-6, "dist takes what present gives")


def exp_inverts_log(manifold: Manifold) -> None:
    """Check that ``exp`` and ``log`` are inverse, and that ``log`` is as long as the distance."""
    radius = working_radius(manifold)
    points = points_in_ball(manifold, _SIZE, radius)
    bases = points_in_ball(manifold, _SIZE, radius, seed=1)
    vectors = manifold.log(bases, points)
    gap = manifold.dist(manifold.exp(bases, vectors), points)
    require(gap <= ROUNDING * radius, f"exp(base, log(base, x)) is x, not {gap.max():.3g} from it")
    require_close(
        manifold.norm(bases, vectors), manifold.dist(bases, points), "|log(a, b)| is dist(a, b)"
    )


def coordinates_are_orthonormal(manifold: Manifold) -> None:
    """Check that tangent coordinates are an isometry, whose inverse is ``tangent_vector``."""
    wanted = coordinates_in_ball(manifold, _SIZE, 1.0)
    bases = points_in_ball(manifold, _SIZE, working_radius(manifold), seed=1)
    vectors = manifold.tangent_vector(bases, wanted)
    found = manifold.tangent_coordinates(bases, vectors)
    require_close(found, wanted, "tangent_coordinates inverts tangent_vector")
    short = 1e-3 * working_radius(manifold)
    ends = manifold.exp(bases, manifold.tangent_vector(bases, short * wanted))
    length = short * np.linalg.norm(wanted, axis=-1)
    require_close(
        manifold.dist(bases, ends),
        length,
        "a short step is as long as its coordinates",
        scale=max(short, 0.1),
    )


def distances_are_a_metric(manifold: Manifold) -> None:
    """Check that ``dist`` is symmetric, 0 on the diagonal, and obeys the triangle inequality."""
    a, b, c = (points_in_ball(manifold, _SIZE, working_radius(manifold), seed=s) for s in range(3))
    require_close(manifold.dist(a, b), manifold.dist(b, a), "dist is symmetric")
    require(manifold.dist(a, a) <= 1e-6, "dist(a, a) is 0")
    detour = manifold.dist(a, b) + manifold.dist(b, c)
    require(manifold.dist(a, c) <= detour * (1.0 + ROUNDING), "dist obeys the triangle inequality")


def geodesics_are_shortest(manifold: Manifold) -> None:
    """Check that geodesics up to the injectivity radius, as far as they go, are shortest."""
    limit = manifold.room(manifold.origin)
    reach = 0.999 * limit if limit < math.inf else 2.0
    directions = coordinates_in_ball(manifold, _SIZE, 1.0)
    directions *= reach / np.linalg.norm(directions, axis=1, keepdims=True)
    origin = manifold.origin
    ends = manifold.exp(origin, manifold.tangent_vector(origin, directions))
    found = manifold.dist(origin, ends)
    require_close(found, np.full(_SIZE, reach), f"geodesics of length {reach:.4g} are shortest")


def curvature_is_bounded(manifold: Manifold) -> None:
    """Check that no small triangle is fatter than in the space of the stated curvature.

    The comparison theorem of Rauch and Alexandrov: the median of a triangle is at most as long as
    that of a triangle with the same sides in the model space, and as long where the curvature is
    constant.
    """
    radius = working_radius(manifold)
    apex, left, right = (points_in_ball(manifold, 200, radius, seed=s) for s in range(3))
    middle = manifold.exp(left, 0.5 * manifold.log(left, right))
    sides = [manifold.dist(left, right), manifold.dist(apex, left), manifold.dist(apex, right)]
    found = manifold.dist(apex, middle)
    bound = manifold.curvature_bound
    excess = float(np.max(found - _median(bound, *sides)))
    require(
        excess <= ROUNDING * radius,
        f"curvature_bound = {bound:g} bounds the curvature: a median is {excess:.3g} too long",
    )
    constant = manifold.constant_curvature
    if constant is not None and manifold.dim > 1:
        require_close(
            found, _median(constant, *sides), f"the curvature is {constant:g} everywhere", radius
        )


def _median(curvature: float, base: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Length of the median onto ``base`` in the plane of constant curvature."""
    if curvature == 0.0:
        return np.sqrt(np.maximum(0.5 * (b * b + c * c) - 0.25 * base * base, 0.0))
    root = math.sqrt(abs(curvature))
    if curvature > 0.0:
        cosine = (np.cos(root * b) + np.cos(root * c)) / (2.0 * np.cos(0.5 * root * base))
        return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)) / root)
    cosine = (np.cosh(root * b) + np.cosh(root * c)) / (2.0 * np.cosh(0.5 * root * base))
    return np.asarray(np.arccosh(np.maximum(cosine, 1.0)) / root)


def balls_clip(manifold: Manifold) -> None:
    """Check that a ball moves points outside to its boundary, and leaves others as they are."""
    radius = 0.5 * working_radius(manifold)
    ball = Ball(manifold, manifold.origin, radius)
    points = points_in_ball(manifold, _SIZE, 2.0 * radius)
    inside = manifold.dist(ball.center, points) <= radius * (1.0 - ROUNDING)
    found = ball.project(points)
    require(found[inside].tobytes() == points[inside].tobytes(), "points in a ball are not moved")
    require(ball.contains(found), "project moves points into the ball")
    wanted = np.minimum(manifold.dist(ball.center, points), radius)
    require_close(manifold.dist(ball.center, found), wanted, "points outside go to the boundary")
    lengths = np.linalg.norm(ball.coordinates(points), axis=-1)
    require(lengths <= radius * (1.0 + 1e-12), "coordinates in a ball are at most its radius long")
    require(
        manifold.dist(ball.point(ball.coordinates(points)), found) <= ROUNDING,
        "point inverts coordinates",
    )


def large_balls_work_or_are_refused(manifold: Manifold) -> None:
    """Check that a ball without room raises ``UnsupportedBallError``, and any other works."""
    points = points_in_ball(manifold, 3, working_radius(manifold))
    for radius in (manifold.injectivity_radius, 100.0, 1e300):
        if math.isinf(radius):
            continue
        with available():
            found = Ball(manifold, manifold.origin, radius).project(points)
            require(np.isfinite(found), f"a ball of radius {radius:.4g} is refused or works")


def records_are_independent(manifold: Manifold) -> None:
    """Check that what becomes of a record depends on that record alone, to the last bit."""
    radius = 0.5 * working_radius(manifold)
    ball = Ball(manifold, manifold.origin, radius)
    for size in (2, 7, 300):
        points = points_in_ball(manifold, size, 2.0 * radius)
        others = points.copy()
        others[size // 2] = ball.center
        for name, function in (
            ("validate", manifold.validate),
            ("project", ball.project),
            ("coordinates", ball.coordinates),
        ):
            one, two = (np.delete(function(rows), size // 2, axis=0) for rows in (points, others))
            require(
                one.tobytes() == two.tobytes(),
                f"{name} treats every record by itself: replacing row {size // 2} of {size} "
                "changed another row",
            )


def centres_broadcast(manifold: Manifold) -> None:
    """Check that several centres are treated as one after the other, as a power needs it."""
    radius = 0.5 * working_radius(manifold)
    centers, points = (points_in_ball(manifold, 5, radius, seed=s) for s in range(2))
    coordinates = coordinates_in_ball(manifold, 5, radius)
    for name, function, others in (
        ("coordinates", manifold.coordinates, points),
        ("point", manifold.point, coordinates),
    ):
        found = function(centers, others)
        single = [function(*pair) for pair in zip(centers, others, strict=True)]
        require_close(found, np.array(single), f"{name} takes several centres")
    # as a classifier asks for them
    distances = [[manifold.dist(center, point) for center in centers] for point in points]
    found = manifold.dist(centers, points[:, None])
    require_close(found, np.array(distances), "dist takes several centres")


CHECKS = (
    shapes,
    bad_points_are_refused,
    points_come_back_as_written,
    exp_inverts_log,
    coordinates_are_orthonormal,
    distances_are_a_metric,
    geodesics_are_shortest,
    curvature_is_bounded,
    balls_clip,
    large_balls_work_or_are_refused,
    records_are_independent,
    centres_broadcast,
)
