"""Privacy curves in dimensions 65 to 1000, against balls of numbers and many digits."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
import scipy

from riemdp.privacy import IsotropicCurve
from riemdp.privacy._isotropic_quadrature import PLAIN_DIM, PROBABILITY_ERROR, LossIntegrals

#: Twice the tangent of the largest radius over the number of records.
SENSITIVITY = 2.0 * math.tan(1.5) / 1628


class Reference:
    """``P_1(L >= epsilon)`` and ``P_1(L < epsilon)`` straight from the law of cosines, 40 digits.

    The incomplete beta function is a finite or long series of positive terms, and the integral
    over the radii is a rule of 24 nodes on 12 panels across what is left after a search.
    """

    def __init__(self, kind, dim, sign, sigma, sensitivity):
        self.kind, self.dim, self.sign = kind, dim, sign
        self.sigma, self.sensitivity = mpmath.mpf(sigma), mpmath.mpf(sensitivity)
        self.size = {-1: mpmath.sinh, 0: lambda x: x, 1: mpmath.sin}[sign]
        growth = (dim - 1) * sigma if sign < 0 else 0.0
        far = 2.0 * sigma * dim / (1.0 - growth) if kind == "laplace" else sigma * (growth + dim)
        self.end = mpmath.pi if sign > 0 else mpmath.mpf(4.0 * far + sensitivity)
        self.half = mpmath.mpf(dim - 1) / 2
        self.front = self.half * mpmath.beta(self.half, self.half)
        self.mass = self.integral(self.density, mpmath.mpf(0), self.end)

    def density(self, r):
        ratio = r / self.sigma
        energy = ratio if self.kind == "laplace" else ratio**2 / 2
        return mpmath.exp((self.dim - 1) * mpmath.log(self.size(r)) - energy)

    def share(self, x):
        """``I_x(h, h)`` by its series of positive terms, in integers."""
        if x > 0.5:
            return 1 - self.share(1 - x)
        bits, count = 160, self.dim - 1
        factor = int(mpmath.ldexp(x, bits))
        term = total = 1 << bits
        n = 0
        while term >> 4:
            term = (term * factor >> bits) * (2 * (count + n)) // (count + 2 + 2 * n)
            total, n = total + term, n + 1
        return (x * (1 - x)) ** self.half / self.front * mpmath.ldexp(total, -bits)

    def cap(self, r, epsilon, *, complement):
        moved = self.sigma * epsilon
        other = r + moved if self.kind == "laplace" else mpmath.sqrt(r**2 + 2 * self.sigma * moved)
        d = self.sensitivity
        if self.sign > 0:
            top = mpmath.cos(other) - mpmath.cos(r) * mpmath.cos(d)
            cosine = top / (mpmath.sin(r) * mpmath.sin(d))
        elif self.sign < 0:
            top = mpmath.cosh(r) * mpmath.cosh(d) - mpmath.cosh(other)
            cosine = top / (mpmath.sinh(r) * mpmath.sinh(d))
        else:
            cosine = (r**2 + d**2 - other**2) / (2 * r * d)
        x = (1 - cosine if complement else 1 + cosine) / 2
        return self.share(min(max(x, mpmath.mpf(0)), mpmath.mpf(1)))

    def integral(self, function, low, high):
        """Integrate what is above ``exp(-70)`` of the largest value."""
        for _ in range(60):
            grid = [low + (high - low) * (i + mpmath.mpf(0.5)) / 24 for i in range(24)]
            values = [function(r) for r in grid]
            most = max(values) * mpmath.exp(-70)
            kept = [i for i, value in enumerate(values) if value > most]
            first = grid[kept[0] - 1] if kept[0] else low
            last = grid[kept[-1] + 1] if kept[-1] < 23 else high
            done = last - first > (high - low) / 2
            low, high = first, last
            if done:
                break
        nodes, weights = np.polynomial.legendre.leggauss(24)
        width = (high - low) / 12
        parts = (
            mpmath.mpf(weight) * function(low + width * (i + (1 + mpmath.mpf(node)) / 2))
            for i in range(12)
            for node, weight in zip(nodes, weights, strict=True)
        )
        return mpmath.fsum(parts) * width / 2

    def log_probability(self, epsilon, *, complement=False):
        with mpmath.workdps(40):
            s, d, epsilon = self.sigma, self.sensitivity, mpmath.mpf(epsilon)
            laplace = self.kind == "laplace"
            near = -(d - s * epsilon) / 2 if laplace else s * s * epsilon / d - d / 2
            far = self.end
            if self.sign > 0:
                turn = 2 * mpmath.pi - d
                far = (turn - s * epsilon) / 2 if laplace else turn / 2 - s * s * epsilon / turn

            def proper(r):
                return self.density(r) * self.cap(r, epsilon, complement=complement)

            total = self.integral(proper, abs(near), far)
            if (near < 0) != complement:
                total += self.integral(self.density, mpmath.mpf(0), abs(near))
            if complement and self.sign > 0:
                total += self.integral(self.density, far, self.end)
            return mpmath.log(total / self.mass)


def references(law, epsilons):
    """Logs of the three probabilities at each ``epsilon``."""
    known = Reference(law.kind, law.dim, law.sign, law.sigma, law.sensitivity)
    return [
        (
            known.log_probability(epsilon),
            known.log_probability(epsilon, complement=True),
            known.log_probability(-epsilon, complement=True),
        )
        for epsilon in epsilons
    ]


def worst(law, epsilons, exact=None):
    """Largest error of the three probabilities, as a share of what is allowed for it."""
    exact = references(law, epsilons) if exact is None else exact
    point = np.array(epsilons)
    found = np.stack([law.log_first(point), law.log_complement(point), law.log_complement(-point)])
    return max(
        float(abs(mpmath.mpf(float(value)) - log)) / (PROBABILITY_ERROR + 1e-14 * abs(float(log)))
        for values, logs in zip(found.T, exact, strict=True)
        for value, log in zip(values, logs, strict=True)
    )


def law_of(kind, dim, sign, ratio, sensitivity=SENSITIVITY):
    """Of a sensitivity that is so many standard deviations."""
    sigma = sensitivity / ratio if kind == "gaussian" else sensitivity / (ratio * math.sqrt(dim))
    return LossIntegrals(kind, dim, sign, sigma, sensitivity, math.pi if sign > 0 else math.inf)


@pytest.mark.parametrize(
    ("dim", "sign", "ratio"), [(199, 1, 1.0), pytest.param(1000, -1, 0.3, marks=pytest.mark.slow)]
)
def test_probabilities_and_what_shows_a_wrong_one(dim, sign, ratio, monkeypatch):
    law = law_of("gaussian", dim, sign, ratio)
    exact = references(law, [1.0])
    assert worst(law, [1.0], exact) < 0.3
    # negative controls: one percent of sigma, one dimension, and volumes that do not grow at all
    for change in ({"sigma": 0.99 * law.sigma}, {"dim": dim - 1}):
        assert worst(dataclasses.replace(law, **change), [1.0], exact) > 1e6
    monkeypatch.setattr(
        LossIntegrals, "log_density", lambda self, r, _: -self.potential.energy(r / self.sigma)
    )
    assert worst(dataclasses.replace(law), [1.0], exact) > 1e6


@pytest.mark.slow
@pytest.mark.parametrize("dim", [65, 100, 199, 500, 999, 1000])
@pytest.mark.parametrize(
    ("kind", "sign"),
    [("gaussian", 1), ("gaussian", -1), ("laplace", 1), ("laplace", 0), ("laplace", -1)],
)
def test_the_grid(kind, sign, dim):
    settings = [(SENSITIVITY, 0.1), (SENSITIVITY, 3.0), (1e-6, 1.0), (0.3, 4.0)]
    for sensitivity, ratio in settings:
        law = law_of(kind, dim, sign, ratio, sensitivity)
        if kind == "laplace" and sign < 0 and law.sigma * (dim - 1) > 0.95:
            continue
        epsilons = [0.0, 0.5 * ratio**2 + 2.0 * ratio]
        assert worst(law, epsilons) < 0.3


@pytest.mark.parametrize("sign", [1, -1])
def test_scales_far_below_the_curvature_radius_keep_their_digits(sign, monkeypatch):
    epsilon = np.array([0.0, 0.3, 1.0, 8.0])
    flat = scipy.special.log_ndtr(0.5 - epsilon)  # curvature changes the 27th digit

    def errors(scale):
        laws = [law_of("gaussian", 1000, sign, 1.0, scale * (1.0 + 0.1 * i)) for i in range(10)]
        return np.max([np.abs(law.log_first(epsilon) - flat) for law in laws])

    assert errors(1e-15) < 0.25 * PROBABILITY_ERROR
    monkeypatch.setattr(LossIntegrals, "per_unit", 1.0)  # negative control
    assert errors(1e-15) > 0.25 * PROBABILITY_ERROR


def test_what_bounds_the_bracket_does_not_depend_on_the_unit(monkeypatch):
    curve = IsotropicCurve("gaussian", 199, -1.0, 0.01, 0.01)
    lower, upper = curve.mu_bracket()
    assert lower <= upper <= lower * (1.0 + 1e-4)
    monkeypatch.setattr(LossIntegrals, "per_unit", 1.0)
    other = IsotropicCurve("gaussian", 199, -1.0, 0.01, 0.01)
    assert other.mu() == pytest.approx(upper, rel=1e-9)


def test_up_to_the_plain_dimension_nothing_is_scaled():
    assert LossIntegrals("gaussian", PLAIN_DIM, 1, 1e-9, 1e-9, math.pi).per_unit == 1.0
    higher = LossIntegrals("gaussian", PLAIN_DIM + 1, 1, 1e-9, 1e-9, math.pi)
    assert higher.per_unit * 1e-9 == pytest.approx(1.0, rel=0.5)
    assert math.frexp(higher.per_unit)[0] == 0.5
    assert LossIntegrals("gaussian", 100, 1, 2.0, 1.0, math.pi).per_unit == 1.0


@pytest.mark.parametrize(
    ("kind", "sigma", "sensitivity"), [("gaussian", 0.975, 2.5), ("laplace", 0.01, 0.1)]
)
def test_next_to_the_largest_loss(kind, sigma, sensitivity):
    """Where the ends of the integrals have lost digits an earlier ``delta`` is returned."""
    curve = IsotropicCurve(kind, 65, 1.0, sigma, sensitivity)
    pure = curve.pure_epsilon()
    known = curve.delta_at(0.98 * pure)
    assert curve.delta_at((1.0 - 1e-4) * pure) == known == curve.delta_at(0.99 * pure) > 0.0
    assert curve.delta_at(0.97 * pure) > known
    assert curve.delta_at(pure) == 0.0
    # negative control: the integrals there are off by more than is allowed for
    law = curve._integrals
    if kind == "gaussian":
        assert worst(law, [0.9801 * pure]) < 0.3
        assert worst(law, [(1.0 - 1.02e-4) * pure]) > 1.0


@pytest.mark.fast("1.0-199-1.0")
@pytest.mark.parametrize(("dim", "mu"), [(199, 1.0), (65, 0.3), (1000, 0.3)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_mu_and_delta_are_above_the_reference(dim, mu, sign):
    curve = IsotropicCurve("gaussian", dim, sign, SENSITIVITY / mu, SENSITIVITY)
    lower, upper = curve.mu_bracket()
    reference = Reference("gaussian", dim, int(sign), curve.sigma, SENSITIVITY)
    least = IsotropicCurve("gaussian", dim, sign, 1.01 * curve.sigma, SENSITIVITY)
    for epsilon in (0.0, 0.5 * upper**2 + 2.0 * upper):
        first = reference.log_probability(epsilon)
        second = reference.log_probability(-epsilon, complement=True)
        with mpmath.workdps(30):
            delta = float(mpmath.exp(first) - mpmath.exp(epsilon + second))
            quantiles = (
                mpmath.erfinv(1 - 2 * mpmath.exp(log)) * mpmath.sqrt(2) for log in (second, first)
            )
            exact = float(next(quantiles) - next(quantiles))
        assert delta < curve.delta_at(epsilon) <= delta * (1.0 + 1e-8)
        assert lower * (1.0 - 1e-2) < exact <= upper
        # negative control: the curve of one percent more noise is under it
        assert least.delta_at(epsilon) < delta
        assert least.mu() < exact or epsilon > 0.0
