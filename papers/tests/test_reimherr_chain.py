from __future__ import annotations

import numpy as np

from riemdp.noise import IsotropicLaw
from riemdp.research import sample
from riemdp_papers import _reimherr_chain as module
from riemdp_papers._experiment import Settings, mean_and_error
from riemdp_papers._reimherr_data import SPHERE

SIGMA = 0.3  # curvature counts: 1.85 sigma in place of 2


def test_metropolis_has_the_laws_mean_and_the_printed_chain_has_not():
    exact = IsotropicLaw("laplace", SPHERE.manifold, SIGMA).radial.mean() / SIGMA
    metropolis, printed = module.chain_distances(SIGMA, 300, 3000, np.random.default_rng(0))
    mean, error = mean_and_error(metropolis)
    assert abs(mean - exact) < 4 * error
    mean, error = mean_and_error(printed)
    assert mean - exact > 4 * error
    kept, kept_error = mean_of_accepted(np.random.default_rng(1))
    assert abs(mean - kept) < 4 * np.hypot(error, kept_error)


def mean_of_accepted(generator):
    """Mean distance over sigma of the first accepted candidate from a state that has the law.

    The chain is reversible, so accepted states have the law times the probability to leave,
    which is the law of the states that an accepted step arrives at.
    """
    pole = SPHERE.center
    states = sample(IsotropicLaw("laplace", SPHERE.manifold, SIGMA), pole, 200_000, generator)
    steps = generator.standard_normal(states.shape)
    steps *= SIGMA / np.linalg.norm(steps, axis=1, keepdims=True)
    steps -= np.sum(steps * states, axis=1, keepdims=True) * states
    far = SPHERE.manifold.dist(pole, SPHERE.manifold.exp(states, steps))
    weights = np.minimum(1.0, np.exp((SPHERE.manifold.dist(pole, states) - far) / SIGMA))
    mean = np.average(far, weights=weights)
    error = np.std(weights * (far - mean)) / np.mean(weights) / np.sqrt(len(far))
    return mean / SIGMA, error / SIGMA


def test_without_a_burn_in_chains_are_still_near_the_footpoint():
    short, _ = module.chain_distances(SIGMA, 0, 10, np.random.default_rng(0))
    long, _ = module.chain_distances(SIGMA, 300, 10, np.random.default_rng(0))
    assert np.mean(short) < 0.85 * np.mean(long)


def test_the_outcome_has_a_row_and_a_point_for_each_size(monkeypatch):
    monkeypatch.setattr(module, "CHAINS", 20)
    seen = []
    outcome = module.chain(Settings(quick=True), seen.append)
    assert seen == [0.5, 1.0]
    assert len(outcome.rows) == len(module.SIZES)
    assert all(line.x == (20.0, 200.0) for line in outcome.panels[0].lines)
    assert outcome.rows[1].exact == "1.9999"
    printed = outcome.panels[0].lines[0].y
    for row, mean in zip(outcome.rows, printed, strict=True):
        assert f"{mean / float(row.exact) - 1:+.1%}" in row.remark
