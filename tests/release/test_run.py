"""A private statistic: what is checked, charged and drawn, whatever the statistic."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    MeanCDP,
    PureDP,
    Sphere,
    private_mean,
    private_statistic,
)
from riemdp.kernel import Vector
from riemdp.noise import SecureGenerator, _generator
from riemdp.noise.exact import ExactDraw, FlatDraw, Rounded
from riemdp.release import _run
from riemdp.release._search._units import Units
from riemdp.statistics import (
    FrechetMean,
    Groups,
    Neighbours,
    Query,
    ReplaceOne,
    Rows,
    Statistic,
    TangentMean,
    Value,
    _statistic,
)
from riemdp.statistics._footpoint import Footpoint

SPHERE = Sphere(2)
BALL = Ball(SPHERE, [0.0, 0.0, 1.0], 0.5)
POINTS = SPHERE.exp(
    BALL.center, np.random.default_rng(0).uniform(-0.4, 0.4, (50, 3)) * [1.0, 1.0, 0.0]
)


LAPLACE = "tangent-laplace"


def seeded():
    return np.random.default_rng(3)


def zeros(share=1.0, unit=1.0, dim=2):
    """A query answered with zeros, whose public numbers a test chooses."""
    return Rows(Vector(dim), unit, lambda ball, points: np.zeros((len(points), dim)), share=share)


class Some(Statistic):
    """A statistic of another package that asks what it is given."""

    name, proof = "tests.Some", "a paper"

    def __init__(self, *asked):
        self.asked = asked

    def queries(self, ball):
        for each in self.asked:
            answer = yield each
        return Value(answer.point, each.answers(ball))


@pytest.mark.parametrize(
    ("statistic", "mechanism"),
    [
        (TangentMean(), "auto"),
        (FrechetMean(), "riemannian-gaussian"),
        (TangentMean(), "tangent-gaussian"),
    ],
)
def test_the_mean_is_a_statistic_like_any(statistic, mechanism):
    mean = private_mean(POINTS, BALL, GDP(1.0), mechanism=mechanism, generator=seeded())
    same = private_statistic(
        statistic, POINTS, BALL, GDP(1.0), mechanism=mechanism, generator=seeded()
    )
    assert np.array_equal(mean.value, same.value)
    assert (mean.sigma, mean.sensitivity, mean.tol) == (same.sigma, same.sensitivity, same.tol)
    assert same.statistic == statistic
    assert same.neighbours == ReplaceOne()
    assert riemdp.verify(same).passed


def test_a_statistic_that_does_not_go_with_a_mechanism_is_refused():
    with pytest.raises(riemdp.UnsupportedManifoldError, match="not as a distance"):
        private_statistic(TangentMean(), POINTS, BALL, GDP(1.0), mechanism="riemannian-laplace")


def test_auto_takes_a_mechanism_for_the_statistic():
    release = private_statistic(TangentMean(), POINTS, BALL, GDP(1.0))
    assert release.mechanism.name == "tangent-gaussian"
    assert "tangent-laplace" in release.reason
    assert "riemannian" not in release.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"statistic": "frechet-mean"}, "statistic must be"),
        ({"ball": None}, "ball must be"),
        ({"budget": 1.0}, "budget must be"),
        ({"adjacency": "replace"}, "adjacency must be"),
        ({"mechanism": np.zeros(3)}, "mechanism must be"),
        ({"accountant": 3}, "accountant"),
    ],
)
def test_bad_arguments(options, words):
    wanted = {"statistic": FrechetMean(), "points": POINTS, "ball": BALL, "budget": GDP(1.0)}
    with pytest.raises(riemdp.InvalidParameterError, match=words):
        private_statistic(**wanted | options)


def test_the_account_names_what_was_asked():
    spent = []
    ledger = type("Ledger", (), {"spend": lambda self, *entry: spent.append(entry)})()
    private_statistic(FrechetMean(), POINTS, BALL, PureDP(1.0), accountant=ledger)
    assert spent == [(PureDP(1.0), "private_statistic, riemannian-laplace")]


def test_a_definition_without_shares_has_no_statistics_of_several_answers():
    budget = MeanCDP(0.3, 0.5)
    with pytest.raises(riemdp.UnsupportedBudgetError, match="share MeanCDP"):
        private_statistic(Some(zeros(0.5), zeros(0.5)), POINTS, BALL, budget, mechanism=LAPLACE)


def test_warnings_are_said():
    release = private_mean(POINTS, BALL, GDP(1.0))
    assert release.warnings == ()
    seeded_release = private_mean(POINTS, BALL, GDP(1.0), generator=seeded())
    assert seeded_release.warnings == ("the noise was seeded: this release is not private",)
    assert release.adjacency == "replace-one"
    assert release.offer.statistic == TangentMean()


def test_the_same_on_flat_spaces():
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    data = np.random.default_rng(0).uniform(-0.5, 0.5, (40, 2))
    for statistic in (FrechetMean(), TangentMean()):
        release = private_statistic(statistic, data, ball, GDP(1.0), generator=seeded())
        assert release.mechanism.name == "riemannian-gaussian"
        assert release.sensitivity == pytest.approx(2.0 / 40, rel=1e-8)


class Bent(Euclidean):
    """A space that nobody vouches for."""


def tangent(*args, **options):
    return private_statistic(TangentMean(), *args, **options)


@pytest.mark.fast(4)
@pytest.mark.parametrize(
    "release",
    [
        private_mean,
        tangent,
        riemdp.private_median,
        riemdp.private_huber,
        riemdp.private_moments,
        riemdp.private_variance,
    ],
)
def test_every_release_does_what_its_options_say(release):
    ball, data = Ball(Euclidean(2), [0.0, 0.0], 1.0), np.zeros((20, 2))
    plain = release(data, ball, GDP(1.0))
    assert (plain.private, plain.proven) == (True, True)
    assert plain.neighbours == ReplaceOne()
    groups = release(data, ball, GDP(1.0), adjacency=Groups(3))
    assert groups.neighbours == Groups(3)
    assert groups.sigma == pytest.approx(3.0 * plain.sigma, rel=1e-6)
    assert not release(data, ball, GDP(1.0), generator=seeded()).private
    account = Accountant(GDP(1.0))
    release(data, ball, GDP(0.6), accountant=account)
    assert account.spent == GDP(0.6)
    with pytest.raises(riemdp.BudgetExceededError):
        release(data, ball, GDP(0.9), accountant=account)
    bent = Ball(Bent(2), [0.0, 0.0], 1.0)
    with pytest.raises(riemdp.UnprovenMechanismError):
        release(data, bent, GDP(1.0))
    assert not release(data, bent, GDP(1.0), allow_unproven=True).proven


class Near(Neighbours):
    """Data sets whose records are near each other: they need not differ in one alone."""

    name = "tests.Near"
    proof = "https://example.org/near"

    def sensitivity(self, query, ball, n, metric):
        return 1e-3 * query.replace_one(ball, n, metric)


def test_an_account_takes_no_guarantee_about_another_relation():
    account = Accountant(GDP(5.0))
    with pytest.raises(riemdp.UnsupportedError, match=r"tests\.Near does not promise"):
        private_mean(POINTS, BALL, GDP(1.0), adjacency=Near(), accountant=account)
    assert account.spent is None
    for neighbours in (ReplaceOne(), Groups(2)):
        private_mean(POINTS, BALL, GDP(1.0), adjacency=neighbours, accountant=account)
    assert account.spent == GDP(math.sqrt(2.0))


@pytest.mark.parametrize("share", [1.5, 1.0 + 1e-8, 1.0, 0.5])
def test_footpoints_lie_in_the_ball_of_answers(monkeypatch, share):
    seen = []

    def draw(self, footpoint, grid, *, generator):
        seen.append([float(x) for x in footpoint])
        return Rounded((0, 0), grid)

    monkeypatch.setattr(ExactDraw, "draw", draw)
    beyond = np.array([share * BALL.radius, 0.0])  # of what it says, or by little
    monkeypatch.setattr(Footpoint, "finish", lambda self, ball, partial, tol: beyond)
    private_statistic(FrechetMean(), POINTS, BALL, GDP(1.0), mechanism="riemannian-gaussian")
    wanted = min(share, 1.0) * BALL.radius
    np.testing.assert_allclose(seen, [[wanted, 0.0]], rtol=1e-12)


@pytest.mark.parametrize(
    "found",
    [
        np.array([0.1, 0.2]),
        Rounded((1,), 30),
        Rounded((1, 2, 3), 30),
        Rounded((1.5, 2), 30),
        Rounded((1, 2), 31),
    ],
    ids=["floats", "too few", "too many", "no integers", "another grid"],
)
def test_what_is_no_draw_on_the_grid_is_not_released(monkeypatch, found):
    """The release would claim its bits, and the value be another point."""
    kind = type("M", (riemdp.RiemannianGaussian,), {"name": "lab.M"})
    monkeypatch.setattr("riemdp.release._offer.default_grid", lambda sigma: 30)
    monkeypatch.setattr(ExactDraw, "draw", lambda *args, **options: found)
    with pytest.raises(riemdp.InvalidParameterError, match=r"lab\.M must return 2 integers on"):
        private_mean(POINTS, BALL, GDP(1.0), mechanism=kind, allow_unproven=True)


def test_reasons_say_who_chose():
    named = private_mean(POINTS, BALL, GDP(1.0), mechanism="riemannian-gaussian")
    assert named.reason == "named by the caller"
    given = private_mean(POINTS, BALL, GDP(1.0), mechanism=named.mechanism)
    assert given.reason == "given by the caller, calibrated"
    assert "least expected distance" in private_mean(POINTS, BALL, GDP(1.0)).reason


def test_neither_a_count_nor_the_footpoint_gets_into_an_error(monkeypatch):
    """Both may depend on the records, and the account is charged by then."""

    def talk(self, footpoint, grid, *, generator):
        raise ValueError(f"about {footpoint}")

    with monkeypatch.context() as patch:
        patch.setattr(Rows, "finish", lambda self, ball, partial, tol: np.zeros(7))
        with pytest.raises(riemdp.InvalidParameterError, match=r"must answer with 2") as caught:
            private_statistic(TangentMean(), POINTS, BALL, PureDP(1.0))
    assert "7" not in str(caught.value)
    monkeypatch.setattr(ExactDraw, "draw", talk)
    with pytest.raises(riemdp.RiemdpError, match=r"failed with ValueError") as caught:
        private_mean(POINTS, BALL, PureDP(1.0), allow_unproven=True)
    assert "about" not in str(caught.value)


@dataclass(frozen=True)
class Tells(Query):
    """A query that says by itself how far it moves, as none may."""

    def replace_one(self, ball, n, metric):
        return 1e-3

    def finish(self, ball, partial, tol):
        return np.zeros(2)


class Short(Vector):
    """A shape that says so."""

    move = Fraction(1, 10**6)


WRONG = {
    **{f"share {value!r}": (zeros(value), "the share of a query must be")
       for value in (0.0, -1.0, math.nan, math.inf, "x", None)},
    **{f"query {value!r}": (value, r"Some\.queries must yield riemdp\.statistics\.Rows")
       for value in (None, 1.0, TangentMean(), Tells())},
    "shape": (Rows(Short(2), 1.0, None), "of a shape of riemdp.kernel"),
}  # fmt: skip


@pytest.mark.parametrize("later", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("case", WRONG)
def test_what_a_statistic_says_is_checked_before_the_charge(case, later):
    wrong, said = WRONG[case]
    statistic = Some(zeros(0.5), wrong) if later else Some(wrong)
    account = Accountant(PureDP(10.0))
    with pytest.raises(riemdp.InvalidParameterError, match=said):
        private_statistic(
            statistic, POINTS, BALL, PureDP(1.0), accountant=account, mechanism=LAPLACE
        )
    assert account.ledger == ()


def test_a_statistic_that_never_ends_or_returns_nothing_is_refused_before_the_charge(monkeypatch):
    monkeypatch.setattr(_statistic, "_MOST", 1000)

    class Nothing(Some):
        def queries(self, ball):
            yield zeros()

    account = Accountant(PureDP(10.0))
    for statistic, said in (
        (Nothing(), "must return a riemdp.statistics.Value"),
        (Some(*[zeros(1e-6)] * 1001), "more than 1000 queries"),
    ):
        with pytest.raises(riemdp.InvalidParameterError, match=said):
            private_statistic(statistic, POINTS, BALL, PureDP(1.0), accountant=account)
    assert account.ledger == ()


@dataclass(frozen=True)
class Wanders(Statistic):
    """Asks two queries of typical answers, and of others what a test chooses."""

    name, proof = "tests.Wanders", "a paper"

    then: tuple[object, ...]

    def queries(self, ball):
        answer = yield zeros(0.25)
        is_typical = answer.point[1] == 0.0  # which no draw is
        for each in (zeros(0.75),) if is_typical else self.then:
            answer = yield each
        return Value(ball.center, ball)


PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)


@pytest.fixture
def draws(monkeypatch):
    """What is drawn: the scale of each."""
    found, honest = [], FlatDraw.draw

    def draw(self, *args, **options):
        found.append(self.sigma)
        return honest(self, *args, **options)

    monkeypatch.setattr(FlatDraw, "draw", draw)
    return found


OTHERS = {
    "farther": ((zeros(0.75, 1.0 + 1e-9),), 1),
    "a larger share": ((zeros(0.8),), 1),
    "a smaller share": ((zeros(0.7),), 1),
    "another dimension": ((zeros(0.75, dim=3),), 1),
    "no query": ((None,), 1),
    "once more": ((zeros(0.75), zeros(0.75)), 2),
    "once less": ((), 1),
}


@pytest.mark.parametrize("kind", ["tangent-gaussian", LAPLACE])
@pytest.mark.parametrize("case", OTHERS)
def test_what_follows_on_answers_with_other_numbers_is_not_drawn(draws, case, kind):
    then, number = OTHERS[case]
    budget = GDP(1.0) if kind == "tangent-gaussian" else PureDP(1.0)
    data = np.zeros((50, 2))
    with pytest.raises(riemdp.InvalidParameterError, match=r"tests\.Wanders.*quer"):
        private_statistic(Wanders(then), data, PLANE, budget, mechanism=kind)
    assert len(draws) == number
    account = Accountant(budget)
    with pytest.raises(riemdp.ReleaseFailedError):  # it was charged, whatever was drawn
        private_statistic(Wanders(then), data, PLANE, budget, mechanism=kind, accountant=account)
    assert account.spent == budget


def test_control_what_was_planned_is_drawn(draws):
    data = np.zeros((50, 2))
    planned = Wanders((zeros(0.75),))
    release = private_statistic(planned, data, PLANE, PureDP(1.0), mechanism=LAPLACE)
    assert tuple(draws) == release.scales == pytest.approx((0.16, 0.16 / 3.0), rel=1e-8)
    assert release.offer.asked[0].sensitivity == pytest.approx(0.04, rel=1e-12)


@dataclass(frozen=True)
class _Indiscreet(Statistic):
    """A mean of another package, whose check of records fails on one of them."""

    name = "tests.indiscreet"

    def queries(self, ball):
        return TangentMean().queries(ball)

    def check_records(self, records):
        raise KeyError(float(np.asarray(records.points)[0, 0]))


def test_a_check_of_records_tells_nothing_but_the_class_of_its_error():
    with pytest.raises(riemdp.RiemdpError, match="withheld") as error:
        private_statistic(_Indiscreet(), POINTS, BALL, GDP(1.0), allow_unproven=True)
    assert "KeyError" in str(error.value)
    assert str(float(POINTS[0, 0])) not in str(error.value)
    assert error.value.__context__ is None


@pytest.fixture
def events(monkeypatch):
    """What happens in a release, in order: keys that are made, and what a test adds."""
    found, fresh = [], _generator._fresh_key
    monkeypatch.setattr(_generator, "_fresh_key", lambda: found.append("key") or fresh())
    return found


@pytest.mark.parametrize("generator", [None, "held"])
def test_every_answer_is_drawn_with_a_key_made_after_its_data_were_read(
    generator, events, monkeypatch
):
    def read(answer, *given):
        found = answer(*given)
        events.append("read")
        return found

    monkeypatch.setattr(_run, "answer", functools.partial(read, _run.answer))
    source = generator and SecureGenerator()
    made = len(_generator._OWN)
    release = private_mean(POINTS, BALL, GDP(1.0), method="refined", generator=source)
    passes = "".join(event[0] for event in events).lstrip("k").split("r")[1:]
    assert len(passes) == len(release.scales) > 1
    assert all(passes)  # each was followed by a key
    assert len(_generator._OWN) == made  # and no key is left
    assert release.private


def test_every_query_of_a_search_is_drawn_with_keys_of_its_own(events, monkeypatch):
    answer = Units.answer

    def answered(self, query, source):
        events.append("step")
        return answer(self, query, source)

    monkeypatch.setattr(Units, "answer", answered)
    wide = Ball(Euclidean(2), [0.0, 0.0], 100.0)
    points = np.random.default_rng(0).normal(20.0, 1.0, (2000, 2))
    made = len(_generator._OWN)
    found = riemdp.private_ball(points, wide, GDP(1.0))
    steps = "".join(event[0] for event in events).lstrip("k").split("s")[1:]
    assert len(steps) == len(found.search.steps) > 2
    assert all(steps)
    assert steps[0] == "kk"  # a matching, and a choice
    assert len(_generator._OWN) == made


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "refined"},
        {"mechanism": "riemannian-laplace"},
        {"adjacency": "add-remove"},
        {"method": "adaptive"},
        {"generator": np.random.default_rng(0)},
    ],
    ids="-".join,
)
def test_the_header_is_complete_before_a_record_is_read(options, monkeypatch):
    """It is that of the release, of which integers and value are unknown then."""
    headers, charge = [], _run.Ready.charge

    def watched(self, label):
        headers.append(self.header)
        return charge(self, label)

    monkeypatch.setattr(_run.Ready, "charge", watched)
    ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 5.0)
    points = np.random.default_rng(1).normal(0.3, 0.05, (400, 2))
    release = riemdp.private_mean(points, ball, riemdp.GDP(1.0), **options)
    assert headers == [release.header]
    assert riemdp.Release.from_json(release.to_json()).header == release.header
    again = riemdp.private_mean(points, ball, riemdp.GDP(1.0), **options)
    assert again.nonce != release.nonce
