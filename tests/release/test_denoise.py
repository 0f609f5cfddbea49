"""Fields with less noise: risk, shells, masks, and what is refused."""

import math

import numpy as np
import pytest
import scipy

from riemdp import (
    GDP,
    Denoised,
    Euclidean,
    InvalidParameterError,
    Power,
    Product,
    ProductBall,
    PureDP,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    UnsupportedError,
    private_mean,
    verify,
)
from riemdp.release._denoise import _shares, _shells, wiener

SHAPE = (8, 6, 4)
VOXELS = math.prod(SHAPE)
PLACES = np.stack(np.unravel_index(np.arange(VOXELS), SHAPE), axis=-1)


def field(size):
    """A smooth field of 6 numbers, of this root mean square in each voxel."""
    x = (PLACES + 0.5) / SHAPE
    waves = [np.cos(np.pi * x @ k) for k in ([1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1])]
    found = np.stack([*waves, np.full(VOXELS, 0.5), x[:, 0]], axis=-1)
    return size * found / math.sqrt(np.square(found).sum(axis=-1).mean())


def squared(values):
    return float(np.square(values).sum(axis=-1).mean())


def estimated(signal, draws, seed=0, **options):
    random = np.random.default_rng(seed)
    for _ in range(draws):
        yield wiener(signal + random.normal(size=signal.shape), 1.0, SHAPE, **options)


@pytest.mark.parametrize("size", [0.0, 0.3, 1.0, 3.0, 30.0])
def test_the_risk_is_never_more_than_that_of_the_noise(size):
    rough = np.random.default_rng(1).normal(size=(VOXELS, 6)) * size / math.sqrt(6)
    for signal, share in ((field(size), 0.5), (rough, 1.0)):
        risk = np.mean([squared(found - signal) for found, _ in estimated(signal, 20)])
        assert risk < share * 6.0 * 1.02
    # the control: shrinkage that ignores what is there is worse than none on a large signal
    if size >= 3.0:
        noisy = rough + np.random.default_rng(2).normal(size=rough.shape)
        assert squared(wiener(noisy, 2.0, SHAPE)[0] - rough) > 6.0


def test_without_signal_little_is_left_of_each_shell():
    draws = list(estimated(np.zeros((VOXELS, 6)), 20))
    shells = len(draws[0][1])
    left = np.mean([squared(found) * VOXELS for found, _ in draws])
    assert 0.5 * shells < left < 2.0 * shells
    assert left < 0.02 * 6.0 * VOXELS


def test_without_noise_nothing_changes():
    signal = field(1.0)
    found, kept = wiener(signal, 1e-9, SHAPE)
    np.testing.assert_allclose(found, signal, atol=1e-12)
    assert kept[0] == pytest.approx(1.0)
    np.testing.assert_array_equal(wiener(np.zeros((VOXELS, 6)), 0.0, SHAPE)[0], 0.0)


def test_error_falls_with_the_smoothness_of_the_field():
    smooth, rough = field(1.0), np.random.default_rng(4).permutation(field(1.0))
    errors = [
        np.mean([squared(found - signal) for found, _ in estimated(signal, 10)])
        for signal in (smooth, rough)
    ]
    assert errors[0] < 0.1 * 6.0
    assert errors[0] < 0.6 * errors[1]


def test_masked_voxels_share_the_noise():
    inside = np.square((PLACES + 0.5) / SHAPE - 0.5).sum(axis=-1) < 0.16
    places = np.ravel_multi_index(tuple(PLACES[inside].T), SHAPE)
    count = int(inside.sum())
    assert 0.2 * VOXELS < count < 0.6 * VOXELS
    random, left, kept_of_full = np.random.default_rng(5), [], []
    for _ in range(30):
        noise = random.normal(size=(count, 6))
        found, _ = wiener(noise, 1.0, SHAPE, places)
        left.append(squared(found))
        full = np.zeros((VOXELS, 6))
        full[places] = noise
        # the control: the variance of a full array is too much for voxels that do not fill it
        kept_of_full.append(wiener(full, 1.0, SHAPE)[1].sum())
        assert found.shape == (count, 6)
    assert np.mean(left) < 0.05 * 6.0
    assert np.mean(left) > 0.0
    assert np.mean(kept_of_full) < 0.1
    signal = field(3.0)[inside]
    risk = [
        squared(wiener(signal + random.normal(size=signal.shape), 1.0, SHAPE, places)[0] - signal)
        for _ in range(10)
    ]
    assert np.mean(risk) < 0.7 * 6.0


