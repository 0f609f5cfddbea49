"""Privacy definitions: budgets that are asked for and guarantees that are given.

Each is a set of constraints on the pair of output laws of neighbouring data sets, and ``delta_at``
is the smallest proved ``delta`` for every ``epsilon``. Which data sets are neighbours is said by
``adjacency``: those that differ in one record that is replaced, by default.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from riemdp._checks import count, kind_of, real, real_array, shown
from riemdp._errors import (
    InvalidBudgetError,
    InvalidParameterError,
    NoConversionError,
    UnsupportedBudgetError,
)
from riemdp._part import Part
from riemdp.privacy import _rules
from riemdp.privacy._adjacency import REPLACE_ONE, AboutNeighbours, check_adjacency
from riemdp.privacy._rounding import share_down

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self, TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from riemdp.privacy._curve import PrivacyCurve

    FloatArray = NDArray[np.float64]
    #: One of the numbers of a price.
    Amount: TypeAlias = float | Fraction


@dataclass(frozen=True, eq=False)  # of a definition that is no dataclass nothing else is compared
class Budget(AboutNeighbours, Part, sort="definition"):
    """A privacy definition with its parameters.

    Two output laws (P, Q) are (epsilon, delta)-indistinguishable if ``P(S) <= exp(epsilon) Q(S) +
    delta`` for every event S, in both orders.

    A definition of one's own is a frozen dataclass with ``delta_at`` and ``epsilon_at``. With
    ``allows`` every mechanism can be calibrated to it; with ``sizes`` plans can search for it, and
    with ``price`` and ``total`` an accountant can hold it. What it does not say is not claimed:
    methods that are missing raise ``UnsupportedBudgetError``.

    Attributes
    ----------
    adjacency : str
        Name of the relation between data sets that it is about, such as ``"replace-one"`` (the
        default), ``"add-remove"`` or ``"replace-user"``; see :class:`riemdp.statistics.Neighbours`.
        A keyword of every definition. What a method makes of a budget is about the same relation,
        and nothing follows from a guarantee under another one.
    sizes : tuple of str
        Fields whose smaller values are stronger guarantees, all others equal; the one that
        :meth:`at` changes first.
    largest : float
        Largest value of the first of them.
    leaves_open : str
        Why other definitions do not follow from it, for messages.

    Examples
    --------
    >>> import riemdp
    >>> budget = riemdp.GDP(1.0)
    >>> f"{budget.epsilon_at(1e-6):.3f}, {budget.split(4).mu:.3f}"
    '4.887, 0.500'
    >>> budget.allows(riemdp.TangentGaussian(riemdp.Euclidean(2), 2.0).privacy(1.0))
    True
    """

    #: Documents say it once, for the whole release.
    adjacency: str = field(
        default=REPLACE_ONE, kw_only=True, repr=False, metadata={"written": False}
    )
    sizes: ClassVar[tuple[str, ...]] = ()
    #: Options of ``convert`` one of which says which member of the definition is asked for.
    choices: ClassVar[tuple[str, ...]] = ()
    leaves_open: ClassVar[str] = "no rule says what follows from this definition"

    def __post_init__(self) -> None:
        """Check the parameters; of every subclass the relation too, whatever it checks itself."""
        check_adjacency(self.adjacency)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Budget._named_with_adjacency  # type: ignore[method-assign,assignment]
        if (own := vars(cls).get("__post_init__")) is not None:
            cls.__post_init__ = _with_adjacency_checked(own)  # type: ignore[method-assign]

    def _named_with_adjacency(self) -> str:
        """Name the parameters, and the relation where it is not the default."""
        described: Any = self
        fields = [f.name for f in dataclasses.fields(described) if f.repr]
        shown_ = [f"{name}={getattr(self, name)!r}" for name in fields]
        if self.adjacency != REPLACE_ONE:
            shown_.append(f"adjacency={self.adjacency!r}")
        return f"{type(self).__qualname__}({', '.join(shown_)})"

    def under(self, adjacency: str) -> Self:
        """Return the same numbers for another relation: what somebody asks for, no conversion.

        Parameters
        ----------
        adjacency : str

        Returns
        -------
        Budget

        Raises
        ------
        InvalidBudgetError
            If it is no text, or an empty one.
        """
        if type(adjacency) is str and adjacency == self.adjacency:
            return self
        described: Any = self
        return dataclasses.replace(described, adjacency=adjacency)  # type: ignore[no-any-return]

    @abstractmethod
    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Proved ``delta`` at each ``epsilon``, the smallest one unless the class says otherwise.

        Rounded up.

        Parameters
        ----------
        epsilon : array_like
            Not negative.

        Returns
        -------
        ndarray, shape of ``epsilon``

        Raises
        ------
        InvalidParameterError
            If an ``epsilon`` is negative, NaN or no number.
        """

    @abstractmethod
    def epsilon_at(self, delta: float) -> float:
        """Smallest ``epsilon`` with ``delta_at(epsilon) <= delta``, rounded up.

        Parameters
        ----------
        delta : float
            In [0, 1).

        Returns
        -------
        float
            ``inf`` where no ``epsilon`` has so small a ``delta``.

        Raises
        ------
        InvalidParameterError
            If ``delta`` is outside [0, 1).
        """

    def allows(self, curve: PrivacyCurve) -> bool:  # noqa: ARG002
        """Whether every mechanism with a privacy curve is proved to lie within the definition.

        Parameters
        ----------
        curve : PrivacyCurve

        Returns
        -------
        bool
            False also where nothing is proved, and for a curve of another relation. One that names
            none is that of a sensitivity, and this is measured between the budget's neighbours.

        Raises
        ------
        UnsupportedError
            If the curve does not say what the definition is about.
        """
        raise UnsupportedBudgetError(
            f"a privacy curve cannot be held against {shown(self)}, whose class says nothing "
            "about curves (Budget.allows); use PureDP, ApproxDP or GDP"
        )

    def part(self, share: Fraction) -> Budget:  # noqa: ARG002
        """Return a share of it, rounded down.

        Releases whose shares add up to 1, each chosen after the results of the earlier ones, are
        together within the definition.

        Parameters
        ----------
        share : Fraction
            Over 0, at most 1.

        Returns
        -------
        Budget
            Of the same definition.

        Raises
        ------
        UnsupportedBudgetError
            If no such share is known.
        InvalidParameterError
            If the share is outside its domain, or what it leaves too small for float64.
        """
        raise UnsupportedBudgetError(
            f"no rule is known to share {shown(self)} among several releases; use PureDP, "
            "ApproxDP, GDP or ZCDP"
        )

    def split(self, releases: int) -> Budget:
        """Return the :meth:`part` of each of so many releases.

        Parameters
        ----------
        releases : int
            At least 1.

        Returns
        -------
        Budget

        Raises
        ------
        UnsupportedBudgetError, InvalidParameterError
            See :meth:`part`.
        """
        return self.part(Fraction(1, count(releases, "releases")))

    def __truediv__(self, releases: int) -> Budget:
        """``budget / k`` is ``budget.split(k)``: the share of each of k releases."""
        return self.split(releases)

    def price(self) -> tuple[Amount, ...]:
        """Numbers that add up over releases, each chosen after the results of the earlier ones.

        Returns
        -------
        tuple of float or Fraction
            As many numbers for every guarantee of the definition. Exact, or rounded down: it is
            what a total allows. ``inf`` for what no total covers.

        Raises
        ------
        UnsupportedBudgetError
            If no filter is proved for the definition.
        """
        raise UnsupportedBudgetError(_no_total(self))

    def total(self, prices: Sequence[float]) -> Budget | None:  # noqa: ARG002
        """Guarantee whose :meth:`price` is given: what an account has spent, or has left.

        Parameters
        ----------
        prices : sequence of float
            Sums of prices.

        Returns
        -------
        Budget or None
            None for nothing. To rounding: an account asks again with other sums until the price of
            what it gets lies on the safe side.

        Raises
        ------
        UnsupportedBudgetError
            If no filter is proved for the definition.
        """
        raise UnsupportedBudgetError(_no_total(self))

    def at(self, parameter: float) -> Self:
        """Return the same definition in another size: what plans search.

        Parameters
        ----------
        parameter : float
            Positive and finite, at most :attr:`largest`; larger is weaker.

        Returns
        -------
        Budget

        Raises
        ------
        UnsupportedBudgetError
            If the definition does not say which of its parameters is its size.
        """
        if not self.sizes:
            raise UnsupportedBudgetError(
                f"no family of budgets is known for {shown(self)}: its class does not say which "
                "parameter is its size (Budget.sizes)"
            )
        changed: Any = self
        return dataclasses.replace(changed, **{self.sizes[0]: parameter})  # type: ignore[no-any-return]

    @property
    def largest(self) -> float:
        """Largest parameter of :meth:`at`."""
        return math.inf

    def price_of(self, guarantee: Budget) -> tuple[Amount, ...]:
        """Price of a guarantee of any definition that means something in this one.

        Parameters
        ----------
        guarantee : Budget

        Returns
        -------
        tuple of float or Fraction
            As :meth:`price` has them. Exact, or rounded up: it is what an account charges.

        Raises
        ------
        NoConversionError
            If the guarantee means nothing in this definition, or is about other neighbours.
        """
        return self.implied_by(guarantee).price()

    def implied_by(self, guarantee: Budget) -> Budget:
        """Guarantee of this definition, of any size, that follows from another guarantee.

        Parameters
        ----------
        guarantee : Budget

        Returns
        -------
        Budget
            Differs from this one in :attr:`sizes` alone.

        Raises
        ------
        NoConversionError
            If none does, or the guarantee is about other neighbours.
        """
        options = {name: getattr(self, name) for name in self.choices}
        found: Budget = _rules.implied(guarantee, type(self), _rules.Options(**options))
        if found._fixed() != self._fixed():
            raise NoConversionError(
                f"{shown(guarantee)} and {shown(self)} differ in more than their size "
                f"({', '.join(self.sizes) or 'Budget.sizes is empty'})"
            )
        return found

    def follows_from(self, guarantee: Budget) -> bool:
        """Whether every mechanism with a guarantee is proved to lie within this budget.

        Parameters
        ----------
        guarantee : Budget

        Returns
        -------
        bool
            False also where nothing is proved, and under another relation.
        """
        try:
            found = self.implied_by(guarantee)
        except NoConversionError:
            return False
        return all(getattr(found, name) <= getattr(self, name) for name in self.sizes)

    def _simplest(self) -> Budget:
        """Return the same guarantee in the definition that conversions start from."""
        return self

    def _adaptive(self) -> Budget:
        """Guarantee that composes with others whatever made the earlier releases be chosen."""
        return self

    def _check_beside(self, parts: Sequence[Budget]) -> None:
        """Raise ``InvalidBudgetError`` if it cannot be composed with what else is there."""

    def _routes(self) -> tuple[Budget, ...]:
        """Other guarantees that follow, of which ``delta_at`` may be smaller."""
        return ()

    def _without_infinity(self) -> tuple[float, Budget]:
        """Mass of an infinite privacy loss that is allowed, and the definition without it."""
        return 0.0, self

    def _renyi_orders(self) -> tuple[float, ...]:
        """Renyi orders that the definition speaks of."""
        return ()

    def largest_epsilon(self) -> float | None:
        """Largest pure epsilon that implies it, to rounding; None where it has no closed form."""
        return None

    def largest_mu(self) -> float | None:
        """Largest separation of Gaussians that lie within it, to rounding; None as above.

        Raises
        ------
        UnsupportedError
            If Gaussian noise never does.
        """
        return None

    def _fixed(self) -> tuple[object, ...]:
        """Parameters that are no sizes, and what an object holds besides: no field says what."""
        described: Any = self
        names = [f.name for f in dataclasses.fields(described)]
        computed = functools.cached_property
        names += sorted(
            name
            for name in set(vars(self)) - set(names)
            if not isinstance(getattr(type(self), name, None), computed)
        )
        return tuple((name, getattr(self, name)) for name in names if name not in self.sizes)


