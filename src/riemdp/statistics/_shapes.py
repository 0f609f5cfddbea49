"""Full Procrustes mean of planar shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._errors import NotOnManifoldError, UnsupportedManifoldError
from riemdp._part import register
from riemdp.kernel import Products
from riemdp.spaces import (
    above_diagonal,
    checked_preshape,
    complex_landmarks,
    landmark_pairs,
    landmarks_of,
    raise_first,
)
from riemdp.statistics._unit_vectors import UnitVectorSum, leading_axis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._seen import View

    ComplexArray = NDArray[np.complex128]


@final
@register
@dataclass(frozen=True)
class ProcrustesMean(UnitVectorSum):
    r"""Mean of ``z z*`` over preshapes z, whose leading eigenvector is the full Procrustes mean.

    k landmarks in the plane are a vector of complex numbers: centred, of norm 1, and in an
    orthonormal basis of k - 1 vectors, a unit vector z of C^(k-1). A rotation of the configuration
    multiplies z by a phase, which ``z z*`` does not see. One record moves the matrix by sqrt(2)/n.

    Records are points of Sphere(2 k - 3): real parts, then imaginary parts, see
    :func:`preshapes`.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6; Kent, "The complex Bingham distribution and shape
    analysis", JRSS B 1994; Dryden and Mardia, "Statistical Shape Analysis", 2016, chapter 8

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import ProcrustesMean, preshapes
    >>> triangles = np.array([0.0, 1.0, 1.0j]) + np.random.default_rng(0).normal(0.0, 0.1, (500, 3))
    >>> sphere = riemdp.Ball.whole(riemdp.Sphere(3))  # of preshapes; no ball is needed
    >>> mean = ProcrustesMean()
    >>> release = riemdp.private_statistic(mean, preshapes(triangles), sphere, riemdp.GDP(1.0))
    >>> release.value["shape"].shape
    (3,)
    """

    name: ClassVar[str] = "procrustes-mean"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"

    def dim(self, ball: Ball) -> int:
        """Return twice the number of complex coordinates; see :meth:`UnitVectorSum.dim`."""
        dim = super().dim(ball)
        if dim % 2 or dim < 4:
            raise UnsupportedManifoldError(
                "shapes of k landmarks, at least 3, are points of Sphere(2 k - 3), and "
                f"{ball.manifold} has unit vectors with {dim} entries; see "
                "riemdp.statistics.preshapes"
            )
        return dim

    def shape(self, dim: int) -> Products:
        """Return ``z z*`` as vectors of the same norm; see :meth:`SumStatistic.shape`."""
        return Products(dim, hermitian=True)

    def parts(
        self,
        view: View,
        features: FloatArray,
        deviation: float,
        relative: float,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return the mean shape; see :meth:`SumStatistic.parts`.

        Limits and bounds are as of :meth:`DirectionalMoments.parts`. ``shape``, k complex
        landmarks, centred and of norm 1, of which the first that is not at the centre is real and
        positive; ``eigenvalues`` of the noisy scatter in falling order, of which the first is about
        the mean of the squared cosine of the distance to the mean; ``gap`` between the first two,
        ``gap_noise``, ``gap_limit``, ``shape_significant``, and ``shape_bound``, the Procrustes
        distance (an angle in radians) that the shape is within of the exact mean with probability
        at least .95 (pi/2 where it is not significant); ``scatter``, Hermitian, shape (k - 1, k -
        1), and ``scatter_sd``, the standard deviation of an entry of the diagonal (of real and
        imaginary parts of the others that over root 2).
        """
        dim = self.dim(view.ball)
        scatter = hermitian_of(features, dim // 2, self.shape(dim).weights[1])
        found = leading_axis(scatter, len(features), deviation)
        return {"shape": landmarks(found.vector), **found.parts("shape", scatter, deviation)}


def preshapes(configurations: ArrayLike) -> FloatArray:
    """Return configurations of landmarks in the plane as points of Sphere(2 k - 3), one by one.

    Parameters
    ----------
    configurations : array_like, shape (n, k) of complex numbers, or (n, k, 2) of real ones
        k >= 3 landmarks.

    Returns
    -------
    ndarray, shape (n, 2 k - 2)
        Of norm 1: real parts, then imaginary parts, of the centred configurations in an orthonormal
        basis (Helmert's).

    Raises
    ------
    NotOnManifoldError
        If the shape is another one, or a row is not finite, or has all landmarks at one place.
    """
    pairs = landmark_pairs(configurations)
    if pairs.ndim != 3 or pairs.shape[-1] != 2 or pairs.shape[1] < 3:
        raise NotOnManifoldError(
            "landmarks must have shape (n, k), complex, or (n, k, 2), real, with k >= 3, got "
            f"{np.shape(configurations)}"
        )
    missing = np.asarray(~np.isfinite(pairs).all(axis=(1, 2)))
    raise_first(missing, "has landmarks that are NaN or infinite")
    return checked_preshape(pairs)


def hermitian_of(products: FloatArray, dim: int, weight: float) -> ComplexArray:
    """Return matrices ``(..., d, d)`` of their diagonals and ``weight`` times what is above them.

    Real parts of the latter come before imaginary parts.
    """
    found = np.zeros((*products.shape[:-1], dim, dim), dtype=np.complex128)
    real, imaginary = np.split(products[..., dim:] / weight, 2, axis=-1)
    rows, columns = above_diagonal(dim)
    found[..., rows, columns] = real + 1j * imaginary
    found += np.swapaxes(found, -1, -2).conj()
    found[..., np.arange(dim), np.arange(dim)] = products[..., :dim]
    return found


def landmarks(preshape: ComplexArray) -> ComplexArray:
    """Return the centred configuration ``(k,)`` of a preshape, the same for all phases of it.

    The preshape ``(k - 1,)`` is in Helmert's basis, of norm 1. The first landmark that is not at
    the centre is real and positive.
    """
    flat = np.concatenate([preshape.real, preshape.imag])
    return complex_landmarks(landmarks_of(flat))
