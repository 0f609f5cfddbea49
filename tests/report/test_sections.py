from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Power,
    ProductBall,
    Sphere,
    private_directional_summary,
    private_mean,
    private_moments,
    verify,
)
from riemdp.privacy import Anchor
from riemdp.report import _sections
from riemdp.statistics import TangentMean

BALL = Ball(Euclidean(2), [0.0, 0.0], 1.0)
ROWS = np.zeros((50, 2))


@pytest.fixture(scope="module")
def release():
    return private_mean(ROWS, BALL, GDP(1.0))


def verdict_of(release):
    return _sections.verdict(release, verify(release).checks)


def test_a_release_that_verifies_is_good_and_all_others_are_not(release):
    assert 'class="box good"' in verdict_of(release)
    changed = verdict_of(replace(release, n=40))
    assert 'class="box good"' not in changed
    assert "does not verify: sensitivity, guarantee" in changed
    seeded = private_mean(ROWS, BALL, GDP(1.0), generator=np.random.default_rng(0))
    assert 'class="box good"' not in verdict_of(seeded)
    assert "Not private" in verdict_of(seeded)


def test_warnings_are_shown(release):
    shrunk = private_mean(np.zeros((50, 4)), Ball(Euclidean(4), np.zeros(4), 1.0), GDP(1.0))
    assert "biased" in verdict_of(shrunk.shrink())
    assert "biased" not in verdict_of(release)


def test_short_values_are_shown_and_long_ones_are_not(release):
    shown = _sections.released(release)
    assert all(f"<td>{x:.6g}</td>" in shown for x in release.value)
    power = Power(Euclidean(2), 100)
    ball = ProductBall(power, power.origin, rms_radius=1.0)
    long = private_mean(np.zeros((50, 100, 2)), ball, GDP(1.0), mechanism="riemannian-gaussian")
    shown = _sections.released(long)
    assert "200 numbers" in shown
    assert not any(f"{x:.6g}" in shown for x in long.value.ravel()[:20])


def test_values_with_parts_are_shown_by_name():
    moments = private_moments(ROWS, BALL, GDP(1.0), second="matrix")
    shown = _sections.released(moments)
    for name in ("mean", "second moment", "variance"):
        assert f"<h3>{name}</h3>" in shown or f"<dt>{name}</dt>" in shown


def test_of_compact_spaces_no_ball_is_needed():
    directions = private_directional_summary(np.tile([0.0, 0.0, 1.0], (60, 1)), GDP(1.0))
    assert "no record is moved" in _sections.released(directions)
    assert directions.ball.manifold == Sphere(2)


def test_the_guarantee_is_told_in_numbers(release):
    said = _sections.guaranteed(release.guarantee, release.neighbours, release)
    assert "26 %" in said  # norm.cdf(norm.ppf(0.05) + 1) = 0.2595
    epsilon = re.search(r"<td>1e-6</td><td>([\d.]*)</td>", said)[1]
    a, b = 0.5 - float(epsilon), -0.5 - float(epsilon)
    assert 0.99e-6 < norm.cdf(a) - np.exp(float(epsilon)) * norm.cdf(b) <= 1e-6
    assert "whether a record says one thing rather than another" in said
    assert "exact arithmetic" in said
    hidden = private_mean(ROWS, BALL, GDP(1.0), adjacency="add-remove")
    said = _sections.guaranteed(hidden.guarantee, hidden.neighbours, hidden)
    assert "whether a record is among the data" in said


def test_what_was_assumed(release):
    said = _sections.assumed(release, "one <visit>")
    assert "A record is: one &lt;visit&gt;" in said
    assert "how many there are" in said
    assert "secure generator" in said
    assert "stated by nobody" in _sections.assumed(release, None)
    people = private_mean(ROWS, BALL, GDP(1.0), users=np.arange(50) // 2, adjacency="add-remove")
    said = _sections.assumed(people, None)
    assert "All records of a person" in said
    assert "how many there are" not in said


def test_charges(release):
    assert "names no charge" in _sections.charged(release)
    paid = replace(release, anchor=Anchor("study <1>", 7, "c" * 32, "f" * 64, 2))
    said = _sections.charged(paid)
    assert "study &lt;1&gt;" in said
    assert "7, part 2" in said
    assert "f" * 64 in said


def test_proofs_and_versions(release):
    said = _sections.proved(release)
    assert "docs/proofs/exact-draws.md" in said
    assert "not proved" not in said
    assert "numpy" in said
    assert "as stated (not checked)" in said
    assert "states no versions" in _sections.proved(replace(release, stated_versions=()))


def test_invented_proofs_are_not_listed(release):
    invented = replace(release, stated_proofs=(*release.proofs.items(), ("ethics board", "yes")))
    assert _sections.proved(invented) == _sections.proved(release)
    other = replace(release, stated_proofs=tuple(dict.fromkeys(release.proofs, "approved").items()))
    assert "approved" not in _sections.proved(other)
    checks = verify(other).checks
    assert "does not verify: proof" in _sections.verdict(other, checks)


def test_what_is_not_proved_is_said(release):
    class Unproved(TangentMean):
        name, proof = "tests.Unproved", None

    doubtful = replace(release, statistic=Unproved(), stated_proofs=None)
    assert "not proved" in _sections.proved(doubtful)


def test_errors_are_said_in_the_users_unit_too():
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)
    points = np.tile(ball.center, (50, 1))
    release = private_mean(points, ball, GDP(1.0), mechanism="tangent-gaussian")
    page = _sections.released(release)
    for far in (release.expected_distance, release.error_quantile(0.95)):
        assert f"{far:.4g} ({np.degrees(far):.3g} degrees)" in page
    assert "radius 0.5 (28.6 degrees) about" in page
    flat = private_mean(ROWS, BALL, GDP(1.0), mechanism="tangent-gaussian")
    assert "degrees" not in _sections.released(flat)