class Additive(Budget):
    """A definition whose :attr:`sizes` add up over releases, each chosen after the earlier ones.

    A class that derives from this claims it; where it is proved of those of this library is in
    :class:`Accountant`.
    """

    def part(self, share: Fraction) -> Self:
        """Return the share of every size; see :meth:`Budget.part`."""
        part = check_share(share)
        found: Self = _sized(self, [share_down(size, part) for size in _sizes(self)])
        return found

    def price(self) -> tuple[Amount, ...]:
        """Return the sizes."""
        return _sizes(self)

    def total(self, prices: Sequence[float]) -> Budget | None:
        """Inverse of :meth:`price`; see :meth:`Budget.total`."""
        first, *others = prices
        if first <= 0.0:
            return None
        found: Self = _sized(self, [first, *(max(other, 0.0) for other in others)])
        return found


def _sizes(budget: Budget) -> tuple[float, ...]:
    return tuple(getattr(budget, name) for name in budget.sizes)


def _sized(budget: Any, sizes: Sequence[float]) -> Any:
    return dataclasses.replace(budget, **dict(zip(budget.sizes, sizes, strict=True)))


def _with_adjacency_checked(post_init: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(post_init)
    def checked(self: Budget, *arguments: Any) -> None:
        check_adjacency(self.adjacency)
        post_init(self, *arguments)

    return checked


def _no_total(budget: Budget) -> str:
    return (
        f"{shown(budget)} cannot be a total: no filter is proved for it. Use PureDP, ApproxDP, "
        "GDP, ZCDP, RDP, KLDP or RaoDP"
    )


def check_budget(budget: object, name: str = "budget") -> None:
    """Raise ``InvalidParameterError`` for what is no privacy definition.

    Parameters
    ----------
    budget : object
    name : str
        Of the parameter.
    """
    if not isinstance(budget, Budget):
        raise InvalidParameterError(
            f"{name} must be a privacy definition such as GDP(0.5), got {kind_of(budget)}"
        )


def check_share(share: object) -> Fraction:
    """Check a share of a budget, of which no more than all can be given.

    Parameters
    ----------
    share : Fraction, int or float

    Returns
    -------
    Fraction

    Raises
    ------
    InvalidParameterError
        If it is not over 0 and at most 1.
    """
    if isinstance(share, (Fraction, int, float)) and 0 < share <= 1:
        return Fraction(share)
    raise InvalidParameterError(f"share must be over 0 and at most 1, got {shown(share)}")


def check_epsilon(epsilon: ArrayLike) -> FloatArray:
    """Return ``epsilon`` as float64, all entries at least 0.

    Parameters
    ----------
    epsilon : array_like

    Returns
    -------
    ndarray, shape of ``epsilon``

    Raises
    ------
    InvalidParameterError
        If an entry is negative, NaN or no number.
    """
    array = real_array(epsilon, "epsilon")
    if not np.all(array >= 0.0):
        raise InvalidParameterError("epsilon must be at least 0 everywhere")
    return array


def check_delta(delta: float) -> float:
    """Return ``delta`` as a float in [0, 1).

    Parameters
    ----------
    delta : float

    Returns
    -------
    float

    Raises
    ------
    InvalidParameterError
        If it is outside [0, 1) or no number.
    """
    delta = real(delta, "delta")
    if not (0.0 <= delta < 1.0):
        raise InvalidParameterError(f"delta must be at least 0 and under 1, got {delta}")
    return delta


def check_parameter(
    name: str, value: float, *, upper: float = math.inf, allow_zero: bool = False
) -> float:
    """Return a budget's parameter as a float inside its domain."""
    number = real(value, name, error=InvalidBudgetError)
    if not (0.0 < number < upper or (allow_zero and number == 0.0)):
        least = "at least 0" if allow_zero else "positive"
        most = "finite" if upper == math.inf else f"under {upper:g}"
        raise InvalidBudgetError(f"{name} must be {least} and {most}, got {number}")
    return number
