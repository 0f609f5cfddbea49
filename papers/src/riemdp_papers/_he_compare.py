"""Errors of the mechanisms that He et al. compare, and of others, on one data set."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp import NotAttainableError
from riemdp.mechanisms import RiemannianLaplace, TangentGaussian
from riemdp.privacy import ApproxDP, PureDP
from riemdp.release import private_mean
from riemdp.research import ConformalRejection, PublicPriorLaplace, RestrictedLaplace, sample
from riemdp.spaces import Ball, Euclidean
from riemdp.statistics import frechet_mean
from riemdp_papers._conformal import PublishedConformalLaplace
from riemdp_papers._experiment import Line, Panel, Row, Settings, mean_and_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp_papers._experiment import FloatArray

LAPLACE, GAUSSIAN = "Riemannian Laplace", "tangent Gaussian, classical, δ = 1e-9"
TRUNCATED, SMALLER = "Laplace on the ball", "private ball, then Laplace"
PUBLIC, PRIOR = "conformal, public φ", "public prior"
PUBLISHED = "conformal as published (NOT private)"
NAMES = (LAPLACE, TRUNCATED, GAUSSIAN, PUBLIC, PRIOR, SMALLER, PUBLISHED)
#: Section VII-A and Appendix H.
RECORDS, DELTA = 1000, 1e-9
#: Most records for the published algorithm, whose time grows with their cube.
MOST = 1000
#: Draws of each mechanism in a quick run and in a full one, and of the slow published one.
QUICK_DRAWS, DRAWS = (20, 5), (200, 50)


@dataclass(frozen=True)
class Errors:
    """Distances of released means from the exact one, and exact mean distances, by mechanism.

    ``found`` are of shape (repeats,). ``exact``, where there is one in closed form, is before draws
    outside the ball are projected onto it.
    """

    found: dict[str, FloatArray]
    exact: dict[str, float]


def parents_and_children(
    dim: int,
    clusters: int,
    spread: float,
    n: int,
    generator: np.random.Generator,
    *,
    shares: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Points of Section VII-A: parents uniform in the unit ball, Gaussian children about them.

    The paper's Poisson numbers of children, given that there are ``n`` in all, are these. With
    ``shares``, shape (clusters,), some parents have more children than others. Parents are not
    among the points. Returns points (n, dim), of which some may lie outside the ball, and parents
    (clusters, dim).
    """
    parents = generator.standard_normal((clusters, dim))
    parents /= np.linalg.norm(parents, axis=1, keepdims=True)
    parents *= generator.random((clusters, 1)) ** (1.0 / dim)
    points = parents[generator.choice(clusters, size=n, p=shares)]
    return points + generator.normal(0.0, spread, (n, dim)), parents


def compare(
    points: FloatArray,
    landmarks: FloatArray,
    ball: Ball,
    epsilon: float,
    *,
    draws: tuple[int, int],
    generator: np.random.Generator,
) -> Errors:
    r"""Errors of the mechanisms on one data set (n, \*point_shape), as releases into its ball.

    ``landmarks`` are centres of density, which count as public knowledge. ``draws`` are those of
    each mechanism, and of the published one; that is left out where there are too many records, or
    one alone. So is the conformal one where its sampler would accept too few proposals.
    """
    space, dim = ball.manifold, ball.manifold.dim
    points = ball.project(points)
    mean = ball.project(frechet_mean(space, points).value)
    sensitivity = 2.0 * ball.radius / len(points)
    landmarks = ball.project(landmarks)
    repeats, few = draws

    def closeness(x: FloatArray) -> FloatArray:
        dist = np.min(space.dist(x[:, None], landmarks[None]), axis=1)
        return np.asarray(np.exp(-0.5 * np.square(dist / (0.3 * ball.radius))))

    def two_stages() -> FloatArray:
        found = private_mean(points, ball, budget, method="adaptive", generator=generator)
        return np.asarray(found.value)

    lower = 0.5 ** (4.0 / max(dim, 4))  # keeps the acceptance up in high dimension
    budget = PureDP(epsilon)
    laplace = RiemannianLaplace.calibrate(space, sensitivity, budget)
    truncated = RestrictedLaplace.calibrate(space, sensitivity, budget, ball=ball)
    gaussian = TangentGaussian.calibrate(
        space, sensitivity, ApproxDP(epsilon, DELTA), method="classical"
    )
    conformal = None
    with contextlib.suppress(NotAttainableError):
        conformal = ConformalRejection(
            ball,
            lambda x: lower + (1.0 - lower) * closeness(x),
            epsilon,
            sensitivity,
            bounds=(lower, 1.0),
            landmarks=landmarks,
        )
    prior = PublicPriorLaplace(ball, closeness, epsilon, sensitivity, bounds=(0.01, 1.0))
    footpoints = np.broadcast_to(mean, (repeats, *mean.shape))
    released = {
        LAPLACE: ball.project(sample(laplace, footpoints, generator=generator)),
        TRUNCATED: truncated.sample(footpoints, generator=generator),
        GAUSSIAN: ball.project(sample(gaussian, footpoints, generator=generator)),
    }
    if conformal is not None:
        released[PUBLIC] = conformal.sample(mean, repeats, generator)
    released[PRIOR] = prior.sample(mean, repeats, generator)
    released[SMALLER] = np.stack([two_stages() for _ in range(repeats)])
    if 2 <= len(points) <= MOST:
        # a chain needs about dim steps to forget that it started at the mean
        published = PublishedConformalLaplace(points, ball, epsilon, steps=400 + 40 * dim)
        released[PUBLISHED] = published.sample(mean, few, generator)
    found = {name: space.dist(mean, values) for name, values in released.items()}
    exact = {LAPLACE: laplace.expected_distance(), GAUSSIAN: gaussian.expected_distance()}
    return Errors(found, exact)


