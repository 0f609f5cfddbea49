"""Sums over a private number of records, or with private weights, and that number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import kind_of, real, shown
from riemdp._combinations import INFERENCE
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedError
from riemdp._part import both_proved, register
from riemdp.kernel import UNIT, Sum, added_products, sum_of
from riemdp.statistics._around import Around
from riemdp.statistics._data import check_extras
from riemdp.statistics._feature_sums import quotient_of, root_up
from riemdp.statistics._named_values import NamedValues
from riemdp.statistics._question import Rewritten
from riemdp.statistics._records import whole_weights
from riemdp.statistics._seen import vector_ball
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from numpy.typing import ArrayLike

    from riemdp.manifolds import Ball, FloatArray
    from riemdp.statistics._data import Records
    from riemdp.statistics._question import Partial, Question
    from riemdp.statistics._released_moments import ReleasedMoments
    from riemdp.statistics._statistic import Metric

#: More records than any data set has.
MOST_RECORDS = 2.0**63
#: Range of the weight of a count; the former is the least sum of weights that is divided by, too.
_LEAST, _GREATEST = 2.0**-20, 4.0


class Sums(Statistic):
    """A statistic whose answers are means of vectors, one a record, times :meth:`answer_factor`.

    So it has a form for a private number of records, or for private weights, :class:`Counted`: sums
    of these vectors, and how many there are, or how much weight. In every method ``dim`` is
    :meth:`dim`, and lengths are in units of :meth:`unit`.

    Attributes
    ----------
    counts_records : bool
        Whether the number of records is a linear function of their sum, as it is where each record
        is in one class of several: :meth:`count_form`.
    in_parts : bool
        Whether values are features, of which :meth:`Statistic.present` makes named parts. The
        number of records is one of them then.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.statistics import Moments, Sums
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> isinstance(Moments(), Sums), Moments().answer_move(2, 0)
    (True, 2.0)
    >>> Moments().counted(ball).statistic
    Moments(second='scalar')
    """

    counts_records: ClassVar[bool] = False
    in_parts: ClassVar[bool] = False

    def dim(self, ball: Ball) -> int:
        """Return the dimension of what a record is before anything stands beside it.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        int
        """
        return ball.manifold.dim

    def unit(self, ball: Ball) -> float:
        """Return the length that 1 stands for: the radius, by default.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
        """
        return ball.reach

    def answer_norm(self, dim: int, step: int) -> float:  # noqa: ARG002
        """Return the largest norm of a record's vector in an answer, rounded up; by default 1.

        Parameters
        ----------
        dim, step : int

        Returns
        -------
        float
        """
        return 1.0

    def answer_move(self, dim: int, step: int) -> float:  # noqa: ARG002
        """Return the largest distance of two such vectors, rounded up; by default 2.

        Parameters
        ----------
        dim, step : int

        Returns
        -------
        float
        """
        return 2.0

    def answer_factor(self, dim: int, step: int) -> Fraction:  # noqa: ARG002
        """Return what their mean is multiplied by in an answer: its weight.

        Parameters
        ----------
        dim, step : int

        Returns
        -------
        Fraction
        """
        return Fraction(self.answer_weight(step))

    def farthest(self, ball: Ball) -> float:  # noqa: ARG002
        """Return how far the value may move with the number of records, as a multiple of its share.

        That is the length of a mean at the boundary, by default.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
        """
        return 1.0

    def count_form(self, dim: int) -> FloatArray:  # noqa: ARG002
        """Return the linear function of a record's vector that is 1 for every record.

        Where :attr:`counts_records` says that there is one.

        Parameters
        ----------
        dim : int

        Returns
        -------
        ndarray, shape (size,)
        """
        raise UnsupportedError(f"the answers of the {self.name} do not say how many records are")

    def with_count(self, parts: Mapping[str, Any], relative: float) -> Mapping[str, Any]:  # noqa: ARG002
        """Return parts of sums that were divided by a noisy number of records.

        Standard deviations may take that noise in, to first order: it is a common factor of all
        features, which turns no direction. By default they are those of the sums alone.

        Parameters
        ----------
        parts : mapping of str to object
            What :meth:`Statistic.present` returned.
        relative : float
            Standard deviation of the number of records, as a share of it; NaN where not known.

        Returns
        -------
        mapping of str to object
        """
        return parts

    def count_weight(self, dim: int) -> float:
        """Return the weight of the count with the least error of a mean at the boundary.

        Noise follows ``sqrt(norm^2 + weight^2)``, and the squared error ``dim + 1 / weight^2``
        times its square: least at ``weight^4 = norm^2 / dim``.

        Parameters
        ----------
        dim : int

        Returns
        -------
        float
        """
        return math.sqrt(self.answer_norm(dim, 0) / math.sqrt(dim))

    def counted(self, ball: Ball) -> Statistic:
        """Return the sums with the number of records; see :meth:`Statistic.counted`."""
        return Counted(self, 0.0 if self.counts_records else self.count_weight(self.dim(ball)))

    def weighted(self, dim: int) -> Counted:
        """Return the sums with private weights, of a public number of records.

        The sum of weights is multiplied by the largest number that costs nothing, ``sqrt(move^2 -
        norm^2)``, or by that of :meth:`count_weight`, if that is more.

        Parameters
        ----------
        dim : int

        Returns
        -------
        Counted
        """
        if self.counts_records:
            return Counted(self, 0.0, weighs=True)
        move, norm = self.answer_move(dim, 0), self.answer_norm(dim, 0)
        free = max(Fraction(move) ** 2 - Fraction(norm) ** 2, Fraction(0))
        found = math.sqrt(free)
        while Fraction(found) ** 2 > free:
            found = math.nextafter(found, 0.0)
        return Counted(self, max(found, self.count_weight(dim)), weighs=True)


@dataclass(frozen=True, eq=False)
class _Total(Rewritten):
    """The sum that an exact mean is of, times a number, and another number for every record.

    Or both times the weight of each record: an integer, so that nothing is rounded.
    """

    question: Question
    factor: Fraction
    one: Fraction | None
    size: int
    weighs: bool

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self.question.takes, *(("weights",) if self.weighs else ()))

    def rows(self, ball: Ball, records: Any) -> Partial:
        if not self.weighs:
            return super().rows(ball, records)
        inner = records if self.question.takes else np.asarray(records.points)
        # of records that nobody has checked too: from 0 to 1
        weights = np.fmin(np.fmax(np.asarray(records.weights), 0.0), 1.0)
        return super().rows(ball, inner), whole_weights(weights)

    def added(self, ball: Ball, rows: Partial) -> Partial:
        if not self.weighs:
            return super().added(ball, rows)
        inner, whole = rows
        return Sum(added_products(self.question.guarded(ball, inner), whole), sum_of(whole))

    def finish(self, ball: Ball, partial: Partial, tol: float) -> tuple[Fraction, ...]:
        number = Fraction(partial.count, UNIT if self.weighs else 1)
        one = () if self.one is None else (number * self.one,)
        if number == 0:
            return ((Fraction(0),) * self.size) + one
        mean = map(Fraction, self.question.finish(ball, partial, tol))
        return (*(number * self.factor * x for x in mean), *one)


@dataclass(frozen=True, eq=False)
class _Place:
    """Where the inner statistic has come to, with the number, or weight, that was released."""

    inner: Any
    count: float = 1.0


@final
@register
@dataclass(frozen=True)
class Counted(Around):
    """Sums over a private number of records, or with private weights, and that number, with noise.

    Answers are sums over the records of the vectors whose means the inner statistic asks for, with
    ``weight`` for every record as one more coordinate of the first answer. Each is divided by the
    largest norm of what a record adds, so that an answer moves by its weight, in its unit, when a
    record is added or removed, and the budget is shared as the inner statistic shares it.

    The inner statistic then gets the sums divided by the number that was released, by one record at
    least. How long its noise is taken to be follows that number too. Where class sizes are among
    the features, these say how many records there are: nothing is added, and the weight is 0.

    With ``weighs`` every record has a weight in [0, 1], as private as the record, that its vector
    is multiplied by, and the sum of weights takes the place of the number of records: what the
    inner statistic gets is a weighted mean. A record may be replaced with its weight, so that an
    answer moves by the larger of its move and its norm, ``weight`` among it. A sum of weights under
    the standard deviation of its noise is taken for that.

    Parameters
    ----------
    statistic : Statistic
        A sum over the records, such as :class:`TangentMean`, :class:`Moments`, :class:`Recentred`,
        :class:`RefinedMean`, :class:`Variance` or :class:`GeometricMedian`.
    weight : float
        Of the count, in units of the vectors: from 2^-20 to 4; 0 where features count records.
    weighs : bool, default False
        Whether records have private weights: :attr:`riemdp.statistics.Records.weights`.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside its domain.

    References
    ----------
    docs/proofs/neighbours.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import AddRemove, Counted, Moments
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points, sums = np.full((500, 2), 0.3), Counted(Moments(), 0.5)
    >>> release = riemdp.private_statistic(
    ...     sums, points, ball, riemdp.GDP(1.0), neighbours=AddRemove()
    ... )
    >>> release.value["mean"].shape, abs(release.count - 500) < 50
    ((2,), True)
    >>> weighted = Counted(Moments(), 0.5, weighs=True)
    >>> records = riemdp.Records(points, weights=np.linspace(0.5, 1.0, 500))
    >>> release = riemdp.private_statistic(weighted, records, ball, riemdp.GDP(1.0))
    >>> release.n, abs(release.value["weight"] - 375) < 50
    (500, True)
    """

    name: ClassVar[str] = "counted"
    proof: ClassVar[str | None] = "docs/proofs/neighbours.md"
    projects: ClassVar[bool] = False
    totals: ClassVar[bool] = True

    statistic: Sums
    weight: float
    weighs: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.statistic, Sums):
            raise InvalidParameterError(
                "statistic must be a sum over the records, such as Moments(), got "
                f"{kind_of(self.statistic)}"
            )
        weight = checked_weight(self.weight, free=self.statistic.counts_records)
        object.__setattr__(self, "weight", weight)
        if not isinstance(self.weighs, bool):
            raise InvalidParameterError(f"weighs must be true or false, got {shown(self.weighs)}")

    @property
    def title(self) -> str:
        """With that of the inner statistic; see :attr:`Statistic.title`."""
        return f"{'weighted' if self.weighs else self.name} {self.statistic.title}"

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the inner statistic takes, and weights where there are any."""
        return (*self.statistic.takes, *(("weights",) if self.weighs else ()))

    @property
    def of(self) -> Literal["points", "rows"]:  # type: ignore[override]
        """That of the inner statistic; but people who weigh have one point each."""
        return "points" if self.weighs else self.statistic.of

    @property
    def caveat(self) -> str:  # type: ignore[override]
        """That of the inner statistic, and what the number of records adds."""
        number, much = "number of records", "as many records as were"
        if self.weighs:
            number, much = "sum of weights", "the sum of weights that was"
        own = (
            f"the noise of the {number} is in it to first order, for a value at the boundary of "
            f"the ball and {much} released"
        )
        inner = self.statistic.caveat or "expected_distance is that of the noise"
        return f"{inner}; {own}"

    @property
    def keeps_range(self) -> bool:  # type: ignore[override]
        """Whether values are points; features divided by a noisy number may be far out."""
        return not self.statistic.in_parts

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Number of answers."""
        return self.statistic.steps

    def tolerance(self, ball: Ball, sensitivity: float) -> float:  # noqa: ARG002
        """Zero: integers are added; see :meth:`Statistic.tolerance`."""
        return 0.0

    def counted(self, ball: Ball) -> Counted:
        """Return itself, of weights with the weight that suits it; see :meth:`Statistic.counted`.

        That is the one of :meth:`Sums.count_weight`.
        """
        if not self.weighs or self.statistic.counts_records:
            return self
        return replace(self, weight=self.statistic.count_weight(self.statistic.dim(ball)))

    def check_records(self, records: Records) -> None:
        """Require weights in [0, 1], where there are any; see :meth:`Statistic.check_records`."""
        self.statistic.check_records(self._checked(records))

    def check_chunk(self, records: Records) -> Any:
        """Require the same; see :meth:`Statistic.check_chunk`."""
        return self.statistic.check_chunk(self._checked(records))

    def _checked(self, records: Records) -> Records:
        """Check weights, and return what the inner statistic takes."""
        if not self.weighs:
            return records
        check_extras(records, self.takes, self.title)
        if len(wrong := np.flatnonzero(np.asarray(records.weights) > 1.0)):
            raise NotOnManifoldError(
                f"row {wrong[0]}: its weight is more than 1; scale weights by a public bound"
            )
        return replace(records, weights=None)

    def absent(self) -> Mapping[str, object]:
        """Return that of the inner statistic, and a weight of 0; see :meth:`Statistic.absent`."""
        return {**self.statistic.absent(), **({"weights": 0.0} if self.weighs else {})}

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Return those of the inner statistic, and weights of all sizes.

        See :meth:`Statistic.typical_extras`.
        """
        found = self.statistic.typical_extras(size, generator)
        if not self.weighs:
            return found
        weights = generator.uniform(size=size)
        weights[:2] = (0.0, 1.0)[: len(weights[:2])]
        return {**found, "weights": weights}

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Return the same, and those of the sums; see :meth:`Statistic.proofs_on`."""
        return both_proved(self.proofs(), self.statistic.proofs_on(ball))

    def answer_weight(self, step: int) -> float:
        """Return that of the inner statistic; see :meth:`Statistic.answer_weight`."""
        return self.statistic.answer_weight(step)

    def answers(self, ball: Ball) -> Ball:
        """Return sums over however many records there are; see :meth:`Statistic.answers`."""
        size = self._size(ball) + (1 if self.weight else 0)
        return vector_ball(size, MOST_RECORDS * self.statistic.unit(ball))

    def range(self, ball: Ball) -> Ball:
        """Return that of the inner statistic, or features and number; see :meth:`answers`."""
        inner = self.statistic.range(ball)
        if not self.statistic.in_parts:
            return inner
        return vector_ball(inner.manifold.dim + 1, MOST_RECORDS * (1.0 + inner.reach))

    def _size(self, ball: Ball) -> int:
        return self.statistic.answers(ball).manifold.dim

    def _scale(self, ball: Ball, step: int) -> float:
        """Return what the vectors of an answer are multiplied by: its weight over their norm.

        Rounded down, so that they are at most the weight times the unit long.
        """
        norm = Fraction(self._norm(self.statistic.dim(ball), step))
        weight = Fraction(self.answer_weight(step))
        found = float(weight / norm)
        return found if Fraction(found) * norm <= weight else math.nextafter(found, 0.0)

    def _norm(self, dim: int, step: int) -> float:
        """Return the largest norm of what a record adds, before it is scaled; rounded up."""
        norm = self.statistic.answer_norm(dim, step)
        return norm if step else root_up(Fraction(norm) ** 2 + Fraction(self.weight) ** 2)

    def add_remove(self, ball: Ball, metric: Metric) -> float:  # noqa: ARG002
        """Return the unit; refused if the inner statistic has no sensitivity on this ball.

        See :meth:`Statistic.add_remove`.
        """
        self.statistic.replace_one(ball, 2, "coordinates")
        return self.statistic.unit(ball)

    def replace_one(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return how far the sums move, whatever n is; see :meth:`Statistic.replace_one`.

        With a weight that is replaced too, a row may come or go as well.
        """
        return self._largest(ball, self._far)

    def replace_point(self, ball: Ball, n: int, metric: Metric) -> float:  # noqa: ARG002
        """Return how far they move whatever weights are; see :meth:`Statistic.replace_point`."""
        return self._largest(ball, self.statistic.answer_move)

    def _far(self, dim: int, step: int) -> float:
        """Return how far what a record adds moves where the record is replaced with its weight."""
        move = self.statistic.answer_move(dim, step)
        return max(move, self._norm(dim, step)) if self.weighs else move

    def _largest(self, ball: Ball, moves: Callable[[int, int], float]) -> float:
        """Return the largest move of an answer over its weight, of those of what a record adds."""
        self.statistic.replace_one(ball, 2, "coordinates")
        dim = self.statistic.dim(ball)
        found = [
            Fraction(self._scale(ball, step))
            * Fraction(moves(dim, step))
            / Fraction(self.answer_weight(step))
            for step in range(self.steps)
        ]
        return quotient_of(max(found) * Fraction(self.statistic.unit(ball)), 1)

    def _factor(self, ball: Ball, step: int) -> float:
        """Return what makes an answer of the inner statistic of one here, over one record."""
        inner = self.statistic.answer_factor(self.statistic.dim(ball), step)
        return float(inner / Fraction(self._scale(ball, step)))

    def _count_form(self, ball: Ball) -> FloatArray:
        """Return the linear function of the first answer that is 1 for every record."""
        size, unit = self._size(ball), self._scale(ball, 0) * self.statistic.unit(ball)
        if self.weight:
            return np.array([0.0] * size + [1.0 / float(self._one(ball))])
        return self.statistic.count_form(self.statistic.dim(ball)) / unit

    def _one(self, ball: Ball) -> Fraction:
        """Return what a record adds to the last coordinate of the first answer."""
        scale, unit = self._scale(ball, 0), self.statistic.unit(ball)
        return Fraction(scale) * Fraction(self.weight) * Fraction(unit)

    def noise_in_value(self, ball: Ball) -> float:
        """Of the last answer, and of the count; see :meth:`Statistic.noise_in_value`."""
        size, form = self._size(ball), self._count_form(ball) * self.statistic.unit(ball)
        factor = self._factor(ball, self.steps - 1) * self.statistic.noise_in_value(ball)
        count = self.statistic.farthest(ball) * float(np.linalg.norm(form))
        return math.sqrt((size * factor**2 + count**2) / len(form))

    def released_count(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """None where it is the sum of weights; see :meth:`Statistic.released_count`."""
        return None if self.weighs else self._number(ball, answers[0])

    def released_total(self, ball: Ball, answers: Sequence[FloatArray]) -> float | None:
        """Return the sum of weights; see :meth:`Statistic.released_total`."""
        return self._number(ball, answers[0]) if self.weighs else None

    def _number(self, ball: Ball, noisy: FloatArray) -> float:
        return float(self._count_form(ball) @ noisy)

    def _least(self, ball: Ball, deviation: Callable[[], float]) -> float:
        """Return the least number that is divided by, a public one.

        One record; of weights the standard deviation of the noise in their sum, by that in a
        coordinate of the answer.
        """
        if not self.weighs:
            return 1.0
        return max(_LEAST, deviation() * float(np.linalg.norm(self._count_form(ball))))

    def start(self, ball: Ball) -> _Place:
        """Return where the inner statistic starts; see :meth:`Statistic.start`."""
        return _Place(self.statistic.start(ball))

    def ask(self, ball: Ball, point: _Place, step: int) -> Question:
        """Ask for the sum that the inner mean is of; see :meth:`Statistic.ask`."""
        inner = self.statistic.answer_factor(self.statistic.dim(ball), step)
        asked = self.statistic.ask(ball, point.inner, step)
        one = None
        if self.weight:
            one = self._one(ball) if step == 0 else Fraction(0)
        scale = Fraction(self._scale(ball, step)) / inner
        return _Total(asked, scale, one, self._size(ball), self.weighs)

    def move(
        self, ball: Ball, point: _Place, noisy: FloatArray, step: int, noise: Callable[[], float]
    ) -> _Place:
        """Divide by the number that was released, and move; see :meth:`Statistic.move`."""
        count = self._number(ball, noisy) if step == 0 else point.count
        least = self._least(ball, lambda: noise() / math.sqrt(len(noisy)))
        factor, size = self._factor(ball, step) / max(count, least), self._size(ball)
        # of the mean length of noise, the part of the coordinates that the inner statistic sees
        part = math.sqrt((size - 0.5) / (len(noisy) - 0.5))
        answer = noisy[:size] * factor
        if self.statistic.answers(ball) is ball:  # whose points are no vectors
            answer = ball.point(ball.shorten(answer))
        inner = self.statistic.move(
            ball, point.inner, answer, step, lambda: noise() * factor * part
        )
        return _Place(inner, count)

    def value_at(self, ball: Ball, point: _Place) -> FloatArray:
        """Return the value of the inner statistic, with the number; see :meth:`range`."""
        value = self.statistic.value_at(ball, point.inner)
        return np.append(value, point.count) if self.statistic.in_parts else value

    def present(self, ball: Ball, value: FloatArray, deviation: Callable[[], float]) -> Any:
        """Return the value of the inner statistic, parts with the number among them.

        ``count`` is the number of records as it was drawn, or ``weight`` the sum of weights, and
        ``count_sd`` or ``weight_sd`` the standard deviation of its noise. Other standard deviations
        are to first order in the noise, and take that of the number in as far as
        :meth:`Sums.with_count` says.
        """
        if not self.statistic.in_parts:
            return self.statistic.present(ball, value, deviation)
        sd, count = deviation(), float(value[-1])
        count_sd = sd * float(np.linalg.norm(self._count_form(ball)))
        number = max(count, self._least(ball, lambda: sd))
        inner = sd * self._factor(ball, self.steps - 1) / number
        parts = self.statistic.present(ball, value[:-1], lambda: inner)
        found = dict(self.statistic.with_count(dict(parts.items()), count_sd / number))
        if self.steps > 1:  # of the first answer, which has a scale of its own
            found["base_sd"] = sd / (self._scale(ball, 0) * number)
        name = "weight" if self.weighs else "count"
        return NamedValues(value, {**found, name: count, f"{name}_sd": count_sd})

    def released_moments(
        self, ball: Ball, value: FloatArray, deviation: float, n: int
    ) -> ReleasedMoments:
        """See :meth:`Statistic.released_moments`: refused; regions and tests take a public n."""
        del ball, value, deviation, n
        raise UnsupportedError(str(INFERENCE))


def checked_weight(weight: object, *, free: bool) -> float:
    """Return the weight of a count: 0 where features count records (``free``), else in its range.

    Raises ``InvalidParameterError`` for any other.
    """
    found = real(weight, "weight")
    if free and found != 0.0:
        raise InvalidParameterError(
            f"weight must be 0 where features count records already, got {found}"
        )
    if not free and not _LEAST <= found <= _GREATEST:
        raise InvalidParameterError(
            f"weight, of the count, must lie between {_LEAST:g} and {_GREATEST:g}, got {found}"
        )
    return found
