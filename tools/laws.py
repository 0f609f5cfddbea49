"""Laws of everything that is registered, with an example of each part.

A law is a function that raises ``AssertionError``; tests/test_laws.py runs all of them.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from riemdp import (
    Ball,
    Euclidean,
    Grassmann,
    Hyperbolic,
    InvalidParameterError,
    KendallShapes,
    NotOnManifoldError,
    PlanarShapes,
    Power,
    Product,
    ProductBall,
    ProjectiveSpace,
    QuotientBall,
    Records,
    Rotations,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
    Torus,
    UnsupportedError,
)
from riemdp.kernel import in_tiles, joined, rows_for
from riemdp.kernel import taken as of_tile
from riemdp.spaces import FlatProduct
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    Answer,
    ClassMoments,
    Counted,
    DirectionalMoments,
    DirectVariance,
    FrechetMean,
    GeometricMedian,
    Groups,
    HuberMean,
    MeanRotation,
    Metric,
    Moments,
    PointStatistic,
    Prepared,
    ProcrustesMean,
    Recentred,
    RefinedMean,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    Summaries,
    TangentMean,
    TangentRegression,
    Variance,
    Weighted,
    answer,
    outline,
    through,
    weighted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from riemdp import Manifold
    from riemdp.statistics import Neighbours, Query, Statistic

    FloatArray = NDArray[np.float64]
    Row = tuple[Fraction, ...]


def about(space: Manifold, radius: float) -> Ball:
    """Return a ball whose centre is not the origin."""
    start = Ball(space, space.origin, min(radius, 0.3))
    turned = np.cos(np.arange(space.dim) + 1.0) / np.sqrt(space.dim)
    return Ball(space, start.point(0.2 * turned), radius)


def at_origin(space: Manifold, radius: float) -> Ball:
    """Return a ball about the origin."""
    return Ball(space, space.origin, radius)


def aligned(space: Any, radius: float) -> Ball:
    """Return a ball of a quotient for its aligned mean."""
    return QuotientBall(space, space.origin, radius, mean="aligned")


_MIXED = Product(Sphere(2), Hyperbolic(2), Euclidean(1))
#: Balls by name: every registered manifold is in one of them.
BALLS: dict[str, Callable[[], Ball]] = {
    "line": lambda: Ball(Euclidean(1), [0.5], 3.0),
    "euclidean": lambda: Ball(Euclidean(3), [1.0, -2.0, 0.0], 0.7),
    "euclidean 13": lambda: at_origin(Euclidean(13), 2.0),
    "euclidean tiny": lambda: at_origin(Euclidean(2), 1e-75),
    "euclidean huge": lambda: at_origin(Euclidean(2), 1e75),
    "circle": lambda: about(Sphere(1), 1.2),
    "sphere": lambda: about(Sphere(2), 0.8),
    "sphere wide": lambda: about(Sphere(2), 3.0),
    "sphere whole": lambda: Ball.whole(Sphere(2)),
    "sphere 3 whole": lambda: Ball.whole(Sphere(3)),
    "sphere 4": lambda: about(Sphere(4, 2.5), 0.6),
    "sphere 9 whole": lambda: Ball.whole(Sphere(9)),
    "hyperbolic": lambda: about(Hyperbolic(2), 1.9),
    "hyperbolic 5": lambda: about(Hyperbolic(5, -2.0), 3.0),
    "hyperbolic 9": lambda: about(Hyperbolic(9), 2.0),
    "log-euclidean 2": lambda: about(SPDLogEuclidean(2), 2.0),
    "log-euclidean 3": lambda: about(SPDLogEuclidean(3), 2.0),
    "log-euclidean 5": lambda: about(SPDLogEuclidean(5), 2.0),
    "affine-invariant 1": lambda: about(SPDAffineInvariant(1), 2.0),
    "affine-invariant 2": lambda: about(SPDAffineInvariant(2), 2.0),
    "affine-invariant 3": lambda: about(SPDAffineInvariant(3), 2.0),
    "affine-invariant 5": lambda: about(SPDAffineInvariant(5), 2.0),
    "log-cholesky": lambda: about(SPDLogCholesky(3), 2.0),
    "power metric": lambda: about(SPDPower(3), 2.0),
    "grassmann": lambda: about(Grassmann(2, 4), 0.4),
    "grassmann lines": lambda: about(Grassmann(1, 3), 0.7),
    "planar shapes": lambda: about(PlanarShapes(4), 0.4),
    "planar shapes aligned": lambda: aligned(PlanarShapes(4), 0.5),
    "shapes in space": lambda: aligned(KendallShapes(4), 0.5),
    "axes": lambda: about(ProjectiveSpace(2), 0.7),
    "axes wide": lambda: about(ProjectiveSpace(2), 1.5),
    "rotations": lambda: about(Rotations(), 0.7),
    "rotations wide": lambda: about(Rotations(), 3.0),
    "rotations aligned": lambda: aligned(Rotations(), 1.2),
    "torus": lambda: about(Torus(2), 0.7),
    "torus wide": lambda: about(Torus(2), 3.0),
    "spheres": lambda: at_origin(Power(Sphere(2), 3), 0.5),
    "spheres in boxes": lambda: ProductBall(
        Power(Sphere(2), 3), Power(Sphere(2), 3).origin, radii=0.4
    ),
    "flat power": lambda: at_origin(Power(SPDLogEuclidean(2), 2), 1.0),
    "box": lambda: ProductBall(Power(Euclidean(1), 3), np.zeros((3, 1)), radii=0.5),
    "mixed": lambda: at_origin(Product(SPDAffineInvariant(2), Sphere(2)), 0.7),
    "mixed in boxes": lambda: ProductBall(_MIXED, _MIXED.origin, radii=(0.6, 0.8, 0.3)),
    "mixed in cut boxes": lambda: ProductBall(
        _MIXED, _MIXED.origin, radii=(0.6, 0.8, 0.3), rms_radius=0.3
    ),
    "flat product": lambda: at_origin(FlatProduct(Euclidean(1), SPDLogEuclidean(3)), 1.0),
}
_AB = ("a", "b")
#: Statistics by name, each on a ball: every registered one is among them, or among their forms.
STATISTICS: dict[str, Callable[[Ball], Statistic]] = {
    "tangent-mean": lambda _: TangentMean(),
    "frechet-mean": lambda _: FrechetMean(),
    "moments": lambda _: Moments(),
    "moments matrix": lambda _: Moments("matrix"),
    "class-moments": lambda _: ClassMoments(_AB),
    "class-moments scalar": lambda _: ClassMoments(_AB, "scalar"),
    "class-moments matrix": lambda _: ClassMoments(_AB, "matrix"),
    "class-moments sizes": lambda _: ClassMoments(_AB, "matrix", sizes=(1, 1)),
    "tangent-regression": lambda _: TangentRegression(-3.0, 5.0),
    "tangent-regression design": lambda _: TangentRegression(-3.0, 5.0, design=(-2.0, 1.0)),
    "directional-moments": lambda _: DirectionalMoments(1),
    "directional-moments 2": lambda _: DirectionalMoments(2),
    "directional-moments both": lambda _: DirectionalMoments((1, 2)),
    "mean-rotation": lambda _: MeanRotation(),
    "procrustes-mean": lambda _: ProcrustesMean(),
    "refined-mean 1": lambda _: RefinedMean(1),
    "refined-mean": lambda _: RefinedMean(3),
    "geometric-median": lambda _: GeometricMedian(2),
    "huber-mean": lambda ball: HuberMean(2, clip=0.5 * ball.reach),
    "recentred": lambda _: Recentred(Moments("matrix")),
    "recentred classes": lambda _: Recentred(ClassMoments(_AB)),
    "recentred regression": lambda _: Recentred(TangentRegression(-3.0, 5.0)),
    "variance": lambda _: Variance(),
    "variance public": lambda _: Variance("public"),
    "direct-variance": lambda _: DirectVariance(),
    "counted mean": lambda _: Counted(TangentMean(), 0.8),
    "counted moments": lambda _: Counted(Moments(), 0.5),
    "weighted mean": lambda ball: weighted(TangentMean(), ball),
    "weighted mean 3": lambda _: Counted(TangentMean(), 3.0, weighs=True),
    "weighted moments": lambda _: Counted(Moments(), 0.5, weighs=True),
    "weighted recentred": lambda _: Counted(Recentred(Moments("matrix")), 1.0, weighs=True),
    "weighted": lambda _: Weighted(FrechetMean(), 0.5),
    "public weights": lambda _: Weighted(TangentMean(), 0.5),
    "public weights moments": lambda _: Weighted(Moments("matrix"), 0.5),
    "public weights refined": lambda _: Weighted(RefinedMean(2), 0.5),
    "point-statistic": lambda ball: PointStatistic(2.0 * ball.reach, 5, "x", lambda rows: rows[0]),
}
RELATIONS: tuple[Neighbours, ...] = (
    ReplaceOne(),
    ReplacePoint(),
    Groups(2),
    AddRemove(),
    ReplaceUser(),
    ReplaceUser(3),
    AddRemoveUser(),
    AddRemoveUser(3),
)
#: Numbers of records that moves are looked at for; of some statistics few are admitted.
SIZES = (1, 2, 5, 12)


@dataclass(frozen=True, eq=False)
class Cell:
    """A ball, the form of a statistic that is released there, and a relation."""

    ball: Ball
    form: Statistic
    relation: Neighbours

    def __str__(self) -> str:
        return f"{self.form!r} under {self.relation.title} on {self.ball.manifold}"

    @functools.cached_property
    def first(self) -> Query:
        """What is asked first."""
        return outline(self.form, self.ball).queries[0]

    def stated(self, n: int, query: Query | None = None) -> dict[Metric, float]:
        """Return the sensitivities that are known, by metric; n where that is public."""
        asked = self.first if query is None else query
        found: dict[Metric, float] = {}
        for metric in get_args(Metric):
            size = n if self.relation.size_is_public else None
            with contextlib.suppress(UnsupportedError, InvalidParameterError):
                found[metric] = self.relation.sensitivity(asked, self.ball, size, metric)
        return found

    def tolerance(self, query: Query) -> float:
        """Return the largest public tolerance over all numbers of records."""
        exact = [far for n in SIZES for far in self.stated(n, query).values()]
        return max(query.tolerance(self.ball, each) for each in (0.0, *exact))

    @property
    def by_place(self) -> bool:
        """Whether weights of places are public, so that records count differently."""
        return "weights" in self.form.by_place


def cell_of(ball: Ball, statistic: Statistic, relation: Neighbours) -> Cell | None:
    """Return a cell, None where there is no such release."""
    try:
        form = relation.form(statistic, ball)
        cell = Cell(ball, form, relation)
        people = "users" in relation.takes
        weighs = "weights" in form.takes
        fits = relation.keeps_places or not form.by_place
        fits = fits and (relation.keeps_beside or not {"labels", "covariates"} & {*form.by_place})
        fits = fits and not (people and (ball.is_whole or weighs != bool(relation.adds)))
        return cell if fits and any(map(cell.stated, SIZES)) else None
    except UnsupportedError:
        return None


def cells(ball: Ball, statistic: Statistic) -> list[Cell]:
    """Return the cells of all relations that there are for a statistic on a ball."""
    return [cell for relation in RELATIONS if (cell := cell_of(ball, statistic, relation))]


def pairs() -> Iterator[tuple[str, str]]:
    """Yield names of balls and statistics of which there is a release."""
    for place, make in BALLS.items():
        ball = make()
        for name, of in STATISTICS.items():
            statistic = of(ball)
            if any(cell_of(ball, statistic, each) for each in RELATIONS):
                yield place, name


# Units: what may be in the place of one that a guarantee protects.


@functools.cache
def wild_points(ball: Ball) -> FloatArray:
    """Return points of every awkward kind: inside, outside, at the boundary and beyond float64."""
    space, random = ball.manifold, np.random.default_rng(0)
    dim, room = space.dim, space.injectivity_radius
    axes, drawn = np.eye(dim)[:3], random.normal(size=(3, dim))
    ways = np.concatenate([[np.ones(dim), -np.ones(dim)], axes, -axes, drawn])
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    # where factors are clipped by themselves, the farther ones go to corners
    found = [ball.point(share * ball.reach * way) for way in ways for share in (1.0, 2.5)]
    shares = (1.0 - 2.0**-52, 1.0 - 2.0**-30, 1.0 + 2.0**-52, 0.5, 0.236, 1e-160, 5e-324)
    found += [ball.center, *(ball.point(share * ball.reach * ways[3]) for share in shares)]
    if 0.0 < room < np.inf:
        found += [ball.point(share * room * ways[3]) for share in (1.0 - 1e-9, 1.0, 1.0 + 1e-9)]
    return np.array([*valid(space, [*found, *extreme(space, ball.center)])])


def valid(space: Manifold, points: Iterable[Any]) -> Iterator[FloatArray]:
    """Yield those of some points that are valid, as they are given."""
    for point in points:
        with contextlib.suppress(NotOnManifoldError), np.errstate(all="ignore"):
            space.validate(np.asarray(point)[None])
            yield np.asarray(point, dtype=np.float64)


def extreme(space: Manifold, center: FloatArray) -> list[Any]:
    """Return what only one sort of space has: the ends of float64, cut points, graded matrices."""
    if isinstance(space, Euclidean):
        return [np.full(space.dim, x) for x in (5e-324, 1e-320, 1e200, 1.7e308, -1.7e308)]
    if isinstance(space, Sphere):
        off = center * (1.0 + 7e-7)
        return [-center, off, *np.eye(space.dim + 1)[:4] / np.sqrt(space.curvature)]
    if isinstance(space, Hyperbolic):
        far = np.zeros((3, space.dim + 1))
        far[:, 1] = 1e3, 1e100, 1e150
        far[:, 0] = np.sqrt(far[:, 1] ** 2 - 1.0 / space.curvature)
        return [*far]
    if hasattr(space, "split"):
        return [*of_factors(space, center)]
    k = getattr(space, "k", 0)
    if space.point_shape != (k, k):
        return []
    random = np.random.default_rng(1)
    decades: list[list[float]] = [[6, -6], [100, -100], [0, -9, 9], [-150, 3], [75, 0]]
    sizes = (1e-320, 1e-300, 1e-145, 1e-130, 1e130, 1e300)
    scales = [10.0 ** np.resize(each, k) for each in decades]
    factors = [random.normal(size=(k, 2 * k)) / np.sqrt(2 * k) for _ in scales]
    matrices = [s[:, None] * (f @ f.T) * s for s, f in zip(scales, factors, strict=True)]
    return [*(x * np.eye(k) for x in sizes), *(0.5 * m + 0.5 * m.T for m in matrices)]


def of_factors(space: Any, center: FloatArray) -> Iterator[FloatArray]:
    """Yield points of a product that are extreme in one factor, and central in the others."""
    for place, factor in enumerate(space.spaces):
        own = space.split(center)[place]
        first = () if own.shape == factor.point_shape else (0,)  # of several copies
        for one in extreme(factor, own[first]):
            parts = [np.array(each) for each in space.split(center)]
            parts[place][first] = one
            yield space.join(parts)


#: What belongs to a record, at its ends and beyond; the first two are the extremes.
BESIDE: dict[str, Sequence[object]] = {
    "labels": _AB,
    "covariates": (-3.0, 5.0, 1.0, -1e308, 1e308, 5e-324),
    "weights": (1.0, 0.0, 2.0**-41, 0.5, 1.0 - 2.0**-53, 5e-324),
}


def beside(form: Statistic) -> Sequence[object]:
    """Return what may belong to a record of the one name that a form takes."""
    design = getattr(form, "design", ())
    return design or BESIDE[form.takes[0]]


def with_beside(form: Statistic, points: FloatArray) -> Records:
    """Return every point with both extremes of what belongs to it, and with others in turn."""
    if not form.takes:
        return Records(points)
    n, values = len(points), beside(form)
    ends = points[: n // 2]  # the boundary among them
    column = [*[values[0]] * len(ends), *[values[1]] * len(ends)]
    given: dict[str, Any] = {form.takes[0]: [*column, *(values[i % len(values)] for i in range(n))]}
    return Records(np.concatenate([ends, ends, points]), **given)


def absent(form: Statistic, ball: Ball) -> Records:
    """Return what stands for a unit without a record."""
    try:
        extras: dict[str, Any] = {name: [x] for name, x in form.absent().items()}
    except UnsupportedError:
        extras = {form.takes[0]: [beside(form)[0]]}
    return Records(ball.center[None], **extras)


def taken(records: Records, rows: Sequence[int] | NDArray[np.intp]) -> Records:
    """Return some records, in any order, as often as they are named."""
    given: dict[str, Any] = {
        name: np.asarray(getattr(records, name), dtype=object if name == "labels" else None)[rows]
        for name in ("points", *records.extras)
    }
    return Records(**given)


@functools.cache
def people(
    ball: Ball, relation: Neighbours, takes: tuple[str, ...], of: str
) -> tuple[Prepared, int]:
    """Return what statistics see of persons with one record, or several wild ones."""
    random, points = np.random.default_rng(2), wild_points(ball)
    rows = [[i] for i in range(0, len(points), 3)]
    rows += [random.integers(0, len(points), size).tolist() for size in (2, 3, 3, 5, 5)]
    owners = np.array([k for k, own in enumerate(rows) for _ in own])
    given: dict[str, Any] = {}
    if takes and not relation.adds:
        values = BESIDE[takes[0]]
        given[takes[0]] = [
            values[(k + i) % len(values)] for k, own in enumerate(rows) for i in range(len(own))
        ]
    records = Records(points[[i for own in rows for i in own]], **given).validated(ball.manifold)
    if of == "rows":
        return Prepared(ball, records, owners), len(rows)
    return Prepared(ball, relation.units(ball, replace(records, users=owners))), len(rows)


# Answers, and the queries that they are answers to.


def queries(form: Statistic, ball: Ball, most: int = 3) -> Iterator[Query]:
    """Yield queries, wherever noise may have led in between."""
    random = np.random.default_rng(1)
    for far, rows in ((0.0, slice(0, 2)), (0.3, slice(1, most)), (10.0, slice(1, 2))):
        found: list[Query] = []

        def noisy(query: Query, far: float = far, found: list[Query] = found) -> Answer:
            found.append(query)
            answers = query.answers(ball)
            point = far * ball.reach * random.normal(size=answers.manifold.dim)
            if query.sums:
                point[-1] = 4.0 * ball.reach
            return Answer(answers.point(point), 0.1 * ball.reach)

        through(form, ball, noisy)
        yield from found[rows]


def answered(query: Query, cell: Cell, records: Records) -> Row:
    """Return the exact answer, as a release computes it."""
    kept = Prepared(cell.ball, records.validated(cell.ball.manifold))
    return answer(query, cell.ball, kept, cell.tolerance(query))


def row(query: Query, ball: Ball, unit: Records) -> Row:
    """Return what one unit adds: the answer of that alone. Labels may be none of the classes."""
    return answer(query, ball, Prepared(ball, unit), 0.0)


class Known(Summaries):
    """Records of which a summary is left."""

    def __init__(self, partial: Any) -> None:
        self.partial = partial

    def summary(self, query: Query) -> Any:  # noqa: ARG002
        """Return it."""
        return self.partial


def rows_of(query: Query, kept: Prepared, number: int) -> list[Row]:
    """Return what each of some units adds: :func:`row` of each, computed in tiles of them."""
    ball, seen = kept._ball, joined([*kept._of_units(query)])
    each = (query.added(ball, of_tile(seen, slice(i, i + 1))) for i in range(number))
    return [answer(query, ball, Known(partial), 0.0) for partial in each]


def square(vector: Iterable[Fraction]) -> Fraction:
    """Return the squared norm."""
    parts = [x.as_integer_ratio() for x in vector]
    whole = math.lcm(*(below for _, below in parts))
    return Fraction(sum((above * (whole // below)) ** 2 for above, below in parts), whole**2)


def minus(one: Row, other: Row) -> Row:
    """Return a difference."""
    return tuple(a - b for a, b in zip(one, other, strict=True))


def farthest(rows: Sequence[Row], alike: NDArray[np.bool_] | None = None) -> list[tuple[int, int]]:
    """Return the pairs of rows that are farthest apart, of those that are alike."""
    floats = np.array([[float(x) for x in each] for each in rows])
    floats /= np.abs(floats).max(initial=0.0) or 1.0
    squares = np.square(floats).sum(axis=1)
    gaps = squares[:, None] + squares - 2.0 * floats @ floats.T
    if alike is not None:
        gaps = np.where(alike, gaps, -1.0)
    best = np.argsort(np.triu(gaps, 1), axis=None)[::-1][:12]
    return [divmod(int(each), len(rows)) for each in best]


# The laws. Each raises AssertionError.


def is_sum(form: Statistic, ball: Ball) -> bool:
    """Whether answers are sums, or means, of one row a record."""
    query = next(queries(form, ball))
    if "weights" in form.by_place or not query.adds(ball):
        return False
    some = with_beside(form, wild_points(ball)[:6])
    alone = [row(query, ball, taken(some, [i])) for i in range(len(some))]
    total = answer(query, ball, Prepared(ball, some), 0.0)
    times = 1 if query.sums else len(some)
    return tuple(times * x for x in total) == tuple(map(sum, zip(*alone, strict=True)))


def moves(given: Sequence[Cell]) -> dict[Cell, float]:
    """Check that no unit moves an answer farther than is stated; return the largest shares of it.

    The cells are of one statistic on one ball; where units are added or removed, what replacing
    one does is looked at too. Of sums the rows of units are compared exactly, of anything else the
    answers of data sets that differ in one unit.
    """
    shares: dict[Cell, float] = {}
    sums: dict[Statistic, Rows | None] = {}
    private = [cell for cell in given if not cell.relation.size_is_public]
    replaced = [Cell(cell.ball, cell.form, cell.relation.replacing()) for cell in private]
    for cell in (*given, *replaced):
        sizes: Sequence[int] = (2,)  # of what is no sum other relations are looked at for few
        if cell.form not in sums:
            sums[cell.form] = Rows(cell) if is_sum(cell.form, cell.ball) else None
            sizes = SIZES
        rows = sums[cell.form]
        shares[cell] = moves_of_rows(cell, rows) if rows else moves_of_data_sets(cell, sizes)
    return shares


class Rows:
    """What wild units add to the answers of a form, exactly, and how far that is apart."""

    def __init__(self, cell: Cell) -> None:
        self.form, self.ball = form, ball = cell.form, cell.ball
        self.units = with_beside(form, wild_points(ball))
        self.asked = list(queries(form, ball))
        valid_units = self.units.validated(ball.manifold)
        kept = Prepared(ball, valid_units)
        self.rows = [rows_of(query, kept, len(valid_units)) for query in self.asked]
        last = valid_units.at(slice(-1, None))
        alone = [row(query, ball, last) for query in self.asked]
        assert alone == [rows[-1] for rows in self.rows], f"{cell}: a row is another one by itself"
        self.known: dict[object, list[tuple[Fraction, Fraction]]] = {}

    def worst(self, relation: Neighbours) -> list[tuple[Fraction, Fraction]]:
        """Return the largest squared norm, and move, for every query."""
        key = relation if "users" in relation.takes else relation.name == "replace-point"
        if key not in self.known:
            self.known[key] = [self._worst(relation, k) for k in range(len(self.asked))]
        return self.known[key]

    def _worst(self, relation: Neighbours, k: int) -> tuple[Fraction, Fraction]:
        query, rows, alike = self.asked[k], self.rows[k], None
        if "users" in relation.takes:
            own = rows_of(query, *people(self.ball, relation, self.form.takes, self.form.of))
            rows = own if relation.adds else [*rows, *own]
        if self.form.by_place or relation.name == "replace-point":
            if self.form.takes:  # which stays at its place
                column = np.asarray(getattr(self.units, self.form.takes[0]), dtype=object)
                alike = column[:, None] == column
        else:
            rows = [*rows, row(query, self.ball, absent(self.form, self.ball))]
            if "users" not in relation.takes:
                rows += self._climbed(query, rows)
        far = max(square(minus(rows[i], rows[j])) for i, j in farthest(rows, alike))
        return max(map(square, rows)), far

    def _climbed(self, query: Query, rows: Sequence[Row]) -> list[Row]:
        """Return rows of units near one of the two that are farthest apart, each farther."""
        space, random = self.ball.manifold, np.random.default_rng(3)
        i, j = farthest(rows)[0]
        if i >= len(self.units):
            return []
        found: list[Row] = []
        with np.errstate(all="ignore"):
            at = space.coordinates(self.ball.center, np.asarray(self.units.points)[i])
        best = square(minus(rows[i], rows[j]))
        sizes = self.ball.reach * np.geomspace(0.3, 1e-9, 6)[:, None]
        for _ in range(2) if np.isfinite(at).all() else ():
            tried = at + sizes * random.normal(size=(6, len(at)))
            near = [(x, y) for x in tried for y in valid(space, [self.ball.point(x)])]
            points = np.array([point for _, point in near])
            units = replace(taken(self.units, [i] * len(near)), points=points).validated(space)
            more = rows_of(query, Prepared(self.ball, units), len(units))
            far, k = max((square(minus(each, rows[j])), k) for k, each in enumerate(more))
            if far > best:
                best, at = far, near[k][0]
            found += more
        return found


def moves_of_rows(cell: Cell, rows: Rows) -> float:
    """Hold the rows of units against what is stated, exactly; return the largest share of it."""
    share, records = Fraction(0), getattr(cell.relation, "records", 1)
    for query, (longest, far) in zip(rows.asked, rows.worst(cell.relation), strict=True):
        reach = Fraction(query.answers(cell.ball).reach)
        assert longest <= reach**2, f"{cell}: a row is longer than {float(reach):.9g}"
        for n in SIZES:
            if not (stated := cell.stated(n, query)):
                continue
            times = Fraction(min(records, n), 1 if query.sums else n)
            moved = times**2 * far if cell.relation.size_is_public else longest
            share = max(share, moved / Fraction(min(stated.values())) ** 2)
    assert share <= 1, f"{cell}: a unit moves an answer by {float(share) ** 0.5:.12g} of the stated"
    return float(share) ** 0.5


def places(form: Statistic, n: int) -> dict[str, Any]:
    """Return what is public of places, n of them where their number is: the first counts most."""
    if not form.takes:
        return {}
    if design := getattr(form, "design", ()):
        return {"covariates": [*design]}
    if sizes := getattr(form, "sizes", ()):
        return {"labels": np.repeat(_AB, sizes).tolist()}
    if "weights" in form.by_place:  # which are rounded down
        rest = (1.0 + 1e-9) * (1.0 / form.share - 1.0) / max(n - 1, 1)  # type: ignore[attr-defined]
        return {"weights": [1.0, *[min(rest, 1.0)] * (n - 1)]}
    return {form.takes[0]: [beside(form)[0]] * n}


def moves_of_data_sets(cell: Cell, sizes: Sequence[int]) -> float:
    """Compare answers of data sets that differ in their first record, or their first few."""
    ball, points = cell.ball, wild_points(cell.ball)
    some = [*points[:6], ball.center, points[-1]]
    one, corner, other = points[0], points[1], points[4]
    share = 0.0
    for n in sizes if any(map(cell.stated, sizes)) else SIZES:
        stated = cell.stated(n)
        if not stated or (cell.by_place and n < 1.0 / cell.form.share):  # type: ignore[attr-defined]
            continue
        changed = min(getattr(cell.relation, "records", 1), n)
        halves = [one if i % 2 else other for i in range(n)]
        for company_ in ([one] * n, [corner] * n, halves, points[-n:]):
            extras, rest = places(cell.form, n), company_[changed:]
            rows = [np.array([*[each] * changed, *rest]) for each in some]
            data = [Records(each, **extras).validated(ball.manifold) for each in rows]
            kept = [Prepared(ball, each) for each in data]
            for query in queries(cell.form, ball, 2):
                ends = [answer(query, ball, each, cell.tolerance(query)) for each in kept]
                share = max(share, *shares_of(cell, query, cell.stated(n, query), ends))
    return share


def shares_of(
    cell: Cell, query: Query, stated: dict[Metric, float], ends: list[Row]
) -> Iterator[float]:
    """Yield how far two answers are apart, as a share of what is stated, for every pair."""
    answers = query.answers(cell.ball)
    numbers = [np.array([float(x) for x in end]) for end in ends]
    flat = answers.manifold.chart is not None
    with_points = [answers.point(each) for each in numbers]
    for one, other in itertools.combinations(range(len(ends)), 2):
        apart = math.dist(numbers[one], numbers[other])
        gaps: dict[Metric, float] = {"coordinates": apart, "distance": apart}
        if not flat:
            gaps["distance"] = float(answers.manifold.dist(with_points[one], with_points[other]))
        for metric, bound in stated.items():
            slack = 2.0 * query.stretch(cell.ball, metric) * cell.tolerance(query)
            slack += 4.0 * answers.rounding + 1e-14 * answers.reach
            said = f"a unit moves an answer by {gaps[metric]:.9g} in {metric}, stated {bound:.9g}"
            assert gaps[metric] <= bound + slack, f"{cell}: {said}"
            yield min(1.0, gaps[metric] / bound)


def same(one: Any, other: Any) -> bool:
    """Whether two summaries are the same, bit for bit."""
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return bool(one.shape == other.shape and one.tobytes() == other.tobytes())
    return bool(one == other)


def summary(query: Query, cell: Cell, records: Records) -> Any:
    """Return what a query is told of records."""
    return Prepared(cell.ball, records.validated(cell.ball.manifold)).summary(query)


def company_of(cell: Cell, size: int, seed: int = 0) -> Records:
    """Return wild records, and ordinary ones beside them."""
    random, ball = np.random.default_rng(seed), cell.ball
    points = wild_points(ball)
    drawn = random.normal(size=(max(size - len(points), 0), ball.manifold.dim))
    drawn *= 1.2 * ball.reach / np.sqrt(ball.manifold.dim)
    rows = np.concatenate([points, ball.point(drawn)])[random.permutation(max(size, len(points)))]
    if not cell.form.takes:
        return Records(rows[:size])
    values = beside(cell.form)
    given: dict[str, Any] = {
        cell.form.takes[0]: [values[i] for i in random.integers(0, len(values), size)]
    }
    return Records(rows[:size], **given)


def company(cell: Cell, size: int = 60, most: int = 3) -> None:
    """Check that what becomes of a record does not depend on the others, at one place."""
    crowds = [company_of(cell, size, seed) for seed in (0, 1)]
    wild = with_beside(cell.form, wild_points(cell.ball))
    random = np.random.default_rng(4)
    for query in queries(cell.form, cell.ball):
        for at, *both in random.integers(0, [size, len(wild), len(wild)], (most, 3)):
            found = [
                [summary(query, cell, put(crowd, at, taken(wild, [unit]))) for crowd in crowds]
                for unit in both
            ]
            parts = [leaves(each) for several in found for each in several]
            alike = all(unmoved(at, *each) for each in zip(*parts, strict=True))
            assert alike, f"{cell}: a record changes what becomes of another one"


def unmoved(at: int, *leaf: Any) -> bool:
    """Whether two units at a place, each in two crowds, are the same there, and leave the rest."""
    one, elsewhere, other, there = leaf
    if not isinstance(one, np.ndarray):  # a sum: each adds as much in either crowd
        return bool(one + there == other + elsewhere)
    own, rest = [x[at] for x in leaf], [np.delete(x, at, 0) for x in leaf]
    return same([own[0], own[2], rest[0], rest[1]], [own[1], own[3], rest[2], rest[3]])


def put(records: Records, at: int, one: Records) -> Records:
    """Return records with another one at a place."""
    given = {name: [*getattr(records, name)] for name in ("points", *records.extras)}
    for name, column in given.items():
        column[at] = getattr(one, name)[0]
    return Records(**given | {"points": np.array(given["points"])})


def leaves(partial: Any) -> list[Any]:
    """Return the parts of a summary: sums, and arrays with one row a record."""
    if isinstance(partial, tuple):
        return [leaf for part in partial for leaf in leaves(part)]
    return [partial]


def place(cell: Cell, size: int = 250) -> None:
    """Check that a record adds the same wherever it stands, alone or among any number."""
    few = 12
    crowd, every = company_of(cell, size), np.arange(size)
    for query in queries(cell.form, cell.ball):
        told = functools.cache(
            lambda *rows, asked=query: summary(asked, cell, taken(crowd, list(rows)))
        )

        def merged(parts: Iterable[Any], query: Query = query) -> Any:
            return functools.reduce(query.merge, parts)

        for order in (every[:few], every[:few][::-1], every[[5, 3]], every[[7, 7, 7]]):
            alone = merged(told(int(i)) for i in order)
            assert same(told(*order), alone), f"{cell}: it counts that there are {len(order)}"
        for cut in (1, 7, size // 2):
            parts = told(*every[:cut]), told(*every[cut:])
            assert same(merged(parts), told(*every)), f"{cell}: it counts that there are {size}"
        if query.adds(cell.ball):
            assert same(told(*every[::-1]), told(*every)), f"{cell}: the order of records counts"


#: The same numbers in memory.
LAYOUTS: dict[str, Callable[[FloatArray], Any]] = {
    "Fortran": np.asfortranarray,
    "strided": lambda rows: np.repeat(np.asfortranarray(rows)[..., None], 2, axis=-1)[..., 0],
    "reversed": lambda rows: rows[::-1].copy()[::-1],
    "reversed inside": lambda rows: np.ascontiguousarray(rows[..., ::-1])[..., ::-1],
    "big-endian": lambda rows: rows.astype(">f8"),
    "long double": lambda rows: rows.astype(np.longdouble),
    "list": lambda rows: rows.tolist(),
    "read-only": lambda rows: np.broadcast_to(rows, rows.shape),
}


def layout(ball: Ball) -> None:
    """Check that neither the order of numbers in memory nor the type of a container counts.

    Statistics see what validation returns, which is in C order: it is the one that may differ.
    """
    rows = points_of(ball, 600)
    whole = Records(rows).validated(ball.manifold).points
    for name, make in LAYOUTS.items():
        found = Records(make(rows)).validated(ball.manifold).points
        assert found.flags.c_contiguous
        assert same(found, whole), f"records on {ball.manifold}: it counts that they are {name}"


def maps(ball: Ball) -> dict[str, Callable[[FloatArray], FloatArray]]:
    """Return the maps of a ball that statistics see records through, tile by tile."""
    space = ball.manifold
    found = {
        "validate": lambda rows: np.asarray(Records(rows).validated(space).points),
        "coordinates": tiled(ball, ball.coordinates),
        "project": tiled(ball, ball.project),
    }
    with contextlib.suppress(UnsupportedError):
        space.unit_vectors(ball.center)
        found["unit_vectors"] = tiled(ball, space.unit_vectors)
    return found


def tiled(ball: Ball, function: Callable[[FloatArray], FloatArray]) -> Any:
    """Return a map of records in tiles, as the kernel works on them."""
    rows = rows_for(ball.manifold.point_shape)
    return lambda points: in_tiles(function, [points], [ball.center], rows)[0]


def points_of(ball: Ball, size: int) -> FloatArray:
    """Return points, wild ones among them; every other one is a little off, if that is valid."""
    random, wild = np.random.default_rng(5), wild_points(ball)
    drawn = random.normal(size=(size, ball.manifold.dim)) * ball.reach / np.sqrt(ball.manifold.dim)
    rows = ball.point(drawn)
    rows[: min(size, len(wild))] = wild[:size]
    off = rows.copy()
    entry = (1,) if len(ball.manifold.point_shape) == 1 and off.shape[1] > 1 else (0, -1)
    off[(slice(1, None, 2), *entry[: len(ball.manifold.point_shape)])] *= 1.0 + 1e-9
    with np.errstate(all="ignore"):
        return off if [*valid(ball.manifold, [off])] else rows


def map_company(
    ball: Ball, name: str, size: int, function: Callable[[FloatArray], FloatArray] | None = None
) -> None:
    """Check that no record changes a bit of what a map makes of another one."""
    made = maps(ball)[name] if function is None else function
    plain, wild = points_of(ball, size), wild_points(ball)
    plain[: len(wild)] = ball.point(0.5 * ball.reach * np.eye(ball.manifold.dim)[0])
    plain = ball.manifold.validate(plain)
    with np.errstate(all="ignore"):
        before = made(plain)
        for start in range(0, len(wild), 8):
            some = wild[start : start + 8]
            rows = np.linspace(0, size - 1, len(some)).astype(int)
            other = plain.copy()
            other[rows] = some
            after = made(other)
            kept = np.delete(before, rows, 0), np.delete(after, rows, 0)
            assert same(*kept), f"{name} on {ball.manifold}: a record changes another one"


def map_place(ball: Ball, name: str, size: int) -> None:
    """Check that a map makes the same of a record wherever it stands, alone or not."""
    made, rows = maps(ball)[name], points_of(ball, size)
    with np.errstate(all="ignore"):
        whole = made(rows)
        alone = np.concatenate([made(rows[i : i + 1].copy()) for i in range(min(size, 200))])
        assert same(alone, whole[: len(alone)]), f"{name} on {ball.manifold}: company counts"
        for order in (slice(None, None, -1), slice(0, size // 2), slice(0, 2), slice(3, None)):
            found = made(rows[order].copy())
            assert same(found, np.ascontiguousarray(whole[order])), f"{name}: the place counts"
