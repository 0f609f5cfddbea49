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
        assert Fraction(sums[0], 2**1074) == sum(map(Fraction, amounts))
        assert module._rounded(sums[0]) == math.fsum(amounts)
        signed = [amount * source.choice((-1.0, 1.0)) for amount in amounts]
        assert module._rounded(sum(map(module._exact, signed))) == math.fsum(signed)
    assert module._rounded(module._exact(1.7e308) * 2) == math.inf


def by_lists(total, limits, amounts, price):
    """The decision as it was first written: a list of all prices, summed anew each time."""
    for before, more, limit in zip(amounts, price, limits, strict=True):
        spent = math.fsum([*before, more])
        if not (spent < math.inf and spent <= limit * (1.0 + 1e-12)):
            return False
    return True


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.fast("pure", "approx", "gdp", "angle")
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
            allowed = by_lists(total, filter_.limits, amounts, price)
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
                    before.append(more)
            assert filter_.spent(sums) == account.spent
            assert filter_.remaining(sums) == account.remaining
            rest = tuple(
                math.fsum([limit, *(-one for one in before)])
                for limit, before in zip(filter_.limits, amounts, strict=True)
            )
            rest = tuple(
                r if r > 1e-12 * m else 0.0 for r, m in zip(rest, filter_.limits, strict=True)
            )
            assert filter_.remaining(sums) == total.total(rest)
            assert filter_.spent(sums) == total.total(tuple(map(math.fsum, amounts)))
    assert passed > 100
    assert refused > 20


def test_the_edge_is_where_it_says():
    filter_ = Filter(PureDP(1.0))
    for count in (3, 7, 10, 49):
        sums = filter_.nothing
        for _ in range(count):
            sums = filter_.charged(sums, (1.0 / count,))
            assert sums is not None
    full = added(filter_.nothing, (1.0,))
    assert filter_.charged(full, (0.9e-12,)) is not None
    assert filter_.charged(full, (1.1e-12,)) is None
    assert filter_.charged(filter_.nothing, (math.inf,)) is None
    assert filter_.covers(full)
    assert not filter_.covers(added(full, (1.1e-12,)))


def test_nothing_is_free():
    filter_ = Filter(GDP(1.0))
    assert filter_.price(GDP(1e-200)) == (5e-324,)
    assert filter_.charged(filter_.nothing, (5e-324,)) == (1,)


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
