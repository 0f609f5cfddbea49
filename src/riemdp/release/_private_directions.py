"""Private statistics of directions, axes, rotations and planar shapes, which need no ball."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import real_entries
from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.release._on_sphere import released_on_sphere
from riemdp.release._options import Options, with_options
from riemdp.release._own_directions import main_axis, main_preshape, mean_direction
from riemdp.statistics import (
    DirectionalMoments,
    MeanRotation,
    ProcrustesMean,
    preshapes,
    unit_quaternions,
)

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from riemdp.privacy import Budget
    from riemdp.release._options import ReleaseOptions
    from riemdp.release._release import Release
    from riemdp.spaces import FloatArray


@with_advice
@work("private_directional_summary")
@with_options
def private_directional_summary(
    points: ArrayLike,
    budget: Budget,
    *,
    order: int | tuple[int, ...] = 1,
    axial: bool = False,
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private summary of directions, anywhere on the sphere.

    Directions are averaged as unit vectors of the space around, so that no ball has to be chosen
    and all directions are admitted. What is released is the mean resultant, of which one record
    moves at most 2/n, or the scatter matrix ``mean of x x^T``, sqrt(2)/n, or both in one release,
    which costs the resultant nothing.

    Parameters
    ----------
    points : array_like, shape (n, N)
        Unit vectors, N >= 2, n >= 1. They may be read a part at a time: see
        :class:`riemdp.Chunks`.
    budget : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Guarantee of the whole release.
    order : {1, 2, (1, 2)}, default 1
        Resultant, scatter, or both.
    axial : bool, default False
        Whether x and -x are the same: then the scatter is released, ``order=2``.
    **options
        As in :func:`private_mean`; noise is added to vectors, and Gaussian noise is what limits
        and bounds of the value are about. With ``users`` each person counts with one direction:
        that of the sum of all own ones, or their main axis where the scatter alone is released.

    Returns
    -------
    Release
        Its value has parts by name: ``direction``, ``length``, ``kappa`` and more, ``axis``,
        ``gap`` and more; see :meth:`riemdp.statistics.DirectionalMoments.parts`. Whether a
        direction or an axis means anything is said by ``direction_significant`` and
        ``axis_significant``, at the level .05. Its ``expected_distance`` is that of the noise of
        all entries together.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not of norm 1.
    RiemdpError
        What else :func:`private_statistic` raises.

    See Also
    --------
    riemdp.rayleigh_test : Whether the directions are uniform, from the release.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6; docs/proofs/neighbours.md where n is private;
    docs/proofs/directional-statistics.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_directional_summary(points, riemdp.GDP(1.0))
    >>> bool(release.value.direction @ [0.0, 0.0, 1.0] > 0.95)
    True
    """
    statistic = _moments(order, axial)
    return released_on_sphere(
        statistic,
        points,
        budget,
        Options(**options),
        read=_unit_vectors,
        own=main_axis if statistic == DirectionalMoments(2) else mean_direction,
        label="private_directional_summary",
    )


def _unit_vectors(points: ArrayLike) -> FloatArray:
    rows = real_entries(points, "points", error=NotOnManifoldError)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise NotOnManifoldError(
            "points must have shape (n, N), unit vectors with N >= 2 entries, got rows of shape "
            f"{rows.shape[1:]}"
            + (
                "; angles become unit vectors by numpy.stack([cos(a), sin(a)], axis=-1)"
                if rows.ndim == 1
                else ""
            )
        )
    return rows


def _moments(order: Any, axial: object) -> DirectionalMoments:
    if not isinstance(axial, (bool, np.bool_)):
        raise InvalidParameterError("axial must be True or False")
    statistic = DirectionalMoments(order)
    if not axial or statistic == DirectionalMoments(2):
        return statistic
    if statistic != DirectionalMoments(1):  # 1 is what is there if nobody asks for anything
        raise InvalidParameterError(
            "axes have no resultant, as x and -x are the same: with axial=True order must be 2"
        )
    return DirectionalMoments(2)


