"""A radius from public points: what clipping costs, and what noise does."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, positive
from riemdp._described import Described
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    UnprovenMechanismError,
    UnsupportedError,
)
from riemdp._keywords import with_advice
from riemdp._progress import ticks, work
from riemdp.privacy import check_budget
from riemdp.release._least_error import least_error
from riemdp.release._offer import Terms, expected_distance, wanted_mean
from riemdp.release._options import relation
from riemdp.release._plan_pictures import draw_advice
from riemdp.release._table import Table
from riemdp.spaces import Ball, check_manifold, clip_norm
from riemdp.statistics import TangentMean, check_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget
    from riemdp.release._offer import Offer
    from riemdp.release._options import Adjacency
    from riemdp.spaces import FloatArray, Manifold


# How far clipping to a ball moves a mean, as public points tell.

#: Points under which the variance of their mean is not known.
_MANY = 30
#: Points that are looked at: more change no digit that is shown, and on curved spaces take long.
_MOST, _MOST_CURVED = 10_000, 1_000


@dataclass(frozen=True, eq=False)
class ClippingBias:
    """The records that public points suggest, about means that lie off the centre.

    A record is supposed at ``exp(t, c)`` for each point of normal coordinates c, shape (n, dim),
    about the centre, the mean of the public points, and each of the shifts, shape (K, dim), that
    leads from the centre to a point t. Since the c have mean 0, t is the Frechet mean of these
    records, wherever it is unique.
    """

    manifold: Manifold
    center: FloatArray
    coordinates: FloatArray
    shifts: FloatArray
    _means: FloatArray = field(init=False)
    _records: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        flat = self._is_flat
        most = _MOST if flat else _MOST_CURVED
        given = self.coordinates
        few = given[np.linspace(0, len(given) - 1, min(most, len(given))).astype(int)]
        few = few - few.mean(axis=0)
        object.__setattr__(self, "coordinates", few)
        means = self.manifold.point(self.center, self.shifts)
        records = [few + shift for shift in self.shifts]
        if not flat:
            records = [
                self.manifold.coordinates(self.center, self.manifold.point(mean, few))
                for mean in means
            ]
        object.__setattr__(self, "_means", means)
        object.__setattr__(self, "_records", np.stack(records))

    @property
    def _is_flat(self) -> bool:
        return self.manifold.constant_curvature == 0.0

    def at(self, radius: float, *, in_tangent_space: bool) -> float:
        """Return the bias: the root mean square, over shifts, of how far the mean lies off.

        Of that of the points' law: what the finite number of points adds to the square on average,
        the variance of a mean, is taken off where they are many enough to know it.

        With ``in_tangent_space`` the mean is that of coordinates about the centre. On a curved
        space it lies off the Frechet mean though nothing be clipped.
        """
        squares = []
        for mean, records in zip(self._means, self._records, strict=True):
            short = clip_norm(records, radius)
            moves = short - records
            off = moves.mean(axis=0)
            if not self._is_flat and in_tangent_space:
                point = self.manifold.point(self.center, short.mean(axis=0))
                off = self.manifold.coordinates(mean, point)
            elif self.manifold.curvature_bound > 0.0:
                off = self._pull(mean, records, short)
            squares.append(float(np.sum(off**2)) - self._of_mean(moves))
        return math.sqrt(max(0.0, math.fsum(squares) / len(squares)))

    def _pull(self, mean: FloatArray, records: FloatArray, short: FloatArray) -> FloatArray:
        """Return the mean of clipped records in normal coordinates about the mean of all."""
        far = np.any(records != short, axis=1)
        if not far.any():
            return np.zeros(records.shape[1])
        clipped = self.manifold.point(self.center, short[far])
        moves = self.manifold.coordinates(mean, clipped) - self.coordinates[far]
        pull: FloatArray = moves.sum(axis=0) / len(records)
        return pull

    @staticmethod
    def _of_mean(moves: FloatArray) -> float:
        n = len(moves)
        return float(np.sum(moves.var(axis=0, ddof=1))) / n if n >= _MANY else 0.0


# Advice about a public ball, from public points.

#: Radii that are compared, and the least of them as a share of the median distance.
_RADII, _LEAST = 13, 0.2
#: Share of the root mean square distance by which the private mean may lie off the public one,
#: where nobody says.
_SHIFT = 0.5
#: Points that a first centre is chosen among, and directions that the private mean may lie in.
_FEW, _DIRECTIONS = 200, 16
_STEPS = 100
#: Share of the shift from which on an error is hardly better than no release.
_AS_GOOD = 0.9
#: Public points under which the tail of their distances is hardly known.

_COLUMNS = ("radius", "clipped", "bias", "noise", "error")


@dataclass(frozen=True)
class RadiusRow(Described):
    """What to expect of a release on a ball of one radius.

    Attributes
    ----------
    radius : float
        In units of geodesic distance, as all that follows but ``clipped``.
    clipped : float
        Share of the public points that lie farther from the centre.
    bias : float
        Root mean square distance between the mean that is released of clipped records and the
        Frechet mean of all, if private records lie as the public points do, about a mean that is
        ``shift`` off the centre.
    noise : float
        Expected distance that noise adds with the mechanism that ``"auto"`` takes.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> public = np.random.default_rng(0).normal(size=(500, 3))
    >>> row = riemdp.advise_ball(public, 2000, riemdp.GDP(1.0), manifold=riemdp.Euclidean(3)).best
    >>> round(row.radius, 2), round(row.clipped, 3), f"{row.noise:.4f}"
    (3.86, 0.002, '0.0062')
    """

    radius: float
    clipped: float
    bias: float
    noise: float

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        numbers = {"bias": self.bias, "noise": self.noise, "both together": self.error}
        rows = [("clipped", f"{self.clipped:.1%}")]
        return f"Ball of radius {self.radius:.4g}", rows + [
            (name, f"{value:.4g}") for name, value in numbers.items()
        ]

    @property
    def error(self) -> float:
        """Both together: the root of the sum of their squares."""
        return math.hypot(self.bias, self.noise)


@dataclass(frozen=True)
class BallAdvice(Table):
    """A public ball for one n and budget, and the radii that it was chosen among.

    Attributes
    ----------
    ball : Ball
        About the mean of the public points, of the radius with the least error.
    n : int
    budget : Budget
    shift : float
        How far the private mean was supposed to lie off the centre.
    points : int
        Number of public points.
    rows : tuple of RadiusRow
        By radius.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> public = np.random.default_rng(0).normal(size=(500, 3))
    >>> advice = riemdp.advise_ball(public, 2000, riemdp.GDP(1.0), manifold=riemdp.Euclidean(3))
    >>> advice.points, round(advice.ball.radius, 2), advice.best.radius == advice.ball.radius
    (500, 3.86, True)
    """

    ball: Ball
    n: int
    budget: Budget
    shift: float
    points: int
    rows: tuple[RadiusRow, ...]

    @property
    def best(self) -> RadiusRow:
        """Row of the radius that is advised."""
        return min(self.rows, key=lambda row: row.error)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what the numbers rest on."""
        found = [
            f"bias supposes a private mean {self.shift:.3g} off the centre, with records spread as "
            "the public points are"
        ]
        if units := self.ball.manifold.in_units(self.best.error):
            found.append(f"error {self.best.error:.3g}: {units}")
        if self.best.error >= _AS_GOOD * self.shift:
            found.append(
                "the public centre alone is about as good an estimate at this n and budget: more "
                "records or a larger budget are needed for the release to tell anything"
            )
        elif self.best == self.rows[-1]:
            found.append("no larger radius was compared: none is available, or it clips no point")
        if self.points < _MANY:
            found.append(f"{self.points} public points say little about how far records may lie")
        return tuple(found)

    def _table(self) -> tuple[str, list[list[str]], tuple[str, ...]]:
        at = f"{self.ball.manifold}, n = {self.n}, {self.budget}"
        lines = [[*_COLUMNS, ""], *map(self._cells, self.rows)]
        return f"{at}: radius {self.best.radius:.4g}", lines, self.notes

    def _cells(self, row: RadiusRow) -> list[str]:
        numbers = (row.bias, row.noise, row.error)
        cells = [f"{row.radius:.4g}", f"{row.clipped:.1%}", *(f"{x:.3g}" for x in numbers)]
        return [*cells, "<- advised"] if row == self.best else cells

    def _records(self) -> list[dict[str, Any]]:
        return [{**vars(row), "error": row.error} for row in self.rows]

    def __str__(self) -> str:
        title, lines, notes = self._table()
        widths = (10, 7, 9, 9, 9, 0)
        text = ("  ".join(map(str.rjust, line, widths)).rstrip() for line in lines)
        return "\n".join([title, *text, *notes])

    def plot(self, ax: Any = None) -> Any:
        """Draw bias of clipping, noise, and both together against the radius.

        On ``ax``, or on new ``matplotlib.axes.Axes``, which are returned.
        See :meth:`riemdp.Plan.plot`.
        """
        return draw_advice(self, ax)


