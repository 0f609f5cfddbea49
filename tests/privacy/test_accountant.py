import copy
import dataclasses
import math
import pickle
import random
import sys
import threading
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from riemdp import Ball, Euclidean, private_mean
from riemdp import _errors as errors
from riemdp._errors import BudgetExceededError, InvalidBudgetError
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    Accountant,
    ApproxDP,
    MeanCDP,
    PureDP,
    RaoDP,
    adds_up,
    convert,
    rest_of,
    share_of,
    within_total,
)


def angle(theta):
    return RaoDP(theta, distance="angle")


def parametric(theta):
    return RaoDP(theta, distance="parametric")


CASES = [
    (PureDP(1.0), PureDP(0.25), PureDP(0.75)),
    (ApproxDP(1.0, 1e-6), ApproxDP(0.25, 2.5e-7), ApproxDP(0.75, 7.5e-7)),
    (ApproxDP(1.0, 1e-6), PureDP(0.25), ApproxDP(0.75, 1e-6)),
    (GDP(5.0), GDP(3.0), GDP(4.0)),
    (ZCDP(1.0), ZCDP(0.25), ZCDP(0.75)),
    (ZCDP(1.0, xi=0.5), ZCDP(0.25, xi=0.25), ZCDP(0.75, xi=0.25)),
    (RDP(4.0, 1.0), RDP(4.0, 0.25), RDP(4.0, 0.75)),
    (KLDP(1.0), KLDP(0.25), KLDP(0.75)),
    (parametric(5.0), parametric(3.0), parametric(4.0)),
    (angle(2.0), angle(1.0), angle(2.0 * math.acos(math.cos(1.0) / math.cos(0.5)))),
]


def same(one, other):
    assert type(one) is type(other)
    fields = vars(one)
    assert fields.keys() == vars(other).keys()
    for name, value in fields.items():
        expected = vars(other)[name]
        assert value == (expected if isinstance(value, str) else pytest.approx(expected, rel=1e-9))


@pytest.mark.parametrize(("total", "guarantee", "left"), CASES, ids=str)
def test_a_spend_is_taken_off(total, guarantee, left):
    account = Accountant(total)
    assert account.spent is None
    same(account.remaining, total)
    account.spend(guarantee, "first")
    same(account.spent, guarantee)
    same(account.remaining, left)
    assert account.ledger == (("first", guarantee),)
    assert account.ledger[0].label == "first"
    account.spend(account.remaining, "the rest")
    assert account.remaining is None
    same(account.spent, total)
    with pytest.raises(errors.BudgetExceededError, match="left is nothing"):
        account.spend(guarantee, "too much")


@pytest.mark.parametrize(("total", "guarantee", "left"), CASES, ids=str)
def test_a_refusal_names_both_amounts_and_changes_nothing(total, guarantee, left):
    account = Accountant(total)
    account.spend(guarantee, "first")
    before = account.spent, account.remaining, account.ledger
    with pytest.raises(errors.BudgetExceededError) as refusal:
        account.spend(total, "second")
    assert repr(total) in str(refusal.value)
    assert repr(account.remaining) in str(refusal.value)
    assert (account.spent, account.remaining, account.ledger) == before


def test_other_definitions_are_converted():
    account = Accountant(ZCDP(1.0))
    account.spend(PureDP(1.0), "pure")
    account.spend(GDP(0.5), "gaussian")
    spent = convert(PureDP(1.0), ZCDP).rho + convert(GDP(0.5), ZCDP).rho
    assert account.spent.rho == pytest.approx(spent)
    account = Accountant(angle(1.0))
    account.spend(GDP(0.1), "gaussian")
    assert account.spent.theta == pytest.approx(convert(GDP(0.1), RaoDP, distance="angle").theta)
    account = Accountant(RDP(4.0, 1.0))
    account.spend(ZCDP(0.1), "concentrated")
    assert account.spent == RDP(4.0, account.spent.epsilon)
    assert account.spent.epsilon == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("total", "guarantee"),
    [
        (PureDP(1.0), GDP(0.1)),
        (PureDP(1.0), angle(0.1)),
        (ApproxDP(1.0, 1e-6), GDP(0.1)),
        (GDP(1.0), ZCDP(0.1)),
        (ZCDP(1.0), ApproxDP(0.1, 1e-9)),
        (RDP(4.0, 1.0), RDP(3.0, 0.1)),
        (parametric(1.0), angle(0.1)),
        (angle(1.0), MeanCDP(0.1, 0.1)),
    ],
    ids=str,
)
def test_without_a_conversion_nothing_changes(total, guarantee):
    account = Accountant(total)
    if isinstance(guarantee, MeanCDP):
        account.spend(guarantee, "converts")
        assert account.ledger
        return
    with pytest.raises(errors.NoConversionError):
        account.spend(guarantee, "other")
    assert account.ledger == ()
    assert account.spent is None


