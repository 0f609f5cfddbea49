"""Releases of several sites as one: post-processing, with the guarantee of all together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from riemdp._array_fields import ArrayFields
from riemdp._checks import is_one_of, kind_of, shown
from riemdp._described import Described, value_rows
from riemdp._errors import InvalidParameterError, UnsupportedError, UnsupportedNeighboursError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.privacy import PrivacyCurve, compose
from riemdp.release._average import averaged, noise_deviations, shares
from riemdp.release._disjoint import weakest
from riemdp.release._release import Release
from riemdp.release._remarks import tell
from riemdp.statistics import NamedValues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.privacy import Budget


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
