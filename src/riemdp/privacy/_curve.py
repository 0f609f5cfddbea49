"""Privacy curves: what they say, imply and look like."""

from __future__ import annotations

import copy
import dataclasses
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _plots
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError, NoConversionError
from riemdp._plots import BLUE, GREEN, ORANGE
from riemdp.privacy import _rules
from riemdp.privacy._adjacency import REPLACE_ONE, AboutNeighbours, check_adjacency
from riemdp.privacy._budget import Budget
from riemdp.privacy._rao import RaoDP, angle, angle_of_response, angle_of_separation
from riemdp.privacy._zcdp import ZCDP

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.privacy._budget import FloatArray


# Picture of a privacy curve.

#: Deltas whose epsilon is marked; under the last one nothing is drawn.
_DELTAS = (1e-3, 1e-6, 1e-9)
_POINTS = 61
#: Letters of a name, and of a word in it, that a title has room for.
_LONGEST, _LONGEST_WORD = 120, 30


def draw_curve(curve: PrivacyCurve, ax: Any) -> Any:
    """Draw ``delta`` against ``epsilon``, with the pairs at some deltas; returns the axes."""
    axes = _plots.axes(ax)
    pairs = [(curve.epsilon_at(delta), delta) for delta in _DELTAS]
    pure = curve.pure_epsilon()
    last = max((epsilon for epsilon, _ in pairs if epsilon < math.inf), default=1.0)
    end = 1.02 * (last or 1.0)
    spread = end * (1.0 - np.linspace(1.0, 0.0, _POINTS) ** 2)  # denser where it falls
    epsilons = np.union1d(spread, [epsilon for epsilon, _ in pairs if epsilon < math.inf])
    deltas = np.asarray(curve.delta_at(epsilons))
    positive = np.where(deltas > 0.0, deltas, np.nan)
    axes.plot(epsilons, positive, color=BLUE, linewidth=2.0, label="proved, rounded up")
    for (epsilon, delta), marker in zip(pairs, "osD", strict=True):
        if epsilon < math.inf:
            label = f"epsilon {epsilon:.4g} at delta {delta:g}"
            axes.plot([epsilon], [delta], marker, color=ORANGE, label=label)
    if pure < math.inf:
        axes.axvline(pure, color=GREEN, linestyle="--", label=f"delta 0 from epsilon {pure:.4g} on")
    axes.set(xlabel="epsilon", ylabel="delta", yscale="log", xlim=(0.0, None))
    axes.set_ylim(bottom=0.3 * _DELTAS[-1])
    axes.legend(loc="best", fontsize="small", framealpha=0.9)
    name = str(curve)
    is_short = len(name) <= _LONGEST and max(map(len, name.split())) <= _LONGEST_WORD
    relation = "" if curve.adjacency is None else f"{curve.adjacency} neighbours"
    _plots.titled(axes, name if is_short else type(curve).__name__, relation)
    return axes


# Privacy curves: everything a mechanism guarantees for one sensitivity.


