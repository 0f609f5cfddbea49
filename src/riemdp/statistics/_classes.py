"""Means of classes, their shares and the spread within them, in one release."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from riemdp._checks import LARGEST_COUNT, count, is_one_of, kind_of, shown
from riemdp._errors import InvalidParameterError
from riemdp._part import register
from riemdp.kernel import UNIT, Classes
from riemdp.spaces import clip_norm
from riemdp.statistics._moments import nonnegative, root_mean_square
from riemdp.statistics._sums import SumStatistic, symmetric_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._seen import View

#: No text of a class may be that: a document has it in place of a number.
_RESERVED = "infinity"
#: What is divided by: shares of at least so many standard deviations of their noise; where that is
#: not known, of at least this part of what they would be were all classes of one size.
_DEVIATIONS, _FLOOR = 2.0, 0.1
#: Share of a class of which nothing was seen.
_NOTHING = 1e-9


@final
@register
@dataclass(frozen=True)
class ClassMoments(SumStatistic):
    """Tangent means of classes, their shares and a second moment about the centre, jointly.

    Labels are private: which class a record is of, and how large the classes are, is protected
    like its point. With Gaussian noise the sums of the classes get the noise that one mean of all
    records would get alone. What is divided by are shares with noise, so the means of small classes
    are worth little: see ``means_sd`` of :meth:`parts`.

    With ``sizes`` labels and class sizes are public, and not protected at all. Neighbours then
    differ in the point of one record: :class:`ReplacePoint`. Private labels with public sizes are
    refused: to change a label is to change the sizes.

    Parameters
    ----------
    classes : tuple of int, or tuple of str
        The public labels, at least two. Not those that occur in the data.
    second : {"none", "scalar", "matrix"}, default "none"
        Second moment that is released too, of all classes together: the mean squared distance to
        the centre, or the mean of ``v v^T`` in normal coordinates.
    sizes : tuple of int, default ()
        Public number of records of each class.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/joint-sensitivities.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import ClassMoments
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> records = riemdp.Records(points, labels=np.repeat(["feet", "fists"], 250))
    >>> classes = ClassMoments(("feet", "fists"))
    >>> release = riemdp.private_statistic(classes, records, ball, riemdp.GDP(1.0))
    >>> release.value.means.shape, release.value.shares.shape
    ((2, 2), (2,))
    """

    name: ClassVar[str] = "class-moments"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"
    takes: ClassVar[tuple[str, ...]] = ("labels",)

    classes: tuple[int | str, ...]
    second: Literal["none", "scalar", "matrix"] = "none"
    sizes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", checked_classes(self.classes))
        if not is_one_of(self.second, ("none", "scalar", "matrix")):
            raise InvalidParameterError(
                f'second must be "none", "scalar" or "matrix", got {shown(self.second)}'
            )
        object.__setattr__(self, "sizes", self._checked_sizes())

    def _checked_sizes(self) -> tuple[int, ...]:
        given: Any = self.sizes
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise InvalidParameterError(f"sizes must be a tuple of integers, got {kind_of(given)}")
        found = tuple(count(size, "each of the sizes of classes") for size in given)
        if len(found) not in (0, len(self.classes)):
            raise InvalidParameterError(
                f"sizes must be one for each of the {len(self.classes)} classes, or none where "
                f"labels are private, got {len(found)}"
            )
        return found

    @property
    def by_place(self) -> tuple[str, ...]:  # type: ignore[override]
        """Labels, where sizes are public; see :attr:`Statistic.by_place`."""
        return ("labels",) if self.sizes else ()

    def shape(self, dim: int) -> Classes:
        """``(v (x) e_y, e_y, |v|^2 or v v^T)`` with weights; see :meth:`SumStatistic.shape`."""
        return Classes(dim, len(self.classes), self.second, shares=not self.sizes)

    @property
    def beside(self) -> Callable[[Records], NDArray[Any]]:
        """Places of labels among the classes; see :attr:`SumStatistic.beside`."""
        return functools.partial(_codes_of, self.classes)

    def check_size(self, n: int) -> None:
        """``n`` has to be the sum of public sizes; see :meth:`Statistic.check_size`."""
        if self.sizes and n != sum(self.sizes):
            raise InvalidParameterError(f"the sizes add up to {sum(self.sizes)}, not to n = {n}")

    def check_chunk(self, records: Records) -> list[int] | None:
        """Return the sizes of the classes in some, where they are public.

        See :meth:`Statistic.check_chunk`.
        """
        super().check_chunk(records)
        codes = class_codes(np.asarray(records.labels), self.classes)
        if len(wrong := np.flatnonzero(codes < 0)):
            raise InvalidParameterError(
                f"row {wrong[0]}: its label is not among the public classes; list all that may "
                "occur, and drop or relabel other records beforehand by a rule that looks at one "
                "record at a time"
            )
        return np.bincount(codes, minlength=len(self.classes)).tolist() if self.sizes else None

    def check_chunks(self, noted: Sequence[Any]) -> None:
        """Require the public sizes; see :meth:`Statistic.check_chunks`."""
        if self.sizes and tuple(map(sum, zip(*noted, strict=True))) != self.sizes:
            raise InvalidParameterError("the labels do not come in the public sizes of the classes")

    def absent(self) -> Mapping[str, object]:
        """Return a label that is none of the classes; see :meth:`Statistic.absent`."""
        return {"labels": None}

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Random labels; see :meth:`Statistic.typical_extras`."""
        codes = generator.integers(0, len(self.classes), size=size)
        return {"labels": np.array(self.classes)[codes]}

    def parts(
        self, view: View, features: FloatArray, deviation: float, relative: float
    ) -> Mapping[str, Any]:
        """Return means, shares and spread; see :meth:`SumStatistic.parts`.

        ``classes``; ``means``, points of the ball, shape (K, *point_shape); ``coordinates``, the
        same before they were shortened to ``clip``, in normal coordinates about the base, shape (K,
        dim); ``shares`` of the records, shape (K,), with their noise: counts over n, for division
        at least twice their noise (of people: one with half of the records in a class counts half
        there); ``base`` and ``clip``, where records were seen from and the
        length they were shortened to. With a second moment: ``second_moment`` about the base, a
        number or shape (dim, dim), with its noise; ``variance`` within classes, at least 0, and for
        matrices ``covariance``, whose eigenvalues are at least 0. Standard deviations of the noise:
        ``shares_sd`` (0 where sizes are public); ``means_sd``, shape (K,), of a coordinate of a
        mean, to first order, the noise of the shares included; ``second_moment_sd``, of the number
        or an entry of the diagonal (of the others that over root 2), where the number of records is
        noisy with that noise. Means do not depend on that number; shares do, and ``shares_sd``
        leaves it out.
        """
        dim, classes = view.ball.manifold.dim, len(self.classes)
        shape = self.shape(dim)
        sums = features[: classes * dim].reshape(classes, dim)
        if self.sizes:
            n = sum(self.sizes)
            shares, shares_sd = np.array([size / n for size in self.sizes]), 0.0
            rest = features[classes * dim :]
        else:
            unit = shape.share / UNIT
            shares, shares_sd = features[classes * dim :][:classes] / unit, deviation / unit
            rest = features[classes * (dim + 1) :]
        least = np.maximum(shares, self._floor(shares_sd))
        means = sums / least[:, None]
        of_shares = (shares_sd * np.linalg.norm(means, axis=-1)) ** 2 / dim
        found: dict[str, Any] = {
            "classes": self.classes,
            "means": view.point(clip_norm(means, 1.0)),
            "coordinates": means * view.unit,
            "shares": shares,
            "base": view.base_point,
            "clip": view.unit,
            "means_sd": np.sqrt(deviation * deviation + of_shares) / least * view.unit,
            "shares_sd": shares_sd,
        }
        if self.second == "none":
            return found
        # a mean v v^T is larger by the mean square of its noise
        known = 0.0 if math.isnan(deviation) else deviation
        noise = known * known * float(np.sum(1.0 / least))
        if self.second == "scalar":
            second = float(rest[0]) / shape.weights[0]
            variance = second - float(np.sum(least * np.square(means).sum(axis=-1))) + dim * noise
            found["second_moment"] = second * view.unit**2
        else:
            matrix = symmetric_of(rest, dim, shape.weights)
            within = matrix - (means.T * least) @ means + noise * np.eye(dim)
            variance = float(np.trace(within))
            found["second_moment"] = matrix * view.unit**2
            found["covariance"] = nonnegative(within) * view.unit**2
        found["variance"] = max(variance, 0.0) * view.unit**2
        alone = deviation / shape.weights[0] * view.unit**2
        squares = np.diag(np.atleast_2d(found["second_moment"]))
        found["second_moment_sd"] = math.hypot(alone, relative * root_mean_square(squares))
        return found

    def _floor(self, shares_sd: float) -> float:
        if math.isnan(shares_sd):
            return _FLOOR / len(self.classes)
        return max(_DEVIATIONS * shares_sd, _NOTHING)


