"""A calibration that errs is an error: nothing is drawn that costs more than its budget."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import golden
import riemdp
from riemdp import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Ball,
    BudgetExceededError,
    Euclidean,
    MeanCDP,
    PureDP,
    RaoDP,
    Sphere,
)
from riemdp.kernel import _verify
from riemdp.mechanisms import Choice, TangentGaussian
from riemdp.noise.exact import ExactDraw, FlatDraw
from riemdp.release import Release, _offer, _run
from riemdp.release._costs import check_costs
from riemdp.release._offer import with_draw
from riemdp.release._search import _adaptive, _units

BALL = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0)
POINTS = BALL.point(np.random.default_rng(0).normal(0.0, 0.2, (60, 2)))
PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
BUDGETS = [
    GDP(1.0),
    PureDP(1.0),
    ZCDP(0.3),
    ApproxDP(1.0, 1e-6),
    RDP(2.0, 0.5),
    RDP(math.inf, 1.0),
    KLDP(0.5),
    MeanCDP(1.0, 0.5),
    RaoDP(0.5, distance="angle"),
    RaoDP(0.5, distance="parametric"),
]
#: Kinds of noise, whether several queries are asked, and budgets that there are for both.
CASES = [
    pytest.param(kind, several, budget, id=f"{kind}-{several}-{budget}")
    for kind in ("tangent-gaussian", "tangent-laplace", "riemannian-gaussian", "riemannian-laplace")
    for several in (False, True)
    for budget in BUDGETS
    if not (
        (several and kind.startswith("riemannian"))
        or (several and kind.endswith("laplace") and isinstance(budget, MeanCDP))
        or (kind == "tangent-gaussian" and isinstance(budget, PureDP))
        or (kind == "tangent-gaussian" and isinstance(budget, RDP) and budget.order == math.inf)
    )
]


def released(kind, several, budget, **options):
    options |= {"mechanism": kind, "generator": np.random.default_rng(1)}
    if several:
        return riemdp.private_statistic(
            riemdp.statistics.GeometricMedian(steps=3), POINTS, BALL, budget, **options
        )
    return riemdp.private_mean(POINTS, BALL, budget, **options)


@pytest.fixture
def nothing_is_drawn(monkeypatch):
    def draw(*_, **__):
        pytest.fail("noise was drawn")

    monkeypatch.setattr(ExactDraw, "draw", draw)


def short(monkeypatch, factor=0.99):
    """Let every calibration return a scale that is too small."""
    honest = Choice.calibrate_on

    def errs(self, *args, **options):
        found = honest(self, *args, **options)
        return replace(found, sigma=factor * found.sigma)

    monkeypatch.setattr(Choice, "calibrate_on", errs)


def one_short(monkeypatch, place):
    """Let the calibration for one of several queries return a scale that is too small."""
    honest, made = Choice.calibrate_on, []

    def errs(self, *args, **options):
        found = honest(self, *args, **options)
        made.append(found)
        return replace(found, sigma=0.99 * found.sigma) if len(made) == place + 1 else found

    monkeypatch.setattr(Choice, "calibrate_on", errs)


def shared(monkeypatch):
    """Let shares add up to 1.01, or to 1.01^2."""
    honest, squares = _offer.parts_of, TangentGaussian.joint_weight

    def errs(*args):
        return [found.at(1.01 * getattr(found, found.sizes[0])) for found in honest(*args)]

    monkeypatch.setattr(_offer, "parts_of", errs)
    monkeypatch.setattr(TangentGaussian, "joint_weight", lambda weights: squares(weights) / 1.01)


def split(monkeypatch):
    """Let parts add up to 1.01 of their budget, or to 1.01^2."""
    for kind in {type(budget) for budget in BUDGETS}:

        def errs(self, share, honest=kind.part):
            found = honest(self, share)
            return found if share == 1 else found.at(1.01 * getattr(found, found.sizes[0]))

        monkeypatch.setattr(kind, "part", errs)


def kept(monkeypatch):
    """Let the draw be of another scale than what was calibrated, as a wrong cache might."""
    honest = _offer.exact_draw

    def errs(mechanism, answers):
        return honest(replace(mechanism, sigma=0.99 * mechanism.sigma), answers)

    monkeypatch.setattr(_offer, "exact_draw", errs)


def fails(what):
    with pytest.raises(BudgetExceededError, match="its calibration is wrong, and it was not drawn"):
        what()


@pytest.mark.parametrize(("kind", "several", "budget"), CASES)
def test_an_honest_release_is_checked_before_the_charge_and_before_its_draw(
    monkeypatch, kind, several, budget
):
    asked = []
    monkeypatch.setattr(_run, "check_costs", lambda *args: asked.append(args) or check_costs(*args))
    released(kind, several, budget)
    assert len(asked) == 2


@pytest.mark.usefixtures("nothing_is_drawn")
@pytest.mark.parametrize(("kind", "several", "budget"), CASES)
def test_a_scale_that_is_too_small_is_an_error(monkeypatch, kind, several, budget):
    short(monkeypatch)
    account = Accountant(budget) if not isinstance(budget, MeanCDP) else None
    fails(lambda: released(kind, several, budget, accountant=account))
    if account is not None:
        assert account.remaining == budget


SEVERAL = [case for case in CASES if case.values[1]]


@pytest.mark.usefixtures("nothing_is_drawn")
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(("kind", "several", "budget"), SEVERAL)
def test_a_scale_that_is_too_small_for_one_of_several_queries_is_an_error(
    monkeypatch, kind, several, budget, place
):
    """The mean of a median, or its steps, which are alike."""
    one_short(monkeypatch, place)
    account = Accountant(budget) if not isinstance(budget, MeanCDP) else None
    fails(lambda: released(kind, several, budget, accountant=account))
    if account is not None:
        assert account.remaining == budget


@pytest.mark.usefixtures("nothing_is_drawn")
@pytest.mark.parametrize("wrong", [shared, split])
@pytest.mark.parametrize(("kind", "several", "budget"), SEVERAL)
def test_shares_of_more_than_all_are_an_error(monkeypatch, kind, several, budget, wrong):
    if wrong is split and kind == "tangent-gaussian":
        pytest.skip("such queries are not paid for by equal shares")
    wrong(monkeypatch)
    fails(lambda: released(kind, several, budget))


FLAT = [case for case in CASES if case.values[0].startswith("tangent")]


@pytest.mark.usefixtures("nothing_is_drawn")
@pytest.mark.parametrize(("kind", "several", "budget"), FLAT)
def test_a_draw_of_another_scale_is_an_error(monkeypatch, kind, several, budget):
    kept(monkeypatch)
    fails(lambda: released(kind, several, budget))


@pytest.mark.parametrize("wrong", [short, shared, kept])
@pytest.mark.parametrize("kind", ["tangent-gaussian", "tangent-laplace"])
def test_control_without_the_check_the_release_goes_through(monkeypatch, kind, wrong):
    budget = PureDP(1.0) if kind.endswith("laplace") else GDP(1.0)
    sigma = released(kind, True, budget).mechanism.sigma
    wrong(monkeypatch)
    monkeypatch.setattr(_run, "check_costs", lambda *_: None)
    found = released(kind, True, budget)
    assert found.mechanism.sigma < sigma or wrong is kept


@pytest.mark.usefixtures("nothing_is_drawn")
def test_nothing_is_drawn_even_if_only_the_last_check_is_left(monkeypatch):
    short(monkeypatch)
    calls = []

    def second(*args):
        calls.append(args)
        return check_costs(*args) if len(calls) > 1 else None

    monkeypatch.setattr(_run, "check_costs", second)
    fails(lambda: released("tangent-gaussian", True, GDP(1.0)))


ENTRIES = {
    "groups": lambda **more: riemdp.private_means({"a": POINTS[:30], "b": POINTS[30:]}, **more),
    "moments": lambda **more: riemdp.private_moments(POINTS, **more),
    "refined": lambda **more: riemdp.private_mean(POINTS, method="refined", **more),
    "chunks": lambda **more: riemdp.private_mean(
        riemdp.Chunks([POINTS[:30], POINTS[30:]], sizes=[30, 30]), **more
    ),
    "private n": lambda **more: riemdp.private_mean(POINTS, adjacency="add-remove", **more),
    "people": lambda **more: riemdp.private_mean(POINTS, users=[0, 1] * 30, **more),
    "check": lambda **more: riemdp.check(POINTS, **more),
}


@pytest.mark.fast(3)
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("mechanism", ["tangent-gaussian", "auto"])
def test_every_way_in_is_checked(monkeypatch, nothing_is_drawn, entry, mechanism):
    del nothing_is_drawn
    short(monkeypatch)
    fails(lambda: ENTRIES[entry](ball=BALL, budget=GDP(1.0), mechanism=mechanism))


@pytest.mark.parametrize("budget", [GDP(1.0), PureDP(2.0), ZCDP(0.5)])
@pytest.mark.parametrize(("name", "factor"), [("rate", 1.01), ("sigma", 0.99)])
def test_queries_of_a_search_are_checked(monkeypatch, budget, name, factor):
    points = np.random.default_rng(0).normal(0.4, 0.01, (2000, 2))
    honest, drawn = getattr(_adaptive.Numbers, name), []
    answer = _units.Units.answer
    monkeypatch.setattr(_adaptive.Numbers, name, lambda *given: factor * honest(*given))
    with monkeypatch.context() as blind:
        blind.setattr(_adaptive, "check_draws", lambda *_: None)
        assert riemdp.private_ball(points, PLANE, budget).steps

    def answered(units, query, source):
        drawn.append(query.name)
        return answer(units, query, source)

    monkeypatch.setattr(_units.Units, "answer", answered)
    with pytest.raises(BudgetExceededError, match="the search so far and"):
        riemdp.private_ball(points, PLANE, budget)
    assert drawn == ([] if name == "rate" else drawn)
    assert "centre" not in drawn


def test_the_message_has_public_numbers_alone(monkeypatch):
    short(monkeypatch, 0.5)
    with pytest.raises(BudgetExceededError) as one:
        released("tangent-gaussian", False, GDP(1.0))
    with pytest.raises(BudgetExceededError) as other:
        riemdp.private_mean(BALL.point(np.zeros((60, 2))), BALL, GDP(1.0))
    assert str(one.value) == str(other.value)
    sensitivity = 2.0 / 60
    assert (
        f"scale {sensitivity / 2:.6g} for the last of 1 queries, of sensitivity {sensitivity:.6g}"
        in str(one.value)
    )


# Against the verifier, which derives sensitivities and costs anew and shares nothing with releases.

STORED = {
    name: document
    for name, document in golden.read()["documents"].items()
    if document.get("format") == "riemdp-release/3"
}


@functools.cache
def read(name):
    """Return what was drawn from, its budget, and the verifier's reading of the document."""
    release = Release.from_json(json.dumps(STORED[name]))
    made = with_draw(release.offer)
    own = _verify._Release(STORED[name])
    assert own.moved == pytest.approx([each.sensitivity for each in made.asked], rel=1e-8)
    return made, release.budget, own