class PrivacyCurve(AboutNeighbours, ABC):
    """What is proved about a mechanism: ``delta`` at every ``epsilon``, and other definitions.

    Every number is on the safe side, rounding included: the mechanism is at least as private.

    Attributes
    ----------
    adjacency : str or None
        Name of the relation between data sets that it is about. None for the curve of a mechanism
        at a sensitivity: it is about the neighbours between which that was measured, and
        :meth:`under` names them. Curves of budgets and compositions have that of their parts. It
        counts for no comparison of curves: equal ones have equal numbers.

    Examples
    --------
    >>> import riemdp
    >>> curve = riemdp.RiemannianGaussian(riemdp.Sphere(2), 0.1).privacy(0.05)
    >>> f"{curve.mu():.4f}, {curve.delta_at(1.0):.2e}, {curve.epsilon_at(1e-5):.3f}"
    '0.4992, 6.76e-03, 1.989'
    >>> f"{curve.self_compose(4).mu():.4f}"
    '0.9983'
    """

    adjacency: str | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):
            cls.__repr__ = PrivacyCurve._named_with_adjacency  # type: ignore[method-assign,assignment]

    def _named_with_adjacency(self) -> str:
        """Name the parameters, and the relation where it is named and not the default."""
        described: Any = self
        if not dataclasses.is_dataclass(described):
            return object.__repr__(self)
        names = [field.name for field in dataclasses.fields(described) if field.repr]
        fields = [f"{name}={getattr(self, name)!r}" for name in names]
        relation = "" if self.adjacency in (None, REPLACE_ONE) else f".under({self.adjacency!r})"
        return f"{type(self).__qualname__}({', '.join(fields)}){relation}"

    def under(self, adjacency: str) -> Self:
        """Return the same curve, about a relation with a name.

        Parameters
        ----------
        adjacency : str
            Such as ``"add-remove"``.

        Returns
        -------
        PrivacyCurve

        Raises
        ------
        InvalidBudgetError
            If it is no text, or an empty one.
        """
        check_adjacency(adjacency)
        if adjacency == self.adjacency:
            return self
        named = copy.copy(self)
        object.__setattr__(named, "adjacency", adjacency)
        return named

    @abstractmethod
    def delta_at(self, epsilon: ArrayLike) -> FloatArray:
        """Proved ``delta`` at each ``epsilon``, rounded up.

        Parameters
        ----------
        epsilon : array_like, shape (...)
            At least 0.

        Returns
        -------
        ndarray, shape (...)

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
            ``inf`` where there is none.

        Raises
        ------
        InvalidParameterError
            If ``delta`` is outside [0, 1).
        """

    @abstractmethod
    def mu(self) -> float:
        """Parameter of Gaussian differential privacy, rounded up."""

    @abstractmethod
    def mu_bracket(self) -> tuple[float, float]:
        """Two numbers around the smallest ``mu`` of this curve; the second one is :meth:`mu`."""

    @abstractmethod
    def pure_epsilon(self) -> float:
        """Parameter of pure differential privacy; ``inf`` where there is none."""

    @abstractmethod
    def zcdp_rho(self) -> float:
        """Parameter of zero-concentrated differential privacy (``xi = 0``), rounded up."""

    def _angle(self) -> RaoDP:
        """Rao DP of the angle distance, rounded up; here what follows from other definitions."""
        mu, pure = self.mu(), self.pure_epsilon()
        if math.isinf(mu) and math.isinf(pure):
            raise NoConversionError("no angle is proved for a curve without mu and pure epsilon")
        return angle(min(angle_of_separation(mu), angle_of_response(pure)))

    def rao(self, distance: str) -> RaoDP:
        """Rao differential privacy.

        Parameters
        ----------
        distance : {"angle"}
            ``"angle"``, twice the arc cosine of the affinity of the two output laws. The
            ``"parametric"`` distance is a length in a parameter space and only a mechanism has
            one: ``mechanism.rao(sensitivity, "parametric")``.

        Returns
        -------
        RaoDP

        Raises
        ------
        NoConversionError
            For the parametric distance, or if no angle under pi is proved.
        InvalidParameterError
            If ``distance`` is neither.
        """
        if distance == "parametric":
            raise NoConversionError(
                "a privacy curve knows no parameter space; ask the mechanism: "
                'mechanism.rao(sensitivity, "parametric")'
            )
        if distance != "angle":
            raise InvalidParameterError(
                f'distance must be "angle" or "parametric", got {shown(distance)}'
            )
        return self._angle()

    def compose(self, *others: PrivacyCurve) -> PrivacyCurve:
        """Curve of this release and others together.

        The releases may be chosen adaptively, one after the results of the others, as long as the
        curves were fixed beforehand.

        Parameters
        ----------
        *others : PrivacyCurve

        Returns
        -------
        PrivacyCurve

        Raises
        ------
        UnsupportedNeighboursError
            If they are about different relations.

        References
        ----------
        docs/proofs/composition.md
        """
        parts = [(curve, 1) for curve in (self, *others)]
        return _rules.together(PrivacyCurve, parts)  # type: ignore[no-any-return]

    def self_compose(self, n: int) -> PrivacyCurve:
        """Curve of ``n`` releases with this curve.

        Parameters
        ----------
        n : int
            At least 1.

        Returns
        -------
        PrivacyCurve

        Raises
        ------
        InvalidParameterError
            If ``n`` is not a positive integer.
        """
        return _rules.together(PrivacyCurve, [(self, n)])  # type: ignore[no-any-return]

    def plot(self, ax: Any = None) -> Any:
        """Draw the proved ``delta`` against ``epsilon``.

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
        >>> both = riemdp.compose([riemdp.GDP(1.0), riemdp.PureDP(0.5)])
        >>> both.plot().get_yscale()
        'log'
        """
        return draw_curve(self, ax)

    def satisfies(self, budget: Budget) -> bool:
        """Whether the curve is proved to lie within a budget.

        Parameters
        ----------
        budget : Budget
            Any but a parametric ``RaoDP``; see :meth:`Budget.allows`.

        Returns
        -------
        bool

        Raises
        ------
        NoConversionError
            For a parametric Rao budget, which is not a property of the curve, and for what is no
            budget.
        UnsupportedBudgetError
            For a definition that says nothing about curves.
        """
        if not isinstance(budget, Budget):
            raise NoConversionError(
                f"a privacy curve cannot be held against {shown(budget)}; "
                "use a definition of riemdp, such as PureDP, ApproxDP or GDP"
            )
        return budget.allows(self)

    def _guarantees(self) -> tuple[Budget, ...]:
        """Guarantees that the curve implies, for definitions that it has no method for."""
        rho = self.zcdp_rho()
        return (ZCDP(rho),) if rho < math.inf else ()

    def _parts(self) -> tuple[tuple[PrivacyCurve, int], ...]:
        """Curves that this one is composed of, with the number of times each occurs."""
        return ((self, 1),)

    def _simplest(self) -> PrivacyCurve:
        """Return the same curve in closed form, where it has one."""
        return self

    def _separation(self) -> float | None:
        """Distance of two unit Gaussians with this very curve, None if there are none."""
        return None

    def _without_infinity(self) -> tuple[float, PrivacyCurve]:
        """Mass of an infinite privacy loss, and a curve of the rest."""
        return 0.0, self


def check_claim(claim: object) -> Budget | PrivacyCurve:
    """Return a claim that says something about every event.

    Parameters
    ----------
    claim : object

    Returns
    -------
    Budget or PrivacyCurve

    Raises
    ------
    InvalidParameterError
        If it is neither a budget nor a privacy curve.
    """
    if not isinstance(claim, (Budget, PrivacyCurve)):
        raise InvalidParameterError(
            f"claim must be a budget such as PureDP(1.0) or GDP(1.0), or a PrivacyCurve such as "
            f"mechanism.privacy(sensitivity), got {shown(claim)}"
        )
    return claim
