"""Steps of docs/proofs/bounded-range.md, checked apart from the code that uses them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import arb
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

LAMBDAS = [0.01, 0.05, 0.3, 1.0, 2.5, 6.0, 12.0]


def mu_of(length):
    """Claim 3."""
    return float(2.0 * ndtri(expit(0.5 * length)))


def difference(x):
    """``g(x)``, by logarithms where the probability is near one."""
    return np.where(x > 0.0, -ndtri(expit(-x)), ndtri(expit(x)))


def normal(x):
    """Enclose ``Phi(x)``, ``Phi(-x)`` and the density."""
    above = (x / arb(2).sqrt()).erfc() / 2
    return 1 - above, above, (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def certified_gap(lowest, highest, factor):
    """Whether ``factor x M(x) Phi(x) < 2 Phi(x) - 1`` between two numbers; M decreases."""
    parts, steps = [(lowest, highest)], 0
    while parts and steps < 4000:
        low, high = parts.pop()
        steps += 1
        below, above, density = normal(arb(low))
        if factor * arb(high) * (above / density) * normal(arb(high))[0] < below - above:
            continue
        middle = 0.5 * (low + high)
        parts += [(low, middle), (middle, high)]
    return not parts


class TestDerivative:
    """``g'`` decreases on the positive axis."""

    def test_in_ball_arithmetic(self):
        first = 2.0**-6
        assert certified_gap(first, 40.0, arb(1))
        # Up to there 2 Phi - 1 is at least 2 x phi(first), and M at most M(0).
        below, _, density = normal(arb(first))
        assert (arb.pi() / 2).sqrt() * below < 2 * density

    def test_beyond_mills_ratio_decides(self):
        """x M < (x^2 + 2) / (x^2 + 3) (Birnbaum, Sampford), and Phi(-x) <= phi(x) / x."""
        x = arb(40)
        _, above, density = normal(x)
        assert x * above / density < (x * x + 2) / (x * x + 3)
        # 2 phi(x) (x^2 + 3) / x decreases from here on, as its logarithm does.
        assert 2 * density * (x * x + 3) / x < 1
        assert 2 / x < x

    def test_controls(self):
        for place, factor in ((2.0**-6, arb("1.28")), (40.0, arb("1.001"))):  # 4/pi at 0, then 1
            below, above, density = normal(arb(place))
            assert factor * arb(place) * (above / density) * below > below - above
            assert not certified_gap(place, 1.5 * place, factor)

    def test_product_of_mills_ratios_increases_through_two(self):
        x = np.linspace(0.0, 12.0, 4001)
        density = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi)
        product = np.exp(log_ndtr(x) + log_ndtr(-x) - 2.0 * density)
        assert product[0] == pytest.approx(math.pi / 2.0, rel=1e-14)
        assert (np.diff(product) > 0.0).all()

    def test_formula_of_the_derivative(self):
        v = np.linspace(-6.0, 6.0, 25)
        x, step = difference(v), 1e-5
        slope = (difference(v + step) - difference(v - step)) / (2.0 * step)
        density = np.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
        assert slope == pytest.approx(ndtr(x) * ndtr(-x) / density, rel=1e-8)


class TestSplits:
    @pytest.mark.parametrize("length", LAMBDAS)
    def test_the_middle_costs_most(self, length):
        v = np.linspace(-30.0, 30.0, 60001)
        cost = difference(v + 0.5 * length) - difference(v - 0.5 * length)
        mu = mu_of(length)
        assert cost.max() <= mu * (1.0 + 1e-12)
        assert cost[30000] == pytest.approx(mu, rel=1e-12)
        assert np.argmax(cost) == pytest.approx(30000, abs=2)
        # Between two points of the grid the cost is at most what the ends of each part allow.
        bracket = difference(v[1:] + 0.5 * length) - difference(v[:-1] - 0.5 * length)
        assert bracket.max() <= mu + 2e-3
        assert cost.max() > 0.999 * mu

    def test_inverse(self):
        for length in LAMBDAS:
            again = 2.0 * float(logit(ndtr(0.5 * mu_of(length))))
            assert again == pytest.approx(length, rel=1e-9)

    def test_against_pure_half_and_the_slope_at_zero(self):
        assert mu_of(1e-6) == pytest.approx(1e-6 * math.sqrt(2.0 * math.pi) / 4.0, rel=1e-9)
        assert all(mu_of(x) < 0.62666 * x for x in LAMBDAS)


