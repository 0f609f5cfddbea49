"""Arrays of pyRiemann go in and out unchanged, as the page "From pyRiemann" says."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import riemdp

pytest.importorskip("pyriemann", exc_type=ImportError)

MANIFOLDS = [(riemdp.SPDAffineInvariant(4), "riemann"), (riemdp.SPDLogEuclidean(4), "logeuclid")]
both = pytest.mark.parametrize(("manifold", "name"), MANIFOLDS, ids=["affine", "log-euclidean"])


def peer(module, name):
    try:
        package = importlib.import_module(f"pyriemann.geometry.{module}")
    except ImportError:  # before pyriemann 0.9
        package = importlib.import_module(f"pyriemann.utils.{module}")
    return getattr(package, name)


@pytest.fixture
def covariances():
    """Covariances as pyRiemann estimates them from signals."""
    from pyriemann.estimation import Covariances

    signals = np.random.default_rng(0).normal(size=(60, 4, 50))
    return Covariances("scm").transform(signals)


@both
def test_means(manifold, name, covariances):
    before = covariances.copy()
    mean = riemdp.frechet_mean(manifold, covariances).value
    theirs = peer("mean", f"mean_{name}")
    np.testing.assert_allclose(mean, theirs(covariances, **options(name)), atol=1e-9)
    weights = np.arange(1.0, 61.0)
    np.testing.assert_allclose(
        riemdp.frechet_mean(manifold, covariances, weights).value,
        theirs(covariances, sample_weight=weights, **options(name)),
        atol=1e-9,
    )
    np.testing.assert_array_equal(covariances, before)
    other = riemdp.SPDLogEuclidean(4) if name == "riemann" else riemdp.SPDAffineInvariant(4)
    assert np.abs(riemdp.frechet_mean(other, covariances).value - mean).max() > 1e-4


def options(name):
    return {"tol": 1e-10} if name == "riemann" else {}


@both
def test_distances(manifold, name, covariances):
    theirs = peer("distance", f"distance_{name}")
    first = np.broadcast_to(covariances[0], covariances[1:].shape)  # itself from pyriemann 0.12 on
    np.testing.assert_allclose(
        manifold.dist(covariances[1:], covariances[0]), theirs(covariances[1:], first)
    )


def test_tangent_vectors(covariances):
    manifold, base = riemdp.SPDAffineInvariant(4), covariances[0]
    vectors = manifold.log(base, covariances[1:])
    theirs = peer("tangentspace", "log_map_riemann")(covariances[1:], base, C12=True)
    np.testing.assert_allclose(vectors, theirs, atol=1e-10)
    back = peer("tangentspace", "exp_map_riemann")(vectors, base, Cm12=True)
    np.testing.assert_allclose(manifold.exp(base, vectors), back, atol=1e-10)
    from pyriemann.tangentspace import TangentSpace

    coordinates = TangentSpace().fit(covariances)
    features = coordinates.transform(covariances)
    ours = manifold.tangent_coordinates(
        coordinates.reference_, manifold.log(coordinates.reference_, covariances)
    )
    np.testing.assert_allclose(
        np.linalg.norm(ours, axis=-1), np.linalg.norm(features, axis=-1), atol=1e-10
    )


@both
def test_a_release_is_an_array_for_pyriemann(manifold, name, covariances):
    from pyriemann.classification import MDM

    ball = riemdp.Ball(manifold, np.eye(4), 1.0)
    release = riemdp.private_mean(
        covariances, ball, riemdp.ApproxDP(4.0, 1e-5), generator=np.random.default_rng(0)
    )
    assert release.value.shape == covariances.shape[1:]
    assert release.value.dtype == covariances.dtype
    distance = peer("distance", f"distance_{name}")(release.value, np.eye(4))
    assert distance == pytest.approx(float(manifold.dist(np.eye(4), release.value)), rel=1e-9)
    labels = np.repeat([0, 1], 30)
    classifier = MDM(metric=name).fit(covariances, labels)
    assert classifier.predict(release.value[None]).shape == (1,)


def test_float32_is_symmetrised_as_the_page_says(covariances):
    rough = covariances.astype(np.float32)
    rough[0, 0, 1] += 1e-6
    for given in (rough, rough.astype(float)):
        mended = riemdp.SPDLogEuclidean(4).validate(given)
        np.testing.assert_array_equal(mended, mended.swapaxes(-1, -2))


@pytest.mark.parametrize(
    ("space", "name", "power", "factor"),
    [
        (riemdp.SPDLogCholesky(4), "logchol", (), 1.0),
        (riemdp.SPDPower(4, 0.5), "poweuclid", (0.5,), 0.5),  # they divide by the power
        (riemdp.SPDPower(4, 1.0), "euclid", (), 1.0),
    ],
    ids=["log-cholesky", "root", "euclidean"],
)
def test_other_flat_metrics(space, name, power, factor, covariances):
    try:
        distance, mean = peer("distance", f"distance_{name}"), peer("mean", f"mean_{name}")
    except AttributeError:
        pytest.skip("this version of pyRiemann does not have the metric")
    theirs = distance(*covariances[:2], *power)
    assert space.dist(*covariances[:2]) == pytest.approx(factor * theirs, rel=1e-11)
    found = riemdp.frechet_mean(space, covariances).value
    np.testing.assert_allclose(found, mean(covariances, *power), rtol=1e-11, atol=1e-14)
