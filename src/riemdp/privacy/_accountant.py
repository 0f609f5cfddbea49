"""A total budget that releases are charged to, one after the other."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from riemdp._checks import is_one_of, shown
from riemdp._errors import (
    BudgetExceededError,
    InvalidBudgetError,
    InvalidParameterError,
    NoConversionError,
)
from riemdp.privacy._conversions import convert
from riemdp.privacy._definitions import GDP, ZCDP, ApproxDP, Budget, PureDP
from riemdp.privacy._divergences import KLDP
from riemdp.privacy._rao import RaoDP, angle_of_affinity
from riemdp.privacy._renyi import RDP

if TYPE_CHECKING:
    from types import TracebackType
    from typing import NoReturn, Self

#: A total within this relative distance over the limit still passes: sums of decimal fractions.
_TOLERANCE = 1e-12
#: A smaller total is refused: squares of its parts would leave float64.
_SMALLEST_LIMIT = 1e-290
#: Smallest positive float.
_SMALLEST = 5e-324


class LedgerEntry(NamedTuple):
    """One release.

    Attributes
    ----------
    label : str
        What it was called.
    guarantee : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        What was charged.
    """

    label: str
    guarantee: Budget


@dataclass(frozen=True)
class _Currency:
    """What adds up for one definition.

    ``price`` turns a guarantee into amounts that add up, ``value`` turns amounts back, ``None``
    for nothing.
    """

    price: Callable[[Budget], tuple[float, ...]]
    value: Callable[[tuple[float, ...]], Budget | None]


class Accountant:
    """Filter: lets releases pass as long as they stay within a total budget, together.

    Every release may be chosen after the results of the earlier ones, its guarantee included: the
    rules used here hold for a filter, not only for a list fixed beforehand. A guarantee of another
    definition is converted to that of the total.

    =====================  =====================================================================
    total                  what is added up
    =====================  =====================================================================
    ``PureDP``             ``epsilon``
    ``ApproxDP``           ``epsilon`` and ``delta`` (takes ``PureDP`` and ``ApproxDP``)
    ``GDP``                ``mu^2``
    ``ZCDP``               ``rho`` and ``xi``
    ``RDP``                ``epsilon`` at the order of the total
    ``KLDP``               ``alpha``
    Rao, angle             ``-log cos(theta/2)``
    Rao, parametric        ``theta^2``
    =====================  =====================================================================

    Parameters
    ----------
    total : Budget
        Limit of everything together; of one of the definitions above.
    adjacency : {"replace-one"}
        Neighbouring data sets differ in one record that is replaced; nothing else is proved here.

    Raises
    ------
    InvalidBudgetError
        If ``total`` is of no definition above, an angle of pi, which limits nothing, or so small
        or large that its parts cannot be added up in float64.
    InvalidParameterError
        If ``adjacency`` is another one.

    Notes
    -----
    The requested guarantee is charged. Sums are exact up to one rounding, and a spend passes if the
    total is over the limit by at most 1e-12 of it. Threads may share an accountant; it cannot be
    copied or pickled, as each copy would hold the whole budget. Keep one per data set.

    References
    ----------
    Rogers, Roth, Ullman, Vadhan, "Privacy odometers and filters", NeurIPS 2016 (pure, approximate).
    Feldman, Zrnic, "Individual privacy accounting via a Renyi filter", NeurIPS 2021 (Renyi).
    Whitehouse, Ramdas, Rogers, Wu, "Fully adaptive composition in differential privacy", ICML 2023
    (zero-concentrated).
    Smith, Thakurta, "Fully adaptive composition for Gaussian differential privacy", 2022
    (Gaussian).
    docs/proofs/composition.md (Kullback-Leibler and Rao).

    Examples
    --------
    >>> from riemdp import Accountant, PureDP
    >>> with Accountant(PureDP(1.0)) as account:
    ...     account.spend(PureDP(0.25), "mean of the first group")
    >>> account.remaining
    PureDP(epsilon=0.75)
    """

    def __init__(self, total: Budget, *, adjacency: str = "replace-one") -> None:
        if not is_one_of(adjacency, ("replace-one",)):
            raise InvalidParameterError(
                f"adjacency {shown(adjacency)} is not supported: the number of records is public "
                'here, so neighbours are "replace-one", never add/remove'
            )
        self._currency = _currency(total)
        self._total = total
        self._limits = self._currency.price(total)
        if not _SMALLEST_LIMIT <= self._limits[0] < math.inf:
            raise InvalidBudgetError(f"{total} is too small or too large to be added up in float64")
        self._amounts: tuple[list[float], ...] = tuple([] for _ in self._limits)
        self._ledger: list[LedgerEntry] = []
        self._closed = False
        self._lock = threading.Lock()

    @property
    def total(self) -> Budget:
        """The limit."""
        return self._total

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Labels and guarantees as they were charged, in order."""
        with self._lock:
            return tuple(self._ledger)

    @property
    def spent(self) -> Budget | None:
        """What was spent, as one guarantee of the total's definition; ``None`` if nothing was.

        Of an ``ApproxDP`` total this is a ``PureDP`` as long as no ``delta`` was spent.
        """
        with self._lock:
            return self._currency.value(self._sums())

    @property
    def remaining(self) -> Budget | None:
        """What may still be spent, in the total's definition; ``None`` if nothing is left.

        Of an ``ApproxDP`` total this is a ``PureDP`` once its ``delta`` is spent.
        """
        with self._lock:
            return self._remaining()

    def spend(self, guarantee: Budget, label: str) -> None:
        """Charge a release, or raise and change nothing. Call it before the noise is drawn.

        Parameters
        ----------
        guarantee : Budget
        label : str
            What the release is, for the ledger.

        Raises
        ------
        BudgetExceededError
            If less is left than is asked for, or the ``with`` block of the accountant is over.
        NoConversionError
            If the guarantee means nothing in the definition of the total.
        InvalidParameterError
            If ``guarantee`` is no privacy definition or ``label`` no string.
        """
        if not isinstance(guarantee, Budget):
            raise InvalidParameterError(
                f"a guarantee must be a privacy definition such as GDP(0.5), got {shown(guarantee)}"
            )
        if not isinstance(label, str):
            raise InvalidParameterError(f"label must be a string, got {shown(label)}")
        first, *others = self._currency.price(_in_terms_of(self._total, guarantee))
        price = (max(first, _SMALLEST), *others)  # a square may underflow; nothing is free
        with self._lock:
            if self._closed:
                raise BudgetExceededError(
                    f"asked for {guarantee} ({label}) after the accountant was closed; "
                    "spend inside its with block"
                )
            for amounts, more, limit in zip(self._amounts, price, self._limits, strict=True):
                spent = _sum([*amounts, more])
                if not (spent < math.inf and spent <= limit * (1.0 + _TOLERANCE)):
                    raise BudgetExceededError(
                        f"asked for {guarantee} ({label}), left is {self._remaining()} "
                        f"of {self._total}"
                    )
            for amounts, more in zip(self._amounts, price, strict=True):
                amounts.append(more)
            self._ledger.append(LedgerEntry(label, guarantee))

    def close(self) -> None:
        """Refuse everything from here on; what was spent can still be read."""
        with self._lock:
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Accountant(total={self._total}, remaining={self.remaining})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("an accountant cannot be copied or pickled: a copy would double the budget")

    def _sums(self) -> tuple[float, ...]:
        return tuple(math.fsum(amounts) for amounts in self._amounts)

    def _remaining(self) -> Budget | None:
        left = []
        for amounts, limit in zip(self._amounts, self._limits, strict=True):
            rest = math.fsum([limit, *(-amount for amount in amounts)])
            left.append(rest if rest > _TOLERANCE * limit else 0.0)
        return self._currency.value(tuple(left))


