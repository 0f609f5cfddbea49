"""What to expect of each mechanism, before any data are touched."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from riemdp._checks import count, positive
from riemdp._described import Described, digits
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._keywords import with_advice
from riemdp._progress import ticks, work
from riemdp.mechanisms import TangentGaussian, as_choice
from riemdp.privacy import Budget, check_budget
from riemdp.release._least_error import as_good, kinds, named
from riemdp.release._noise_of_value import PerMean, noise_per_mean, pure_noise
from riemdp.release._offer import (
    Offer,
    Terms,
    error_quantile,
    expected_distance,
)
from riemdp.release._options import check_searched, number_of_people, relation
from riemdp.release._plan_pictures import draw_plan
from riemdp.release._private_mean import mean_of
from riemdp.release._search._forecast import Forecast, forecast
from riemdp.release._table import Table
from riemdp.spaces import Ball, Manifold, check_manifold
from riemdp.statistics import RefinedMean, ReplaceOne, check_statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.release._offer import Wanted
    from riemdp.release._options import Adjacency
    from riemdp.statistics import Neighbours, Statistic

#: Largest n, and largest factor on a privacy parameter, that ``target_error`` looks for.
_LARGEST_N = 10**15
_LARGEST_PARAMETER = 1e6
#: A factor that is looked at first: calibration takes its time at the largest ones.
_LARGE_PARAMETER = 30.0
_CONFORMAL = (
    "not listed: ConformalLaplace, ConformalRejection and PublicPriorLaplace, whose error depends "
    "on their factor or prior"
)

_SAME_NOISE = "not listed: mechanisms whose noise is that of one above them, on this space"

_UPPER_END = (
    "the expected error is that for records spread over the whole ball, an upper end: give "
    "spread=..., a public guess of how far they are from their mean"
)
_SUPPOSED = (
    "n is private, and supposed here: noise is the same for any number; errors are those for n = {}"
)


@dataclass(frozen=True)
class PlanRow(Described):
    """What to expect of one mechanism. Distances are those between the exact value and its draw.

    They are what ``"auto"`` compares: upper bounds, wherever in the ball the value lies, for noise
    in a tangent space of a curved space.

    Attributes
    ----------
    mechanism : str
        Name.
    summary : str
        Name of the statistic: what is estimated.
    sensitivity, sigma, expected_distance, quantile_95 : float or None
        None where the mechanism is not available; the last two also where its class does not know
        them, and the quantile where it depends on where in the ball the value lies.
    problem : str or None
        Why it is not available.
    required_n : int or None
        Smallest n that brings the expected distance down to the target at this budget.
    required_budget : Budget or None
        Least budget that does so at this n.
    unproven : str
        Names of what has no proof, without which ``"auto"`` does not take it; empty if there is
        none.
    caveat : str
        What to know before the value is used; empty where there is nothing.
    noise_per_mean : float or None
        Of several means at once, root mean square of the noise of one; None where that is not
        known. See :attr:`Release.noise_per_mean`.
    warning : str
        What this budget costs many means; empty where there is nothing to say.

    Examples
    --------
    >>> import riemdp
    >>> row = riemdp.plan(riemdp.Euclidean(3), 1.0, 500, riemdp.GDP(1.0)).best
    >>> row.mechanism, row.summary, round(row.sensitivity, 6)
    ('riemannian-gaussian', 'frechet-mean', 0.004)
    >>> round(row.expected_distance, 4), round(row.quantile_95, 4)
    (0.0064, 0.0112)
    """

    mechanism: str
    summary: str
    sensitivity: float | None = None
    sigma: float | None = None
    expected_distance: float | None = None
    quantile_95: float | None = None
    problem: str | None = None
    required_n: int | None = None
    required_budget: Budget | None = None
    unproven: str = ""
    caveat: str = ""
    noise_per_mean: float | None = None
    warning: str = ""

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        left_out = ("mechanism", "summary", None, "")
        return f"{self.mechanism} for the {self.summary}", [
            (name.replace("_", " "), digits(value) if isinstance(value, float) else str(value))
            for name, value in vars(self).items()
            if value not in left_out and name not in left_out
        ]


@dataclass(frozen=True)
class Plan(Table):
    """Table of mechanisms for a space, a radius, n and a budget.

    Attributes
    ----------
    manifold : Manifold
    radius : float
    n : int
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
    target_error : float or None
    rows : tuple of PlanRow
        One for each mechanism, available or not; of means also the refined one, which has to be
        asked for, by ``private_mean(..., method="refined")``: its noise follows the spread of the
        records.
    search : Forecast or None
        What to expect of a search for a smaller ball, where ``method="adaptive"`` was asked for.
    neighbours : Neighbours
        Which data sets the guarantee is about.
    ball : Ball or None
        Public ball, of which ``radius`` is the radius.
    spread, signal : float or None
        Public guesses about the records, and about one mean among several.

    Examples
    --------
    >>> import riemdp
    >>> found = riemdp.plan(riemdp.Sphere(2), 1.0, 500, riemdp.GDP(1.0))
    >>> len(found.rows), found.best.mechanism, round(found.best.expected_distance, 4)
    (7, 'tangent-gaussian', 0.005)
    """

    manifold: Manifold
    radius: float
    n: int
    budget: Budget
    target_error: float | None
    rows: tuple[PlanRow, ...]
    search: Forecast | None = None
    neighbours: Neighbours = field(default_factory=ReplaceOne)
    ball: Ball | None = None
    spread: float | None = None
    signal: float | None = None

    def __iter__(self) -> Iterator[PlanRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, mechanism: str) -> PlanRow:
        """Row of the mechanism with this name."""
        for row in self.rows:
            if row.mechanism == mechanism:
                return row
        raise KeyError(mechanism)

    @property
    def best(self) -> PlanRow | None:
        """What ``mechanism="auto"`` takes; None where nothing is available.

        Where nothing is proved, what it takes with ``allow_unproven=True``.
        """
        first = self.rows[0].summary if self.rows else ""
        found = [row for row in self.rows if row.problem is None]
        # a refined mean beside the others is made on request alone
        found = [row for row in found if first == row.summary or row.summary != RefinedMean.name]
        found = [row for row in found if not row.unproven] or found
        wanted = as_good(found, _error, lambda row: row.summary == first)
        return min(wanted, key=_error, default=None)

    def _table(self) -> tuple[str, list[list[str]], list[str]]:
        numbers = {
            "sensitivity": "sensitivity",
            "noise scale": "sigma",
            "expected error": "expected_distance",
            "95 % quantile": "quantile_95",
        }
        if any(row.noise_per_mean is not None for row in self.rows):
            numbers["per mean"] = "noise_per_mean"
        needed = {"n needed": "required_n", "budget needed": "required_budget"}
        if self.target_error is None:
            needed = {}
        lines = [["mechanism", "statistic", *numbers, *needed]]
        for row in self.distinct:
            fields = vars(row)
            cells = [row.mechanism, row.summary]
            cells += [_cell(fields[name], ".6g") for name in numbers.values()]
            lines.append(cells + [_cell(fields[name]) for name in needed.values()])
        return self.title, lines, self._remarks()

    @property
    def distinct(self) -> tuple[PlanRow, ...]:
        """Rows without the noise that an earlier row has, too, as on flat spaces."""
        found: dict[object, PlanRow] = {}
        for row in self.rows:
            noise = (row.sensitivity, row.sigma, row.expected_distance)
            found.setdefault((row.summary, row.mechanism if row.sigma is None else noise), row)
        return tuple(found.values())

    def _records(self) -> list[dict[str, Any]]:
        return [vars(row) for row in self.rows]

    def plot(self, ax: Any = None) -> Any:
        """Draw the expected error of each mechanism as a bar, with its 95 % quantile.

        The one that ``"auto"`` takes is darker and says so; a line is at the target error.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        UnsupportedError
            If matplotlib is not installed.
        InvalidParameterError
            If ``ax`` is something else.

        Examples
        --------
        >>> import riemdp
        >>> found = riemdp.plan(riemdp.SPDLogEuclidean(3), 2.0, 1000, riemdp.GDP(1.0))
        >>> found.plot().get_xlabel()
        'expected error, geodesic distance'
        """
        return draw_plan(self, ax)

    @property
    def title(self) -> str:
        """What it is about, in a line."""
        title = f"{self.manifold}, radius {self.radius:g}, n = {self.n}, {self.budget}"
        if self.target_error is not None:
            title += f", target error {self.target_error:.4g}"
        return title

    def _remarks(self) -> list[str]:
        """Sentences under the table, each once."""
        notes = [f"{row.mechanism}: {row.problem}" for row in self.rows if row.problem]
        notes += [
            f"{row.mechanism}: unproven, no proof is known of {row.unproven}"
            for row in self.rows
            if row.unproven
        ]
        notes += [f"{row.summary}: {row.caveat}" for row in self.rows if row.caveat]
        if warned := [row.mechanism for row in self.rows if row.warning]:
            warning = next(row.warning for row in self.rows if row.warning)
            notes.append(f"{', '.join(dict.fromkeys(warned))}: {warning}")
        return [*dict.fromkeys(notes), *self.notes]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about what the table leaves out."""
        curved = self.manifold.constant_curvature is None
        pure = math.isfinite(self.budget.epsilon_at(0.0))
        found = [_CONFORMAL] if pure and not curved else []
        if len(self.distinct) < len(self.rows):
            found.append(_SAME_NOISE)
        if not self.neighbours.size_is_public:
            found.append(_SUPPOSED.format(self.n))
        if self.search is not None:
            found.append(str(self.search))
        if self.per_mean is not None:
            found += self.per_mean.sentences()
        return tuple(found)

    @property
    def per_mean(self) -> PerMean | None:
        """What one mean among several is worth with the best mechanism; None where unknown."""
        best = self.best
        if best is None or best.noise_per_mean is None:
            return None
        manifold = self.manifold
        return PerMean(
            len(manifold.factors),
            manifold.dim,
            self.n,
            best.noise_per_mean,
            not best.warning,
            self.spread,
            self.signal,
        )


