import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import RiemannianLaplace, TangentGaussian, TangentLaplace
from riemdp.privacy import ApproxDP
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

SPACES = [
    Euclidean(3),
    SPDLogEuclidean(2),
    Sphere(2),
    Sphere(2, 4.0),
    Hyperbolic(2),
    Hyperbolic(1),
    SPDAffineInvariant(2),
]
CURVED = [manifold for manifold in SPACES if not isinstance(manifold, (Euclidean, SPDLogEuclidean))]
every_space = pytest.mark.parametrize("manifold", SPACES, ids=str)
every_curved = pytest.mark.parametrize("manifold", CURVED, ids=str)
both = pytest.mark.parametrize("kind", [TangentGaussian, TangentLaplace])


@pytest.mark.parametrize("manifold", [Euclidean(3), SPDLogEuclidean(2)], ids=str)
def test_on_flat_spaces_the_base_has_no_effect(manifold, base_of, near):
    footpoint = near(manifold, 0.3 * np.ones(manifold.dim))
    for kind in (TangentGaussian, TangentLaplace):
        free, bound = kind(manifold, 0.2), kind(manifold, 0.2, base=base_of(manifold))
        assert free.metric == bound.metric == "coordinates"
        np.testing.assert_array_equal(
            research.sample(free, footpoint, 5, np.random.default_rng(1)),
            research.sample(bound, footpoint, 5, np.random.default_rng(1)),
        )
    laplace = RiemannianLaplace(manifold, 0.2)
    points = near(manifold, np.random.default_rng(0).standard_normal((50, manifold.dim)))
    np.testing.assert_allclose(
        TangentLaplace(manifold, 0.2).log_density(points, footpoint),
        laplace.log_density(points, footpoint),
        rtol=1e-12,
        atol=1e-12,
    )


@every_curved
@both
def test_on_curved_spaces_a_base_is_required(kind, manifold, base_of):
    mechanism = kind(manifold, 0.2, base=base_of(manifold))
    assert mechanism.metric == "coordinates"
    with pytest.raises(errors.InvalidParameterError, match=r"needs base="):
        kind(manifold, 0.2)
    with pytest.raises(errors.InvalidParameterError, match=r"needs base="):
        kind.calibrate(manifold, 0.2, ApproxDP(0.5, 1e-6))


@both
def test_a_bad_base(kind):
    with pytest.raises(errors.NotOnManifoldError, match="norm"):
        kind(Sphere(2), 0.2, base=[1.0, 1.0, 0.0])
    with pytest.raises(errors.NotOnManifoldError, match="one point"):
        kind(Sphere(2), 0.2, base=np.eye(3))
    with pytest.raises(errors.NotOnManifoldError):
        kind(Euclidean(2), 0.2, base=[0.0, 0.0, 0.0])


@both
def test_the_base_is_kept_apart_from_the_caller(kind):
    base = np.array([1.0, 0.0, 0.0])
    mechanism = kind(Sphere(2), 0.2, base=base)
    base[0] = -1.0
    assert mechanism.base[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        mechanism.base[0] = 2.0
    assert mechanism != kind(Sphere(2), 0.2, base=base)


@pytest.mark.parametrize("manifold", [Hyperbolic(2), SPDAffineInvariant(2)], ids=str)
@both
def test_draws_without_coordinates_are_refused(kind, manifold, base_of):
    mechanism = kind(manifold, 1e6, base=base_of(manifold))
    with pytest.raises(errors.NotAttainableError, match="too far out"):
        research.sample(mechanism, base_of(manifold), 100, np.random.default_rng(0))


def test_the_antipode_of_the_base_has_no_logarithm(base_of):
    mechanism = TangentGaussian(Sphere(2), 0.1, base=base_of(Sphere(2)))
    with pytest.raises(errors.CutLocusError):
        research.sample(mechanism, -base_of(Sphere(2)))
