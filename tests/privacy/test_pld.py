import functools
import itertools
import math

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.stats

from riemdp import Hyperbolic, research
from riemdp import _errors as errors
from riemdp.noise import IsotropicLaw
from riemdp.privacy import (
    GDP,
    RDP,
    ZCDP,
    ApproxDP,
    ComposedCurve,
    GaussianCurve,
    LaplaceCurve,
    PureCurve,
    PureDP,
    RaoDP,
    _pld,
    accounting_available,
    compose_budgets,
    compose_curves,
    gaussian_delta,
    gaussian_epsilon,
)
from riemdp.privacy._curve import PrivacyCurve
from riemdp.privacy._isotropic_curve import IsotropicCurve
from riemdp.privacy._pld import LossTable, composed_losses

pytest.importorskip("dp_accounting")


def binomial_delta(epsilon0, n, epsilon):
    """Exact delta of n randomised responses."""
    heads = np.arange(n + 1)
    loss = epsilon0 * (2 * heads - n)
    mass = scipy.stats.binom.pmf(heads, n, 1.0 / (1.0 + math.exp(-epsilon0)))
    return float(mass @ -np.expm1(np.minimum(epsilon - loss, 0.0)))


def test_thirty_gaussians_against_the_closed_form():
    closed = gaussian_epsilon(math.sqrt(30.0), 1e-6)
    assert closed == pytest.approx(40.3176053, abs=1e-6)
    assert GaussianCurve(1.0).self_compose(30).epsilon_at(1e-6) == pytest.approx(closed, abs=1e-9)
    losses = composed_losses([(GaussianCurve(1.0), 30)])
    assert closed <= losses.epsilon_at(1e-6) <= closed + 1e-5
    # never below, at any epsilon; and the check would see a floor that is missing
    epsilon = np.linspace(0.0, 60.0, 301)
    exact = gaussian_delta(math.sqrt(30.0), epsilon)
    assert np.all(losses.delta_at(epsilon) >= exact)
    without = LossTable(losses.step, 0.5 * losses.deltas, losses.floor)
    assert np.any(without.delta_at(epsilon) < exact)


def test_gaussians_one_by_one_give_the_same():
    parts = [(GaussianCurve(mu), 1) for mu in np.linspace(0.2, 1.0, 9)]
    total = math.sqrt(sum(curve.separation**2 for curve, _ in parts))
    losses = composed_losses(parts)
    for delta in (1e-3, 1e-6, 1e-9):
        closed = gaussian_epsilon(total, delta)
        assert closed <= losses.epsilon_at(delta) <= closed + 2e-3


@pytest.mark.fast(2)
@pytest.mark.parametrize(("epsilon0", "n"), [(0.1, 50), (1.0, 20), (0.37, 300), (3e-4, 1000)])
def test_pure_composition_against_the_binomial_law(epsilon0, n):
    curve = PureCurve(epsilon0).self_compose(n)
    losses = composed_losses([(PureCurve(epsilon0), n)])
    for epsilon in np.linspace(0.0, 6.0 * math.sqrt(n) * epsilon0, 25):
        exact = binomial_delta(epsilon0, n, epsilon)
        assert losses.delta_at(epsilon) >= exact * (1.0 - 1e-12)
        assert curve.delta_at(epsilon) >= exact * (1.0 - 1e-12)
        if epsilon0 > 0.01:
            assert curve.delta_at(epsilon) <= exact * 1.05 + 1e-8


def test_laplace_twice_against_quadrature():
    t = 1.0
    curve = LaplaceCurve(t)

    def extended(epsilon):
        if epsilon >= 0.0:
            return float(curve.delta_at(epsilon))
        return -math.expm1(epsilon) + math.exp(epsilon) * float(curve.delta_at(-epsilon))

    for epsilon in (0.0, 0.4, 1.1, 1.9):
        between, _ = scipy.integrate.quad(
            lambda x, e=epsilon: 0.5 * math.exp(-x) * extended(e - (t - 2.0 * x)),
            0.0,
            t,
            points=[min(max(0.5 * (t - epsilon + s * t), 0.0), t) for s in (-1, 0, 1)],
            epsabs=1e-13,
        )
        exact = 0.5 * extended(epsilon - t) + 0.5 * math.exp(-t) * extended(epsilon + t) + between
        bound = float(curve.self_compose(2).delta_at(epsilon))
        assert exact - 1e-12 <= bound <= exact + 1e-6


