"""Private statistics of directions, axes, rotations and planar shapes, which need no ball."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array, real_entries
from riemdp._errors import InvalidParameterError, NotOnManifoldError, RiemdpError, UnsupportedError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.kernel import in_tiles, on_grid, rows_for
from riemdp.release._options import (
    Options,
    check_listed,
    list_of_people,
    number_of_people,
    with_options,
)
from riemdp.release._run import run
from riemdp.release._streams import chunks_of, is_stream
from riemdp.release._unopened import check_shapes, public_size
from riemdp.spaces import Ball, Sphere, above_diagonal, unvecd
from riemdp.statistics import (
    DirectionalMoments,
    MeanRotation,
    ProcrustesMean,
    Records,
    as_records,
    of_each,
    one_for_each,
    owners_of,
    preshapes,
    shortened,
    unit_quaternions,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from riemdp.privacy import Budget
    from riemdp.release._options import ReleaseOptions
    from riemdp.release._release import Release
    from riemdp.spaces import FloatArray
    from riemdp.statistics import Neighbours, Statistic


# One direction, axis or shape for each person, of all that person's records.


@dataclass(frozen=True)
class Own:
    """How one unit vector is made of several.

    Attributes
    ----------
    features : callable
        Of unit vectors (n, N), as vectors (n, m) of norm 1.
    vector : callable
        Unit vectors (k, N) of means of features (k, m), or what is not of norm 1 where they have
        none in common.
    """

    features: Callable[[FloatArray], FloatArray]
    vector: Callable[[FloatArray], FloatArray]


def own_directions(
    points: FloatArray, users: NDArray[Any], own: Own, fallback: FloatArray
) -> FloatArray:
    """Return one unit vector for each person, shape (people, N), of that person's records alone.

    Of unit vectors, shape (n, N), and whose each is. ``fallback`` is the public one of those
    whose records have none in common.
    """
    ball = Ball.whole(Sphere(points.shape[1] - 1))

    def rows(some: FloatArray) -> NDArray[np.int64]:
        return on_grid(shortened(own.features(some), 1.0))

    def made(means: FloatArray) -> FloatArray:
        found, lost = of_each(ball, own.vector, means, record=own.features(fallback[None])[0])
        is_one = np.abs(np.sqrt(np.square(found).sum(axis=1)) - 1.0) < _ONE
        return np.where((is_one & ~lost)[:, None], found, fallback)

    return one_for_each(
        owners_of(users),
        points.__getitem__,
        lambda which: of_each(ball, rows, points[which])[0],
        made,
    )


def _along(means: FloatArray) -> FloatArray:
    length = np.sqrt(np.square(means).sum(axis=1, keepdims=True))
    return means / np.where(length > 0.0, length, 1.0)


def _products(vectors: NDArray[Any]) -> FloatArray:
    products = vectors[:, :, None] * vectors[:, None, :].conj()
    rows, columns = above_diagonal(vectors.shape[1])
    above = _WEIGHT * products[:, rows, columns]
    parts = [np.einsum("nii->ni", products.real), above.real]
    return np.concatenate([*parts, above.imag] if np.iscomplexobj(above) else parts, axis=1)


def _axis(means: FloatArray) -> FloatArray:
    dim = (math.isqrt(8 * means.shape[1] + 1) - 1) // 2
    return np.ascontiguousarray(np.linalg.eigh(unvecd(means, dim))[1][:, :, -1])


def _complex_products(vectors: FloatArray) -> FloatArray:
    real, imaginary = np.split(vectors, 2, axis=-1)
    return _products(real + 1j * imaginary)


def _complex_axis(means: FloatArray) -> FloatArray:
    dim = math.isqrt(means.shape[1])
    rows, columns = above_diagonal(dim)
    real, imaginary = np.split(means, [dim + len(rows)], axis=1)
    matrices = unvecd(real, dim) + 0j
    matrices.imag[:, rows, columns] = imaginary / _WEIGHT
    matrices.imag[:, columns, rows] = -imaginary / _WEIGHT
    found = np.linalg.eigh(matrices)[1][:, :, -1]
    return np.concatenate([found.real, found.imag], axis=1)


#: What is above a diagonal counts twice.
_WEIGHT = math.sqrt(2.0)
#: By how much the norm of a unit vector differs from 1, at most.
_ONE = 1e-6
#: The direction of the sum of vectors.
MEAN_DIRECTION = Own(lambda vectors: vectors, _along)
#: The leading eigenvector of the mean of ``x x^T``: no sign of a vector counts.
MAIN_AXIS = Own(_products, _axis)
#: That of the mean of ``z z*``: no phase of a vector counts. Rows, shape (m, 2 k), hold real parts,
#: then imaginary parts; so does the result.
MAIN_PRESHAPE = Own(_complex_products, _complex_axis)


# Releases of what needs no ball: unit vectors, anywhere on their sphere.


def released_on_sphere(
    statistic: Statistic,
    points: Any,
    budget: Budget,
    options: Options,
    *,
    read: Callable[[Any], FloatArray],
    own: Own,
    label: str,
    width: int | None = None,
) -> Release:
    """Release a statistic of unit vectors; see :func:`riemdp.private_statistic`.

    ``read`` returns a unit vector for each of several records, which are as users have them, and
    ``own`` that of one person, of those of all own records. ``width`` is the number of entries of
    a vector, where every record has as many.
    """
    users, n = options.users, options.n
    has_users = users is not None
    related = options.relation(budget, has_users=has_users)
    if related.adds:
        raise UnsupportedError(
            "a person counts with one direction, axis, rotation or shape: leave out contribution"
        )
    if is_stream(points, related):
        chunks: Any = chunks_of(points, n if related.size_is_public else None)
        made = functools.partial(_read_twice, chunks.read, read) if chunks.read else read
        records = Records(replace(chunks, read=made), users=users)
        width = width or _width_of(chunks.shape, made)
    else:

        @functools.cache
        def opened() -> tuple[FloatArray, Any]:
            return _rows(points, read, own, related, options)

        late: Any = (lambda: opened()[0], lambda: opened()[1])
        records = Records(late[0], users=None if users is None else late[1])
        if options.accountant is None:  # the caller holds the data
            width = opened()[0].shape[1]
        width = width or _width(points, read)
        check_shapes(Records(points, users=users), None, None if has_users else n)
        if not has_users:
            n = public_size(as_records(points), related, n)
    ball = Ball.whole(Sphere(width - 1))
    averaged = has_users and "users" in related.takes
    chosen = replace(
        options,
        adjacency=related,
        users=None,
        contribution=1,
        people=None if options.people is None else number_of_people(options.people),
        n=n,
        averaged=averaged,
    )
    return run(lambda *_: statistic, records, ball, budget, chosen, label=label)


def _read_twice(
    own: Callable[[Any], Any], read: Callable[[Any], FloatArray], points: Any
) -> FloatArray:
    """Make rows of what the function of the chunks makes of points."""
    return read(own(points))


def _width(points: Any, read: Callable[[Any], FloatArray]) -> int:
    """Return how many entries a row will have, from the shape of all alone."""
    shape = getattr(points, "shape", None)
    if not isinstance(shape, tuple) or len(shape) < 2:
        raise InvalidParameterError(
            "only the shape of the data is looked at before an account is charged: give a NumPy "
            "array"
        )
    any_ = np.random.default_rng(0).normal(size=(1, *shape[1:]))
    is_complex = len(shape) == 2 and np.iscomplexobj(points)
    return int(read(any_ + 1j if is_complex else any_).shape[1])


def _width_of(shape: tuple[int, ...] | None, read: Callable[[Any], FloatArray]) -> int:
    """Return how many entries a row of chunks will have, from their public shape."""
    if shape is None:
        raise InvalidParameterError(
            "chunks are not opened to see how large the space is: say the public shape of a "
            "point, Chunks(parts, n=..., shape=...)"
        )
    any_ = np.random.default_rng(0).normal(size=(1, *shape))
    try:
        return int(read(any_).shape[1])
    except RiemdpError:
        return int(read(any_ + 1j).shape[1])  # landmarks in the plane


def _rows(
    points: Any,
    read: Callable[[Any], FloatArray],
    own: Own,
    related: Neighbours,
    options: Options,
) -> tuple[FloatArray, Any]:
    """Return a row for each record, or for each person, and whose they are."""
    given = plain_array(points, "points", error=NotOnManifoldError)
    if not related.keeps_places and given is not None and given.ndim > 0:
        read(given[:1])  # what has another shape is refused without a word of how many there are
    rows = read(points)
    if given is not None and len(rows):  # the same, but each by itself
        rows, _ = in_tiles(read, [given], [given[0]], rows_for(given.shape[1:]))
    users, listed = options.users, list_of_people(options.people)
    if users is None or "users" not in related.takes:
        return rows, users
    ball = Ball.whole(Sphere(rows.shape[1] - 1))
    records = Records(rows, users=users).validated(ball.manifold, tells_number=False)
    found, ids = np.asarray(records.points), np.asarray(records.users)
    if listed is not None:
        check_listed(ids, listed)
    rows = own_directions(found, ids, own, ball.center)
    return rows, list(range(len(rows)))


# Private statistics of directions, axes, rotations and planar shapes, which need no ball.


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
        own=MAIN_AXIS if statistic == DirectionalMoments(2) else MEAN_DIRECTION,
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
        own=MAIN_AXIS,
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
        own=MAIN_PRESHAPE,
        label="private_procrustes_mean",
    )
