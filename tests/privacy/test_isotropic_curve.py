import itertools
import math

import numpy as np
import pytest
import scipy

from riemdp import _errors as errors
from riemdp.privacy import (
    GaussianCurve,
    LaplaceCurve,
    PureCurve,
    certified_delta,
    gaussian_delta,
)
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.privacy._isotropic_quadrature import LossIntegrals

MU = {
    (2, 1.0): (3.955713008, 0.822482729),
    (3, 1.0): (3.912487965, 0.721733707),
    (9, 1.0): (3.674093578, 0.468095873),
    (2, -1.0): (4.039471837, 1.161223865),
    (3, -1.0): (4.079816780, 1.366561800),
    (9, -1.0): (4.341122902, 2.689290488),
}
CIRCLE = [0.983169214812, 0.362390094208, 0.173744321854, 0.100249979767]


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("space", MU)
def test_pinned_mu(space, index):
    curve = IsotropicCurve("gaussian", *space, (0.25, 1.0)[index], 1.0)
    lower, upper = curve.mu_bracket()
    assert lower == pytest.approx(MU[space][index], rel=3e-9)
    assert lower <= upper <= lower * (1.0 + 1e-5)
    assert upper == pytest.approx(MU[space][index], rel=1e-7)
    assert curve.mu() == upper


@pytest.mark.parametrize("space", MU)
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("k", [0.5, 3.0])
def test_curvature_only_sets_the_unit(space, kind, k):
    dim, sign = space
    one = IsotropicCurve(kind, dim, sign, 0.1, 1.0)
    other = IsotropicCurve(kind, dim, sign * k * k, 0.1 / k, 1.0 / k)
    epsilon = np.linspace(0.0, 9.0, 7)
    np.testing.assert_allclose(other.delta_at(epsilon), one.delta_at(epsilon), rtol=1e-9)


@pytest.mark.parametrize("sigma", [1, 2, 3, 4])
def test_circle_is_its_closed_form(sigma):
    curve = IsotropicCurve("gaussian", 1, 0.0, sigma, 1.0, math.pi)
    assert curve.mu_bracket()[0] == pytest.approx(CIRCLE[sigma - 1], rel=3e-9)
    assert curve.mu() == pytest.approx(CIRCLE[sigma - 1], rel=3e-9)
    phi, s, d = scipy.special.ndtr, sigma, 1.0
    mass = phi(math.pi / s) - phi(-math.pi / s)
    turn = 2.0 * math.pi - d
    for e in np.array([0.0, 0.3, 0.7]) * curve.pure_epsilon():
        first = phi(d / 2 / s - s * e / d) - phi((-math.pi + d / 2 + s * s * e / turn) / s)
        second = phi(-d / 2 / s - s * e / d) - phi(-math.pi / s)
        second += phi(math.pi / s) - phi((math.pi - d / 2 + s * s * e / turn) / s)
        exact = (first - math.exp(e) * second) / mass
        assert curve.delta_at(e) == pytest.approx(exact, rel=1e-8)


def other_distance(curvature, r, delta, cosine):
    """Distance to the second footpoint by the law of cosines."""
    if curvature > 0.0:
        inner = np.cos(r) * math.cos(delta) + np.sin(r) * math.sin(delta) * cosine
        return np.arccos(np.clip(inner, -1.0, 1.0))
    if curvature < 0.0:
        inner = np.cosh(r) * math.cosh(delta) - np.sinh(r) * math.sinh(delta) * cosine
        return np.arccosh(np.maximum(inner, 1.0))
    return np.sqrt(np.maximum(r * r + delta**2 - 2.0 * r * delta * cosine, 0.0))


def graded(low, high, nodes, weights):
    """Nodes and weights on each (low, high), crowded at both ends."""
    angle = 0.5 * math.pi * (nodes + 1.0)
    scale = 0.25 * math.pi * weights * np.sin(angle)
    width = np.asarray(high - low)[..., None]
    return np.asarray(low)[..., None] + width * np.sin(0.5 * angle) ** 2, width * scale


