"""Numbers that are never on the unsafe side, each against 50 digits or more."""

import functools
import math
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp

from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    ApproxDP,
    BudgetCurve,
    GaussianCurve,
    LaplaceCurve,
    MeanCDP,
    PureCurve,
    PureDP,
    RaoDP,
    _gdp,
    compose,
    compose_curves,
    convert,
    gaussian_mu,
    gaussian_to_pure,
    pure_to_gaussian,
)
from riemdp.privacy import _rounding as rounding
from riemdp.privacy._affine_invariant_curve import AffineInvariantGaussianCurve
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.privacy._kl import _mean_loss_delta
from riemdp.privacy._rounding import half_square_up, quotient_up

positive = st.floats(min_value=1e-100, max_value=1e100)
ANGLE = {"distance": "angle"}


@given(positive, positive)
def test_quotient_is_never_under_the_exact_one(numerator, denominator):
    result = quotient_up(numerator, denominator)
    exact = Fraction(numerator) / Fraction(denominator)
    assert exact <= Fraction(result) <= exact * (1 + Fraction(1, 2**51))


@given(positive, positive)
def test_product_is_never_under_the_exact_one(first, second):
    result = rounding.product_up(first, second)
    exact = Fraction(first) * Fraction(second)
    assert exact <= Fraction(result) <= exact * (1 + Fraction(1, 2**51))
    assert rounding.product_up(first, 1.0) == first


@given(positive)
def test_half_square_is_never_under_the_exact_one(value):
    result = half_square_up(value)
    exact = Fraction(value) ** 2 / 2
    assert exact <= Fraction(result) <= exact * (1 + Fraction(1, 2**51))


def test_exact_results_stay_as_they_are():
    assert quotient_up(1.0, 4.0) == 0.25
    assert half_square_up(3.0) == 4.5


def test_plain_division_is_not_enough():
    assert quotient_up(1.0, 10.0) == 0.1  # the float 0.1 lies above one tenth
    assert quotient_up(1.0, 3.0) > 1.0 / 3.0  # the float 1/3 lies under one third
    assert rounding.product_up(0.1, 0.7) > 0.1 * 0.7


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1e-17, 0.3, 1.0, 1e300])
def test_the_allowance(value):
    exact = Fraction(value) * (1 + Fraction(rounding.ELEMENTARY))
    assert exact <= Fraction(rounding.up(value)) <= exact + Fraction(math.ulp(value)) * 2
    if value < 1.0:
        assert rounding.delta_up(value) == rounding.up(value)
    assert rounding.delta_up([0.0, 1.0]).tolist() == [5e-324, 1.0]
    assert rounding.up(math.inf) == math.inf


# The exact numbers. All of them in as many digits as leave 50 after cancellation.


@pytest.fixture(autouse=True)
def many_digits():
    """With the 15 of float64 a reference would only be rounded to nearest."""
    with mp.workdps(60):
        yield


def exact(function):
    """Evaluate once, in 50 digits and more for small arguments."""

    @functools.cache
    def evaluated(*arguments):
        small = min((abs(x) for x in arguments if x), default=1.0)
        with mp.workdps(60 + 2 * max(0, int(-math.log10(small)))):
            return function(*(mp.mpf(x) for x in arguments))

    return evaluated


@exact
def pair_delta(epsilon0, delta0, epsilon):
    below = -mp.expm1(epsilon - epsilon0) / (1 + mp.exp(-epsilon0)) if epsilon < epsilon0 else 0
    return delta0 + (1 - delta0) * below


@exact
def laplace_delta(separation, epsilon):
    return -mp.expm1((epsilon - separation) / 2) if epsilon < separation else mp.mpf(0)


def tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


@exact
def normal_delta(mu, epsilon):
    return tail(epsilon / mu - mu / 2) - mp.exp(epsilon) * tail(epsilon / mu + mu / 2)


def sine_delta(s, epsilon):
    a = -mp.expm1(-epsilon)
    return 2 * s * s / (a + mp.sqrt(a * a + 4 * mp.exp(-epsilon) * s * s))


@exact
def angle_delta(theta, epsilon):
    return sine_delta(mp.sin(theta / 2), epsilon)


