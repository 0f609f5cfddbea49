"""What every mechanism can do, draw exactly and say what it guarantees, and a choice of one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from riemdp._checks import positive, real, shown
from riemdp._errors import InvalidParameterError, NotAttainableError, UnsupportedError
from riemdp._part import Part, borrowed, both_proved, is_proof
from riemdp.mechanisms._calibration import Proved, check_sensitivity, enough_noise
from riemdp.noise import FactorLaw, bisected, part_of
from riemdp.privacy import check_distance
from riemdp.spaces import Ball, Manifold, check_manifold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from numpy.typing import ArrayLike

    from riemdp.noise import DistanceLaw, RadialLaw
    from riemdp.noise.exact import ExactDraw
    from riemdp.privacy import Budget, PrivacyCurve, RaoDP
    from riemdp.spaces import FloatArray


@dataclass(frozen=True)
class Choice:
    """A class of mechanisms with some fields fixed, to be calibrated.

    Parameters
    ----------
    kind : type
        A class of mechanisms.
    options : tuple of (str, object)
        Names of :attr:`Mechanism.choices` with values.

    Raises
    ------
    InvalidParameterError
        If the class has no such choice.

    Examples
    --------
    >>> from riemdp.mechanisms import Choice
    >>> from riemdp.research import GeneralizedGaussian
    >>> choice = Choice(GeneralizedGaussian, (("power", 4.0),))
    >>> choice.name
    'generalized-gaussian'
    """

    kind: type[Mechanism]
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        for name, _ in self.options:
            if name not in self.kind.choices:
                known = ", ".join(self.kind.choices) or "it has none"
                raise InvalidParameterError(
                    f"{self.kind.name} has no choice {shown(name)}; known: {known}"
                )

    def __str__(self) -> str:
        """Return it as it may be named: ``"name:field=value"``."""
        options = ",".join(f"{name}={value}" for name, value in self.options)
        return f"{self.name}:{options}" if options else self.name

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.kind.name

    @property
    def metric(self) -> Literal["distance", "coordinates"]:
        """What the sensitivities of the class are."""
        return self.kind.metric

    @property
    def intrinsic(self) -> bool | None:
        """Whether it is for the Fréchet mean; see :class:`Mechanism`."""
        return self.kind.intrinsic

    def needed(self, ball: Ball) -> dict[str, Any]:
        """Return the options that it is calibrated with, those of the ball among them.

        See :meth:`Mechanism.needed`.
        """
        return {**self.kind.needed(ball), **dict(self.options)}

    def calibrate_on(
        self, manifold: Manifold, sensitivity: float, budget: Budget, **options: Any
    ) -> Mechanism:
        """Calibrate the class, with the options of :meth:`needed`.

        See :meth:`Mechanism.calibrate_on`.
        """
        return self.kind.calibrate_on(manifold, sensitivity, budget, **options)


@dataclass(frozen=True)
class Mechanism(Part, sort="mechanism"):
    """A law of noise around a footpoint, with its privacy.

    The footpoint is the exact value of a summary; the draw is what may be published. Neighbouring
    data sets have footpoints at most ``sensitivity`` apart. Releases draw by :meth:`exact_draw`. A
    subclass with a ``sample(footpoint, size, generator)`` of its own, in float64, draws otherwise:
    it has an exact draw if it says so itself, and else serves :mod:`riemdp.research` alone.

    Parameters
    ----------
    manifold : Manifold
        Space of the footpoint.
    sigma : float
        Scale of the noise, in units of geodesic distance; positive and finite.

    Attributes
    ----------
    metric : {"distance", "coordinates"}
        What sensitivities are: geodesic distances, or norms of differences of normal coordinates
        about a public centre.
    intrinsic : bool or None
        Whether :func:`riemdp.private_mean` releases the Fréchet mean with it, and not the tangent
        mean; None: where sensitivities are distances.
    options : mapping of str to callable
        Fields that are functions of the public ball, by name, so that a document need not hold
        them.
    choices : tuple of str
        Fields that a caller may fix before the calibration, see :meth:`with_options`.

    Raises
    ------
    InvalidParameterError
        If ``sigma`` is not positive and finite, or ``manifold`` no manifold.

    Examples
    --------
    >>> import riemdp
    >>> law = riemdp.TangentGaussian.calibrate(riemdp.Euclidean(3), 0.1, riemdp.GDP(0.5))
    >>> f"{law.sigma:.4f}", f"{law.privacy(0.1).mu():.4f}"
    ('0.2000', '0.5000')
    """

    manifold: Manifold
    sigma: float

    metric: ClassVar[Literal["distance", "coordinates"]] = "distance"
    intrinsic: ClassVar[bool | None] = None
    options: ClassVar[Mapping[str, Callable[[Ball], Any]]] = MappingProxyType({})
    choices: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        first = next(base for base in cls.__mro__ if {"sample", "exact_draw"} & vars(base).keys())
        if "exact_draw" not in vars(first):  # it draws otherwise
            cls.exact_draw = Mechanism.exact_draw  # type: ignore[method-assign]
        if "joint_weight" not in vars(cls):  # a claim about draws and privacy of this very class
            cls.joint_weight = Mechanism.joint_weight  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        check_manifold(self.manifold, f"; it comes first: {type(self).__name__}(manifold, sigma)")
        object.__setattr__(self, "sigma", positive(self.sigma, "sigma, the noise scale,"))

    @property
    def proven(self) -> bool:
        """Whether it is proved what :meth:`privacy` says, and that draws follow the law."""
        return all(map(is_proof, both_proved(self.proofs(), borrowed(self)).values()))

    @classmethod
    def needed(cls, ball: Ball) -> dict[str, Any]:  # noqa: ARG003
        """Return the options that :meth:`calibrate` cannot do without.

        Parameters
        ----------
        ball : Ball
            Public ball that the footpoint lies in.

        Returns
        -------
        dict of str to object
        """
        return {}

    def foreign_to(self, ball: Ball) -> str | None:
        """Say what of the mechanism does not belong to a ball.

        Parameters
        ----------
        ball : Ball
            Public ball that the footpoint lies in.

        Returns
        -------
        str or None
            None where all does.
        """
        if self.manifold != ball.manifold:
            return f"the mechanism is for {self.manifold}, the ball for {ball.manifold}"
        return None

    @classmethod
    def calibrate(
        cls,
        manifold: Manifold,
        sensitivity: float,
        budget: Budget,
        *args: Any,
        **options: Any,
    ) -> Self:
        """Mechanism with the least noise that is proved to satisfy the budget.

        By bisection of :meth:`satisfies`, unless a class knows better.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : Budget
            Any definition, see :meth:`Budget.allows`.
        **options
            Options of the concrete mechanism, by keyword.

        Returns
        -------
        Mechanism
            ``mechanism.satisfies(sensitivity, budget)`` is true; ``sigma`` is rounded towards more
            noise.

        Raises
        ------
        InvalidBudgetError
            If the mechanism cannot satisfy this kind of budget.
        InvalidParameterError
            If ``sensitivity`` is not between 1e-75 and 1e75.
        NotAttainableError
            If no scale suffices.
        """
        sensitivity = check_sensitivity(sensitivity)
        check_manifold(manifold)

        def suffices(sigma: float) -> bool:
            try:
                return cls(manifold, sigma, *args, **options).satisfies(sensitivity, budget)
            except NotAttainableError:  # no such law at this scale
                return False

        sigma = bisected(suffices, sensitivity)
        return enough_noise(
            lambda s: cls(manifold, s, *args, **options), sigma, sensitivity, budget
        )

    @classmethod
    def calibrate_on(
        cls, manifold: Manifold, sensitivity: float, budget: Budget, **options: Any
    ) -> Self:
        """:meth:`calibrate`, for classes whose own does not ask for the manifold.

        Parameters
        ----------
        manifold : Manifold
        sensitivity : float
        budget : Budget
        **options

        Returns
        -------
        Mechanism
        """
        return cls.calibrate(manifold, sensitivity, budget, **options)

    @classmethod
    def with_options(cls, **options: Any) -> Choice:
        """Name the class with some fields fixed, for whoever calibrates it.

        Parameters
        ----------
        **options
            Of :attr:`choices`.

        Returns
        -------
        Choice
            Goes where a class goes: ``private_mean(..., mechanism=choice)``.

        Raises
        ------
        InvalidParameterError
            If the class has no such choice.
        """
        return Choice(cls, tuple(options.items()))

    def exact_draw(self, ball: Ball) -> ExactDraw:  # noqa: ARG002
        """How ideal draws about footpoints in a public ball are rounded to a grid, exactly.

        The integers that it draws have every guarantee of the mechanism, with no allowance for
        arithmetic: docs/proofs/exact-draws.

        Parameters
        ----------
        ball : Ball
            Public ball that the footpoint lies in, and about whose centre coordinates are.

        Returns
        -------
        ExactDraw

        Raises
        ------
        UnsupportedError
            Where there is no proved way; by default.
        """
        raise UnsupportedError(f"no exactly rounded draw of {self.name} is known")

    @classmethod
    def joint_weight(cls, weights: Sequence[float]) -> float | None:  # noqa: ARG003
        """Weight of the one draw that several draws are together, whatever is asked in between.

        Draws at one scale about footpoints whose sensitivities are ``weights`` times some
        sensitivity, each footpoint chosen after the earlier draws, are as private as one draw
        about a footpoint of ``joint_weight(weights)`` times that sensitivity: under every
        definition that the mechanism may satisfy. It is not inherited: a subclass draws otherwise,
        and has to say so itself.

        Parameters
        ----------
        weights : sequence of float
            Positive, fixed beforehand.

        Returns
        -------
        float or None
            Rounded up. None, by default, where nothing is known: such draws get equal shares of a
            budget.
        """
        return None

    @abstractmethod
    def log_density(self, point: ArrayLike, footpoint: ArrayLike) -> FloatArray:
        r"""Log density of a draw.

        Parameters
        ----------
        point, footpoint : array_like, shape (..., \*point_shape)
            Broadcast against each other.

        Returns
        -------
        ndarray, shape (...)
        """

    @abstractmethod
    def privacy(self, sensitivity: float) -> PrivacyCurve:
        """State what is proved for footpoints at most ``sensitivity`` apart.

        Parameters
        ----------
        sensitivity : float
            Positive and finite.

        Returns
        -------
        PrivacyCurve

        Raises
        ------
        InvalidParameterError
            If ``sensitivity`` is outside its domain.
        """

    def rao(self, sensitivity: float, distance: Literal["angle", "parametric"]) -> RaoDP:
        """Rao privacy for footpoints at most ``sensitivity`` apart.

        Parameters
        ----------
        sensitivity : float
            Positive and finite.
        distance : {"angle", "parametric"}
            ``"parametric"`` is the length of the footpoint's path in the Fisher metric,
            ``"angle"`` is ``2 arccos`` of the integral of ``sqrt(p q)``, which is never larger.

        Returns
        -------
        RaoDP
            ``theta`` rounded up. It is no epsilon: ``delta_at`` says what it means.

        Raises
        ------
        InvalidParameterError
            If an argument is outside its domain.
        NoConversionError
            For the parametric distance of a mechanism of which only a privacy curve is known.

        References
        ----------
        docs/proofs/rao.md
        """
        return self.privacy(sensitivity).rao(check_distance(distance))

    def satisfies(self, sensitivity: float, budget: Budget) -> bool:
        """Whether the mechanism is proved to lie within a budget.

        Parameters
        ----------
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        budget : Budget
            Any definition, see :meth:`Budget.allows`.

        Returns
        -------
        bool

        Raises
        ------
        InvalidParameterError
            If ``sensitivity`` is outside its domain.
        NoConversionError
            For a budget that the mechanism's privacy curve cannot be held against.
        """
        return Proved(self, sensitivity).satisfies(budget)

    @property
    def _distance_law(self) -> DistanceLaw:
        """Law of the distance between footpoint and draw."""
        raise UnsupportedError(
            f"{self.name} does not say how far its draws are from the footpoint; its class needs "
            "expected_distance() and error_quantile(q)"
        )

    def distance_law(self, footpoint: FloatArray) -> DistanceLaw:  # noqa: ARG002
        r"""Exact law of the distance between a footpoint and a draw about it.

        Parameters
        ----------
        footpoint : ndarray, shape (\*point_shape,)

        Returns
        -------
        object
            With ``mean()`` and ``quantile(q)``.

        Raises
        ------
        InvalidParameterError
            If it is known approximately only, or not at this footpoint.
        UnsupportedError
            If the class does not know it.
        """
        return self._distance_law

    def expected_distance(self) -> float:
        """Mean distance between footpoint and draw, from public numbers only.

        Raises
        ------
        UnsupportedError
            If the class does not know it.
        """
        return self._distance_law.mean()

    def expected_distance_in(self, ball: Ball) -> float:  # noqa: ARG002
        """Mean distance between footpoint and draw, wherever in a public ball the footpoint lies.

        What mechanisms are compared by. Projection onto the ball is not counted; it brings a draw
        no farther where the curvature is not positive.

        Parameters
        ----------
        ball : Ball

        Returns
        -------
        float
            By default :meth:`expected_distance`; an upper bound where it is not the same at every
            footpoint.

        Raises
        ------
        UnsupportedError
            If the class does not know it.
        """
        return self.expected_distance()

    def added_noise(self, ball: Ball) -> RadialLaw | None:  # noqa: ARG002
        """Law of the length of noise that is added to normal coordinates about a ball's centre.

        Parameters
        ----------
        ball : Ball
            Public ball that the footpoint lies in.

        Returns
        -------
        RadialLaw or None
            Its direction is uniform. None, by default, where draws are made in another way.
        """
        return None

    def factor_law(self, ball: Ball, factor: int) -> FactorLaw:
        """Law of the distance between footpoint and draw in one factor of a product.

        Parameters
        ----------
        ball : Ball
            Public ball that the footpoint lies in.
        factor : int
            Index among ``manifold.factors``.

        Returns
        -------
        object
            With ``mean()``, ``mean_square()`` and ``quantile(q)``: of noise in a tangent space its
            length there, as in :meth:`expected_distance`. On a space that is no product the law
            that :meth:`error_quantile` is of.

        Raises
        ------
        UnsupportedError
            Where it is not known.
        """
        factors = self.manifold.factors
        whole: object = self._distance_law if len(factors) == 1 else None
        if isinstance(whole, FactorLaw):
            return whole
        added = self.added_noise(ball)
        if added is None:
            raise UnsupportedError(
                f"the noise of {self.name} in one factor of {self.manifold} is not known; use "
                '"tangent-gaussian"'
            )
        return part_of(added, factors[factor].dim)

    def error_quantile(self, q: float) -> float:
        """Distance from the footpoint that a draw exceeds with probability ``1 - q``.

        Parameters
        ----------
        q : float
            In [0, 1].

        Returns
        -------
        float

        Raises
        ------
        InvalidParameterError
            If ``q`` lies outside [0, 1].
        UnsupportedError
            If the class does not know it.
        """
        return float(self._distance_law.quantile(real(q, "q")))


def calibrated(mechanism: type[Mechanism] | Choice | Mechanism) -> Mechanism | None:
    """Return a mechanism that has its scale; None for a class or a choice.

    Parameters
    ----------
    mechanism : Mechanism class, Choice or Mechanism

    Returns
    -------
    Mechanism or None
    """
    return mechanism if isinstance(mechanism, Mechanism) else None


def as_choice(mechanism: type[Mechanism] | Choice | Mechanism) -> Choice:
    """Return what is to be calibrated as a choice, that of no option for a class.

    Parameters
    ----------
    mechanism : Mechanism class or Choice

    Returns
    -------
    Choice

    Raises
    ------
    InvalidParameterError
        If it has its scale already.
    """
    if isinstance(mechanism, Mechanism):
        raise InvalidParameterError(
            f"name {mechanism.name}, or its class: an instance has its scale already"
        )
    return mechanism if isinstance(mechanism, Choice) else Choice(mechanism)


def if_known(number: Callable[..., float], *args: float) -> float | None:
    """Return a number of the error law, None where the class does not know it.

    Parameters
    ----------
    number : callable
        Such as ``mechanism.error_quantile``.
    *args : float

    Returns
    -------
    float or None
    """
    try:
        return number(*args)
    except UnsupportedError:
        return None


def check_mechanism(mechanism: object) -> None:
    """Raise ``InvalidParameterError`` for what is no mechanism, nor a class of them or a choice.

    Parameters
    ----------
    mechanism : object
    """
    if isinstance(mechanism, Choice):
        mechanism = mechanism.kind
    kind = mechanism if isinstance(mechanism, type) else type(mechanism)
    if not issubclass(kind, Mechanism) or kind.__abstractmethods__:
        raise InvalidParameterError(
            "mechanism must be a name, a Mechanism class or a calibrated Mechanism, "
            f"got {type(mechanism).__name__}"
        )
