import math

import mpmath
import numpy as np
import pytest
import scipy

from riemdp.privacy import IsotropicCurve, LaplaceCurve, gaussian_delta
from riemdp.privacy._isotropic_mu import LossPoints, bracket, chord_mu, hyperbolic_tail
from riemdp.privacy._isotropic_quadrature import LossIntegrals

ERROR = 1e-11


def gaussian_points(mu, error=ERROR):
    def evaluate(epsilon):
        z = epsilon / mu - 0.5 * mu
        cdf = scipy.special.log_ndtr
        errors = np.full_like(epsilon, error)
        return LossPoints(epsilon, cdf(-z), cdf(z), cdf(-z - mu), errors)

    return evaluate


def laplace_points(separation, error=ERROR):
    """Two Laplace laws on the line."""

    def evaluate(epsilon):
        half = 0.5 * (separation - epsilon)  # the first half of the event, from its location on
        first = 1.0 - 0.5 * np.exp(-half)
        second = 0.5 * np.exp(-0.5 * (separation + epsilon))
        logs = np.log(np.array([first, 1.0 - first, second]))
        return LossPoints(epsilon, *logs, np.full_like(epsilon, error))

    return evaluate


@pytest.mark.parametrize("mu", [0.1, 1.0, 6.0])
def test_chords_of_a_gaussian_curve_lie_just_above_it(mu):
    epsilon = np.linspace(0.0, 0.5 * mu * mu + 5.0 * mu, 40)
    wide = chord_mu(gaussian_points(mu)(epsilon))
    assert np.all(wide >= mu)
    assert 1.0 + 1e-5 < wide[0] / mu < 1.01
    halved = chord_mu(gaussian_points(mu)(np.linspace(0.0, epsilon[-1], 79)))
    assert (halved[0] - mu) / (wide[0] - mu) == pytest.approx(0.25, rel=0.02)


@pytest.mark.parametrize("separation", [0.1, 1.0, 4.0])
def test_bracket_of_the_laplace_law(separation):
    grid = np.linspace(0.0, 0.98 * separation, 9)
    lower, upper = bracket(laplace_points(separation), grid, end=separation)
    exact = LaplaceCurve(separation).mu()
    assert lower <= exact <= upper <= lower * (1.0 + 1e-5)
    assert upper == pytest.approx(exact, rel=3e-9)


def test_a_proved_cap_ends_the_search():
    calls = []

    def evaluate(epsilon):
        calls.append(epsilon.size)
        return gaussian_points(2.0)(epsilon)

    grid = np.linspace(0.0, 10.0, 9)
    assert bracket(evaluate, grid, end=math.inf, cap=2.0 * (1.0 + 1e-10))[1] == 2.0 * (1.0 + 1e-10)
    assert len(calls) == 1


def test_an_unbounded_loss_needs_its_tail():
    grid = np.linspace(0.0, 10.0, 9)
    refused = bracket(
        gaussian_points(2.0), grid, end=math.inf, tail=lambda *_: math.inf, deepest=30.0
    )
    assert refused[1] == math.inf
    proved = bracket(gaussian_points(2.0), grid, end=math.inf, tail=lambda mu, _: mu, deepest=30.0)
    assert 2.0 <= proved[1] <= 2.0 * (1.0 + 1e-5)


def test_hyperbolic_tail_holds_and_is_refused_under_the_flat_mu():
    law = LossIntegrals("gaussian", 3, -1, 0.5, 1.0)
    mu, start = 2.2, 30.0  # the exact one is about 2.15
    assert hyperbolic_tail(law, mu, start) == mu
    assert hyperbolic_tail(law, 2.0, start) == math.inf
    assert hyperbolic_tail(law, mu, 3.0) == math.inf
    epsilon = np.linspace(start, 60.0, 40)
    first, second = law.log_first(epsilon), law.log_complement(-epsilon)
    log_delta = first + np.log(-np.expm1(epsilon + second - first))
    normal = gaussian_points(mu)(epsilon)
    log_normal = normal.log_first + np.log(
        -np.expm1(epsilon + normal.log_second - normal.log_first)
    )
    assert np.all(log_delta < log_normal)
    smaller = gaussian_points(2.0)(epsilon)  # negative control
    assert np.any(log_delta > smaller.log_first)


def test_errors_of_the_probabilities_widen_the_bracket():
    grid = np.linspace(0.0, 10.0, 9)
    options = {"end": math.inf, "tail": lambda mu, _: mu, "deepest": 30.0}
    _, upper = bracket(gaussian_points(2.0, 1e-4), grid, **options)
    assert 2.0 * (1.0 + 1e-5) < upper < 2.0 * (1.0 + 1e-2)


def test_no_mass_beyond_the_end():
    points = gaussian_points(1.0)(np.array([0.0, 1.0]))
    nothing = np.full(1, -np.inf)
    end = LossPoints(np.array([2.0]), nothing, np.zeros(1), nothing, np.array([ERROR]))
    joined = points.merged(end)
    assert joined.log_delta()[-1] == -np.inf
    assert joined.exact_mu()[-1] == 0.0
    assert np.isfinite(chord_mu(joined)).all()