def root_of(function, low, high, digits=14):
    """Root of an increasing function: bisection in logs, then the Illinois method.

    A minimum is good to twice the digits of its place.
    """

    def shifted(y):
        return function(mp.exp(y))

    a, b = mp.log(low), mp.log(high)
    with mp.workdps(mp.dps - 30):
        while b - a > 1e-2:
            middle = (a + b) / 2
            a, b = (a, middle) if shifted(middle) > 0 else (middle, b)
    at_a, at_b = shifted(a), shifted(b)
    while True:
        c = b - at_b * (b - a) / (at_b - at_a)
        at_c = shifted(c)
        if at_c * at_b <= 0:
            a, at_a = b, at_b
        else:
            at_a /= 2
        done = abs(c - b) < mp.mpf(10) ** -digits
        b, at_b = c, at_c
        if done or at_c == 0:
            break
    return mp.exp(b)


@exact
def zcdp_delta(rho, xi, epsilon):
    level = epsilon - xi - rho
    low = mp.exp(min(level, 0) - 1) * min(1, 1 / (2 * rho))
    high = (level + mp.sqrt(level * level + 8 * rho)) / (4 * rho)  # log1p(1/x) is at most 1/x
    x = root_of(lambda x: 2 * rho * x - mp.log1p(1 / x) - level, low, high)
    log = x * (xi + rho * (1 + x) - epsilon) - x * mp.log1p(1 / x) - mp.log1p(x)
    return min(mp.exp(log), mp.mpf(1))


def response_divergence(epsilon, order):
    if order == 1:
        return epsilon * mp.tanh(epsilon / 2)
    a, b = (order - mp.mpf(1) / 2) * epsilon, epsilon / 2
    logs = a - b + mp.log1p(mp.exp(-2 * a)) - mp.log1p(mp.exp(-2 * b))
    return logs / (order - 1)


@exact
def response_sine(divergence, order):
    """Sine of half the angle of the randomised response with this divergence."""
    with mp.extradps(40):
        root = root_of(
            lambda e: response_divergence(e, order) - divergence,
            divergence * mp.mpf("0.99"),
            2 * divergence + 4 * mp.sqrt(divergence),
            digits=50,
        )
        return mp.tanh(root / 2)


@exact
def renyi_delta(order, divergence, epsilon):
    share = 1 - 1 / order
    level = divergence - epsilon + mp.log(share)
    moment = mp.exp((order - 1) * level) / order if level < 0 else -mp.expm1(epsilon - divergence)
    return min(moment, sine_delta(response_sine(divergence, order), epsilon))


def kl_high(x):
    return mp.log1p((x - 1 + mp.exp(-x)) / -mp.expm1(-x))


@exact
def kl_delta(alpha, x, epsilon):
    """At the best ``x``, which has to be known."""
    z0 = epsilon - x + kl_high(x)
    bound = mp.exp(-kl_high(x)) / -mp.expm1(-x) * (alpha - z0 - 1 + mp.exp(z0))
    return min(bound, mp.mpf(1))


def kl_points():
    """Alphas, to rounding, whose best ``x`` is known: the two-point law has this mean loss."""
    points = []
    for epsilon in [0.0, *geometric(1e-10, 700.0, 20)]:
        for share in geometric(1e-9, 1e3, 31):
            x = epsilon * (1.0 + share) + share
            with mp.workdps(80):
                z1 = epsilon + kl_high(mp.mpf(x))
                z0 = z1 - x
                alpha = float(z0 + x * mp.expm1(z0) / mp.expm1(-x))
            if 0.0 < alpha < 1e100 and z0 < 0:
                points.append((alpha, x, epsilon))
    return points


def geometric(low, high, n):
    return [float(x) for x in np.geomspace(low, high, n)]


SHARES = [0.0, 1e-300, 1e-12, 1e-3, 0.1, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 0.999999]
ENDS = [1.0 - 2.0**-53, 1.0, 1.0 + 2.0**-52, 1.5, 30.0, 1e300]
#: Thresholds of a normal law, from certainty to where its tail leaves float64.
DEPTHS = [-8.0, -5.0, -3.0, -1.0, -0.1, 0.0, 0.3, 1.0, 2.0, 4.0, 8.0, 12.0, 20.0, 30.0, 37.0, 38.45]


def shares_of(epsilon0, *_):
    return [share * epsilon0 for share in SHARES + ENDS if share * epsilon0 < math.inf]


