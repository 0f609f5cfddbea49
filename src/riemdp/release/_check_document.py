"""Release files checked from names and public numbers alone.

From the names in a document (space, statistic, adjacency, noise) and its public numbers this file
derives anew how far one record can move each answer, what the noise of that scale guarantees, and
the value that the released integers stand for. It holds these against what the document states. It
uses the maps of :mod:`riemdp.manifolds` and the curves of :mod:`riemdp.privacy`. It shares no code
with what made the release: not with statistics, mechanisms, samplers or releases. Derivations are
in docs/proofs, under the page that ``_PROOFS`` names for each part.

A statistic is a generator of queries (:class:`Query`): each says how many coordinates are asked
for, and how long a record's row is and can move. It is sent the noisy coordinates, and returns the
value. The sensitivity follows from the queries and the adjacency, see :func:`_sensitivity`; the
guarantee from sensitivity and noise, see :func:`_is_within`; the value is what the generator
returns.

Keys of a document that no number here depends on are in :data:`STATED`. Unknown keys fail.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from riemdp import _document, manifolds, privacy
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp.kernel import Choice, noise, within_budget
from riemdp.manifolds import Ball, Euclidean, Manifold, ball_proofs, clip_norm
from riemdp.privacy import GDP, ZCDP, Budget, PureDP
from riemdp.release._check_search import check_search

#: Keys that no check depends on: an edit of them passes.
STATED = {
    "reason": "text for readers; that a caller gave the scale, which then may be more than needed",
    "versions": "versions of what drew the release, of which the names are checked",
    "private": "whether the bits were secret, which no document can show",
    "expected_distance": "expected error: it needs the distribution of the noise",
    "error_quantile_95": "quantile of the error, as above",
    "anchor": "entry of a ledger, which the ledger verifies",
    "names": "names of groups",
    "classes": "labels, which rows alone depend on; their number is checked",
    "low, high, design": "covariates, which rows alone depend on; their number is checked",
}
#: Keys that are checked by what follows from them. An edit passes where nothing does.
FOLLOWED = {
    "projected": "where the draw lies in the ball",
    "rounded": "where the value does not follow an integer: of a spread that was clipped, of a "
    "draw out of the ball in one dimension, or of the number that such a draw is divided by; and "
    "within rounding of the value",
    "n": "where answers are sums, or public weights stand for it",
    "ball.center": "where the value is coordinates about it, or records are directions",
    "ball.radius, ball.radii": "of a product, where the other one is less; and of directions",
    "alpha, threshold, clip, eta, last, warm_share, weight": "where another length was less",
    "contribution": "where it is more than one: how many records a person counts for",
    "guarantee": "of two numbers the one that binds less: mu of MeanCDP, xi of ZCDP",
    "weighs": "where a row moves as far as it is long, and the number is one or more",
    "tol": "from 1e-9 of the sensitivity on: that the mean was certified to it is not checked",
    "share": "of a variance about a public centre, which has no first round",
    "search.axis": "where the search ends before it looks along an axis",
    "search.steps.place, search.steps.rounded": "answers of a search, where others lead to the "
    "same queries and the same ball",
    "neighbours.records": "of groups that move an answer across its whole ball",
}

#: Relative difference of sensitivities, and of other numbers, between two processors.
_SAME, _ELSEWHERE = 1e-12, 1e-9
#: What another processor may change in the cost of noise that was calibrated to the last digit.
_LAST_DIGITS = 1e-13
#: Share of a sensitivity by which noise may be more than its budget needs: of noise that is added
#: to coordinates, and of noise on curved spaces, whose scale is searched to four digits.
_FLAT_SLACK, _CURVED_SLACK = 1e-8, 5e-4
#: Relative difference of values, of one answer and of several.
_ONE_ANSWER, _SEVERAL = 1e-12, 1e-7
#: Multiple of the unit in the last place that every formula of a sensitivity is rounded up by.
_ROUNDING = 16.0 * sys.float_info.epsilon
#: Records that a sum is at most of, and answers of one release.
_MOST_RECORDS, _MOST_STEPS = 2.0**63, 100_000
#: Weight of a second moment that leaves the move of a vector of norm 1 at 2: under the root of
#: phi^5 / 4, see docs/proofs/noisy-steps.md.
_FREE = 1705 / 1024


class _ProblemError(InvalidParameterError):
    """What is stated is not what follows."""


def _require(holds: object, problem: str) -> None:
    if not holds:
        raise _ProblemError(problem)


# --- Names: spaces, balls, budgets, adjacencies ---------------------------------------------------

_BUDGETS = ("PureDP", "ApproxDP", "GDP", "ZCDP", "RDP", "KLDP", "MeanCDP", "RaoDP")
#: Spaces whose noise is that of another one, and spaces that are made of others.
_DISCRETE = {"ProjectiveSpace", "Rotations", "Torus"}
_QUOTIENTS = {"KendallShapes", "PlanarShapes", *_DISCRETE}
_PRODUCTS = {"CurvedPower", "FlatPower", "FlatProduct", "Product"}
#: Fields of adjacencies, by name.
_NEIGHBOURS: dict[str, set[str]] = {
    "replace-one": set(),
    "replace-point": set(),
    "groups": {"records"},
    "replace-user": {"contribution"},
    "add-remove": set(),
    "add-remove-user": {"contribution"},
}
#: Adjacencies that a search has.
_SEARCHED = ("replace-one", "replace-user", "add-remove", "add-remove-user")
#: Adjacencies that keep what is public of each place, and that which keeps labels too.
_PLACES, _PUBLIC = ("replace-one", "replace-point", "groups"), ("replace-point",)
#: Kind of noise, and whether its sensitivities are norms of coordinates about the centre.
_NOISES = {
    "riemannian-gaussian": ("gaussian", False),
    "riemannian-laplace": ("laplace", False),
    "tangent-gaussian": ("gaussian", True),
    "tangent-laplace": ("laplace", True),
    "wrapped-gaussian": ("gaussian", True),
    "wrapped-laplace": ("laplace", True),
}


def _name(document: Any, sort: str, known: Any) -> str:
    """Return the name of a part, which has to be a known one."""
    name = document.get("type") if isinstance(document, dict) else None
    _require(isinstance(name, str) and name in known, f"unknown {sort} {shown(name)}")
    return str(name)


def _named(document: Any, package: Any, sort: type, names: Any) -> Any:
    """Return the object of a class of a package that a document names."""
    name = _name(document, sort.__name__.lower(), names)
    kind = getattr(package, name)
    _require(isinstance(kind, type) and issubclass(kind, sort), f"{name} is none")
    own = {f.name for f in fields(kind) if f.init and f.metadata.get("written", True)}
    given = dict(_document.fields(document, own | {"type"}))
    del given["type"]
    return kind(**{key: _entry(key, each) for key, each in given.items()})


def _entry(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return _space(value)
    if isinstance(value, list):
        return tuple(_entry(name, each) for each in value)
    if isinstance(value, str):
        return math.inf if value == "infinity" else value
    return _document.number(value, name)


def _space(document: Any) -> Manifold:
    found: Manifold = _named(document, manifolds, Manifold, manifolds.__all__)
    return found


def _budget(document: Any) -> Budget:
    found: Budget = _named(document, privacy, Budget, _BUDGETS)
    return found


def _ball(space: Manifold, document: Any) -> Ball:
    given = _document.fields(document, {"center", "radius"}, {"radii"})
    center = np.asarray(_document.numbers(given["center"], "center"))
    radius = float(_entry("radius", given["radius"]))
    if "radii" not in given:
        return Ball(space, center, radius)
    radii = np.ravel(_document.numbers(given["radii"], "radii")).tolist()
    found = manifolds.BoxBall(space, center, radius, tuple(radii))
    _require(found.radius == radius, "the radius is more than that of the product of the balls")
    return found


def _integer(value: Any, name: str, least: int = 1) -> int:
    _require(type(value) is int and value >= least, f"{name} must be an integer, {least} or more")
    return int(value)


def _positive(value: Any, name: str, most: float = math.inf) -> float:
    found = float(_entry(name, value))
    _require(0.0 < found <= most, f"{name} must be positive, at most {most:g}, got {found}")
    return found


# --- Queries --------------------------------------------------------------------------------------


class Query(NamedTuple):
    """What is asked of the records: a mean, or a sum, of one row of each, with noise.

    A row has norm at most ``norm``, and moves by at most ``move`` if its record is replaced, both
    in units of ``unit``; it is multiplied by the public ``factor``. ``counted`` is what every
    record adds to one more coordinate of a sum; with ``weighs`` that and the row are multiplied by
    a private weight in [0, 1], which may be replaced too. ``weight`` is the root of the answer's
    share.
    """

    dim: int
    unit: float = 1.0
    move: float = 2.0
    norm: float = 1.0
    factor: float = 1.0
    weight: float = 1.0
    counted: float = 0.0
    total: bool = False
    weighs: bool = False
    #: Largest norm of an answer, which draws may be projected to.
    reach: float = math.inf
    projects: bool = False
    #: Whether answers are points of the ball, and not vectors.
    points: bool = False
    #: Of an intrinsic mean: how far it moves, and how much farther coordinates do than distances.
    moves: float | None = None
    stretch: float = 1.0
    #: Whether the mean is computed to a tolerance, and not a sum of integers.
    solved: bool = False
    #: Coordinates whose sum is the number of records, and what a record adds to it; or None.
    counts: tuple[int, int, float] | None = None
    #: Adjacencies that public weights, labels or covariates need; any if there are none.
    only: tuple[str, ...] = ()


@dataclass(frozen=True)
class _At:
    """Public numbers that queries depend on."""

    ball: Ball
    n: int | None
    coordinates: bool  # whether sensitivities are norms of coordinates

    @property
    def dim(self) -> int:
        return self.ball.manifold.dim

    @property
    def reach(self) -> float:
        return self.ball.reach

    @functools.cached_property
    def steps(self) -> Ball:
        """Ball that steps are made in: on flat spaces one of coordinates."""
        return self.ball if self.ball.manifold.chart is None else _vectors(self.dim, self.reach)

    def stepped(self, base: Any, coordinates: Any) -> Any:
        return self.steps.project(self.steps.manifold.point(base, coordinates))


#: Space, centre and value.
_Value = tuple[Manifold, Any, Any]
#: Is sent noisy coordinates, and the mean length of the noise in them.
_Queries = Generator[Query, tuple[Any, float], _Value]


def _vectors(dim: int, reach: float) -> Ball:
    space = Euclidean(dim)
    return Ball(space, space.origin, reach)


def _raw(coordinates: Any) -> _Value:
    space = Euclidean(len(coordinates))
    return space, space.origin, coordinates


def _on_ball(at: _At, value: Any) -> _Value:
    return at.ball.manifold, at.ball.center, value


# --- Means ----------------------------------------------------------------------------------------


def _is_sum(space: Any) -> bool:
    """Whether the intrinsic mean is an average of coordinates, whose integers are added."""
    if space.name in _PRODUCTS:
        return all(map(_is_sum, space.spaces))
    above = _above(space)
    return above.chart is not None or above.dim == 1


def _frechet_move(ball: Ball, n: float) -> float:
    """``2r/n``, and ``min(2r, 2 tan(kr) / (kn))`` under curvature ``k^2``."""

    def of(one: Ball) -> float:
        space, r = one.manifold, one.radius
        _require(r < space.convexity_radius, "the ball is too large for one Fréchet mean")
        if space.curvature_bound <= 0.0:
            return 2.0 * r / n
        _require(r <= 0.998 * space.convexity_radius, "the ball nearly fills a hemisphere")
        k = math.sqrt(space.curvature_bound)
        return min(2.0 * r, 2.0 * math.tan(k * r * (1.0 + _ROUNDING)) / (k * n))

    if ball.parts[0] is ball:
        return of(ball)
    found = math.sqrt(math.fsum(of(part) ** 2 for part in ball.parts))
    fits = ball.radius * (1.0 + 2.0 * _ROUNDING) < ball.manifold.convexity_radius
    return min(found, of(ball)) if fits else found


def _log_stretch(ball: Ball) -> float:
    """``kr / sin(kr)``: how much longer coordinates are than distances, by Rauch."""
    if ball.parts[0] is not ball:
        return max(map(_log_stretch, ball.parts))
    angle = math.sqrt(max(ball.manifold.curvature_bound, 0.0)) * ball.reach
    return angle / math.sin(angle) if angle and ball.manifold.dim > 1 else 1.0


def _mean(at: _At, n: float, *, intrinsic: bool, only: tuple[str, ...] = ()) -> _Queries:
    asked = Query(at.dim, at.reach, reach=at.reach, projects=True, points=True, only=only)
    if intrinsic:
        stretch = _log_stretch(at.ball) if at.coordinates else 1.0
        moves, solved = _frechet_move(at.ball, n), not _is_sum(at.ball.manifold)
    else:
        flat = _above(at.ball.manifold).chart is not None
        _require(at.coordinates or flat, "a tangent mean needs noise in the tangent space")
        stretch, moves, solved = 1.0, 2.0 * at.reach / n, False
    answer, _ = yield asked._replace(moves=moves, stretch=stretch, solved=solved)
    return _on_ball(at, at.ball.point(answer))


def _size(at: _At) -> int:
    _require(at.n is not None, "a mean needs a public number of records")
    return int(at.n or 0)


def _frechet_mean(at: _At) -> _Queries:
    return _mean(at, _size(at), intrinsic=True)


def _tangent_mean(at: _At) -> _Queries:
    return _mean(at, _size(at), intrinsic=False)


def _records_alike(at: _At, share: Any) -> float:
    """``1 / share``: public weights act like so many records of one weight."""
    found = _positive(share, "share", 1.0)
    _require(_size(at) * Fraction(found) >= 1, "share is under 1 / n")
    return 1.0 / found


def _weighted_frechet_mean(at: _At, *, share: Any) -> _Queries:
    return _mean(at, _records_alike(at, share), intrinsic=True, only=_PLACES)


def _weighted_tangent_mean(at: _At, *, share: Any) -> _Queries:
    return _mean(at, _records_alike(at, share), intrinsic=False, only=_PLACES)


def _rounded(move: float, coordinates: int) -> float:
    """Return how far rows move of which so many coordinates are products, rounded towards zero.

    See docs/proofs/joint-sensitivities.md, "Integers".
    """
    return math.sqrt(move**2 + 17.5 * math.ceil(math.sqrt(coordinates)) * 2.0**-40)


def _on_grid(feature: float) -> float:
    """Return what is added for a feature that is the same for every record."""
    return math.trunc(feature * 2.0**40) * 2.0**-40


def _count_weight(value: Any) -> float:
    found = _positive(value, "weight of the count", 4.0)
    _require(found >= 2.0**-20, "weight of the count is under 2^-20")
    return found


# --- Sums of features -----------------------------------------------------------------------------


class _Rows(NamedTuple):
    """Features of a record: how many, their unit, norm and move, each with its lemma."""

    dim: int  # of the vector that they are made of
    size: int
    move: float
    norm: float
    unit: float
    counts: tuple[int, int, float] | None = None  # where class sizes are; see Query
    only: tuple[str, ...] = ()
    recentres: bool = True


def _moments(at: _At, *, second: Any) -> _Rows:
    """``(v, FREE |v|^2)`` or ``(v, v v^T / sqrt(2))``: docs/proofs/joint-sensitivities.md."""
    _require(second in ("scalar", "matrix"), "second must be scalar or matrix")
    d, half = at.dim, at.dim * (at.dim + 1) // 2
    if second == "scalar":
        return _Rows(d, d + 1, 2.0, math.hypot(1.0, _FREE), at.reach)
    return _Rows(d, d + half, _rounded(2.0, half), math.sqrt(1.5), at.reach)


def _class_moments(at: _At, *, classes: Any, second: Any, sizes: Any) -> _Rows:
    """``(v (x) e_y, a e_y, b |v|^2 or b v v^T)``: a move of 2 although labels are private."""
    weights = {"none": (1.0, 0.0), "scalar": (1.0, 1.0), "matrix": (0.5, 0.5)}  # squared
    _require(isinstance(second, str) and second in weights, "unknown second moment")
    _require(isinstance(classes, list) and len(classes) > 1, "two classes at least are needed")
    kinds = {type(label) for label in classes}
    _require(kinds in ({int}, {str}) and len(set(classes)) == len(classes), "labels must differ")
    _require(isinstance(sizes, list), "sizes must be a list")
    for each in sizes:
        _integer(each, "each of the sizes")
    if sizes:
        _require(len(sizes) == len(classes) and sum(sizes) == at.n, "sizes do not add up to n")
    (share, weight), d, number = weights[second], at.dim, len(classes)
    share = 0.0 if sizes else share
    norm = math.sqrt(1.0 + share + weight)
    moments = {"none": 0, "scalar": 1, "matrix": d * (d + 1) // 2}[second]
    size = number * d + (0 if sizes else number) + moments
    only, move = _PUBLIC if sizes else (), _rounded(2.0, moments)
    counts = None if sizes else (number * d, number * (d + 1), _on_grid(math.sqrt(share)))
    return _Rows(d, size, move, norm, at.reach, counts=counts, only=only)


def _tangent_regression(at: _At, *, low: Any, high: Any, design: Any) -> _Rows:
    """``(v, s v, s, sqrt(2) s^2)`` of the covariate s, or public rows of norm 1 times v."""
    low, high = float(_entry("low", low)), float(_entry("high", high))
    _require(-math.inf < low < high < math.inf, "low must be less than high")
    design = np.asarray(_document.numbers(design, "design"), dtype=np.float64)
    _require(design.ndim == 1, "design must be a list of numbers")
    if not len(design):
        move = _rounded(math.sqrt(8.0), at.dim + 1)
        return _Rows(at.dim, 2 * at.dim + 2, move, math.sqrt(5.0), at.reach)
    _require(len(design) == at.n, "the design has not n covariates")
    _require(low <= design.min() and design.max() <= high, "the design is not from low to high")
    return _Rows(at.dim, 2 * at.dim, 2.0, 1.0, at.reach, only=_PUBLIC)


def _unit_vectors(at: _At) -> int:
    return int(at.ball.manifold.unit_vectors(at.ball.center).shape[-1])


def _directional_moments(at: _At, *, order: Any) -> _Rows:
    """X, ``x x^T``, or both, of a unit vector."""
    _require(order in (1, 2, [1, 2]) and type(order) is not bool, "order must be 1, 2 or [1, 2]")
    dim = _unit_vectors(at)
    half = dim * (dim + 1) // 2
    if order == 1:
        return _Rows(dim, dim, 2.0, 1.0, 1.0, recentres=False)
    if order == 2:
        return _scatter(dim, half)
    return _Rows(dim, dim + half, _rounded(2.0, half), math.sqrt(1.5), 1.0, recentres=False)


def _scatter(dim: int, size: int) -> _Rows:
    """Products of the coordinates of a unit vector, real or complex."""
    return _Rows(dim, size, _rounded(math.sqrt(2.0), size), 1.0, 1.0, recentres=False)


def _mean_rotation(at: _At) -> _Rows:
    """``q q^T`` of a unit quaternion."""
    _require(_unit_vectors(at) == 4, "quaternions have four entries")
    return _scatter(4, 10)


def _procrustes_mean(at: _At) -> _Rows:
    """``z z*`` of a complex unit vector."""
    dim = _unit_vectors(at)
    _require(dim >= 4 and dim % 2 == 0, "preshapes have an even number of entries, 4 or more")
    return _scatter(dim, (dim // 2) ** 2)


_FEATURES: dict[str, Callable[..., _Rows]] = {
    "moments": _moments,
    "class-moments": _class_moments,
    "tangent-regression": _tangent_regression,
    "directional-moments": _directional_moments,
    "mean-rotation": _mean_rotation,
    "procrustes-mean": _procrustes_mean,
}


def _of_features(rows: _Rows) -> _Queries:
    reach = rows.norm * rows.unit
    answer, _ = yield Query(
        rows.size, rows.unit, rows.move, rows.norm, reach=reach, counts=rows.counts, only=rows.only
    )
    return _raw(answer)


def _variances(at: _At, value: float) -> _Value:
    """Return a variance, from 0 to the squared radius, as a number about the middle of these."""
    return Euclidean(1), np.array([0.5 * at.reach**2]), np.array([min(value, at.reach**2)])


def _variance_of(features: Any, deviation: float, dim: int, unit: float) -> float:
    """Second moment less the squared mean, which is larger by the mean square of its noise."""
    vector, second = features[:dim], float(features[dim]) / _FREE
    found = second - float(vector @ vector) + dim * deviation**2
    return min(max(found, 0.0), 1.0) * unit**2


def _direct_variance(at: _At) -> _Queries:
    n, square = _size(at), at.reach**2
    moves = square * min(1.0, 4.0 * max(n - 1, 1) / n**2 + 2.0**-40 / n)
    half = 0.5 * square
    answer, _ = yield Query(1, at.reach, moves=moves, reach=half, projects=True)
    return Euclidean(1), np.array([half]), half + answer


# --- Steps: answers in turn -----------------------------------------------------------------------


class _Place(NamedTuple):
    """Where steps have come to."""

    point: Any  # in the ball of steps
    unit: float  # length that the radius of the next answer stands for
    trail: tuple[Any, ...] = ()


#: Place, mean vector in units of ``place.unit``, spread, step; returns the next place.
_Moved = Callable[[_Place, Any, float, int], _Place]


def _estimated(at: _At, answer: Any, noise: float, weight: float) -> tuple[Any, float]:
    """Return a noisy mean, and the spread about it, in units of what the radius stands for.

    The squared spread is ``moment - |mean|^2`` plus twice the mean square of the noise of the mean;
    of noise in so many coordinates that is its squared mean length, but for 1/2.
    """
    vector, moment = answer[:-1] / weight, answer[-1] / weight / _FREE
    vector, moment = clip_norm(vector, at.reach) / at.reach, moment / at.reach
    length, dim = noise / weight / at.reach, len(vector)
    square = length * length * dim / (dim + 0.5)
    return vector, math.sqrt(max(moment - float(vector @ vector) + square, 0.0) + square)


def _steps(
    at: _At, shares: tuple[float, ...], moved: _Moved, has_moment: Callable[[int], bool]
) -> _Queries:
    place = _Place(at.steps.center, at.reach)
    for step, share in enumerate(shares):
        weight = math.sqrt(share)
        norm = math.hypot(1.0, _FREE) if has_moment(step) else 1.0
        answer, noise = yield Query(
            at.dim + 1, at.reach, norm=norm, factor=weight, weight=weight,
            reach=2.0 * at.reach, projects=True,
        )  # fmt: skip
        vector, spread = _estimated(at, answer, noise, weight)
        place = moved(place, vector, spread * place.unit, step)
    value = place.point
    if place.trail:  # the average, seen from where it ends
        with np.errstate(all="ignore"):
            seen = np.asarray(at.steps.manifold.coordinates(value, np.array(place.trail)))
        seen = np.where(np.isfinite(seen).all(axis=-1, keepdims=True), seen, 0.0)
        value = at.stepped(value, seen.mean(axis=0))
    return _on_ball(at, value if at.steps is at.ball else at.ball.point(value))


def _to_means(at: _At, alpha: float) -> _Moved:
    """Go to the noisy mean, and clip to ``alpha`` times the spread about it."""

    def moved(place: _Place, vector: Any, spread: float, step: int) -> _Place:
        del step
        length = max(alpha * spread, 0.125 * place.unit, 2.0**-40 * at.reach)
        point = at.stepped(place.point, vector * place.unit)
        return place._replace(point=point, unit=min(at.reach, length))

    return moved


def _refined_mean(at: _At, *, rounds: Any, shares: Any, alpha: Any) -> _Queries:
    rounds, alpha = _integer(rounds, "rounds"), _positive(alpha, "alpha")
    _require(isinstance(shares, list) and len(shares) == rounds, "one share a round is needed")
    parts = tuple(_positive(share, "a share", 1.0) for share in shares)
    _require(math.isclose(math.fsum(parts), 1.0, rel_tol=_ELSEWHERE), "shares must sum to 1")
    if rounds == 1:  # a mean
        return _mean(at, _size(at), intrinsic=at.ball.manifold.chart is not None)
    return _steps(at, parts, _to_means(at, alpha), lambda step: step < rounds - 1)


def _warm_steps(
    at: _At, rounds: Any, share: Any, unit: Callable[[float], float], lengths: tuple[float, float]
) -> _Queries:
    """Return a first round, and steps of equal weight whose last half is averaged.

    ``unit`` is what is clipped to, or how long steps are, for records of a spread; ``lengths`` are
    those of the first step in that unit, and of the last one over the first one's.
    """
    eta, last = lengths
    rounds, share = _integer(rounds, "rounds"), _positive(share, "warm_share", 1.0)
    _require(rounds < _MOST_STEPS and share < 1.0, "too many rounds, or nothing left for them")

    def moved(place: _Place, vector: Any, spread: float, step: int) -> _Place:
        if step == 0:
            point = at.stepped(place.point, vector * place.unit)
            length = max(unit(spread), 2.0**-40 * at.reach)
            return place._replace(point=point, unit=min(at.reach, length))
        length = float(eta * last ** ((step - 1) / max(1, rounds - 1)))
        point = at.stepped(place.point, vector * min(length * place.unit, 2.0 * at.reach))
        trail = (*place.trail, point) if 2 * step > rounds else ()
        return place._replace(point=point, trail=trail)

    shares = (share, *(((1.0 - share) / rounds,) * rounds))
    return _steps(at, shares, moved, lambda step: step == 0)


def _geometric_median(at: _At, *, rounds: Any, warm_share: Any, eta: Any, last: Any) -> _Queries:
    eta, last = _positive(eta, "eta"), _positive(last, "last", 1.0)
    return _warm_steps(at, rounds, warm_share, lambda spread: spread, (eta, last))


def _huber_mean(at: _At, *, rounds: Any, warm_share: Any, threshold: Any, clip: Any) -> _Queries:
    factor, most = _positive(threshold, "threshold"), _positive(clip, "clip")

    def unit(spread: float) -> float:
        return min(most, factor * spread) if spread > 0.0 else most

    return _warm_steps(at, rounds, warm_share, unit, (1.0, 1.0))


def _two_rounds(at: _At, rows: _Rows, share: Any, alpha: Any) -> _Queries:
    """Return the tangent mean, and features seen from there, clipped to the spread there."""
    alpha, share = _positive(alpha, "alpha"), _positive(share, "share", 1.0)
    _require(rows.recentres and share < 1.0, "no sum of normal coordinates, or no second share")
    first, second = math.sqrt(share), math.sqrt(1.0 - share)
    d, size, half = at.dim, max(at.dim + 1, rows.size), 0.5 * rows.move
    reach = max(rows.norm, rows.move) * at.reach
    answer, noise = yield Query(
        size, at.reach, 2.0, math.hypot(1.0, _FREE), first * half, first,
        reach=reach, only=rows.only,
    )  # fmt: skip
    part = math.sqrt((d + 0.5) / (size - 0.5)) / half
    vector, spread = _estimated(at, answer[: d + 1] / half, noise * part, first)
    start = _Place(at.steps.center, at.reach)
    place = _to_means(at, alpha)(start, vector, spread * at.reach, 0)
    answer, noise = yield Query(
        size, at.reach, rows.move, rows.norm, second, second, reach=reach, only=rows.only
    )
    base = at.steps.manifold.coordinates(at.steps.center, place.point)
    return _raw(np.concatenate([base, [place.unit], answer / second]))


def _recentred(at: _At, *, statistic: Any, share: Any, alpha: Any) -> _Queries:
    return _two_rounds(at, _read(_FEATURES, statistic, at), share, alpha)


def _noise_seen(queries: _Queries, noises: list[tuple[float, int]]) -> _Queries:
    """Ask the same, and note the noise in the answers."""
    query = next(queries)
    while True:
        answer, noise = yield query
        noises.append((noise, query.dim))
        try:
            query = queries.send((answer, noise))
        except StopIteration as end:
            found: _Value = end.value
            return found


def _deviation(noises: list[tuple[float, int]]) -> float:
    """Return the standard deviation of the noise in a coordinate, from its mean length."""
    noise, dim = noises[-1]
    return noise / math.sqrt(dim - 0.5)


def _recentred_variance(at: _At, value: Any, deviation: float, share: Any) -> float:
    d = at.dim
    features = value[d + 1 :][: d + 1] / at.reach
    scale = math.sqrt(1.0 - float(share)) * at.reach
    return _variance_of(features, deviation / scale, d, float(value[d]))


def _variance(at: _At, *, base: Any, share: Any, alpha: Any) -> _Queries:
    rows, noises = _moments(at, second="scalar"), list[tuple[float, int]]()
    _require(base in ("recentred", "public"), "base must be recentred or public")
    if base == "public":
        _, _, value = yield from _noise_seen(_of_features(rows), noises)
        found = _variance_of(value / at.reach, _deviation(noises) / at.reach, at.dim, at.reach)
        return _variances(at, found)
    _, _, value = yield from _noise_seen(_two_rounds(at, rows, share, alpha), noises)
    return _variances(at, _recentred_variance(at, value, _deviation(noises), share))


# --- All statistics -------------------------------------------------------------------------------


_STEPS: dict[str, Callable[..., _Queries]] = {
    "refined-mean": _refined_mean,
    "geometric-median": _geometric_median,
    "huber-mean": _huber_mean,
}


def _features_alone(name: str) -> Callable[..., _Queries]:
    @functools.wraps(_FEATURES[name])
    def asked(at: _At, **given: Any) -> _Queries:
        return _of_features(_FEATURES[name](at, **given))

    return asked


#: Statistics that are means of bounded rows, one a record.
_SUMS: dict[str, Callable[..., _Queries]] = {
    "tangent-mean": _tangent_mean,
    **{name: _features_alone(name) for name in _FEATURES},
    "variance": _variance,
    **_STEPS,
    "recentred": _recentred,
}


def _counted(at: _At, *, statistic: Any, weight: Any, weighs: Any) -> _Queries:
    """Ask for sums instead of means, and for the number of records with the first one.

    Rows are divided by the largest norm of what one record adds, so that answers move by their
    weight if one is added. Classes, of which every record is in one, say how many there are. With
    ``weighs`` that is the sum of private weights, and no less than its noise is divided by.
    """
    inner = _read(_SUMS, statistic, _At(at.ball, 1, coordinates=True))
    query, number, per = next(inner), 0.0, 0.0
    _require(type(weighs) is bool, "weighs must be true or false")
    _require(type(weight) in (float, int), "weight must be a number")
    if query.counts is None:
        weight = _count_weight(weight)
    else:
        _require(weight == 0, "features that count records need no weight")
    first, counted = True, float(weight)
    while True:
        _require(not query.only, "public sizes or covariates say how many records there are")
        scale, size = query.weight / math.hypot(query.norm, counted), query.dim
        answer, noise = yield query._replace(
            dim=size + (1 if weight else 0), factor=scale, counted=counted, total=True,
            points=False, moves=None, projects=False, reach=_MOST_RECORDS * query.unit,
            weighs=weighs,
        )  # fmt: skip
        if first:
            start, stop, one = query.counts or (size, size + 1, counted)
            number = math.fsum(answer[start:stop]) / (scale * one * query.unit)
            per = math.sqrt(stop - start) / (scale * one * query.unit)
        first, counted = False, 0.0
        least = max(noise / math.sqrt(len(answer)) * per, 2.0**-20) if weighs else 1.0
        each = query.factor / scale / max(number, least)
        mean, part = answer[:size] * each, math.sqrt((size - 0.5) / (len(answer) - 0.5))
        sent = at.ball.shorten(mean) if query.points else mean
        try:
            query = inner.send((sent, noise * each * part))
        except StopIteration as end:
            value: _Value = end.value
            break
    in_parts = statistic["type"] == "recentred" or statistic["type"] in _FEATURES
    return _raw(np.append(value[2], number)) if in_parts else value


#: Statistics by name: the queries of each.
_STATISTICS: dict[str, Callable[..., _Queries]] = {
    **_SUMS,
    "frechet-mean": _frechet_mean,
    "weighted-frechet-mean": _weighted_frechet_mean,
    "weighted-tangent-mean": _weighted_tangent_mean,
    "direct-variance": _direct_variance,
    "counted": _counted,
}


def _read(table: dict[str, Callable[..., Any]], document: Any, at: _At) -> Any:
    """Return what a table makes of a statistic, which has the fields that are named there."""
    make = table[_name(document, "statistic", table)]
    own = set(inspect.signature(make).parameters) - {"at"}
    given = dict(_document.fields(document, own | {"type"}))
    del given["type"]
    return make(at, **given)


# --- Sensitivity ----------------------------------------------------------------------------------


def _sensitivity(query: Query, adjacency: str, n: int | None, records: int) -> float:
    """Return how far an answer moves between neighbours, over its weight.

    ``move / n`` of a mean and ``move`` of a sum if a record is replaced; if one is added or removed
    ``sqrt(norm^2 + counted^2)``; the larger of both if a private weight changes too.
    """
    fits = not query.only or adjacency in query.only
    _require(fits, f"what is public of each record needs {' or '.join(query.only)}")
    whole, one = query.unit * query.factor / query.weight, math.hypot(query.norm, query.counted)
    if adjacency.startswith("add-remove"):
        _require(query.total, "a mean moves by an unknown length if n is private")
        return whole * one
    if query.moves is not None:
        found = query.moves
    elif query.total:
        weighs = query.weighs and adjacency != "replace-point"
        found = whole * max(query.move, one if weighs else 0.0)
    else:
        found = whole * query.move / _integer(n, "n")
    if adjacency == "groups":  # so many moves, at most the diameter
        found = min(min(records, n or 0) * found, 2.0 * query.reach / query.weight)
    return found


# --- Noise ----------------------------------------------------------------------------------------


def _above(space: Any) -> Any:
    """Return the space whose noise, pushed down, is that of a quotient: cover, or slice."""
    if space.name == "Aligned":
        return _above(space.slice.space)
    return _above(space.cover) if space.name in _QUOTIENTS else space


def _form(space: Manifold) -> tuple[int, float, float] | None:
    """Dimension, curvature and injectivity radius, where the curvature is constant."""
    if space.chart is not None or space.dim == 1:
        return space.dim, 0.0, space.injectivity_radius
    if space.name in {"Sphere", "Hyperbolic"}:
        return space.dim, float(space.constant_curvature or 0.0), space.injectivity_radius
    return None


@dataclass(frozen=True)
class _Noise:
    """Noise of one kind and scale about points of a space, or about vectors (a flat one)."""

    kind: str
    space: Manifold
    sigma: float

    @functools.cached_property
    def parts(self) -> list[tuple[_Noise, int]]:
        """Noises of the factors of a curved product, with their numbers; empty elsewhere."""
        above = _above(self.space)
        if above.name not in _PRODUCTS or above.chart is not None:
            return []
        pairs = zip(above.spaces, above.counts, strict=True)
        return [(_Noise(self.kind, space, self.sigma), count) for space, count in pairs]

    @functools.cached_property
    def size(self) -> int:
        """Size of affine-invariant matrices that are not a line, else 0."""
        above = _above(self.space)
        return int(above.k) if above.name == "SPDAffineInvariant" and above.k > 1 else 0

    @functools.cached_property
    def form(self) -> tuple[int, float, float] | None:
        """Space form whose noise has these privacy curves."""
        if self.size == 2 and self.kind == "gaussian":
            return 2, -0.5, math.inf
        return _form(_above(self.space))

    @property
    def is_flat(self) -> bool:
        return self.form is not None and self.form[1] == 0.0 and self.form[2] == math.inf

    @property
    def is_added(self) -> bool:
        """Whether noise is added to coordinates, so that scales have closed forms."""
        return self.is_flat and not self.parts

    def shift(self, sensitivity: float) -> float:
        """Largest sum of distances in the factors, which Laplace densities see."""
        if not self.parts:
            return sensitivity
        square = math.fsum(count * part.shift(1.0) ** 2 for part, count in self.parts)
        return math.sqrt(square) * sensitivity

    def slope(self) -> float:
        """Bound of mu per unit of distance, of Gaussian noise."""
        if self.parts:
            return max(part.slope() for part, _ in self.parts)
        if self.is_flat:
            return 1.0 / self.sigma
        if self.form is None:
            return privacy.affine_invariant_slope(self.size, self.sigma)
        dim, curvature, upper = self.form
        return privacy.score_bound("gaussian", dim, curvature, self.sigma, 1.0, upper)

    def curve(self, sensitivity: float) -> privacy.PrivacyCurve:
        """Return what is proved of noise about points so far apart."""
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            return self.parts[0][0].curve(sensitivity)
        ratio = sensitivity / self.sigma
        if self.kind == "gaussian":
            if self.parts:
                return privacy.GaussianCurve(self.slope() * sensitivity)
            if self.is_flat:
                return privacy.GaussianCurve(ratio)
            if self.form is None:
                _require(self.size, f"no Gaussian noise is known on {self.space}")
                return privacy.AffineInvariantGaussianCurve(self.size, self.sigma, sensitivity)
        elif self.parts or self.form is None or sensitivity >= self.form[2] or self.form[0] > 1000:
            _require(self.parts or self.form or self.size, f"no Laplace noise on {self.space}")
            return privacy.PureCurve(self.shift(ratio))
        elif self.is_flat and self.form[0] == 1:
            return privacy.LaplaceCurve(ratio)
        dim, curvature, upper = self.form
        kind: Any = self.kind
        return privacy.IsotropicCurve(kind, dim, curvature, self.sigma, sensitivity, upper)

    def score_dim(self) -> int:
        """Directions among which the Fisher information of Laplace noise is shared."""
        if self.parts:
            return min(part.score_dim() for part, _ in self.parts)
        return 1 if self.form is None else self.form[0]

    def parametric(self, sensitivity: float) -> float:
        """Length of the footpoint's path in the Fisher metric: docs/proofs/rao.md."""
        ratio = sensitivity / self.sigma
        if self.kind == "laplace":
            return self.shift(ratio) / math.sqrt(self.score_dim())
        if self.parts:
            return max(part.parametric(sensitivity) for part, _ in self.parts)
        if self.is_flat:
            return ratio
        if self.form is None:
            return self.slope() * sensitivity
        return ratio / self.sigma * math.sqrt(_mean_square(self.form, self.sigma) / self.form[0])

    def angle(self, sensitivity: float) -> float:
        """Angle between the distributions, or a bound of it."""
        ratio, least = sensitivity / self.sigma, min(self.parametric(sensitivity), math.pi)
        if self.kind == "laplace":
            if self.is_added:
                return min(least, _laplace_angle(ratio, self.form[0]))  # type: ignore[index]
            return min(least, privacy.angle_of_response(self.shift(ratio)))
        if self.form is None:
            return min(least, privacy.angle_of_separation(self.curve(sensitivity).mu()))
        return min(least, privacy.angle_of_separation(ratio)) if self.is_added else least

    def satisfies(self, sensitivity: float, budget: Budget) -> bool:
        """Whether it is proved to lie within a budget."""
        if isinstance(budget, privacy.RaoDP):
            own = self.angle if budget.distance == "angle" else self.parametric
            return own(sensitivity) <= budget.theta
        return budget.allows(self.curve(sensitivity))