@with_advice
@work("private_rotation_mean")
@with_options
def private_rotation_mean(
    points: ArrayLike,
    budget: Budget,
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private mean of rotations of space, wherever they lie.

    The mean rotation is the leading eigenvector of the mean of ``q q^T`` over unit quaternions q,
    which has no sign and needs no ball: it works on all of SO(3). One record moves that matrix by
    at most sqrt(2)/n. How much the mean rotation is moved by the noise depends on the gap between
    its first two eigenvalues, which is released too.

    Parameters
    ----------
    points : array_like, shape (n, 3, 3) or (n, 4)
        Rotation matrices, or unit quaternions (x, y, z, w) of either sign; n >= 1. They may be read
        a part at a time: see :class:`riemdp.Chunks`.
    budget, **options
        As in :func:`private_directional_summary`. With ``users`` each person counts with one
        rotation, the mean of all own ones in the same sense.

    Returns
    -------
    Release
        Its value has ``rotation``, shape (3, 3), ``rotation_bound``, an angle that the exact mean
        is within with probability at least .95, and more parts; see
        :meth:`riemdp.statistics.MeanRotation.parts`. Its ``expected_distance`` is that of the
        noise of all entries of the matrix together, not an angle.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row is not a rotation.
    RiemdpError
        What else :func:`private_statistic` raises.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6; docs/proofs/neighbours.md where n is private;
    docs/proofs/directional-statistics.md; Markley,
    Cheng, Crassidis and Oshman, "Averaging quaternions", J. Guid. Control Dyn. 2007

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> angles = np.random.default_rng(0).normal(0.3, 0.1, 500)
    >>> cos, sin, zero, one = np.cos(angles), np.sin(angles), np.zeros(500), np.ones(500)
    >>> turns = np.stack([cos, -sin, zero, sin, cos, zero, zero, zero, one], axis=-1)
    >>> release = riemdp.private_rotation_mean(turns.reshape(500, 3, 3), riemdp.GDP(1.0))
    >>> release.value.rotation.shape, release.guarantee
    ((3, 3), GDP(mu=1.0))
    """
    return released_on_sphere(
        MeanRotation(),
        points,
        budget,
        Options(**options),
        read=unit_quaternions,
        own=main_axis,
        label="private_rotation_mean",
        width=4,
    )


@with_advice
@work("private_procrustes_mean")
@with_options
def private_procrustes_mean(
    points: ArrayLike,
    budget: Budget,
    **options: Unpack[ReleaseOptions],
) -> Release:
    r"""Release a differentially private full Procrustes mean of planar shapes.

    Configurations of k landmarks are compared up to translation, scale and rotation. The mean is
    the leading eigenvector of the mean of ``z z*`` over centred configurations z of norm 1, as
    complex vectors; one record moves that matrix by at most sqrt(2)/n. No template is needed, and
    no ball.

    Parameters
    ----------
    points : array_like, shape (n, k) of complex numbers, or (n, k, 2) of real ones
        k >= 3 landmarks, not all at one place. They may be read a part at a time: see
        :class:`riemdp.Chunks`.
    budget, **options
        As in :func:`private_directional_summary`. With ``users`` each person counts with one
        shape, the mean of all own ones in the same sense.

    Returns
    -------
    Release
        Its value has ``shape``, k complex landmarks, ``shape_bound``, a distance that the exact
        mean is within with probability at least .95, and more parts; see
        :meth:`riemdp.statistics.ProcrustesMean.parts`. Its ``expected_distance`` is that of the
        noise of all entries of the matrix together, not a distance of shapes.

    Raises
    ------
    NotOnManifoldError
        If the data are empty, have the wrong shape, or a row has
        entries that are not finite, or all its landmarks at one place.
    RiemdpError
        What else :func:`private_statistic` raises.

    References
    ----------
    docs/proofs/joint-sensitivities.md, claim 6; docs/proofs/neighbours.md where n is private;
    docs/proofs/directional-statistics.md; Kent, "The
    complex Bingham distribution and shape analysis", JRSS B 1994

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> random = np.random.default_rng(0)
    >>> square = np.array([1, 1j, -1, -1j])
    >>> noise = random.normal(size=(500, 4)) + 1j * random.normal(size=(500, 4))
    >>> shapes = square + 0.1 * noise
    >>> shapes -= shapes.mean(axis=-1, keepdims=True)
    >>> shapes /= np.linalg.norm(shapes, axis=-1, keepdims=True)
    >>> release = riemdp.private_procrustes_mean(shapes, riemdp.GDP(1.0))
    >>> release.value["shape"].shape, release.guarantee
    ((4,), GDP(mu=1.0))
    """
    return released_on_sphere(
        ProcrustesMean(),
        points,
        budget,
        Options(**options),
        read=preshapes,
        own=main_preshape,
        label="private_procrustes_mean",
    )
