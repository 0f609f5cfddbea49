"""Ways to draw, by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from riemdp import InvalidParameterError, NotAttainableError, SPDAffineInvariant, Sphere
from riemdp.noise import IsotropicLaw, MetropolisLaw, family, find_sampler
from riemdp.noise._samplers import SAMPLERS

ROOT = Path(__file__).resolve().parents[2]


def test_samplers_wrap_laws():
    law = family("laplace", Sphere(2)).law(0.1)
    assert find_sampler("exact").wrap(law) is law
    chain = find_sampler("metropolis").wrap(law)
    assert isinstance(chain, MetropolisLaw)
    assert (chain.kind, chain.manifold, chain.sigma) == ("laplace", Sphere(2), 0.1)
    assert chain.radial == law.radial
    assert isinstance(law, IsotropicLaw)


def test_an_exact_draw_that_takes_too_long_is_refused_before_it():
    law = family("gaussian", SPDAffineInvariant(2)).law(30.0)
    with pytest.raises(NotAttainableError):
        find_sampler("exact").wrap(law)
    find_sampler("metropolis").wrap(law)


def test_of_a_chain_nothing_is_proved():
    assert find_sampler("metropolis").proofs() == {"sampler metropolis": None}
    assert find_sampler("exact").proofs() == {}
    notes = [sampler.proof for sampler in SAMPLERS.values() if sampler.proof]
    assert notes
    assert all((ROOT / note).is_file() for note in notes)


@pytest.mark.parametrize("name", ["gibbs", None, 3])
def test_other_names_are_refused(name):
    with pytest.raises(InvalidParameterError, match='sampler must be "exact" or "metropolis"'):
        find_sampler(name)