@with_advice
@work("advise_ball")
def advise_ball(
    points: ArrayLike,
    n: int,
    budget: Budget,
    *,
    manifold: Manifold,
    shift: float | None = None,
    adjacency: Adjacency | None = None,
) -> BallAdvice:
    r"""Choose the ball that balances clipping against noise, from public points alone.

    A small ball clips records, which moves their mean; a large one needs more noise. Which radius
    is best depends on n and the budget: with little of both it is well under the distance that
    holds 95 % of the points.

    **The points must be public**: those of another study, of phantoms or of a simulator. A ball
    that was computed from the private records leaks them, whatever the noise; for these there is
    :func:`riemdp.private_ball`.

    Parameters
    ----------
    points : array_like, shape (m, \*point_shape)
        Public points, m >= 2, of the kind that the private records are.
    n : int
        Number of private records. Where it is private, one that is supposed.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the release.
    manifold : Manifold
        Space of the points.
    shift : float, optional
        A guess of how far the mean of the private records lies from that of the public points, in
        units of geodesic distance; half the root mean square distance of the points from their
        mean, by default.
    adjacency : {"replace-one", "add-remove"}, optional
        As in :func:`riemdp.private_mean`.

    Returns
    -------
    BallAdvice
        With ``ball``. Its text is a table.

    Raises
    ------
    NotOnManifoldError
        If there are fewer than two points, they have the wrong shape, a row is not on the manifold,
        or all are the same.
    InvalidParameterError
        If n is not a positive integer, or the shift not positive and finite, or longer than the
        space is wide.
    UnsupportedError
        If no radius is available for this budget.

    References
    ----------
    The noise is that of :func:`riemdp.plan`. The bias is the distance between the Frechet mean t
    of records ``exp(t, c)``, with c the coordinates of the points about their mean, and the mean
    that is released of the same records after clipping, in root mean square over several t. So
    that of a tangent mean on a sphere, which lies off the Frechet mean without any clipping, has
    a share that does not vanish with the radius. On curved spaces 1000 points are looked at, and
    on nonpositively curved ones a Frechet mean moves as coordinates about the centre do. It is an
    estimate that no guarantee rests on.

    Examples
    --------
    >>> import numpy as np, riemdp
    >>> points = np.random.default_rng(0).normal(size=(500, 3))
    >>> advice = riemdp.advise_ball(points, 2000, riemdp.GDP(1.0), manifold=riemdp.Euclidean(3))
    >>> advice.best.clipped < 0.05
    True
    >>> release = riemdp.private_mean(points + 0.1, advice.ball, riemdp.GDP(1.0))
    """
    check_manifold(manifold)
    check_budget(budget)
    n = count(n, "n, the number of private records,")
    data = manifold.validate(points)
    check_rows(data, manifold)
    if len(data) < 2:
        raise NotOnManifoldError("one public point says nothing of a radius: give several")
    center = _center(manifold, data)
    coordinates = manifold.coordinates(center, data)
    distances = np.linalg.norm(coordinates, axis=-1)
    if not distances.max() > 2.0 * manifold.rounding(center, float(distances.max())):
        raise NotOnManifoldError("the public points are all the same: there is no radius to choose")
    scale = float(np.sqrt(np.mean(distances**2)))
    off = _SHIFT * scale if shift is None else positive(shift, "shift, a distance,")
    if off > manifold.diameter:
        raise InvalidParameterError(
            f"shift {off:.6g} is longer than any distance in {manifold}, {manifold.diameter:.6g}"
        )
    bias = ClippingBias(manifold, center, coordinates, off * _directions(coordinates))
    neighbours = relation(adjacency, budget, has_users=False)
    asked = budget.under(neighbours.adjacency)
    rows: list[RadiusRow] = []
    problem: UnsupportedError | None = None
    # up to one that clips no public point, were it shifted
    least, most = _LEAST * float(np.median(distances[distances > 0.0])), distances.max() + off
    radii = np.geomspace(least, most, _RADII).tolist()
    for radius in ticks(radii, len(radii), "radii"):
        try:
            ball = Ball(manifold, center, radius)
            best = _best(Terms(ball, n, asked, neighbours))
        except NotAttainableError:
            continue
        except UnsupportedError as error:
            problem = error
            continue
        noise = expected_distance(best)
        if noise is None:
            continue
        in_tangent_space = best.statistic.name == TangentMean.name
        clipped = float(np.mean(distances > radius))
        moved = bias.at(radius, in_tangent_space=in_tangent_space)
        rows.append(RadiusRow(radius, clipped, moved, noise))
    if not rows:
        raise problem or UnsupportedError(
            f"no mechanism satisfies {budget} on {manifold} at any radius; see riemdp.plan"
        )
    radius = min(rows, key=lambda row: row.error).radius
    return BallAdvice(Ball(manifold, center, radius), n, budget, off, len(data), tuple(rows))