def _mean_square(form: tuple[int, float, float], sigma: float) -> float:
    """Mean squared distance of Gaussian noise on a space of constant curvature, by quadrature."""
    from scipy.integrate import quad

    dim, curvature, upper = form
    k = math.sqrt(abs(curvature))
    side = math.sin if curvature > 0.0 else math.sinh if k else float

    def log_density(t: float) -> float:
        size = side(k * sigma * t if k else t)
        return (dim - 1) * math.log(size) - 0.5 * t * t if size > 0.0 else -math.inf

    # In scales, volume moves the mode out by at most this much.
    pushed = math.sqrt(dim) + ((dim - 1) * k * sigma if curvature < 0.0 else 0.0)
    far = min(upper / sigma, pushed + 40.0)
    top = min(pushed, 0.5 * far)
    largest = log_density(top)

    def moment(power: int) -> float:
        def integrand(t: float) -> float:
            return t**power * math.exp(log_density(t) - largest)

        return float(quad(integrand, 0.0, far, epsrel=1e-13, limit=500, points=(top,))[0])

    return sigma**2 * moment(2) / moment(0)


def _laplace_angle(ratio: float, dim: int) -> float:
    """``cos(angle / 2) = 2^(1 - v) z^v K_v(z) / Gamma(v)``, ``v = dim/2 + 1``, ``z = ratio/2``."""
    from scipy.special import gammaln, kve

    v, z = 0.5 * dim + 1.0, 0.5 * ratio
    log = (1.0 - v) * math.log(2.0) + v * math.log(z) - float(gammaln(v))
    log += math.log(float(kve(v, z))) - z
    return 4.0 * math.asin(math.sqrt(max(-0.5 * math.expm1(log), 0.0)))