def _codes_of(classes: tuple[int | str, ...], records: Records) -> NDArray[np.int64]:
    return class_codes(np.asarray(records.labels), classes)


def checked_classes(classes: object) -> tuple[int | str, ...]:
    """Return public classes as a tuple of integers or of texts.

    Raises ``InvalidParameterError`` if they are no such classes, under two, or one comes twice.
    """
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise InvalidParameterError(
            f"classes must be a tuple of integers or of texts, got {kind_of(classes)}"
        )
    found = tuple(_plain(each) for each in classes)
    kinds = {type(each) for each in found}
    if len(found) < 2 or kinds not in ({int}, {str}):
        raise InvalidParameterError(
            "classes must be at least two labels, all integers or all texts, got "
            f"{len(found)} of {', '.join(sorted(kind.__name__ for kind in kinds)) or 'no type'}"
        )
    if len(set(found)) < len(found):
        raise InvalidParameterError("classes must be distinct: one of them comes twice")
    if _RESERVED in found or any(type(x) is int and abs(x) > LARGEST_COUNT for x in found):
        raise InvalidParameterError(
            f'classes must be integers under 2^63, or texts other than "{_RESERVED}", which a '
            "document has for a number; name them otherwise"
        )
    return found


def _plain(label: Any) -> Any:
    """Return a scalar of NumPy as Python has it."""
    return label.item() if isinstance(label, np.generic) else label


def class_codes(labels: NDArray[Any], classes: tuple[int | str, ...]) -> NDArray[np.int64]:
    """Return the place ``(m,)`` of each label among the classes, -1 of one that is none of them."""
    places, kind = _places(classes), type(classes[0])
    plain = map(_plain, labels.tolist())
    found = [places.get(x, -1) if type(x) is kind else -1 for x in plain]
    return np.array(found, dtype=np.int64)


@functools.lru_cache(maxsize=8)
def _places(classes: tuple[int | str, ...]) -> Mapping[int | str, int]:
    return {each: place for place, each in enumerate(classes)}