class PairCurve(PrivacyCurve):
    """Exact curve of two laws on a few points, the worse of both orders."""

    def __init__(self, p, q, *, share=1.0):
        self.p, self.q, self.share = p, q, share

    def delta_at(self, epsilon):
        scale = np.exp(np.asarray(epsilon, dtype=float))[..., None]
        return self.share * np.maximum(
            np.maximum(self.p - scale * self.q, 0.0).sum(-1),
            np.maximum(self.q - scale * self.p, 0.0).sum(-1),
        )

    def epsilon_at(self, delta):
        raise errors.NoConversionError(f"not needed here: {delta}")

    def mu(self):
        return math.inf

    def mu_bracket(self):
        return 0.0, math.inf

    def pure_epsilon(self):
        return self.share * float(np.max(np.abs(np.log(self.p / self.q)))) + 1e-9

    def zcdp_rho(self):
        return math.inf


def violations(rng, *, share):
    """Random triples of pairs of which the composed curve promises too much."""
    count = 0
    for _ in range(60):
        pairs = rng.dirichlet(np.ones(4) * rng.uniform(0.5, 8.0), size=(3, 2))
        curve = compose_curves([PairCurve(p, q, share=share) for p, q in pairs])
        joint = [
            np.array([math.prod(c) for c in itertools.product(*pairs[:, side])]) for side in (0, 1)
        ]
        epsilon = np.linspace(0.0, 4.0, 41)
        exact = PairCurve(*joint).delta_at(epsilon)
        count += bool(np.any(curve.delta_at(epsilon) < exact * (1.0 - 1e-12)))
    return count


def test_no_random_composition_is_more_than_was_promised():
    assert violations(np.random.default_rng(3), share=1.0) == 0


def test_the_check_sees_halved_curves():
    assert violations(np.random.default_rng(3), share=0.5) > 30


def test_infinite_losses_are_kept():
    curve = compose_budgets([ApproxDP(0.5, 1e-4), ApproxDP(0.3, 1e-3), GDP(0.2)])
    lost = 1.0 - (1.0 - 1e-4) * (1.0 - 1e-3)
    assert curve.delta_at(100.0) >= lost * (1.0 - 1e-12)
    assert curve.delta_at(100.0) == pytest.approx(lost, rel=1e-6)
    assert curve.epsilon_at(0.9 * lost) == math.inf
    assert curve.epsilon_at(1.1 * lost) < 2.0


def test_mixed_kinds():
    budgets = [
        PureDP(0.3),
        ApproxDP(0.2, 1e-8),
        GDP(0.4),
        ZCDP(0.02),
        RDP(8.0, 0.1),
        RDP(math.inf, 0.1),
    ]
    curve = compose_budgets(budgets)
    assert isinstance(curve, ComposedCurve)
    # more than the worst one alone, less than everything one after the other
    epsilon = curve.epsilon_at(1e-5)
    assert max(b.epsilon_at(1e-5) for b in budgets) < epsilon
    assert epsilon < sum(b.epsilon_at(1e-5 / 6) for b in budgets)


def test_a_thousand_mixed_guarantees_are_quick(effort):
    rng = np.random.default_rng(0)
    budgets = []
    for i, x in enumerate(rng.uniform(0.01, 0.3, 1000)):
        kinds = (PureDP(x), ApproxDP(x, 1e-9), GDP(x), ZCDP(x * x / 2), RDP(4.0, 2 * x * x))
        budgets.append((*kinds, RaoDP(1e-6, distance="angle"))[i % 6])
    compose_budgets([PureDP(1.0), GDP(1.0)]).epsilon_at(1e-5)  # the import is not measured
    found = []
    assert effort(lambda: found.append(compose_budgets(budgets).epsilon_at(1e-4))) <= 600.0  # 70
    assert 10.0 < found[0] < 100.0