def _ways(name: str, weights: list[float], budget: Budget) -> Iterator[tuple[float, Budget]]:
    """Yield how one budget pays for all answers: factors of the sensitivity, and what each takes.

    Answers with Gaussian noise of one scale, each asked after the earlier ones, are as private as
    one of the root of the sum of squares; others take equal shares of the budget.
    """
    if len(weights) == 1:
        yield weights[0], budget
        return
    if name == "tangent-gaussian":
        yield math.sqrt(math.fsum(weight * weight for weight in weights)), budget
    yield max(weights), budget.split(len(weights))


def _is_within(
    noise: _Noise, name: str, weights: list[float], sensitivity: float, budget: Budget
) -> bool:
    ways = _ways(name, weights, budget)
    return any(noise.satisfies(sensitivity * factor, part) for factor, part in ways)


def _mean_length(kind: str, sigma: float, dim: int) -> float:
    """Mean length of noise that is added to so many coordinates."""
    if kind == "laplace":
        return dim * sigma
    return sigma * math.sqrt(2.0) * math.exp(math.lgamma(0.5 * (dim + 1)) - math.lgamma(0.5 * dim))


def _shrinkage(kind: str, sigma: float, dim: int) -> float:
    """``1 / E[1 / |noise|^2]``: docs/proofs/shrinkage.md."""
    _require(dim >= (3 if kind == "gaussian" else 4), "shrinkage needs more dimensions")
    return sigma**2 * ((dim - 2) if kind == "gaussian" else (dim - 1) * (dim - 2))