def _in_terms_of(total: Budget, guarantee: Budget) -> Budget:
    """Guarantee in the definition of the total."""
    match total:
        case ApproxDP():
            if isinstance(guarantee, ApproxDP):
                return guarantee
            try:
                return convert(guarantee, PureDP)
            except NoConversionError:
                raise NoConversionError(
                    f"{guarantee} is an (epsilon, delta) pair for every delta; choose one before "
                    "spending: convert(guarantee, ApproxDP, delta=...)"
                ) from None
        case RDP():
            return convert(guarantee, RDP, order=total.order)
        case RaoDP():
            return convert(guarantee, RaoDP, distance=total.distance)
        case _:
            return convert(guarantee, type(total))


def _currency(total: Budget) -> _Currency:
    match total:
        case PureDP():
            return _sums_of("epsilon", PureDP)
        case ApproxDP():
            return _Currency(
                lambda g: (g.epsilon, getattr(g, "delta", 0.0)),  # type: ignore[attr-defined]
                _approximate,
            )
        case GDP():
            return _squares_of("mu", GDP)
        case ZCDP():
            return _Currency(lambda g: (g.rho, g.xi), _concentrated)  # type: ignore[attr-defined]
        case RDP():
            return _sums_of("epsilon", lambda epsilon: RDP(total.order, epsilon))
        case KLDP():
            return _sums_of("alpha", KLDP)
        case RaoDP(distance="parametric"):
            return _squares_of("theta", lambda theta: RaoDP(theta, distance="parametric"))
        case RaoDP() if total.theta < math.pi:
            return _Currency(_minus_log_cosine, _angle)
        case RaoDP():
            raise InvalidBudgetError("an angle of pi allows everything; choose a smaller total")
        case _:
            raise InvalidBudgetError(
                f"{shown(total)} cannot be a total: no filter is proved for it. Use PureDP, "
                "ApproxDP, GDP, ZCDP, RDP, KLDP or RaoDP"
            )