def random_pair(rng, length):
    """Probabilities under Q and losses of a pair whose losses fill an interval of this length."""
    size = int(rng.integers(2, 7))
    law = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 4.0])))
    losses = rng.uniform(0.0, length, size)
    losses[:2] = 0.0, length
    return law, losses - np.log(np.exp(losses) @ law)  # E_Q e^L = 1


def binary(length, split):
    """Two values, ``-split`` and ``length - split``."""
    a, b = -split, length - split
    q = -math.expm1(a) / (math.exp(b) - math.exp(a))
    return np.array([1.0 - q, q]), np.array([a, b])


def least_mu(law, losses):
    """Smallest mu of a pair, from the vertices of its trade-off curve."""
    order = np.argsort(-losses)
    x = np.cumsum(law[order])[:-1]
    y = np.cumsum((law * np.exp(losses))[order])[:-1]
    inside = (x > 1e-12) & (y < 1.0 - 1e-12)
    return float(np.max(ndtri(y[inside]) - ndtri(x[inside]), initial=0.0))


def largest_rate(law, losses):
    """Largest Rényi divergence over its order, both ways round, on a grid of orders."""
    found = 0.0
    for sign in (1.0, -1.0):
        reference = law if sign > 0.0 else law * np.exp(losses)
        for order in (1.0 + 1e-4, 1.01, 1.3, 2.0, 5.0, 20.0, 200.0):
            exponents = order * sign * losses
            top = exponents.max()
            moment = top + math.log(np.exp(exponents - top) @ reference)
            found = max(found, moment / (order - 1.0) / order)
    return found


class TestPairs:
    @pytest.mark.parametrize("length", LAMBDAS[1:6])
    def test_no_pair_exceeds_the_claims(self, length):
        rng = np.random.default_rng(5)
        pairs = [random_pair(rng, length) for _ in range(150)]
        pairs += [binary(length, share * length) for share in np.linspace(0.01, 0.99, 99)]
        for _, losses in pairs:
            assert np.ptp(losses) == pytest.approx(length)
            assert np.abs(losses).max() <= length * (1.0 + 1e-12)
        mus = [least_mu(*pair) for pair in pairs]
        rates = [largest_rate(*pair) for pair in pairs]
        assert max(mus) <= mu_of(length) * (1.0 + 1e-9)
        assert max(rates) <= length**2 / 8.0 * (1.0 + 1e-6)
        # negative controls: a little less is exceeded, and so is the cost of half the range
        assert max(mus) > 0.999 * mu_of(length)
        assert max(mus) > mu_of(0.5 * length)
        assert max(rates) > 0.25 * length**2 / 8.0 or length > 2.0

    def test_the_constant_of_concentrated_privacy(self):
        for length in (0.01, 0.05):
            rate = largest_rate(*binary(length, 0.5 * length))
            assert 0.999 * length**2 / 8.0 < rate <= length**2 / 8.0 * (1.0 + 1e-4)

    def test_same_sign_scores_and_the_control(self):
        """Counts that move one way have range lambda, those that move both ways have twice that."""
        rng, length = np.random.default_rng(2), 0.7
        ranges = {}
        kinds = {"same": ([0.0, 1.0], 1.0), "both": ([-1.0, 0.0, 1.0], 1.0)}
        for name, (signs, share) in {**kinds, "half": ([-1.0, 0.0, 1.0], 0.5)}.items():
            worst = 0.0
            for _ in range(300):
                scores = rng.integers(0, 9, size=12).astype(float)
                moved = scores + rng.choice(signs, size=12)
                first, second = (np.exp(-share * length * x) for x in (scores, moved))
                losses = np.log(first / first.sum()) - np.log(second / second.sum())
                worst = max(worst, float(np.ptp(losses)))
            ranges[name] = worst
        assert ranges["same"] == pytest.approx(length, rel=1e-12)
        assert ranges["half"] == pytest.approx(length, rel=1e-12)
        assert ranges["both"] == pytest.approx(2.0 * length, rel=1e-12)