# --- Values ---------------------------------------------------------------------------------------


def _grid(sigma: float) -> int:
    """``40 - floor(log2 sigma)``: integers are rounded to 2^-40 of the scale."""
    return 41 - math.frexp(sigma)[1]


def _coordinates(integers: list[int], grid: int) -> Any:
    """Return integers on a grid as floats; those beyond float64 are shortened to what it holds."""
    longest = max((each.bit_length() for each in integers), default=0)
    if longest <= 1000 and abs(grid) < 1000:  # a power of two rounds nothing
        return np.array([math.ldexp(each, -grid) for each in integers])
    unit = Fraction(2) ** -(grid + max(0, longest - grid - 1000))
    return np.array([float(each * unit) for each in integers])


def _replayed(
    queries: _Queries,
    integers: list[int],
    grid: int,
    noise: Callable[[int], float],
    *,
    projected: bool,
    shrinkage: Callable[[int], float] | None = None,
) -> tuple[_Value, list[Query]]:
    """Return the value that integers stand for, and what was asked."""
    query, asked, start = next(queries), list[Query](), 0
    while True:
        own = integers[start : start + query.dim]
        start += query.dim
        _require(len(own) == query.dim, "rounded has fewer integers than there are coordinates")
        answer = _coordinates(own, grid)
        if shrinkage is not None:
            length = math.hypot(*answer)
            ratio = math.sqrt(shrinkage(query.dim)) / length if length > 0.0 else math.inf
            answer = answer * max(0.0, 1.0 - ratio * ratio)
        asked.append(query)
        answer = clip_norm(answer, query.reach) if projected else answer
        try:
            query = queries.send((answer, noise(query.dim)))
        except StopIteration as end:
            _require(start == len(integers), "rounded has more integers than coordinates")
            return end.value, asked


