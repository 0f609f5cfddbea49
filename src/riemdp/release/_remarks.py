"""What to say of a release: a few lines for a reader, and what the value itself gives away."""

from __future__ import annotations

import contextlib
import math
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from riemdp._described import value_rows
from riemdp._discreet import discreetly
from riemdp._errors import PublicWarning, RiemdpError, UnsupportedError
from riemdp.statistics import NamedValues, ReplaceOne

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from riemdp.release._release import Release
    from riemdp.spaces import Ball, Manifold

    class _Remarked(Protocol):
        @property
        def warnings(self) -> tuple[str, ...]: ...


T = TypeVar("T", bound="_Remarked")

#: Packages that a call goes through: a pipeline calls ``fit``, too.
_BETWEEN = ("riemdp", "sklearn", "joblib")

#: Standard deviations by which noise may keep a value from the boundary: the normal and the Laplace
#: distribution exceed them on one side in 0.02 % and 0.35 % of draws.
_DEVIATIONS = 3.5
#: Share of draws that an error quantile covers, where noise has no one deviation.
_COVERED = 0.99
#: Share of the radius up to which a mean lies well inside the ball.
_INSIDE = 0.5
#: Rounding of a distance, relatively.
_NEAR = 1e-9
#: Share of the factors of a product that may be at their boundaries without a word.
_FEW = 0.01
#: Cosine from which a value counts as lying where another unit would put it.
_ALONG = 0.9


def tell(found: T, *, but: tuple[str, ...] = ()) -> T:
    """Return a result; issue its warnings, except for some that were issued before.

    Call it outside of :func:`riemdp._discreet.silence`. A part of another package that fails at its
    remarks costs no release.
    """
    texts: tuple[str, ...] = ()
    with contextlib.suppress(RiemdpError):
        texts = discreetly("warnings", lambda: found.warnings)
    for text in dict.fromkeys(texts):
        if text not in but:
            warning = PublicWarning(text)
            warning.release = found
            warnings.warn(warning, stacklevel=_outside())
    return found