def positive_part(kind, dim, curvature, sigma, epsilon, *, delta=1.0):
    """``delta`` as a double integral of the positive part in polar coordinates."""
    end = math.pi if curvature > 0.0 else 40.0 * sigma

    def potential(x):
        return x / sigma if kind == "laplace" else 0.5 * (x / sigma) ** 2

    def loss(r, cosine):
        return potential(other_distance(curvature, r, delta, cosine)) - potential(r)

    # radii at which the event begins or ceases to be empty, or everything: sign changes on a grid
    grid = np.linspace(0.0, end, 4001)
    breaks = [0.0, end] + ([end - delta] if curvature > 0.0 else [])
    for cosine in (-1.0, 1.0):
        sign = np.sign(loss(grid, cosine) - epsilon)
        for i in np.flatnonzero(sign[:-1] * sign[1:] < 0.0):
            excess = lambda r, c=cosine: float(loss(np.array(r), c)) - epsilon  # noqa: E731
            breaks.append(scipy.optimize.brentq(excess, grid[i], grid[i + 1], xtol=1e-14))
    breaks = np.unique(breaks)
    rule = np.polynomial.legendre.leggauss(60)
    cuts = np.unique(np.concatenate([np.linspace(i, j, 5) for i, j in itertools.pairwise(breaks)]))
    r, weight = (part.ravel() for part in graded(cuts[:-1], cuts[1:], *rule))
    low, high = np.zeros_like(r), np.full_like(r, math.pi)
    for _ in range(55):  # the angle from which on the loss is at least epsilon
        middle = 0.5 * (low + high)
        inside = loss(r, np.cos(middle)) >= epsilon
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    angle, share = graded(high, np.full_like(r, math.pi), *rule)
    ratio = loss(r[:, None], np.cos(angle))
    inner = (share * np.sin(angle) ** (dim - 2) * -np.expm1(epsilon - ratio)).sum(axis=1)
    radius = {1.0: np.sin, 0.0: lambda x: x, -1.0: np.sinh}[curvature]
    radial = weight * np.exp((dim - 1) * np.log(radius(r)) - potential(r))
    whole = math.sqrt(math.pi) * math.gamma(0.5 * (dim - 1)) / math.gamma(0.5 * dim)
    return float(radial @ np.maximum(inner, 0.0) / (radial.sum() * whole))


@pytest.mark.parametrize(
    ("kind", "dim", "curvature", "sigma", "epsilon"),
    [
        ("gaussian", 2, 1.0, 0.6, 0.5),
        ("gaussian", 5, 1.0, 0.3, 2.0),
        ("gaussian", 3, 1.0, 0.8, 0.2),
        ("gaussian", 2, -1.0, 0.6, 0.5),
        ("gaussian", 4, -1.0, 1.5, 1.0),
        ("gaussian", 9, -1.0, 0.4, 3.0),
        ("laplace", 2, 1.0, 0.4, 0.5),
        ("laplace", 3, -1.0, 0.2, 1.0),
        ("laplace", 2, 0.0, 0.4, 0.5),
    ],
)
def test_delta_is_the_double_integral(kind, dim, curvature, sigma, epsilon):
    share = positive_part(kind, dim, curvature, sigma, epsilon)
    curve = IsotropicCurve(kind, dim, curvature, sigma, 1.0)
    assert curve.delta_at(epsilon) == pytest.approx(share, rel=1e-9)
    # negative control: the flat formula is another number
    assert abs(gaussian_delta(1.0 / sigma, epsilon) / share - 1.0) > 1e-3


def test_flat_spaces_are_exact():
    epsilon = np.linspace(0.0, 6.0, 9)
    flat = IsotropicCurve("gaussian", 4, 0.0, 2.0, 1.0)
    assert flat.delta_at(epsilon).tolist() == GaussianCurve(0.5).delta_at(epsilon).tolist()
    assert flat.mu() == 0.5
    line = IsotropicCurve("laplace", 1, 0.0, 2.0, 1.0)
    assert line.delta_at(epsilon).tolist() == LaplaceCurve(0.5).delta_at(epsilon).tolist()
    almost = IsotropicCurve("gaussian", 4, -1e-10, 2.0, 1.0)
    np.testing.assert_allclose(almost.delta_at(0.5), gaussian_delta(0.5, 0.5), rtol=1e-6)


