from __future__ import annotations

import json

import numpy as np
import pytest

from riemdp import (
    GDP,
    ApproxDP,
    InvalidParameterError,
    PureDP,
    RaoDP,
    Sphere,
    TangentGaussian,
)
from riemdp.auditing import NearestNeighbourScore
from riemdp.cli._audit_spec import SCORES, load_function, read_spec

SCRIPT = """
import numpy as np

def release(data, generator):
    return data.mean() + generator.laplace()

def score(outputs):
    return outputs

number = 3
"""


@pytest.fixture
def write(tmp_path):
    (tmp_path / "audited_script.py").write_text(SCRIPT, encoding="utf-8")

    def specification(text, name="spec.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return specification


FUNCTION = """
mechanism = "audited_script:release"
dataset = [0.0, 0.0]
neighbour = [0.0, 2.0]
claim = { epsilon = 1.0 }
"""


def test_a_function(write, tmp_path):
    np.save(tmp_path / "data.npy", np.zeros(2))
    spec = read_spec(
        write(
            FUNCTION.replace("[0.0, 0.0]", '"data.npy"')
            + 'samples = 500\nconfidence = 0.9\nscore = "nearest-neighbour"\nseed = 7\n'
        )
    )
    assert spec.mechanism.__name__ == "release"
    assert np.array_equal(spec.dataset, [0.0, 0.0])
    assert np.array_equal(spec.neighbour, [0.0, 2.0])
    assert spec.claim == PureDP(1.0)
    assert (spec.samples, spec.confidence, spec.seed) == (500, 0.9, 7)
    assert spec.score == NearestNeighbourScore()


def test_a_mechanism(write):
    spec = read_spec(
        write(
            """
            mechanism = "tangent-gaussian"
            manifold = { name = "sphere", dim = 2 }
            sensitivity = 0.25
            claim = { mu = 0.5 }
            """
        )
    )
    assert isinstance(spec.mechanism, TangentGaussian)
    assert spec.mechanism.sigma == pytest.approx(0.5)
    assert Sphere(2).dist(spec.dataset, spec.neighbour) == pytest.approx(0.25)
    assert spec.claim == GDP(0.5)
    assert spec.samples is None
    assert spec.score is None
    assert "0.25 apart" in spec.title


def test_json_and_a_sigma(write):
    table = {
        "mechanism": "riemannian-laplace",
        "manifold": {"name": "spd-log-euclidean", "size": 2},
        "sensitivity": 1,
        "sigma": 3,
        "claim": {"epsilon": 1, "delta": 0.1},
    }
    spec = read_spec(write(json.dumps(table), "spec.json"))
    assert spec.mechanism.sigma == 3.0
    assert spec.claim == ApproxDP(1.0, 0.1)
    table["claim"] = {"theta": 1, "distance": "angle"}
    assert read_spec(write(json.dumps(table), "spec.json")).claim == RaoDP(1.0, distance="angle")


def test_data_that_are_no_arrays(write):
    spec = read_spec(write(FUNCTION.replace("[0.0, 0.0]", '["a", "b"]')))
    assert spec.dataset == ["a", "b"]
    spec = read_spec(write(FUNCTION.replace("[0.0, 0.0]", "[[1], [2, 3]]")))
    assert spec.dataset == [[1], [2, 3]]
    assert read_spec(write(FUNCTION.replace("[0.0, 0.0]", "3.5"))).dataset == 3.5


def test_scores(write):
    for name in SCORES:
        spec = read_spec(write(FUNCTION + f'score = "{name}"\n'))
        assert callable(spec.score) or hasattr(spec.score, "fit")
    spec = read_spec(write(FUNCTION + 'score = "audited_script:score"\n'))
    assert spec.score(3) == 3


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("audited_script:release", "audited_script:gone", "no function gone"),
        ("audited_script:release", "audited_script:number", "no function number"),
        ("audited_script:release", "no_such_module:f", "cannot be imported"),
        ("audited_script:release", "riemannian", "no mechanism is called 'riemannian'"),
        ('"audited_script:release"', "3", "mechanism must be the name"),
        ("dataset", "data", "data, which do not belong"),
        ("dataset = [0.0, 0.0]", "", "dataset is missing"),
        ("{ epsilon = 1.0 }", "1.0", "claim must be a table"),
        ("{ epsilon = 1.0 }", "{ eps = 1.0 }", "claim has eps"),
        ("{ epsilon = 1.0 }", '{ epsilon = "1" }', "claim.epsilon"),
        ("{ epsilon = 1.0 }", "{ epsilon = 1.0, mu = 1.0 }", "one budget"),
        ("{ epsilon = 1.0 }", '{ theta = 1.0, distance = "arc" }', "angle or parametric"),
        ("claim", 'score = "best"\nclaim', "score must be"),
        ("claim", "seed = -1\nclaim", "seed"),
        ("claim", "seed = 1.5\nclaim", "seed"),
        ("claim = ", "claim ", "not TOML"),
    ],
)
def test_bad_specifications(write, old, new, match):
    with pytest.raises(InvalidParameterError, match=match):
        read_spec(write(FUNCTION.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[1]", "table of names"),
        ("{", "not JSON"),
        ('{"mechanism": "tangent-laplace", "claim": {"mu": 1}}', "manifold must be a table"),
        (
            '{"mechanism": "tangent-laplace", "claim": {"mu": 1}, "manifold": {"name": "torus"}}',
            "manifold must be a table",
        ),
        (
            '{"mechanism": "tangent-laplace", "claim": {"mu": 1}, '
            '"manifold": {"name": "sphere", "dim": 2}}',
            "sensitivity",
        ),
        (
            '{"mechanism": "tangent-laplace", "claim": {"mu": 1}, '
            '"manifold": {"name": "sphere", "dim": 2, "radius": 1}}',
            "manifold has radius",
        ),
    ],
)
def test_bad_json(write, text, match):
    with pytest.raises(InvalidParameterError, match=match):
        read_spec(write(text, "spec.json"))


def test_suffix_and_missing_files(write, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"\.toml or \.json"):
        read_spec(write("", "spec.yaml"))
    with pytest.raises(FileNotFoundError):
        read_spec(tmp_path / "none.toml")


def test_a_module_that_fails(write, tmp_path):
    (tmp_path / "failing_script.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="ZeroDivisionError"):
        load_function("failing_script:f", tmp_path / "spec.toml")
