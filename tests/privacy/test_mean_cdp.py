import math

import numpy as np

from riemdp.privacy import GDP, KLDP, ZCDP, MeanCDP


def test_the_gaussian_has_half_its_square():
    # the loss of N(0,1) against N(mu,1) is N(mu^2/2, mu^2)
    mu = 1.5
    budget = MeanCDP(0.5 * mu**2, mu)
    assert budget.zcdp() == ZCDP(0.5 * mu**2)
    assert budget.kl() == KLDP(0.5 * mu**2)
    for epsilon in (0.0, 0.5, 3.0):
        assert GDP(mu).delta_at(epsilon) <= budget.delta_at(epsilon)
        assert budget.delta_at(epsilon) <= ZCDP(0.5 * mu**2).delta_at(epsilon)
    assert GDP(mu).epsilon_at(1e-6) <= budget.epsilon_at(1e-6) <= ZCDP(1.125).epsilon_at(1e-6)
    assert budget.epsilon_at(0.0) == math.inf


def test_a_smaller_mean_gives_a_smaller_delta():
    assert MeanCDP(0.01, 1.0).delta_at(0.0) < MeanCDP(0.5, 1.0).delta_at(0.0)
    assert MeanCDP(0.01, 1.0).kl() == KLDP(0.01)
    # more than tau^2/2 is impossible
    assert MeanCDP(7.0, 1.0).kl() == KLDP(0.5)


def test_the_mean_of_a_subgaussian_loss(pairs):
    assert np.all(pairs.kl <= 0.5 * pairs.tau**2 * (1.0 + 1e-9) + 1e-14)
    assert np.any(pairs.kl > 0.25 * pairs.tau**2)
