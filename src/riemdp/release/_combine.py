"""One release of several: weights, averages and what they guarantee together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import is_one_of, kind_of, shown
from riemdp._described import Described, value_rows
from riemdp._errors import (
    InvalidParameterError,
    NotOnManifoldError,
    UnsupportedBallError,
    UnsupportedError,
    UnsupportedNeighboursError,
)
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.privacy import PrivacyCurve, compose
from riemdp.release._disjoint import weakest
from riemdp.release._offer import deviation_of
from riemdp.release._release import Release
from riemdp.release._remarks import tell
from riemdp.spaces import Ball
from riemdp.statistics import Answer, NamedValues, Value, frechet_mean, through

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget
    from riemdp.spaces import FloatArray


# Weights of the releases of several sites, and the average of their noisy answers.

#: Points and weights of the mean of a function of a uniform number, dense near 1.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)
_REST = ((1.0 - _NODES) / 2.0) ** 3
_SHARES = 1.5 * _WEIGHTS * ((1.0 - _NODES) / 2.0) ** 2
#: How much larger than its farthest point a ball is that has to contain points.
_ROOM = 1.0 + 1e-9


def noise_deviations(releases: list[Release]) -> list[float]:
    """Return the standard deviation of the noise in a coordinate of the value of each release.

    Positive and finite; ``UnsupportedError`` if one is not known.
    """
    squares = _mean_squares(releases)
    return [_deviation(place, each, squares) for place, each in enumerate(releases)]


def averaged(releases: list[Release], weights: list[float]) -> tuple[Value, list[str]]:
    """Return the value at the average of the noisy answers, or of the released points, with notes.

    Of releases of one statistic on one ball, with weights of sum 1. The value is a point of the
    range of the statistic; ``UnsupportedError`` if there is no such average.
    """
    answers = releases[0]._answers
    if all(each.mechanism.added_noise(answers) is not None for each in releases):
        return _average(releases, weights), []
    found, notes = _mean_of_points(releases, weights)
    return Value(found, releases[0].ball), notes


def _mean_squares(releases: list[Release]) -> Callable[[Release], float]:
    """Return what computes the mean square of the noise of a release, once for each mechanism."""
    found: list[tuple[Mechanism, float]] = []

    def mean_square(release: Release) -> float:
        for known, square in found:
            if known == release.mechanism:
                return square
        noise = release.mechanism.added_noise(releases[0]._answers)
        lengths = release.mechanism.error_quantile
        square = _mean_square(lengths) if noise is None else noise.mean_square()
        found.append((release.mechanism, square))
        return square

    return mean_square


def _deviation(place: int, release: Release, mean_square: Callable[[Release], float]) -> float:
    """Return the standard deviation of the noise in a coordinate of the value."""
    try:
        if release.offer.last.query.sums and (release._divided_by or 0.0) < 1.0:
            raise UnsupportedError("its number of records is not known, or was released under one")
        found = release._longer(1.0) * math.sqrt(
            mean_square(release) / release._answers.manifold.dim
        )
    except (UnsupportedError, ArithmeticError) as error:
        raise UnsupportedError(
            f"release {place}: how much noise there is in the value is not known ({error}), so "
            "that no weight is known either; use another mechanism"
        ) from None
    if not 0.0 < found < math.inf:
        raise UnsupportedError(f"release {place}: its noise has no finite variance in float64")
    return found


def _mean_square(quantile: Callable[[float], float]) -> float:
    """Return the mean of the square of a length with some quantiles."""
    lengths = np.array([quantile(1.0 - rest) for rest in _REST.tolist()])
    return float(_SHARES @ np.square(lengths))


def shares(releases: list[Release], deviations: list[float], weights: str) -> list[float]:
    """Return the weights, of sum 1: by ``"noise"``, see :func:`noise_deviations`, or ``"sizes"``.

    ``UnsupportedError`` if a number of records is needed and not known.
    """
    if weights == "sizes":
        sizes = [each._divided_by for each in releases]
        if None in sizes:
            raise UnsupportedError(
                'the number of records of a release is not known; use weights="noise"'
            )
        raw = [float(size or 0.0) for size in sizes]
    else:
        least = min(deviations)
        raw = [(least / deviation) ** 2 for deviation in deviations]
    total = math.fsum(raw)
    return [weight / total for weight in raw]


def _average(releases: list[Release], weights: list[float]) -> Value:
    """Return the value at the average of the noisy answers."""
    first = releases[0]
    offer, answers = first.offer, first._answers
    seen = [each._on_grid.values() for each in releases]
    factors = list(weights)
    if offer.last.query.sums:  # answers are sums: of as many records as all sites have
        counts = [each._divided_by or 1.0 for each in releases]
        factors = [w * math.fsum(counts) / n for w, n in zip(weights, counts, strict=True)]
    noisy = np.array([math.fsum(c * y for c, y in zip(factors, column, strict=True))
                      for column in zip(*seen, strict=True)])  # fmt: skip
    squares = (
        (c * deviation_of(each.mechanism, answers)) ** 2
        for c, each in zip(factors, releases, strict=True)
    )
    seen_as = Answer(answers.point(noisy), math.sqrt(math.fsum(squares)))
    return through(offer.statistic, offer.ball, lambda _: seen_as)


def _mean_of_points(releases: list[Release], weights: list[float]) -> tuple[FloatArray, list[str]]:
    """Return the Fréchet mean of the released points, of the draws before projection if it can."""
    first = releases[0]
    answers = first._answers
    if answers != first.ball:
        raise UnsupportedError(
            f"the {first.statistic.name} is no point of the space of the records, and its noise "
            "was not added to coordinates; use a tangent mechanism"
        )
    free = [answers.point(each._on_grid.values()) for each in releases]
    try:
        return _frechet(answers, np.stack(free), weights), []
    except (UnsupportedBallError, NotOnManifoldError):
        pass  # too far apart for a unique mean; the values, which were projected, may not be
    notes = [
        f"release {place}: the value was projected onto the ball, and the draw before is not "
        "known: near the boundary the combination is biased inwards"
        for place, each in enumerate(releases)
        if each.projected
    ]
    return _frechet(answers, np.stack([each.raw for each in releases]), weights), notes


def _frechet(ball: Ball, points: FloatArray, weights: list[float]) -> FloatArray:
    farthest = float(np.max(ball.manifold.dist(ball.center, points)))
    holds = ball if farthest < ball.radius else Ball(ball.manifold, ball.center, farthest * _ROOM)
    return frechet_mean(ball.manifold, points, weights, ball=holds).value


# Releases of several sites as one: post-processing, with the guarantee of all together.

#: Ratio of numbers of records from which the weights of noise are worth a warning.
_UNLIKE = 1.05

_APART = (
    "the guarantee rests on what nobody can check from releases: that no person is in two of the "
    "sites; if one may be, use disjoint=False (--overlapping)"
)
_TOGETHER = (
    "a person may be in several of the sites, at each as its own guarantee says: the guarantees "
    "are composed"
)


@dataclass(frozen=True, eq=False)
class Combination(ArrayFields, Described):
    r"""One value of the releases of several sites, and what they guarantee together.

    Attributes
    ----------
    value : ndarray, shape (\*point_shape,), or NamedValues
        In the form that the releases have.
    guarantee : Budget or PrivacyCurve
        Of all releases together; the value is a function of them.
    releases : tuple of Release
    weights : tuple of float
        One for each release, of sum 1; public.
    noise_sd : float
        Standard deviation of the noise in one coordinate of the value, in units of length of the
        space (of features, where these are released); to first order where it was
        not added to coordinates, or the number of records is private.
    disjoint : bool
        Whether it is taken for granted that no person is in two sites.
    notes : tuple of str
        What of :attr:`warnings` is about the way the value was computed.

    References
    ----------
    docs/proofs/neighbours.md, Sites

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> records = np.full((100, 2), 0.2), np.full((300, 2), 0.2)
    >>> sites = [riemdp.private_mean(part, ball, riemdp.GDP(1.0)) for part in records]
    >>> both = riemdp.combine(sites)
    >>> both.guarantee, [round(weight, 2) for weight in both.weights]
    (GDP(mu=1.0), [0.1, 0.9])
    """

    value: Any
    guarantee: Budget | PrivacyCurve
    releases: tuple[Release, ...] = field(repr=False)
    weights: tuple[float, ...]
    noise_sd: float
    disjoint: bool = True
    notes: tuple[str, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        self._seal()

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        first = self.releases[0]
        return f"Combination of {len(self.releases)} private {first.statistic.title} releases", [
            *value_rows(self.value),
            ("guarantee", f"{self.guarantee}, {first.neighbours.title}"),
            ("space", str(first.ball.manifold)),
            ("weights", ", ".join(f"{weight:.4g}" for weight in self.weights)),
            ("noise", f"standard deviation {self.noise_sd:.4g} in each coordinate"),
            ("private", "yes" if self.private else "NO: noise was seeded"),
            ("proved", "yes" if self.proven else "NO"),
            ("note", self.caveat),
            *(("warning", text) for text in self.warnings),
        ]

    @property
    def adjacency(self) -> str:
        """Name of the relation that the guarantee is about."""
        return self.releases[0].adjacency

    @property
    def private(self) -> bool:
        """Whether the noise of all releases came from a secure generator."""
        return all(release.private for release in self.releases)

    @property
    def proven(self) -> bool:
        """Whether all that the guarantees rest on is proved."""
        return all(release.proven for release in self.releases)

    @property
    def caveat(self) -> str:
        """What the guarantee assumes of the sites, in words."""
        return _APART if self.disjoint else _TOGETHER

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the value is used."""
        of_releases = [
            f"release {place}: {warning}"
            for place, release in enumerate(self.releases)
            for warning in release.warnings
        ]
        return (*self.notes, *of_releases)


