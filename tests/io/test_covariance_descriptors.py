from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy

from riemdp._errors import InvalidParameterError, NotOnManifoldError
from riemdp.io import _covariance_descriptors as module
from riemdp.io import covariance_descriptors, descriptor_radius

SOBEL_X = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]]) / 4
SOBEL_XX = (
    np.array(
        [
            [1, 0, -2, 0, 1],
            [4, 0, -8, 0, 4],
            [6, 0, -12, 0, 6],
            [4, 0, -8, 0, 4],
            [1, 0, -2, 0, 1],
        ]
    )
    / 32
)


def slow_descriptor(image, eta):
    """One image, one pixel at a time, with the kernels as the paper prints them."""
    grey = image if image.ndim == 2 else image.mean(axis=-1)
    derivatives = [
        np.abs(scipy.signal.convolve2d(grey, kernel, mode="same", boundary="symm"))
        for kernel in (SOBEL_X, SOBEL_X.T, SOBEL_XX, SOBEL_XX.T)
    ]
    height, width = grey.shape
    rows = []
    for i in range(height):
        for j in range(width):
            ix, iy, ixx, iyy = (float(derivative[i, j]) for derivative in derivatives)
            angle = 0.0 if ix == 0 else math.pi / 2 if iy == 0 else math.atan(ix / iy)
            position = [j / max(width - 1, 1), i / max(height - 1, 1)]
            colours = [float(value) for value in np.atleast_1d(image[i, j])]
            rows.append([*position, *colours, ix, iy, ixx, iyy, math.hypot(ix, iy), angle])
    features = np.array(rows)
    centred = features - features.mean(axis=0)
    return centred.T @ centred / len(rows) + eta * np.eye(features.shape[1])