def normal_epsilons(mu):
    points = [mu * (depth + 0.5 * mu) for depth in DEPTHS]
    return sorted({0.0, mu * 1e-3, *(e for e in points if 0.0 < e < 1e15)})


WIDE = geometric(1e-12, 700.0, 16)
PURE = [*geometric(1e-17, 800.0, 18), 1e-310, 5e-324]
MUS = [*geometric(1e-12, 30.0, 26), 300.0, 1e4, 1e6]

#: Curve, exact delta, the parameters of both, and the epsilon to look at.
DELTAS = {
    "pure": (PureCurve, lambda e0, e: pair_delta(e0, 0.0, e), [(e,) for e in PURE], shares_of),
    "laplace": (LaplaceCurve, laplace_delta, [(s,) for s in PURE], shares_of),
    "gaussian": (GaussianCurve, normal_delta, [(mu,) for mu in MUS], normal_epsilons),
    "budget pure": (
        lambda e: BudgetCurve(PureDP(e)),
        lambda e0, e: pair_delta(e0, 0.0, e),
        [(e,) for e in PURE],
        shares_of,
    ),
    "budget approximate": (
        lambda e, d: BudgetCurve(ApproxDP(e, d)),
        pair_delta,
        [(e, d) for e in (1e-12, 1e-3, 0.7, 5.0, 40.0) for d in (1e-300, 1e-9, 0.3, 1 - 1e-12)],
        shares_of,
    ),
    "budget gaussian": (
        lambda mu: BudgetCurve(GDP(mu)),
        normal_delta,
        [(mu,) for mu in MUS],
        normal_epsilons,
    ),
    "budget zcdp": (
        lambda rho, xi: BudgetCurve(ZCDP(rho, xi)),
        zcdp_delta,
        [(rho, xi) for rho in geometric(1e-12, 1e3, 13) for xi in (0.0, 0.3)],
        lambda rho, xi: [0.0, *WIDE],
    ),
    "budget renyi": (
        lambda order, e: BudgetCurve(RDP(order, e)),
        renyi_delta,
        [
            (order, e)
            for order in (1 + 2.0**-52, 1 + 1e-8, 1.3, 2.0, 7.5, 1e3, 1e10)
            for e in (1e-9, 0.03, 0.7, 50.0)
        ],
        # the last ones are where the worst event becomes certain
        lambda order, e: [
            *[0.0, *WIDE],
            *(max(0.0, (e + math.log1p(-1.0 / order)) * (1.0 + k * 2.0**-52)) for k in (-1, 0, 1)),
        ],
    ),
    "budget angle": (
        lambda theta: BudgetCurve(RaoDP(theta, **ANGLE)),
        angle_delta,
        [(theta,) for theta in [*geometric(1e-160, 1.0, 15), 5e-324, 2.0, 3.0, 3.14159, math.pi]],
        lambda theta: [0.0, 1e-300, *WIDE, 740.0, 1e4],
    ),
}


def pairs_of(kind):
    build, oracle, parameters, epsilons = DELTAS[kind]
    for values in parameters:
        points = epsilons(*values)
        yield build(*values), partial(oracle, *values), points


def below(kind):
    """Number of points at which a curve is under the exact one, of points, and its excess."""
    under, total, excess = 0, 0, 0.0
    for curve, oracle, points in pairs_of(kind):
        for epsilon, delta in zip(points, curve.delta_at(np.array(points)), strict=True):
            truth = oracle(epsilon)
            under += not truth <= delta <= 1.0
            total += 1
            if truth == 0:
                under += delta != 0.0
            elif truth > 1e-300:
                excess = max(excess, float(mp.mpf(float(delta)) / truth - 1))
    return under, total, excess


@pytest.fixture
def no_allowance(monkeypatch):
    """The same formulas, not rounded up: the negative control of all that follows."""
    plain = {
        "up": lambda value, error=0.0: value,
        "delta_up": lambda delta, error=0.0: np.minimum(delta, 1.0),
        "exponent_up": lambda log_delta, size: np.asarray(log_delta),
    }
    modules = [sys.modules[name] for name in sorted(sys.modules) if name.startswith("riemdp.")]
    for name, replacement in plain.items():
        original = getattr(rounding, name)
        for module in modules:
            if getattr(module, name, None) is original:
                monkeypatch.setattr(module, name, replacement)


