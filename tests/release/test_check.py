"""The dry run: it raises what a release without an account would, and does nothing else."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    Chunks,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Records,
    ReleaseFailedError,
    UnsupportedError,
    check,
    private_ball,
    private_mean,
    private_means,
    private_statistic,
    statistics,
)
from riemdp.noise import _generator
from riemdp.release._run import Ready

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
ROWS = np.random.default_rng(0).normal(0.0, 0.3, (60, 2))
USERS = np.arange(60) // 2
BROKEN = np.where(np.arange(60)[:, None] == 7, np.nan, ROWS)
CLASSES = statistics.ClassMoments(("a", "b"))
LABELS = ["a", "b"] * 30
REGRESSION = statistics.TangentRegression(0.0, 1.0)

#: Records and options that are fine, and those with one record that is not.
PAIRS = {
    "mean": (ROWS, BROKEN, {}),
    "list": (ROWS.tolist(), BROKEN.tolist(), {}),
    "function": (lambda: ROWS, lambda: BROKEN, {"n": 60}),
    "adapted": (ROWS, BROKEN, {"method": "adaptive"}),
    "refined": (ROWS, BROKEN, {"method": "refined"}),
    "pure": (ROWS, BROKEN, {"budget": PureDP(1.0), "mechanism": "tangent-laplace"}),
    "private number": (ROWS, BROKEN, {"adjacency": "add-remove"}),
    "people": (ROWS, BROKEN, {"users": USERS}),
    "people, stated": (ROWS, BROKEN, {"users": USERS, "people": 30}),
    "weights": (ROWS, BROKEN, {"weights": np.ones(60)}),
    "chunks": (Chunks([ROWS], n=60), Chunks([ROWS[:5], BROKEN[5:]], n=60), {}),
    "groups": ({"a": ROWS, "b": -ROWS}, {"a": ROWS, "b": BROKEN}, {}),
    "median": (ROWS, BROKEN, {"statistic": statistics.GeometricMedian()}),
    "labels": (
        Records(ROWS, labels=LABELS),
        Records(ROWS, labels=["c", *LABELS[1:]]),
        {"statistic": CLASSES},
    ),
    "covariates": (
        Records(ROWS, covariates=np.linspace(0.0, 1.0, 60)),
        Records(ROWS, covariates=np.full(60, np.nan)),
        {"statistic": REGRESSION},
    ),
}


def nothing(*_arguments, **_options):
    pytest.fail("something was drawn, or released")


@pytest.mark.fast("mean", "people, stated", "chunks", "groups", "labels")
@pytest.mark.parametrize("name", PAIRS)
def test_it_says_what_a_release_without_an_account_does(name, monkeypatch):
    fine, wrong, options = PAIRS[name]
    options = {"budget": GDP(1.0), **options}
    statistic = options.get("statistic")
    release = private_means if isinstance(wrong, dict) else private_mean
    if statistic is not None:
        release = functools.partial(private_statistic, statistic)
    own = {key: value for key, value in options.items() if key != "statistic"}
    with pytest.raises((NotOnManifoldError, InvalidParameterError)) as said:
        release(wrong, PLANE, **own)
    monkeypatch.setattr(_generator, "_fresh_key", nothing)
    monkeypatch.setattr(Ready, "release", nothing)
    account = Accountant(GDP(1.0))
    with pytest.raises(type(said.value)) as told:
        check(wrong, PLANE, accountant=account, **options)
    assert str(told.value) == str(said.value)
    assert check(fine, PLANE, accountant=account, **options) is None
    assert account.spent is None


def test_a_failed_release_names_it():
    with pytest.raises(ReleaseFailedError, match=r"riemdp\.check"):
        private_mean(BROKEN, PLANE, GDP(1.0), accountant=Accountant(GDP(1.0)))
    with pytest.raises(NotOnManifoldError, match="row 7"):
        check(BROKEN, PLANE)


def test_nothing_of_a_found_ball_is_spent():
    found = private_ball(ROWS, PLANE, GDP(1.0), accountant=Accountant(GDP(1.0)))
    left = found.left
    assert check(ROWS, found) is None
    with pytest.raises(NotOnManifoldError, match="row 7"):
        check(BROKEN, found, statistic=statistics.GeometricMedian())
    assert found.left == left is not None


def test_what_the_release_refuses_it_refuses():
    for options, error, words in (
        ({"n": 59}, InvalidParameterError, "there are 60"),
        ({"mechanism": "laplace"}, InvalidParameterError, "unknown mechanism"),
        ({"charge": "first"}, TypeError, "no keyword 'charge'"),
    ):
        with pytest.raises(error, match=words):
            check(ROWS, PLANE, **options)
    with pytest.raises(UnsupportedError, match="can be read once"):
        check(iter([ROWS]), PLANE, n=60)
