"""Figure 4 of Utpala et al.: times, burn-in, and how tight the radius of Theorem 5 is."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp.io import descriptor_radius
from riemdp.mechanisms import Mechanism
from riemdp.research import Metropolis, sample
from riemdp.spaces import SPDLogEuclidean
from riemdp_papers._experiment import Line, Outcome, Panel, Progress, Row, Settings, counted
from riemdp_papers._images import ImageSet, image_sets
from riemdp_papers._utpala_synthetic import (
    ANALYTIC,
    BURN_INS,
    CLASSES,
    ETA,
    LAPLACE,
    SIZES,
    banded,
    synthetic_mechanisms,
    with_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp_papers._experiment import FloatArray

#: Chains of Figure 4(b), where the paper has 10, and in a quick run, with its sizes.
CHAINS, QUICK_CHAINS = 100, 10
QUICK_SIZES = (2, 10, 30)
#: Of a descriptor, by the channels of the images.
_ROWS = {1: "nine", 3: "eleven"}


@dataclass(frozen=True)
class Chain:
    """The Markov chain of Appendix B.1 for the Laplace law, in coordinates where it is flat.

    Proposals are Gaussian about the state with standard deviation ``sigma`` in each coordinate.
    """

    dim: int
    sigma: float

    def run(
        self, start: FloatArray, burn_ins: tuple[int, ...], generator: np.random.Generator
    ) -> FloatArray:
        """Distances from the footpoint after so many steps, and the shares of accepted steps.

        ``start``, shape (chains, dim), is relative to the footpoint, and ``burn_ins`` increase; the
        result has shape (2, len(burn_ins), chains).
        """
        state, dist = start.copy(), np.linalg.norm(start, axis=1)
        accepted = np.zeros(len(start))
        found = []
        for step in range(1, burn_ins[-1] + 1):
            proposal = state + self.sigma * generator.standard_normal(state.shape)
            proposed = np.linalg.norm(proposal, axis=1)
            move = proposed - dist < self.sigma * generator.standard_exponential(len(start))
            state[move], dist[move] = proposal[move], proposed[move]
            accepted += move
            if step in burn_ins:
                found.append((dist.copy(), accepted / step))
        return np.stack(found, axis=1)


def figure_4(settings: Settings, progress: Progress) -> Outcome:
    """Measure times, utility against the burn-in, and how tight the radius of Theorem 5 is."""
    generator = settings.generator("utpala", "figure-4")
    time_rows, time_panel = _times(settings, generator)
    progress(0.2)
    burn_rows, burn_panel = _burn_in(settings, generator, lambda x: progress(0.2 + 0.6 * x))
    radius_rows, radius_panel = _radius_ratio(settings)
    progress(1.0)
    notes = (
        "Times are processor time of one thread here; the paper used a laptop (i9-11900H). The "
        "chain's is that of a few of its steps, in matrices as published, times the burn-in. The "
        f"chains of Figure 4(b) are {QUICK_CHAINS if settings.quick else CHAINS}; ± is one "
        "standard error.",
    )
    return Outcome(
        (*time_rows, *burn_rows, *radius_rows), (time_panel, burn_panel, radius_panel), notes
    )


def _times(settings: Settings, generator: np.random.Generator) -> tuple[list[Row], Panel]:
    """Figure 4(a)."""
    steps, repeats = (20, 20) if settings.quick else (200, 200)
    seconds: dict[str, list[float]] = {"chain": [], LAPLACE: [], ANALYTIC: []}
    for k in SIZES:
        mechanisms, center = synthetic_mechanisms(k, 0.1, 1e-6), np.eye(k)
        sigma = mechanisms[LAPLACE].sigma
        chain = Metropolis(SPDLogEuclidean(k), sigma, "laplace", steps, sigma)
        seconds["chain"].append(_seconds(chain, center, generator, 5) / steps)
        for name in (LAPLACE, ANALYTIC):
            seconds[name].append(_seconds(mechanisms[name], center, generator, repeats))
    lines = [
        Line(f"chain, burn-in {burn_in}", SIZES, tuple(burn_in * x for x in seconds["chain"]))
        for burn_in in BURN_INS
    ]
    lines += [
        Line(f"{name}, exact draw", SIZES, tuple(seconds[name])) for name in (LAPLACE, ANALYTIC)
    ]
    panel = Panel("Figure 4(a)", "k", "seconds per release", tuple(lines), ylog=True)
    rows = [
        Row(
            f"seconds of a Laplace release, k = 30, burn-in {burn_in}",
            paper,
            f"{burn_in * seconds['chain'][-1]:.3g}",
            f"{seconds[LAPLACE][-1]:.2g} (exact draw)",
            f"The chain's time is {steps} steps scaled up.",
        )
        for burn_in, paper in zip(BURN_INS, ("14", "36", "73"), strict=True)
    ]
    rows.append(
        Row(
            "seconds of a tangent Gaussian release, k = 30",
            "1.3e-6",
            f"{seconds[ANALYTIC][-1]:.2g}",
            "—",
            "Here with the logarithm and exponential of a 30 × 30 matrix, which take longer than "
            "a microsecond.",
        )
    )
    return rows, panel


def _burn_in(
    settings: Settings, generator: np.random.Generator, progress: Progress
) -> tuple[list[Row], Panel]:
    """Figure 4(b), and what becomes of the chain that starts at the mean."""
    sizes, chains = (QUICK_SIZES, QUICK_CHAINS) if settings.quick else (SIZES, CHAINS)
    burn_ins = (100, 1000, *BURN_INS)
    found: dict[int, FloatArray] = {}
    for k in counted(sizes, progress):
        space = SPDLogEuclidean(k)
        entries = generator.uniform(-1.0, 1.0, (chains, k, k))
        start = space.to_chart(_exponential(entries))
        sigma = synthetic_mechanisms(k, 0.1, 1e-6)[LAPLACE].sigma
        found[k] = Chain(space.dim, sigma).run(start, burn_ins, generator)
    exact = {k: synthetic_mechanisms(k, 0.1, 1e-6)[LAPLACE].expected_distance() for k in sizes}
    lines = [
        banded(f"burn-in {burn_in}", sizes, [found[k][0, i] for k in sizes])
        for i, burn_in in enumerate(burn_ins)
    ]
    lines.append(Line("exact mean", sizes, tuple(exact[k] for k in sizes)))
    panel = Panel("Figure 4(b), ε = 0.1", "k", "ρ(mean, released)", tuple(lines), ylog=True)
    rows = [
        Row(
            f"mean ρ after a burn-in of {burn_in}, k = 30, ε = 0.1",
            "no significant difference between burn-ins" if burn_in in BURN_INS else "—",
            with_error(found[30][0, i]),
            f"{exact[30]:.4g}",
            "" if burn_in >= BURN_INS[0] else "Not converged: no ε holds.",
        )
        for i, burn_in in enumerate(burn_ins)
    ]
    rows.append(
        Row(
            "share of accepted proposals, k = 2 to 30",
            "50 % to 65 %",
            " to ".join(f"{100 * np.mean(found[k][1, -1]):.0f} %" for k in (sizes[0], sizes[-1])),
            "—",
        )
    )
    steps = BURN_INS[0]
    sigma = synthetic_mechanisms(30, 0.1, 1e-6)[LAPLACE].sigma
    stuck = Chain(465, sigma).run(np.zeros((1, 465)), (steps,), generator)
    rows.append(
        Row(
            f"distance after {steps} steps of a chain that starts at the mean, k = 30",
            "— (it starts at a random point)",
            f"{stuck[0, 0, 0]:.3g}",
            f"{exact[30]:.4g}",
            "From the mean a proposal is accepted with probability about exp(-√465) = "
            f"{math.exp(-math.sqrt(465.0)):.0e}, so such a chain releases the private mean itself.",
        )
    )
    return rows, panel


def _radius_ratio(settings: Settings) -> tuple[list[Row], Panel]:
    """Figure 4(c): the bound over the largest norm of the data."""
    limit = 400 if settings.quick else None
    rows, lines = [], []
    for images in image_sets(settings):
        labels, radius = images.classes[:CLASSES], images.radius(ETA)
        ratios = [radius / _largest_norm(images, label, limit) for label in labels]
        lines.append(Line(images.name, tuple(map(float, labels)), tuple(ratios)))
        rows.append(
            Row(
                f"bound of Theorem 5 over the largest norm, {images.name}",
                "tight in practice (Figure 4(c))",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                "—",
                f"Loose by that factor: the bound has all {_ROWS[images.channels]} eigenvalues "
                f"at η (classes {', '.join(map(str, labels))}).",
            )
        )
    eta = 1e-6
    printed = 3.0 * max(abs(math.log(eta)), math.log(14.0 + eta))
    rows.append(
        Row(
            "radius of Theorem 5, grey, η = 1e-6",
            f"{printed:.4f} (14 + η in the main text)",
            "—",
            f"{descriptor_radius(ETA, 1):.4f}",
            "The proof gives 12 + η; at this η the other end decides.",
        )
    )
    panel = Panel("Figure 4(c)", "class", "bound / largest norm of the data", tuple(lines))
    return rows, panel


def _largest_norm(images: ImageSet, label: int, limit: int | None) -> float:
    return float(np.max(np.linalg.norm(images.chart(label, ETA, limit), axis=1)))


def _exponential(entries: FloatArray) -> FloatArray:
    """Exponentials of the symmetric parts of square matrices."""
    values, vectors = np.linalg.eigh(0.5 * (entries + entries.swapaxes(1, 2)))
    matrices = (vectors * np.exp(values)[:, None]) @ vectors.swapaxes(1, 2)
    return np.asarray(0.5 * (matrices + matrices.swapaxes(1, 2)))


def _seconds(
    law: Mechanism, center: FloatArray, generator: np.random.Generator, repeats: int
) -> float:
    """Median processor time of a draw."""

    def one() -> Iterator[float]:
        for _ in range(repeats):
            start = time.process_time()
            sample(law, center, None, generator)
            yield time.process_time() - start

    return float(np.median(list(one())))
