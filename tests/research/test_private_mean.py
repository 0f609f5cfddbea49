"""Releases with mechanisms that have no exact draw."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

import riemdp
from riemdp import GDP, Accountant, Ball, Euclidean, PureDP, Sphere, research
from riemdp.cli import app
from riemdp.mechanisms import Mechanism
from riemdp.privacy import PureCurve
from riemdp.research import (
    ConformalLaplace,
    GeneralizedGaussian,
    Metropolis,
    PublicPriorLaplace,
    RestrictedLaplace,
)
from riemdp.statistics import frechet_mean_sensitivity

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
POINTS = BALL.point(np.random.default_rng(0).normal(0.0, 0.2, (500, 2)))


def even(points):
    return 1.0 + points[:, 2]


@dataclass(frozen=True)
class Logistic(Mechanism):
    """Of another package, in float64."""

    name = "tests.Logistic"
    proof = "https://example.org/logistic"

    def sample(self, footpoint, size=None, generator=None):
        return footpoint + generator.logistic(0.0, self.sigma, np.shape(footpoint))

    def log_density(self, point, footpoint):
        return np.zeros(())

    def privacy(self, sensitivity):
        return PureCurve(sensitivity / self.sigma)


LAWS = [
    RestrictedLaplace,
    RestrictedLaplace(BALL.manifold, 0.1, ball=BALL),
    PublicPriorLaplace(BALL, even, 1.0, 0.1, bounds=(0.5, 2.0)),
    ConformalLaplace.public(BALL, even, 1.0, 0.1, nodes=200).law,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: getattr(law, "__name__", type(law).__name__))
def test_a_release_satisfies_its_budget_and_says_what_it_is(law):
    found = research.private_mean(POINTS, BALL, PureDP(1.0), mechanism=law)
    assert found.private
    assert found.guarantee == PureDP(1.0).under("replace-one")
    assert BALL.contains(found.value)
    assert not found.value.flags.writeable
    assert found.sensitivity >= frechet_mean_sensitivity(BALL, 500) + 2.0 * found.tol
    if isinstance(found.mechanism, Mechanism):
        assert found.mechanism.satisfies(found.sensitivity, PureDP(1.0))
    document = json.loads(found.to_json())
    assert document["format"] == "riemdp/research/1"
    assert "nothing is proved of the bits" in document["note"]
    assert document["n"] == 500
    assert "exact mean" not in document["proofs"]  # it is computed in float64
    np.testing.assert_array_equal(document["value"], found.value)


def test_scales_are_calibrated_from_public_numbers_alone():
    found = research.private_mean(POINTS, BALL, PureDP(1.0), mechanism=RestrictedLaplace)
    assert found.mechanism.sigma == pytest.approx(2.0 * found.sensitivity, rel=1e-9)
    line = Ball(Euclidean(1), [0.0], 1.0)
    choice = GeneralizedGaussian.with_options(power=1.5)
    found = research.private_mean(np.full((50, 1), 0.3), line, GDP(1.0), mechanism=choice)
    assert found.mechanism == GeneralizedGaussian.calibrate(found.sensitivity, GDP(1.0), power=1.5)
    found = research.private_mean(np.full((50, 1), 0.3), line, PureDP(1.0), mechanism=Logistic)
    assert found.mechanism.sigma == pytest.approx(found.sensitivity)
    assert dict(found.proofs)["tests.Logistic"] == "https://example.org/logistic"


def test_values_are_draws_about_the_mean():
    line = Ball(Euclidean(1), [0.0], 100.0)
    law = GeneralizedGaussian(50.0, 1.0)
    values = [
        research.private_mean(
            np.full((50, 1), 0.3),
            line,
            PureDP(1.0),
            mechanism=law,
            generator=np.random.default_rng(seed),
        ).value[0]
        for seed in range(300)
    ]
    inside = [x for x in values if abs(x) < 99.0]
    whole = stats.laplace(0.3, 50.0)
    low, high = whole.cdf([-99.0, 99.0])
    uniform = (whole.cdf(inside) - low) / (high - low)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-4
    seeded = research.private_mean(
        POINTS, BALL, PureDP(1.0), mechanism=RestrictedLaplace, generator=np.random.default_rng(0)
    )
    assert not seeded.private


def test_the_account_is_charged_before_records_are_opened():
    account = Accountant(PureDP(1.5))

    charged = []

    def broken():
        charged.append(account.remaining)
        raise ValueError("secret")

    with pytest.raises(riemdp.ReleaseFailedError) as failure:
        research.private_mean(
            broken, BALL, PureDP(1.0), mechanism=RestrictedLaplace, accountant=account, n=500
        )
    assert "secret" not in str(failure.value)
    assert charged == [PureDP(0.5)]
    with pytest.raises(riemdp.BudgetExceededError):
        research.private_mean(
            POINTS, BALL, PureDP(1.0), mechanism=RestrictedLaplace, accountant=account
        )


def test_what_is_refused_beforehand():
    account = Accountant(PureDP(1.0))

    def release(mechanism, budget=None, ball=BALL, **options):
        return research.private_mean(
            POINTS, ball, budget or PureDP(1.0), mechanism=mechanism, accountant=account, **options
        )

    for mechanism in (riemdp.RiemannianLaplace, "auto", 3, PublicPriorLaplace, ConformalLaplace):
        with pytest.raises(riemdp.InvalidParameterError, match="sample"):
            release(mechanism)
    with pytest.raises(riemdp.UnprovenMechanismError, match="metropolis"):
        release(Metropolis.with_options(steps=10))
    with pytest.raises(riemdp.UnsupportedNeighboursError, match="replaced record"):
        release(RestrictedLaplace, PureDP(1.0, adjacency="add-remove"))
    small = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.4)
    for law in LAWS[1:]:
        with pytest.raises(riemdp.InvalidParameterError, match="another ball"):
            release(law, ball=small)
    for law in LAWS[1:]:
        with pytest.raises(riemdp.NotAttainableError, match="too little noise"):
            release(law, PureDP(0.01))
    with pytest.raises(riemdp.InvalidParameterError, match="n = 3"):
        release(RestrictedLaplace, n=3)
    assert account.remaining == PureDP(1.0)


def test_chains_are_released_from_where_that_is_allowed():
    found = research.private_mean(
        POINTS,
        BALL,
        GDP(1.0),
        mechanism=Metropolis.with_options(kind="gaussian", steps=20),
        allow_unproven=True,
    )
    assert dict(found.proofs)["metropolis"] is None
    assert json.loads(found.to_json())["mechanism"]["steps"] == 20


def test_verify_says_why_there_is_nothing_to_verify(tmp_path):
    found = research.private_mean(POINTS, BALL, PureDP(1.0), mechanism=RestrictedLaplace)
    path = tmp_path / "release.json"
    path.write_text(found.to_json(), encoding="utf-8")
    for thing in (found, found.to_json(), json.loads(found.to_json()), path):
        with pytest.raises(riemdp.InvalidParameterError, match="nothing is proved of its bits"):
            riemdp.verify(thing)
    with pytest.raises(riemdp.InvalidParameterError, match="nothing is proved of its bits"):
        riemdp.Release.from_json(found.to_json())


@pytest.mark.parametrize("command", ["verify", "report", "combine"])
def test_commands_say_why_there_is_nothing_to_verify(command, tmp_path):
    found = research.private_mean(POINTS, BALL, PureDP(1.0), mechanism=RestrictedLaplace)
    path = tmp_path / "release.json"
    path.write_text(found.to_json(), encoding="utf-8")
    files = [str(path)] * (2 if command == "combine" else 1)
    done = CliRunner().invoke(app, [command, *files])
    assert done.exit_code == 2
    assert "nothing is proved of its bits" in done.stderr


def test_the_way_out_of_a_class_without_an_exact_draw_works():
    """It is told before a power is asked for, and before a charge."""
    ball, points = Ball(Euclidean(1), [0.0], 1.0), np.zeros((500, 1))
    account = Accountant(GDP(1.0))
    with pytest.raises(riemdp.UnsupportedError, match=r"riemdp\.research\.private_mean"):
        riemdp.private_mean(
            points, ball, GDP(1.0), mechanism=GeneralizedGaussian, accountant=account
        )
    assert account.remaining == GDP(1.0)
    choice = GeneralizedGaussian.with_options(power=1.5)
    release = research.private_mean(points, ball, GDP(1.0), mechanism=choice, accountant=account)
    assert release.value.shape == (1,)


def test_what_a_seed_or_a_missing_proof_means_is_warned_of():
    chain = Metropolis(Sphere(2), 0.5)
    with pytest.warns(riemdp.PublicWarning) as caught:
        research.private_mean(
            POINTS, BALL, PureDP(5.0), mechanism=chain, allow_unproven=True,
            generator=np.random.default_rng(0),
        )  # fmt: skip
    said = " ".join(str(each.message) for each in caught)
    assert "seeded" in said
    assert "not proved" in said
    with warnings.catch_warnings(record=True) as silent:  # the control
        warnings.simplefilter("always")
        research.private_mean(POINTS, BALL, PureDP(5.0), mechanism=RestrictedLaplace)
    assert not silent