@pytest.mark.fast(1)
@pytest.mark.parametrize("curve", [PureCurve(0.01), PureCurve(1.0), LaplaceCurve(0.1)])
def test_ten_thousand_times_is_quick(curve, effort):
    compose_budgets([PureDP(1.0), GDP(1.0)]).epsilon_at(1e-5)
    found = []
    taken = effort(lambda: found.append(curve.self_compose(10_000).epsilon_at(1e-6)))
    assert taken <= 800.0  # 15 to 130
    epsilon = found[0]
    assert epsilon <= gaussian_epsilon(100.0 * curve.mu(), 1e-6)
    if isinstance(curve, PureCurve) and curve.epsilon < 0.1:
        assert binomial_delta(curve.epsilon, 10_000, 0.999 * epsilon) > 0.9e-6


def test_composition_flattens_and_counts():
    once = compose_curves([PureCurve(0.1), LaplaceCurve(0.2)])
    twice = once.self_compose(2).compose(PureCurve(0.1))
    assert dict(twice.parts) == {PureCurve(0.1): 3, LaplaceCurve(0.2): 2}
    assert compose_curves([PureCurve(0.1)]) == PureCurve(0.1)
    assert PureCurve(0.1).self_compose(1) == PureCurve(0.1)
    merged = GaussianCurve(3.0).compose(GaussianCurve(4.0))
    assert isinstance(merged, GaussianCurve)
    assert merged.separation == pytest.approx(5.0, rel=1e-14)
    assert merged.separation >= 5.0


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_bad_counts(n):
    with pytest.raises(errors.InvalidParameterError, match="positive integer"):
        PureCurve(1.0).self_compose(n)


def test_bad_parts():
    with pytest.raises(errors.InvalidParameterError, match="only privacy curves"):
        PureCurve(1.0).compose(PureDP(1.0))
    with pytest.raises(errors.InvalidParameterError, match="only privacy definitions"):
        compose_budgets([PureCurve(1.0)])
    with pytest.raises(errors.InvalidParameterError, match="nothing to compose"):
        compose_budgets([])


def test_the_extra_is_here():
    assert accounting_available()


@pytest.mark.parametrize("separation", [1e200, 1e-200, 5e-324])
def test_gaussians_whose_squares_leave_float64_compose(separation):
    composed = GaussianCurve(separation).self_compose(3)
    assert composed.separation >= math.sqrt(3.0) * separation
    assert composed.separation <= max(math.sqrt(3.0) * separation * (1.0 + 3e-15), 2e-323)


def test_a_separation_beyond_float64_is_refused():
    with pytest.raises(errors.InvalidParameterError, match="exceeds float64"):
        GaussianCurve(1e308).self_compose(9)


@pytest.mark.parametrize("n", [10**400, 2**63, 1.0, True, np.array([2])])
def test_a_number_of_releases_that_is_none_is_refused(n):
    with pytest.raises(errors.InvalidParameterError, match="n must be a positive integer"):
        GaussianCurve(1.0).self_compose(n)


def test_repetitions_of_repetitions_stay_countable():
    many = PureCurve(1e-9).self_compose(2**62)
    with pytest.raises(errors.InvalidParameterError, match="the number of releases"):
        many.self_compose(2)


@pytest.mark.parametrize("epsilon", [1e9, 1e160, 1e308])
def test_losses_too_large_for_a_grid_leave_the_closed_bounds(epsilon):
    curve = compose_budgets([PureDP(epsilon), GDP(1.0)])
    assert curve.delta_at(1.0) == 1.0
    assert curve.epsilon_at(1e-6) >= epsilon
    if epsilon < 1e300:
        assert curve.delta_at(1.7e308) < 1e-6


def test_a_tiny_guarantee_adds_next_to_nothing():
    curve = compose_budgets([PureDP(1e-300), GDP(1.0)])
    assert gaussian_delta(1.0, 1.0) <= curve.delta_at(1.0) <= gaussian_delta(1.0, 1.0) + 1e-6


def test_delta_at_a_huge_epsilon():
    curve = compose_budgets([PureDP(1.0), GDP(1.0)])
    assert curve.delta_at(math.inf) <= curve.delta_at(1.7e308) <= 1e-9


@pytest.mark.parametrize("n", [10**7, 10**12])
def test_more_releases_than_memory_holds_fall_back_to_closed_bounds(n):
    curve = LaplaceCurve(1.0).self_compose(n)
    epsilon = curve.epsilon_at(1e-6)
    assert epsilon <= GaussianCurve(LaplaceCurve(1.0).mu() * math.sqrt(n)).epsilon_at(1e-6) * (
        1 + 1e-9
    )
    assert epsilon <= n


