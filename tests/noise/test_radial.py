from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from riemdp._errors import InvalidParameterError, NotAttainableError
from riemdp.noise import RadialLaw
from riemdp.research._isotropic import radii

LAWS = [
    ("laplace", 1, 1.0, 0.5),
    ("gaussian", 1, 1.0, 2.0),
    ("laplace", 1, 0.0, 0.5),
    ("laplace", 2, 1.0, 0.3),
    ("gaussian", 2, -1.0, 0.7),
    ("laplace", 2, -1.0, 0.9),
    ("laplace", 3, 4.0, 0.3),
    ("gaussian", 3, 1.0, 1e3),
    ("gaussian", 3, -0.25, 3.0),
    ("laplace", 9, 1.0, 0.2),
    ("laplace", 9, -1.0, 0.1),
    ("gaussian", 9, 0.0, 0.4),
    ("gaussian", 20, -1.0, 0.5),
    ("laplace", 20, 1.0, 1.0),
    ("gaussian", 100, 1.0, 0.1),
    ("laplace", 100, -1.0, 0.009),
    ("laplace", 100, 0.0, 0.3),
    ("gaussian", 1, -1.0, 0.3),
    ("laplace", 2, 1.0, 1e-4),
    ("gaussian", 9, -1.0, 1e-4),
]


def _law(kind: str, dim: int, curvature: float, sigma: float) -> RadialLaw:
    end = math.pi / math.sqrt(curvature) if curvature > 0 else math.inf
    return RadialLaw(kind, dim, curvature, sigma, end)


class Reference:
    """The law by adaptive quadrature in 30 digits, from its definition alone."""

    def __init__(self, law: RadialLaw) -> None:
        self.law = law
        self.k = mpmath.sqrt(abs(mpmath.mpf(law.curvature)))
        low, middle, high = (float(x) for x in law.quantile([1e-13, 0.5, 1 - 1e-13]))
        # cut where the integrand is below 1e-25 of its peak: log-concave, so tails only shrink
        width = high - middle
        end = min(high + 3 * width, law.upper)
        marks = {0.0, max(low - middle / 4, 0.0), low, middle, high, end}
        for q in (1e-6, 0.01, 0.2, 0.8, 0.99, 1 - 1e-6):
            marks.add(float(law.quantile(q)))
        self.marks = sorted(marks)
        self.shift = self.log_density(mpmath.mpf(middle))
        self.mass = self.integral(lambda _: 1, self.marks)

    def log_density(self, r):
        law = self.law
        if law.dim == 1:
            growth = mpmath.mpf(0)
        elif law.curvature > 0:
            growth = mpmath.log(mpmath.sin(self.k * r) / self.k)
        elif law.curvature < 0:
            growth = mpmath.log(mpmath.sinh(self.k * r) / self.k)
        else:
            growth = mpmath.log(r)
        ratio = r / mpmath.mpf(law.sigma)
        return (law.dim - 1) * growth - (ratio if law.kind == "laplace" else ratio**2 / 2)

    def integral(self, weight, marks):
        def integrand(r):
            return weight(r) * mpmath.exp(self.log_density(r) - self.shift) if r else mpmath.mpf(0)

        return mpmath.quad(integrand, marks)

    def cdf(self, r: float):
        return self.integral(lambda _: 1, [m for m in self.marks if m < r] + [r]) / self.mass

    def sf(self, r: float):
        return self.integral(lambda _: 1, [r] + [m for m in self.marks if m > r]) / self.mass