def _coincide(value: _Value, stated: Any, digits: float) -> bool:
    space, center, found = value
    found = np.asarray(found)
    return found.shape == stated.shape and bool(space.coincide(center, stated, found, digits))


# --- The search for a ball ------------------------------------------------------------------------


def _working(ball: Ball) -> Ball:
    """Return the ball that is searched: on flat spaces that of the chart."""
    chart = ball.manifold.chart
    if chart is None:
        return ball
    return Ball(Euclidean(chart.dim), chart.to_chart(ball.center), ball.radius)


def _sizes(budget: Budget) -> tuple[Any, ...]:
    """Return what the kernel calls a budget, and its number."""
    names = {PureDP: ("pure", "epsilon"), GDP: ("gdp", "mu"), ZCDP: ("zcdp", "rho")}
    _require(type(budget) in names, f"a search is not paid from {budget}")
    name, size = names[type(budget)]
    return name, getattr(budget, size)


def _whole(budget: Budget) -> Any:
    """Return noise that takes all of a budget."""
    name, size = _sizes(budget)
    if name == "pure":
        return Choice(Fraction(size))
    return noise("gaussian", 1, Fraction(size) ** 2 if name == "gdp" else 2 * Fraction(size), 1.0)


def _same(stated: float, found: float, error: float = _ELSEWHERE, room: float = 0.0) -> bool:
    return stated == found or math.isclose(stated, found, rel_tol=error, abs_tol=room)