@pytest.mark.fast(3)
@pytest.mark.parametrize("kind", DELTAS)
def test_delta_is_never_below(kind):
    under, total, excess = below(kind)
    assert total >= 380
    assert under == 0
    assert excess <= 1e-11


@pytest.mark.fast(3)
@pytest.mark.parametrize("kind", DELTAS)
def test_delta_without_the_allowance_is_below(kind, no_allowance):
    with np.errstate(all="ignore"):
        assert below(kind)[0] >= 20


# The inverses: an epsilon that is returned has a delta that is allowed.

TARGETS = [1e-300, 1e-100, 1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 1 - 1e-6, 1 - 1e-12, 1 - 2**-53]


def overspent(kind):
    """Number of targets that the exact delta at ``epsilon_at`` exceeds."""
    over, total = 0, 0
    for curve, oracle, points in list(pairs_of(kind))[::2]:
        # the curve's own values have the most to lose
        own = [float(d) for d in curve.delta_at(np.array(points)) if 0.0 < d < 1.0]
        for delta in [*TARGETS, *own[::12]]:
            epsilon = curve.epsilon_at(delta)
            total += 1
            assert epsilon >= 0.0
            if epsilon < math.inf:
                over += not curve.delta_at(epsilon) <= delta
                over += oracle(epsilon) > mp.mpf(delta)
    return over, total


@pytest.mark.fast(3)
@pytest.mark.parametrize("kind", DELTAS)
def test_epsilon_is_never_too_small(kind):
    over, total = overspent(kind)
    assert over == 0
    assert total > 100


@pytest.mark.fast(1)
@pytest.mark.parametrize("budget", [KLDP(1e-9), KLDP(0.3), KLDP(50.0), MeanCDP(0.1, 1.0)], ids=str)
def test_epsilon_of_a_mean_loss_has_an_allowed_delta(budget):
    for delta in TARGETS[1:]:  # delta is never below, by the tests before
        assert budget.delta_at(budget.epsilon_at(delta)) <= delta


def mean_losses_below():
    points = kl_points()
    alpha, _, epsilon = np.array(points).T
    deltas = _mean_loss_delta(alpha, epsilon)
    ratios = [
        mp.mpf(float(delta)) / kl_delta(*point) for delta, point in zip(deltas, points, strict=True)
    ]
    return sum(ratio < 1 for ratio in ratios), len(ratios), float(max(ratios)) - 1


def test_delta_of_a_mean_loss_is_never_below():
    under, total, excess = mean_losses_below()
    assert total >= 400
    assert under == 0
    assert excess < 2e-12


def test_delta_of_a_mean_loss_without_the_allowance_is_below(no_allowance):
    assert mean_losses_below()[0] > 20


@pytest.mark.parametrize("alpha", [1e-9, 0.3, 50.0])
def test_a_mean_loss_has_the_smaller_of_two_that_are_never_below(alpha):
    both = _mean_loss_delta(alpha, np.array(WIDE)), KLDP(alpha).angle().delta_at(WIDE)
    np.testing.assert_array_equal(BudgetCurve(KLDP(alpha)).delta_at(WIDE), np.minimum(*both))


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.5, 30.0])
@pytest.mark.parametrize("tau", [1e-5, 0.01, 0.3, 1.0, 3.0, 20.0])
def test_mean_concentrated_is_the_smaller_of_two_that_are_never_below(mu, tau):
    budget = MeanCDP(mu, tau)
    assert 2 * Fraction(budget.zcdp().rho) >= Fraction(tau) ** 2
    assert Fraction(budget.kl().alpha) >= min(Fraction(mu), Fraction(tau) ** 2 / 2)
    both = budget.zcdp().delta_at(WIDE), budget.kl().delta_at(WIDE)
    np.testing.assert_array_equal(BudgetCurve(budget).delta_at(WIDE), np.minimum(*both))


@pytest.mark.parametrize("kind", ["pure", "laplace", "gaussian", "budget angle"])
def test_epsilon_without_the_allowance_is_too_small(kind, no_allowance):
    with np.errstate(all="ignore"):
        assert overspent(kind)[0] > 0


# Single numbers: what the library says, the exact one, and the arguments.


