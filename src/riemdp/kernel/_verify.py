"""Release files checked from names and public numbers alone.

From the names in a document (space, statistic, adjacency, noise) and its public numbers this file
derives anew how far one record can move each answer, what the noise of that scale guarantees, and
the value that the released integers stand for. It holds these against what the document states. It
uses the maps of :mod:`riemdp.spaces`, the curves of :mod:`riemdp.privacy` and the costs of the
kernel, as the release did, and none of its other code: no statistics, mechanisms or samplers.
Derivations are in docs/proofs, under the page that ``_PROOFS`` names for each part.

A statistic is a generator of queries (:class:`Query`): each says how many coordinates are asked
for, which share of the budget it gets, and how long a record's row is and can move. It is sent the
noisy coordinates, and returns the value. How far an answer moves follows from its query and the
adjacency, see :func:`_sensitivity`; the guarantee from that and the scale of each answer's noise,
see :func:`_claim`; the value is what the generator returns.

Keys of a document that no number here depends on are in :data:`STATED`. Unknown keys fail.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from riemdp import _document, privacy, spaces
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp.kernel._costs import Choice, noise, within_budget
from riemdp.kernel._verify_search import check_search
from riemdp.privacy import GDP, ZCDP, Budget, PureDP
from riemdp.spaces import Ball, Euclidean, Manifold, ball_proofs, clip_norm

#: Keys that no check depends on: an edit of them passes.
STATED = {
    "reason": "text for readers; that a caller gave the scale, which then may be more than needed",
    "versions": "versions of what drew the release, of which the names are checked",
    "private": "whether the bits were secret, which no document can show",
    "nonce": "random bits, which make the header another one; their form is checked",
    "anchor": "entry of a ledger, which the ledger verifies",
    "names": "names of groups",
    "classes": "labels, which rows alone depend on; their number is checked",
    "low, high, design": "covariates, which rows alone depend on; their number is checked",
}
#: Keys that are checked by what follows from them. An edit passes where nothing does.
FOLLOWED = {
    "projected": "where one answer was drawn, and lies in the ball",
    "rounded": "where the value does not follow an integer: of a spread that was clipped, of a "
    "draw out of the ball in one dimension, or of the number that such a draw is divided by; and "
    "within rounding of the value",
    "n": "where answers are sums, or public weights stand for it",
    "ball.center": "where the value is coordinates about it, or records are directions",
    "ball.radius, ball.radii": "of a product, where the other one is less; and of directions",
    "alpha, threshold, clip, eta, last, weight": "where another length was less",
    "contribution": "where it is more than one: how many records a person counts for",
    "guarantee": "of two numbers the one that binds less: mu of MeanCDP, xi of ZCDP",
    "weighs": "where a row moves as far as it is long, and the number is one or more",
    "tol": "from 1e-9 of the sensitivity on: that the mean was certified to it is not checked",
    "share, alpha": "of a variance about a public centre, which has no first round",
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
#: What a number that has to be finite is at most.
_FINITE = sys.float_info.max
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
    found: Manifold = _named(document, spaces, Manifold, spaces.__all__)
    return found


def _budget(document: Any) -> Budget:
    found: Budget = _named(document, privacy, Budget, _BUDGETS)
    return found


def _ball(space: Manifold, document: Any) -> Ball:
    given = _document.fields(document, {"center", "radius"}, {"radii"})
    center = np.asarray(_document.numbers(given["center"], "center"))
    radius = _real(given["radius"], "radius")
    if "radii" not in given:
        return Ball(space, center, radius)
    radii = np.ravel(_document.numbers(given["radii"], "radii")).tolist()
    found = spaces.BoxBall(space, center, radius, tuple(radii))
    _require(found.radius == radius, "the radius is more than that of the product of the balls")
    return found


def _integer(value: Any, name: str, least: int = 1) -> int:
    _require(type(value) is int and value >= least, f"{name} must be an integer, {least} or more")
    return int(value)


def _real(value: Any, name: str) -> float:
    found = _entry(name, value)
    _require(isinstance(found, (int, float)), f"{name} must be a number")
    return float(found)


def _positive(value: Any, name: str, most: float = math.inf) -> float:
    found = _real(value, name)
    _require(0.0 < found <= most, f"{name} must be positive, at most {most:g}, got {found}")
    return found


def _scale(value: Any) -> float:
    return _positive(value, "sigma", _FINITE)


# --- Queries --------------------------------------------------------------------------------------


class Query(NamedTuple):
    """What is asked of the records: a mean, or a sum, of one row of each, with noise.

    A row has norm at most ``norm``, and moves by at most ``move`` if its record is replaced, both
    in units of ``unit``. ``share`` is that of the budget.
    """

    dim: int
    unit: float = 1.0
    move: float = 2.0
    norm: float = 1.0
    share: float = 1.0
    #: Part of a mean that one record is at most; 1/n if that is 0.
    each: float = 0.0
    total: bool = False
    #: Whether rows are multiplied by a private weight in [0, 1], which may be replaced too.
    weighs: bool = False
    #: Largest norm of an answer, which one draw may be projected to.
    reach: float = math.inf
    #: Whether answers are points of the ball, and not vectors.
    points: bool = False
    #: Of an intrinsic mean: how far it moves, and how much farther coordinates do than distances.
    moves: float | None = None
    stretch: float = 1.0
    #: Whether the mean is computed to a tolerance, and not a sum of integers.
    solved: bool = False
    #: Whether a person's rows are averaged, and not points.
    of_rows: bool = False
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
    each: float = 0.0  # see Query

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
#: Is sent noisy coordinates, and the standard deviation of the noise in each.
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


def _frechet_move(ball: Ball, each: float) -> float:
    """``2rw``, and ``min(2r, 2 tan(kr) w / k)`` under curvature ``k^2``, for a part ``w``."""

    def of(one: Ball) -> float:
        space, r = one.manifold, one.radius
        _require(r < space.convexity_radius, "the ball is too large for one Fréchet mean")
        if space.curvature_bound <= 0.0:
            return 2.0 * r * each
        _require(r <= 0.998 * space.convexity_radius, "the ball nearly fills a hemisphere")
        k = math.sqrt(space.curvature_bound)
        return min(2.0 * r, 2.0 * math.tan(k * r * (1.0 + _ROUNDING)) / k * each)

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


def _mean(at: _At, *, intrinsic: bool) -> _Queries:
    asked = Query(at.dim, at.reach, reach=at.reach, points=True)
    if intrinsic:
        stretch = _log_stretch(at.ball) if at.coordinates else 1.0
        moves = _frechet_move(at.ball, at.each or 1.0 / _size(at))
        solved = not _is_sum(at.ball.manifold)
        asked = asked._replace(moves=moves, stretch=stretch, solved=solved)
    else:
        flat = _above(at.ball.manifold).chart is not None or at.dim == 1
        _require(at.coordinates or flat, "a tangent mean needs noise in the tangent space")
    answer, _ = yield asked
    return _on_ball(at, at.ball.point(answer))


def _size(at: _At) -> int:
    _require(at.n is not None, "a mean needs a public number of records")
    return int(at.n or 0)


def _frechet_mean(at: _At) -> _Queries:
    return _mean(at, intrinsic=True)


def _tangent_mean(at: _At) -> _Queries:
    return _mean(at, intrinsic=False)


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
    of_rows: bool = False
    share: float = 1.0

    @property
    def query(self) -> Query:
        """Of the features, which are sent in turn."""
        return Query(
            self.size, self.unit, self.move, self.norm, self.share, reach=self.norm * self.unit,
            counts=self.counts, only=self.only, of_rows=self.of_rows,
        )  # fmt: skip


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
    return _Rows(d, size, move, norm, at.reach, counts=counts, only=only, of_rows=True)


def _tangent_regression(at: _At, *, low: Any, high: Any, design: Any) -> _Rows:
    """``(v, s v, s, sqrt(2) s^2)`` of the covariate s, or public rows of norm 1 times v."""
    low, high = _real(low, "low"), _real(high, "high")
    _require(-math.inf < low < high < math.inf, "low must be less than high")
    design = np.asarray(_document.numbers(design, "design"), dtype=np.float64)
    _require(design.ndim == 1, "design must be a list of numbers")
    if not len(design):
        move = _rounded(math.sqrt(8.0), at.dim + 1)
        return _Rows(at.dim, 2 * at.dim + 2, move, math.sqrt(5.0), at.reach, of_rows=True)
    _require(len(design) == at.n, "the design has not n covariates")
    _require(low <= design.min() and design.max() <= high, "the design is not from low to high")
    return _Rows(at.dim, 2 * at.dim, 2.0, 1.0, at.reach, only=_PUBLIC, of_rows=True)


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
    answer, _ = yield rows.query
    return _raw(answer)


def _variance(at: _At, *, base: Any, share: Any, alpha: Any) -> _Queries:
    """Second moment less the squared mean, which is larger by the mean square of its noise."""
    _require(base in ("recentred", "public"), "base must be recentred or public")
    rows, unit = _moments(at, second="scalar"), at.reach
    if base == "public":
        answer, deviation = yield rows.query
    else:
        place, answer, deviation = yield from _two_rounds(at, rows, share, alpha)
        unit = place.unit
    features, noise = answer / at.reach, deviation / at.reach
    vector, second = features[:-1], float(features[-1]) / _FREE
    found = second - float(vector @ vector) + at.dim * noise * noise
    square = at.reach**2
    variance = min(min(max(found, 0.0), 1.0) * unit**2, square)
    return Euclidean(1), np.array([0.5 * square]), np.array([variance])


def _direct_variance(at: _At) -> _Queries:
    n, half = _size(at), 0.5 * at.reach**2
    moves = 2.0 * half * min(1.0, 4.0 * max(n - 1, 1) / n**2 + 2.0**-40 / n)
    answer, _ = yield Query(1, at.reach, moves=moves, reach=half)
    return Euclidean(1), np.array([half]), half + answer


# --- Steps: answers in turn -----------------------------------------------------------------------


class _Place(NamedTuple):
    """Where records are seen from."""

    point: Any  # in the ball of steps
    unit: float  # length that the radius of the next answer stands for


def _asked(at: _At, share: float, *, moment: bool) -> Query:
    """Ask for the mean of what is seen, with the moment that costs nothing or without."""
    norm = math.hypot(1.0, _FREE) if moment else 1.0
    return Query(at.dim + moment, at.reach, norm=norm, share=share, reach=norm * at.reach)


def _stepped(at: _At, point: Any, answer: Any, length: float) -> Any:
    """Go along a noisy mean, of which the radius stands for a length."""
    vector = clip_norm(answer[: at.dim] / at.reach, 1.0)
    return at.stepped(point, vector * length)


def _spread(at: _At, answer: Any, deviation: float) -> float:
    """Return the spread about a noisy mean, over what the radius stands for.

    Its square is ``moment - |mean|^2`` plus twice the mean square of the noise of the mean.
    """
    vector, noise = clip_norm(answer[:-1] / at.reach, 1.0), deviation / at.reach
    square = at.dim * noise * noise
    variance = float(answer[-1]) / at.reach / _FREE - float(vector @ vector) + square
    return math.sqrt(max(variance, 0.0) + square)


def _at_mean(at: _At, place: _Place, answer: Any, deviation: float, alpha: float) -> _Place:
    """Go to the noisy mean, and clip to ``alpha`` times the spread about it."""
    spread = _spread(at, answer, deviation) * place.unit
    length = max(alpha * spread, 0.125 * place.unit, 2.0**-40 * at.reach)
    point = _stepped(at, place.point, answer, place.unit)
    return _Place(point, min(at.reach, length))


def _ended(at: _At, point: Any) -> _Value:
    return _on_ball(at, point if at.steps is at.ball else at.ball.point(point))


def _refined_mean(at: _At, *, rounds: Any, shares: Any, alpha: Any) -> _Queries:
    rounds, alpha = _integer(rounds, "rounds"), _positive(alpha, "alpha", _FINITE)
    _require(isinstance(shares, list) and len(shares) == rounds, "one share a round is needed")
    parts = [_positive(share, "a share", 1.0) for share in shares]
    _require(math.isclose(math.fsum(parts), 1.0, rel_tol=_ELSEWHERE), "shares must sum to 1")
    if rounds == 1:
        return (yield from _mean(at, intrinsic=False))
    place = _Place(at.steps.center, at.reach)
    for share in parts[:-1]:
        answer, deviation = yield _asked(at, share, moment=True)
        place = _at_mean(at, place, answer, deviation, alpha)
    answer, _ = yield _asked(at, parts[-1], moment=False)
    return _ended(at, _stepped(at, place.point, answer, place.unit))


def _warm_steps(
    at: _At, steps: Any, share: Any, unit: Callable[[float], float], lengths: tuple[float, float]
) -> _Queries:
    """Return a first round, and steps of equal shares whose last half is averaged.

    ``unit`` is what is clipped to, or how long steps are, for records of a spread; ``lengths`` are
    those of the first step in that unit, and of the last one over the first one's.
    """
    steps, share = _integer(steps, "steps"), _positive(share, "warm_share", 1.0)
    _require(steps < _MOST_STEPS and share < 1.0, "too many steps, or nothing left for them")
    answer, deviation = yield _asked(at, share, moment=True)
    point = _stepped(at, at.steps.center, answer, at.reach)
    spread = _spread(at, answer, deviation) * at.reach
    far, trail = min(at.reach, max(unit(spread), 2.0**-40 * at.reach)), []
    for step in range(steps):
        answer, _ = yield _asked(at, (1.0 - share) / steps, moment=False)
        length = lengths[0] * lengths[1] ** (step / max(1, steps - 1)) * far
        point = _stepped(at, point, answer, min(length, 2.0 * at.reach))
        trail += [point] if 2 * (step + 1) > steps else []
    with np.errstate(all="ignore"):  # the average, seen from where it ends
        seen = np.asarray(at.steps.manifold.coordinates(point, np.array(trail)))
    seen = np.where(np.isfinite(seen).all(axis=-1, keepdims=True), seen, 0.0)
    return _ended(at, at.stepped(point, seen.mean(axis=0)))


def _geometric_median(at: _At, *, steps: Any, warm_share: Any, eta: Any, last: Any) -> _Queries:
    eta, last = _positive(eta, "eta", _FINITE), _positive(last, "last", 1.0)
    return _warm_steps(at, steps, warm_share, lambda spread: spread, (eta, last))


def _huber_mean(at: _At, *, steps: Any, warm_share: Any, threshold: Any, clip: Any) -> _Queries:
    factor, most = _positive(threshold, "threshold"), _positive(clip, "clip")

    def unit(spread: float) -> float:
        return min(most, factor * spread) if spread > 0.0 else most

    return _warm_steps(at, steps, warm_share, unit, (1.0, 1.0))


def _two_rounds(at: _At, rows: _Rows, share: Any, alpha: Any) -> Any:
    """Return where the tangent mean leads, and features seen from there, with their noise."""
    alpha, share = _positive(alpha, "alpha", _FINITE), _positive(share, "share", 1.0)
    _require(rows.recentres and share < 1.0, "no sum of normal coordinates, or no second share")
    first = _asked(at, share, moment=True)
    answer, deviation = yield first._replace(only=rows.only, of_rows=rows.of_rows)
    start = _Place(at.steps.center, at.reach)
    place = _at_mean(at, start, answer, deviation, alpha)
    answer, deviation = yield rows._replace(share=1.0 - share).query
    return place, answer, deviation


def _recentred(at: _At, *, statistic: Any, share: Any, alpha: Any) -> _Queries:
    rows = _read(_FEATURES, statistic, at)
    place, answer, _ = yield from _two_rounds(at, rows, share, alpha)
    base = at.steps.manifold.coordinates(at.steps.center, place.point)
    return _raw(np.concatenate([base, [place.unit], answer]))


# --- All statistics -------------------------------------------------------------------------------


def _features_alone(name: str) -> Callable[..., _Queries]:
    @functools.wraps(_FEATURES[name])
    def asked(at: _At, **given: Any) -> _Queries:
        return _of_features(_FEATURES[name](at, **given))

    return asked


#: Statistics that are means of bounded rows, one a record; the Fréchet mean on flat spaces alone.
_SUMS: dict[str, Callable[..., _Queries]] = {
    "frechet-mean": _frechet_mean,
    "tangent-mean": _tangent_mean,
    **{name: _features_alone(name) for name in _FEATURES},
    "variance": _variance,
    "refined-mean": _refined_mean,
    "geometric-median": _geometric_median,
    "huber-mean": _huber_mean,
    "recentred": _recentred,
}


def _weighted(at: _At, *, statistic: Any, share: Any) -> _Queries:
    """Ask for means with public weights, of whose sum the largest is a share."""
    share = _positive(share, "share", 1.0)
    _require(_size(at) * Fraction(share) >= 1, "share is under 1 / n")
    beside = _OF_ROWS & {*names_in(statistic)}
    _require(not beside, "records with public weights have no labels or covariates")
    inner = _read(_SUMS, statistic, replace(at, each=share))
    query = next(inner)
    while True:
        answer = yield query._replace(each=share, only=_PLACES)
        try:
            query = inner.send(answer)
        except StopIteration as end:
            value: _Value = end.value
            return value


def _counted(at: _At, *, statistic: Any, weight: Any, weighs: Any) -> _Queries:
    """Ask for sums instead of means, and for the number of records with the first one.

    Rows are divided by the largest norm of what one record adds, so that answers move by their
    unit if one is added. Classes, of which every record is in one, say how many there are. With
    ``weighs`` that is the sum of private weights, and no less than its noise is divided by.
    """
    inner = _read(_SUMS, statistic, _At(at.ball, 1, coordinates=True))
    query, number, least = next(inner), 0.0, 1.0
    _require(type(weighs) is bool, "weighs must be true or false")
    _require(type(weight) in (float, int), "weight must be a number")
    if query.counts is None:
        weight = _count_weight(weight)
    else:
        _require(weight == 0, "features that count records need no weight")
    first, counted = True, float(weight)
    while True:
        _require(not query.solved, "a Fréchet mean is no sum over the records here")
        _require(not query.only, "public sizes or covariates say how many records there are")
        scale, size = 1.0 / math.hypot(query.norm, counted), query.dim
        answer, deviation = yield query._replace(
            dim=size + (1 if counted else 0), move=scale * query.move, norm=1.0, total=True,
            points=False, moves=None, reach=_MOST_RECORDS * query.unit, weighs=weighs,
        )  # fmt: skip
        if first:
            start, stop, one = query.counts or (size, size + 1, counted)
            one *= scale * query.unit
            number = math.fsum(answer[start:stop]) / one
            if weighs:
                least = max(deviation * math.sqrt(stop - start) / one, 2.0**-20)
        first, counted = False, 0.0
        each = 1.0 / (scale * max(number, least))
        mean = answer[:size] * each
        try:
            query = inner.send((at.ball.shorten(mean) if query.points else mean, deviation * each))
        except StopIteration as end:
            value: _Value = end.value
            break
    in_parts = statistic["type"] == "recentred" or statistic["type"] in _FEATURES
    return _raw(np.append(value[2], number)) if in_parts else value


#: Statistics by name: the queries of each.
_STATISTICS: dict[str, Callable[..., _Queries]] = {
    **_SUMS,
    "direct-variance": _direct_variance,
    "weighted": _weighted,
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
    """Return how far an exact answer moves between neighbours.

    ``move / n`` of a mean and ``move`` of a sum if a record is replaced; ``norm`` if one is added
    or removed; the larger of both if a private weight changes too.
    """
    fits = not query.only or adjacency in query.only
    _require(fits, f"what is public of each record needs {' or '.join(query.only)}")
    if adjacency.startswith("add-remove"):
        _require(query.total, "a mean moves by an unknown length if n is private")
        return query.unit * query.norm
    if query.moves is not None:
        found = query.moves
    elif query.total:
        weighs = query.weighs and adjacency != "replace-point"
        found = query.unit * max(query.move, query.norm if weighs else 0.0)
    else:
        found = query.unit * query.move * (query.each or 1.0 / _integer(n, "n"))
    if adjacency == "groups":  # so many moves, at most the diameter
        return min(min(records, n or 0) * found, 2.0 * query.reach)
    if adjacency == "replace-user" and query.of_rows:
        # rounding a mean of rows towards zero adds one grid unit a coordinate, 2^-39 of a move
        found *= 1.0 + (math.isqrt(query.dim - 1) + 1) * 2.0**-39
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


def _deviation(kind: str, sigma: float, dim: int) -> float:
    """Return that of one coordinate of noise in so many; 0 where float64 has no square."""
    found = sigma * math.sqrt(dim + 1.0 if kind == "laplace" else 1.0)
    return found if dim * found * found < math.inf else 0.0


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
    kind: str,
    scales: list[float],
    *,
    projected: bool,
    shrunk: bool = False,
) -> _Value:
    """Return the value that integers stand for: answers with noise of these scales, in turn."""
    query, start = next(queries), 0
    for sigma in scales:
        own = integers[start : start + query.dim]
        start += query.dim
        _require(len(own) == query.dim, "rounded has fewer integers than there are coordinates")
        answer = _coordinates(own, _grid(sigma))
        if shrunk:
            length = math.hypot(*answer)
            h = _shrinkage(kind, sigma, query.dim)
            ratio = math.sqrt(h) / length if length > 0.0 else math.inf
            answer = answer * max(0.0, 1.0 - ratio * ratio)
        answer = clip_norm(answer, query.reach) if projected else answer
        try:
            query = queries.send((answer, _deviation(kind, sigma, query.dim)))
        except StopIteration as end:
            _require(start == len(integers), "rounded has more integers than coordinates")
            value: _Value = end.value
            return value
    raise _ProblemError("there are more answers than scales")


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


def _claim(noise: _Noise, sensitivity: float, budget: Budget, *, tight: bool) -> None:
    """Require that noise guarantees a budget.

    ``tight`` says that the scale was made for the budget: then no larger sensitivity is within it.
    """
    said, slack = f"sigma = {noise.sigma:.9g}", _FLAT_SLACK if noise.is_added else _CURVED_SLACK
    enough = noise.satisfies(sensitivity * (1.0 - _LAST_DIGITS), budget)
    _require(enough, f"{said} is too little for {budget}")
    more = tight and noise.satisfies(sensitivity * (1.0 + slack), budget)
    _require(not more, f"{said} is more than {budget} needs")


# --- Proofs ---------------------------------------------------------------------------------------

_PAGES = {
    "index": "replace-one replace-point groups",
    "neighbours": "replace-user add-remove add-remove-user counted weighted",
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
    "frechet-mean", "tangent-mean", "refined-mean", "geometric-median", "huber-mean",
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
    if statistic["type"] in ("counted", "weighted"):
        statistic = statistic["statistic"]
    if statistic["type"] == "variance":
        names += ["moments", *(["recentred"] if statistic["base"] == "recentred" else [])]
    elif statistic["type"] == "refined-mean" and statistic["rounds"] == 1:
        names += ["tangent-mean" if ball.manifold.chart is None else "frechet-mean"]
    pages = {"exact draw": "exact-draws"}
    if points and mechanism.startswith("riemannian"):
        pages |= _laws(ball.manifold)
    if statistic["type"] in _EXACT_MEANS:
        intrinsic = statistic["type"] == "frechet-mean"
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

_KEYS, _OPTIONAL = {"format", "header", "rounded", "shrunk", "value"}, {"search", "anchor"}
_HEADER = {
    "nonce", "versions", "manifold", "ball", "statistic", "neighbours", "n", "guarantee",
    "mechanism", "queries", "projected", "private", "proofs", "reason",
}  # fmt: skip
_QUERY = {"dim", "share", "sensitivity", "tol", "sigma", "grid"}
_VERSIONS = {"riemdp", "numpy", "scipy", "python-flint", "randomgen"}


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
        self.result = _document.fields(document, _KEYS, _OPTIONAL)
        _require(self.result["format"] == "riemdp-release/3", "unknown format")
        given = _document.fields(self.result["header"], _HEADER)
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
        self.projected = _document.flag(given["projected"], "projected")
        self.shrunk = _document.flag(self.result["shrunk"], "shrunk")
        self.search: SearchReceipt | None = None
        if "search" in self.result:
            receipt, space = self.result["search"], self.ball.manifold
            self.search = SearchReceipt(receipt, space, self.n, self.guarantee)
        self._texts()
        self.name = _name(given["mechanism"], "mechanism", _NOISES)
        self.kind, self.coordinates = _NOISES[self.name]
        _document.fields(given["mechanism"], {"type"}, {"options"})
        _require(isinstance(given["queries"], list), "queries must be a list")
        self.queries = [_document.fields(each, _QUERY) for each in given["queries"]]
        self.scales = [_scale(each["sigma"]) for each in self.queries]
        _require(self.scales, "there must be a query")
        self.sigma = self.scales[-1]
        if len(self.scales) > 1:
            _require(not self.projected, "draws of several answers are not projected")
            _require(not self.shrunk, "several answers are not shrunk")

    def _texts(self) -> None:
        _document.text(self.given["reason"], "reason")
        _document.flag(self.given["private"], "private")
        nonce = _document.text(self.given["nonce"], "nonce")
        _require(re.fullmatch("[0-9a-f]{32}", nonce), "the nonce must be 32 hex digits")
        versions = self.given["versions"]
        _document.fields(versions, set(), _VERSIONS)
        for name, version in versions.items():
            _document.text(version, name)
        if "anchor" in self.result:
            privacy.Anchor.from_document(self.result["anchor"])

    def checks(self) -> Iterator[Check]:
        yield from _checked("queries", self._dims)
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

    def _dims(self) -> str:
        for stated, query, sigma in zip(self.queries, self.asked, self.scales, strict=True):
            for name, own in (("dim", query.dim), ("grid", _grid(sigma))):
                right = type(stated[name]) is int and stated[name] == own
                _require(right, f"{name} of a query is {own}, not {shown(stated[name])}")
            share = _positive(stated["share"], "share")
            _require(_same(share, query.share, _SAME), f"a share is {query.share}, not {share}")
        return f"{len(self.queries)}, with {sum(query.dim for query in self.asked)} coordinates"

    @functools.cached_property
    def asked(self) -> list[Query]:
        """What is asked, which depends on no answer."""
        queries, asked = self._queries(), list[Query]()
        query = next(queries)
        while True:
            asked.append(query)
            _require(len(asked) <= len(self.scales), "there are more answers than queries")
            try:
                query = queries.send((np.zeros(query.dim), 0.0))
            except StopIteration:
                _require(len(asked) == len(self.scales), "there are more queries than answers")
                return asked

    @functools.cached_property
    def noise(self) -> _Noise:
        """That of the last answer."""
        last = self.asked[-1]
        space = self.ball.manifold if last.points else Euclidean(last.dim)
        base = self.given["mechanism"].get("options", [])
        wanted = ["base"] if self.coordinates and space.chart is None else []
        _require(base == wanted, f"options of this noise on this space are {wanted}")
        if self.shrunk:
            added = self.coordinates or space.chart is not None
            _require(added and not last.total, "only means with added noise are shrunk")
        if self.coordinates:
            space = Euclidean(last.dim)
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
        integers = _integers(self.result["rounded"])
        value = _replayed(
            self._queries(), integers, self.kind, self.scales,
            projected=self.projected, shrunk=self.shrunk,
        )  # fmt: skip
        stated = np.asarray(_document.numbers(self.result["value"], "value"), dtype=np.float64)
        digits = _ONE_ANSWER if len(self.scales) == 1 else _SEVERAL
        _require(_coincide(value, stated, digits), "the value is not that of the integers")
        grid = _grid(self.sigma)
        return f"the value is that of {len(integers)} integers, the last on the grid 2^-{grid}"

    @functools.cached_property
    def moved(self) -> list[float]:
        """Sensitivities, with what the stated tolerances add to them."""
        found = []
        for query, stated in zip(self.asked, self.queries, strict=True):
            moved = _sensitivity(query, self.adjacency, self.n, self.records)
            tol = float(_document.number(stated["tol"], "tol"))
            _require(0.0 <= tol < math.inf, "tol must be finite and at least 0")
            least = 1e-9 * moved if query.solved else 0.0
            _require(tol >= least * (1.0 - _ELSEWHERE), f"tol is under {least:.9g}")
            found.append(moved + 2.0 * query.stretch * tol)
        return found

    def _sensitivity(self) -> str:
        size = "n private" if self.n is None else f"n = {self.n}"
        for found, query in zip(self.moved, self.queries, strict=True):
            stated = _positive(query["sensitivity"], "sensitivity")
            said = f"{self.adjacency}, {size}: stated {stated:.9g}, recomputed {found:.9g}"
            _require(_same(stated, found, _SAME), said)
        return said

    @property
    def budget(self) -> Budget:
        return self.guarantee if self.search is None else self.search.release

    def _guarantee(self) -> str:
        if len(self.asked) == 1:
            fixed = self.given["reason"] == "given by the caller, calibrated"
            _claim(self.noise, self.moved[0], self.budget, tight=not fixed)
            return f"{self.budget!r} from sigma = {self.sigma:.9g}"
        shares = [query.share for query in self.asked]
        sizes = [query.dim for query in self.asked]
        for sigma, size, moved, share in set(
            zip(self.scales, sizes, self.moved, shares, strict=True)
        ):
            noise = _Noise(self.kind, Euclidean(size), sigma)
            if self.name == "tangent-gaussian":  # squares of ratios of one law add up
                whole = math.sqrt(math.fsum(shares) / share)
                _claim(noise, moved * whole, self.budget, tight=True)
            else:
                part = Fraction(share) / max(Fraction(1), sum(map(Fraction, shares)))
                _claim(noise, moved, self.budget.part(part), tight=True)
        return f"{self.budget!r} from {len(shares)} answers, the last with sigma = {self.sigma:.9g}"

    def _proof(self) -> str:
        budgets = [self.guarantee, *([] if self.search is None else [self.search.budget])]
        found = _proofs(
            self.ball, self.given["statistic"], self.adjacency, self.name, budgets,
            points=self.asked[-1].points, search=self.search is not None,
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
    names = document["header"]["names"]
    for name, one in zip(names, document["releases"], strict=True):
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
    given = _document.fields(document, {"format", "header", "releases"})
    _require(given["format"] == "riemdp-private-means/2", "unknown format")
    header = _document.fields(given["header"], {"names", "guarantee", "headers"})
    names, releases = header["names"], given["releases"]
    _require(isinstance(names, list) and isinstance(releases, list), "names and releases are lists")
    _require(all(type(name) in (int, str) for name in names), "names must be integers or texts")
    _require(len(set(names)) == len(names) == len(releases) > 0, "one name a group is needed")
    digests = [_document.digest(one["header"]) for one in releases]
    _require(header["headers"] == digests, "headers must be the digests of all headers, in order")
    whole = _budget(header["guarantee"])
    parts = [_budget(one["header"]["guarantee"]) for one in releases]
    _require(
        all(whole == part or whole.follows_from(part) for part in parts) and whole in parts,
        f"{whole} is not the weakest guarantee of the groups",
    )
    kinds = {one["header"]["neighbours"]["type"] for one in releases}
    one_group = {"replace-one", "replace-point", "add-remove", "replace-user", "add-remove-user"}
    _require(len(kinds) == 1 and kinds <= one_group, "neighbours may differ in several groups")
    return f"{whole!r} of {len(names)} groups that nobody is in two of"


def stated_in(document: Any) -> tuple[str, ...]:
    """Return the keys of a document that are stated and not checked; see :data:`STATED`."""
    known = {part for key in STATED for part in key.split(", ")}
    return tuple(sorted(known & set(_keys(document))))


def _keys(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        yield from document
    if isinstance(document, (dict, list)):
        for each in document.values() if isinstance(document, dict) else document:
            yield from _keys(each)
