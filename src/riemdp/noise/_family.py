"""Noise of one kind on one space, at every scale."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from riemdp._errors import NoConversionError, NotAttainableError
from riemdp._part import Part, both_proved
from riemdp._potential import Kind, Potential, potential
from riemdp.noise._rules import is_of_changed_space
from riemdp.privacy import quotient_up
from riemdp.spaces import Manifold

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.noise._law import Law
    from riemdp.privacy import PrivacyCurve
    from riemdp.spaces import FloatArray


@dataclass(frozen=True)
class SpaceForm:
    """A space of constant curvature.

    Attributes
    ----------
    dim : int
    curvature : float
    upper : float
        Injectivity radius.
    """

    dim: int
    curvature: float
    upper: float


@dataclass(frozen=True)
class Family(Part, sort="family"):
    """Noise of one kind on one space, at every scale.

    A class states what is proved of draws and of privacy together, and where: ``proof`` as of any
    :class:`riemdp.Part`. It is used for the spaces that a :func:`rule` names.

    Parameters
    ----------
    kind : {"laplace", "gaussian"}
    manifold : Manifold

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import family
    >>> laplace = family("laplace", riemdp.Sphere(2))
    >>> laplace.law(0.5).sigma, f"{laplace.curve(0.5, 0.1).pure_epsilon():.3f}"
    (0.5, '0.200')
    """

    #: Whether polar coordinates of the space are those of its ``form``.
    is_isotropic: ClassVar[bool] = False

    kind: Kind
    manifold: Manifold

    @abstractmethod
    def law(self, sigma: float) -> Law:
        """Law at one scale.

        Parameters
        ----------
        sigma : float

        Returns
        -------
        Law

        Raises
        ------
        NotAttainableError
            If it has no normaliser.
        """

    @abstractmethod
    def curve(self, sigma: float, sensitivity: float) -> PrivacyCurve:
        """Privacy of the law at one scale, for footpoints at most ``sensitivity`` apart.

        Parameters
        ----------
        sigma, sensitivity : float

        Returns
        -------
        PrivacyCurve
        """

    @property
    def form(self) -> SpaceForm | None:
        """Space of constant curvature whose noise has these privacy curves, or worse ones."""
        return None

    @property
    def growth(self) -> float:
        """Rate at which volume grows exponentially with the distance; 0 unless it does.

        The Laplace law has a normaliser for ``sigma`` below ``1 / growth``.
        """
        return 0.0

    @property
    def constant_normaliser(self) -> str | None:
        """Where it is proved that the law has one normaliser at every footpoint; None by default.

        Of a homogeneous space it is proved. Elsewhere the normaliser moves with the footpoint.
        """
        return None

    @property
    def invariance(self) -> str | None:
        """Where it is proved that isometries take the noise about a point to that about its image.

        None by default. A quotient's noise needs it of the cover's: without it two representatives
        of one point have different noise.
        """
        return None

    def triangle_epsilon(self, sigma: float, sensitivity: float) -> float:
        """Bound the privacy loss by the triangle inequality; ``inf`` where it does not.

        Where the normaliser may move, it may move by as much as the density at a point does: the
        bound is twice as large (docs/proofs/riemannian-laplace.md, claims 1 and 2).

        Parameters
        ----------
        sigma, sensitivity : float

        Returns
        -------
        float
            Rounded up.
        """
        factor = 1.0 if self.constant_normaliser else 2.0
        moved = factor * self.total_shift(sensitivity)
        return self.potential.triangle_epsilon(quotient_up(moved, sigma))

    def total_shift(self, sensitivity: float) -> float:
        """Distance that the triangle inequality counts, of footpoints ``sensitivity`` apart.

        That distance itself, but of a density in which several distances add up.

        Parameters
        ----------
        sensitivity : float

        Returns
        -------
        float
            Rounded up.
        """
        return sensitivity

    def slope(self, sigma: float) -> float:
        """Bound of ``mu`` per unit of distance, for footpoints at any distance.

        Parameters
        ----------
        sigma : float

        Returns
        -------
        float
            Rounded up; ``inf`` where none is known, as by default.
        """
        del sigma
        return math.inf

    def energy(self, sigma: float, point: FloatArray, footpoint: FloatArray) -> FloatArray:
        r"""Minus the logarithm of the density, up to a constant.

        Parameters
        ----------
        sigma : float
        point, footpoint : ndarray, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (...)
        """
        return self.potential.energy(self.manifold.dist(footpoint, point) / sigma)

    @property
    def is_flat(self) -> bool:
        """Whether privacy is that of the law on R^d, or better."""
        return False

    @property
    def score_dim(self) -> int:
        """Dimension among which the Laplace law's Fisher information ``1/sigma^2`` is divided.

        All of them where every direction is alike; 1 is always right (docs/proofs/rao.md,
        claim 7).
        """
        return 1

    @property
    def reach(self) -> float:
        """Largest radius that privacy losses know; ``inf`` where they are unbounded."""
        return self.manifold.injectivity_radius

    @functools.cached_property
    def potential(self) -> Potential:
        """Energy of the density."""
        return potential(self.kind)

    @property
    def scale_limit(self) -> float:
        """Scale under which the law has a normaliser."""
        return self.potential.scale_limit(self.growth)

    def mu_scale(self, sensitivity: float, mu: float) -> float:
        """Scale at which the law is proved to be ``mu``-GDP, by bisection of its curve.

        Parameters
        ----------
        sensitivity, mu : float

        Returns
        -------
        float

        Raises
        ------
        NotAttainableError
            If there is none.
        """
        return bisected(lambda sigma: self.curve(sigma, sensitivity).mu() <= mu, sensitivity / mu)

    def length(self, sigma: float, sensitivity: float) -> float:
        """Bound of the length of a footpoint's path in the Fisher metric of the Gaussian law.

        Proportional to ``sensitivity``: a path of a product shares it out among the factors.

        Parameters
        ----------
        sigma, sensitivity : float

        Returns
        -------
        float

        Raises
        ------
        NoConversionError
            Where none is known: a privacy curve at one distance says nothing of shorter ones.
        """
        del sigma, sensitivity
        raise NoConversionError(
            f"the parametric distance of the {self.kind} law on {self.manifold} is not known; use "
            'RaoDP(theta, distance="angle")'
        )

    def proofs(self) -> dict[str, str | None]:
        """Where the law, its privacy and the space are proved; nowhere of a changed space."""
        changed = is_of_changed_space(self.kind, self.manifold)
        own = {f"law on {self.manifold.name}": None if changed else self.proof}
        return both_proved(own, self.manifold.proofs())


def bisected(
    suffices: Callable[[float], bool], first: float, accuracy: float = 1e-12, step: float = 2.0
) -> float:
    """Least scale, to a relative accuracy, at which something holds, from a guess on.

    Parameters
    ----------
    suffices : callable
        Of a scale; holds for every larger one too.
    first : float
        Where to start.
    accuracy : float, default 1e-12
    step : float, default 2.0
        Factor from one scale to the next until it holds.

    Returns
    -------
    float
        At which it holds.

    Raises
    ------
    NotAttainableError
        If it holds for no scale that was tried.
    """
    low, high = first / step, first
    while not suffices(high):
        low, high = high, step * high
        if math.isinf(high) or high > 1e12 * first:
            raise NotAttainableError(
                "no scale of the noise suffices for the budget; choose a larger budget, a smaller "
                'ball, more data, or a tangent mechanism ("tangent-gaussian", "tangent-laplace")'
            )
    while suffices(low):
        low, high = low / step, low
    while high > low * (1.0 + accuracy):
        middle = math.sqrt(low * high)
        if suffices(middle):
            high = middle
        else:
            low = middle
    return high
