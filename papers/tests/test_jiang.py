from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import InvalidParameterError, UnsupportedManifoldError
from riemdp.noise import AffineInvariantLaw, IsotropicLaw
from riemdp.privacy import IsotropicCurve, gaussian_delta
from riemdp.research import Metropolis, sample
from riemdp.spaces import Euclidean, Hyperbolic, SPDAffineInvariant, SPDLogEuclidean, Sphere
from riemdp_papers import jiang_algorithm_1, jiang_algorithm_2
from riemdp_papers._jiang import _largest_mu, _shares_above, circle_delta

CIRCLE = {1.0: 0.983169214812, 2.0: 0.362390094208, 3.0: 0.173744321854, 4.0: 0.100249979767}


def exact(manifold, sigma, sensitivity=1.0):
    return IsotropicCurve(
        "gaussian",
        manifold.dim,
        manifold.constant_curvature,
        sigma,
        sensitivity,
        manifold.injectivity_radius,
    )


@pytest.mark.parametrize("sigma", CIRCLE)
def test_algorithm_1_on_the_circle(sigma):
    mu = jiang_algorithm_1(Sphere(1), sigma, 1.0)
    assert mu == pytest.approx(CIRCLE[sigma], abs=1e-12)
    # a grid of epsilon that reaches values of delta far under 1e-300
    tiny = jiang_algorithm_1(Sphere(1), 0.01 * sigma, 0.002)
    assert tiny == pytest.approx(0.2 / sigma, rel=1e-9)
    # another unit of length
    assert jiang_algorithm_1(Sphere(1, 4.0), sigma / 2.0, 0.5) == pytest.approx(mu, rel=1e-12)


@pytest.mark.parametrize("sigma", CIRCLE)
def test_algorithm_1_as_printed_is_too_small(sigma):
    printed = jiang_algorithm_1(Sphere(1), sigma, 1.0, as_printed=True)
    assert CIRCLE[sigma] * (1.0 - 2e-6) < printed < CIRCLE[sigma] * (1.0 - 1e-7)


@pytest.mark.parametrize("manifold", [Euclidean(1), Euclidean(5), SPDLogEuclidean(2)], ids=str)
def test_algorithm_1_on_flat_space(manifold):
    assert jiang_algorithm_1(manifold, 0.5, 1.5) == 3.0


@pytest.mark.parametrize(("sigma", "sensitivity"), [(0.3, 0.4), (1.0, 1.0), (1.5, 3.0), (6.0, 2.0)])
def test_the_corrected_delta_is_the_exact_one(sigma, sensitivity):
    curve = exact(Sphere(1), sigma, sensitivity)
    epsilon = np.linspace(0.0, 0.98 * curve.pure_epsilon(), 50)
    epsilon = epsilon[epsilon < 30.0]
    np.testing.assert_allclose(
        circle_delta(epsilon, sigma, sensitivity), curve.delta_at(epsilon), rtol=1e-7
    )


@pytest.mark.parametrize(("sigma", "sensitivity"), [(1.0, 1.0), (1.5, 2.5), (4.0, 1.0)])
def test_the_printed_h_is_the_printed_set_and_below_delta(sigma, sensitivity):
    # the paper's footpoints and set A, by midpoints
    epsilon = np.linspace(0.0, math.pi * sensitivity / (2.0 * sigma**2), 12)[1:-1]
    printed = circle_delta(epsilon, sigma, sensitivity, as_printed=True)
    share = (np.arange(400_000) + 0.5) / 400_000

    def density(angle):
        wrapped = np.remainder(angle + math.pi, 2.0 * math.pi) - math.pi
        return np.exp(-0.5 * np.square(wrapped / sigma))

    mass = 2.0 * math.pi * np.mean(density(2.0 * math.pi * share))
    for e, h in zip(epsilon, printed, strict=True):
        low = math.pi + sigma**2 * e / sensitivity
        width = 2.0 * math.pi - sigma**2 * e / sensitivity - low
        angle = low + width * share
        first = density(angle - 2.0 * math.pi + 0.5 * sensitivity)
        second = density(angle - 0.5 * sensitivity)
        assert h == pytest.approx(width * np.mean(first - math.exp(e) * second) / mass, abs=1e-9)
    delta = circle_delta(epsilon, sigma, sensitivity)
    assert np.all(printed < delta)
    # the printed set is empty where its range of epsilon ends, the exact delta still positive
    end = np.array([math.pi * sensitivity / (2.0 * sigma**2)])
    assert circle_delta(end, sigma, sensitivity, as_printed=True) == pytest.approx(0.0, abs=1e-15)
    assert circle_delta(end, sigma, sensitivity) > 1e-3


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
def test_the_mu_of_gaussian_deltas(mu):
    epsilon = np.linspace(0.0, 6.0 * mu, 30)
    delta = gaussian_delta(mu, epsilon)
    assert _largest_mu(epsilon, delta) == pytest.approx(mu, rel=1e-9)
    # the largest of the single solutions
    delta[7] = gaussian_delta(1.1 * mu, epsilon[7])
    assert _largest_mu(epsilon, delta) == pytest.approx(1.1 * mu, rel=1e-9)
    assert _largest_mu(epsilon, -delta) == 0.0
    assert _largest_mu(epsilon, delta + 1.0) == math.inf