def test_an_approximate_total_asks_for_a_delta():
    with pytest.raises(errors.NoConversionError, match="choose one before"):
        Accountant(ApproxDP(1.0, 1e-6)).spend(GDP(0.1), "gaussian")


def test_ten_tenths_are_one():
    account = Accountant(PureDP(1.0))
    for i in range(10):
        account.spend(PureDP(0.1), f"{i}")
    assert account.remaining is None
    with pytest.raises(errors.BudgetExceededError):
        account.spend(PureDP(1e-9), "a crumb")


@pytest.mark.parametrize("total", [PureDP(1.0), GDP(0.3), ZCDP(0.7, xi=0.1), ApproxDP(0.3, 1e-6)])
@pytest.mark.parametrize("parts", [1, 2, 3, 7, 10, 49, 1000])
@pytest.mark.fast(7)
def test_the_shares_of_a_total_fit_and_nothing_after_them(total, parts):
    account = Accountant(total)
    for _ in range(parts):
        assert account.remaining is not None
        account.spend(total / parts, "share")
    assert account.remaining is None
    crumb = total.at(getattr(total, total.sizes[0]) * 9e-13)
    with pytest.raises(errors.BudgetExceededError, match="left is nothing"):
        account.spend(crumb, "a crumb")


def test_a_crumb_fits_where_more_than_a_crumb_is_left():
    account = Accountant(PureDP(1.0))
    account.spend(PureDP(1.0 - 1e-9), "most")
    account.spend(PureDP(9e-13), "control")


#: Definitions, and what adds up of them, exactly.
EXACT = {
    "pure": (lambda s: PureDP(s()), lambda b: [b.epsilon]),
    "approx": (
        lambda s: ApproxDP(s(), 1e-5 * s()),
        lambda b: [b.epsilon, getattr(b, "delta", 0.0)],
    ),
    "gdp": (lambda s: GDP(s()), lambda b: [Fraction(b.mu) ** 2]),
    "zcdp": (lambda s: ZCDP(s(), xi=s()), lambda b: [b.rho, b.xi]),
    "rdp": (lambda s: RDP(4.0, s()), lambda b: [b.epsilon]),
    "parametric": (lambda s: parametric(s()), lambda b: [Fraction(b.theta) ** 2]),
}


