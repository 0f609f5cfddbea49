"""Fields of means with less noise: post-processing of a release, at no cost of privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from riemdp._array_fields import ArrayFields
from riemdp._checks import count, is_one_of, kind_of, shown
from riemdp._described import Described, digits
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._progress import work
from riemdp.release._shrink import gaussian_deviation
from riemdp.statistics import Answer, through

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from riemdp.release._release import Release
    from riemdp.spaces import FloatArray

#: Fewest numbers of a shell: from so many on its shrinkage is never worse than none.
_LEAST = 4
#: Most places of an array that voxels are put into.
_PLACES = 2**28


@dataclass(frozen=True, eq=False)
class Denoised(ArrayFields, Described):
    """A field of means with less noise than its release, and biased.

    Attributes
    ----------
    value : ndarray, shape (voxels, *point_shape)
        Estimates, in the form in which users write points.
    method : {"wiener"}
        How they were computed.
    shape : tuple of int
        Of the array of voxels.
    noise_deviation : float
        Public standard deviation of the noise of one coordinate of one mean.
    kept : ndarray, shape (shells,)
        What is left of each shell, from the longest waves to the shortest: between 0 and 1.
    release : Release
        What it was computed from: the guarantee, and what :func:`riemdp.verify` checks, are its.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> space = riemdp.Power(riemdp.Euclidean(1), 16)  # one number for each of 16 voxels
    >>> ball = riemdp.ProductBall(space, space.origin, rms_radius=1.0)
    >>> release = riemdp.private_mean(
    ...     np.full((200, 16, 1), 0.5), ball, riemdp.GDP(1.0), mechanism="tangent-gaussian"
    ... )
    >>> smooth = release.denoise(grid=(4, 4))
    >>> smooth.value.shape, smooth.method
    ((16, 1), 'wiener')
    """

    value: NDArray[Any]
    method: str
    shape: tuple[int, ...]
    noise_deviation: float
    kept: FloatArray = field(repr=False)
    release: Release = field(repr=False)

    def __post_init__(self) -> None:
        self._seal()

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        few, many = (digits(float(kept)) for kept in (self.kept[-1], self.kept[0]))
        return f"Denoised field of {' x '.join(map(str, self.shape))} means", [
            ("value", digits(self.value)),
            ("method", f"{self.method}: {many} of the longest waves kept, {few} of the shortest"),
            ("noise", f"standard deviation {self.noise_deviation:.4g} in a coordinate before"),
            ("guarantee", f"{self.release.guarantee}, that of the release"),
            *(("warning", text) for text in self.warnings),
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the value is used: its own first, then those of the release."""
        return (
            "the field was denoised: it is biased, its errors are those of neighbours too, and "
            "they have not the law of the noise. Take means of regions, and all inference, from "
            "the release",
            *self.release.warnings,
        )


@work("denoise")
def denoised(release: Release, method: Literal["wiener"], grid: ArrayLike) -> Denoised:
    """Return the field of a release with less noise; see :meth:`Release.denoise`."""
    if not is_one_of(method, ("wiener",)):
        raise InvalidParameterError(f'method must be "wiener", got {shown(method)}')
    statistic, answers, query = release.statistic, release._answers, release.offer.last.query
    if release.shrunk:
        raise UnsupportedError(
            "the release was shrunk: its noise is not known any more; denoise the release as it "
            "was before shrink()"
        )
    if len(release.scales) != 1 or query.sums:
        raise UnsupportedError(
            f"the {statistic.name} is no single answer with its noise added; denoise a release of "
            'one answer, under replace-one, such as private_mean(..., mechanism="tangent-gaussian")'
        )
    factors = answers.manifold.factors
    copies = len(factors)
    if copies == 1 or any(space != factors[0] for space in factors[1:]):
        raise UnsupportedError(
            f"{answers.manifold} is not one space several times: there is no field of means to "
            "denoise; release on Power(space, voxels)"
        )
    deviation = gaussian_deviation(release.mechanism, answers)
    noisy = release._on_grid.values().reshape(copies, -1)
    shape, places = _places(grid, copies)
    smooth, kept = wiener(noisy, deviation, shape, places)
    smoothed = Answer(answers.point(smooth.reshape(-1)), math.nan)
    found = through(statistic, release.ball, lambda _: smoothed)
    value = np.asarray(found.ball.manifold.present(found.raw))
    return Denoised(value, method, shape, deviation, kept, release)


