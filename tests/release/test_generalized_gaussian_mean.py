import numpy as np
import pytest
from typer.testing import CliRunner

from riemdp import Ball, Euclidean, Sphere, private_mean
from riemdp import _errors as errors
from riemdp.cli import app
from riemdp.mechanisms import GeneralizedGaussian
from riemdp.privacy import GDP, PureDP

LINE = Ball(Euclidean(1), [0.5], 1.0)
POINTS = np.linspace(-1.0, 2.0, 60)[:, None]


def released(mechanism, budget, points=POINTS, ball=LINE):
    source = np.random.default_rng(3)
    return private_mean(points, ball, budget, mechanism=mechanism, generator=source)


def test_auto_does_not_take_it():
    release = private_mean(POINTS, LINE, PureDP(1.0), generator=np.random.default_rng(3))
    assert "generalized-gaussian" not in release.reason


def test_the_command_line_takes_a_power():
    runner = CliRunner()
    options = "--manifold euclidean --dim 1 --mechanism generalized-gaussian:power=1.5 --mu 0.5"
    scale = runner.invoke(app, f"calibrate {options} --sensitivity 0.1".split())
    assert scale.exit_code == 0, scale.output
    expected = GeneralizedGaussian.calibrate(0.1, GDP(0.5), power=1.5)
    assert repr(expected.sigma) in scale.output


@pytest.mark.parametrize(
    ("mechanism", "error", "message"),
    [
        ("generalized-gaussian", errors.UnsupportedError, "which power"),
        (GeneralizedGaussian, errors.UnsupportedError, "which power"),
        ("generalized-gaussian:sigma=1", errors.InvalidParameterError, "no choice 'sigma'"),
        ("generalized-gaussian:power=0", errors.InvalidParameterError, "power"),
        ("generalized-gaussian:power=x", errors.InvalidParameterError, "power"),
        ("generalized-gaussian:power=1,power=2", errors.InvalidParameterError, "twice"),
        ("tangent-gaussian:power=1", errors.InvalidParameterError, "it has none"),
        ("generalised:power=1", errors.InvalidParameterError, "unknown mechanism"),
    ],
)
def test_what_cannot_be_chosen(mechanism, error, message):
    with pytest.raises(error, match=message):
        released(mechanism, GDP(1.0))


def test_other_spaces_are_refused():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    with pytest.raises(errors.UnsupportedManifoldError, match=r"a law on Euclidean\(dim\)"):
        released("generalized-gaussian:power=1.5", GDP(1.0), [[0.0, 0.0, 1.0]], ball)