def test_the_shares_count_losses():
    rng = np.random.default_rng(0)
    losses, epsilon = rng.normal(size=(3, 50)), np.linspace(0.0, 2.0, 41)[1:]
    losses[0, 0] = epsilon[3]  # a tie counts
    direct = np.mean(losses[:, :, None] >= epsilon, axis=1)
    np.testing.assert_allclose(_shares_above(losses, epsilon), direct, rtol=1e-15)


def algorithm_2_by_loops(manifold, sigma, sensitivity, epsilon, generator):
    """Line by line as printed, but for the roots."""
    draws, repeats, law = 200, 5, IsotropicLaw("gaussian", manifold, sigma)
    direction = generator.standard_normal(manifold.dim)
    direction *= sensitivity / np.linalg.norm(direction)
    one = manifold.origin
    two = manifold.exp(one, manifold.tangent_vector(one, direction))
    samples = [sample(law, center, (repeats, draws), generator) for center in (one, two)]
    deltas = np.zeros(len(epsilon))
    for j in range(repeats):
        for i, e in enumerate(epsilon):
            share = []
            for drawn in samples:
                gap = manifold.dist(two, drawn[j]) ** 2 - manifold.dist(one, drawn[j]) ** 2
                share.append(np.mean(gap >= 2.0 * sigma**2 * e))
            deltas[i] += (share[0] - math.exp(e) * share[1]) / repeats
    return max(_largest_mu(epsilon[i : i + 1], deltas[i : i + 1]) for i in range(len(epsilon)))


@pytest.mark.parametrize("manifold", [Sphere(2), Hyperbolic(2)], ids=str)
def test_algorithm_2_line_by_line(manifold):
    epsilon = 2.0 * np.arange(1, 41) / 40.0
    loops = algorithm_2_by_loops(manifold, 0.8, 1.0, epsilon, np.random.default_rng(3))
    fast = jiang_algorithm_2(
        manifold,
        0.8,
        1.0,
        draws=200,
        repeats=5,
        epsilons=40,
        largest_epsilon=2.0,
        generator=np.random.default_rng(3),
    )
    assert fast == pytest.approx(loops, rel=1e-9)


@pytest.mark.parametrize(
    ("manifold", "sigma"),
    [(Sphere(1), 2.0), (Sphere(2), 1.0), (Sphere(2), 2.0), (Hyperbolic(2), 2.0)],
    ids=str,
)
def test_algorithm_2_scatters_around_the_exact_mu_on_both_sides(manifold, sigma):
    mu = exact(manifold, sigma).mu_bracket()[0]
    generator = np.random.default_rng(11)
    runs = [
        jiang_algorithm_2(manifold, sigma, 1.0, repeats=30, generator=generator) for _ in range(20)
    ]
    assert max(abs(run / mu - 1.0) for run in runs) < 0.2
    assert any(run < mu for run in runs)  # unsafe
    assert any(run > mu for run in runs)


def test_clipping_the_repeats_raises_mu():
    plain, clipped = (
        jiang_algorithm_2(
            Sphere(1), 0.5, 1.0, clip_repeats=clip, generator=np.random.default_rng(4)
        )
        for clip in (False, True)
    )
    assert clipped >= plain
    assert clipped > 2.0 * 1.06  # the exact value is 2


def test_small_sigma_does_not_overflow():
    mu = jiang_algorithm_2(
        Sphere(2), 0.02, 0.04, draws=500, repeats=10, generator=np.random.default_rng(0)
    )
    assert 1.8 < mu < 3.5  # 2 on flat space
    far = jiang_algorithm_2(
        Sphere(2), 0.001, 1.0, draws=10, repeats=2, generator=np.random.default_rng(0)
    )
    assert far == math.inf


