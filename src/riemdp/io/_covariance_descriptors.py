"""Region covariance descriptors of images: one SPD matrix per image, of bounded radius."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array, positive, real
from riemdp._errors import InvalidParameterError, NotOnManifoldError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from riemdp.spaces import FloatArray

#: Pixels worked on at once: the features of so many stay within a core's cache.
_CHUNK_PIXELS = 1 << 14
#: Unit of rounding, and the relative error allowed for in logarithms of eigenvalues.
_UNIT, _LOG_ERROR = 2.0**-53, 4e-15
#: Number of features, and bound of the largest eigenvalue of their covariance, by channels.
_SIZES = {1: (9, 12.0), 3: (11, 14.0)}


def covariance_descriptors(images: ArrayLike, eta: float) -> FloatArray:
    """Covariance descriptor of every image.

    Each pixel gets the features ``x, y, I, |Ix|, |Iy|, |Ixx|, |Iyy|, sqrt(Ix^2 + Iy^2),
    arctan(|Ix| / |Iy|)``; the descriptor is their covariance over the pixels plus ``eta`` times
    the identity. Every record is computed from its own image alone.

    Parameters
    ----------
    images : array_like, shape (n, H, W) or (n, H, W, 3)
        Grey or RGB images; the number of axes decides, so an array of shape (n, H, 3) holds grey
        images three pixels wide. ``uint8`` values are divided by 255; floats must lie in [0, 1].
    eta : float
        Positive regulariser, and a lower bound of the eigenvalues. A larger one shrinks
        :func:`descriptor_radius` and with it the noise of a private mean. At least 7.7e-13 (grey)
        or 1.1e-12 (RGB): float64 does not carry a smaller one next to the covariance.

    Returns
    -------
    ndarray, shape (n, 9, 9) or (n, 11, 11)
        Symmetric positive definite matrices. In RGB the three channels take the place of ``I``.

    Raises
    ------
    NotOnManifoldError
        If the array is not a stack of images, or an image has a value that is NaN or outside
        [0, 1]. The message names the first such image.
    InvalidParameterError
        If ``eta`` is too small or not finite.

    Notes
    -----
    ``x`` (columns) and ``y`` (rows) run over [0, 1]. Derivatives are those of the grey image, in
    RGB the mean of the channels, which stays in [0, 1]: a Sobel kernel of 3 by 3 over 4 for the
    first order, of 5 by 5 over 32 for the second, with the image mirrored at its edges (the
    edge pixel repeats). Where both derivatives vanish the angle is 0. The covariance divides by
    the number of pixels.

    References
    ----------
    Utpala, Vepakomma, Miolane, "Differentially Private Fréchet Mean on the Manifold of SPD
    Matrices with log-Euclidean Metric", TMLR 2023, section 6.2 and appendix A.5.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> images = np.random.default_rng(0).random((10, 28, 28))
    >>> riemdp.covariance_descriptors(images, eta=0.01).shape
    (10, 9, 9)
    """
    pixels, scale = _check_images(images)
    channels = 1 if pixels.ndim == 3 else 3
    eta = _check_eta(eta, channels)
    n, height, width = pixels.shape[:3]
    count, _ = _SIZES[channels]
    descriptors = np.empty((n, count, count))
    step = max(1, _CHUNK_PIXELS // (height * width))
    for start in range(0, n, step):
        chunk = pixels[start : start + step].astype(np.float64)
        if scale != 1.0:
            chunk /= scale
        _check_range(chunk, start)
        features = _pixel_features(chunk).reshape(len(chunk), count, height * width)
        features -= features.mean(axis=-1, keepdims=True)
        covariance = features @ features.swapaxes(-1, -2)
        # The products of a batched multiplication agree across the diagonal only to rounding.
        covariance += covariance.swapaxes(-1, -2).copy()
        descriptors[start : start + step] = covariance / (2 * height * width)
    # what rounding may have taken off the smallest eigenvalue of a sum of squares
    trace = np.trace(descriptors, axis1=-2, axis2=-1)[:, None]
    lift = (height * width + 8.0) * _UNIT * trace
    descriptors[:, np.arange(count), np.arange(count)] += eta + lift
    return descriptors


def descriptor_radius(eta: float, channels: int) -> float:
    """Log-Euclidean distance from the identity that no covariance descriptor exceeds.

    The covariance is at most the second moment of the features, whose largest eigenvalue is at
    most the mean of their squared norm, and that never exceeds 12 (grey) or 14 (RGB). So the
    eigenvalues lie in ``[eta, 12 + eta]`` (``[eta, 14 + eta]``) for every image: this is a valid
    public radius of a ball about the identity. A centre and radius from public images of the
    same kind are usually much smaller.

    Parameters
    ----------
    eta : float
        Regulariser given to :func:`covariance_descriptors`.
    channels : {1, 3}
        1 for grey images (9 by 9 descriptors), 3 for RGB (11 by 11).

    Returns
    -------
    float
        ``sqrt(9) max(|ln eta|, ln(12 + eta))`` or ``sqrt(11) max(|ln eta|, ln(14 + eta))``,
        rounded up.

    Raises
    ------
    InvalidParameterError
        If ``eta`` is too small or not finite, or ``channels`` neither 1 nor 3.

    References
    ----------
    Utpala, Vepakomma, Miolane, TMLR 2023, Theorem 5, with the constants of its proof in
    appendix A.5. Proof: docs/proofs/covariance-descriptors.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> images = np.random.default_rng(0).random((10, 28, 28))
    >>> radius = riemdp.descriptor_radius(0.01, channels=1)
    >>> ball = riemdp.Ball(riemdp.SPDLogEuclidean(9), np.eye(9), radius)
    >>> bool(ball.contains(riemdp.covariance_descriptors(images, 0.01)).all())
    True
    """
    if real(channels, "channels") not in (1.0, 3.0):
        raise InvalidParameterError(f"channels must be 1 (grey) or 3 (RGB), got {channels}")
    eta = _check_eta(eta, int(channels))
    features, largest = _SIZES[int(channels)]
    radius = math.sqrt(features) * max(abs(math.log(eta)), math.log(largest + eta))
    return math.nextafter(radius * (1.0 + _LOG_ERROR), math.inf)


def _pixel_features(images: FloatArray) -> FloatArray:
    """Features of every pixel: ``(n, H, W[, 3])`` to ``(n, 9 or 11, H, W)``."""
    n, height, width = images.shape[:3]
    channels = 1 if images.ndim == 3 else 3
    features = np.empty((n, channels + 8, height, width))
    features[:, 0] = np.linspace(0.0, 1.0, width)
    features[:, 1] = np.linspace(0.0, 1.0, height)[:, None]
    if channels == 1:
        features[:, 2] = grey = images
    else:
        features[:, 2:5] = np.moveaxis(images, -1, 1)
        grey = images.mean(axis=-1)
    first_x, first_y, second_x, second_y, norm, angle = np.moveaxis(features[:, -6:], 1, 0)
    padded = np.pad(grey, ((0, 0), (2, 2), (2, 2)), mode="symmetric")
    # All kernels are separable, and [1, 4, 6, 4, 1] / 16 is [1, 2, 1] / 4 twice.
    smooth_y, smooth_x = _smooth(padded, 1), _smooth(padded, 2)
    np.abs(smooth_y[:, 1:-1, 3:-1] - smooth_y[:, 1:-1, 1:-3], out=first_x)
    np.abs(smooth_x[:, 3:-1, 1:-1] - smooth_x[:, 1:-3, 1:-1], out=first_y)
    smooth_y, smooth_x = _smooth(smooth_y, 1), _smooth(smooth_x, 2)
    across = 0.5 * (smooth_y[:, :, 4:] + smooth_y[:, :, :-4]) - smooth_y[:, :, 2:-2]
    np.abs(across, out=second_x)
    across = 0.5 * (smooth_x[:, 4:] + smooth_x[:, :-4]) - smooth_x[:, 2:-2]
    np.abs(across, out=second_y)
    np.sqrt(first_x**2 + first_y**2, out=norm)
    np.arctan2(first_x, first_y, out=angle)
    return features


def _smooth(images: FloatArray, axis: int) -> FloatArray:
    """Binomial filter [1, 2, 1] / 4 along an axis, which loses a pixel at both ends."""
    rolled = np.moveaxis(images, axis, 0)
    smoothed = 0.25 * (rolled[:-2] + rolled[2:]) + 0.5 * rolled[1:-1]
    return np.moveaxis(smoothed, 0, axis)


def _check_eta(eta: float, channels: int) -> float:
    advice = "about 0.1 gives a moderate radius"
    eta = positive(eta, "eta", advice)
    count, largest = _SIZES[channels]
    least = 64.0 * count * _UNIT * largest  # an eigenvalue solver errs by less
    if eta < least:
        raise InvalidParameterError(
            f"eta must be at least {least:.2g}, as rounding of a covariance of up to "
            f"{largest:g} would hide it, got {eta:g}; {advice}"
        )
    return eta


def _check_images(images: ArrayLike) -> tuple[NDArray[Any], float]:
    """Check axes and type; return the raw stack and what its values are divided by."""
    stack = plain_array(images, "images", error=NotOnManifoldError)
    if stack is None:
        raise NotOnManifoldError("images must be one array; all have to be of one size")
    if stack.ndim not in (3, 4) or (stack.ndim == 4 and stack.shape[3] != 3):
        raise NotOnManifoldError(
            f"images must have shape (n, H, W) (grey) or (n, H, W, 3) (RGB), got {stack.shape}; "
            "for a single image add a leading axis"
        )
    if 0 in stack.shape[1:]:
        raise NotOnManifoldError(f"images need at least one pixel, got shape {stack.shape}")
    if stack.dtype == np.uint8:
        return stack, 255.0
    if stack.dtype.kind != "f":
        raise NotOnManifoldError(
            f"images must be uint8 or floats in [0, 1], got {stack.dtype}; "
            "divide by the largest value of the format"
        )
    return stack, 1.0


def _check_range(images: FloatArray, start: int) -> None:
    """Raise for the first image with a value that is NaN or outside [0, 1]."""
    if images.min() >= 0.0 and images.max() <= 1.0:  # False if there is a NaN
        return
    inside = ((images >= 0.0) & (images <= 1.0)).all(axis=tuple(range(1, images.ndim)))
    raise NotOnManifoldError(
        f"row {start + int(np.argmin(inside))} has pixel values that are NaN or outside [0, 1]"
    )