def _same_budget(stated: Budget, found: Budget, error: float) -> bool:
    return type(stated) is type(found) and all(
        _same(float(one), float(other), error)
        for one, other in zip(stated.price(), found.price(), strict=True)
    )


class SearchReceipt:
    """The receipt of a search, walked through again with the stated answers."""

    def __init__(self, document: Any, space: Manifold, n: int | None, guarantee: Budget) -> None:
        given = _document.fields(document, {"public_ball", "budget", "axis", "steps", "release"})
        self.public = _ball(space, _document.fields(given["public_ball"], {"center", "radius"}))
        self.working, self.n = _working(self.public), n
        self.budget = _budget(given["budget"]).under(guarantee.adjacency)
        self.release = _budget(given["release"]).under(guarantee.adjacency)
        self.axis = space.scale_axis if _document.flag(given["axis"], "axis") else None
        _require(not given["axis"] or self.axis is not None, f"{space} has no axis")
        _require(isinstance(given["steps"], list) and given["steps"], "steps must be a list")
        self.steps: list[Any] = given["steps"]
        self.guarantee = guarantee

    def found(self) -> Ball:
        """Return the ball that the steps lead to, on the space itself."""
        shared = privacy.adds_up(self.guarantee, self.working.manifold.dim)
        same = _same_budget(self.budget, shared, _SAME)
        _require(same, f"its budget is {self.budget}, that of the release {shared}")
        led = check_search(self.steps, self.working, self.budget, self.n, self.axis)
        rest = Counter([_whole(self.release)])
        within = within_budget(led.draws + rest, *_sizes(self.budget))
        within = within and privacy.within_total(self.budget, [self.release])  # xi of zCDP, too
        _require(within, "the steps take more than the budget")
        found = led.ball
        if found == self.working or self.public.manifold.chart is None:
            return self.public if found == self.working else found
        center = self.public.point(found.center - self.working.center)
        try:
            return Ball(self.public.manifold, center, found.radius)
        except RiemdpError:
            return self.public

    def _rounding(self, away: float) -> float:
        """Difference that two processors make of a place so far from the public centre."""
        return 4.0 * self.public.manifold.rounding(self.public.center, away)

    def same_point(self, searched: Ball, stated: Any, found: Any) -> bool:
        space, center = searched.manifold, searched.center
        if stated.shape != found.shape:
            return False
        if bool(space.coincide(center, stated, found, _ELSEWHERE)):
            return True
        allowed = self._rounding(float(space.dist(center, found)))
        return self.public.manifold.chart is not None and bool(space.dist(stated, found) <= allowed)

    def led_to(self, ball: Ball) -> bool:
        """Whether a ball is that which was found, or the public one."""
        found = self.found()
        return any(
            _same(ball.radius, other.radius)
            and self.same_point(self.public, ball.center, other.center)
            for other in (found, self.public)
        )


def _integers(values: Any) -> list[int]:
    good = isinstance(values, list) and set(map(type, values)) <= {int}
    _require(good, "rounded must be a list of integers")
    return list(values)


def _claim(
    noise: _Noise,
    name: str,
    weights: list[float],
    sensitivity: float,
    budget: Budget,
    *,
    tight: bool,
) -> str:
    """Say why a budget is not what the noise guarantees; empty where it is.

    ``tight`` says that the scale was made for the budget: then no larger sensitivity is within it.
    """
    least = sensitivity * (1.0 - _LAST_DIGITS)
    if not _is_within(noise, name, weights, least, budget):
        return f"sigma = {noise.sigma:.9g} is too little for {budget}"
    slack = _FLAT_SLACK if noise.is_added else _CURVED_SLACK
    if tight and _is_within(noise, name, weights, sensitivity * (1.0 + slack), budget):
        return f"sigma = {noise.sigma:.9g} is more than {budget} needs"
    return ""


