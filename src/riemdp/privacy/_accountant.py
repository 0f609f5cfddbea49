"""A total budget that releases are charged to, one after the other."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from riemdp._checks import is_one_of, kind_of, real, shown
from riemdp._errors import BudgetExceededError, InvalidBudgetError, InvalidParameterError
from riemdp.privacy._budget import Budget, check_budget
from riemdp.privacy._one_process import check_process, this_process
from riemdp.privacy._reservation import LedgerEntry, Reservation

if TYPE_CHECKING:
    from types import TracebackType
    from typing import NoReturn, Self

#: A total within this relative distance over the limit still passes: sums of decimal fractions.
_TOLERANCE = 1e-12
#: A smaller total is refused: squares of its parts would leave float64.
_SMALLEST_LIMIT = 1e-290
#: Smallest positive float.
_SMALLEST = 5e-324


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

    A definition of another package may be a total if it has a price: ``Budget.price`` and
    ``Budget.total``.

    Parameters
    ----------
    total : Budget
        Limit of everything together; of one of the definitions above, or one with a price.
    adjacency : {"replace-one"}
        Neighbouring data sets differ in one record that is replaced; nothing else is proved here.

    Raises
    ------
    InvalidBudgetError
        If ``total`` is of no definition above, an angle of pi, which limits nothing, or so small
        or large that its parts cannot be added up in float64; or if its price is none.
    InvalidParameterError
        If ``adjacency`` is another one.

    Notes
    -----
    The requested guarantee is charged. Sums are exact up to one rounding, and a spend passes if the
    total is over the limit by at most 1e-12 of it. Threads may share an accountant; it cannot be
    copied or pickled, and pays for nothing in a process that was forked, as each copy would hold
    the whole budget. Keep one per data set.

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
        if not isinstance(total, Budget):
            raise InvalidBudgetError(
                f"{kind_of(total)} cannot be a total: it is no privacy definition such as GDP(1.0)"
            )
        self._total = total
        self._limits = _checked(total.price(), total)
        if math.inf in self._limits[1:]:
            raise InvalidBudgetError(f"{total} has a price without end; choose another total")
        if not _SMALLEST_LIMIT <= self._limits[0] < math.inf:
            raise InvalidBudgetError(
                f"{total} allows everything, or is too small or too large to be added up in "
                "float64; choose another total"
            )
        self._amounts: tuple[list[float], ...] = tuple([] for _ in self._limits)
        self._ledger: list[LedgerEntry | Reservation] = []
        self._closed = False
        self._process = this_process()
        self._lock = threading.Lock()

    @property
    def total(self) -> Budget:
        """The limit."""
        return self._total

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """Labels and guarantees as they were charged, in order."""
        with self._lock:
            found: list[LedgerEntry] = []
            for entry in self._ledger:
                found += entry.entries if isinstance(entry, Reservation) else (entry,)
            return tuple(found)

    @property
    def spent(self) -> Budget | None:
        """What was spent, as one guarantee of the total's definition; ``None`` if nothing was.

        Of an ``ApproxDP`` total this is a ``PureDP`` as long as no ``delta`` was spent.
        """
        with self._lock:
            return self._total.total(self._sums())

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
        InvalidBudgetError
            If its price is none: amounts of at least 0, as many as the total has.
        InvalidParameterError
            If ``guarantee`` is no privacy definition or ``label`` no string.
        """
        check_budget(guarantee, "guarantee")
        _check_label(label)
        self._charge(guarantee, LedgerEntry(label, guarantee))

    def reserve(self, guarantee: Budget, label: str, shared: Budget | None = None) -> Reservation:
        """Charge several steps at once, or raise and change nothing.

        The ledger lists the steps as they are taken, and what is left; nothing is given back.

        Parameters
        ----------
        guarantee : PureDP, ApproxDP, GDP or ZCDP
            Of all steps together.
        label : str
            What they are for.
        shared : PureDP, GDP or ZCDP, optional
            What the steps add up to, if that is of another definition and implies the guarantee.

        Returns
        -------
        Reservation

        Raises
        ------
        BudgetExceededError, NoConversionError, InvalidBudgetError, InvalidParameterError
            See :meth:`spend`.
        UnsupportedBudgetError
            If the guarantee is of another definition.
        """
        check_budget(guarantee, "guarantee")
        _check_label(label)
        reserved = Reservation(guarantee, label, shared)
        self._charge(guarantee, reserved)
        return reserved

    def _charge(self, guarantee: Budget, entry: LedgerEntry | Reservation) -> None:
        label = entry.label
        check_process(self._process, f"{guarantee} ({label})")
        first, *others = _checked(self._total.price_of(guarantee), guarantee, len(self._limits))
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
            self._ledger.append(entry)

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
        return self._total.total(tuple(left))


def _check_label(label: object) -> None:
    if not isinstance(label, str):
        raise InvalidParameterError(f"label must be a string, got {kind_of(label)}")


def _checked(price: object, guarantee: Budget, length: int | None = None) -> tuple[float, ...]:
    """Return a price, which may be of another package; a negative amount would give budget back.

    ``inf``, which no total covers, gets through.
    """
    found = tuple(price) if isinstance(price, (tuple, list)) else ()
    name = f"an amount in the price of {type(guarantee).__name__}"
    amounts = tuple(real(amount, name, error=InvalidBudgetError) for amount in found)
    if not amounts or length not in (None, len(amounts)):
        wanted = "a tuple of amounts" if length is None else f"a tuple of {length}, as of its total"
        raise InvalidBudgetError(f"the price of {type(guarantee).__name__} must be {wanted}")
    for amount in amounts:
        if not amount >= 0.0:  # NaN neither
            raise InvalidBudgetError(f"{name} must be at least 0, got {amount}")
    return amounts


def _sum(amounts: list[float]) -> float:
    try:
        return math.fsum(amounts)
    except OverflowError:
        return math.inf
