"""The arithmetic that every account decides with, against sums of floats as they are."""

import math
import random
from fractions import Fraction

import pytest

from riemdp import _errors as errors
from riemdp.privacy import (
    GDP,
    KLDP,
    RDP,
    ZCDP,
    Accountant,
    ApproxDP,
    Filter,
    PureDP,
    RaoDP,
    added,
)
from riemdp.privacy import _filter as module

TOTALS = {
    "pure": (PureDP(1.0), PureDP),
    "approx": (ApproxDP(1.0, 1e-6), lambda r: ApproxDP(r, 1e-6 * r)),
    "gdp": (GDP(1.0), lambda r: GDP(math.sqrt(r))),
    "zcdp": (ZCDP(0.3, xi=0.1), lambda r: ZCDP(0.3 * r, xi=0.1 * r)),
    "rdp": (RDP(4.0, 0.7), lambda r: RDP(4.0, 0.7 * r)),
    "kl": (KLDP(0.1), lambda r: KLDP(0.1 * r)),
    "angle": (
        RaoDP(2.0, distance="angle"),
        lambda r: RaoDP(2.0 * math.acos(math.cos(1.0) ** r), distance="angle"),
    ),
    "parametric": (
        RaoDP(1.0, distance="parametric"),
        lambda r: RaoDP(math.sqrt(r), distance="parametric"),
    ),
}


def floats(source, count):
    """Floats of all magnitudes, with many ties and carries among their sums."""
    plain = (0.1, 1.0, 2.0**-53, 5e-324, 1e-310, 2.0**-1022, 1.0 + 2.0**-52)
    for _ in range(count):
        wide = math.ldexp(source.random(), source.randrange(-1073, 900))
        yield source.choice((source.choice(plain), source.random(), wide))


def test_sums_are_exact_and_rounded_once_like_fsum():
    source = random.Random(1)
    for _ in range(3000):
        amounts = list(floats(source, source.randrange(1, 14)))
        sums = (0,)
        for amount in amounts:
            sums = added(sums, (amount,))
        assert Fraction(sums[0], 2**2148) == sum(map(Fraction, amounts))
        assert module._rounded(sums[0]) == math.fsum(amounts)
        signed = [amount * source.choice((-1.0, 1.0)) for amount in amounts]
        assert module._rounded(sum(map(module._exact, signed))) == math.fsum(signed)
    assert module._rounded(module._exact(1.7e308) * 2) == math.inf


def test_fractions_are_exact_or_rounded_up():
    for value in (0.1, 5e-324, 1.7e308, 1.0 + 2.0**-52):
        assert Fraction(module._exact(Fraction(value) ** 2), 2**2148) == Fraction(value) ** 2
    third = Fraction(module._exact(Fraction(1, 3)), 2**2148)
    assert Fraction(1, 3) < third < Fraction(1, 3) + Fraction(1, 2**2148)