# --- Proofs ---------------------------------------------------------------------------------------

_PAGES = {
    "index": "replace-one replace-point groups",
    "neighbours": (
        "replace-user add-remove add-remove-user counted weighted-frechet-mean "
        "weighted-tangent-mean"
    ),
    "frechet-mean-sensitivity": "frechet-mean tangent-mean",
    "joint-sensitivities": (
        "moments class-moments tangent-regression directional-moments mean-rotation "
        "procrustes-mean recentred variance direct-variance"
    ),
    "noisy-steps": "refined-mean geometric-median huber-mean",
    "riemannian-gaussian": "riemannian-gaussian",
    "riemannian-laplace": "riemannian-laplace",
    "tangent-gaussian": "tangent-gaussian",
    "tangent-laplace": "tangent-laplace",
    "wrapped-noise": "wrapped-gaussian wrapped-laplace",
    "spaces": "Euclidean",
}
#: Page of docs/proofs on which the claims of each part are proved.
_PROOFS = {name: page for page, names in _PAGES.items() for name in names.split()}
#: Sums of labels or covariates, which a person may have several of: rows are averaged, not points.
_OF_ROWS = {"class-moments", "tangent-regression"}
#: Statistics whose exact sums, or certified means, are part of what is proved.
_EXACT_MEANS = {
    "frechet-mean", "tangent-mean", "weighted-frechet-mean", "weighted-tangent-mean",
    "refined-mean", "geometric-median", "huber-mean", "recentred",
}  # fmt: skip


def _page(name: str) -> str:
    return f"docs/proofs/{name}.md"


def names_in(document: Any) -> Iterator[str]:
    """Yield the names of a part and of those inside."""
    if isinstance(document, dict):
        yield str(document.get("type"))
        for each in document.values():
            yield from names_in(each)


def _laws(space: Any) -> dict[str, str]:
    """Return where noise along a space is proved that is made of noise of other ones."""
    if space.chart is not None:
        return {}
    if space.name == "Aligned":
        return {"law on Aligned": "aligned-means", **_laws(space.slice.space)}
    if space.name in _QUOTIENTS:
        return {f"law on {space.name}": "quotients", **_laws(space.cover)}
    if space.name in _PRODUCTS:
        inner = {key: page for each in space.spaces for key, page in _laws(each).items()}
        return {f"law on {space.name}": "products", **inner}
    return {}


def _mean_page(space: Manifold) -> str:
    """Return where exact arithmetic of the intrinsic mean on a space is proved."""
    if space.dim == 1 or space.chart is not None:
        return "exact-draws"
    if space.name == "Aligned":
        return "aligned-means"
    return "quotients" if space.name in _DISCRETE else "certified-means"


def _proofs(
    ball: Ball, statistic: Any, adjacency: str, mechanism: str, budgets: list[Budget], *,
    points: bool, search: bool,
) -> dict[str, str | None]:  # fmt: skip
    """Return where everything that a release rests on is proved."""
    names = [*names_in(statistic), adjacency, mechanism, *([] if points else ["Euclidean"])]
    if statistic["type"] == "counted":
        statistic = statistic["statistic"]
    if statistic["type"] == "variance":
        names += ["moments", *(["recentred"] if statistic["base"] == "recentred" else [])]
    elif statistic["type"] == "refined-mean" and statistic["rounds"] == 1:
        names += ["tangent-mean" if ball.manifold.chart is None else "frechet-mean"]
    pages = {"exact draw": "exact-draws"}
    if points and mechanism.startswith("riemannian"):
        pages |= _laws(ball.manifold)
    if statistic["type"] in _EXACT_MEANS:
        intrinsic = statistic["type"].endswith("frechet-mean")
        pages["exact mean"] = _mean_page(ball.manifold) if intrinsic else "exact-draws"
    if search:
        kind = privacy.noise_kind(type(budgets[-1]))
        names += [f"tangent-{kind}", "tangent-mean"]
        pages |= {"private ball": "private-ball"}
        pages.setdefault("exact mean", "exact-draws")
    pages |= {name: _PROOFS[name] for name in names}
    found: dict[str, str | None] = {name: _page(page) for name, page in pages.items()}
    for budget in budgets:
        found |= budget.proofs()
    return {**ball_proofs(ball), **found}


# --- A document -----------------------------------------------------------------------------------

_KEYS = {
    "format", "value", "guarantee", "statistic", "neighbours", "manifold", "ball", "mechanism",
    "proofs", "reason", "sensitivity", "tol", "n", "private",
    "expected_distance", "error_quantile_95", "grid", "rounded",
}  # fmt: skip
_OPTIONAL = {"projected", "shrunk", "search", "anchor", "versions"}
_VERSIONS = {"riemdp", "numpy", "scipy", "python-flint", "randomgen", "numba"}


@dataclass(frozen=True)
class Check:
    """One thing that was recomputed.

    Attributes
    ----------
    name : str
        What was checked.
    passed : bool
        Whether it holds.
    detail : str
        The numbers, all public.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> release = riemdp.private_mean(np.full((500, 2), 0.3), ball, riemdp.GDP(1.0))
    >>> check = riemdp.verify(release).checks[0]
    >>> check.name, check.passed
    ('document', True)
    """

    name: str
    passed: bool
    detail: str