def _places(grid: Any, copies: int) -> tuple[tuple[int, ...], NDArray[np.int64] | None]:
    """Shape of the array of voxels, and where in it each of them lies; None where it is full."""
    try:
        given = np.asarray(grid)
    except ValueError:
        given = np.empty(())
    if given.dtype.kind not in "iu" or given.ndim not in (1, 2):
        raise InvalidParameterError(
            "grid must be the shape of the array of voxels, or their integer coordinates of shape "
            f"(voxels, axes), got {kind_of(grid)}"
        )
    if given.ndim == 1:
        shape = tuple(count(size, "grid, the shape of the voxels,") for size in given.tolist())
        if math.prod(shape) != copies:
            raise InvalidParameterError(
                f"an array of shape {shape} has {math.prod(shape)} voxels, and the release has "
                f"{copies} means; give the coordinates of the voxels if they do not fill an array"
            )
        return shape, None
    if len(given) != copies or given.shape[1] == 0:
        raise InvalidParameterError(
            f"grid must have one row of coordinates for each of {copies} means, got shape "
            f"{given.shape}"
        )
    ends = zip(given.min(axis=0).tolist(), given.max(axis=0).tolist(), strict=True)
    shape = tuple(last - first + 1 for first, last in ends)
    if not 0 < math.prod(shape) <= _PLACES:
        raise InvalidParameterError(
            f"an array of shape {shape} is needed for these coordinates, more than {_PLACES} "
            "places; denoise parts of the field by themselves"
        )
    wide = given if given.dtype.kind == "u" else given.astype(np.int64)
    from_first = (wide - wide.min(axis=0)).astype(np.int64)
    places = np.ravel_multi_index(tuple(from_first.T), shape)
    if len(np.unique(places)) != copies:
        raise InvalidParameterError("two voxels have the same coordinates; each mean needs its own")
    return shape, places


def wiener(
    noisy: FloatArray,
    deviation: float,
    shape: Sequence[int],
    places: NDArray[np.int64] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Shrink a field shell by shell of its cosine transform; see docs/proofs/denoising.md.

    In each shell of wavelengths the mean square of what was released, less that of the noise, is
    what is left for the signal; the shell is multiplied by its share, 0 where nothing is left.

    The field, shape (voxels, d), has white noise of this standard deviation; ``places`` are those
    of its voxels in the flat array, outside of which it is taken to be 0. Returns the smooth field,
    and what is kept of each shell, shape (shells,).
    """
    axes = tuple(range(len(shape)))
    full = np.zeros((math.prod(shape), noisy.shape[1]))
    where = slice(None) if places is None else places
    full[where] = noisy
    waves = scipy.fft.dctn(full.reshape(*shape, -1), axes=axes, norm="ortho")
    shells = _shells(shape, noisy.shape[1])
    number = np.bincount(shells) * noisy.shape[1]
    energy = np.bincount(shells, np.square(waves).sum(axis=-1).ravel())
    share = np.ones(len(shells))
    if places is not None:
        mask = np.zeros(math.prod(shape))
        mask[places] = 1.0
        share = _shares(mask.reshape(shape)).ravel()
    noise = deviation * deviation * noisy.shape[1] * np.bincount(shells, share)
    left = np.maximum(energy - noise, 0.0)
    kept = np.divide(left, energy, out=np.zeros(len(number)), where=energy > 0.0)
    waves *= kept[shells].reshape(*shape, 1)
    smooth = scipy.fft.idctn(waves, axes=axes, norm="ortho").reshape(-1, noisy.shape[1])
    return smooth[where], kept


def _shells(shape: Sequence[int], numbers: int) -> NDArray[np.int64]:
    """Shell of each wave, by the root of the sum of squares of its frequencies.

    A shell is as wide as the lowest frequency of the longest axis, or wider, so that it holds a few
    numbers.
    """
    squares = [np.square(np.arange(size) / size) for size in shape]
    total = np.sqrt(np.sum(np.meshgrid(*squares, indexing="ij"), axis=0)).ravel()
    shells = np.floor(total * max(shape) + 0.5).astype(np.int64)
    sizes = np.bincount(shells) * numbers
    merged, current, held = np.zeros(len(sizes), dtype=np.int64), 0, 0
    for shell, size in enumerate(sizes.tolist()):
        if held >= _LEAST and size:
            current, held = current + 1, 0
        merged[shell] = current
        held += size
    if held < _LEAST and current:  # the last one is too small
        merged[merged == current] = current - 1
    return np.asarray(merged[shells])


def _shares(mask: FloatArray) -> FloatArray:
    """Variance of each wave of white noise of variance 1 on the voxels alone."""
    found = mask
    for axis, size in enumerate(mask.shape):
        squares = np.square(scipy.fft.dct(np.eye(size), axis=0, norm="ortho"))
        found = np.moveaxis(np.tensordot(squares, found, (1, axis)), 0, axis)
    return np.asarray(found)