@pytest.mark.fast(1)
@pytest.mark.parametrize(("kind", "dim", "curvature", "sigma"), LAWS)
def test_against_30_digits(kind, dim, curvature, sigma):
    law = _law(kind, dim, curvature, sigma)
    with mpmath.workdps(30):
        reference = Reference(law)
        for q in (1e-9, 0.3, 1 - 1e-6):
            r = float(law.quantile(q))
            assert float(law.cdf(r)) == pytest.approx(float(reference.cdf(r)), rel=1e-12)
            assert float(law.sf(r)) == pytest.approx(float(reference.sf(r)), rel=2e-12)
            log_pdf = reference.log_density(r) - reference.shift - mpmath.log(reference.mass)
            assert float(law.log_pdf(r)) == pytest.approx(float(log_pdf), rel=1e-12, abs=1e-12)
        mean = reference.integral(lambda r: r, reference.marks) / reference.mass
        square = reference.integral(lambda r: r * r, reference.marks) / reference.mass
        assert law.mean() == pytest.approx(float(mean), rel=1e-12)
        assert law.mean_square() == pytest.approx(float(square), rel=1e-12)
        area = 2 * mpmath.pi ** (mpmath.mpf(dim) / 2) / mpmath.gamma(mpmath.mpf(dim) / 2)
        total = mpmath.log(area * reference.mass) + reference.shift
        assert law.log_normaliser() == pytest.approx(float(total), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("dim", [1, 2, 9, 1000])
def test_flat_moments(kind: str, dim: int):
    law = RadialLaw(kind, dim, 0.0, 0.3)
    if kind == "laplace":
        assert law.mean() == pytest.approx(dim * 0.3)
        assert law.mean_square() == pytest.approx(dim * (dim + 1) * 0.09)
    else:
        assert law.mean() == pytest.approx(0.3 * scipy.stats.chi(dim).mean())
        assert law.mean_square() == pytest.approx(dim * 0.09)


def test_flat_normalisers():
    assert RadialLaw("gaussian", 3, 0.0, 2.0).log_normaliser() == pytest.approx(
        1.5 * math.log(2 * math.pi * 4.0)
    )
    assert RadialLaw("laplace", 1, 0.0, 2.0).log_normaliser() == pytest.approx(math.log(4.0))
    assert RadialLaw("laplace", 2, 0.0, 2.0).log_normaliser() == pytest.approx(
        math.log(2 * math.pi * 4.0)
    )


def test_wide_laws_on_a_sphere_are_uniform():
    # exp(-U) is 1 to within 1e-8, so the normaliser is the area of the sphere
    law = _law("gaussian", 2, 1.0, 1e4)
    assert law.log_normaliser() == pytest.approx(math.log(4 * math.pi), abs=1e-7)
    assert law.mean() == pytest.approx(math.pi / 2, abs=1e-7)
    far = RadialLaw("laplace", 2, -1.0, 1e9, 0.5)
    assert far.log_normaliser() == pytest.approx(
        math.log(2 * math.pi * (math.cosh(0.5) - 1)), abs=1e-8
    )


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("dim", [1, 2, 9, 1000])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_curvature_four_is_the_unit_law_at_half_the_lengths(kind, dim, sign):
    sigma = 0.4 / max(dim - 1, 1)
    unit = _law(kind, dim, sign, 2 * sigma)
    law = _law(kind, dim, 4.0 * sign, sigma)
    q = np.array([1e-6, 0.1, 0.5, 0.9, 1 - 1e-6])
    np.testing.assert_allclose(2 * law.quantile(q), unit.quantile(q), rtol=1e-12)
    assert 2 * law.mean() == pytest.approx(unit.mean(), rel=1e-12)
    assert law.log_normaliser() + dim * math.log(2) == pytest.approx(unit.log_normaliser())
    first = radii(law, 1000, np.random.default_rng(3))
    second = radii(unit, 1000, np.random.default_rng(3))
    np.testing.assert_allclose(2 * first, second, rtol=1e-9)


@pytest.mark.parametrize("dim", [2, 9, 1000])
@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
def test_tiny_noise_does_not_see_the_curvature(kind: str, dim: int):
    flat = RadialLaw(kind, dim, 0.0, 1e-6)
    for curvature in (1.0, -1.0):
        law = _law(kind, dim, curvature, 1e-6)
        assert law.mean() == pytest.approx(flat.mean(), rel=1e-5)
        assert law.quantile(0.95) == pytest.approx(flat.quantile(0.95), rel=1e-5)


laws = st.builds(
    lambda kind, dim, sign, log_sigma, cut: RadialLaw(
        kind,
        dim,
        sign,
        min(10.0**log_sigma, 0.95 / max(dim - 1, 1))
        if kind == "laplace" and sign < 0
        else 10.0**log_sigma,
        cut * 10.0**log_sigma if cut else math.inf,
    ),
    kind=st.sampled_from(["laplace", "gaussian"]),
    dim=st.one_of(st.integers(1, 20), st.integers(1, 1000)),
    sign=st.sampled_from([-1.0, 0.0, 1.0]),
    log_sigma=st.floats(-4.0, 3.0),
    cut=st.sampled_from([0.0, 0.0, 0.5, 3.0, 50.0]),
)


@given(laws, st.floats(1e-12, 0.9999))
def test_quantile_is_the_inverse_of_cdf(law: RadialLaw, q: float):
    r = float(law.quantile(q))
    assert 0.0 <= r <= law.upper
    # one rounding of r moves the tails by so much
    blur = 8e-16 * r * math.exp(min(float(law.log_pdf(r)), 600.0))
    assert float(law.cdf(r)) == pytest.approx(q, rel=1e-9, abs=blur)
    assert float(law.sf(r)) == pytest.approx(1.0 - q, rel=1e-9, abs=blur)


@given(laws)
def test_moments_and_monotony(law: RadialLaw):
    q = np.linspace(0.0, 1.0, 33)
    r = law.quantile(q)
    assert r[0] == 0.0
    assert r[-1] == law.upper
    assert np.all(np.diff(r) >= 0.0)
    assert 0.0 < law.mean() <= law.upper
    assert law.mean_square() >= law.mean() ** 2 * (1.0 - 1e-9)
    assert math.isfinite(law.log_normaliser())


def test_outside_the_support():
    law = _law("laplace", 2, 1.0, 0.3)
    np.testing.assert_array_equal(law.log_pdf([-1.0, 4.0]), [-np.inf, -np.inf])
    np.testing.assert_allclose(law.cdf([-1.0, 4.0]), [0.0, 1.0], rtol=1e-15)
    np.testing.assert_allclose(law.sf([-1.0, 4.0]), [1.0, 0.0], rtol=1e-15)
    flat = RadialLaw("laplace", 2, 0.0, 0.3)
    np.testing.assert_array_equal(flat.cdf([-1.0, math.inf]), [0.0, 1.0])
    np.testing.assert_array_equal(flat.log_pdf([-1.0, 0.0]), [-np.inf, -np.inf])


def test_shapes():
    for law in (_law("laplace", 2, 1.0, 0.3), _law("laplace", 2, 0.0, 0.3)):
        for function in (law.cdf, law.sf, law.quantile, law.log_pdf):
            assert function(0.5).shape == ()
            assert function([[0.1, 0.2, 0.3]]).shape == (1, 3)
    for law in (*(_law(*law) for law in LAWS[:4]), _law("laplace", 2, 0.0, 0.3)):
        for size, shape in [(3, (3,)), ((), ()), ((2, 3), (2, 3)), (np.int64(2), (2,)), (0, (0,))]:
            draws = radii(law, size, np.random.default_rng(0))
            assert draws.shape == shape
            assert np.all((draws >= 0.0) & (draws <= law.upper))


@pytest.mark.fast(3)
@pytest.mark.parametrize(("kind", "dim", "curvature", "sigma"), LAWS)
def test_draws_follow_the_law(kind, dim, curvature, sigma, holds):
    law = _law(kind, dim, curvature, sigma)
    assert holds(lambda g: scipy.stats.kstest(radii(law, 50_000, g), law.cdf).pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "dim", "curvature", "sigma"), LAWS)