@functools.cache
def loss_masses(space, step):
    """Law of the privacy loss on a grid of cells, by dense quadrature over the radius.

    The angle is solved for in the law of cosines, and the share of directions beyond it is one of
    dimension 2 or 3: an arc or a linear function. Nothing of the library is used.
    """
    kind, dim, curvature, sigma, distance = space

    def potential(r):
        return r / sigma if kind == "laplace" else 0.5 * (r / sigma) ** 2

    def inverse(u):
        return sigma * u if kind == "laplace" else sigma * np.sqrt(2.0 * np.maximum(u, 0.0))

    if curvature > 0.0:
        end = math.pi
    else:
        end = 40.0 / (1.0 / sigma - dim + 1.0) if kind == "laplace" else distance + 12.0 * sigma
    if kind == "laplace":
        top = distance / sigma
    else:
        far = 2.0 * math.pi - distance if curvature > 0.0 else 2.0 * end
        top = distance * far / (2.0 * sigma**2)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    pieces = end * np.linspace(0.0, 1.0, 91) ** 2  # the law is wide, its kinks are near 0
    size = math.ceil(top / step) + 1
    edges = step * np.arange(-size, size + 1)
    above = np.zeros_like(edges)
    mass = 0.0
    for start, stop in itertools.pairwise(pieces):
        r = start + 0.5 * (stop - start) * (nodes + 1.0)
        area = np.sin(r) if curvature > 0.0 else np.sinh(r)
        density = 0.5 * (stop - start) * weights * area ** (dim - 1) * np.exp(-potential(r))
        mass += density.sum()
        other = inverse(potential(r) + edges[:, None])
        if curvature > 0.0:
            flat = np.cos(np.minimum(other, math.pi)) - np.cos(r) * math.cos(distance)
            cosine = flat / (np.sin(r) * math.sin(distance))
        else:
            flat = np.cosh(r) * math.cosh(distance) - np.cosh(np.minimum(other, 300.0))
            cosine = flat / (np.sinh(r) * math.sinh(distance))
        cosine = np.clip(cosine, -1.0, 1.0)
        # no distance is below a negative loss that the radius cannot have, none above pi
        cosine = np.where(potential(r) + edges[:, None] < 0.0, 1.0, cosine)
        if curvature > 0.0:
            cosine = np.where(other > math.pi, -1.0, cosine)
        share = 1.0 - np.arccos(cosine) / math.pi if dim == 2 else 0.5 * (1.0 + cosine)
        above += share @ density
    above /= mass
    above[-1] = 0.0
    masses = -np.diff(np.append(above, 0.0))[:-1]
    masses[0] += 1.0 - above[0]
    return edges[:-1] + 0.5 * step, masses


def convolved_delta(losses, masses, times, epsilon):
    """``delta`` of several releases, the masses on the losses given (equally spaced)."""
    step = losses[1] - losses[0]
    law = masses
    for _ in range(times - 1):
        law = np.convolve(law, masses)
    sums = times * losses[0] + step * np.arange(len(law))
    return np.array([law @ np.maximum(-np.expm1(np.minimum(e - sums, 0.0)), 0.0) for e in epsilon])


@pytest.mark.slow
@pytest.mark.parametrize("times", [2, 3])
@pytest.mark.parametrize(
    "space",
    [
        ("gaussian", 2, 1.0, 1.0, 1.0),
        ("gaussian", 3, 1.0, 0.6, 0.5),
        ("gaussian", 2, -1.0, 1.0, 1.0),
        ("gaussian", 3, -1.0, 0.8, 0.5),
        ("laplace", 3, 1.0, 0.5, 1.0),
        ("laplace", 3, -1.0, 0.3, 0.5),
    ],
    ids=str,
)
def test_isotropic_curves_against_convolved_exact_losses(space, times):
    step = 2.0**-9
    losses, masses = loss_masses(space, step)
    curve = IsotropicCurve(*space)
    epsilon = np.linspace(0.0, 0.7, 8) * min(times * curve.pure_epsilon(), 8.0)
    bound = composed_losses([(curve, times)]).delta_at(epsilon)
    # masses in the middle of their cells: right up to the square of the step
    exact = convolved_delta(losses, masses, times, epsilon)
    assert np.all(bound >= exact * (1.0 - 1e-5) - 1e-10)
    assert np.all(bound <= exact * (1.0 + 2e-5) + 1e-9)
    # the control: rounding every loss down instead is optimistic, and seen
    optimistic = convolved_delta(losses - 0.5 * step, masses, times, epsilon)
    assert np.all(bound >= optimistic)
    assert np.any(optimistic < exact * (1.0 - 1e-5) - 1e-10)