@pytest.mark.parametrize("curvature", [0.0, 1.0, -1.0])
def test_laplace_in_high_dimension_meets_pure_epsilon(curvature):
    curve = IsotropicCurve("laplace", 3, curvature, 0.25, 0.5)
    assert curve.pure_epsilon() == 2.0
    assert curve.delta_at([2.0, 3.0, math.inf]).tolist() == [0.0, 0.0, 0.0]
    assert 0.0 < curve.delta_at(1.999) < 1e-3
    assert curve.delta_at(0.0) < LaplaceCurve(2.0).delta_at(0.0)
    assert curve.zcdp_rho() <= 2.0 * math.tanh(1.0) * (1.0 + 1e-14)
    assert curve.zcdp_rho() == pytest.approx(0.5 * curve.mu() ** 2)


def falls_short(rows):
    """Whether a row is under the one before it by more than the allowance of both."""
    return bool(np.any(np.diff(rows, axis=0) < -2.5e-11))


@pytest.mark.fast(2)
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("dim", "curvature", "sigma"),
    [
        (1, 0.0, 1.0),
        (2, 1.0, 0.4),
        (2, 1.0, 1.0),
        (5, 1.0, 3.0),
        (2, -1.0, 0.7),
        (5, -1.0, 0.2),
        (4, 0.0, 0.8),
    ],
)
def test_delta_grows_with_the_distance(kind, dim, curvature, sigma):
    upper = math.pi if dim == 1 else math.inf
    last = [3.0, 3.1, 3.14, 3.1415, math.pi - 1e-6]
    epsilon = np.concatenate([np.linspace(0.0, 4.0, 33), [7.0, 12.0]])
    rows = np.array(
        [
            IsotropicCurve(kind, dim, curvature, sigma, delta, upper).delta_at(epsilon)
            for delta in [1e-4, 0.01, *np.linspace(0.1, 2.9, 12), *last]
        ]
    )
    assert not falls_short(rows)
    assert falls_short(rows[np.roll(np.arange(len(rows)), 1)])  # negative control


def circle_delta(potential, shift, epsilon, points=4000):
    """``delta`` of two laws on a circle by a sum over ``points``, ``shift`` of them apart."""
    angle = 2.0 * math.pi * np.arange(points) / points
    first = np.exp(-potential(np.minimum(angle, 2.0 * math.pi - angle)))
    first /= first.sum()
    return np.maximum(first - np.exp(epsilon)[:, None] * np.roll(first, shift), 0.0).sum(axis=1)


def test_a_law_that_does_not_fall_with_the_distance_is_not_monotone():
    epsilon = np.array([0.0, 0.3, 1.0])

    def rows(potential):
        return np.array([circle_delta(potential, j, epsilon) for j in range(0, 2001, 100)])

    assert not falls_short(rows(lambda r: 0.5 * r * r))
    assert not falls_short(rows(lambda r: r))
    assert falls_short(rows(lambda r: 2.0 * (r - 0.5 * math.pi) ** 2))


@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_epsilon_inverts_delta_and_is_rounded_up(curvature):
    curve = IsotropicCurve("gaussian", 2, curvature, 1.0, 1.0)
    for delta in (1e-12, 1e-6, 1e-3):
        epsilon = curve.epsilon_at(delta)
        assert curve.delta_at(epsilon) <= delta < curve.delta_at(epsilon * (1.0 - 1e-6))
    assert curve.epsilon_at(0.0) == curve.pure_epsilon()
    assert curve.epsilon_at(0.9) == 0.0


def test_published_epsilon_of_one_release():
    assert IsotropicCurve("gaussian", 2, 1.0, 1.0, 1.0).epsilon_at(1e-6) == pytest.approx(
        2.587, abs=5e-4
    )


@pytest.mark.parametrize("curves", [10, pytest.param(25, marks=pytest.mark.slow)])
def test_mu_never_under_reports(curves):
    random = np.random.default_rng(4)
    broken = 0
    for _ in range(curves):
        dim, kind = int(random.integers(1, 12)), str(random.choice(["gaussian", "laplace"]))
        curvature = float(random.choice([-1.0, 1.0])) * float(np.exp(random.uniform(-1.5, 1.5)))
        limit = math.pi / math.sqrt(curvature) if curvature > 0.0 else math.inf
        sensitivity = float(random.uniform(0.05, min(2.0, 0.9 * limit)))
        sigma = sensitivity * float(np.exp(random.uniform(-1.5, 1.5)))
        if kind == "laplace" and curvature < 0.0 and dim > 1:
            sigma = min(sigma, 0.8 / ((dim - 1) * math.sqrt(-curvature)))
        upper = limit if dim == 1 else math.inf
        curve = IsotropicCurve(kind, dim, curvature, sigma, sensitivity, upper)
        lower, mu = curve.mu_bracket()
        assert lower <= mu < math.inf
        top = min(curve.pure_epsilon(), 0.5 * mu * mu + 8.0 * mu)
        epsilon = np.linspace(0.0, top, 300)
        delta = curve.delta_at(epsilon)
        slack = 3e-11  # delta_at is rounded up by that much
        assert np.all(delta <= gaussian_delta(mu, epsilon) + slack)
        broken += bool(np.any(delta > gaussian_delta(0.99 * mu, epsilon) + slack))
    assert broken == curves  # negative control: a slightly smaller mu is seen to be wrong