def quantile(log_tail):
    """``x`` with this log of ``P(Z > x)``, by Newton's method in 50 digits."""
    x = mp.sqrt(-2 * log_tail) if log_tail < -1 else mp.mpf(0)
    for _ in range(60):
        log = mp.log(tail(x))
        step = (log - log_tail) / mp.exp(-x * x / 2 - log) * mp.sqrt(2 * mp.pi)
        x += step
        if abs(step) < mp.mpf(10) ** -45 * (1 + abs(x)):
            return x
    raise AssertionError


@exact
def pure_mu(epsilon):
    if epsilon < mp.mpf("1e-15"):  # to 30 digits
        return mp.sqrt(2 * mp.pi) * epsilon / 2
    return 2 * quantile(-mp.log1p(mp.exp(epsilon)))


@exact
def laplace_mu(separation):
    if separation < mp.mpf("1e-15"):
        return mp.sqrt(2 * mp.pi) * (separation / 2 - separation**2 / 8)
    return 2 * quantile(-separation / 2 - mp.log(2))


@exact
def affinity_angle(minus_log):
    return 2 * mp.atan2(mp.sqrt(-mp.expm1(-2 * minus_log)), mp.exp(-minus_log))


def response_angle(divergence, order):
    return 2 * mp.asin(response_sine(divergence, order))


def approximate_angle(epsilon, delta):
    with mp.workdps(400):
        return 2 * mp.acos((1 - mp.mpf(delta)) / mp.cosh(mp.mpf(epsilon) / 2))


def mean_tau(rho):
    s = min(1.0, 1.6 / (1.0 + rho))  # any number in (0, 1] will do
    return mp.sqrt(2 * mp.expm1(mp.mpf(s) * (mp.mpf(s) + 1) * rho)) / s


def renyi_of(order, epsilon):
    with mp.workdps(100):
        return response_divergence(mp.mpf(epsilon), mp.mpf(order))


@exact
def laplace_angle(separation):
    half = separation / 2
    return affinity_angle(half - mp.log1p(half))


def composed_angle(theta, n):
    with mp.workdps(100):
        return 2 * mp.acos(mp.cos(mp.mpf(theta) / 2) ** n)


def curve_of(sphere):
    return lambda sigma, distance: IsotropicCurve(*sphere, sigma, distance)


def kl_of_pure(epsilon):
    return mp.mpf(epsilon) * mp.tanh(mp.mpf(epsilon) / 2)


def sphere_pure(sigma, distance, curvature=2.0):
    upper = mp.pi / mp.sqrt(mp.mpf(curvature))
    return mp.mpf(distance) * (2 * upper - distance) / (2 * mp.mpf(sigma) ** 2)


_RANDOM = np.random.default_rng(3)


def drawn(*ranges, n=120):
    """Arguments, each spread evenly over the logs of a range."""
    columns = [np.exp(_RANDOM.uniform(np.log(a), np.log(b), n)) for a, b in ranges]
    return [tuple(float(x) for x in row) for row in zip(*columns, strict=True)]


def angle_to(kind):
    return lambda *values: convert(kind(*values), RaoDP, **ANGLE).theta


