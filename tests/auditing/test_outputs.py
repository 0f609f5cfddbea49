"""Outputs of what is audited: as many as asked for, of data that stay what they are."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import GDP, InvalidParameterError
from riemdp.auditing import audit


def test_a_mechanism_that_changes_its_data_is_refused():
    def shuffles(data, generator):
        generator.shuffle(data)
        return data[0]

    rng = np.random.default_rng(0)
    with pytest.raises(InvalidParameterError, match="changed the data set"):
        audit(shuffles, np.arange(5.0), np.arange(5.0), GDP(1.0), samples=100, generator=rng)


def test_a_mechanism_that_changes_a_list_is_refused():
    def pops(data, generator):
        data.sort()
        return data[0]

    with pytest.raises(InvalidParameterError, match="changed the data set"):
        audit(pops, [3.0, 1.0], [3.0, 2.0], GDP(1.0), samples=100)


def test_a_mechanism_may_reuse_the_array_of_its_output():
    """Kept as they are, all outputs would be the last one, and differ between the data sets."""
    buffer = np.empty(2)

    def reuses(data, generator):
        buffer[:] = generator.normal(size=2)
        return buffer

    result = audit(reuses, [0.0], [1.0], GDP(0.5), samples=400, generator=np.random.default_rng(0))
    assert result.verdict == "consistent"
    assert result.mu_lower == 0.0


@pytest.mark.parametrize("missing", [99, 50, -1])
def test_a_sample_of_another_size_is_refused(missing):
    class Miscounts:
        def sample(self, footpoint, size, generator):
            return generator.normal(footpoint, size=size - missing)

    with pytest.raises(InvalidParameterError, match=f"returned {100 - missing} outputs"):
        audit(Miscounts(), 0.0, 0.0, GDP(1.0), samples=100)