def _sums_of(name: str, kind: Callable[[float], Budget]) -> _Currency:
    return _Currency(
        lambda guarantee: (getattr(guarantee, name),),
        lambda amounts: kind(amounts[0]) if amounts[0] > 0.0 else None,
    )


def _squares_of(name: str, kind: Callable[[float], Budget]) -> _Currency:
    def price(guarantee: Budget) -> tuple[float]:
        value: float = getattr(guarantee, name)
        return (value * value,)  # infinite where ** raises

    return _Currency(
        price,
        lambda amounts: kind(math.sqrt(amounts[0])) if amounts[0] > 0.0 else None,
    )


def _sum(amounts: list[float]) -> float:
    try:
        return math.fsum(amounts)
    except OverflowError:
        return math.inf


def _approximate(amounts: tuple[float, ...]) -> Budget | None:
    epsilon, delta = amounts
    if epsilon <= 0.0:
        return None
    return (
        ApproxDP(epsilon, min(delta, math.nextafter(1.0, 0.0))) if delta > 0.0 else PureDP(epsilon)
    )


def _concentrated(amounts: tuple[float, ...]) -> Budget | None:
    rho, xi = amounts
    return ZCDP(rho, max(xi, 0.0)) if rho > 0.0 else None


def _minus_log_cosine(guarantee: Budget) -> tuple[float, ...]:
    assert isinstance(guarantee, RaoDP)
    half = 0.5 * guarantee.theta
    if guarantee.theta >= math.pi:
        return (math.inf,)
    if half < 0.7:
        return (-0.5 * math.log1p(-(math.sin(half) ** 2)),)
    return (-math.log(math.cos(half)),)


def _angle(amounts: tuple[float, ...]) -> Budget | None:
    if amounts[0] <= 0.0:
        return None
    return RaoDP(min(math.pi, angle_of_affinity(amounts[0])), distance="angle")
