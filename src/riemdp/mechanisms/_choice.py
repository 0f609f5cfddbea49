"""A class of mechanisms by name, with some of its fields fixed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from riemdp.manifolds import Ball, Manifold
    from riemdp.mechanisms._mechanism import Mechanism
    from riemdp.privacy import Budget


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
