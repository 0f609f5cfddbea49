"""The Markov chain of Reimherr, Bharath, Soto (NeurIPS 2021), supplement A.5, against the law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp.noise import IsotropicLaw
from riemdp.statistics import frechet_mean_sensitivity
from riemdp_papers._experiment import Line, Outcome, Panel, Row, Settings, counted, mean_and_error
from riemdp_papers._reimherr_data import EPSILON, NAMES, SPHERE

if TYPE_CHECKING:
    from riemdp_papers._experiment import FloatArray, Progress

SIZES = (20, 200)
#: Chains side by side, so that their means are independent.
CHAINS = 200


def chain_distances(
    sigma: float, burn_in: int, steps: int, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Mean distance from the footpoint along each chain, in units of ``sigma``: twice (CHAINS,).

    ``burn_in`` steps are left out, ``steps`` count. In the first, rejected proposals hold the state
    (Metropolis); in the second, as printed, a rejected proposal is drawn again, so that only
    accepted states count.
    """
    sphere, footpoint = SPHERE.manifold, SPHERE.center
    states = np.repeat(footpoint[None], CHAINS, axis=0)
    distances = np.zeros(CHAINS)
    total, accepted_total, accepted_count = (np.zeros(CHAINS) for _ in range(3))
    for step in range(burn_in + steps):
        proposals = generator.standard_normal((CHAINS, 3))
        proposals *= sigma / np.linalg.norm(proposals, axis=-1, keepdims=True)
        proposals -= np.sum(proposals * states, axis=-1, keepdims=True) * states
        candidates = sphere.exp(states, proposals)
        far = sphere.dist(footpoint, candidates)
        accepted = generator.exponential(size=CHAINS) > (far - distances) / sigma
        states = np.where(accepted[:, None], candidates, states)
        distances = np.where(accepted, far, distances)
        if step >= burn_in:
            total += distances
            accepted_total += np.where(accepted, distances, 0.0)
            accepted_count += accepted
    return total / (steps * sigma), accepted_total / (accepted_count * sigma)


def chain(settings: Settings, progress: Progress) -> Outcome:
    """Mean distance of the chain's states, as printed and as Metropolis, and of the law."""
    generator = settings.generator("reimherr", "chain")
    burn_in, steps = (500, 3000) if settings.quick else (10_000, 50_000)
    rows = []
    lines: dict[str, list[tuple[float, float]]] = {
        "chain as printed": [],
        "Metropolis": [],
        "exact": [],
    }
    for n in counted(SIZES, progress):
        sigma = frechet_mean_sensitivity(SPHERE, n, "tight") / EPSILON
        metropolis, printed = chain_distances(sigma, burn_in, steps, generator)
        exact = IsotropicLaw("laplace", SPHERE.manifold, sigma).radial.mean() / sigma
        (mean, error), (right, right_error) = mean_and_error(printed), mean_and_error(metropolis)
        lines["chain as printed"].append((mean, error))
        lines["Metropolis"].append((right, right_error))
        lines["exact"].append((exact, 0.0))
        rows.append(
            Row(
                f"mean distance over σ of the noise on S², n = {n}",
                "—",
                f"{mean:.3f} ± {2.0 * error:.3f} as printed, {right:.3f} ± "
                f"{2.0 * right_error:.3f} with rejected steps that stay",
                f"{exact:.4f}",
                "Step 4, “reject and generate another candidate”, is no Metropolis–Hastings step: "
                f"its states are {mean / exact - 1.0:+.1%} away, and follow another law than the "
                "one that is ε-DP.",
            )
        )
    x = tuple(float(n) for n in SIZES)
    panel = Panel(
        "S²: Laplace draws (band: 2 SE)",
        "n",
        "mean distance / σ",
        tuple(
            Line(
                label,
                x,
                tuple(value for value, _ in values),
                tuple(2.0 * error for _, error in values),
            )
            for label, values in lines.items()
        ),
    )
    note = (
        f"{CHAINS} chains, burn-in {burn_in}, {steps} steps each ({NAMES['tight']} bound); ± is "
        "two standard errors. The authors' script, too, counts accepted candidates alone once the "
        "burn-in is over."
    )
    return Outcome(rows=tuple(rows), panels=(panel,), notes=(note,))