@pytest.mark.parametrize(
    ("dim", "sigma", "sensitivity"), [(2, 0.5, 1.0), (3, 1.0, 1.0), (5, 2, 0.3)]
)
def test_the_tail_on_hyperbolic_space_is_granted_only_where_it_holds(dim, sigma, sensitivity):
    curve = IsotropicCurve("gaussian", dim, -1.0, sigma, sensitivity)
    grid = np.linspace(0.0, curve._reach(25.0), 400)
    delta = curve.delta_at(grid)
    granted = wrong = 0
    for mu in sensitivity / sigma * np.geomspace(1.0001, 3.0, 12):
        above = delta > gaussian_delta(mu, grid) * (1.0 + 1e-9)
        for start in range(0, len(grid), 20):
            broken = bool(above[start:].any())
            wrong += broken
            if hyperbolic_tail(curve._integrals, float(mu), float(grid[start])) < np.inf:
                granted += 1
                assert not broken
    assert granted > 5
    assert wrong > 5  # the control: granting everywhere would be wrong


def test_parts_and_merged_points_keep_their_errors():
    one = gaussian_points(1.0)(np.array([0.0, 1.0]))
    other = gaussian_points(1.0, 1e-3)(np.array([0.5]))
    joined = one.merged(other)
    assert joined.epsilon.tolist() == [0.0, 0.5, 1.0]
    assert joined.error.tolist() == [ERROR, 1e-3, ERROR]
    assert joined.part(slice(1, None)).epsilon.tolist() == [0.5, 1.0]
    # a larger error gives a larger delta, and small probabilities are allowed more
    exact = gaussian_points(1.0)(np.array([0.5])).log_delta()[0]
    assert exact < joined.log_delta()[1] < exact + 0.01
    assert joined.allowed(np.array([0.0, -2000.0, 0.0])).tolist() == [ERROR, 3e-3, ERROR]


@pytest.mark.parametrize(
    ("first", "second", "above"),
    [([0.9, 0.8], 1e-3, 0.9), ([0.4, 0.52182818284], 0.1, 0.52182818284)],
)
def test_a_line_of_another_slope_lies_above_both_ends(first, second, above):
    # The slope is kept to what the probabilities allow; the line then passes through one end.
    epsilon, first = np.array([0.0, 1.0]), np.array(first)
    logs = np.log([first, 1.0 - first, np.full(2, second)])
    points = LossPoints(epsilon, *logs, np.full(2, 1e-15))
    (mu,) = chord_mu(points)
    expected = scipy.special.ndtri(above) - scipy.special.ndtri(second)
    assert mu == pytest.approx(expected, rel=1e-9)


@pytest.mark.fast("4-1.0-0.7-30.0", "100-0.02-0.03-90.0")
@pytest.mark.parametrize(
    ("dim", "sigma", "sensitivity", "epsilon"),
    [(2, 0.5, 1.0, 30.0), (4, 1.0, 0.7, 30.0), (100, 0.02, 0.03, 90.0)],  # the last: in other units
)
def test_the_tail_is_granted_where_the_inequality_of_its_proof_holds(
    dim, sigma, sensitivity, epsilon
):
    law = LossIntegrals("gaussian", dim, -1, sigma, sensitivity)
    base, growth = sensitivity / sigma, (dim - 1) * sigma
    far = sigma * (growth + math.sqrt(dim))
    low, high = base * 1.01, 3.0 * base
    assert hyperbolic_tail(law, low, epsilon) == math.inf
    assert hyperbolic_tail(law, high, epsilon) == high
    for _ in range(60):
        middle = 0.5 * (low + high)
        granted = hyperbolic_tail(law, middle, epsilon) < math.inf
        low, high = (low, middle) if granted else (middle, high)
    with mpmath.workdps(30):
        mu, base = mpmath.mpf(high), mpmath.mpf(base)
        # what the mass is without 2^(1-dim) and exp(growth^2 / 2)
        mass = mpmath.quad(
            lambda r: (
                (2 * mpmath.sinh(r)) ** (dim - 1)
                * mpmath.exp(-((r / sigma) ** 2) / 2 - growth**2 / mpmath.mpf(2))
            ),
            [part * far / 16 for part in range(97)],
        )
        z, w = epsilon / base - base / 2 - growth, epsilon / mu - mu / 2
        needed = mpmath.log(sigma * mpmath.sqrt(2 * mpmath.pi) / mass / z / mu)
        needed += mpmath.log((w + mu) ** 2 + 3)
        gap = float((z * z - w * w) / 2 - needed)
    # at the least mu that is granted, nothing but an allowance for rounding is left
    assert 0.9e-9 < gap < 2e-9


@pytest.mark.parametrize(("error", "most"), [(1e-11, 130), (1e-7, 78), (1e-4, 38)])
def test_points_are_not_spent_on_what_errors_hide(error, most):
    sizes = []
    evaluate = laplace_points(1.0, error)

    def counted(epsilon):
        sizes.append(epsilon.size)
        return evaluate(epsilon)

    for scale in (0.5, 0.7, 0.9, 0.98):
        bracket(counted, scale * np.linspace(0.0, 1.0, 9), end=1.0)
    assert sum(sizes) <= most


def test_a_point_without_one_of_the_probabilities_says_nothing_of_mu():
    logs = np.log([0.3, 0.2]), np.log([0.7, 0.8])
    first, second = np.array([-np.inf, logs[0][1]]), np.array([-1.0, -2.0])
    points = LossPoints(np.array([1.0, 2.0]), first, logs[1], second, np.zeros(2))
    found = points.exact_mu()
    assert found[0] == 0.0
    assert np.isfinite(found[1])
    assert found[1] != 0.0
