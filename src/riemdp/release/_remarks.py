"""What to say of a release: a few lines for a reader, and what the value itself gives away."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp._described import value_rows
from riemdp._errors import UnsupportedError
from riemdp.privacy._adjacency import REPLACE_ONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball, Manifold
    from riemdp.release._release import Release

#: Rounding of a distance, relatively.
_NEAR = 1e-9
#: Share of the radius from the boundary that counts as close to it, at most.
_MOST = 0.25
#: Cosine from which a value counts as lying where another unit would put it.
_ALONG = 0.9


def at_the_boundary(release: Release) -> str:
    """Say that a value lies no farther from the boundary of its ball than noise is long.

    A function of the released value and of public numbers. Empty where it does not, of means of
    several factors, and of values that are no points.
    """
    ball = release.statistic.range(release.ball)
    if release.shrunk or not release.statistic.projects or ball.is_whole or _is_many(ball):
        return ""
    seen = ball.manifold.coordinates(ball.center, release.value)
    far = float(np.linalg.norm(seen))
    noise = error_of(release)
    if not far >= ball.reach * (1.0 - _NEAR) - min(noise, _MOST * ball.reach):
        return ""
    return (
        f"the value lies {far:.3g} from the centre of a ball of radius {ball.reach:.3g}, at its "
        "boundary: records may lie outside, so look at the centre, the radius and the units"
        f"{_units(ball.manifold, seen / far)}"
    )


def _units(manifold: Manifold, direction: NDArray[np.float64]) -> str:
    """Say which units records may be in, from the direction in which the value lies."""
    found = f" ({manifold.other_units})" if manifold.other_units else ""
    if (axis := manifold.scale_axis) is None:
        return found
    along = float(direction @ axis)
    if abs(along) < _ALONG:
        return found
    than = "larger" if along > 0.0 else "smaller"
    return f"{found}; it is the centre with all entries {than} alike, as in another unit"


def _is_many(ball: Ball) -> bool:
    return len(ball.manifold.factors) > 1


def is_noise(release: Release) -> str:
    """Say that noise is longer than the radius of the ball; else empty."""
    noise, reach = error_of(release), release.statistic.range(release.ball).reach
    if release.shrunk or not noise > reach:
        return ""
    return (
        f"this release is noise: {noise:.3g} of it are expected in a ball of radius {reach:.3g}; "
        "more records, a larger budget or a smaller ball are needed"
    )


def error_of(release: Release) -> float:
    """Return the expected distance, NaN where it is not known."""
    try:
        return release.expected_distance
    except UnsupportedError:
        return math.nan


def rows_of(release: Release) -> list[tuple[str, str]]:
    """Return what a reader wants to know first, as names and texts."""
    ball = release.ball
    who = release.neighbours.title
    n = "private" if release.n is None else f"{release.n:,}"
    noise = error_of(release)
    rows = [
        *value_rows(release.value),
        ("guarantee", f"{release.guarantee.under(REPLACE_ONE)}, {who}"),
        ("space", f"{ball.manifold}, {_size(ball)}"),
        ("n", n),
        ("mechanism", f"{release.mechanism.name}, noise scale {release.sigma:.4g}"),
    ]
    if not math.isnan(noise):
        units = release.statistic.range(ball).manifold.in_units(noise)
        said = f"{noise:.4g} expected{units and f' ({units})'}, without the bias of clipping"
        rows.append(("noise", said))
    rows += [
        ("private", "yes" if release.private else "NO: the noise was seeded"),
        ("proved", "yes" if release.proven else "NO"),
        ("arithmetic", "exact" if release.numerical_delta == 0.0 else "float64"),
    ]
    return rows + [("warning", text) for text in release.warnings]


def _size(ball: Ball) -> str:
    return "the whole of it" if ball.is_whole else f"ball of radius {ball.radius:.4g}"
