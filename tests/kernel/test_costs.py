"""What noise costs: closed forms, other arithmetic, sums, and the ends of budgets."""

from __future__ import annotations

import ast
import dataclasses
import math
from fractions import Fraction
from pathlib import Path

import flint
import mpmath
import pytest

from riemdp.kernel import Choice, _costs, is_sharp, noise, within_budget

THIRD = Fraction(1, 3)
RATIOS = [1e-40, 1e-9, 1e-3, 0.1, 0.37, 1.0, 2.0, 7.5, 60.0, 900.0]


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(150):
        yield


def gaussian(square):
    return noise("gaussian", 3, Fraction(square), 1.0)


def laplace(square, dim=3):
    return noise("laplace", dim, Fraction(square), 1.0)


def number(fraction):
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def quantile(p):
    """Inverse of the normal distribution function, by mpmath."""
    return -mpmath.sqrt(2) * inverse_erfc(2 * p)


def inverse_erfc(y):
    start = mpmath.sqrt(-mpmath.log(y)) if y < 0.01 else mpmath.erfinv(1 - y)
    for _ in range(200):  # Newton's method, on the logarithm
        value = mpmath.erfc(start)
        slope = -2 / mpmath.sqrt(mpmath.pi) * mpmath.exp(-(start**2))
        step = value * mpmath.log(value / y) / slope
        start -= step
        if abs(step) < mpmath.mpf(10) ** -110:
            break
    return start


def delta(mu, epsilon):
    """Curve of two normal distributions."""
    first, second = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    tails = (mpmath.erfc(x / mpmath.sqrt(2)) / 2 for x in (first, second))
    return next(tails) - mpmath.exp(epsilon) * next(tails)


def just(value, factor=Fraction(1, 10**10)):
    """Floats just over a number, and just under it."""
    value = number(value) if isinstance(value, Fraction) else value
    return float(value * (1 + number(factor))), float(value * (1 - number(factor)))


def test_costs_of_gaussian_noise_are_exact():
    found = noise("gaussian", 2, THIRD, 0.1)
    ratio = THIRD / Fraction(0.1) ** 2
    assert found.mu_square == found.length_square == 2 * found.rho == ratio
    assert found.epsilon is None


def test_pure_epsilon_is_exact_where_it_is_rational_and_rounded_up_elsewhere():
    assert noise("laplace", 2, Fraction(0.3) ** 2, 0.1).epsilon == Fraction(0.3) / Fraction(0.1)
    for square in (Fraction(2), THIRD, Fraction(10) ** -150 / 7, Fraction(10) ** 150 / 7):
        root = laplace(square).epsilon
        assert square < root**2 <= square * (1 + Fraction(1, 2**128)) ** 2
    assert laplace(2, dim=5).length_square == Fraction(2, 5)


@pytest.mark.parametrize("ratio", RATIOS)
def test_conversions_are_those_of_mpmath_and_rounded_up(ratio):
    epsilon = mpmath.mpf(ratio)
    expected = {
        "mu": -2 * quantile(1 / (1 + mpmath.exp(epsilon))),
        "mu on a line": -2 * quantile(mpmath.exp(-epsilon / 2) / 2),
        "rho": epsilon * mpmath.tanh(epsilon / 2),
        "mu of a choice": -2 * quantile(1 / (1 + mpmath.exp(epsilon / 2))),
    }
    square, choice = Fraction(ratio) ** 2, Choice(Fraction(ratio))
    found = {
        "mu": mpmath.sqrt(number(laplace(square).mu_square)),
        "mu on a line": mpmath.sqrt(number(laplace(square, dim=1).mu_square)),
        "rho": number(laplace(square).rho),
        "mu of a choice": mpmath.sqrt(number(choice.mu_square)),
    }
    for name, wanted in expected.items():
        assert abs(found[name] / wanted - 1) < mpmath.mpf(10) ** -30, name
        assert found[name] > wanted * (1 - mpmath.mpf(10) ** -80), name  # to 58 digits
    assert choice.rho == Fraction(ratio) ** 2 / 8
    assert choice.epsilon == ratio