def test_another_law_and_several_pairs():
    manifold, sigma = SPDAffineInvariant(2), 1.0
    law = Metropolis(manifold, sigma, "gaussian", steps=40)
    sizes = {"draws": 100, "repeats": 4, "epsilons": 50, "law": law}
    runs = [
        jiang_algorithm_2(
            manifold, sigma, 0.5, pairs=pairs, generator=np.random.default_rng(2), **sizes
        )
        for pairs in (1, 3)
    ]
    # the first of the three pairs is the single one
    assert 0.2 < runs[0] <= runs[1] < 1.5


@pytest.mark.slow
def test_the_first_pair_is_not_always_the_worst():
    manifold, sigma = SPDAffineInvariant(2), 1.0
    sizes = {"draws": 100, "repeats": 4, "epsilons": 50}
    sizes["law"] = Metropolis(manifold, sigma, "gaussian", steps=20)
    differ = [
        jiang_algorithm_2(manifold, sigma, 0.5, generator=np.random.default_rng(seed), **sizes)
        < jiang_algorithm_2(
            manifold, sigma, 0.5, pairs=4, generator=np.random.default_rng(seed), **sizes
        )
        for seed in range(4)
    ]
    assert any(differ)


@pytest.mark.parametrize(
    ("manifold", "law"),
    [
        (SPDAffineInvariant(3), AffineInvariantLaw),
        (Hyperbolic(2), IsotropicLaw),
        (SPDLogEuclidean(2), IsotropicLaw),
    ],
    ids=str,
)
def test_draws_are_exact_by_default(manifold, law):
    sizes = {"draws": 50, "repeats": 3, "epsilons": 20, "largest_epsilon": 2.0}
    default, given = (
        jiang_algorithm_2(
            manifold, 0.8, 0.5, law=chosen, generator=np.random.default_rng(5), **sizes
        )
        for chosen in (None, law("gaussian", manifold, 0.8))
    )
    assert default == given
    chain = Metropolis(manifold, 0.8, "gaussian", steps=5)
    other = jiang_algorithm_2(
        manifold, 0.8, 0.5, law=chain, generator=np.random.default_rng(5), **sizes
    )
    assert other != default


@pytest.mark.slow
def test_exact_draws_on_spd_matrices_give_the_mu_of_the_hyperbolic_plane():
    """2 x 2 matrices of determinant 1 are a hyperbolic plane of curvature -1/2; it is the worst."""
    mu = exact(Hyperbolic(2, -0.5), 1.0, 1.0).mu_bracket()[0]
    found = jiang_algorithm_2(
        SPDAffineInvariant(2), 1.0, 1.0, pairs=8, generator=np.random.default_rng(6)
    )
    assert found == pytest.approx(mu, rel=0.2)


@pytest.mark.parametrize(
    ("manifold", "sigma", "largest"),
    [
        (Euclidean(1), 0.25, 28.0),
        (Euclidean(1), 2.0, 10.0),
        (Sphere(1), 0.5, 2.0 * math.pi),
        (Sphere(2, 4.0), 0.5, math.pi),
    ],
    ids=str,
)
def test_the_range_of_epsilon_is_that_of_section_4(manifold, sigma, largest):
    sizes = {"draws": 300, "repeats": 3, "epsilons": 50}
    default, given, other = (
        jiang_algorithm_2(
            manifold, sigma, 1.0, largest_epsilon=end, generator=np.random.default_rng(7), **sizes
        )
        for end in (None, largest, 0.9 * largest)
    )
    assert default == pytest.approx(given, rel=1e-12)
    assert default != pytest.approx(other, rel=1e-12)


def test_bad_parameters():
    with pytest.raises(UnsupportedManifoldError, match="circle"):
        jiang_algorithm_1(Sphere(2), 1.0, 1.0)
    with pytest.raises(InvalidParameterError, match="sensitivity"):
        jiang_algorithm_1(Sphere(1), 1.0, math.pi)
    with pytest.raises(InvalidParameterError, match="sensitivity"):
        jiang_algorithm_2(Sphere(2), 1.0, 3.2)
    with pytest.raises(InvalidParameterError, match="sigma"):
        jiang_algorithm_1(Euclidean(1), -1.0, 1.0)
    for name in ("draws", "repeats", "epsilons", "pairs"):
        with pytest.raises(InvalidParameterError, match=name):
            jiang_algorithm_2(Sphere(2), 1.0, 1.0, **{name: 0})
    with pytest.raises(InvalidParameterError, match="largest_epsilon"):
        jiang_algorithm_2(Sphere(2), 1.0, 1.0, largest_epsilon=math.inf)
