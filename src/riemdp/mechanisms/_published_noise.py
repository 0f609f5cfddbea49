"""What may be said of the published conformal noise without looking at the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NoReturn

from riemdp._errors import UnprovenMechanismError

if TYPE_CHECKING:
    from riemdp.manifolds import Manifold


@dataclass(frozen=True)
class PublishedNoise:
    """What a release may say of :class:`PublishedConformalLaplace`: nothing that saw the data.

    Parameters
    ----------
    manifold : Manifold
    epsilon : float
        Nominal.
    """

    manifold: Manifold
    epsilon: float

    name: ClassVar[str] = "conformal-laplace-published"
    summary: ClassVar[str] = "frechet-mean"
    proven: ClassVar[bool] = False
    guarantee: ClassVar[None] = None

    @property
    def sigma(self) -> NoReturn:
        """Refuse: the scale depends on the private data."""
        raise self._unknown("scale")

    def expected_distance(self) -> NoReturn:
        """Refuse: the error depends on the private data."""
        raise self._unknown("error")

    def error_quantile(self, q: float) -> NoReturn:
        """Refuse: the error depends on the private data."""
        del q
        raise self._unknown("error")

    def _unknown(self, what: str) -> UnprovenMechanismError:
        return UnprovenMechanismError(
            f"the {what} of {self.name} depends on the private data and is not stated"
        )