def test_a_million_draws_follow_the_law(kind, dim, curvature, sigma, holds):
    law = _law(kind, dim, curvature, sigma)
    assert holds(lambda g: scipy.stats.kstest(radii(law, 1_000_000, g), law.cdf).pvalue)


@pytest.mark.fast(3)
@pytest.mark.parametrize(
    ("law", "upper"),
    [
        (("laplace", 5, 0.0, 1.0), 2.0),
        (("gaussian", 3, -1.0, 0.3), 0.2),
        (("laplace", 4, 1.0, 0.5), 1.0),
        (("gaussian", 1, 0.0, 1.0), 0.7),
        (("laplace", 5, -1.0, 30.0), 2.0),
        (("laplace", 1000, 0.0, 1.0), 5.0),
    ],
)
def test_draws_follow_cut_laws(law, upper, holds):
    cut = RadialLaw(*law, upper)
    assert holds(lambda g: scipy.stats.kstest(radii(cut, 50_000, g), cut.cdf).pvalue)


@pytest.mark.fast(2)
@pytest.mark.parametrize(("kind", "dim", "curvature", "sigma"), LAWS[:18])
def test_a_wrong_scale_is_noticed(kind, dim, curvature, sigma):
    # negative control of the test above: 3 % off (10 % where sigma hardly matters)
    off = 1.03 if sigma < 1.0 else 1.1
    if kind == "laplace" and curvature < 0:
        off = 1 / off
    if (kind, sigma) == ("gaussian", 1e3):
        off = 1e-3
    law, wrong = _law(kind, dim, curvature, sigma), _law(kind, dim, curvature, off * sigma)
    draws = radii(wrong, 50_000, np.random.default_rng(7))
    assert scipy.stats.kstest(draws, law.cdf).pvalue < 1e-4