def released(space=SPDLogEuclidean(3), budget=GDP(1.0), n=200, **options):  # noqa: B008
    ball = ProductBall(Power(space, VOXELS), space.origin, rms_radius=0.8)
    points = np.repeat(ball.point(field(0.5)[:, : space.dim].reshape(1, -1)), n, axis=0)
    return private_mean(points, ball, budget, generator=np.random.default_rng(7), **options)


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    ("space", "options"),
    [
        (SPDLogEuclidean(3), {}),
        (SPDAffineInvariant(3), {"mechanism": "tangent-gaussian"}),
    ],
    ids=["flat", "curved"],
)
def test_releases_are_denoised_and_stay_as_they_are(space, options):
    release = released(space, **options)
    before = release.to_json()
    found = release.denoise("wiener", grid=SHAPE)
    assert release.to_json() == before
    assert verify(found.release).passed
    truth = release.ball.point(field(0.5).reshape(-1))
    far = [
        np.sqrt(np.square(space.dist(truth, value)).mean())
        for value in (release.value, found.value)
    ]
    assert far[1] < 0.6 * far[0]
    assert found.shape == SHAPE
    assert found.noise_deviation == pytest.approx(release.sigma)
    assert "biased" in found.warnings[0]
    assert not any("biased" in warning for warning in release.warnings[:1])
    again = Release.from_json(before).denoise(grid=SHAPE)
    assert isinstance(again, Denoised)
    np.testing.assert_array_equal(again.value, found.value)
    by_places = release.denoise(grid=PLACES - 3)
    np.testing.assert_allclose(by_places.value, found.value, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "uint64"])
def test_coordinates_as_far_apart_as_their_type_allows(kind):
    """Differences of small integers may be larger than these are."""
    release, ends = released(Euclidean(3), n=20), np.iinfo(kind)
    places = np.zeros((VOXELS, 2), dtype=kind)
    places[:, 0] = [ends.min + (ends.max - ends.min) * i // (VOXELS - 1) for i in range(VOXELS)]
    if ends.bits == 64:
        with pytest.raises(InvalidParameterError, match="more than"):
            release.denoise(grid=places)
        places[:, 0] = [ends.max - i for i in range(VOXELS)]
        same = np.c_[VOXELS - np.arange(VOXELS), np.zeros(VOXELS, int)]
    else:
        same = places.astype(np.int64)
    found, wanted = (release.denoise(grid=grid).value for grid in (places, same))
    np.testing.assert_array_equal(found, wanted)


def test_what_has_no_known_noise_is_refused():
    release = released(Euclidean(3), n=20)
    for grid in ((8, 6), (8, 6, 5), 3, "8", PLACES[:5], np.zeros((VOXELS, 2), int), (8.0, 24.0)):
        with pytest.raises(InvalidParameterError):
            release.denoise(grid=grid)
    with pytest.raises(InvalidParameterError, match="wiener"):
        release.denoise("median", grid=SHAPE)
    with pytest.raises(UnsupportedError, match="shrunk"):
        release.shrink().denoise(grid=SHAPE)
    with pytest.raises(UnsupportedError, match="Gaussian"):
        released(Euclidean(3), PureDP(1.0), n=20).denoise(grid=SHAPE)
    with pytest.raises(UnsupportedError, match="one answer"):
        released(Euclidean(3), n=20, adjacency="add-remove").denoise(grid=SHAPE)
    several = Product(Euclidean(1), Euclidean(2))
    ball = ProductBall(several, several.origin, rms_radius=1.0)
    alone = private_mean(np.zeros((9, 3)), ball, GDP(1.0), generator=np.random.default_rng(0))
    with pytest.raises(UnsupportedError, match="one space several times"):
        alone.denoise(grid=(2,))


def test_noise_on_masked_voxels_against_the_basis():
    shape, random = (5, 4), np.random.default_rng(8)
    mask = (random.random(shape) < 0.6).astype(float)
    waves = [scipy.fft.dct(np.eye(size), axis=0, norm="ortho") for size in shape]
    basis = np.kron(*waves)
    np.testing.assert_allclose(basis @ basis.T, np.eye(20), atol=1e-12)
    wanted = np.square(basis) @ mask.ravel()
    np.testing.assert_allclose(_shares(mask).ravel(), wanted, atol=1e-12)
    np.testing.assert_allclose(_shares(np.ones(shape)), 1.0, atol=1e-12)
    assert np.abs(wanted - mask.mean()).max() > 0.05  # the control: it is not the same in all


@pytest.mark.parametrize(
    ("shape", "numbers"), [((8, 6, 4), 6), ((50,), 1), ((7, 3), 2), ((1, 5), 1)]
)
def test_every_shell_has_enough_numbers(shape, numbers):
    shells = _shells(shape, numbers)
    sizes = np.bincount(shells) * numbers
    assert sizes.min() >= 4
    assert sizes.sum() == math.prod(shape) * numbers
    lengths = np.sqrt(
        sum(np.square(k / size) for k, size in zip(np.indices(shape), shape, strict=True))
    )
    order = np.argsort(lengths.ravel(), kind="stable")
    assert np.all(np.diff(shells[order]) >= 0)


def test_its_text_says_that_it_is_biased():
    space = Power(Euclidean(1), 4)
    ball = ProductBall(space, np.zeros((4, 1)), rms_radius=1.0)
    release = private_mean(np.zeros((50, 4, 1)), ball, GDP(1.0), mechanism="tangent-gaussian")
    found = release.denoise(grid=(2, 2))
    assert str(found).startswith("Denoised field of 2 x 2 means")
    assert "it is biased" in str(found)
    assert f"{found.noise_deviation:.4g} in a coordinate" in str(found)
    assert "0.0000000" not in found._repr_html_()