def log_norm(descriptors):
    return np.linalg.norm(np.log(np.linalg.eigvalsh(descriptors)), axis=-1)


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (1, 6), (6, 1), (2, 2), (1, 1), (28, 28)])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_agrees_with_the_definition(shape, channels):
    images = np.random.default_rng(1).random((3, *shape, *channels))
    expected = np.array([slow_descriptor(image, 0.3) for image in images])
    np.testing.assert_allclose(covariance_descriptors(images, 0.3), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kernel", [SOBEL_X.T, 1.01 * SOBEL_X, SOBEL_X**2])
def test_comparison_sees_a_wrong_kernel(kernel, monkeypatch):
    image = np.random.default_rng(2).random((7, 5))
    monkeypatch.setitem(globals(), "SOBEL_X", kernel)
    difference = covariance_descriptors(image[None], 0.3)[0] - slow_descriptor(image, 0.3)
    assert np.abs(difference).max() > 1e-4


def test_chunks_do_not_show(monkeypatch):
    images = np.random.default_rng(3).random((11, 4, 6))
    whole = covariance_descriptors(images, 0.1)
    monkeypatch.setattr(module, "_CHUNK_PIXELS", 50)
    # Not to the last bit: some kernels round by the place in memory, or by the shape of the batch.
    np.testing.assert_allclose(covariance_descriptors(images, 0.1), whole, rtol=0, atol=1e-14)


def test_an_image_does_not_see_its_neighbours():
    images = np.random.default_rng(4).random((9, 5, 5))
    alone = np.concatenate([covariance_descriptors(image[None], 0.1) for image in images])
    np.testing.assert_allclose(covariance_descriptors(images, 0.1), alone, rtol=0, atol=1e-14)


def test_symmetric_to_the_last_bit():
    descriptors = covariance_descriptors(np.random.default_rng(5).random((50, 8, 8)), 0.1)
    np.testing.assert_array_equal(descriptors, descriptors.swapaxes(-1, -2))


def test_uint8_is_divided_by_255():
    images = np.random.default_rng(6).integers(0, 256, (4, 6, 6), dtype=np.uint8)
    expected = covariance_descriptors(images / 255.0, 0.1)
    np.testing.assert_array_equal(covariance_descriptors(images, 0.1), expected)
    single = covariance_descriptors((images / 255.0).astype(np.float32), 0.1)
    np.testing.assert_allclose(single, expected, rtol=0, atol=1e-6)


def test_the_input_is_left_alone():
    images = np.random.default_rng(7).random((3, 4, 4))
    before = images.copy()
    covariance_descriptors(images, 0.1)
    np.testing.assert_array_equal(images, before)


def test_grey_image_as_rgb():
    grey = np.random.default_rng(8).random((5, 6, 7))
    rgb = covariance_descriptors(np.repeat(grey[..., None], 3, axis=-1), 0.2)
    same = [0, 1, 2, 5, 6, 7, 8, 9, 10]
    np.testing.assert_allclose(
        rgb[:, same][:, :, same], covariance_descriptors(grey, 0.2), rtol=0, atol=1e-14
    )
    # Beside the regulariser the three channels are one and the same.
    without = rgb - 0.2 * np.eye(11)
    block = np.broadcast_to(without[:, 2:3, 2:3], (5, 3, 3))
    np.testing.assert_allclose(without[:, 2:5, 2:5], block, rtol=0, atol=1e-14)


def test_the_rank_decides_between_grey_and_rgb():
    images = np.random.default_rng(9).random((4, 5, 3))
    assert covariance_descriptors(images, 0.1).shape == (4, 9, 9)
    assert covariance_descriptors(images[None], 0.1).shape == (1, 11, 11)
    assert covariance_descriptors(images[:0], 0.1).shape == (0, 9, 9)


def test_constant_image_keeps_only_the_positions():
    descriptor = covariance_descriptors(np.full((1, 3, 3), 0.7), 0.1)[0]
    expected = 0.1 * np.eye(9)
    expected[[0, 1], [0, 1]] += 1 / 6  # variance of {0, 1/2, 1}
    np.testing.assert_allclose(descriptor, expected, rtol=0, atol=1e-14)


def adversarial_images(rng, channels):
    """Checkerboards, stripes and steps of all periods, blocks, random binary and flat images."""
    i, j = np.mgrid[0:12, 0:12]
    images = [np.zeros((12, 12)), np.ones((12, 12))]
    for period in (1, 2, 3, 4, 6):
        images += [(i // period + j // period) % 2, i // period % 2, j // period % 2]
        images += [(i >= period) * 1, (j >= period) * 1, ((i >= period) & (j >= period)) * 1]
    images += [*rng.integers(0, 2, (200, 12, 12)), *rng.random((50, 12, 12))]
    images += [*np.repeat(np.repeat(rng.integers(0, 2, (100, 6, 6)), 2, axis=1), 2, axis=2)]
    grey = np.array(images, dtype=float)
    if channels == 1:
        return grey
    return np.stack([grey, rng.permutation(grey), np.clip(1 - grey, 0, 1)], axis=-1)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("eta", [1e-6, 0.01, 0.1, 1.0, 5.0])
def test_radius_is_never_exceeded(eta, channels):
    images = adversarial_images(np.random.default_rng(10), channels)
    norms = log_norm(covariance_descriptors(images, eta))
    assert norms.max() <= descriptor_radius(eta, channels)


@pytest.mark.parametrize("channels", [1, 3])
def test_eigenvalues_stay_in_the_proved_interval(channels):
    images = adversarial_images(np.random.default_rng(11), channels)
    eigenvalues = np.linalg.eigvalsh(covariance_descriptors(images, 0.1))
    assert eigenvalues.min() >= 0.1 - 1e-13
    assert eigenvalues.max() <= (12 if channels == 1 else 14) + 0.1


@pytest.mark.parametrize("channels", [1, 3])
def test_a_single_pixel_reaches_the_radius(channels):
    image = np.full((1, 1, 1) if channels == 1 else (1, 1, 1, 3), 0.4)
    descriptor = covariance_descriptors(image, 1e-3)
    np.testing.assert_array_equal(descriptor[0], 1e-3 * np.eye(8 + channels))
    assert log_norm(descriptor)[0] == pytest.approx(descriptor_radius(1e-3, channels), rel=1e-14)


@pytest.mark.parametrize("channels", [1, 3])
def test_an_eta_that_float64_does_not_carry_is_refused(channels):
    least = 64 * (8 + channels) * 2.0**-53 * (12 if channels == 1 else 14)
    images = adversarial_images(np.random.default_rng(13), channels)
    for eta in (1e-300, 1e-17, 0.99 * least):
        with pytest.raises(InvalidParameterError, match=r"eta must be at least .* got .* 0\.1"):
            covariance_descriptors(images, eta)
        with pytest.raises(InvalidParameterError, match="eta must be at least"):
            descriptor_radius(eta, channels)
    descriptors = covariance_descriptors(images, least)
    assert np.linalg.eigvalsh(descriptors).min() > 0.5 * least
    assert log_norm(descriptors).max() <= descriptor_radius(least, channels) + 0.1
    # negative control: at 1e-17 the covariances alone are not positive definite
    bare = descriptors - least * np.eye(8 + channels)
    assert np.linalg.eigvalsh(bare - 1e-13 * np.eye(8 + channels)).min() < 0.0


@pytest.mark.fast(2)
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("eta", [1e-9, 0.05, 1.0, 1e8, 1e16, 1e300])
def test_radius_and_eigenvalues_hold_to_the_last_bit(eta, channels):
    shape = (40, 2, 2) if channels == 1 else (40, 2, 2, 3)
    images = np.random.default_rng(14).random(shape)
    radius = mpmath.mpf(descriptor_radius(eta, channels))
    with mpmath.workdps(40):
        features, largest = (9, 12) if channels == 1 else (11, 14)
        logs = max(abs(mpmath.log(eta)), mpmath.log(mpmath.mpf(eta) + largest))
        assert radius >= mpmath.sqrt(features) * logs
        for descriptor in covariance_descriptors(images, eta)[:6]:  # of rank 3 but for eta
            values = mpmath.eigsy(mpmath.matrix(descriptor.tolist()), eigvals_only=True)
            assert min(values) >= mpmath.mpf(eta) * (1 - mpmath.mpf(2) ** -52)
            assert mpmath.sqrt(sum(mpmath.log(v) ** 2 for v in values)) <= radius


def test_without_the_lift_the_smallest_eigenvalue_falls_short(monkeypatch):
    images = np.random.default_rng(14).random((6, 2, 2))
    monkeypatch.setattr(module, "_UNIT", 0.0)
    short = 0
    with mpmath.workdps(40):
        for descriptor in covariance_descriptors(images, 1e-9):
            values = mpmath.eigsy(mpmath.matrix(descriptor.tolist()), eigvals_only=True)
            short += min(values) < mpmath.mpf(1e-9) * (1 - mpmath.mpf(2) ** -52)
    assert short > 0


def test_a_smaller_constant_is_exceeded():
    # Negative control: with sqrt(7) in place of sqrt(9) the bound no longer holds.
    images = adversarial_images(np.random.default_rng(12), 1)[:, :1, :2]
    norms = log_norm(covariance_descriptors(images, 1e-6))
    assert norms.max() > math.sqrt(7 / 9) * descriptor_radius(1e-6, 1)


def test_radius_values():
    assert descriptor_radius(1e-6, 1) == pytest.approx(3 * 6 * math.log(10), rel=1e-14)
    assert descriptor_radius(0.1, 1) == pytest.approx(3 * math.log(12.1), rel=1e-14)
    assert descriptor_radius(0.1, 3) == pytest.approx(math.sqrt(11) * math.log(14.1), rel=1e-14)


@pytest.mark.parametrize("eta", [0.0, -0.1, math.nan, math.inf, "x", None, True])
def test_bad_eta(eta):
    with pytest.raises(InvalidParameterError, match="eta must be"):
        covariance_descriptors(np.zeros((1, 4, 4)), eta)
    with pytest.raises(InvalidParameterError, match="eta must be"):
        descriptor_radius(eta, 1)


def test_masked_images_are_refused():
    images = np.ma.masked_array(np.full((1, 4, 4), 0.5), mask=np.eye(4, dtype=bool))
    with pytest.raises(NotOnManifoldError, match="masked"):
        covariance_descriptors(images, 0.1)


@pytest.mark.parametrize("channels", [0, 2, 4, -1, True, "3", None, [1]])
def test_bad_channels(channels):
    with pytest.raises(InvalidParameterError, match="channels must be"):
        descriptor_radius(0.1, channels)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, -1e-9, 1 + 1e-9, 255.0])
@pytest.mark.parametrize("row", [0, 17])
def test_bad_values_name_the_row_and_nothing_else(bad, row, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK_PIXELS", 64)
    images = np.random.default_rng(13).random((20, 4, 4))
    images[row:, 2, 3] = bad
    with pytest.raises(NotOnManifoldError) as error:
        covariance_descriptors(images, 0.1)
    assert str(error.value) == f"row {row} has pixel values that are NaN or outside [0, 1]"


@pytest.mark.parametrize("shape", [(4, 4), (), (3, 4, 4, 1), (3, 4, 4, 4), (2, 3, 4, 4, 3)])
def test_bad_shape(shape):
    with pytest.raises(NotOnManifoldError, match=r"shape \(n, H, W\)"):
        covariance_descriptors(np.zeros(shape), 0.1)


def test_other_bad_input():
    with pytest.raises(NotOnManifoldError, match="at least one pixel"):
        covariance_descriptors(np.zeros((3, 0, 4)), 0.1)
    zeros = np.zeros((2, 4, 4))
    for images in (zeros.astype(int), zeros.astype(str), zeros * 1j, zeros > 0):
        with pytest.raises(NotOnManifoldError, match="uint8 or floats"):
            covariance_descriptors(images, 0.1)
    with pytest.raises(NotOnManifoldError, match="of one size"):
        covariance_descriptors([np.zeros((4, 4)), np.zeros((5, 5))], 0.1)