EPS, MU, RHO = (1e-12, 50.0), (1e-12, 30.0), (1e-12, 1e3)
SIGMAS = (0.3, 30.0), (1e-3, 2.0)
#: Without the allowance some are below; None where the number is rounded up by other means.
NUMBERS = {
    "pure mu": (pure_to_gaussian, pure_mu, drawn((1e-17, 500.0)), "up"),
    "laplace mu": (lambda s: LaplaceCurve(s).mu(), laplace_mu, drawn((1e-17, 500.0)), "up"),
    "mu to pure": (
        lambda e: 1 / gaussian_to_pure(float(pure_mu(e))),
        lambda e: 1 / e,
        drawn(EPS),
        None,
    ),
    "pure rho": (lambda e: PureCurve(e).zcdp_rho(), lambda e: mp.mpf(e) ** 2 / 2, drawn(EPS), None),
    "pure angle": (
        angle_to(PureDP),
        lambda e: 4 * mp.atan(mp.tanh(mp.mpf(e) / 4)),
        drawn((1e-120, 50.0)),
        "up",
    ),
    "laplace angle": (
        lambda s: LaplaceCurve(s).rao("angle").theta,
        laplace_angle,
        drawn((1e-120, 50.0)),
        "up",
    ),
    "approximate angle": (angle_to(ApproxDP), approximate_angle, drawn(EPS, (1e-30, 1.0)), "up"),
    "gaussian angle": (
        angle_to(GDP),
        lambda mu: affinity_angle(mp.mpf(mu) ** 2 / 8),
        drawn((1e-120, 10.0)),
        "up",
    ),
    "zcdp angle": (angle_to(ZCDP), lambda rho: response_angle(rho, 1), drawn(RHO, n=40), "up"),
    "kl angle": (angle_to(KLDP), lambda alpha: response_angle(alpha, 1), drawn(RHO, n=40), None),
    "renyi angle": (
        lambda order, e: angle_to(RDP)(1 + order, e),
        lambda order, e: response_angle(e, 1 + order),
        drawn((1e-10, 1e3), EPS, n=40),
        "up",
    ),
    "pure kl": (lambda e: convert(PureDP(e), KLDP).alpha, kl_of_pure, drawn(EPS), "up"),
    "pure zcdp": (lambda e: convert(PureDP(e), ZCDP).rho, kl_of_pure, drawn(EPS), "up"),
    "pure renyi": (
        lambda order, e: convert(PureDP(e), RDP, order=1 + order).epsilon,
        lambda order, e: min(renyi_of(1 + order, e), mp.mpf(e)),
        drawn((1e-10, 1e3), EPS),
        "up",
    ),
    "gaussian renyi": (
        lambda order, mu: convert(GDP(mu), RDP, order=1 + order).epsilon,
        lambda order, mu: mp.mpf(1 + order) * mp.mpf(mu) ** 2 / 2,
        drawn((1e-6, 1e6), MU),
        "up",
    ),
    "zcdp renyi": (
        lambda rho, xi, order: convert(ZCDP(rho, xi), RDP, order=1 + order).epsilon,
        lambda rho, xi, order: xi + rho * mp.mpf(1 + order),
        drawn(RHO, (1e-9, 10.0), (1e-6, 1e6)),
        "up",
    ),
    "zcdp kl": (
        lambda rho, xi: convert(ZCDP(rho, xi), KLDP).alpha,
        lambda rho, xi: mp.mpf(rho) + xi,
        drawn(RHO, RHO),
        "up",
    ),
    "zcdp mean": (lambda rho: convert(ZCDP(rho), MeanCDP).tau, mean_tau, drawn((1e-12, 1e3)), "up"),
    "mean renyi": (
        lambda mu, tau, order: convert(MeanCDP(mu, tau), RDP, order=1 + order).epsilon,
        lambda mu, tau, order: (
            min(mp.mpf(mu), mp.mpf(tau) ** 2 / 2) + (mp.mpf(1 + order) - 1) * mp.mpf(tau) ** 2 / 2
        ),
        drawn(MU, MU, (1e-6, 1e6)),
        "up",
    ),
    "affine-invariant mu": (
        lambda s, d: AffineInvariantGaussianCurve(3, s, d).mu(),
        lambda s, d: mp.mpf(d) / (s * mp.sqrt(1 - mp.mpf(s) ** 2 / 4)),
        [*drawn((1e-3, 1.999), (1e-6, 10.0)), (2.0 - 2.0**-51, 1.0)],
        "up",
    ),
    "sphere pure": (
        lambda s, d: curve_of(("gaussian", 3, 2.0))(s, d).pure_epsilon(),
        sphere_pure,
        drawn(*SIGMAS),
        "up",
    ),
    "isotropic laplace pure": (
        lambda s, d: curve_of(("laplace", 3, 2.0))(s, d).pure_epsilon(),
        lambda s, d: mp.mpf(d) / s,
        drawn(*SIGMAS),
        None,
    ),
    "isotropic laplace rho": (
        lambda s, d: curve_of(("laplace", 3, 2.0))(s, d)._pure_rho(),
        lambda s, d: kl_of_pure(mp.mpf(d) / s),
        drawn(*SIGMAS),
        "up",
    ),
    "composed mu": (
        lambda s, e: compose_curves([LaplaceCurve(s), PureCurve(e)]).self_compose(3).mu(),
        lambda s, e: mp.sqrt(3 * (laplace_mu(s) ** 2 + pure_mu(e) ** 2)),
        drawn(EPS, EPS, n=60),
        "up",
    ),
    "composed rho": (
        lambda s, e: compose_curves([LaplaceCurve(s), PureCurve(e)]).self_compose(3).zcdp_rho(),
        lambda s, e: 3 * (mp.mpf(s) ** 2 + mp.mpf(e) ** 2) / 2,
        drawn(EPS, EPS),
        None,
    ),
    "composed pure": (
        lambda s, e: compose_curves([LaplaceCurve(s), PureCurve(e)]).self_compose(3).pure_epsilon(),
        lambda s, e: 3 * (mp.mpf(s) + mp.mpf(e)),
        drawn(EPS, EPS),
        None,
    ),
    "composed angle": (
        lambda t: compose([RaoDP(t, **ANGLE)] * 3).theta,
        lambda t: composed_angle(t, 3),
        [*drawn((1e-6, 3.1)), (math.pi - 1e-7,), (math.pi - 1e-14,)],
        "up",
    ),
    "composed curves' angle": (
        lambda t: compose_curves([BudgetCurve(RaoDP(t, **ANGLE))] * 3).rao("angle").theta,
        lambda t: composed_angle(t, 3),
        [*drawn((1e-6, 3.1)), (math.pi - 1e-7,), (math.pi - 1e-14,)],
        "up",
    ),
    "composed gaussian": (
        lambda a, b: compose([GDP(a), GDP(b), GDP(b)]).mu,
        lambda a, b: mp.sqrt(mp.mpf(a) ** 2 + 2 * mp.mpf(b) ** 2),
        drawn(MU, MU),
        None,
    ),
    "composed delta": (
        lambda a, b: compose([ApproxDP(1.0, a), ApproxDP(1.0, b)]).delta,
        lambda a, b: 1 - (1 - mp.mpf(a)) * (1 - mp.mpf(b)),
        drawn((1e-15, 0.99), (1e-15, 0.99)),
        "up",
    ),
}


