"""A statistic and a mechanism of another package, found by their entry points alone."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats
from typer.testing import CliRunner

import riemdp
from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    PureDP,
    Release,
    Sphere,
    _part,
    plan,
    private_mean,
    private_statistic,
    research,
    verify,
)
from riemdp.cli import app
from riemdp.release import _least_error, _run
from riemdp.statistics import Answer, Prepared, answer

FOLDER = Path(__file__).parent / "data" / "outside"
UNPROVEN = {"allow_unproven": True}


@pytest.fixture
def outside(monkeypatch):
    """The package, as if it were installed."""
    monkeypatch.setattr(_part, "_registry", dict(_part._registry))
    monkeypatch.syspath_prepend(str(FOLDER))
    _part._installed.cache_clear()
    yield importlib.import_module("outside")
    sys.modules.pop("outside", None)
    monkeypatch.undo()
    importlib.invalidate_caches()
    _part._installed.cache_clear()


def sphere_data(n=60, seed=0):
    sphere = Sphere(2)
    ball = Ball(sphere, [0.0, 0.0, 1.0], 0.5)
    tangent = np.random.default_rng(seed).uniform(-0.3, 0.3, size=(n, 2))
    return ball, sphere.exp(ball.center, sphere.tangent_vector(ball.center, tangent))


def line_data(n=60):
    data = np.random.default_rng(0).uniform(-0.5, 0.5, size=(n, 1))
    return Ball(Euclidean(1), [0.0], 1.0), data


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


def test_parts_are_known_by_their_entry_points_alone(outside):
    sys.modules.pop("outside")
    found = {part.name: part for part in _part.catalogue()}
    assert found["outside.Spread"].sort == "statistic"
    assert found["outside.Logistic"].sort == "mechanism"
    assert found["outside.Logistic"].proof is None
    assert found["outside.Logistic"].package == "outside"


# The spread itself: against another way to compute it, and against its sensitivity.


def spread(outside, ball, points):
    query = next(outside.Spread().queries(ball))
    return float(answer(query, ball, points, 0.0)[0]) + 0.5 * ball.radius**2


def test_the_spread_is_a_mean_square(outside):
    ball, points = sphere_data(9)
    squares = np.square(ball.manifold.dist(ball.center, points))
    assert spread(outside, ball, points) == pytest.approx(squares.mean(), rel=1e-9)


def test_one_record_moves_the_spread_as_far_as_it_says(outside):
    for ball, _ in (sphere_data(), line_data()):
        ends = ball.point(ball.radius * np.eye(ball.manifold.dim)[:1])
        query = next(outside.Spread().queries(ball))
        for n in (1, 3):
            points = np.repeat(ball.center[None], n, axis=0)
            other = np.concatenate([ends, points[1:]])
            moved = spread(outside, ball, other) - spread(outside, ball, points)
            claimed = query.replace_one(ball, n, "distance")
            assert (1.0 - 1e-9) * claimed < moved <= claimed


# Release, document, verification.


@pytest.mark.parametrize("mechanism", ["auto", "riemannian-laplace", "tangent-laplace"])
def test_a_spread_is_released_written_and_read(outside, mechanism):
    ball, points = sphere_data()
    with pytest.raises(riemdp.UnprovenMechanismError, match=r"of outside\.Spread\. Pass"):
        private_statistic(outside.Spread(), points, ball, PureDP(1.0), mechanism=mechanism)
    account = Accountant(PureDP(1.0))
    release = private_statistic(
        outside.Spread(),
        points,
        ball,
        PureDP(1.0),
        mechanism=mechanism,
        accountant=account,
        **UNPROVEN,
    )
    assert release.value.shape == (1,)
    assert not release.proven
    unproved = "the guarantee is not proved: no proof is known of outside.Spread"
    assert unproved in release.warnings  # a draw may lie at the boundary, which is said too
    assert release.sensitivity == pytest.approx(0.25 / 60, rel=1e-6)
    assert release.mechanism.manifold == Euclidean(1)
    assert failed(release) == {"proof"}
    document = json.loads(release.to_json())
    assert document["header"]["statistic"] == {"type": "outside.Spread"}
    assert document["header"]["proofs"]["outside.Spread"] is None
    again = Release.from_json(release.to_json())
    assert again.to_json() == release.to_json()
    assert again.statistic == outside.Spread()
    assert failed(again) == {"proof"}
    # negative controls
    weak = replace(release.mechanism, sigma=0.5 * release.sigma)
    assert failed(replace(again, mechanism=weak)) >= {"guarantee", "proof"}
    assert failed(replace(again, value=np.array([0.3]))) == {"arithmetic", "proof"}
    claimed = release.to_json().replace('"outside.Spread": null', '"x": "y"')
    assert claimed != release.to_json()
    assert "proof" in failed(Release.from_json(claimed))
    assert not Release.from_json(claimed).proven


def test_a_document_of_what_is_not_installed_is_refused_by_name(outside):
    ball, points = sphere_data()
    release = private_statistic(outside.Spread(), points, ball, PureDP(1.0), **UNPROVEN)
    text = release.to_json().replace("outside.Spread", "elsewhere.Spread")
    with pytest.raises(riemdp.InvalidParameterError, match=r"elsewhere\.Spread"):
        Release.from_json(text)


@pytest.mark.slow
def test_more_data_bring_the_release_nearer_to_the_truth(outside):
    ball, points = sphere_data(4000)
    truth = spread(outside, ball, points)
    release = private_statistic(
        outside.Spread(),
        points,
        ball,
        PureDP(1.0),
        generator=np.random.default_rng(0),
        **UNPROVEN,
    )
    assert abs(float(release.value[0]) - truth) < release.error_quantile(0.999)


def test_a_statistic_goes_with_any_registered_mechanism(outside):
    ball, points = sphere_data()
    release = private_statistic(
        outside.Spread(),
        points,
        ball,
        PureDP(1.0),
        mechanism="outside.Logistic",
        **UNPROVEN,
    )
    assert release.mechanism == outside.Logistic(Euclidean(1), release.sigma)
    again = Release.from_json(release.to_json())
    assert again.mechanism == release.mechanism
    assert failed(again) == {"proof"}
    named = next(check for check in verify(again).checks if check.name == "proof").detail
    assert named == "no proof is known of outside.Logistic, outside.Spread"


# A statistic of several answers, each paid for by its share of the budget.


def test_a_median_in_steps(outside):
    ball, points = sphere_data(800)
    points = ball.point(0.2 * ball.coordinates(points))
    points[:80] = ball.point([[0.4, 0.4]])  # a tenth far off, which a median hardly notices
    release = private_statistic(
        outside.Median(16),
        points,
        ball,
        GDP(5.0),
        generator=np.random.default_rng(0),
        **UNPROVEN,
    )
    assert release.mechanism.manifold == Euclidean(2)
    assert release.mechanism.name == "riemannian-gaussian"
    # sixteen answers of a quarter of the budget each
    assert release.sigma == pytest.approx(2.0 / 800 * 4.0 / 5.0, rel=1e-6)
    assert ball.contains(release.value)
    # near the least mean distance, which the mean is not
    total = lambda c: ball.manifold.dist(ball.point(c), points).mean()  # noqa: E731
    median = ball.point(optimize.minimize(total, [0.1, 0.1]).x)
    mean = private_mean(points, ball, GDP(5.0), generator=np.random.default_rng(0)).value
    assert ball.manifold.dist(median, release.value) < 0.01
    assert ball.manifold.dist(median, mean) > 0.03
    assert failed(release) == {"proof"}
    again = Release.from_json(release.to_json())
    assert again.statistic == outside.Median(16)
    assert failed(again) == {"proof"}
    # negative controls: noise for one answer alone, and fewer answers than were drawn
    weak = replace(release.mechanism, sigma=release.sigma / 4.0)
    assert "guarantee" in failed(replace(again, mechanism=weak))
    more = release.to_json().replace('"steps": 16', '"steps": 17')
    assert failed(json.loads(more)) == {"document"}


def test_no_record_moves_an_answer_farther_than_it_says(outside):
    ball, points = sphere_data(20)
    queries = outside.Median().queries(ball)
    next(queries)
    query = queries.send(Answer(np.array([0.2, -0.1]), 0.0))
    ends = ball.point(0.5 * np.array([[np.cos(t), np.sin(t)] for t in np.linspace(0, 6.3, 40)]))
    answers = []
    for end in ends:
        points[0] = end
        answers.append(np.array(answer(query, ball, points, 0.0), dtype=float))
    worst = max(np.linalg.norm(a - b) for a in answers for b in answers)
    claimed = query.replace_one(ball, 20, "distance")
    assert 0.5 * claimed < worst <= claimed
    parts = [Prepared(ball, part).summary(query) for part in (points[:7], points[7:])]
    whole = query.finish(ball, query.merge(*parts), 0.0)
    assert [float(x) for x in whole] == list(answers[-1])


# The mechanism: its law, plan and auto.


def test_draws_follow_the_law(outside):
    mechanism = outside.Logistic(Euclidean(1), 0.7)
    for seed in (0, 1):
        draws = research.sample(mechanism, [0.3], 4000, np.random.default_rng(seed))[:, 0]
        if stats.kstest(draws, "logistic", (0.3, 0.7)).pvalue > 1e-4:
            break
    else:
        pytest.fail("draws do not follow the law")
    assert np.median(np.abs(draws - 0.3)) == pytest.approx(mechanism.error_quantile(0.5), rel=0.1)
    assert stats.kstest(draws, "logistic", (0.3, 1.0)).pvalue < 1e-4


def test_an_audit_finds_half_the_noise(outside):
    mechanism = outside.Logistic.calibrate(Euclidean(1), 1.0, PureDP(1.0))
    half = outside.Logistic(Euclidean(1), 0.25 * mechanism.sigma)
    verdicts = [
        riemdp.audit(each, [0.0], [1.0], PureDP(1.0), samples=4_000, generator=generator).verdict
        for each, generator in (
            (mechanism, np.random.default_rng(0)),
            (half, np.random.default_rng(1)),
        )
    ]
    assert verdicts == ["consistent", "violated"]


def test_plan_lists_it_and_auto_takes_it_where_that_is_allowed(outside, monkeypatch):
    ball, data = line_data()
    table = plan(ball.manifold, 1.0, 60, PureDP(1.0))
    row = table["outside.Logistic"]
    assert row.unproven == "outside.Logistic"
    assert row.problem is None
    assert "outside.Logistic: unproven" in str(table)
    assert table.best.mechanism != "outside.Logistic"
    assert "Logistic" not in private_mean(data, ball, PureDP(1.0)).reason
    assert "Logistic" in private_mean(data, ball, PureDP(1.0), **UNPROVEN).reason
    curved = plan(Sphere(2), 0.5, 60, PureDP(1.0))["outside.Logistic"]
    assert "outside.Logistic is for Euclidean(1), got Sphere" in curved.problem
    monkeypatch.setattr(_least_error, "MECHANISMS", {})
    _run._kept.cache_clear()
    with pytest.raises(riemdp.UnprovenMechanismError, match=r"of outside\.Logistic\. Pass"):
        private_mean(data, ball, PureDP(1.0))
    release = private_mean(data, ball, PureDP(1.0), **UNPROVEN)
    assert release.mechanism.name == "outside.Logistic"
    assert release.sigma == row.sigma


def test_plan_of_a_foreign_statistic(outside):
    table = plan(Sphere(2), 0.5, 60, PureDP(1.0), statistic=outside.Spread())
    assert {row.summary for row in table} == {"outside.Spread"}
    assert table.best.mechanism == "riemannian-laplace"
    assert table.best.sensitivity == pytest.approx(0.25 / 60, rel=1e-6)
    assert "unproven, no proof is known of outside.Spread" in str(table)


# Foreign spaces: an answer, or a refusal by name.


class Dented(Sphere):
    """A space that nobody proved anything about."""

    name = "outside.Dented"


def test_auto_on_a_foreign_space_answers_or_refuses_by_name():
    sphere, points = sphere_data()
    ball = Ball(Dented(2), sphere.center, sphere.radius)
    with pytest.raises(riemdp.UnprovenMechanismError, match=r"outside\.Dented"):
        private_mean(points, ball, PureDP(1.0))
    release = private_mean(points, ball, PureDP(1.0), **UNPROVEN)
    assert not release.proven
    assert failed(release) == {"proof"}


# The command line.


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_line(outside, tmp_path):
    _, points = sphere_data()
    np.save(tmp_path / "points.npy", points)
    common = ("--manifold", "sphere", "--radius", 0.5, "--epsilon", 1)
    common += ("--statistic", "outside.Spread")
    mean = ("mean", tmp_path / "points.npy", "--center", "north-pole", *common)
    refused = run(*mean)
    assert refused.exit_code != 0
    assert "no proof is known of outside.Spread" in refused.stderr
    path = tmp_path / "release.json"
    done = run(*mean, "--allow-unproven", "--release", path)
    assert done.exit_code == 0, done.output
    assert "outside.Spread of n = 60" in done.stdout
    assert "not proved: no proof is known of outside.Spread" in done.stderr
    checked = run("verify", path)
    assert checked.exit_code == 3
    assert "FAIL  proof        no proof is known of outside.Spread" in checked.stdout
    assert checked.stdout.count("FAIL") == 1
    assert checked.stderr == (
        "riemdp: the guarantee is not proved: no proof is known of outside.Spread\n"
    )
    # who states a proof that nobody knows is not believed
    document = json.loads(path.read_text(encoding="utf-8"))
    document["header"]["proofs"]["outside.Spread"] = "docs/proofs/mine.md"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run("verify", path).exit_code == 1
    planned = run("plan", *common, "--dim", 2, "--n", 60)
    assert planned.exit_code == 0
    assert "auto takes riemannian-laplace (outside.Spread)" in planned.stdout
    assert "unproven" in planned.stdout
    listed = run("parts")
    assert "outside.Spread statistic" in " ".join(listed.stdout.split())


def test_the_command_line_with_a_foreign_mechanism(outside, tmp_path):
    np.save(tmp_path / "points.npy", line_data()[1])
    path = tmp_path / "release.json"
    done = run(
        "mean", tmp_path / "points.npy", "--manifold", "Euclidean:dim=1", "--center", "origin",
        "--radius", 1, "--budget", "PureDP:epsilon=1", "--mechanism", "outside.Logistic",
        "--adjacency", "replace-one", "--allow-unproven", "--release", path,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert Release.from_json(path.read_text()).mechanism.name == "outside.Logistic"
    assert run("verify", path).exit_code == 3
    scale = run(
        "calibrate", "--mechanism", "outside.Logistic", "--manifold", "euclidean", "--dim", 1,
        "--sensitivity", 1, "--epsilon", 1,
    )  # fmt: skip
    assert scale.exit_code == 0, scale.output
    assert "GDP(mu=" in scale.stdout
    spec = tmp_path / "audit.toml"
    spec.write_text(
        'mechanism = "outside.Logistic"\nmanifold = "Euclidean:dim=1"\nsensitivity = 1.0\n'
        'claim = "PureDP:epsilon=1.0"\nsamples = 4000\nseed = 1\n'
    )
    audited = run("audit", spec)
    assert audited.exit_code == 0, audited.output
    assert "consistent" in audited.stdout
    spec.write_text(spec.read_text() + "sigma = 0.2\n")
    assert run("audit", spec).exit_code == 1