@pytest.mark.parametrize("epsilon", [Fraction(10) ** -70, Fraction(10) ** 70, Fraction(2**4000)])
def test_extreme_scales_have_costs(epsilon):
    """Between ``2 epsilon`` and the square root of ``epsilon``, or nearly."""
    for found in (laplace(epsilon**2), laplace(epsilon**2, dim=1), Choice(epsilon)):
        assert min(epsilon, 1) ** 2 / 8 <= found.mu_square <= 4 * epsilon**2
        assert 0 < found.rho <= epsilon**2


@pytest.mark.parametrize("deviations", [0.01, 0.5, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("ratio", [1e-70, 1e-6, 0.05, 0.3, 1.0, 3.0, 40.0])
def test_the_curve_is_that_of_mpmath(ratio, deviations):
    epsilon = ratio * deviations
    wanted = delta(mpmath.mpf(ratio), mpmath.mpf(epsilon))
    over, under = just(wanted, Fraction(1, 10**14))
    draws = {gaussian(Fraction(ratio) ** 2): 1}
    assert within_budget(draws, "approx", epsilon, over)
    assert not within_budget(draws, "approx", epsilon, under)


def sizes_of(definition, mu_square, rho, epsilon, length):
    """Least sizes of a definition, by mpmath, from what queries add up to."""
    mu_square, rho, length = map(number, (mu_square, rho, length))
    s = min(1, mpmath.mpf(8) / 5 / (1 + rho))
    return {
        "pure": [epsilon and number(epsilon)],
        "gdp": [mpmath.sqrt(mu_square)],
        "zcdp": [rho],
        "kl": [rho],
        "renyi": [2.5, mpmath.mpf(2.5) * rho],
        "approx": [0.7, delta(mpmath.sqrt(mu_square), mpmath.mpf(0.7))],
        "mean": [1e6, mpmath.sqrt(2 * mpmath.expm1(s * (s + 1) * rho)) / s],
        "angle": [2 * mpmath.acos(mpmath.exp(-mu_square / 8))],
        "length": [mpmath.sqrt(length)],
    }[definition]


DEFINITIONS = ["pure", "gdp", "zcdp", "kl", "renyi", "approx", "mean", "angle", "length"]


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("kind", [gaussian, laplace])
def test_costs_of_several_queries_add_up(definition, kind):
    """Seven queries of one weight and two of another: just inside the sum, and just outside."""
    draws = {kind(Fraction(1, 9)): 7, kind(Fraction(1, 4)): 2}
    if kind is gaussian and definition == "pure":
        assert not within_budget(draws, "pure", 1e300)
        return

    def total(cost):
        return sum(times * getattr(each, cost) for each, times in draws.items())

    epsilon = None if kind is gaussian else total("epsilon")
    sums = total("mu_square"), total("rho"), epsilon, total("length_square")
    if kind is laplace:
        assert epsilon == Fraction(7, 3) + 1
    *fixed, last = sizes_of(definition, *sums)
    over, under = just(last)
    assert within_budget(draws, definition, *fixed, over)
    assert not within_budget(draws, definition, *fixed, under)
    assert not within_budget({**draws, kind(Fraction(1)): 1}, definition, *fixed, over)


@pytest.mark.parametrize("definition", ["pure", "gdp", "zcdp", "kl", "length"])
def test_budgets_are_compared_exactly(definition):
    """At the budget, and one part in 2^200 beyond it."""
    size, beyond = Fraction(0.3), 1 + Fraction(1, 2**200)
    square = {"zcdp": 2 * size, "kl": 2 * size}.get(definition, size**2)
    kind = laplace if definition == "pure" else gaussian
    assert within_budget({kind(square): 1}, definition, 0.3)
    assert not within_budget({kind(square * beyond**2): 1}, definition, 0.3)


def test_mean_concentrated_privacy_bounds_the_mean_of_the_loss_too():
    draws = {gaussian(Fraction(1)): 2}
    assert within_budget(draws, "mean", 1.0, 10.0)
    assert not within_budget(draws, "mean", math.nextafter(1.0, 0.0), 10.0)


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(3, 5), Fraction(5, 8), Fraction(40)])
def test_mean_concentrated_privacy_is_proved_for_steps_of_at_most_one(rho):
    """The step is 1 up to a rho of 3/5: docs/proofs/privacy-conversions.md."""
    step = 1 if rho <= Fraction(3, 5) else Fraction(8, 5) / (1 + rho)
    tau = mpmath.sqrt(2 * mpmath.expm1(number(step * (step + 1) * rho))) / number(Fraction(step))
    over, under = just(tau, Fraction(1, 10**14))
    draws = {gaussian(2 * rho): 1}
    assert within_budget(draws, "mean", 2 * float(rho), over)
    assert not within_budget(draws, "mean", 2 * float(rho), under)