def _cell(value: object, spec: str = "") -> str:
    return "-" if value is None else format(value, spec) if spec else str(value)


@with_advice
@work("plan")
def plan(
    manifold: Manifold,
    radius: float | Ball,
    n: int | None,
    budget: Budget,
    *,
    target_error: float | None = None,
    statistic: Statistic | None = None,
    method: Literal["auto", "one-shot", "adaptive", "refined"] = "auto",
    adjacency: Adjacency | Neighbours | None = None,
    users: bool = False,
    people: int | Sequence[int | str] | None = None,
    mechanisms: Iterable[str | type[Mechanism] | Choice] | None = None,
    spread: float | None = None,
    signal: float | None = None,
) -> Plan:
    """Say what each mechanism will cost in accuracy, from public numbers only.

    Parameters
    ----------
    manifold : Manifold
        Space of the data.
    radius : float or Ball
        Radius of the public ball about the origin, in units of geodesic distance; or the ball
        itself, as of :func:`riemdp.ProductBall`.
    n : int or None
        Number of records. Where it is private, one that is supposed, with ``users`` of people:
        errors are for so many, and noise does not depend on it. None with ``people``.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the release.
    target_error : float, optional
        Expected distance to reach; adds to each row the n that reaches it at this budget and the
        budget that reaches it at this n (ApproxDP keeps its delta).
    statistic : Statistic, optional
        What is to be released; by default the mean: the Fréchet mean, or the tangent mean with
        noise in a tangent space.
    method : {"auto", "one-shot", "adaptive", "refined"}, default "auto"
        Of the mean, as in :func:`riemdp.private_mean`. ``"auto"`` compares the one-shot mean and
        the refined one; ``"adaptive"`` also says what to expect of the search for a smaller ball.
    adjacency : {"replace-one", "add-remove", "replace-point"} or Neighbours, optional
        As in :func:`riemdp.private_mean`.
    users : bool, default False
        Whether people are protected with all their records. Their number is private, and ``n`` one
        that is supposed, unless ``people`` states it.
    people : int or sequence of int and str, optional
        Public number of people, or list of their ids, in place of ``n``.
    mechanisms : iterable of str, Mechanism class or Choice, optional
        What is compared; by default what ``"auto"`` chooses among. A name may be followed by what
        is left to choose, as in ``"mylab.Noise:power=1.5"``.
    spread : float, optional
        Public guess of the root mean square distance of a record from the mean; of several means at
        once, in one factor. Where noise follows the spread of the records, errors are those for it,
        and by default those for records spread over the whole ball. Of several means the plan then
        holds noise against sampling, too.
    signal : float, optional
        Of several means at once, a public guess of the root mean square distance of the means from
        the centre of the ball in one factor: the plan then says where the centre itself is the
        better estimate.

    Returns
    -------
    Plan
        Its text is a table.

    Raises
    ------
    UnsupportedBallError
        If the radius is not positive and finite, or too large for the manifold.
    InvalidParameterError
        If n is not a positive integer, the target or a guess not positive and finite, ``signal``
        is about a single mean, or the ball is one of another space.

    Examples
    --------
    >>> import riemdp
    >>> space = riemdp.SPDLogEuclidean(3)
    >>> found = riemdp.plan(space, 2.0, 1000, riemdp.GDP(1.0))
    >>> found.best.mechanism, round(found.best.expected_distance, 4)
    ('riemannian-gaussian', 0.0094)
    >>> found = riemdp.plan(space, 2.0, 1000, riemdp.GDP(1.0), target_error=0.005)
    >>> found.best.required_n
    1880
    """
    check_manifold(manifold)
    check_budget(budget)
    if target_error is not None:
        target_error = positive(target_error, "target_error, a distance,")
    if statistic is not None:
        check_statistic(statistic)
    if statistic is not None and method != "auto":
        raise InvalidParameterError(
            "method is about the mean: leave it out, or leave out statistic"
        )
    wanted: Wanted = mean_of(method) if statistic is None else lambda *_: statistic
    neighbours = relation(adjacency, budget, has_users=users, people=people)
    budget = budget.under(neighbours.adjacency)
    if people is not None:
        if n is not None:
            raise InvalidParameterError("people=... takes the place of n: give None for n")
        n = number_of_people(people)
    n = count(n, "n, the number of points,")
    is_adaptive = method == "adaptive"
    if is_adaptive:
        check_searched(neighbours)
    ball = _ball(manifold, radius)
    spread = None if spread is None else positive(spread, "spread")
    if signal is not None and len(manifold.factors) == 1:
        raise InvalidParameterError(
            f"signal is about one mean of a Power or a Product, and {manifold} is neither"
        )
    signal = None if signal is None else positive(signal, "signal")
    if isinstance(mechanisms, str):
        raise InvalidParameterError(
            f"mechanisms must be several of them, got a text: [{mechanisms!r}]"
        )
    compared = kinds().values() if mechanisms is None else map(named, mechanisms)
    choices = map(as_choice, compared)
    whole = None if spread is None else spread * math.sqrt(len(manifold.factors))
    terms = Terms(ball, n, budget, neighbours, spread=whole)
    found = [_Case(wanted(ball, each), each, terms) for each in choices]
    if statistic is None and mechanisms is None and method in ("auto", "adaptive"):
        found.append(_Case(RefinedMean(), as_choice(TangentGaussian), terms))
    cases = ticks(found, len(found), "mechanisms")
    rows = tuple(case.row(target_error) for case in cases)
    counted = not neighbours.size_is_public
    search = forecast(ball.reach, manifold.dim, n, budget, counted=counted) if is_adaptive else None
    return Plan(
        manifold,
        ball.radius,
        n,
        budget,
        target_error,
        rows,
        search,
        neighbours,
        ball,
        spread,
        signal,
    )