def unsafe(name):
    """Number of arguments at which a number is under the exact one, and its largest excess."""
    function, truth, arguments, _ = NUMBERS[name]
    under, excess = 0, 0.0
    with mp.workdps(60):
        for values in arguments:
            number, least = mp.mpf(function(*values)), truth(*values)
            under += number < least and number != mp.mpf(math.pi)  # a Rao angle ends at pi
            excess = max(excess, float(number / least - 1))
    return under, excess


@pytest.mark.fast(12)
@pytest.mark.parametrize("name", NUMBERS)
def test_number_is_never_below(name):
    under, excess = unsafe(name)
    assert under == 0
    assert excess <= 2e-12


@pytest.mark.fast(8)
@pytest.mark.parametrize("name", [name for name in NUMBERS if NUMBERS[name][3] == "up"])
def test_number_without_the_allowance_is_below(name, no_allowance):
    assert unsafe(name)[0] > 0


@pytest.mark.parametrize("value", [5e-324, 1e-323, 1e-310, 1e-200])
def test_subnormal_numbers(value):
    assert mp.mpf(pure_to_gaussian(value)) >= mp.sqrt(mp.pi / 2) * value
    assert mp.mpf(LaplaceCurve(value).mu()) >= mp.sqrt(mp.pi / 2) * value * (1 - mp.mpf(value))
    assert mp.mpf(gaussian_to_pure(value)) <= mp.sqrt(2 / mp.pi) * value
    assert convert(PureDP(value), RaoDP, **ANGLE).theta >= value
    assert PureCurve(value).delta_at(0.0) >= mp.mpf(value) / 2
    assert (
        mp.mpf(convert(GDP(1e-162), RDP, order=1.4).epsilon)
        >= mp.mpf(1.4) * mp.mpf(1e-162) ** 2 / 2
    )


def test_the_largest_mu_has_a_finite_epsilon():
    assert gaussian_to_pure(1.7e308) == sys.float_info.max


def test_zeros_and_certainty_stay_exact():
    for curve in (PureCurve(0.7), LaplaceCurve(0.7), BudgetCurve(PureDP(0.7))):
        assert curve.delta_at([0.7, 1.0, math.inf]).tolist() == [0.0, 0.0, 0.0]
        assert curve.epsilon_at(0.0) == 0.7
    for budget in (GDP(0.7), ZCDP(0.7), ZCDP(0.7, 0.1), RDP(2.0, 0.7), RDP(math.inf, 0.7)):
        assert BudgetCurve(budget).delta_at(math.inf) == 0.0
    curve = BudgetCurve(ApproxDP(0.7, 1e-3))
    assert curve.delta_at([0.7, math.inf]).tolist() == [1e-3, 1e-3]
    assert curve.epsilon_at(1e-3) == 0.7
    together = compose_curves([curve, PureCurve(1.0)])
    assert together.epsilon_at(together.delta_at(1.7)) <= 1.7
    for near_certain in (PureCurve(700.0), LaplaceCurve(700.0), GaussianCurve(80.0)):
        assert near_certain.delta_at(0.0) == 1.0