def moving(made, factors):
    """Return an offer whose answers move so many times farther."""
    several = zip(made.asked, factors, strict=True)
    asked = (replace(each, sensitivity=factor * each.sensitivity) for each, factor in several)
    return replace(made, asked=tuple(asked))


def is_enough(own, moved):
    """Whether the verifier takes the noise for enough, where answers move so far."""
    vars(own)["moved"] = moved  # which is cached
    try:
        own._guarantee()
    except _verify._ProblemError as problem:
        return "too little" not in str(problem)
    return True


@pytest.mark.fast(60)
@pytest.mark.parametrize("name", STORED)
def test_the_verifier_says_the_same_of_stored_releases(name):
    made, limit, own = read(name)
    check_costs(made, limit)
    exact, number = own.moved, len(made.asked)
    for factor in (0.5, 1.0 - 1e-8, 1.0 + 1e-8, 1.001, 2.0):
        try:
            check_costs(moving(made, [factor] * number), limit)
        except BudgetExceededError:
            assert not is_enough(own, [factor * moved for moved in exact]), factor
        else:
            assert is_enough(own, [factor * moved for moved in exact]), factor
    for place in {0, number - 1} if number > 1 else ():  # one alone that errs is enough
        factors = [1.01 if k == place else 1.0 for k in range(number)]
        fails(functools.partial(check_costs, moving(made, factors), limit))
        assert not is_enough(own, [f * m for f, m in zip(factors, exact, strict=True)])
    vars(own)["moved"] = exact


def test_what_is_added_exactly_is_believed_of_nobody(monkeypatch):
    """Noise that is added to coordinates is judged without the mechanism, where that is sharp."""

    def satisfies(*_):
        pytest.fail("the mechanism was asked")

    made, limit, _ = read("mean/S2/tangent-gaussian")
    assert type(made.last.draw) is FlatDraw
    monkeypatch.setattr(type(made.mechanism), "satisfies", satisfies)
    check_costs(made, limit)
    fails(lambda: check_costs(moving(made, [1.01]), limit))