@with_advice
@work("combine")
def combine(
    releases: Sequence[Release],
    *,
    disjoint: bool = True,
    weights: Literal["noise", "sizes"] = "noise",
) -> Combination:
    """Combine releases of the same statistic at several sites into one value.

    It is post-processing: it costs no privacy. Where noise was added to coordinates (on flat
    spaces, and with tangent and wrapped mechanisms) the noisy answers are averaged in normal
    coordinates about the common public centre, before projection where documents have them: the
    average estimates that of the sites' exact answers without bias, and its noise has the standard
    deviation ``noise_sd``. Of noise along a curved space the weighted Fréchet mean of the released
    points is taken, which estimates that of the exact ones to first order in the noise.

    Parameters
    ----------
    releases : sequence of Release
        At least one, on the same ball, of the same statistic, for the same relation.
    disjoint : bool, default True
        Whether no person is in two sites, which is for you to know. The guarantee is then the
        weakest of the releases', which have to be of one definition. Otherwise they are composed
        as by :func:`riemdp.compose`.
    weights : {"noise", "sizes"}, default "noise"
        ``"noise"`` weighs by one over the variance of the noise, which is best where the sites
        differ by noise alone. ``"sizes"`` weighs by the numbers of records: it estimates the
        statistic of all records together, and is better where sampling, or differences between
        the sites, exceed the noise.

    Returns
    -------
    Combination

    Raises
    ------
    InvalidParameterError
        If there is nothing to combine, one draw is there twice or was shrunk, the releases are
        about different balls, spaces or statistics, or no guarantee follows from all others.
    UnsupportedNeighboursError
        If they are about different relations, or neighbours may differ at several sites.
    UnsupportedError
        If a statistic asks several queries, or the variance of a noise is not known.

    References
    ----------
    docs/proofs/neighbours.md, Sites

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> parts = points[:200], points[200:]
    >>> sites = [riemdp.private_mean(part, ball, riemdp.GDP(1.0)) for part in parts]
    >>> both = riemdp.combine(sites)
    >>> both.value.shape, both.guarantee
    ((3,), GDP(mu=1.0))
    """
    found = _releases(releases)
    if not isinstance(disjoint, bool):
        raise InvalidParameterError(f"disjoint must be true or false, got {shown(disjoint)}")
    if not is_one_of(weights, ("noise", "sizes")):
        raise InvalidParameterError(f'weights must be "noise" or "sizes", got {shown(weights)}')
    _check_alike(found)
    guarantee = _guarantee(found, disjoint=disjoint)
    deviations = noise_deviations(found)
    parts = shares(found, deviations, weights)
    noise_sd = math.hypot(*(w * s for w, s in zip(parts, deviations, strict=True)))
    whole, notes = averaged(found, parts)
    notes += _of_sizes(found, weights)
    value: Any = whole.ball.manifold.present(whole.raw)
    if whole.parts is not None:
        value = NamedValues(whole.raw, whole.parts)
    return tell(
        Combination(value, guarantee, tuple(found), tuple(parts), noise_sd, disjoint, tuple(notes))
    )