def by_lists(limits, amounts, price):
    """The decision as its rule says it: a list of all prices, summed anew each time."""
    for before, more, limit in zip(amounts, price, limits, strict=True):
        spent, slack = sum(before), Fraction(limit) / 10**12
        if more and not Fraction(limit) - spent > slack:
            return False
        if spent + Fraction(more) > Fraction(limit) + slack:
            return False
    return True


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.fast("pure", "approx")
def test_decisions_and_balances_are_those_of_lists(name):
    total, guarantee = TOTALS[name]
    source = random.Random(name)
    refused = passed = 0
    for _ in range(60):
        account, filter_ = Accountant(total), Filter(total)
        sums, amounts = filter_.nothing, tuple([] for _ in filter_.limits)
        shares = source.choice((3, 7, 10, 24))
        for step in range(shares + 3):
            share = source.choice((1.0, 1.0, 1.0, source.random(), 1e-9)) / shares
            asked = guarantee(share)
            price = filter_.price(asked)
            allowed = by_lists(filter_.limits, amounts, price)
            after = filter_.charged(sums, price)
            assert (after is not None) == allowed
            try:
                account.spend(asked, f"{step}")
            except errors.BudgetExceededError:
                assert not allowed
                refused += 1
            else:
                assert allowed
                passed += 1
                sums = after
                for before, more in zip(amounts, price, strict=True):
                    before.append(Fraction(more))
            spent, left = account.spent, account.remaining
            assert (filter_.spent(sums), filter_.remaining(sums)) == (spent, left)
            exact = [*map(sum, amounts)]
            paid = [0] * len(exact) if spent is None else [*map(Fraction, total.price_of(spent))]
            assert all(one <= most for one, most in zip(exact, paid, strict=True))
            assert paid == pytest.approx(exact, rel=1e-13)
            if left is None:
                assert exact[0] >= Fraction(filter_.limits[0]) * (1 - Fraction(1, 10**12))
                continue
            rest = [Fraction(limit) - one for limit, one in zip(filter_.limits, exact, strict=True)]
            more = [*map(Fraction, total.price_of(left))]
            assert left == total or all(
                one + other <= limit
                for one, other, limit in zip(paid, more, filter_.limits, strict=True)
            )
            assert more == pytest.approx(rest, rel=1e-12, abs=1e-14)
    assert passed > 100
    assert refused > 20


def test_the_edge_is_where_it_says():
    filter_ = Filter(PureDP(1.0))
    for count in (3, 7, 10, 49):
        sums = filter_.nothing
        for _ in range(count):
            sums = filter_.charged(sums, (1.0 / count,))
            assert sums is not None
        assert filter_.remaining(sums) is None
        assert filter_.charged(sums, (9e-13,)) is None
    nearly = added(filter_.nothing, (1.0 - 1.1e-12,))
    assert filter_.charged(nearly, (2e-12,)) is not None
    assert filter_.charged(nearly, (2.2e-12,)) is None
    assert filter_.charged(added(filter_.nothing, (1.0 - 0.9e-12,)), (5e-324,)) is None
    assert filter_.charged(filter_.nothing, (math.inf,)) is None
    assert filter_.covers(added(added(filter_.nothing, (1.0,)), (0.9e-12,)))
    assert not filter_.covers(added(added(filter_.nothing, (1.0,)), (1.1e-12,)))


def test_what_costs_nothing_of_a_limit_passes_when_that_is_reached():
    filter_ = Filter(ZCDP(1.0, xi=0.5))
    sums = filter_.charged(filter_.nothing, (0.25, 0.5))
    assert filter_.charged(sums, (0.25, 0.0)) is not None
    assert filter_.charged(sums, (0.25, 5e-324)) is None
    assert filter_.remaining(sums) == ZCDP(0.75)


def test_nothing_is_free():
    filter_ = Filter(GDP(1.0))
    assert filter_.price(GDP(1e-200)) == (5e-324,)
    assert filter_.charged(filter_.nothing, (5e-324,)) == (2**1074,)
    assert Filter(RaoDP(1.0, distance="angle")).price(RaoDP(1e-200, distance="angle")) == (5e-324,)


def test_a_decision_takes_as_long_after_many_charges(effort):
    def spend(account, count):
        for _ in range(count):
            account.spend(PureDP(2.0**-20), "x")

    few = effort(lambda: [spend(Accountant(PureDP(1.0)), 50) for _ in range(20)], rounds=3)
    account = Accountant(PureDP(1.0))
    spend(account, 8000)
    many = effort(lambda: spend(account, 1000), rounds=2)
    assert many < 6.0 * few  # lists of all prices took 20 times as long
    assert account.spent == PureDP(10_000 * 2.0**-20)


@pytest.mark.parametrize("total", [1.0, None, PureDP(1e-300), RaoDP(math.pi, distance="angle")])
def test_what_limits_nothing_is_no_total(total):
    with pytest.raises(errors.InvalidBudgetError):
        Filter(total)