@pytest.mark.slow
def test_concentrated_privacy_where_the_loss_is_unbounded():
    curve = IsotropicCurve("gaussian", 3, -1.0, 1.0, 1.0)
    assert curve.zcdp_rho() == pytest.approx(0.5 * curve.mu() ** 2)
    # the loss grows to order 2 as the Renyi divergence says, and is within alpha rho
    grid = np.linspace(0.0, 40.0, 20_001)
    order, middle = 2.0, 0.5 * (grid[1:] + grid[:-1])
    points = curve._points(middle)
    first = np.exp(points.log_first)
    upper = np.exp(points.log_complement)  # P_1(L < e)
    lower = np.exp(points.log_second)  # P_2(L >= e) = P_1(L <= -e)
    assert np.all(first + upper == pytest.approx(1.0))
    # E exp((order - 1) L) by parts over both signs
    rise = (order - 1.0) * np.exp((order - 1.0) * middle)
    fall = (order - 1.0) * np.exp(-(order - 1.0) * middle)
    moment = 1.0 + np.diff(grid)[0] * (rise @ first - fall @ lower)
    renyi = math.log(moment) / (order - 1.0)
    assert 0.5 * order * curve.zcdp_rho() < renyi <= order * curve.zcdp_rho()
    short = IsotropicCurve("laplace", 1, 0.0, 1.0, 0.01, math.pi)
    pure = short.pure_epsilon()
    assert short.zcdp_rho() <= pure * math.tanh(0.5 * pure) * (1.0 + 1e-14)


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    "space",
    [
        ("gaussian", 2, -1.0, 300.0, 1.0),
        ("gaussian", 9, -1e-6, 0.05, 1.0),
        ("gaussian", 50, -1.0, 1.0, 20.0),
        ("gaussian", 3, 1.0, 1e4, 1.0),
        ("gaussian", 3, 1.0, 0.03, 1.0),
        ("gaussian", 5, 1.0, 1.0, 1e-8),
        ("gaussian", 5, 1.0, 1.0, math.pi - 1e-9),
        ("gaussian", 20, 1e-6, 1.0, 1.0),
        ("laplace", 231, 0.0, 1.0, 1.0),
        ("laplace", 2, 0.0, 0.02, 1.0),
    ],
)
def test_extremes(space):
    curve = IsotropicCurve(*space)
    lower, mu = curve.mu_bracket()
    assert 0.0 < lower <= mu < math.inf
    epsilon = np.linspace(0.0, min(curve.pure_epsilon(), 0.5 * mu * mu + 6.0 * mu), 60)
    delta = curve.delta_at(epsilon)
    assert np.all(np.diff(delta) <= 3e-11)
    assert np.all(delta <= gaussian_delta(mu, epsilon) * (1.0 + 1e-9) + 3e-11)
    for target in (1e-3, 1e-9, 1e-200):
        found = curve.epsilon_at(target)
        assert 0.0 <= found < math.inf
        assert found == curve.pure_epsilon() or curve.delta_at(found) <= target


@pytest.mark.parametrize("curvature", [1e-10, -1e-10])
@pytest.mark.parametrize("sigma", [0.05, 1.0, 30.0])
def test_almost_flat_spaces_have_almost_the_flat_mu(curvature, sigma):
    lower, upper = IsotropicCurve("gaussian", 6, curvature, sigma, 1.0).mu_bracket()
    assert lower == pytest.approx(1.0 / sigma, rel=1e-6)
    assert upper <= lower * (1.0 + 1e-5)