class _Release:
    """A release as its document states it, and what is recomputed of it."""

    def __init__(self, document: Any) -> None:
        given = _document.fields(document, _KEYS, _OPTIONAL)
        _require(given["format"] == "riemdp-release/2", "unknown format")
        adjacency = _name(given["neighbours"], "neighbours", _NEIGHBOURS)
        own = _document.fields(given["neighbours"], _NEIGHBOURS[adjacency] | {"type"})
        self.given, self.adjacency = given, adjacency
        self.records = _integer(own.get("records", 1), "records")
        self.contribution = _integer(own.get("contribution", 1), "contribution")
        private = adjacency.startswith("add-remove")
        _require((given["n"] is None) == private, "n is null where it is private, and else not")
        self.n = None if private else _integer(given["n"], "n")
        self.ball = _ball(_space(given["manifold"]), given["ball"])
        self.guarantee = _budget(given["guarantee"])
        self.projected = _document.flag(given.get("projected", True), "projected")
        self.shrunk = _document.flag(given.get("shrunk", False), "shrunk")
        for name in ("expected_distance", "error_quantile_95"):
            _require(given[name] is None or _positive(given[name], name), name)
        self.tol = float(_document.number(given["tol"], "tol"))
        _require(0.0 <= self.tol < math.inf, "tol must be finite and at least 0")
        self.search: SearchReceipt | None = None
        if "search" in given:
            receipt, space = given["search"], self.ball.manifold
            self.search = SearchReceipt(receipt, space, self.n, self.guarantee)
        self._texts()
        self.name = _name(given["mechanism"], "mechanism", _NOISES)
        self.kind, self.coordinates = _NOISES[self.name]
        noise = _document.fields(given["mechanism"], {"type", "sigma"}, {"options"})
        self.sigma = _positive(noise["sigma"], "sigma")

    def _texts(self) -> None:
        _document.text(self.given["reason"], "reason")
        _document.flag(self.given["private"], "private")
        versions = self.given.get("versions", {})
        _document.fields(versions, set(), _VERSIONS)
        for name, version in versions.items():
            _document.text(version, name)
        if "anchor" in self.given:
            privacy.Anchor.from_document(self.given["anchor"])

    def checks(self) -> Iterator[Check]:
        yield from _checked("mechanism", self._noise)
        yield from _checked("search", self._search)
        yield from _checked("arithmetic", self._value)
        yield from _checked("sensitivity", self._sensitivity)
        yield from _checked("guarantee", self._guarantee)
        yield from _checked("proof", self._proof)
        yield Check("randomness", True, self._randomness())

    def _randomness(self) -> str:
        secret = self.given["private"]
        return "secure generator" if secret else "seeded by the caller: NOT private"

    def _queries(self) -> _Queries:
        at = _At(self.ball, self.n, self.coordinates)
        found: _Queries = _read(_STATISTICS, self.given["statistic"], at)
        weighs = self.given["statistic"].get("weighs", False)
        if "user" in self.adjacency:
            _require(weighs == (self.contribution > 1), "contribution and weights do not agree")
            rows = _OF_ROWS & {*names_in(self.given["statistic"])}
            _require(not (weighs and rows), "people with weights have no labels or covariates")
        return found

    def _shrinkage(self, dim: int) -> float:
        return _shrinkage(self.kind, self.sigma, dim)

    @functools.cached_property
    def replayed(self) -> tuple[_Value, list[Query]]:
        kind, sigma = self.kind, self.sigma
        _require(type(self.given["grid"]) is int, "grid must be an integer")
        _require(self.given["grid"] == _grid(sigma), f"the grid of this scale is 2^-{_grid(sigma)}")
        value, asked = _replayed(
            self._queries(),
            _integers(self.given["rounded"]),
            self.given["grid"],
            lambda dim: _mean_length(kind, sigma, dim),
            projected=self.projected,
            shrinkage=self._shrinkage if self.shrunk else None,
        )
        several = len(asked) > 1
        _require(not several or self.projected == asked[0].projects, "projected is another flag")
        _require(not (several and self.shrunk), "several answers are not shrunk")
        return value, asked

    @functools.cached_property
    def asked(self) -> list[Query]:
        """What is asked, which depends on no answer."""
        queries, asked = self._queries(), list[Query]()
        query = next(queries)
        while True:
            asked.append(query)
            _require(len(asked) <= _MOST_STEPS, "too many answers")
            try:
                query = queries.send((np.zeros(query.dim), 0.0))
            except StopIteration:
                return asked

    @functools.cached_property
    def noise(self) -> _Noise:
        first = self.asked[0]
        space = self.ball.manifold if first.points else Euclidean(first.dim)
        base = self.given["mechanism"].get("options", [])
        wanted = ["base"] if self.coordinates and space.chart is None else []
        _require(base == wanted, f"options of this noise on this space are {wanted}")
        if self.shrunk:
            added = self.coordinates or space.chart is not None
            _require(added, "noise that is not added to coordinates is not shrunk")
        if self.coordinates:
            space = Euclidean(first.dim)
        return _Noise(self.kind, space, self.sigma)

    def _noise(self) -> str:
        return f"{self.name}, sigma = {self.noise.sigma:.9g}, on {self.noise.space}"

    def _search(self) -> str | None:
        if self.search is None:
            return None
        known = self.adjacency in _SEARCHED and self.contribution == 1
        _require(known, f"no search is known under {self.adjacency}")
        led = self.search.led_to(self.ball)
        _require(led, "the ball of the release is not the one that was found")
        asked = ", ".join(step["query"] for step in self.search.steps)
        release, budget = self.search.release, self.search.budget
        return f"{asked}; with {release!r} for the release within {budget!r}"

    def _value(self) -> str:
        value, asked = self.replayed
        stated = np.asarray(_document.numbers(self.given["value"], "value"), dtype=np.float64)
        digits = _ONE_ANSWER if len(asked) == 1 else _SEVERAL
        _require(_coincide(value, stated, digits), "the value is not that of the integers")
        count = len(self.given["rounded"])
        return f"the value is that of {count} integers on the grid 2^-{self.given['grid']}"

    @functools.cached_property
    def sensitivity(self) -> float:
        """Sensitivity, with what the stated tolerance adds to it."""
        moved = [_sensitivity(query, self.adjacency, self.n, self.records) for query in self.asked]
        exact, first = max(moved), self.asked[0]
        if self.adjacency == "replace-user" and _OF_ROWS & {*names_in(self.given["statistic"])}:
            # means of rows, rounded towards zero: one unit a coordinate of a grid of 2^-39 moves
            exact *= 1.0 + (math.isqrt(first.dim - 1) + 1) * 2.0**-39
        least = 1e-9 * exact if first.solved else 0.0
        _require(self.tol >= least * (1.0 - _ELSEWHERE), f"tol is under {least:.9g}")
        return exact + 2.0 * first.stretch * self.tol

    def _sensitivity(self) -> str:
        stated = _positive(self.given["sensitivity"], "sensitivity")
        found = self.sensitivity
        size = "n private" if self.n is None else f"n = {self.n}"
        said = f"{self.adjacency}, {size}: stated {stated:.9g}, recomputed {found:.9g}"
        _require(_same(stated, found, _SAME), said)
        return said

    @property
    def budget(self) -> Budget:
        return self.guarantee if self.search is None else self.search.release

    def _guarantee(self) -> str:
        weights = [query.weight for query in self.asked]
        fixed = self.given["reason"] == "given by the caller, calibrated"
        problem = _claim(
            self.noise, self.name, weights, self.sensitivity, self.budget, tight=not fixed
        )
        _require(not problem, problem)
        times = "" if len(weights) == 1 else f", {len(weights)} answers"
        return f"{self.budget!r} from sigma = {self.sigma:.9g}{times}"

    def _proof(self) -> str:
        budgets = [self.guarantee, *([] if self.search is None else [self.search.budget])]
        found = _proofs(
            self.ball, self.given["statistic"], self.adjacency, self.name, budgets,
            points=self.asked[0].points, search=self.search is not None,
        )  # fmt: skip
        _require(isinstance(self.given["proofs"], dict), "proofs must be an object")
        stated: dict[str, Any] = self.given["proofs"]
        for name, known in found.items():
            _require(known is not None, f"no proof is known of {shown(name)}")
            _require(known == stated.get(name), f"the proof of {name} is {known}")
        others = ", ".join(shown(name) for name in stated if name not in found)
        _require(
            not others, f"a proof is stated for {others}, on which the guarantee does not rest"
        )
        return ", ".join(dict.fromkeys(str(page) for page in found.values()))


_FAILED = (
    RiemdpError, ArithmeticError, np.linalg.LinAlgError, ValueError, TypeError, LookupError,
    AttributeError,
)  # fmt: skip


def _checked(name: str, recompute: Callable[[], str | None]) -> Iterator[Check]:
    """Yield a check: what fails does not hold; nothing where there is nothing to check."""
    try:
        said = recompute()
    except RiemdpError as error:
        yield Check(name, False, str(error))
    except _FAILED as error:
        yield Check(name, False, f"it cannot be recomputed ({type(error).__name__})")
    else:
        if said is not None:
            yield Check(name, True, said)


def check_document(
    document: Any, check: Callable[[Any], tuple[Check, ...]] | None = None
) -> tuple[Check, ...]:
    """Return the checks of the document of a release, or of releases of groups.

    ``check`` is what checks one release, by default :func:`check_release`.
    """
    check = check or check_release
    if not (isinstance(document, dict) and "releases" in document):
        return check(document)
    groups = tuple(_checked("groups", lambda: _groups(document)))
    if not groups[0].passed:
        return groups
    for name, one in zip(document["names"], document["releases"], strict=True):
        found = check(one)
        groups += tuple(Check(f"{name}: {each.name}", each.passed, each.detail) for each in found)
    return groups


def check_release(document: Any) -> tuple[Check, ...]:
    """Return the checks of the document of one release."""
    found: list[_Release] = []

    def read() -> str:
        found.append(_Release(document))
        return "every key is known"

    complete = tuple(_checked("document", read))
    return (*complete, *found[0].checks()) if found else complete


def _groups(document: Any) -> str:
    given = _document.fields(document, {"format", "names", "guarantee", "releases"})
    _require(given["format"] == "riemdp-private-means-1", "unknown format")
    names, releases = given["names"], given["releases"]
    _require(isinstance(names, list) and isinstance(releases, list), "names and releases are lists")
    _require(all(type(name) in (int, str) for name in names), "names must be integers or texts")
    _require(len(set(names)) == len(names) == len(releases) > 0, "one name a group is needed")
    whole, parts = _budget(given["guarantee"]), [_budget(one["guarantee"]) for one in releases]
    _require(
        all(whole == part or whole.follows_from(part) for part in parts) and whole in parts,
        f"{whole} is not the weakest guarantee of the groups",
    )
    kinds = {one["neighbours"]["type"] for one in releases}
    one_group = {"replace-one", "replace-point", "add-remove", "replace-user", "add-remove-user"}
    _require(len(kinds) == 1 and kinds <= one_group, "neighbours may differ in several groups")
    return f"{whole!r} of {len(names)} groups that nobody is in two of"