def balances(name, count):
    """Of random accounts: what was charged, spent, remaining and the total, in fractions."""
    make, amounts = EXACT[name]
    source = random.Random(name)
    for _ in range(count):
        total = make(lambda: source.uniform(1.0, 3.0))
        account, spends = Accountant(total), []
        parts = source.randrange(2, 12)
        most = 1.2 / math.sqrt(parts)
        for _ in range(parts):
            share = make(lambda most=most: source.uniform(0.01, most))
            try:
                account.spend(share, "share")
            except BudgetExceededError:
                continue
            spends.append([*map(Fraction, amounts(share))])
        left = account.remaining
        yield (
            [*map(sum, zip(*spends, strict=True))],
            [*map(Fraction, amounts(account.spent))],
            [*map(Fraction, amounts(left))] if left is not None else [Fraction(0)] * len(spends[0]),
            [*map(Fraction, amounts(total))],
        )


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("count", [100, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.fast(*(f"100-{name}" for name in EXACT))
def test_spent_is_rounded_up_and_remaining_down(name, count):
    nearest = over = 0
    for charged, spent, left, total in balances(name, count):
        for one, most, rest, limit in zip(charged, spent, left, total, strict=True):
            assert one <= most <= one * (1 + Fraction(2, 2**52))
            assert most + rest <= limit or not rest
            assert one <= limit * (1 + Fraction(1, 10**12))
            near = Fraction(float(one))  # control: rounded to nearest
            nearest += near < one
            over += near + Fraction(float(limit - one)) > limit
    assert nearest > count / 10
    assert over > count / 10


@pytest.mark.parametrize(
    "total",
    [
        angle(math.nextafter(math.pi, 0.0)),
        angle(1e-140),
        parametric(1e150),
        GDP(1e-140),
        GDP(1.3e154),
        PureDP(sys.float_info.max),
        PureDP(1e-290),
        ApproxDP(1.0, math.nextafter(1.0, 0.0)),
    ],
)
def test_totals_at_the_ends_of_float64_have_balances(total):
    account = Accountant(total)
    account.spend(total.split(2), "half")
    assert account.remaining is not None
    account.spend(account.remaining, "the rest")
    size = total.sizes[0]
    assert getattr(account.spent, size) == pytest.approx(getattr(total, size), rel=1e-6)
    assert account.remaining is None
    with pytest.raises(BudgetExceededError):
        account.spend(total, "again")


def test_spent_delta_alone_leaves_a_pure_remainder():
    account = Accountant(ApproxDP(1.0, 1e-6))
    account.spend(PureDP(0.5), "no delta")
    assert account.spent == PureDP(0.5)
    account.spend(ApproxDP(0.25, 1e-6), "all of the delta")
    assert account.remaining == PureDP(0.25)
    with pytest.raises(errors.BudgetExceededError):
        account.spend(ApproxDP(0.1, 1e-9), "no delta left")
    account.spend(PureDP(0.25), "the rest")
    assert account.remaining is None


POOL = {
    PureDP(1.0): st.floats(1e-6, 1.2).map(PureDP),
    ApproxDP(1.0, 1e-5): st.builds(ApproxDP, st.floats(1e-6, 1.2), st.floats(1e-12, 1.2e-5)),
    GDP(1.0): st.floats(1e-6, 1.2).map(GDP),
    ZCDP(1.0, xi=0.5): st.builds(ZCDP, st.floats(1e-6, 1.2), st.floats(0.0, 0.6)),
    RDP(3.0, 1.0): st.floats(1e-6, 1.2).map(lambda e: RDP(3.0, e)),
    KLDP(1.0): st.floats(1e-6, 1.2).map(KLDP),
    angle(1.0): st.floats(1e-6, 1.2).map(angle),
    parametric(1.0): st.floats(1e-6, 1.2).map(parametric),
}


@given(st.sampled_from(list(POOL)).flatmap(lambda t: st.tuples(st.just(t), st.lists(POOL[t]))))
def test_no_sequence_exceeds_the_total(case):
    total, spends = case
    account = Accountant(total)
    price = total.price_of
    accepted = []
    for guarantee in spends:
        before = account.spent, account.remaining, account.ledger
        try:
            account.spend(guarantee, "x")
        except errors.BudgetExceededError:
            assert (account.spent, account.remaining, account.ledger) == before
            together = zip(*map(price, [*accepted, guarantee]), strict=True)
            limits = price(total)
            assert any(math.fsum(t) > limit for t, limit in zip(together, limits, strict=True)), (
                "refused although it fits"
            )
        else:
            accepted.append(guarantee)
    for amounts, limit in zip(zip(*map(price, accepted), strict=True), price(total), strict=False):
        assert math.fsum(amounts) <= limit * (1.0 + 1e-12)
    assert [entry.guarantee for entry in account.ledger] == accepted


def test_threads_cannot_overspend_together():
    account = Accountant(PureDP(1.0))
    refused = []

    def spend():
        for _ in range(50):
            try:
                account.spend(PureDP(0.01), "thread")
            except errors.BudgetExceededError:
                refused.append(1)

    threads = [threading.Thread(target=spend) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(account.ledger) == 100
    assert len(refused) == 300


def test_context_manager_closes():
    with Accountant(PureDP(1.0)) as account:
        account.spend(PureDP(0.5), "inside")
    assert account.remaining == PureDP(0.5)
    with pytest.raises(errors.BudgetExceededError, match="closed"):
        account.spend(PureDP(0.1), "outside")
    assert len(account.ledger) == 1


def test_an_error_inside_is_not_swallowed():
    with pytest.raises(KeyError), Accountant(PureDP(1.0)):
        raise KeyError


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copies(duplicate):
    with pytest.raises(TypeError, match="double the budget"):
        duplicate(Accountant(PureDP(1.0)))


def test_the_relation_of_an_account():
    """Said by the total, or by the account; never twice in different words."""
    named = PureDP(1.0, adjacency="add-remove")
    assert Accountant(PureDP(1.0)).adjacency == "replace-one"
    assert Accountant(named).adjacency == "add-remove"
    for total in (PureDP(1.0), named):
        account = Accountant(total, adjacency="add-remove")
        assert (account.total, account.adjacency) == (named, "add-remove")
    assert Accountant(PureDP(1.0), adjacency="tests.Near").adjacency == "tests.Near"
    for other in ("replace-one", "replace-user"):
        with pytest.raises(errors.InvalidBudgetError, match="about add-remove data sets"):
            Accountant(named, adjacency=other)
    for bad in ("", "  ", 1, b"add-remove"):
        with pytest.raises(errors.InvalidBudgetError, match="adjacency must name"):
            Accountant(PureDP(1.0), adjacency=bad)


@pytest.mark.parametrize("charge", ["spend", "reserve"])
@pytest.mark.parametrize(
    ("total", "asked"),
    [
        (GDP(1.0), GDP(0.5, adjacency="add-remove")),
        (GDP(1.0, adjacency="add-remove"), GDP(0.5)),
        (ApproxDP(1.0, 1e-6, adjacency="replace-user"), PureDP(0.5, adjacency="add-remove")),
        (PureDP(1.0), PureDP(0.5, adjacency="replace-user")),
    ],
)
def test_an_account_mixes_no_relations(total, asked, charge):
    account = Accountant(total)
    right = asked.under(total.adjacency)
    account.spend(right, "first")
    spent = account.spent
    with pytest.raises(errors.UnsupportedNeighboursError, match=asked.adjacency) as error:
        getattr(account, charge)(asked, "second")
    assert total.adjacency in str(error.value)
    assert (account.spent, len(account.ledger)) == (spent, 1)
    getattr(account, charge)(asked.under(total.adjacency).split(4), "third")
    for held in (account.spent, account.remaining, *(entry.guarantee for entry in account.ledger)):
        assert held.adjacency == total.adjacency


def test_a_reservation_mixes_no_relations():
    account = Accountant(GDP(2.0), adjacency="add-remove")
    budget = ApproxDP(0.5, 1e-6, adjacency="add-remove")
    shared = adds_up(budget, 3)
    reserved = Accountant(budget).reserve(budget, "search", shared)
    step = share_of(shared, 0.25)
    assert step.adjacency == "add-remove"
    reserved.spend(step, "one")
    with pytest.raises(errors.UnsupportedNeighboursError, match="replace-one"):
        reserved.spend(step.under("replace-one"), "another")
    assert reserved.left.adjacency == "add-remove"
    assert {entry.guarantee.adjacency for entry in reserved.entries} == {"add-remove"}
    with pytest.raises(errors.UnsupportedNeighboursError, match="replace-user"):
        account.reserve(GDP(0.5, adjacency="add-remove"), "search", GDP(0.4).under("replace-user"))
    assert account.spent is None
    assert within_total(GDP(1.0), [GDP(0.5)])
    assert not within_total(GDP(1.0), [GDP(0.5, adjacency="add-remove")])
    with pytest.raises(errors.UnsupportedNeighboursError, match="add-remove"):
        rest_of(GDP(1.0), [GDP(0.5, adjacency="add-remove")])


@pytest.mark.parametrize("total", [MeanCDP(0.1, 0.1), angle(math.pi), 1.0, None])
def test_bad_totals(total):
    with pytest.raises(errors.InvalidBudgetError):
        Accountant(total)


def test_bad_spends():
    account = Accountant(PureDP(1.0))
    with pytest.raises(errors.InvalidParameterError, match="privacy definition"):
        account.spend(0.1, "a number")
    with pytest.raises(errors.InvalidParameterError, match="label"):
        account.spend(PureDP(0.1), 3)
    assert repr(account) == f"Accountant(total={PureDP(1.0)}, remaining={PureDP(1.0)})"


class Counting(np.random.Generator):
    """Notices the first draw."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))
        self.before = self.bit_generator.state

    @property
    def untouched(self):
        return self.bit_generator.state == self.before


def test_a_refused_release_draws_nothing():
    ball = Ball(Euclidean(2), np.zeros(2), 1.0)
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2))
    account = Accountant(PureDP(1.0))
    generator = Counting()
    private_mean(points, ball, PureDP(0.6), accountant=account, generator=generator)
    assert not generator.untouched
    generator = Counting()
    with pytest.raises(errors.BudgetExceededError, match=r"0\.6.*0\.4"):
        private_mean(points, ball, PureDP(0.6), accountant=account, generator=generator)
    assert generator.untouched
    assert len(account.ledger) == 1
    assert account.ledger[0].label.startswith("private_mean")


@pytest.mark.parametrize(
    "total",
    [GDP(1e-170), GDP(5e-324), GDP(1e200), parametric(1e-170), angle(1e-170), PureDP(1e-300)],
)
def test_a_total_that_float64_cannot_add_up_is_refused(total):
    with pytest.raises(errors.InvalidBudgetError, match="too small or too large"):
        Accountant(total)


def test_what_underflows_is_not_free():
    account = Accountant(GDP(1.0))
    account.spend(GDP(1e-200), "tiny")
    assert account.spent is not None


@pytest.mark.parametrize(
    ("total", "spent"), [(GDP(1.0), GDP(1e200)), (parametric(1.0), parametric(1e200))]
)
def test_what_overflows_is_refused(total, spent):
    with pytest.raises(errors.BudgetExceededError):
        Accountant(total).spend(spent, "x")


@pytest.mark.parametrize("largest", [1e308, 1.7976931348623157e308])
def test_sums_beyond_float64_are_refused(largest):
    account = Accountant(PureDP(largest))
    account.spend(PureDP(1e308), "first")
    with pytest.raises(errors.BudgetExceededError):
        account.spend(PureDP(1e308), "second")


def test_arrays_get_into_no_message():
    data = np.array([0.125, 0.375])
    account = Accountant(PureDP(1.0))
    for call in (
        lambda: Accountant(PureDP(1.0), adjacency=data),
        lambda: Accountant(data),
        lambda: account.spend(data, "x"),
        lambda: account.spend(PureDP(0.1), data),
    ):
        with pytest.raises(errors.InvalidParameterError, match="ndarray") as caught:
            call()
        assert "0.125" not in str(caught.value)


@pytest.mark.parametrize("theta", [1e-3, 1.3, 1.5, 2.8, 3.1, 3.14, 3.14159])
def test_the_price_of_an_angle_keeps_its_digits(theta):
    with mpmath.workdps(40):
        exact = float(-mpmath.log(mpmath.cos(mpmath.mpf(theta) / 2)))
    (price,) = angle(theta).price()
    assert price == pytest.approx(exact, rel=4e-15)


def test_an_angle_of_pi_is_no_total_however_it_was_computed():
    computed = 2.0 * math.asin(1.0)
    assert computed == math.pi
    assert computed is not math.pi
    with pytest.raises(errors.InvalidBudgetError, match="allows everything"):
        Accountant(angle(computed))


@dataclasses.dataclass(frozen=True)
class Priced(PureDP):
    """Another definition, with the price that it says."""

    asked: object = (1.0, 0.5)

    def price(self):
        return self.asked

    def total(self, prices):
        return Priced(1.0, tuple(prices))

    def implied_by(self, guarantee):
        return guarantee


@pytest.mark.parametrize(
    "asked",
    [(), None, 1.0, "12", (1.0, -0.5), (1.0, math.nan), (1.0, "x"), (1.0, None), (math.nan, 1.0),
     (-1.0, 1.0), (True, 1.0), (1.0, math.inf), (math.inf, 1.0)],
    ids=str,
)  # fmt: skip
def test_a_price_is_finite_amounts(asked):
    with pytest.raises(InvalidBudgetError, match=r"pric|add"):
        Accountant(Priced(1.0, asked))


@pytest.mark.parametrize(
    "asked",
    [(), None, 0.1, "12", (0.1,), (0.1, 0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, math.nan),
     (math.nan, 0.1), (0.1, "x"), (0.1, None)],
    ids=str,
)  # fmt: skip
def test_nothing_is_given_back_by_a_spend(asked):
    account = Accountant(Priced(1.0))
    with pytest.raises(InvalidBudgetError, match="price") as raised:
        account.spend(Priced(1.0, asked), "wrong")
    length = len(asked) if isinstance(asked, tuple) else 0
    assert ("a tuple of 2, as of its total" in str(raised.value)) == (length != 2)
    assert account.ledger == ()
    account.spend(Priced(1.0, (0.5, 0.0)), "right")
    assert account.spent.asked == (0.5, 0.0)


@pytest.mark.parametrize("asked", [(math.inf, 0.1), (0.1, math.inf)])
def test_a_price_without_end_is_over_every_limit(asked):
    with pytest.raises(BudgetExceededError):
        Accountant(Priced(1.0)).spend(Priced(1.0, asked), "all")


def test_its_text_lists_what_was_spent_and_is_left():
    account = Accountant(GDP(2.0))
    assert "releases  none" in str(account)
    for k in range(25):
        account.spend(GDP(1.0 / 3.0), f"mean {k}")
    lines = str(account).splitlines()
    assert lines[0] == "Account of GDP(mu=2.0), replace-one; 1e-12 of it more for rounding"
    assert lines[1].split()[-1] == str(account.spent) == "GDP(mu=1.667)"
    assert lines[2].split()[-1] == str(account.remaining)
    assert "the last 20 of 25" in lines[3]
    assert lines[-1].endswith("GDP(mu=0.3333): mean 24")
    assert "mean 4" not in str(account)
    assert "mean 24" in account._repr_html_()
    assert repr(account).startswith("Accountant(total=GDP(mu=2.0), remaining=GDP(mu=1.1055")