def test_the_mu_of_a_composition_is_not_under_the_exact_root():
    plain_below = 0
    for a, e in drawn((1e-3, 10.0), (1e-3, 10.0)):
        parts = [GaussianCurve(a), PureCurve(e)]
        together = compose_curves([parts[0], *[parts[1]] * 3])
        exact = Fraction(a) ** 2 + 3 * Fraction(parts[1].mu()) ** 2
        assert Fraction(together.mu()) ** 2 >= exact
        assert Fraction(parts[0].self_compose(3).mu()) ** 2 >= 3 * Fraction(a) ** 2
        plain_below += Fraction(math.hypot(a, math.sqrt(3.0) * parts[1].mu())) ** 2 < exact
        plain_below += Fraction(math.sqrt(3.0) * a) ** 2 < 3 * Fraction(a) ** 2
    assert plain_below > 20  # negative control


def test_delta_of_a_composition_contains_what_is_rounded():
    curve = compose_curves([BudgetCurve(ApproxDP(0.7, 1e-3)), PureCurve(0.5)])
    epsilons = np.linspace(0.0, 1.19, 60)
    for epsilon, delta in zip(epsilons, curve.delta_at(epsilons), strict=True):
        # the product of two randomised responses, apart from an infinite loss
        p, q = (1 / (1 + mp.exp(-mp.mpf(e))) for e in (0.7, 0.5))
        atoms = [(p * q, 1.2), (p * (1 - q), 0.2), ((1 - p) * q, -0.2), ((1 - p) * (1 - q), -1.2)]
        losses = {1.2: mp.mpf(0.7) + mp.mpf(0.5), 0.2: mp.mpf(0.7) - mp.mpf(0.5)}
        rest = sum(
            mass * -mp.expm1(epsilon - losses[loss])
            for mass, loss in atoms
            if loss > 0 and losses[loss] > epsilon
        )
        assert mp.mpf(float(delta)) >= mp.mpf(1e-3) + (1 - mp.mpf(1e-3)) * rest


def test_the_exponential_of_an_isotropic_delta_is_rounded_up(monkeypatch):
    logs = -np.geomspace(1e-12, 745.0, 400)
    curve = IsotropicCurve("gaussian", 3, -1.0, 1.0, 1.0)
    monkeypatch.setattr(IsotropicCurve, "_points", lambda self, epsilon: None)
    points = type("Points", (), {"log_delta": staticmethod(lambda: logs)})
    monkeypatch.setattr(IsotropicCurve, "_points", lambda self, epsilon: points)
    deltas = curve.delta_at(np.linspace(0.0, 1.0, 400))
    assert all(mp.mpf(float(d)) >= mp.exp(mp.mpf(x)) for d, x in zip(deltas, logs, strict=True))
    assert any(mp.mpf(float(np.exp(x))) < mp.exp(mp.mpf(x)) for x in logs)  # negative control


@pytest.mark.fast(1)
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 20.0])
def test_calibrated_mu_next_to_certainty(epsilon, monkeypatch):
    deltas = [1.0 - k * 2.0**-53 for k in range(1, 25)]
    found = _gdp._largest_mu.__wrapped__  # computed anew, as it is without what is kept
    assert [gaussian_mu(epsilon, d) for d in deltas] == [found(epsilon, d) for d in deltas]
    assert all(normal_delta(found(epsilon, d), epsilon) <= mp.mpf(d) for d in deltas)
    # negative control: the root alone, even with the step away from it
    monkeypatch.setattr(_gdp, "_safely_under", lambda *_: True)
    assert any(normal_delta(found(epsilon, d), epsilon) > mp.mpf(d) for d in deltas)


def test_the_allowance_of_an_exponent_does_not_vanish_with_its_size():
    raised = rounding.exponent_up(np.array([-3.0, -3.0]), np.array([0.0, 9.0]))
    np.testing.assert_allclose(raised + 3.0, [2e-15, 2e-14], atol=5e-16)