def test_pure_noise_is_within_approximate_budgets_by_its_epsilon_or_by_its_curve():
    by_epsilon, by_curve = {laplace(1): 1}, {laplace(Fraction(1, 100)): 100}
    assert within_budget(by_epsilon, "approx", 1.0, 1e-300)
    assert not within_budget(by_epsilon, "approx", 0.999, 1e-300)
    assert not within_budget(by_curve, "pure", 6.0)
    assert within_budget(by_curve, "approx", 6.0, 1e-3)


def test_kinds_add_up_with_choices():
    draws = {gaussian(1): 1, Choice(Fraction(2)): 1, laplace(1): 1}
    assert within_budget(draws, "zcdp", 1 / 2 + 4 / 8 + math.tanh(0.5) + 1e-9)
    assert not within_budget(draws, "zcdp", 1 / 2 + 4 / 8 + math.tanh(0.5) - 1e-9)
    assert not within_budget(draws, "length", 1e9)  # of a choice none is known
    assert within_budget({Choice(Fraction(1)): 3}, "pure", 3.0)
    assert not within_budget({Choice(Fraction(1)): 3}, "pure", 2.999)


def test_orders_without_end_are_pure():
    assert not within_budget({gaussian(1): 1}, "renyi", math.inf, 1e9)
    assert within_budget({laplace(9): 1}, "renyi", math.inf, 3.0)
    assert not within_budget({laplace(9): 1}, "renyi", math.inf, 2.999)


def test_an_angle_of_pi_allows_all():
    assert within_budget({gaussian(10**9): 1}, "angle", math.pi)
    assert within_budget({gaussian(10**9): 1}, "angle", 4.0)
    assert not within_budget({gaussian(10**9): 1}, "angle", math.nextafter(math.pi, 0.0))


def test_without_an_enclosure_costs_are_bounded(monkeypatch):
    monkeypatch.setattr(_costs, "_up", lambda _: None)
    epsilon = Fraction(31, 7)
    assert laplace(epsilon**2).mu_square == 4 * epsilon**2
    assert laplace(epsilon**2).rho == 2 * epsilon
    assert not within_budget({laplace(epsilon**2): 1}, "mean", 100.0, 100.0)


def test_what_decides_nothing_is_not_within(monkeypatch):
    monkeypatch.setattr(_costs, "_MOST_BITS", 0)
    assert not within_budget({gaussian(1): 1}, "approx", 1.0, 0.99)


def test_bits_double_until_a_sign_is_known():
    taken = []

    def enclosure(middle, radius):
        taken.append(flint.ctx.prec)
        return flint.arb(middle, radius)

    for middle, radius, is_known in ((-0.5, 0.25, True), (0.5, 0.25, True), (0.0, 1.0, False)):
        taken.clear()
        assert _costs._is_negative(lambda a=middle, b=radius: enclosure(a, b)) is (middle < 0.0)
        assert taken == ([192] if is_known else [192, 384, 768, 1536, 3072])


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_nothing_costs_nothing(definition):
    fixed = {"approx": [0.0], "renyi": [2.0], "mean": [0.0]}.get(definition, [])
    assert within_budget({}, definition, *fixed, 0.0)


def test_where_other_arguments_may_say_more():
    assert is_sharp({gaussian(1): 1}, "gdp")
    assert is_sharp({laplace(1): 2}, "pure")
    assert not is_sharp({laplace(1): 2}, "gdp")
    assert not is_sharp({gaussian(1): 1, laplace(1): 2}, "zcdp")


@pytest.mark.parametrize("draw", [gaussian(1), laplace(1), Choice(THIRD)], ids=str)
def test_no_draw_changes_after_it_is_counted(draw):
    for field in dataclasses.fields(draw):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(draw, field.name, Fraction())


def test_it_knows_nothing_of_the_rest():
    """What is re-checked here is not asked: errors and precision are all it may import."""
    tree = ast.parse(Path(_costs.__file__).read_text(encoding="utf-8"))
    imported = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    own = {name for name in imported if name.startswith("riemdp")}
    assert own == {"riemdp._working_precision"}
