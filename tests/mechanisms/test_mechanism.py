"""What all mechanisms have in common."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import riemdp
from riemdp import _errors as errors
from riemdp import research
from riemdp.mechanisms import (
    MECHANISMS,
    Mechanism,
    RiemannianGaussian,
    RiemannianLaplace,
    TangentGaussian,
    TangentLaplace,
    TangentMechanism,
    WrappedGaussian,
    WrappedLaplace,
)
from riemdp.privacy import GDP, ZCDP, ApproxDP, PureDP
from riemdp.research import GeneralizedGaussian, RestrictedLaplace
from riemdp.spaces import (
    Ball,
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
)

FLAT = [Euclidean(1), Euclidean(3), SPDLogEuclidean(2)]
CURVED = [Sphere(1, 2.0), Sphere(2), Sphere(3, 4.0), Hyperbolic(2), Hyperbolic(3, -0.5)]


def center(manifold):
    if isinstance(manifold, Euclidean):
        return np.zeros(manifold.dim)
    if isinstance(manifold, (SPDLogEuclidean, SPDAffineInvariant)):
        return np.eye(manifold.k)
    point = np.zeros(manifold.dim + 1)
    point[0] = 1.0 / math.sqrt(abs(manifold.curvature))
    return point


def near(manifold, coordinates):
    """Point with these normal coordinates about the centre."""
    base = center(manifold)
    return manifold.exp(base, manifold.tangent_vector(base, coordinates))


def all_mechanisms(sigma=0.1):
    for manifold in FLAT + CURVED:
        yield RiemannianLaplace(manifold, sigma)
        yield RiemannianGaussian(manifold, sigma)
        yield TangentGaussian(manifold, sigma, base=center(manifold))
        yield TangentLaplace(manifold, sigma, base=center(manifold))
    for wrapped in (WrappedGaussian, WrappedLaplace):
        yield wrapped(Hyperbolic(2), sigma, base=center(Hyperbolic(2)))
    for tangent in (TangentGaussian, TangentLaplace):
        yield tangent(Euclidean(3), sigma)
        yield tangent(SPDAffineInvariant(2), sigma, base=np.eye(2))


every_mechanism = pytest.mark.parametrize("mechanism", list(all_mechanisms()), ids=str)


def test_names():
    assert dict(MECHANISMS) == {
        "riemannian-laplace": RiemannianLaplace,
        "riemannian-gaussian": RiemannianGaussian,
        "tangent-gaussian": TangentGaussian,
        "tangent-laplace": TangentLaplace,
        "wrapped-gaussian": WrappedGaussian,
        "wrapped-laplace": WrappedLaplace,
    }
    with pytest.raises(TypeError):
        MECHANISMS["mine"] = RiemannianLaplace


@pytest.mark.fast(12)
@every_mechanism
def test_shapes_of_draws_and_densities(mechanism):
    shape = mechanism.manifold.point_shape
    generator = np.random.default_rng(0)
    one = center(mechanism.manifold)
    batch = np.stack([one, one, one])
    assert research.sample(mechanism, one, generator=generator).shape == shape
    assert research.sample(mechanism, one, 2, generator).shape == (2, *shape)
    assert research.sample(mechanism, one, np.int64(2), generator).shape == (2, *shape)
    assert research.sample(mechanism, batch, (2, 4), generator).shape == (2, 4, 3, *shape)
    draws = research.sample(mechanism, batch, 2, generator)
    mechanism.manifold.validate(draws)
    assert mechanism.log_density(draws, one).shape == (2, 3)
    assert mechanism.log_density(one, one).shape == ()


@pytest.mark.fast(12)
@every_mechanism
def test_the_same_seed_gives_the_same_draw_and_none_gives_another(mechanism):
    one = center(mechanism.manifold)
    first = research.sample(mechanism, one, 3, np.random.default_rng(5))
    np.testing.assert_array_equal(
        first, research.sample(mechanism, one, 3, np.random.default_rng(5))
    )
    assert not np.array_equal(
        research.sample(mechanism, one, 3), research.sample(mechanism, one, 3)
    )


@every_mechanism
def test_two_equal_mechanisms(mechanism):
    options = {}
    if getattr(mechanism, "base", None) is not None:
        options["base"] = mechanism.base.copy()
    again = type(mechanism)(mechanism.manifold, mechanism.sigma, **options)
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    assert again != type(mechanism)(mechanism.manifold, 2.0 * mechanism.sigma, **options)
    assert mechanism != "mechanism"
    with pytest.raises(AttributeError):
        mechanism.sigma = 1.0


@every_mechanism
def test_what_is_proved_and_how_sensitivities_are_measured(mechanism):
    assert mechanism.proven is True
    flat = isinstance(mechanism.manifold, (Euclidean, SPDLogEuclidean))
    tangent = isinstance(mechanism, TangentMechanism) and not flat
    curved = "coordinates" if tangent else "distance"
    assert flat or mechanism.metric == curved


@every_mechanism
def test_error_law_and_its_scale(mechanism):
    quantiles = [mechanism.error_quantile(q) for q in (0.0, 0.5, 0.95, 0.999)]
    assert quantiles[0] == 0.0
    assert np.all(np.diff(quantiles) > 0.0)
    assert quantiles[1] < mechanism.expected_distance() * 1.2
    assert mechanism.expected_distance() < quantiles[2]
    with pytest.raises(errors.InvalidParameterError, match=r"\[0, 1\]"):
        mechanism.error_quantile(1.5)


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("kind", MECHANISMS.values())
def test_sigma_outside_its_domain(kind, sigma):
    with pytest.raises(errors.InvalidParameterError, match="sigma"):
        kind(Euclidean(2), sigma)


@pytest.mark.parametrize("kind", MECHANISMS.values())
def test_what_is_no_manifold(kind):
    with pytest.raises(errors.InvalidParameterError, match="riemdp manifold"):
        kind("sphere", 1.0)
    with pytest.raises(errors.InvalidParameterError, match="riemdp manifold"):
        kind.calibrate("sphere", 1.0, GDP(1.0))


@pytest.mark.parametrize("kind", MECHANISMS.values())
def test_bad_calls_of_calibrate(kind):
    for sensitivity in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(errors.InvalidParameterError, match="sensitivity"):
            kind.calibrate(Euclidean(2), sensitivity, GDP(1.0))
    with pytest.raises(errors.InvalidBudgetError, match="cannot calibrate"):
        kind.calibrate(Euclidean(2), 1.0, 1.0)
    with pytest.raises(TypeError):
        kind.calibrate(Euclidean(2), 1.0, GDP(1.0), flavour="vanilla")
    for sensitivity in (0.0, math.nan):
        with pytest.raises(errors.InvalidParameterError, match="sensitivity"):
            kind(Euclidean(2), 1.0).privacy(sensitivity)


@every_mechanism
def test_a_footpoint_off_the_manifold(mechanism):
    bad = np.full(mechanism.manifold.point_shape, np.nan)
    with pytest.raises(errors.NotOnManifoldError):
        research.sample(mechanism, bad)


budgets = st.one_of(
    st.builds(ApproxDP, st.floats(1e-3, 50.0), st.floats(-100.0, -0.5).map(lambda e: 10.0**e)),
    st.builds(GDP, st.floats(1e-3, 50.0)),
    st.builds(ZCDP, st.floats(1e-5, 500.0), st.floats(0.0, 1.0)),
    st.builds(PureDP, st.floats(1e-3, 50.0)),
)


def check_calibration(kind, sensitivity, budget):
    gaussian = kind in (RiemannianGaussian, TangentGaussian, WrappedGaussian)
    if gaussian and isinstance(budget, PureDP):
        with pytest.raises(errors.InvalidBudgetError, match="no pure epsilon"):
            kind.calibrate(Euclidean(2), sensitivity, budget)
        return
    mechanism = kind.calibrate(Euclidean(2), sensitivity, budget)
    assert mechanism.privacy(sensitivity).satisfies(budget)
    if kind in (TangentLaplace, WrappedLaplace) and isinstance(budget, ApproxDP):
        return  # a pure mechanism leaves the delta unused
    # mu of the Riemannian Laplace is known up to the width of its bracket
    by_mu = kind is RiemannianLaplace and isinstance(budget, (GDP, ZCDP))
    less = kind(Euclidean(2), mechanism.sigma * (1.0 - (1e-3 if by_mu else 1e-8)))
    assert not less.privacy(sensitivity).satisfies(budget)
    assert not mechanism.privacy(2.0 * sensitivity).satisfies(budget)


calibrations = (st.sampled_from(list(MECHANISMS.values())), st.floats(1e-6, 1e3), budgets)


@settings(deadline=None, max_examples=60)
@given(*calibrations)
def test_calibrated_noise_satisfies_the_budget_and_is_not_more_than_needed(
    kind, sensitivity, budget
):
    check_calibration(kind, sensitivity, budget)


@pytest.mark.slow
@settings(deadline=None, max_examples=1000)
@given(*calibrations)
def test_many_calibrations_satisfy_the_budget_and_are_not_more_than_needed(
    kind, sensitivity, budget
):
    check_calibration(kind, sensitivity, budget)


def test_calibration_is_exact_where_it_can_be():
    assert RiemannianLaplace.calibrate(Sphere(2), 0.25, PureDP(0.5)).sigma == 0.5
    margin = 1.0 + 2.0**-40  # of scales on R^d
    assert TangentLaplace.calibrate(Euclidean(2), 0.25, PureDP(0.5)).sigma == 0.5 * margin
    assert TangentGaussian.calibrate(Euclidean(2), 0.25, GDP(0.5)).sigma == 0.5 * margin
    assert TangentGaussian.calibrate(Euclidean(2), 1.0, ZCDP(0.5)).sigma == margin


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Mechanism(Euclidean(2), 1.0)


def test_noise_beyond_float64_is_not_attainable():
    with pytest.raises(riemdp.NotAttainableError, match="float64"):
        riemdp.RiemannianLaplace.calibrate(riemdp.Euclidean(1), 1e75, riemdp.PureDP(1e-240))


@pytest.mark.parametrize("size", [-1, 2.5, "ab", (2.5,), True, (3, -1)])
def test_bad_sizes_are_named_before_anything_is_drawn(size):
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    ball = riemdp.Ball(riemdp.Sphere(2), [0, 0, 1], 0.5)
    mechanisms = [
        riemdp.RiemannianLaplace(ball.manifold, 1.0),
        RestrictedLaplace(ball.manifold, 1.0, ball=ball),
        riemdp.RiemannianGaussian(ball.manifold, 1.0),
        riemdp.TangentGaussian(ball.manifold, 1.0, base=ball.center),
        riemdp.TangentLaplace(riemdp.SPDLogEuclidean(2), 1.0),
    ]
    for mechanism in mechanisms:
        with pytest.raises(riemdp.InvalidParameterError, match="size"):
            research.sample(mechanism, mechanism.manifold.origin, size, generator)
    assert generator.bit_generator.state == before


@pytest.mark.parametrize("bad", [np.array([1.0, 2.0]), "arc", None])
@pytest.mark.parametrize(
    "mechanism",
    [
        TangentGaussian(Euclidean(2), 1.0),
        TangentLaplace(Euclidean(2), 1.0),
        RiemannianLaplace(Sphere(2), 1.0),
        RiemannianGaussian(Sphere(2), 1.0),
        RiemannianGaussian(Euclidean(2), 1.0),
        riemdp.research.GeneralizedGaussian(1.0, 0.4),
    ],
)
def test_a_distance_of_laws_that_is_no_name_is_refused(mechanism, bad):
    with pytest.raises(errors.InvalidParameterError, match="distance"):
        mechanism.rao(1.0, bad)


def _scales():
    """Sensitivities and scales whose quotients round down half of the time."""
    exponents = np.random.default_rng(5).uniform(-8.0, 8.0, (100, 2))
    return [(float(a), float(b)) for a, b in np.exp(exponents)]


@pytest.mark.parametrize(
    ("build", "parameter", "factor"),
    [
        (lambda s: TangentGaussian(Euclidean(3), s), lambda m, d: m.privacy(d).mu(), 1),
        (lambda s: TangentGaussian(Euclidean(1), s), lambda m, d: m.privacy(d).mu(), 1),
        (lambda s: TangentGaussian(Euclidean(3), s), lambda m, d: m.rao(d, "parametric").theta, 1),
        (lambda s: TangentLaplace(Euclidean(1), s), lambda m, d: m.privacy(d).pure_epsilon(), 1),
        (lambda s: TangentLaplace(Euclidean(3), s), lambda m, d: m.privacy(d).pure_epsilon(), 1),
        (lambda s: TangentLaplace(Euclidean(1), s), lambda m, d: m.rao(d, "parametric").theta, 1),
        (lambda s: RiemannianLaplace(Euclidean(1), s), lambda m, d: m.privacy(d).pure_epsilon(), 1),
        (
            lambda s: RiemannianLaplace(Euclidean(1001), s),
            lambda m, d: m.privacy(d).pure_epsilon(),
            1,
        ),
        (
            lambda s: RestrictedLaplace(Euclidean(2), s, ball=Ball(Euclidean(2), np.zeros(2), 1.0)),
            lambda m, d: m.privacy(d).pure_epsilon(),
            2,
        ),
        (lambda s: RiemannianGaussian(Euclidean(2), s), lambda m, d: m.privacy(d).mu(), 1),
        (
            lambda s: RiemannianGaussian(Euclidean(2), s),
            lambda m, d: m.rao(d, "parametric").theta,
            1,
        ),
        (lambda s: GeneralizedGaussian(s, 1.0), lambda m, d: m.privacy(d).pure_epsilon(), 1),
    ],
)
def test_the_parameter_is_never_under_the_exact_quotient(build, parameter, factor):
    rounded_down = 0
    for sensitivity, sigma in _scales():
        exact = factor * Fraction(sensitivity) / Fraction(sigma)
        assert Fraction(parameter(build(sigma), sensitivity)) >= exact
        rounded_down += Fraction(factor * sensitivity / sigma) < exact
    assert rounded_down > 10  # negative control: the quotient of floats


@pytest.mark.parametrize("of", ["mu", "theta"])
def test_the_generalised_gaussian_of_power_2_is_never_under_the_exact_one(of):
    rounded_down = 0
    with mpmath.workdps(40):
        for sensitivity, sigma in _scales():
            mechanism = GeneralizedGaussian(sigma, 2.0)
            mu = mechanism.privacy(sensitivity).mu()
            theta = mechanism.rao(sensitivity, "parametric").theta
            exact = mpmath.sqrt(2) * mpmath.mpf(sensitivity) / sigma
            assert mpmath.mpf(mu if of == "mu" else theta) >= exact
            rounded_down += mpmath.mpf(math.sqrt(2.0) * (sensitivity / sigma)) < exact
    assert rounded_down > 10  # negative control
