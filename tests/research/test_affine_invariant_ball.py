from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.special
import scipy.stats

from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnsupportedBallError,
    UnsupportedManifoldError,
)
from riemdp.research._affine_invariant_ball import AffineInvariantBallLaplace, _Proposals
from riemdp.research._ball_laplace import BallLaplace
from riemdp.research._sinh_envelope import log_volume
from riemdp.spaces import Ball, Euclidean, Hyperbolic, SPDAffineInvariant, _symmetric

#: Curvature -1/2 of the plane of 2 x 2 matrices of determinant 1.
ROOT = math.sqrt(0.5)


def law(k: int, radius: float, sigma: float) -> AffineInvariantBallLaplace:
    manifold = SPDAffineInvariant(k)
    center = np.diag(np.arange(1.0, k + 1.0)) + 0.3
    return AffineInvariantBallLaplace(Ball(manifold, center, radius), sigma)


def line_and_plane(coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Trace over root 2, and polar coordinates of the traceless part, of 2 x 2 logarithms."""
    matrices = _symmetric.unvecd(coordinates, 2)
    a, b, c = matrices[..., 0, 0], matrices[..., 1, 1], matrices[..., 0, 1]
    trace, one, two = ROOT * (a + b), ROOT * (a - b), math.sqrt(2.0) * c
    return trace, np.hypot(one, two), np.arctan2(two, one)


def distance(first: tuple, second: tuple) -> np.ndarray:
    """Distance in the product of a line and a hyperbolic plane of curvature -1/2."""
    (t, r, a), (u, s, b) = first, second
    half = (
        np.sinh(0.5 * ROOT * (r - s)) ** 2
        + np.sinh(ROOT * r) * np.sinh(ROOT * s) * np.sin(0.5 * (a - b)) ** 2
    )
    return np.hypot(t - u, 2.0 * np.arcsinh(np.sqrt(half)) / ROOT)


class Grid:
    """Riemannian volume on a ball of 2 x 2 matrices, cell by cell; ``power`` 0 forgets J."""

    def __init__(self, radius: float, number: int = 60, power: int = 1) -> None:
        node, weight = np.polynomial.legendre.leggauss(number)
        trace, rho, turn = np.meshgrid(
            node, 0.5 * (1.0 + node), math.pi * np.linspace(-1, 1, number, False), indexing="ij"
        )
        trace = radius * trace
        widest = np.sqrt(radius**2 - trace**2)
        rho = rho * widest
        self.points = (trace, rho, turn)
        volume = np.where(power, np.sinh(ROOT * rho) / ROOT, rho)
        cells = weight[:, None, None] * weight[:, None] * widest
        self.weights = cells * volume * radius * 0.5 * 2.0 * math.pi / number

    def log_mass(self, footpoint: tuple, sigma: float) -> float:
        return math.log(np.sum(self.weights * np.exp(-distance(footpoint, self.points) / sigma)))

    def pvalues(self, draws: tuple, footpoint: tuple, sigma: float) -> list[float]:
        """P-values of three functions of draws: two distances and a coordinate."""
        mass = self.weights * np.exp(-distance(footpoint, self.points) / sigma)
        center = (0.0, 0.0, 0.0)
        found = []
        for statistic in (
            lambda x: distance(footpoint, x),
            lambda x: distance(center, x),
            lambda x: x[0] * footpoint[0] + x[1] * footpoint[1] * np.cos(x[2] - footpoint[2]),
        ):
            at = statistic(self.points).reshape(-1)
            order = np.argsort(at)
            share = np.cumsum(mass.reshape(-1)[order])
            sample = np.sort(statistic(draws))
            level = np.interp(sample, at[order], (share - 0.5 * np.diff(share, prepend=0.0)))
            level /= share[-1]
            ranks = (np.arange(sample.size) + 0.5) / sample.size
            gap = float(np.max(np.abs(level - ranks)))
            found.append(float(scipy.special.kolmogorov(math.sqrt(sample.size) * gap)))
        return found


FOOT = np.array([0.6, -0.2, 0.5])


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    ("scheme", "radius", "sigma", "length"),
    [("free", 1.5, 0.3, 0.9), ("chart", 1.5, 0.3, 0.9), ("chart", 2.5, 2.0, 1.0)],
)
def test_draws_have_the_density_on_a_ball_of_2_by_2_matrices(scheme, radius, sigma, length, holds):
    # the last sigma is beyond where the unrestricted law ends, its footpoint on the boundary
    coordinates = length * radius * (1 - 1e-12) * FOOT / np.linalg.norm(FOOT)
    footpoint = line_and_plane(coordinates)
    grid, flat = Grid(radius), Grid(radius, power=0)

    def pvalue(generator: np.random.Generator) -> float:
        proposals = _Proposals(2, sigma, radius)
        draws, kept = proposals.propose(scheme, coordinates[None], 8000, generator)
        sample = line_and_plane(draws[kept])
        # negative controls: without the volume, or with a wrong scale
        assert sigma < 1.0 or min(flat.pvalues(sample, footpoint, sigma)) < 1e-6
        assert sigma > 1.0 or min(grid.pvalues(sample, footpoint, 1.1 * sigma)) < 1e-6
        return min(grid.pvalues(sample, footpoint, sigma))

    assert holds(pvalue)


def test_a_proposal_without_its_acceptance_is_noticed():
    # negative control: the restricted law of coordinates is not that of matrices
    radius, sigma = 2.5, 2.0
    coordinates = 0.9 * radius * FOOT / np.linalg.norm(FOOT)
    footpoint, grid = line_and_plane(coordinates), Grid(radius)
    draws, _ = _Proposals(2, sigma, radius).chart(coordinates[None], 5000, np.random.default_rng(1))
    assert min(grid.pvalues(line_and_plane(draws[:, 0]), footpoint, sigma)) < 1e-6


def test_loss_is_at_most_two_distances_over_sigma():
    # and one distance over sigma, without the normaliser's part, is too little
    radius, sigma = 1.0, 0.2
    grid = Grid(radius)
    axis = FOOT / np.linalg.norm(FOOT)
    one, two = line_and_plane(0.8 * axis), line_and_plane(0.9 * axis)
    apart = float(distance(one, two))
    moved = grid.log_mass(one, sigma) - grid.log_mass(two, sigma)
    loss = (distance(two, grid.points) - distance(one, grid.points)) / sigma - moved
    worst = float(np.max(np.abs(loss)))
    assert 1.1 * apart / sigma < worst <= 2.0 * apart / sigma


def weighted(proposals: _Proposals, footpoint: np.ndarray, number: int, generator):
    """Points uniform in coordinates, with weights that make them draws of the restricted law."""
    k, radius, sigma = proposals.k, proposals.radius, proposals.sigma
    dim = k * (k + 1) // 2
    points = generator.standard_normal((number, dim))
    points *= (
        radius
        * generator.random((number, 1)) ** (1.0 / dim)
        / np.linalg.norm(points, axis=-1, keepdims=True)
    )
    manifold, origin = SPDAffineInvariant(k), np.eye(k)
    at, foot = manifold.point(origin, points), manifold.point(origin, footpoint)
    logs = np.linalg.eigvalsh(_symmetric.unvecd(points, k))
    return points, np.exp(log_volume(logs) - manifold.dist(foot, at) / sigma)


def against_weights(proposals: _Proposals, scheme, number: int, generator):
    """P-value of three functions of draws against those of weighted points."""
    foot = np.linspace(1.0, -0.4, proposals.k * (proposals.k + 1) // 2)
    foot *= 0.95 * proposals.radius / np.linalg.norm(foot)
    points, weights = weighted(proposals, foot, 4 * number, generator)
    draws, kept = proposals.propose(scheme, foot[None], number, generator)
    sample = draws[kept]
    effective = weights.sum() ** 2 / np.sum(weights**2)
    size = effective * len(sample) / (effective + len(sample))
    found = []
    for function in (
        lambda x: np.linalg.norm(x, axis=-1),
        lambda x: x @ foot,
        lambda x: np.linalg.norm(x - foot, axis=-1),
    ):
        order = np.argsort(function(points))
        share = np.cumsum(weights[order]) / weights.sum()
        ranks = np.searchsorted(np.sort(function(sample)), function(points)[order]) / len(sample)
        gap = float(np.max(np.abs(share - ranks)))
        found.append(float(scipy.special.kolmogorov(math.sqrt(size) * gap)))
    return min(found)


@pytest.mark.fast("chart")
@pytest.mark.parametrize("scheme", ["free", "chart"])
def test_draws_against_weighted_points_on_3_by_3_matrices(scheme, holds):
    assert holds(
        lambda generator: against_weights(_Proposals(3, 0.4, 1.5), scheme, 3000, generator)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "radius", "sigma", "scheme"),
    [
        (2, 4.0, 1.0, "free"),
        (2, 4.0, 1.0, "chart"),
        (2, 6.0, 5.0, "chart"),
        (3, 3.0, 0.5, "free"),
        (3, 3.0, 0.5, "chart"),
        (3, 3.0, 50.0, "chart"),
        (4, 2.0, 0.25, "chart"),
        (5, 1.5, 0.3, "chart"),
        (6, 1.0, 0.3, "chart"),
    ],
)
def test_many_draws_against_weighted_points(k, radius, sigma, scheme, holds):
    proposals = _Proposals(k, sigma, radius)
    assert holds(lambda generator: against_weights(proposals, scheme, 60_000, generator))


@pytest.mark.fast(2)
@pytest.mark.parametrize(("k", "radius", "sigma"), [(1, 1.0, 0.4), (3, 1.5, 0.3), (5, 2.0, 3.0)])
def test_distances_about_the_center_have_their_law(k, radius, sigma, holds):
    restricted = law(k, radius, sigma)
    ball = restricted.ball

    def pvalue(generator: np.random.Generator) -> float:
        draws = restricted.sample(ball.center, 1500, generator)
        assert np.all(ball.contains(draws))
        dist = ball.manifold.dist(ball.center, draws)
        levels = np.arange(1, 200) / 200
        share = np.mean(dist[:, None] <= restricted.about_center.quantile(levels), axis=0)
        gap = float(np.max(np.abs(share - levels)))
        return float(scipy.special.kolmogorov(math.sqrt(dist.size) * gap))

    assert holds(pvalue)


def test_distance_about_the_center_against_the_plane():
    # k = 2: a line times a hyperbolic plane
    radius, sigma = 1.2, 0.5
    grid = Grid(radius, 80)
    dist = distance((0.0, 0.0, 0.0), grid.points)
    mass = grid.weights * np.exp(-dist / sigma)
    found = law(2, radius, sigma).about_center
    assert found.mean() == pytest.approx(np.sum(mass * dist) / np.sum(mass), rel=1e-6)
    levels = np.array([0.2, 0.5, 0.8])
    share = [np.sum(mass[dist <= q]) / np.sum(mass) for q in found.quantile(levels)]
    np.testing.assert_allclose(share, levels, atol=5e-3)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("k", "radius", "sigma"), [(2, 1.0, 0.4), (3, 3.0, 0.3), (4, 2.0, 5.0)])
def test_the_error_is_bounded_at_every_footpoint(k, radius, sigma):
    restricted = law(k, radius, sigma)
    ball, bound = restricted.ball, restricted.radial
    for length in (0.0, 0.6, 1.0):
        foot = ball.point(length * radius * (1 - 1e-12) * np.eye(ball.manifold.dim)[0])
        dist = ball.manifold.dist(foot, restricted.sample(foot, 400, np.random.default_rng(4)))
        slack = 4.0 / math.sqrt(dist.size)
        for q in (0.1, 0.5, 0.9):
            assert np.mean(dist <= bound.quantile(q)) > q - 0.5 * slack
        assert np.mean(dist) < bound.mean() + slack * np.std(dist)
    assert bound.quantile(1.0) == 2.0 * radius


def test_size_one_is_the_line(holds):
    ball = Ball(SPDAffineInvariant(1), np.array([[3.0]]), 1.5)
    flat = BallLaplace(Ball(Euclidean(1), np.zeros(1), 1.5), 0.7)
    restricted, foot = AffineInvariantBallLaplace(ball, 0.7), ball.point(np.array([1.1]))

    def pvalue(generator: np.random.Generator) -> float:
        draws = np.log(restricted.sample(foot, 2000, generator)[:, 0, 0] / 3.0)
        return float(scipy.stats.ks_2samp(draws, flat.sample([1.1], 2000, generator)[:, 0]).pvalue)

    assert restricted.acceptance() == 1.0
    assert holds(pvalue)


@pytest.mark.parametrize(("radius", "sigma"), [(1.0, 0.05), (1.0, 4.0)])
def test_isometries_take_draws_to_draws(radius, sigma):
    manifold = SPDAffineInvariant(3)
    turn = np.array([[1e3, 0, 0], [2.0, 1e-2, 0], [-3.0, 1.0, 4.0]])
    center = np.diag([1.0, 2.0, 3.0]) + 0.3
    ball, image = Ball(manifold, center, radius), Ball(manifold, turn @ center @ turn.T, radius)
    foot = ball.point(0.4 * radius * np.linspace(-1.0, 1.0, 6))
    draws = AffineInvariantBallLaplace(ball, sigma).sample(foot, 20, np.random.default_rng(6))
    moved = AffineInvariantBallLaplace(image, sigma).sample(
        turn @ foot @ turn.T, 20, np.random.default_rng(6)
    )
    assert np.max(manifold.dist(turn @ draws @ turn.T, moved)) < 1e-6


@pytest.mark.parametrize(("radius", "sigma"), [(1.0, 0.05), (2.0, 1.0)])
@pytest.mark.parametrize("size", [None, 30])
def test_the_work_is_the_same_at_every_footpoint(radius, sigma, size):
    restricted = law(3, radius, sigma)
    states = []
    for length in (0.0, 0.5, 1.0):
        foot = restricted.ball.point(length * radius * (1 - 1e-12) * np.eye(6)[0])
        generator = np.random.default_rng(7)
        restricted.sample(foot, size, generator)
        states.append(generator.bit_generator.state)
    assert states[0] == states[1] == states[2]


def test_too_few_accepted_proposals_are_followed_by_more():
    proposals, foot = _Proposals(2, 2.0, 2.5), np.array([[1.0, 0.0, 0.5], [0.0, 2.0, 0.0]])
    draws = proposals.accepted("chart", foot, 50, 7, np.random.default_rng(13))
    assert np.unique(draws, axis=0).shape == (50, 2, 3)
    assert np.all(np.linalg.norm(draws, axis=-1) <= 2.5 * (1 + 1e-12))
    empty = law(2, 1.0, 0.2).sample(np.diag([1.3, 2.3]) + 0.3 * (1 - np.eye(2)), 0)
    assert empty.shape == (0, 2, 2)


def test_seeded_draws_are_reproducible_and_shaped():
    restricted = law(3, 1.0, 0.2)
    feet = restricted.ball.point(0.5 * np.eye(6)[:2])
    first = restricted.sample(feet, (4, 1), np.random.default_rng(8))
    again = restricted.sample(feet, (4, 1), np.random.default_rng(8))
    assert first.shape == (4, 1, 2, 3, 3)
    np.testing.assert_array_equal(first, again)
    other = restricted.sample(feet, (4, 1), np.random.default_rng(9))
    assert np.all(restricted.ball.manifold.dist(first, other) > 0.0)


@pytest.mark.parametrize(
    ("k", "radius", "sigma"),
    [(2, 1.0, 1e-9), (2, 1.0, 1e9), (2, 1e-6, 1e-6), (3, 6.0, 0.01), (3, 1e-3, 1e3), (8, 1.0, 0.3)],
)
def test_extreme_numbers(k, radius, sigma):
    restricted = law(k, radius, sigma)
    foot = restricted.ball.point(radius * (1 - 1e-12) * np.eye(restricted.manifold.dim)[0])
    draws = restricted.sample(foot, 5, np.random.default_rng(10))
    assert np.all(restricted.ball.contains(draws))
    dist = restricted.ball.manifold.dist(foot, draws)
    assert np.all(dist > 0.0)
    assert np.mean(dist) < 3.0 * restricted.radial.mean()


def test_a_graded_center():
    manifold = SPDAffineInvariant(3)
    center = np.diag([1e6, 1.0, 1e-6])
    center[0, 1] = center[1, 0] = 300.0
    for sigma in (0.05, 2.0):
        ball = Ball(manifold, center, 1.5)
        plain = Ball(manifold, np.eye(3), 1.5)
        coordinates = 1.4 * np.eye(6)[4]
        draws = [
            each.manifold.coordinates(
                each.center,
                AffineInvariantBallLaplace(each, sigma).sample_from_coordinates(
                    coordinates, 10, np.random.default_rng(11)
                ),
            )
            for each in (ball, plain)
        ]
        np.testing.assert_allclose(draws[0], draws[1], atol=1e-3)


def test_too_few_proposals_are_refused_beforehand():
    wide = law(5, 12.0, 1.0)
    with pytest.raises(NotAttainableError, match="smaller ball"):
        wide.check_drawable()
    with pytest.raises(NotAttainableError, match="smaller ball"):
        wide.sample(wide.ball.center)
    with pytest.raises(NotAttainableError, match="float64"):
        law(2, 21.0, 0.1).check_drawable()
    assert law(1, 300.0, 0.1).acceptance() == 1.0


def test_footpoints_outside_the_ball_and_other_spaces_are_refused():
    restricted = law(2, 1.0, 0.2)
    with pytest.raises(UnsupportedBallError):
        restricted.sample(restricted.ball.center * math.exp(1.0))
    ball = Ball(Hyperbolic(2), Hyperbolic(2).origin, 1.0)
    with pytest.raises(UnsupportedManifoldError, match="SPDAffineInvariant"):
        AffineInvariantBallLaplace(ball, 0.2)
    with pytest.raises(InvalidParameterError, match="1e-100"):
        law(1, 1.0, 1e-101)
    with pytest.raises(UnsupportedManifoldError, match="normaliser"):
        restricted.log_density(restricted.ball.center, restricted.ball.center)
