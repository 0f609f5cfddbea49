from __future__ import annotations

import pytest

from riemdp_papers import _he_plane
from riemdp_papers._experiment import Settings


@pytest.mark.slow
def test_no_conformal_metric_beats_the_plain_laplace(monkeypatch):
    monkeypatch.setattr(_he_plane, "QUICK", (60, 1500, 2))
    seen = []
    outcome = _he_plane.plane(Settings(quick=True), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    plain, *public = outcome.rows[:3]
    for row in (plain, *public):
        mean, error = map(float, row.reproduced.split(" ± "))
        assert mean == pytest.approx(float(row.exact), abs=5 * error + 1e-4)
    large, small = (float(row.exact) for row in public)
    assert small > 1.1 * large  # the published sign makes wide noise where the mean is
    private = [float(row.reproduced.split(" ")[0]) for row in outcome.rows[3:]]
    assert len(private) == 2
    for value in (*(float(row.exact) for row in public), *private):
        assert value > 1.3 * float(plain.exact)
