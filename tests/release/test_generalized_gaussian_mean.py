import numpy as np
import pytest
from typer.testing import CliRunner

import riemdp
from riemdp import Ball, Euclidean, Release, Sphere, private_mean, verify
from riemdp import _errors as errors
from riemdp.cli import app
from riemdp.mechanisms import GeneralizedGaussian
from riemdp.privacy import GDP, ApproxDP, PureDP
from riemdp.release import offer
from riemdp.statistics import FrechetMean

LINE = Ball(Euclidean(1), [0.5], 1.0)
POINTS = np.linspace(-1.0, 2.0, 60)[:, None]


def released(mechanism, budget, points=POINTS, ball=LINE):
    source = np.random.default_rng(3)
    return private_mean(points, ball, budget, mechanism=mechanism, generator=source)


@pytest.mark.fast(2)
@pytest.mark.parametrize(
    ("power", "budget"),
    [(0.75, PureDP(1.0)), (1.5, GDP(0.5)), (3.0, ApproxDP(1.0, 1e-5))],
    ids=str,
)
def test_a_mean_on_the_line_at_any_power(power, budget):
    release = released(f"generalized-gaussian:power={power}", budget)
    assert release.mechanism.power == power
    assert release.mechanism.satisfies(release.sensitivity, budget)
    assert release.proven
    assert release.reason == "named by the caller"
    assert LINE.contains(release.value)
    again = Release.from_json(release.to_json())
    assert again.mechanism == release.mechanism
    assert verify(again).passed
    chosen = released(GeneralizedGaussian.with_options(power=power), budget)
    given = released(release.mechanism, budget)
    assert release.value == chosen.value == given.value


def test_too_little_noise_is_seen():
    release = released("generalized-gaussian:power=1.5", GDP(0.5))
    text = release.to_json().replace(
        repr(release.mechanism.sigma), repr(0.9 * release.mechanism.sigma)
    )
    checks = {check.name: check.passed for check in verify(Release.from_json(text)).checks}
    assert not checks["guarantee"]


def test_another_power_is_seen():
    release = released("generalized-gaussian:power=1.5", GDP(0.5))
    text = release.to_json().replace('"power": 1.5', '"power": 3.0')
    checks = {check.name: check.passed for check in verify(Release.from_json(text)).checks}
    assert not checks["guarantee"]


def test_it_is_used_in_more_dimensions_where_it_can_be():
    ball = Ball(Euclidean(3), np.zeros(3), 1.0)
    points = np.random.default_rng(0).normal(size=(30, 3))
    release = released("generalized-gaussian:power=0.8", PureDP(1.0), points, ball)
    assert release.mechanism.dim == 3
    assert verify(Release.from_json(release.to_json())).passed
    with pytest.raises(errors.InvalidBudgetError, match="in dimension 3"):
        released("generalized-gaussian:power=1.5", GDP(1.0), points, ball)


def test_the_offer_knows_no_data():
    found = offer(
        FrechetMean(), GeneralizedGaussian.with_options(power=3.0), LINE, 60, ApproxDP(1.0, 1e-5)
    )
    assert (
        found.mechanism == released("generalized-gaussian:power=3", ApproxDP(1.0, 1e-5)).mechanism
    )


def test_auto_does_not_take_it():
    release = private_mean(POINTS, LINE, PureDP(1.0), generator=np.random.default_rng(3))
    assert "generalized-gaussian" not in release.reason


def test_a_plan_compares_powers():
    compared = ["tangent-gaussian", "generalized-gaussian:power=1.5", GeneralizedGaussian]
    table = riemdp.plan(Euclidean(1), 1.0, 60, GDP(0.5), mechanisms=compared)
    row = table["generalized-gaussian:power=1.5"]
    found = released("generalized-gaussian:power=1.5", GDP(0.5))
    assert row.sigma == found.mechanism.sigma
    assert row.sensitivity == found.sensitivity
    assert "which power" in table["generalized-gaussian"].problem
    assert table.best.mechanism == "tangent-gaussian"
    with pytest.raises(errors.InvalidParameterError, match="has its scale already"):
        riemdp.plan(Euclidean(1), 1.0, 60, GDP(0.5), mechanisms=[found.mechanism])


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


@pytest.mark.slow
def test_audit_of_the_release():
    """Neighbours at the ends of the ball: the claim stands, half of it is refuted."""
    ball = Ball(Euclidean(1), [0.0], 1.0)
    release = private_mean(
        [[0.0]],
        ball,
        GDP(1.0),
        mechanism="generalized-gaussian:power=1.5",
        generator=np.random.default_rng(1),
    )

    def mean(points, generator):
        made = private_mean(
            points, ball, GDP(1.0), mechanism=release.mechanism, generator=generator
        )
        return float(made.value[0])

    low, high = np.array([[-1.0]]), np.array([[1.0]])
    for claim, stands in ((GDP(1.0), True), (GDP(0.5), False)):
        found = riemdp.audit(
            mean, low, high, claim, samples=4000, generator=np.random.default_rng(2)
        )
        assert (found.verdict == "consistent") is stands