@pytest.mark.slow
def test_published_composition_on_the_sphere(effort):
    curve = IsotropicCurve("gaussian", 2, 1.0, 1.0, 1.0)
    found = []

    def composed():
        found.extend(curve.self_compose(n).epsilon_at(1e-6) for n in (1, 10, 100))

    assert effort(composed) < 1300.0  # about 130, and 0.5 seconds
    assert found == pytest.approx([2.587, 14.323, 70.27], rel=2e-4)
    # less than through mu, and no less than the sum's own law, by independent draws of the loss
    through = [gaussian_epsilon(curve.mu() * math.sqrt(n), 1e-6) for n in (1, 10, 100)]
    assert through == pytest.approx([3.918, 15.179, 72.13], rel=2e-4)
    assert np.all(np.array(found) < through)


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 10, 40])
def test_isotropic_compositions_against_draws(times):
    manifold = Hyperbolic(3)
    one, other = (manifold.exp(manifold.origin, x * np.eye(4)[1]) for x in (0.0, 0.5))
    law = IsotropicLaw(kind="gaussian", manifold=manifold, sigma=0.8)
    points = research.sample(law, one, (50_000, times), np.random.default_rng(8))
    loss = np.sum(law.log_density(points, one) - law.log_density(points, other), axis=1)
    curve = IsotropicCurve("gaussian", 3, -1.0, 0.8, 0.5).self_compose(times)
    for epsilon in np.array([0.2, 1.0]) * math.sqrt(times):
        gain = np.maximum(-np.expm1(epsilon - loss), 0.0)
        error = float(np.std(gain)) / math.sqrt(len(gain))
        delta = float(curve.delta_at(epsilon))
        assert abs(delta - np.mean(gain)) < 4.5 * error
        assert abs(0.9 * delta - np.mean(gain)) > 4.5 * error  # the control


@pytest.mark.slow
def test_isotropic_curves_in_a_mixture():
    isotropic = [
        IsotropicCurve("gaussian", 2, 1.0, 1.0, 0.5),
        IsotropicCurve("laplace", 3, -1.0, 0.3, 0.1),
        IsotropicCurve("gaussian", 9, -1.0, 0.5, 0.2),
    ]
    others = [GaussianCurve(0.4), PureCurve(0.3), LaplaceCurve(0.2)]
    curve = isotropic[0].compose(*isotropic[1:], *others)
    alone = [part.epsilon_at(1e-5) for part in isotropic + others]
    through_mu = math.sqrt(sum(part.mu() ** 2 for part in isotropic + others))
    assert max(alone) < curve.epsilon_at(1e-5) < gaussian_epsilon(through_mu, 1e-5)


def test_flat_isotropic_curves_compose_in_closed_form():
    curve = IsotropicCurve("gaussian", 4, 0.0, 2.0, 1.0)
    four = curve.self_compose(4)
    assert isinstance(four, GaussianCurve)
    assert 1.0 <= four.separation <= 1.0 + 1e-14
    line = IsotropicCurve("laplace", 1, 0.0, 2.0, 1.0)
    assert line.compose(line).parts == ((LaplaceCurve(0.5), 2),)


@pytest.mark.slow
def test_a_grid_point_just_under_the_largest_loss():
    largest = 1.0 + 1e-12
    sigma = math.sqrt(0.5 * (2.0 * math.pi - 1.0) / largest)
    curve = IsotropicCurve("gaussian", 2, 1.0, sigma, 1.0)
    assert 1.0 < curve.pure_epsilon() < 1.0 + 1e-11
    twice = curve.self_compose(2)
    # as for a scale at which no grid point comes near the end
    near = IsotropicCurve("gaussian", 2, 1.0, sigma * (1.0 + 1e-6), 1.0).self_compose(2)
    assert twice.epsilon_at(1e-6) == pytest.approx(near.epsilon_at(1e-6), rel=1e-4)