def clustered(
    settings: Settings, dim: int, clusters: int, spread: float, epsilon: float, *, n: int = RECORDS
) -> Errors:
    """Errors on clustered data in the unit ball: one data set, the same for every epsilon."""
    names = ("he", f"d {dim}", f"clusters {clusters}", f"spread {spread}", f"n {n}")
    points, parents = parents_and_children(
        dim, clusters, spread, n, settings.generator(*names, "points")
    )
    return compare(
        points,
        parents,
        Ball(Euclidean(dim), np.zeros(dim), 1.0),
        epsilon,
        draws=QUICK_DRAWS if settings.quick else DRAWS,
        generator=settings.generator(*names, "noise", f"epsilon {epsilon}"),
    )


def utility(errors: Errors) -> dict[str, float]:
    """Compute the utility of Section VII-A, ``1 / (1 + mean distance / largest distance)``.

    The largest distance is that of all mechanisms' draws; it sets the scale of the others.
    """
    largest = max(float(np.max(values)) for values in errors.found.values())
    return {name: 1.0 / (1.0 + float(np.mean(x)) / largest) for name, x in errors.found.items()}


def panels(title: str, xlabel: str, x: Sequence[float], found: Sequence[Errors]) -> list[Panel]:
    """Mean distances, and the paper's utility, of each mechanism where it is available."""
    utilities = [utility(errors) for errors in found]
    distances, paper = [], []
    for name in dict.fromkeys(name for errors in found for name in errors.found):
        there = [i for i, errors in enumerate(found) if name in errors.found]
        values = tuple(float(x[i]) for i in there)
        both = [mean_and_error(found[i].found[name]) for i in there]
        means, spread = (tuple(pair[i] for pair in both) for i in range(2))
        distances.append(Line(f"{name} (± 1 se)", values, means, spread))
        paper.append(Line(name, values, tuple(utilities[i][name] for i in there)))
    return [
        Panel(title, xlabel, "mean distance", tuple(distances), ylog=True),
        Panel(title, xlabel, "utility as in the paper", tuple(paper)),
    ]


def row(quantity: str, errors: Errors, paper: str) -> Row:
    """One setting: means with their standard errors, and which private mechanism has the least."""
    both = {name: mean_and_error(values) for name, values in errors.found.items()}
    best, *alike = least(both)
    remark = f"Least of the private ones: {best}"
    return Row(
        quantity,
        paper,
        " / ".join(f"{both[x][0]:.3g} ± {both[x][1]:.1g}" if x in both else "—" for x in NAMES),
        " / ".join(f"{errors.exact[x]:.3g}" if x in errors.exact else "—" for x in NAMES),
        f"{remark}; within two standard errors: {'; '.join(alike)}." if alike else f"{remark}.",
    )


def least(both: dict[str, tuple[float, float]]) -> list[str]:
    """Name the private mechanism of the least mean, and those within two standard errors of it."""
    private = {name: pair for name, pair in both.items() if name != PUBLISHED}
    best = min(private, key=lambda name: private[name][0])
    mean, error = private[best]

    def alike(other: tuple[float, float]) -> bool:
        return other[0] - mean <= 2.0 * float(np.hypot(other[1], error))

    return [best, *(name for name, pair in private.items() if name != best and alike(pair))]
