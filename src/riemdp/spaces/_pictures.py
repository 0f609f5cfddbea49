"""Pictures of a point and of what lies at a distance from it: a globe, and ellipses."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._plots import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from riemdp.spaces._manifold import Manifold
    from riemdp.spaces._points import FloatArray

_TURN = np.linspace(0.0, 2.0 * math.pi, 361)
#: Of the meridians and parallels of a globe.
_STEP = np.radians(30.0)
_CIRCLE = np.stack([np.cos(_TURN), np.sin(_TURN)])
#: Sizes of matrices that have a picture, each with the coordinates that ellipses are drawn in.
_PLANES = {2: ((0, 1),), 3: ((0, 1), (0, 2), (1, 2))}
#: Places of the three shadows of an ellipsoid, in shares of the whole: the first coordinate goes to
#: the right in both pictures on the left, the third one up in both at the top.
_LEGEND = (0.62, 0.15)
_PLACES = ((0.08, 0.0, 0.42, 0.4), (0.08, 0.55, 0.42, 0.4), (0.58, 0.55, 0.42, 0.4))


def draw_on_globe(ax: Any, point: FloatArray, angle: float) -> Any:
    """Draw a unit vector ``(3,)``, and those at an angle (in radians) from it, on a globe.

    It is seen from far away, from the point's own meridian and half its latitude, the last
    coordinate up. The angle 0 is for the point alone.
    """
    view = _view(point)
    ax.plot(*_CIRCLE, color=GREY, linewidth=1.0)
    for circle in _graticule():
        ax.plot(*_seen(view, circle), color="0.85", linewidth=0.7, zorder=0)
    if angle > 0.0:
        _region(ax, view, point, min(angle, math.pi))
    ax.plot(*(view[:2] @ point)[:, None], "o", color=BLUE, markersize=4, label="released")
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def _view(point: FloatArray) -> FloatArray:
    """Return unit vectors to the right, up and towards the eye, shape (3, 3)."""
    east = math.atan2(point[1], point[0])
    north = 0.5 * math.asin(min(max(float(point[2]), -1.0), 1.0))
    right = [-math.sin(east), math.cos(east), 0.0]
    eye = [math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)]
    return np.array([right, np.cross(eye, right), eye])


def _graticule() -> list[FloatArray]:
    """Return meridians and parallels, of shape (3, K) each."""
    meridians = [
        np.stack([np.cos(_TURN) * math.cos(a), np.cos(_TURN) * math.sin(a), np.sin(_TURN)])
        for a in _STEP * np.arange(6)
    ]
    parallels = [
        np.stack([*(math.cos(a) * _CIRCLE), np.full_like(_TURN, math.sin(a))])
        for a in _STEP * np.arange(-2, 3)
    ]
    return meridians + parallels


def _seen(view: FloatArray, points: FloatArray) -> FloatArray:
    """Return where points are seen, shape (2, K); NaN for those behind."""
    right, up, towards = view @ points
    return np.where(towards >= 0.0, np.stack([right, up]), np.nan)


def _region(ax: Any, view: FloatArray, point: FloatArray, angle: float) -> None:
    """Draw a cap and its boundary."""
    across = np.linalg.svd(point[None])[2][1:]  # two unit vectors orthogonal to the point
    circle = math.cos(angle) * point[:, None] + math.sin(angle) * across.T @ _CIRCLE
    ax.plot(*_seen(view, circle), color=ORANGE, linewidth=1.2, label="at the distance")
    if angle <= 0.5 * math.pi:  # what is hidden ends at the limb
        right, up, towards = view @ circle
        outer = np.where(towards < 0.0, np.hypot(right, up), 1.0)
        ax.fill(right / outer, up / outer, color=ORANGE, alpha=0.25, linewidth=0.0)
        return
    grid = np.linspace(-1.0, 1.0, 301)
    right, up = np.meshgrid(grid, grid)
    depth = np.sqrt(np.maximum(1.0 - right**2 - up**2, 0.0))
    cosine = np.einsum("i,ij,jkl->kl", point, view.T, np.stack([right, up, depth]))
    inside = np.where(right**2 + up**2 <= 1.0, cosine, np.nan)
    ax.contourf(right, up, inside, levels=[math.cos(angle), 2.0], colors=[ORANGE], alpha=0.25)


def draw_ellipses(ax: Any, space: Manifold, point: FloatArray, radius: float) -> Any:
    """Draw a positive definite matrix, and matrices at a distance from it, as ellipses.

    The matrix P is the ellipse ``x' P^-1 x = 1``, as that of a covariance is at one standard
    deviation. An ellipsoid is drawn as its shadows on the three coordinate planes, which are the
    ellipses of the 2 x 2 blocks of P. Thin ones are those of matrices at the distance, in
    directions that depend on nothing; the radius 0 is for the matrix alone. None unless the size is
    2 or 3.
    """
    planes = _PLANES.get(len(point))
    if planes is None:
        return None
    around = space.point(point, radius * _directions(space.dim)) if radius > 0.0 else point[:0]
    matrices = np.concatenate([point[None], around.reshape(-1, *point.shape)])
    room = 1.08 * math.sqrt(float(np.max(np.diagonal(matrices, axis1=-2, axis2=-1))))
    several = len(planes) > 1
    if several:
        ax.axis("off")
    places = [ax.inset_axes(place) for place in _PLACES] if several else [ax]
    for place, (i, j) in zip(places, planes, strict=True):
        shadows = matrices[:, [i, j]][:, :, [i, j]]
        outlines = np.linalg.cholesky(shadows) @ _CIRCLE
        broken = np.concatenate([outlines[1:], np.full((len(around), 2, 1), np.nan)], axis=-1)
        thin = broken.transpose(1, 0, 2).reshape(2, -1)
        place.plot(*thin, color=ORANGE, linewidth=0.5, alpha=0.5, label="at the distance")
        place.plot(*outlines[0], color=BLUE, linewidth=1.2, label="released")
        place.set(xlabel=f"coordinate {i + 1}", ylabel=f"coordinate {j + 1}", aspect="equal")
        place.set(xlim=(-room, room), ylim=(-room, room))
    if several:
        ax.legend(handles=places[0].lines, loc=_LEGEND, fontsize="small", frameon=False)
    return ax


def _directions(dim: int) -> FloatArray:
    """Return unit vectors with one or two entries that are not zero, shape (K, dim)."""
    one = np.eye(dim)
    two = [
        (first + sign * second) / math.sqrt(2.0)
        for first, second in itertools.combinations(one, 2)
        for sign in (1.0, -1.0)
    ]
    half = np.concatenate([one, np.reshape(two, (-1, dim))])
    return np.concatenate([half, -half])