def _releases(releases: object) -> list[Release]:
    given: Any = releases
    if isinstance(given, Release) or not hasattr(given, "__iter__"):
        raise InvalidParameterError(
            f"releases must be a sequence of riemdp.Release, got {kind_of(given)}: [first, second]"
        )
    if isinstance(given, Mapping):
        raise InvalidParameterError(
            f"releases must be a sequence of riemdp.Release, got {kind_of(given)}; give its "
            "values, as a list"
        )
    found = list(given)
    if not found:
        raise InvalidParameterError("nothing to combine: give at least one release")
    for place, each in enumerate(found):
        if not isinstance(each, Release):
            raise InvalidParameterError(
                f"release {place} must be a riemdp.Release, got {shown(each)}; Release.from_json "
                "reads a document"
            )
        if each.shrunk:
            raise InvalidParameterError(
                f"release {place} was shrunk towards the centre, so that an average of it is "
                "biased; combine the release as it was before"
            )
    draws: dict[object, int] = {}
    for place, each in enumerate(found):
        if (other := draws.setdefault((each.grid, each.rounded), place)) != place:
            raise InvalidParameterError(
                f"releases {other} and {place} are the same draw; give each release once"
            )
    return found


def _check_alike(releases: list[Release]) -> None:
    """Refuse releases that are about different things."""
    first = releases[0]
    for place, each in enumerate(releases):
        if each.neighbours != first.neighbours:
            raise UnsupportedNeighboursError(
                f"release {place} is about {each.neighbours.title} data sets, and the first about "
                f"{first.neighbours.title} ones; combine releases under one relation"
            )
        different = {
            "space": (each.ball.manifold, first.ball.manifold),
            "ball": (each.ball, first.ball),
            "statistic": (each.statistic, first.statistic),
        }
        for name, (one, other) in different.items():
            if one != other:
                names = f" (the {each.statistic.name}, and the {first.statistic.name})"
                also = names if name == "statistic" else ""
                raise InvalidParameterError(
                    f"release {place} is about another {name} than the first{also}; combine what "
                    "the same statistic gave on the same public ball"
                )
    if len(first.scales) != 1:
        raise UnsupportedError(
            f"the {first.statistic.name} asks several queries, each about the one before, so that "
            "those of different sites have no common centre; release one answer at each site"
        )


def _guarantee(releases: list[Release], *, disjoint: bool) -> Budget | PrivacyCurve:
    first, guarantees = releases[0].neighbours, [each.guarantee for each in releases]
    if not disjoint:
        together = compose(guarantees)
        return together if isinstance(together, PrivacyCurve) else together.under(first.adjacency)
    if not first.in_one_group:
        raise UnsupportedNeighboursError(
            f"under {first.title} neighbours may differ at several sites, so that the guarantees "
            "add up: use disjoint=False"
        )
    entry = weakest(guarantees)
    if entry is None:
        raise InvalidParameterError(
            "no guarantee of these releases follows from all others; release under one definition "
            "(riemdp.convert says what follows from what), or use disjoint=False, which composes "
            "them"
        )
    return entry


def _of_sizes(releases: list[Release], weights: str) -> list[str]:
    counts = [each.count or math.nan for each in releases]
    unlike = any(one > _UNLIKE * other for one, other in itertools.permutations(counts, 2))
    if weights != "noise" or not unlike:
        return []
    return [
        "the sites have different numbers of records, and weights follow the noise: what is "
        "estimated is not the statistic of all records together; see weights="
        '"sizes", which is better where sampling exceeds the noise'
    ]