def _ball(manifold: Manifold, radius: float | Ball) -> Ball:
    if not isinstance(radius, Ball):
        return Ball(manifold, manifold.origin, radius)
    if radius.manifold != manifold:
        raise InvalidParameterError(
            f"the ball belongs to {radius.manifold}, and the plan is for {manifold}"
        )
    return radius


def _error(row: PlanRow) -> float:
    """Order of rows: those whose expected distance nobody knows come last, as in "auto"."""
    return math.inf if row.expected_distance is None else row.expected_distance


@dataclass(frozen=True)
class _Case:
    """A statistic and a mechanism, at any n and budget."""

    statistic: Statistic
    kind: Choice
    terms: Terms

    def row(self, target_error: float | None) -> PlanRow:
        row, terms = PlanRow(str(self.kind), self.statistic.name), self.terms
        made = terms.offered(self.statistic, self.kind)
        if target_error is not None:
            case = replace(self, terms=replace(terms, draws=False))
            row = replace(
                row,
                required_n=_required_n(case, target_error),
                required_budget=_required_budget(case, target_error),
            )
        if not isinstance(made, Offer):
            return replace(row, problem=str(made))
        return replace(
            row,
            sensitivity=made.sensitivity,
            sigma=made.mechanism.sigma,
            expected_distance=expected_distance(made),
            quantile_95=error_quantile(made, 0.95),
            unproven=made.unproven(terms.budget),
            caveat="; ".join(filter(None, (made.statistic.caveat, self._upper_end(made)))),
            noise_per_mean=_per_mean(made),
            warning=pure_noise(terms.budget, made.answers),
        )

    def _upper_end(self, made: Offer) -> str:
        """Say that errors follow the spread of the records, where no guess of it was given."""
        if self.terms.spread is not None:
            return ""
        near = replace(self.terms, spread=made.ball.reach / 16.0)
        less = near.typical(made.statistic, made.asked).gain
        return _UPPER_END if less < made.value.gain else ""

    def excess(self, target_error: float, **changed: Any) -> float:
        """Return the logarithm of the expected distance over a target; ``inf`` where none is."""
        made = replace(self.terms, **changed).offered(self.statistic, self.kind)
        far = expected_distance(made) if isinstance(made, Offer) else None
        return math.log((math.inf if far is None else far) / target_error)


