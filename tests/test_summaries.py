"""The former name of the statistics, for code that was written for version 0.1."""

from __future__ import annotations

import pytest

import riemdp.statistics
import riemdp.summaries

#: Where a name has changed as well.
RENAMED = {"FrechetMean": "CertifiedMean"}


@pytest.mark.parametrize("name", riemdp.summaries.__all__)
def test_names_are_those_of_the_statistics(name):
    found = getattr(riemdp.summaries, name)
    assert found is getattr(riemdp.statistics, RENAMED.get(name, name))


def test_every_name_of_version_0_1_is_there():
    assert set(riemdp.summaries.__all__) == {
        "FrechetMean",
        "clipped_frechet_mean",
        "clipped_tangent_mean",
        "frechet_mean",
        "frechet_mean_sensitivity",
        "is_average",
        "public_tolerance",
        "tangent_mean",
        "tangent_mean_sensitivity",
        "tolerance_floor",
    }
