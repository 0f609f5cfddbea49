import math

import mpmath
import numpy as np
import pytest

from riemdp import _errors as errors
from riemdp.privacy import GaussianCurve, gaussian_delta
from riemdp.privacy import _certified as certified
from riemdp.privacy._certified import certified_delta
from riemdp.privacy._isotropic_curve import IsotropicCurve

needs_flint = pytest.mark.skipif(
    not certified.certified_available(), reason="python-flint is not installed"
)
SPACES = [
    ("gaussian", 2, 1.0, 1.0, 1.0),
    ("gaussian", 2, -1.0, 0.5, 1.0),
    ("gaussian", 2, 4.0, 0.3, 1.5),
    ("gaussian", 3, 1.0, 1.0, 1.0),
    ("gaussian", 3, -2.0, 0.7, 1.0),
    ("gaussian", 5, 0.3, 2.0, 1.0),
    ("gaussian", 9, 1.0, 0.25, 1.0),
    ("gaussian", 9, -1.0, 1.0, 1.0),
    ("gaussian", 15, -0.5, 0.4, 0.2),
    ("gaussian", 7, -4.4, 2.3, 0.5),
    ("laplace", 2, 1.0, 0.5, 1.0),
    ("laplace", 2, -2.2, 0.54, 1.9),
    ("laplace", 2, -1.0, 0.3, 1.0),
    ("laplace", 2, 0.0, 0.5, 1.0),
    ("laplace", 3, 1.0, 0.4, 3.0),
    ("laplace", 3, -2.0, 0.3, 1.0),
    ("laplace", 5, 0.0, 0.5, 1.0),
    ("laplace", 9, 1.5, 0.1, 1.0),
    ("gaussian", 1, 0.0, 1.0, 1.0, math.pi),
    ("laplace", 1, 0.0, 0.5, 1.0, math.pi),
]


@pytest.mark.fast(2)
@needs_flint
@pytest.mark.parametrize("space", SPACES, ids=str)
def test_the_curve_is_over_the_enclosure_and_close(space):
    curve = IsotropicCurve(*space)
    top = min(curve.pure_epsilon(), 3.0 * curve.mu() + 0.5 * curve.mu() ** 2)
    below = 0
    for epsilon in np.array([0.0, 0.11, 0.5, 0.9]) * top:
        lower, upper = certified_delta(curve, epsilon)
        assert 0.0 < lower <= upper <= lower * (1.0 + 2e-12)
        reported = float(curve.delta_at(epsilon))
        # at least the exact value, by at most the allowance of 1e-11 of two probabilities
        assert reported >= upper
        first = math.exp(float(curve._points(np.array([epsilon])).log_first[0]))
        assert reported <= lower + 2.5e-11 * first
        below += reported * (1.0 - 1e-9) < lower
    assert below > 0  # the control: a little less would be seen


@pytest.mark.fast(1)
@needs_flint
@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_flat_gaussian_is_its_closed_form(dim):
    curve = IsotropicCurve("gaussian", dim, 0.0, 0.5, 0.8)
    for epsilon in (0.0, 1.28, 3.0, 20.0):  # 1.28: the caps start at radius 0
        lower, upper = certified_delta(curve, epsilon)
        assert lower <= upper <= lower * (1.0 + 2e-12)
        with mpmath.workdps(40):
            mu, e = mpmath.mpf(0.8) / mpmath.mpf(0.5), mpmath.mpf(epsilon)
            exact = mpmath.ncdf(mu / 2 - e / mu) - mpmath.exp(e) * mpmath.ncdf(-mu / 2 - e / mu)
            assert lower <= exact <= upper
        assert lower == pytest.approx(float(gaussian_delta(1.6, epsilon)), rel=1e-9)


@needs_flint
def test_laplace_on_the_line_is_its_closed_form():
    curve = IsotropicCurve("laplace", 1, 0.0, 0.5, 1.0)
    for epsilon in (0.0, 0.5, 1.9):
        lower, upper = certified_delta(curve, epsilon)
        with mpmath.workdps(40):
            assert lower <= -mpmath.expm1((mpmath.mpf(epsilon) - 2) / 2) <= upper


@needs_flint
def test_more_digits_lie_inside_and_broken_pieces_are_seen(monkeypatch):
    curve = IsotropicCurve("gaussian", 3, -1.0, 1.0, 1.0)
    lower, upper = certified_delta(curve, 0.7, digits=3)
    inner = certified_delta(curve, 0.7, digits=15)
    assert lower <= inner[0] <= inner[1] <= upper
    # the control: without the bound of the tail, and cut too early, the enclosure is another one
    monkeypatch.setattr(certified._Enclosure, "_cut", lambda _, least: (2 * least + 2, 0))
    wrong = certified_delta(curve, 0.7, digits=15)
    assert wrong[1] < inner[0] or wrong[0] > inner[1]