def test_mean_distance_of_draws():
    for kind, dim, curvature, sigma in LAWS:
        law = _law(kind, dim, curvature, sigma)
        draws = radii(law, 50_000, np.random.default_rng(11))
        spread = math.sqrt((law.mean_square() - law.mean() ** 2) / 50_000)
        assert abs(draws.mean() - law.mean()) < 5 * spread


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf, "x", None, [1.0], True])
def test_sigma_is_checked(sigma: object):
    with pytest.raises(InvalidParameterError, match="sigma, the noise scale,"):
        RadialLaw("laplace", 2, 0.0, sigma)  # type: ignore[arg-type]


def test_other_parameters_are_checked():
    with pytest.raises(InvalidParameterError, match="kind"):
        RadialLaw("cauchy", 2, 0.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="dim"):
        RadialLaw("laplace", 0, 0.0, 1.0)
    with pytest.raises(InvalidParameterError, match="curvature"):
        RadialLaw("laplace", 2, math.nan, 1.0)
    for kind in (["laplace"], None, np.array(["laplace", "gaussian"])):
        with pytest.raises(InvalidParameterError, match="kind"):
            RadialLaw(kind, 2, 0.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="curvature"):
        RadialLaw("laplace", 2, "flat", 1.0)  # type: ignore[arg-type]
    for upper in (0.0, -1.0, math.nan, "x", None):
        with pytest.raises(InvalidParameterError, match="upper"):
            RadialLaw("laplace", 2, 0.0, 1.0, upper)
    for q in (-0.1, 1.1, math.nan):
        with pytest.raises(InvalidParameterError, match="probabilities"):
            RadialLaw("laplace", 2, 0.0, 1.0).quantile(q)
    law = RadialLaw("laplace", 2, 0.0, 1.0)
    for function in (law.quantile, law.cdf, law.sf, law.log_pdf):
        for bad in ("x", None, [0.1, "x"], True):
            with pytest.raises(InvalidParameterError, match="real numbers"):
                function(bad)


def test_support_ends_at_the_antipode():
    assert RadialLaw("laplace", 2, 4.0, 1.0).upper == pytest.approx(math.pi / 2)


@pytest.mark.parametrize(("dim", "curvature"), [(2, -1.0), (3, -1.0), (9, -4.0), (1000, -0.3)])
def test_laplace_needs_a_normaliser(dim: int, curvature: float):
    limit = 1.0 / ((dim - 1) * math.sqrt(-curvature))
    RadialLaw("laplace", dim, curvature, 0.99 * limit)
    for sigma in (limit * (1.0 + 1e-12), 2.0 * limit):
        with pytest.raises(NotAttainableError, match=r"below\s+1/\(\(dim - 1\)"):
            RadialLaw("laplace", dim, curvature, sigma)
    RadialLaw("gaussian", dim, curvature, 2.0 * limit)
    RadialLaw("laplace", dim, curvature, 2.0 * limit, 1.0)
    RadialLaw("laplace", 1, curvature, 2.0 * limit)