def test_the_laplace_law_falls_back_on_what_needs_no_integral(monkeypatch):
    exact = IsotropicCurve("laplace", 3, 1.0, 0.5, 1.0)
    epsilon = np.linspace(0.0, 2.5, 11)
    delta, small, mu = exact.delta_at(epsilon), exact.epsilon_at(1e-3), exact.mu()
    monkeypatch.setattr("riemdp.privacy._isotropic_quadrature._AGREEMENT", -1.0)
    coarse = IsotropicCurve("laplace", 3, 1.0, 0.5, 1.0)
    pure = PureCurve(2.0)
    assert np.all(coarse.delta_at(epsilon) >= delta)
    assert np.all(coarse.delta_at(epsilon) <= pure.delta_at(epsilon))
    assert small <= coarse.epsilon_at(1e-3) <= pure.epsilon_at(1e-3)
    assert coarse.mu_bracket()[0] == 0.0
    assert mu <= coarse.mu() < pure.mu()


def test_bad_parameters():
    for arguments in (
        ("gaussian", 2, 1.0, 1.0, math.pi),
        ("gaussian", 2, 4.0, 1.0, 1.6),
        ("gaussian", 1, 0.0, 1.0, 3.2, math.pi),
        ("gaussian", 2, 1.0, 0.0, 1.0),
        ("gaussian", 2, 1.0, 1.0, 0.0),
        ("gaussian", 2, 1.0, 1.0, 1.0, 0.5 * math.pi),  # projective space
        ("gaussian", 2, math.nan, 1.0, 1.0),
        ("cauchy", 2, 1.0, 1.0, 1.0),
    ):
        with pytest.raises(errors.InvalidParameterError):
            IsotropicCurve(*arguments)
    with pytest.raises(errors.NotAttainableError, match=r"= 0\.5"):
        IsotropicCurve("laplace", 3, -1.0, 0.5, 1.0)
    with pytest.raises(errors.InvalidParameterError):
        IsotropicCurve("gaussian", 2, 1.0, 1.0, 1.0).delta_at(-1.0)


def test_integrals_that_do_not_settle_raise(monkeypatch):
    monkeypatch.setattr("riemdp.privacy._isotropic_quadrature._AGREEMENT", -1.0)
    with pytest.raises(errors.ConvergenceError, match="did not settle"):
        IsotropicCurve("gaussian", 3, 1.0, 1.0, 1.0).delta_at(0.5)


