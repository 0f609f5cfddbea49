"""Planar shapes: up to translation, scale and rotation, and how far one moves their mean."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from riemdp import Ball, NotOnManifoldError, Sphere
from riemdp._errors import UnsupportedManifoldError
from riemdp._part_document import decode, encode
from riemdp.statistics import ProcrustesMean, answer, preshapes
from riemdp.statistics._seen import view_from_centre
from riemdp.statistics._shapes import hermitian_of, landmarks
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

STATISTIC = ProcrustesMean()


def configurations(n, k, seed=0, spread=1.0):
    rng = np.random.default_rng(seed)
    template = np.exp(2j * np.pi * np.arange(k) / k) * np.arange(1, k + 1)
    return template + spread * (rng.normal(size=(n, k)) + 1j * rng.normal(size=(n, k)))


def as_complex(points):
    dim = points.shape[-1] // 2
    return points[..., :dim] + 1j * points[..., dim:]


def centred(configuration):
    found = configuration - configuration.mean(axis=-1, keepdims=True)
    return found / np.linalg.norm(found, axis=-1, keepdims=True)


def whole(k):
    return Ball.whole(Sphere(2 * k - 3))


def exact_parts(points, k, sd=1e-6):
    found = answer(STATISTIC.query(whole(k)), whole(k), preshapes(points), 0.0)
    features = np.array([float(x) for x in found])
    return STATISTIC.parts(view_from_centre(whole(k)), features, sd, 0.0)


def distance(one, other):
    """Full Procrustes distance, as an angle."""
    return math.acos(min(1.0, abs(np.vdot(centred(one), centred(other)))))


@pytest.mark.parametrize("k", [3, 4, 11])
def test_preshapes_are_an_isometry_of_centred_configurations(k):
    points = configurations(12, k)
    found = preshapes(points)
    assert found.shape == (12, 2 * k - 2)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0, rtol=1e-15)
    ours, wanted = as_complex(found), centred(points)
    assert np.allclose(ours @ ours.conj().T, wanted @ wanted.conj().T, atol=1e-13)


@pytest.mark.parametrize("k", [3, 4, 11])
def test_landmarks_invert_them(k):
    for row in configurations(8, k):
        found = landmarks(as_complex(preshapes(row[None]))[0])
        wanted = centred(row)
        assert np.allclose(found, wanted * abs(wanted[0]) / wanted[0], atol=1e-13)
        assert found[0].imag == pytest.approx(0.0, abs=1e-15)
        assert found[0].real > 0.0


def test_a_first_landmark_at_the_centre_is_passed_over():
    found = landmarks(as_complex(preshapes(np.array([[0.0, 1j, -1j]])))[0])
    assert np.allclose(found, [0.0, math.sqrt(0.5), -math.sqrt(0.5)])


def test_similar_configurations_have_one_preshape_up_to_a_phase():
    points = configurations(5, 6)
    moved = 1e3 * np.exp(0.7j) * points + (4e4 - 2e4j)
    one, other = as_complex(preshapes(points)), as_complex(preshapes(moved))
    assert np.allclose(other, np.exp(0.7j) * one, atol=1e-10)
    assert np.allclose(preshapes(1e300 * points), preshapes(points), atol=1e-13)
    assert np.allclose(preshapes(1e-300 * points), preshapes(points), atol=1e-13)


def test_pairs_of_real_numbers_are_taken_too():
    points = configurations(5, 4)
    pairs = np.stack([points.real, points.imag], axis=-1)
    assert preshapes(pairs).tobytes() == preshapes(points).tobytes()
    assert np.allclose(preshapes(points.astype(np.complex64)), preshapes(points), atol=1e-6)
    assert preshapes(np.zeros((0, 4, 2))).shape == (0, 6)


def test_a_preshape_is_one_of_its_configuration_alone():
    points = configurations(30, 5)
    changed = points.copy()
    changed[7] = [1e9, 0.0, 1j, -1.0, 2.0]
    one, other = (np.delete(preshapes(rows), 7, axis=0) for rows in (points, changed))
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([2.0 + 1j] * 4, "row 2 has all its landmarks at one place"),
        ([0.0] * 4, "row 2 has all its landmarks at one place"),
        ([1e8 + 1e-9j, 1e8, 1e8, 1e8], "row 2 has all its landmarks at one place"),
        ([1.0, 2.0, np.nan, 0.0], "row 2 has landmarks that are NaN or infinite"),
        ([1.0, 2.0, np.inf * 1j, 0.0], "row 2 has landmarks that are NaN or infinite"),
    ],
)
def test_what_has_no_shape_is_named(row, message):
    points = configurations(5, 4)
    points[2] = row
    with pytest.raises(NotOnManifoldError, match=message):
        preshapes(points)


@pytest.mark.parametrize(
    "points",
    [np.zeros((3, 2), complex), np.zeros((3, 4)), np.zeros((3, 4, 3)), np.zeros(4, complex)],
    ids=["two landmarks", "real", "space", "one configuration"],
)
def test_other_shapes_of_arrays_are_refused(points):
    with pytest.raises(NotOnManifoldError, match="landmarks must have shape"):
        preshapes(points)


def test_masks_are_refused():
    points = configurations(3, 4)
    for each in (
        np.ma.masked_array(points),
        np.ma.masked_array(points.real),
        points.astype(object),
    ):
        with pytest.raises(NotOnManifoldError, match=r"masked|real numbers"):
            preshapes(each)


def test_half_vectors_are_an_isometry():
    """So that noise of one size in all features has the variance sigma^2 |H|_F^2 along H."""
    rng = np.random.default_rng(0)
    for dim in (2, 3, 6):
        one, other = rng.normal(size=(2, dim**2))
        matrices = [hermitian_of(each, dim, math.sqrt(2.0)) for each in (one, other)]
        assert np.allclose(matrices[0], matrices[0].conj().T)
        inner = np.sum(matrices[0].conj() * matrices[1])
        assert inner == pytest.approx(one @ other, rel=1e-12)


def test_noise_along_a_matrix():
    rng = np.random.default_rng(1)
    along = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3))
    along = along + along.conj().T
    half = rng.normal(size=(20_000, 9))

    def seen():
        matrices = hermitian_of(half, 3, math.sqrt(2.0))
        return np.einsum("nij,ij->n", matrices, along.conj()).real

    found = seen()
    assert abs(found.var() / np.sum(np.abs(along) ** 2) - 1.0) < 4.0 * math.sqrt(2.0 / len(found))
    # negative control: real and imaginary parts as large as the diagonal
    half[:, 3:] *= math.sqrt(2.0)
    found = seen()
    assert found.var() / np.sum(np.abs(along) ** 2) > 1.1


@pytest.mark.parametrize("k", [3, 5])
def test_integers_never_move_farther_than_is_said(k):
    rng = np.random.default_rng(k)
    orthogonal = np.linalg.qr(rng.normal(size=(k - 1, k - 1, 2)) @ [1.0, 1j])[0].T
    z = np.concatenate([orthogonal, as_complex(preshapes(configurations(25, k)))])
    vectors = np.concatenate([z.real, z.imag], axis=1)
    vectors = np.concatenate([vectors, 0.5 * vectors[:3], 1e300 * vectors[:3], 0.0 * vectors[:1]])
    query = STATISTIC.query(whole(k))
    found = [query.rows(whole(k), row[None])[0].tolist() for row in vectors]
    worst = max(
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
        for i, one in enumerate(found)
        for other in found[:i]
    )
    limit = STATISTIC.shape(2 * k - 2).move * 2**80
    assert limit * Fraction(1.0 - 2e-6) <= worst <= limit


def test_the_mean_has_the_least_mean_square():
    """Of sines of distances, which is what full Procrustes analysis minimises."""
    k = 5
    points = configurations(60, k, spread=1.5)
    found = exact_parts(points, k)["shape"]

    def cost(shape):
        return sum(math.sin(distance(row, shape)) ** 2 for row in points)

    rng = np.random.default_rng(3)
    others = [found + 0.05 * (rng.normal(size=k) + 1j * rng.normal(size=k)) for _ in range(20)]
    assert all(cost(other) > cost(found) for other in others)
    assert cost(found) / 60 == pytest.approx(1.0 - exact_parts(points, k)["eigenvalues"][0])


def test_rotations_of_configurations_do_not_count():
    points = configurations(20, 4)
    phases = np.exp(1j * np.arange(20))[:, None]
    one, other = exact_parts(points, 4), exact_parts(phases * points + 3.0, 4)
    assert np.allclose(one["shape"], other["shape"], atol=1e-9)
    assert np.allclose(one["eigenvalues"], other["eigenvalues"], atol=1e-9)


def test_parts():
    found = exact_parts(configurations(300, 4, spread=0.3), 4, sd=0.001)
    assert found["shape"].shape == (4,)
    assert abs(found["shape"].sum()) < 1e-12
    assert np.linalg.norm(found["shape"]) == pytest.approx(1.0)
    assert distance(found["shape"], configurations(1, 4, spread=0.0)[0]) < 0.05
    assert found["shape_significant"]
    assert 0.0 < found["shape_bound"] < 0.1
    noise = configurations(300, 4, spread=1e6)
    assert not exact_parts(noise, 4, sd=0.1)["shape_significant"]


def test_other_spheres_have_no_shapes():
    for dim in (1, 2, 4):
        with pytest.raises(UnsupportedManifoldError, match="shapes of k landmarks"):
            STATISTIC.query(Ball.whole(Sphere(dim)))


def test_it_is_a_statistic():
    sphere = Sphere(3)
    check_part(STATISTIC, ball=Ball(sphere, sphere.origin, 1.0))
    assert decode(encode(STATISTIC)) == STATISTIC
