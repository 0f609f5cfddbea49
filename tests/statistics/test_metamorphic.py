"""What happens to a record depends on that record alone, to the last bit: tools/attack_rows.py."""

from __future__ import annotations

import numpy as np
import pytest

import attack_rows as attack
from riemdp import Euclidean, SPDLogEuclidean
from riemdp.manifolds import _log_2x2


@pytest.mark.fast("Euclidean(dim=3)", "Sphere(dim=4, curvature=2.5)", "SPDAffineInvariant(k=5)")
@pytest.mark.parametrize("manifold", attack.SPACES, ids=str)
def test_other_rows_keep_every_bit(manifold):
    rng = np.random.default_rng(3)
    for size in attack.chunk_sizes(manifold):
        for n in (size, size + 1):
            ball, plain = attack.setting(manifold, n, rng)
            awkward = attack.replacements(manifold, ball, rng)
            before = attack.used(ball, plain)
            for first in range(0, len(awkward), 6):
                chosen = awkward[first : first + 6]
                rows = np.linspace(0, n - 1, len(chosen)).astype(int)
                assert not attack.changed(ball, plain, rows, chosen, before), (n, first)


@pytest.mark.fast(5)
@pytest.mark.parametrize("manifold", attack.SPACES, ids=str)
def test_one_record_among_some_that_have_to_be_mended(manifold):
    """Every other row is a little off, and mended."""
    rng = np.random.default_rng(4)
    ball, plain = attack.setting(manifold, 50, rng)
    if len(manifold.point_shape) == 2 and manifold.k > 1:
        plain[1::2, 0, 1] *= 1.0 + 1e-8
    elif not isinstance(manifold, Euclidean):
        plain[1::2, 0] *= 1.0 + 1e-8
    for record in attack.replacements(manifold, ball, rng):
        assert not attack.changed(ball, plain, [17], [record])


def test_a_branch_that_the_whole_batch_takes_is_noticed(monkeypatch):
    """The negative control: one extreme determinant rescales all records, as it once did."""
    plain_parts = _log_2x2.log_parts_2x2

    def switching(matrices, first_row=0):
        parts = plain_parts(matrices, first_row)
        if parts[0].min() < -600.0:
            scaled = plain_parts(0.25 * matrices, first_row)
            return scaled[0] + 4.0 * np.log(2.0), *scaled[1:]
        return parts

    monkeypatch.setattr(_log_2x2, "log_parts_2x2", switching)
    ball, plain = attack.setting(SPDLogEuclidean(2), 50, np.random.default_rng(5))
    assert attack.changed(ball, plain, [3], [1e-145 * np.eye(2)])
    assert not attack.changed(ball, plain, [3], [np.eye(2)])
