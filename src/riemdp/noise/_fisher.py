"""Fisher information of a law of noise about its footpoint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from riemdp._potential import potential

if TYPE_CHECKING:
    from riemdp.noise._radial import RadialLaw


def fisher_information(law: RadialLaw) -> float:
    """Fisher information of the footpoint, per unit of squared geodesic distance.

    On a space of constant curvature the score of the density ``exp(-U(dist(x, footpoint))) / Z``
    in a unit direction ``u`` is ``U'(r) cos(angle)``, with the angle between ``u`` and the
    direction of the draw, which is uniform and independent of ``r``. So the information is
    ``E[U'(r)^2] / dim`` in every direction: ``1 / (dim sigma^2)`` for the Laplace law on every
    space, ``E[r^2] / (dim sigma^4)`` for the Gaussian. The cut locus adds nothing, as the density
    is continuous there.

    Parameters
    ----------
    law : RadialLaw
        Law of the distance. The end of its support has to be the injectivity radius, as that of
        :class:`IsotropicLaw` is.

    Returns
    -------
    float
        In units of inverse squared distance. Exact up to rounding on flat spaces and for the
        Laplace law, by quadrature for the Gaussian on curved spaces and circles. Infinite for a
        law cut short of the injectivity radius: its density jumps, and the jump moves with the
        footpoint.

    References
    ----------
    docs/proofs/rao.md, claim 2.

    Examples
    --------
    >>> import riemdp
    >>> from riemdp.noise import IsotropicLaw, fisher_information
    >>> law = IsotropicLaw("laplace", riemdp.Euclidean(3), 2.0).radial
    >>> round(fisher_information(law), 12)  # 1 / (3 * 2**2)
    0.083333333333
    """
    if _is_cut_short(law):
        return math.inf
    return potential(law.kind).information(law.dim, law.sigma, law.mean_square)


def _is_cut_short(law: RadialLaw) -> bool:
    """Whether the support ends before the space does; in dimension one every end is a circle's."""
    if law.dim == 1:
        return False
    space_end = math.pi / math.sqrt(law.curvature) if law.curvature > 0.0 else math.inf
    return law.upper < space_end * (1.0 - 1e-12)
