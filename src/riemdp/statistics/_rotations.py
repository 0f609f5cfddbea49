"""Mean rotation, over all rotations of space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from riemdp._checks import real_entries
from riemdp._errors import NotOnManifoldError, UnsupportedManifoldError
from riemdp._part import register
from riemdp.kernel import Products
from riemdp.spaces import Rotations
from riemdp.statistics._sums import symmetric_of
from riemdp.statistics._unit_vectors import UnitVectorSum, leading_axis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from riemdp.spaces import Ball, FloatArray
    from riemdp.statistics._seen import View


@final
@register
@dataclass(frozen=True)
class MeanRotation(UnitVectorSum):
    r"""Mean of ``q q^T`` over unit quaternions q, whose leading eigenvector is the mean rotation.

    q and -q are the same rotation and have the same ``q q^T``. The mean rotation R is that with the
    least mean squared Frobenius norm of ``R - R_i``. One record moves the matrix by sqrt(2)/n.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6; Markley, Cheng, Crassidis and Oshman, "Averaging
    quaternions", J. Guid. Control Dyn. 2007

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp.statistics import MeanRotation, unit_quaternions
    >>> points = unit_quaternions(np.broadcast_to(np.eye(3), (500, 3, 3)))
    >>> sphere = riemdp.Ball.whole(riemdp.Sphere(3))  # no ball is needed
    >>> release = riemdp.private_statistic(MeanRotation(), points, sphere, riemdp.GDP(1.0))
    >>> release.value.rotation.shape
    (3, 3)
    """

    name: ClassVar[str] = "mean-rotation"
    proof: ClassVar[str | None] = "docs/proofs/joint-sensitivities.md"

    def dim(self, ball: Ball) -> int:
        """Return 4; see :meth:`UnitVectorSum.dim`."""
        if (dim := super().dim(ball)) != 4:
            raise UnsupportedManifoldError(
                f"rotations are unit quaternions, points of Sphere(3), and {ball.manifold} has "
                f"unit vectors with {dim} entries; see riemdp.statistics.unit_quaternions"
            )
        return dim

    def shape(self, dim: int) -> Products:
        """``q q^T``; see :meth:`SumStatistic.shape`."""
        return Products(dim)

    def parts(
        self,
        view: View,
        features: FloatArray,
        deviation: float,
        relative: float,  # noqa: ARG002
    ) -> Mapping[str, Any]:
        """Return the mean rotation; see :meth:`SumStatistic.parts`.

        Limits and bounds are as of :meth:`DirectionalMoments.parts`. ``rotation``, shape (3, 3),
        and its ``quaternion`` (x, y, z, w), with a positive entry where it is largest;
        ``eigenvalues`` of the noisy scatter in falling order, of which the first is about the mean
        of the squared cosine of half the angle to the mean; ``gap`` between the first two,
        ``gap_noise``, ``gap_limit``, ``rotation_significant``, and ``rotation_bound``, the angle of
        rotation in radians that the rotation is within of the exact mean with probability at least
        .95 (pi where it is not significant); ``scatter``, shape (4, 4), and ``scatter_sd``.
        """
        from scipy.spatial.transform import Rotation

        dim = self.dim(view.ball)
        scatter = symmetric_of(features, dim, self.shape(dim).weights)
        found = leading_axis(scatter, len(features), deviation)
        return {
            "rotation": np.array(Rotation.from_quat(np.array(found.vector)).as_matrix()),
            "quaternion": found.vector,
            **found.parts("rotation", scatter, deviation, turn=2.0),
        }


def unit_quaternions(rotations: ArrayLike) -> FloatArray:
    """Return rotations as points of Sphere(3), one by one, each with either sign.

    Parameters
    ----------
    rotations : array_like, shape (n, 3, 3) or (n, 4)
        Matrices, or unit quaternions (x, y, z, w) of either sign, to the tolerance of
        :meth:`riemdp.Rotations.validate`.

    Returns
    -------
    ndarray, shape (n, 4)
        In the order (x, y, z, w), of norm 1.

    Raises
    ------
    NotOnManifoldError
        If the shape is another one, or a row is not finite or no rotation.
    """
    shape = real_entries(rotations, "rotations", error=NotOnManifoldError).shape
    if shape[1:] not in ((3, 3), (4,)):
        raise NotOnManifoldError(
            "rotations must have shape (n, 3, 3), or (n, 4) as unit quaternions (x, y, z, w), got "
            f"{shape}"
        )
    space = Rotations()
    return 0.5 * space.lift(space.validate(rotations))