def _best(terms: Terms) -> Offer:
    """Return what ``"auto"`` takes; where nothing is proved, with ``allow_unproven=True``."""
    try:
        return least_error(wanted_mean, terms)[0]
    except UnprovenMechanismError:
        return least_error(wanted_mean, terms, allow_unproven=True)[0]


def _center(manifold: Manifold, data: FloatArray) -> FloatArray:
    """Mean of points, where the space has one: a fixed point of means in tangent spaces."""
    few = data[np.linspace(0, len(data) - 1, min(_FEW, len(data))).astype(int)]
    sums = [float(np.sum(manifold.dist(point, few))) for point in few]
    center: FloatArray = few[int(np.argmin(sums))]
    for _ in range(_STEPS):
        step = manifold.coordinates(center, data).mean(axis=0)
        center = manifold.validate(manifold.point(center, step))
        if np.linalg.norm(step) <= 1e-9:
            break
    return center


def _directions(coordinates: FloatArray) -> FloatArray:
    """Return unit vectors in which points lie, and their opposites, shape (K, dim)."""
    lengths = np.linalg.norm(coordinates, axis=-1)
    found = np.flatnonzero(lengths > 0.0)
    few = found[np.linspace(0, len(found) - 1, min(_DIRECTIONS // 2, len(found))).astype(int)]
    units = coordinates[few] / lengths[few, None]
    return np.concatenate([units, -units])