@needs_flint
def test_beyond_the_largest_loss():
    sphere = IsotropicCurve("gaussian", 3, 1.0, 1.0, 1.0)
    assert certified_delta(sphere, sphere.pure_epsilon()) == (0.0, 0.0)
    lower, upper = certified_delta(sphere, 0.999 * sphere.pure_epsilon(), digits=6)
    assert 0.0 < lower <= upper < 1e-6
    laplace = IsotropicCurve("laplace", 3, 2.0, 0.25, 0.5)
    assert certified_delta(laplace, 2.0) == (0.0, 0.0)  # equal, decided without rounding
    assert certified_delta(laplace, math.inf) == (0.0, 0.0)
    assert certified_delta(laplace, math.nextafter(2.0, 0.0))[0] > 0.0


@needs_flint
def test_the_precision_of_flint_is_put_back():
    import flint

    before = flint.ctx.prec
    certified_delta(IsotropicCurve("gaussian", 3, 1.0, 1.0, 1.0), 0.1)
    assert flint.ctx.prec == before


@needs_flint
def test_an_enclosure_that_stays_wide_raises(monkeypatch):
    monkeypatch.setattr(certified, "_MOST_BITS", 80)
    curve = IsotropicCurve("gaussian", 3, -1.0, 1.0, 1.0)
    with pytest.raises(errors.ConvergenceError, match="stays wider"):
        certified_delta(curve, 40.0)


def test_what_has_no_enclosure(monkeypatch):
    curve = IsotropicCurve("gaussian", 3, 1.0, 1.0, 1.0)
    with pytest.raises(errors.InvalidParameterError, match="got 4"):
        certified_delta(IsotropicCurve("gaussian", 4, 1.0, 1.0, 1.0), 0.1)
    with pytest.raises(errors.InvalidParameterError, match="IsotropicCurve"):
        certified_delta(GaussianCurve(1.0), 0.1)
    with pytest.raises(errors.InvalidParameterError, match="at most 15"):
        certified_delta(curve, 0.1, digits=16)
    with pytest.raises(errors.InvalidParameterError, match="epsilon"):
        certified_delta(curve, -0.1)
    monkeypatch.setattr(certified, "certified_available", lambda: False)
    with pytest.raises(errors.InvalidParameterError, match=r"pip install python-flint"):
        certified_delta(curve, 0.1)


def enclosure(kind, dim, sign, sigma, bits=80):
    from flint import arb

    end = arb.pi() if sign > 0 else None
    return certified._Enclosure(kind, dim, sign, arb(sigma), arb(1), end, arb(0.5), bits)


TAILS = [(k, d, s) for k in ("gaussian", "laplace") for d in (1, 2, 3, 7) for s in (0, -1) if d > 1]


@needs_flint
@pytest.mark.parametrize(("kind", "dim", "sign"), TAILS)
def test_the_tail_is_over_the_mass_beyond_and_close(kind, dim, sign):
    from flint import arb

    sigma, cut = mpmath.mpf(0.125), mpmath.mpf(2)
    tail = enclosure(kind, dim, sign, 0.125)._tail(arb(2))
    with mpmath.workdps(30):

        def density(r):
            ratio = r / sigma
            potential = ratio if kind == "laplace" else ratio**2 / 2
            return (mpmath.sinh(r) if sign else r) ** (dim - 1) * mpmath.exp(-potential)

        exact = mpmath.quad(density, [cut + mpmath.mpf(j) ** 3 / 1000 for j in range(21)])
        found = mpmath.mpf(str(tail.mid().str(25, radius=False)))
        # sinh(r) <= exp(r) / 2 costs exp(-4) per power
        assert exact * (1 - 1e-9) <= found
        assert found <= exact * (1 + (0.02 * dim if sign else 1e-9))
        if sign and kind == "gaussian":
            assert found > exact


@needs_flint
def test_the_mass_that_a_tail_is_compared_with_is_a_lower_bound():
    for kind in ("gaussian", "laplace"):
        for dim in (2, 3, 7):
            least = float(enclosure(kind, dim, -1, 0.125)._least_mass())
            assert least == pytest.approx(0.125**dim / dim / math.e, rel=1e-12)


@pytest.mark.parametrize("share", [1e-9, 0.3, 0.5, 0.9])
def test_the_share_of_an_arc(share):
    flint = pytest.importorskip("flint")
    for analytic in (True, False):
        found = certified._arc(flint.acb(share), flint.acb(1 - flint.arb(share)), analytic)
        assert float(found.real) == pytest.approx(2.0 / math.pi * math.asin(math.sqrt(share)))
    unknown = certified._arc(flint.acb(flint.arb("nan")), flint.acb(0.5), False).real
    assert unknown.contains(0)
    assert unknown.contains(1)
    assert not unknown.contains(1.01)  # an interval's end is rounded outwards by little
    assert not unknown.contains(-0.01)