def _per_mean(made: Offer) -> float | None:
    """Return the noise of one mean among several, None where that is not known."""
    answers = made.answers
    if len(answers.manifold.factors) == 1:
        return None
    try:
        return made.value.gain * noise_per_mean(made.mechanism, answers)
    except UnsupportedError:
        return None


def _required_n(case: _Case, target_error: float) -> int | None:
    """Smallest n whose expected distance is at most the target: it falls with n."""

    def excess(n: float) -> float:
        return case.excess(target_error, n=int(n))

    if excess(1) <= 0.0:
        return 1
    found = crossing(excess, 1, _LARGEST_N, lambda n, up: math.ceil(n) if up else math.floor(n))
    return None if found is None else int(found)


def _required_budget(case: _Case, target_error: float) -> Budget | None:
    """Least budget whose expected distance is at most the target: it falls with the parameter."""
    budget = case.terms.budget

    def excess(parameter: float) -> float:
        return case.excess(target_error, budget=budget.at(parameter))

    def rounded(parameter: float, up: bool) -> float:
        return parameter * (1.0 + (3e-7 if up else -3e-7))

    low = 1.0 / _LARGEST_PARAMETER
    middle, high = min(_LARGE_PARAMETER, budget.largest), min(_LARGEST_PARAMETER, budget.largest)
    try:
        budget.at(high)
    except UnsupportedError:  # it has no sizes to search among
        return None
    found = crossing(excess, low, middle, rounded)
    if found is None and high > middle:
        found = crossing(excess, middle, high, rounded)
    return None if found is None else budget.at(found)


def crossing(
    excess: Callable[[float], float],
    low: float,
    high: float,
    rounded: Callable[[float, bool], float],
) -> float | None:
    """Least argument, to rounding, at which a falling function is at most 0.

    By the secant through the ends of the bracket in the logarithm, now and then by its middle. The
    function, which may be ``inf``, is positive at ``low``; None if it is so at ``high``.
    ``rounded(x, up)`` is an argument that is allowed, at or a little beyond ``x``.
    """
    above, below = math.inf, excess(high)
    if below > 0.0:
        return None
    up = False
    for turn in itertools.count():
        least = rounded(math.nextafter(low, math.inf), True)
        most = rounded(math.nextafter(high, 0.0), False)
        if least > most:
            break
        if turn % 4 == 3 or (math.isinf(above) and turn % 2):
            guess = math.sqrt(low * high)
        elif math.isinf(above):  # as if inversely proportional
            guess = high * math.exp(below)
        else:
            guess = low * (high / low) ** (above / (above - below))
        guess = min(max(rounded(guess, up), least), most)
        value = excess(guess)
        up = value > 0.0
        if up:
            low, above = guess, value
        else:
            high, below = guess, value
    return high
