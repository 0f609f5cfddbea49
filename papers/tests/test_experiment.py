from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from riemdp import InvalidParameterError
from riemdp_papers._experiment import Line, Outcome, Panel, Row, Settings, mean_and_error

OUTCOME = Outcome(
    rows=(Row("a", "1", "2", "3", "why"), Row("b", "—", "2", "—")),
    panels=(Panel("p", "x", "y", (Line("l", (1.0, 2.0), (3.0, 4.0), (0.1, 0.2)),), ylog=True),),
    notes=("note",),
)


def test_an_outcome_survives_json():
    text = json.dumps(dataclasses.asdict(OUTCOME))
    assert Outcome.from_json(json.loads(text)) == OUTCOME


def test_an_incomplete_outcome_is_refused():
    data = dataclasses.asdict(OUTCOME)
    del data["rows"]
    with pytest.raises(KeyError):
        Outcome.from_json(data)
    with pytest.raises(TypeError):
        Outcome.from_json({"rows": [{"quantity": "a"}], "panels": [], "notes": []})


def test_lines_hold_plain_floats():
    line = Line("l", tuple(np.arange(2)), tuple(np.float64([1, 2])), tuple(np.float32([0, 1])))
    assert all(type(value) is float for value in (*line.x, *line.y, *line.spread))


@pytest.mark.parametrize(("y", "spread"), [((1.0,), ()), ((1.0, 2.0), (0.1,))])
def test_lines_of_unequal_lengths_are_refused(y, spread):
    with pytest.raises(InvalidParameterError, match="as many x as y"):
        Line("l", (1.0, 2.0), y, spread)


def test_streams_depend_on_the_seed_and_on_every_name():
    def first(seed, *names):
        return Settings(quick=True, seed=seed).generator(*names).random()

    assert first(0, "a", "b") == first(0, "a", "b")
    values = [first(0, "a", "b"), first(0, "a"), first(0, "b", "a"), first(1, "a", "b")]
    assert len(set(values)) == 4


def test_the_error_of_a_mean_is_its_standard_error():
    values = np.array([1.0, 2.0, 3.0, 6.0])
    mean, error = mean_and_error(values)
    assert mean == 3.0
    assert error == pytest.approx(np.sqrt(np.sum((values - 3.0) ** 2) / 3 / 4))
