"""Broken mechanisms: each has to be caught, with the number of samples that the docs state."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    PureDP,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
    TangentGaussian,
    TangentLaplace,
    frechet_mean,
    frechet_mean_sensitivity,
    research,
)
from riemdp.auditing import (
    DistanceScore,
    LowBitScore,
    NearestNeighbourScore,
    audit,
    audit_density_ratio,
    audit_sampler,
    audit_sensitivity,
    footpoint_pair,
    neighbouring_datasets,
)
from riemdp.auditing._claims import samples_needed
from riemdp.research import RestrictedLaplace

DOCS = Path(__file__).resolve().parents[2] / "docs" / "auditing.md"
SPHERE, SENSITIVITY = Sphere(2), 0.2
FIRST, SECOND = footpoint_pair(SPHERE, SENSITIVITY)


@dataclass(frozen=True)
class MovingCap:
    """Laplace noise cut off at a distance: the support moves with the footpoint."""

    manifold: Any = SPHERE
    sigma: float = 0.2
    reach: float = 0.6

    def sample(self, footpoint, size, generator):
        ball = Ball(self.manifold, footpoint, self.reach)
        law = RestrictedLaplace(self.manifold, self.sigma, ball=ball)
        return research.sample(law, footpoint, size=size, generator=generator)

    def log_density(self, point, footpoint):
        law = RiemannianLaplace(self.manifold, self.sigma)
        inside = self.manifold.dist(point, footpoint) <= self.reach
        return np.where(inside, law.log_density(point, footpoint), -np.inf)


@dataclass(frozen=True)
class ShortChain:
    """Metropolis chain for the Laplace law that starts at the footpoint and stops early."""

    manifold: Any = SPHERE
    sigma: float = 0.2
    steps: int = 10

    def sample(self, footpoint, size, generator):
        state = np.broadcast_to(footpoint, (size, *np.shape(footpoint))).copy()
        for _ in range(self.steps):
            step = self.manifold.tangent_vector(
                state, 0.2 * generator.standard_normal((size, self.manifold.dim))
            )
            proposed = self.manifold.exp(state, step)
            gain = self.manifold.dist(state, footpoint) - self.manifold.dist(proposed, footpoint)
            accept = np.log(generator.random(size)) < gain / self.sigma
            state = np.where(accept[:, None], proposed, state)
        return state


@dataclass(frozen=True)
class MatrixGaussian:
    """Riemannian Gaussian on 2 by 2 matrices about the identity, by rejection.

    The proposals are normal about (s, -s)/2 on the half-plane of ordered log-eigenvalues, s the
    squared scale; swapped, they are normal about (-s, s)/2.
    """

    sigma: float
    swapped: bool = False

    manifold = SPDAffineInvariant(2)

    def sample(self, footpoint, size, generator):
        assert np.array_equal(footpoint, np.eye(2))
        square = self.sigma**2
        mean = 0.5 * square * np.array([1.0, -1.0]) * (-1.0 if self.swapped else 1.0)
        kept = np.empty((0, 2))
        while len(kept) < size:
            r = mean + self.sigma * generator.standard_normal((4 * size, 2))
            r = r[r[:, 0] >= r[:, 1]]
            log_target = -np.sum(r**2, axis=1) / (2 * square) + np.log(
                np.sinh(0.5 * (r[:, 0] - r[:, 1]))
            )
            log_proposal = -np.sum((r - mean) ** 2, axis=1) / (2 * square)
            bound = 0.25 * square - np.log(2.0)
            accept = np.log(generator.random(len(r))) < log_target - log_proposal - bound
            kept = np.concatenate([kept, r[accept]])
        angle = generator.uniform(0.0, np.pi, size)
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turn = np.moveaxis(turn, -1, 0)
        return turn @ (np.exp(kept[:size, :, None]) * turn.swapaxes(1, 2))

    def quantile(self, q):
        """Law of the distance, the root of the sum of squared log-eigenvalues, by quadrature."""
        rho = np.linspace(0.0, 12.0 * self.sigma, 6001)
        angle = (np.arange(400) + 0.5) * np.pi / 400
        spread = np.sinh(np.outer(rho, np.abs(np.sin(angle))) / np.sqrt(2.0)).mean(axis=1)
        mass = np.cumsum(rho * np.exp(-(rho**2) / (2 * self.sigma**2)) * spread)
        return np.interp(q, mass / mass[-1], rho)


def lazy_mean(manifold, points):
    """Gradient descent from the first row until a squared step is at most 1e-4 per dimension."""
    mean = points[0]
    for iteration in range(32):
        step = manifold.log(mean, points).mean(axis=0)
        if iteration > 0 and step @ step <= 1e-4 * manifold.dim:
            break
        mean = manifold.exp(mean, step)
    return mean


def noise(mechanism, claim, first=FIRST, second=SECOND, score=None):
    def run(samples, generator):
        return audit(
            mechanism, first, second, claim, samples=samples, score=score, generator=generator
        )

    return run


def half_sensitivity(samples, generator):
    """Mean of 101 points, released as if it moved half as much."""
    ball, n = Ball(SPHERE, SPHERE.origin, 0.5), 101
    assumed = 0.5 * frechet_mean_sensitivity(ball, n)
    mechanism = RiemannianLaplace.calibrate(SPHERE, assumed, PureDP(1.0))
    means = [
        frechet_mean(SPHERE, points, ball=ball).value for points in neighbouring_datasets(ball, n)
    ]
    return audit(mechanism, *means, PureDP(1.0), samples=samples, generator=generator)


def low_bits(samples, generator):
    return audit(
        lambda data, source: data[0] + source.laplace(scale=10.0),
        np.array([0.0]),
        np.array([1.0]),
        PureDP(0.1),
        samples=samples,
        score=LowBitScore(),
        generator=generator,
    )


def swapped(samples, generator):
    law = MatrixGaussian(1.0)
    broken = replace(law, swapped=True)
    return audit_sampler(broken, np.eye(2), samples=samples, law=law, generator=generator)


def short_chain_sampler(samples, generator):
    law = RiemannianLaplace(SPHERE, 0.2)._distance_law
    return audit_sampler(ShortChain(), FIRST, samples=samples, law=law, generator=generator)


LAPLACE = RiemannianLaplace(SPHERE, 0.5 * SENSITIVITY)
TANGENT = {"base": SPHERE.origin}
DISTANCE = DistanceScore(SPHERE, FIRST, SECOND)

#: Control, audit, and samples per data set that catch it at each of five seeds.
CONTROLS = {
    "half the noise, Riemannian Laplace on S^2, pure 1": (noise(LAPLACE, PureDP(1.0)), 800),
    "half the noise, tangent Laplace on S^2, pure 1": (
        noise(TangentLaplace(SPHERE, 0.5 * SENSITIVITY, **TANGENT), PureDP(1.0)),
        800,
    ),
    "half the noise, tangent Gaussian on S^2, mu 1": (
        noise(TangentGaussian(SPHERE, 0.5 * SENSITIVITY, **TANGENT), GDP(1.0)),
        400,
    ),
    "half the sensitivity, Laplace mean on S^2, pure 1": (half_sensitivity, 800),
    "moving support on S^2, exact ratio, pure 1": (noise(MovingCap(), PureDP(1.0)), 100),
    "moving support on S^2, distance to the neighbour, pure 1": (
        noise(MovingCap(), PureDP(1.0), score=lambda outputs: SPHERE.dist(SECOND, outputs)),
        800,
    ),
    "Markov chain of 10 steps on S^2, nearest neighbours, pure 1": (
        noise(ShortChain(), PureDP(1.0), score=NearestNeighbourScore()),
        6400,
    ),
    "Markov chain of 10 steps on S^2, law of its distance": (short_chain_sampler, 1600),
    "swapped proposals on 2 by 2 matrices, law of their distance": (swapped, 1600),
    "low bits of a float plus Laplace noise, pure 0.1": (low_bits, 1600),
}


@pytest.mark.fast(
    "half the noise, Riemannian Laplace on S^2, pure 1",
    "half the noise, tangent Gaussian on S^2, mu 1",
    "half the sensitivity, Laplace mean on S^2, pure 1",
    "moving support on S^2, exact ratio, pure 1",
    "Markov chain of 10 steps on S^2, law of its distance",
    "low bits of a float plus Laplace noise, pure 0.1",
)
@pytest.mark.parametrize("name", CONTROLS)
def test_control_is_caught(name):
    run, samples = CONTROLS[name]
    for seed in range(5):
        assert run(samples, np.random.default_rng(seed)).verdict == "violated", seed


def test_the_docs_state_the_samples():
    text = DOCS.read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| (.+?) \| (\d+) \|$", text, flags=re.MULTILINE))
    del stated["published Conformal-DP on a line, 20 records, pure 0.1"]  # of riemdp-papers
    assert stated == {name: str(samples) for name, (_, samples) in CONTROLS.items()}


def test_the_same_mechanisms_are_consistent_when_whole():
    rng = np.random.default_rng(0)
    samples = 3200
    whole = RiemannianLaplace(SPHERE, SENSITIVITY)
    assert noise(whole, PureDP(1.0))(samples, rng).verdict == "consistent"
    assert noise(whole, PureDP(1.0), score=DISTANCE)(samples, rng).verdict == "consistent"
    nearest = NearestNeighbourScore()
    assert noise(whole, PureDP(1.0), score=nearest)(samples, rng).verdict == "consistent"
    long_chain = replace(ShortChain(), steps=100)
    law = whole._distance_law
    result = audit_sampler(long_chain, FIRST, samples=samples, law=law, generator=rng)
    assert result.verdict == "consistent"
    right = MatrixGaussian(1.0)
    result = audit_sampler(right, np.eye(2), samples=samples, law=right, generator=rng)
    assert result.radius > 0.01


def test_swapped_proposals_have_the_known_mean_distance():
    rng = np.random.default_rng(0)
    for is_swapped, expected in [(False, 1.69), (True, 1.21)]:
        draws = MatrixGaussian(1.0, swapped=is_swapped).sample(np.eye(2), 20000, rng)
        distance = SPDAffineInvariant(2).dist(np.eye(2), draws)
        assert abs(distance.mean() - expected) < 0.02


def test_moving_support_is_an_infinite_loss():
    result = noise(MovingCap(), PureDP(1.0))(400, np.random.default_rng(0))
    assert result.pure_epsilon_lower == np.inf
    assert result.mu_lower == np.inf
    assert np.isfinite(result.epsilon_lower(0.5))


def test_half_noise_by_the_density_ratio():
    result = audit_density_ratio(LAPLACE, FIRST, SECOND, PureDP(1.0), samples=10)
    assert result.verdict == "violated"
    assert result.largest == pytest.approx(2.0)


@pytest.mark.parametrize(("radius", "least"), [(0.5, 60.0), (0.785, 80.0)])
def test_mean_from_the_first_row_is_caught(radius, least):
    ball, n = Ball(SPHERE, SPHERE.origin, radius), 10_000
    claimed = frechet_mean_sensitivity(ball, n)
    result = audit_sensitivity(
        lambda points: lazy_mean(SPHERE, points), ball, n, claimed, restarts=0, steps=0
    )
    assert result.verdict == "violated"
    assert result.largest > least * claimed
    assert np.any(result.dataset[0] != result.neighbour[0])  # it is row 0 that does it
    whole = audit_sensitivity(
        lambda points: frechet_mean(SPHERE, points, ball=ball).value,
        ball,
        n,
        claimed,
        tolerance=1e-10,
        restarts=0,
        steps=0,
    )
    assert whole.verdict == "consistent"


def test_flat_noise_is_caught_on_outputs_alone():
    mechanism = TangentGaussian(Euclidean(2), 0.5)
    result = audit(
        lambda data, generator: research.sample(mechanism, data[0], generator=generator),
        np.zeros((1, 2)),
        np.array([[1.0, 0.0]]),
        GDP(1.0),
        samples=1000,
        generator=np.random.default_rng(0),
    )
    assert result.score == "LinearScore"
    assert result.verdict == "violated"


def test_the_example_of_the_docs_runs():
    code = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(code) == 1
    names: dict[str, Any] = {}
    exec(compile(code[0], "auditing.md", "exec"), names)
    assert names["result"].verdict == "violated"
    assert names["result"].pure_epsilon_lower == pytest.approx(1.7, abs=0.01)
    right = code[0].replace("0.5 / len", "1.0 / len")
    exec(compile(right, "auditing.md", "exec"), names)
    assert names["result"].verdict == "consistent"


def test_the_docs_state_the_samples_that_claims_need():
    text = DOCS.read_text(encoding="utf-8")
    assert f"at least {samples_needed(PureDP(1.0), 0.95)} per data set" in text
    assert 26_000 < samples_needed(PureDP(8.0), 0.95) < 27_000