@pytest.mark.fast(1)
@pytest.mark.parametrize("gap", [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize(
    ("dim", "sigma", "sensitivity"), [(2, 1.0, 1.0), (3, 5.0, 0.1), (5, 1.0, 3.1), (2, 0.6, 0.1)]
)
def test_next_to_the_largest_loss(dim, sigma, sensitivity, gap):
    curve = IsotropicCurve("gaussian", dim, 1.0, sigma, sensitivity)
    epsilon = (1.0 - gap) * curve.pure_epsilon()
    _, upper = certified_delta(curve, epsilon)
    assert curve.delta_at(epsilon) >= upper > 0.0
    assert curve.delta_at(curve.epsilon_at(upper)) <= upper


@pytest.mark.parametrize(("dim", "sigma"), [(33, 7.59), (63, 5.18)])
def test_next_to_the_largest_loss_in_more_dimensions(dim, sigma, monkeypatch):
    """Powers of the distance to it, which lose digits as many times faster."""
    curve = IsotropicCurve("gaussian", dim, 1.0, sigma, 0.1)
    epsilon = (1.0 - 1e-4) * curve.pure_epsilon()
    least = certified_delta(curve, epsilon)[0]
    assert curve.delta_at(epsilon) > least > 0.0
    monkeypatch.setattr("riemdp.privacy._isotropic_curve._APART", 1e-4 / dim)
    assert IsotropicCurve("gaussian", dim, 1.0, sigma, 0.1).delta_at(epsilon) < least


def test_the_ends_of_the_integrals_lose_their_digits_there():
    curve = IsotropicCurve("gaussian", 3, 1.0, 5.0, 0.1)
    epsilon = (1.0 - 1e-7) * curve.pure_epsilon()
    computed = np.exp(curve._points(np.array([epsilon])).log_delta()[0])
    assert computed < 0.9 * certified_delta(curve, epsilon)[0]


@pytest.mark.parametrize("curvature", [1.0, -1.0])
def test_out_of_double_precision(curvature):
    for sigma, sensitivity, space in [(1e-4, 1.0, 1.0), (1.0, 1.0, 1e-300)]:
        curve = IsotropicCurve("gaussian", 2, curvature * space, sigma, sensitivity)
        with pytest.raises(errors.ConvergenceError, match=r"double precision.*use a"):
            curve.delta_at(0.1)


def test_single_values_are_kept_and_few_of_them(monkeypatch):
    curve = IsotropicCurve("gaussian", 2, 1.0, 0.7, 1.0)
    fresh = IsotropicCurve("gaussian", 2, 1.0, 0.7, 1.0)
    epsilon = np.linspace(0.0, 3.0, 30)
    found = [float(curve.delta_at(e)) for e in epsilon]
    np.testing.assert_allclose(found, fresh.delta_at(epsilon), rtol=1e-11)
    assert len(curve._known) == 16
    monkeypatch.setattr(IsotropicCurve, "_points", None)
    assert [float(curve.delta_at(e)) for e in epsilon[:16]] == found[:16]
    assert curve.delta_at([epsilon[3]]).tolist() == [found[3]]
    # not by other curves
    assert IsotropicCurve("gaussian", 2, 1.0, 0.8, 1.0)._known == {}


@pytest.mark.parametrize("upper", [0.0, -1.0, math.nan])
def test_a_region_without_room_is_refused(upper):
    with pytest.raises(errors.InvalidParameterError, match="upper"):
        IsotropicCurve("laplace", 2, -1.0, 0.1, 0.1, upper)


SEARCHED = [
    ("laplace", 3, 0.0, 1.0, 0.3),
    ("laplace", 3, -1.0, 0.2, 0.3),
    ("gaussian", 3, -1.0, 1.0, 0.5),
    ("gaussian", 3, 1.0, 1.0, 0.5),
    ("laplace", 2, 1.0, 0.4, 0.5),
]


@pytest.fixture
def evaluated(monkeypatch):
    """Sizes of the batches of probabilities that are computed."""
    sizes = []
    points = IsotropicCurve._points
    monkeypatch.setattr(
        IsotropicCurve, "_points", lambda self, e: sizes.append(e.size) or points(self, e)
    )
    return sizes


@pytest.mark.fast(2)
@pytest.mark.parametrize(("space", "most"), [*zip(SEARCHED, [30, 27, 44, 42, 30], strict=True)])
def test_epsilon_costs_few_integrals(space, most, evaluated):
    upper = math.pi if space[2] > 0.0 else math.inf
    for delta in (1e-2, 1e-5, 1e-9):
        IsotropicCurve(*space, upper).epsilon_at(delta)
    assert 15 < len(evaluated) <= most  # bisection takes about 45 for each


@pytest.mark.parametrize(("space", "most"), [*zip(SEARCHED, [27, 27, 65, 73, 25], strict=True)])
def test_mu_costs_few_integrals(space, most, evaluated):
    upper = math.pi if space[2] > 0.0 else math.inf
    lower, found = IsotropicCurve(*space, upper).mu_bracket()
    assert found <= lower * (1.0 + 1.6e-9)
    assert sum(evaluated) <= 1.05 * most


@pytest.mark.parametrize("space", SEARCHED)
def test_the_smaller_of_two_probabilities_is_integrated(space, monkeypatch):
    """Away from the median loss one integral for each of the two points is enough."""
    calls = []
    first, complement = LossIntegrals.log_first, LossIntegrals.log_complement
    monkeypatch.setattr(
        LossIntegrals, "log_first", lambda s, e: calls.append(("first", e.size)) or first(s, e)
    )
    monkeypatch.setattr(
        LossIntegrals,
        "log_complement",
        lambda s, e: calls.append(("complement", e.size)) or complement(s, e),
    )
    curve = IsotropicCurve(*space, math.pi if space[2] > 0.0 else math.inf)
    points = curve._points(np.zeros(1))
    assert calls == [("complement", 2), ("first", 0), ("complement", 0)]
    assert points.log_complement < -math.log(2.0)
    calls.clear()
    points = curve._points(np.array([min(curve._reach(3.0), 0.9 * curve._last)]))
    assert calls == [("complement", 1), ("first", 1), ("complement", 0)]
    assert points.log_first < -math.log(2.0)