def _outside() -> int:
    """Return the ``stacklevel``, for whoever calls this, of the line that called the library."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _BETWEEN:
            break
        frame, level = frame.f_back, level + 1
    return level


@dataclass(frozen=True, eq=False)
class _Place:
    """A released point, seen from the centre of a ball that records were clipped to.

    ``noise`` is the expected length of its noise, ``short`` how far short of the boundary that may
    leave the point if the exact one lies there.
    """

    what: str
    ball: Ball
    seen: NDArray[np.float64]  # normal coordinates about the centre
    noise: float
    short: float

    @property
    def far(self) -> float:
        return float(np.linalg.norm(self.seen))

    @property
    def is_at_boundary(self) -> bool:
        """Whether the exact point may lie at the boundary."""
        return self.far + self.short >= self.ball.reach * (1.0 - _NEAR)

    @property
    def is_noise(self) -> bool:
        """Whether noise may have moved it there from well inside."""
        inside = math.hypot(_INSIDE * self.ball.reach, self.noise)
        return min(self.far, self.ball.reach) <= inside + self.short


def at_the_boundary(release: Release) -> str:
    """Say that a value lies within its noise of the boundary of its ball, and why that may be.

    A function of the released value and of public numbers. Empty where it does not, and of values
    that are no points. Of a product whose factors are clipped by themselves, it is about these.
    """
    if release.shrunk:
        return ""
    for ball in (release.ball,) if release.search is None else (release.search.ball, release.ball):
        found = [place for place in _places(release, ball) if place.is_at_boundary]
        off = [place for place in found if not place.is_noise]
        parts = len(ball.parts)
        if parts > 1 and len(off) <= _FEW * parts:
            continue
        if off:
            worst = max(off, key=lambda place: place.far / place.ball.reach)
            many = f" (as in {len(off)} of {parts} factors)" if parts > 1 else ""
            return f"{_where(worst)}, at its boundary or within its noise of it{many}: " + (
                "records may lie outside, so check the centre, the radius and the units"
                f"{_units(worst.ball.manifold, worst.seen / worst.far)}"
                if ball is _public(release)
                else "the search may have found too small a ball, so check the public one"
            )
        if found and parts == 1 and not is_noise(release):
            most = max(found, key=lambda place: place.far)
            return (
                f"{_where(most)}, within its noise of the boundary, and noise alone may have put "
                f"it there: {most.noise:.3g} is its expected length. Whether records lie outside "
                "the ball shows with more records or a larger budget"
            )
    return ""


def _public(release: Release) -> Ball:
    """Return the ball that was chosen, where another one was found in it."""
    return release.ball if release.search is None else release.search.ball


def _where(place: _Place) -> str:
    return (
        f"{place.what} lies {place.far:.3g} from the centre of a ball of radius "
        f"{place.ball.reach:.3g}"
    )


def _places(release: Release, ball: Ball) -> Iterator[_Place]:
    """Return the released points that tell where records lie, as seen in a ball."""
    if ball.is_whole:
        return
    if not isinstance(release.value, NamedValues):
        if release.offer.value.ball is release.ball:
            yield from _of_point(release, ball)
        return
    value, dim = release.value, ball.manifold.dim
    names = set(value)  # those of another package's statistic may be any

    def place(what: str, point: Any, deviation: float, relative: float) -> _Place:
        seen = ball.manifold.coordinates(ball.center, point)
        along = relative * ball.reach  # of the number that a sum was divided by
        noise = math.hypot(math.sqrt(dim) * deviation, along)
        return _Place(what, ball, seen, noise, _DEVIATIONS * math.hypot(deviation, along))

    share = 0.0  # standard deviation of the number of records, as a share of it
    if names >= {"count", "count_sd"}:
        share = value["count_sd"] / max(value["count"], 1.0)
    if names >= {"base", "base_sd"}:
        found = [
            place("the mean that records were seen from", value["base"], value["base_sd"], share)
        ]
    elif names >= {"classes", "means", "means_sd", "shares", "shares_sd"}:
        sd = value["shares_sd"]
        of_class = sd / np.maximum(value["shares"], max(2.0 * sd, 1e-300))
        rows = zip(value["classes"], value["means"], value["means_sd"], of_class, strict=True)
        found = [place(f"the mean of class {name!r}", *each) for name, *each in rows]
    elif names >= {"mean", "mean_sd"}:
        found = [place("the mean", value["mean"], value["mean_sd"], share)]
    else:
        return
    yield from (each for each in found if not math.isnan(each.noise))


def _of_point(release: Release, ball: Ball) -> Iterator[_Place]:
    """Return the value, or its factors where these were clipped by themselves."""
    seen = ball.manifold.coordinates(ball.center, release.raw)
    noise = error_of(release)
    short = _DEVIATIONS * in_one_direction(noise, ball.manifold.dim)
    with contextlib.suppress(UnsupportedError):
        if len(ball.parts) > 1:
            noise = release.noise_per_mean
        elif release.offer.last.query.sums:  # longest where the number of records is off
            short = release.error_quantile(_COVERED)
    if math.isnan(noise):
        return
    start = 0
    for part in ball.parts:
        own = seen[start : start + part.manifold.dim]
        start += part.manifold.dim
        if len(ball.parts) > 1:
            short = _DEVIATIONS * in_one_direction(noise, part.manifold.dim)
        yield _Place("the value", part, own, noise, short)


def in_one_direction(noise: float, dim: int) -> float:
    """Return a standard deviation of noise in one direction, at least, from its expected length.

    Exact for a length with a gamma distribution of ``dim`` degrees, as that of Laplace noise has;
    larger for normal noise.
    """
    return noise * math.sqrt(dim + 1.0) / dim


def _units(manifold: Manifold, direction: NDArray[np.float64]) -> str:
    """Say which units records may be in, from the direction in which the value lies."""
    others = next((each.other_units for each in manifold.factors if each.other_units), "")
    found = f" ({others})" if others else ""
    if (axis := manifold.scale_axis) is None:
        return found
    along = float(direction @ axis)
    if abs(along) < _ALONG:
        return found
    than = "larger" if along > 0.0 else "smaller"
    return f"{found}; it is the centre with all entries {than} alike, as in another unit"


def is_noise(release: Release) -> str:
    """Say that noise is longer than the radius of the ball; else empty."""
    noise, reach = error_of(release), release.offer.value.ball.reach
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
        ("guarantee", f"{release.guarantee.under(ReplaceOne.name)}, {who}"),
        ("space", f"{ball.manifold}, {_size(ball)}"),
        ("n", n),
        ("mechanism", f"{release.mechanism.name}, noise scale {release.sigma:.4g}"),
    ]
    if not math.isnan(noise):
        units = release.offer.value.ball.manifold.in_units(noise)
        said = f"{noise:.4g} expected{units and f' ({units})'}, without the bias of clipping"
        rows.append(("noise", said))
    rows += [
        ("private", "yes" if release.private else "NO: the noise was seeded"),
        ("proved", "yes" if release.proven else "NO"),
    ]
    if caveat := release.statistic.caveat:
        rows.append(("note", caveat))
    return rows + [("warning", text) for text in release.warnings]


def _size(ball: Ball) -> str:
    return "the whole of it" if ball.is_whole else f"ball of radius {ball.radius:.4g}"