@pytest.mark.fast(1)
@pytest.mark.parametrize(
    "curve",
    [
        IsotropicCurve("gaussian", 2, 1.0, 0.05, 3.0),
        LaplaceCurve(1500.0),
        IsotropicCurve("gaussian", 3, -1.0, 1e4, 0.5),
    ],
    ids=repr,
)
def test_losses_beyond_float64_leave_the_closed_bounds(curve):
    composed = curve.self_compose(3)
    best = min(composed.pure_epsilon(), GaussianCurve(composed.mu()).epsilon_at(1e-6))
    assert composed.epsilon_at(1e-6) <= best * (1.0 + 1e-9)
    assert composed.epsilon_at(1e-6) > curve.mu()


class Losses:
    """What `_trimmed` uses of a discrete law of losses."""

    def __init__(self, discretization, lower, probs, infinity, pessimistic):
        assert pessimistic
        self._discretization, self._lower_loss = discretization, lower
        self._probs, self._infinity_mass = np.asarray(probs), infinity


def test_tails_are_cut_to_the_safe_side():
    probs = np.array([1e-9, 2e-9, 0.3, 0.4, 0.2, 3e-9, 4e-9])
    trimmed, allowance = _pld._trimmed(Losses(0.1, -3, probs, 0.1, True), 1e-7)
    assert allowance == 1e-7
    np.testing.assert_allclose(trimmed._probs, [0.3 + 3e-9, 0.4, 0.2], rtol=1e-15)
    assert trimmed._lower_loss == -1  # the left tail moves to a larger loss
    assert trimmed._infinity_mass == pytest.approx(
        0.1 + 7e-9, abs=1e-17
    )  # the right one to infinity
    whole, _ = _pld._trimmed(Losses(0.1, 0, np.full(3, 1e-20), 0.0, True), 1e-7)
    assert np.sum(whole._probs) + whole._infinity_mass == pytest.approx(3e-20, rel=1e-12)


def test_the_error_of_a_convolution_is_within_its_allowance():
    rng = np.random.default_rng(0)
    for size in (10, 300, 8000):
        first, second = rng.dirichlet(np.full(size, 0.1), 2)
        length = 2 * size - 1
        fast = scipy.signal.fftconvolve(first, second)
        exact = (
            scipy.signal.oaconvolve(first, second) if size > 1000 else np.convolve(first, second)
        )
        norms = sum(map(np.linalg.norm, (first, second, exact)))
        bound = 2.0 * _pld._fft_error(2 * length) * norms
        assert np.linalg.norm(fast - exact) <= bound


def test_allowance_of_a_transform_counts_all_three_vectors():
    accounting = pytest.importorskip("dp_accounting.pld.pld_pmf")

    def spread(size):
        return accounting.DensePLDPmf(1e-2, -size // 2, np.full(size, 1.0 / size), 0.0, True)

    one, other = spread(900), spread(400)
    composed, allowance = _pld._pair_composed(one, other)
    size = one.size + other.size - 1
    triangle = np.convolve(np.full(900, 1.0 / 900), np.full(400, 1.0 / 400))
    norms = 900**-0.5 + 400**-0.5 + np.linalg.norm(triangle)
    # each of the three transforms errs relative to the norm of its own input
    wanted = math.sqrt(size) * 2.0 * _pld._fft_error(2 * size) * norms
    assert allowance == pytest.approx(wanted, rel=1e-9)
    assert composed.size <= size


def test_allowance_of_a_power_counts_each_factor():
    accounting = pytest.importorskip("dp_accounting.pld.pld_pmf")
    law = accounting.DensePLDPmf(1e-2, -400, np.full(800, 1.0 / 800), 0.0, True)
    few, many = (_pld._self_composed(law, times) for times in (4, 8))
    for (composed, allowance), times in ((few, 4), (many, 8)):
        length = scipy.fft.next_fast_len(composed.size)
        error = _pld._fft_error(length)
        assert error == pytest.approx(9.6e-16 * (math.log2(length) + 1.0), rel=1e-12, abs=0.0)
        power = np.abs(scipy.fft.rfft(np.full(800, 1.0 / 800), length)) ** (2 * times - 2)
        least = times * error * math.sqrt(float(np.mean(power)))
        assert least < allowance / math.sqrt(composed.size) < 1.5 * least + 2.0 * error
