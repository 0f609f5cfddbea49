"""Every combination of options works, or says before it costs anything what does."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    Chunks,
    Records,
    ReleaseFailedError,
    RiemdpError,
    SPDLogEuclidean,
    Sphere,
    private_ball,
    private_mean,
    private_means,
    private_moments,
    private_statistic,
)
from riemdp.ledger import Ledger
from riemdp.statistics import GeometricMedian

N = 80
BUDGET = GDP(2.0)
BALLS = {
    "spd": Ball(SPDLogEuclidean(3), np.eye(3), 1.0),
    "sphere": Ball(Sphere(2), [0.0, 0.0, 1.0], 1.0),
}
POINTS = {
    name: ball.point(np.random.default_rng(0).normal(0.0, 0.2, (N, ball.manifold.dim)))
    for name, ball in BALLS.items()
}
WEIGHTS = np.linspace(0.5, 1.0, N)
USERS = np.arange(N) // 2
#: Noise about the Fréchet mean itself.
INTRINSIC = {"spd": "riemannian-gaussian", "sphere": "wrapped-gaussian"}
MEANS = ("mean", "frechet", "refined", "adapted")
CALLS = (*MEANS, "median", "median on a found ball", "moments", "recentred moments", "groups")
STREAMS = ("chunks", "iterator", "function")


@dataclass(frozen=True)
class Case:
    space: str
    call: str
    adjacency: str
    users: bool
    weights: str
    source: str
    account: str
    inside: bool = False  # whether weights and users come with the records
    stated: bool | None = None  # whether n is given
    counted: bool | None = None  # whether the number of people is
    # options that messages name
    sized: bool = False
    parted: bool = False  # whether nobody is in two chunks, as is said
    contribution: int = 1
    paid: str = ""  # adjacency of the account

    @property
    def relation(self):
        if self.users and self.adjacency == "unsaid":
            return "replace-user" if self.with_people else "add-remove-user"
        if self.users:
            return {"replace-one": "replace-user", "add-remove": "add-remove-user"}[self.adjacency]
        return "replace-one" if self.adjacency == "unsaid" else self.adjacency

    @property
    def with_n(self):
        needed = self.relation == "replace-one" and self.source in STREAMS
        return needed if self.stated is None else self.stated

    @property
    def with_people(self):
        needed = self.users and self.adjacency == "replace-one"
        return needed if self.counted is None else self.counted


def records_of(case, file, rows):
    """Points, or records, of some rows, as the source has them."""
    extras = {}
    if case.inside:
        extras |= {"weights": WEIGHTS} if case.weights != "no" else {}
        extras |= {"users": USERS} if case.users else {}

    def some(place, points=POINTS[case.space]):
        beside = {name: values[place] for name, values in extras.items()}
        return Records(points[place], **beside) if extras else points[place]

    if case.source == "array":
        return some(rows)
    if case.source == "memmap":
        return some(rows, np.load(file, mmap_mode="r"))
    step = (rows.stop - rows.start) // 4
    parts = [some(slice(start, start + step)) for start in range(rows.start, rows.stop, step)]
    sizes = {"n": rows.stop - rows.start, "sizes": step} if case.sized else {}
    if case.parted:
        of = {"chunks": parts, "function": lambda: iter(parts), "iterator": iter(parts)}
        return Chunks(of[case.source], by_person=True)
    if case.source == "chunks":
        return Chunks(parts, **sizes)
    if case.source == "function":
        return Chunks(lambda: iter(parts), n=rows.stop - rows.start, **sizes and {"sizes": step})
    return Chunks(iter(parts), **sizes) if sizes else iter(parts)


def options_of(case):
    """Keywords of a call on all records."""
    found = {}
    if case.adjacency != "unsaid":
        found["adjacency"] = case.adjacency
    if case.with_n:
        found["n"] = N
    if case.with_people:
        found["people"] = N // 2
    if case.users and not case.inside:
        found["users"] = USERS
    if case.contribution != 1:
        found["contribution"] = case.contribution
    if case.weights != "no" and not case.inside:
        found["weights"] = WEIGHTS
    if case.weights == "private":
        found["private_weights"] = True
    return found


def released(case, account, file):
    """Make the release; return whether it was charged for when it failed, and the error."""
    records, options = records_of(case, file, slice(0, N)), options_of(case)
    ball, paid = BALLS[case.space], {"accountant": account}
    if case.call == "median on a found ball":
        found = private_ball(records, ball, BUDGET, **paid)
        left = found.left
        try:
            private_statistic(
                GeometricMedian(steps=2), records_of(case, file, slice(0, N)), found, **options
            )
        except RiemdpError as error:
            return found.left != left, error
        return False, None
    if case.call == "groups":
        halves = {"a": slice(0, N // 2), "b": slice(N // 2, N)}
        records = {name: records_of(case, file, rows) for name, rows in halves.items()}
        for name in options.keys() & {"n", "people"}:
            options[name] = dict.fromkeys(halves, options[name] // 2)
        if "users" in options:
            options["users"] = {name: USERS[rows] for name, rows in halves.items()}
    call = {
        "mean": private_mean,
        "frechet": functools.partial(private_mean, mechanism=INTRINSIC[case.space]),
        "tangent": functools.partial(private_mean, mechanism="tangent-gaussian"),
        "refined": functools.partial(private_mean, method="refined"),
        "adapted": functools.partial(private_mean, method="adaptive"),
        "median": functools.partial(private_statistic, GeometricMedian(steps=2)),
        "moments": private_moments,
        "recentred moments": functools.partial(private_moments, base="recentred"),
        "groups": private_means,
    }[case.call]
    try:
        call(records, ball, BUDGET, **paid, **options)
    except RiemdpError as error:
        spent = account is not None and account.spent is not None
        return spent or isinstance(error, ReleaseFailedError), error
    return False, None


#: What messages advise, as a change of options.
ADVICE = {
    r"leave out weights and private_weights": lambda _: {"weights": "no"},
    r"up to contribution=": lambda _: {"weights": "no", "contribution": 2},
    r"leave out weights$": lambda _: {"weights": "no"},
    r"private_weights=True, or release": lambda _: {"weights": "private"},
    r"or release for replace-one": lambda _: {"adjacency": "replace-one"},
    r"say whether .*, private_weights=True": lambda _: {"weights": "private"},
    r"give public ones as an argument": lambda _: {"inside": False},
    r"Chunks\(parts, n=\.\.\., sizes=\.\.\.\)": lambda _: {"sized": True},
    r"with each chunk: Records\(points, weights": lambda _: {"inside": True},
    r"leave out method=.adaptive.": lambda _: {"call": "mean"},
    r"give an array": lambda _: {"source": "array"},
    r"or a memory map of one": lambda _: {"source": "memmap"},
    r"by_person=True\)": lambda _: {"inside": True, "parted": True, "sized": False},
    r"make one record of each person's": lambda _: {
        "users": False,
        "parted": False,
        "counted": None,
        "contribution": 1,
    },
    r"give people=|their number, where it is public": lambda _: {"counted": True},
    r"leave out n, and state the number of people": lambda _: {"stated": False, "counted": None},
    r"leave out people": lambda _: {"counted": False},
    r"or ask for add-remove": lambda _: {"adjacency": "add-remove", "counted": None},
    r"or ask for replace-one": lambda _: {"adjacency": "replace-one"},
    r"Chunks\(function, n=\.\.\.\)": lambda _: {"source": "function"},
    r"the tangent mean": lambda _: {"call": "tangent"},
    r"use replace-one neighbours": lambda _: {"adjacency": "replace-one", "counted": None},
    r"release without one": lambda _: {"account": "none"},
    r'Accountant\(total, adjacency="([a-z-]+)"\)': lambda m: {"account": "memory", "paid": m[1]},
    r"release on the public ball": lambda _: {"public": True},
    r"under replace-one without users": lambda _: {
        "adjacency": "replace-one",
        "users": False,
        "parted": False,
    },
    r"search under the adjacency of the release: private_mean": lambda _: {"call": "adapted"},
    r"give the public number of .*n=\.\.\.": lambda _: {"stated": True},
    r"leave them out": lambda _: {"weights": "no", "inside": False},
    r"leave out n$": lambda _: {"stated": False},
}
PUBLIC = {"adapted": "mean", "median on a found ball": "median"}


def advised(case, message):
    """Return what a message advises in place of a case."""
    for pattern, change in ADVICE.items():
        if found := re.search(pattern, message):
            changes = change(found)
            if changes.pop("public", False):
                changes["call"] = PUBLIC[case.call]
            yield replace(case, **changes)


class Follower:
    """Runs cases, and what their messages advise, each once."""

    def __init__(self, folder):
        self.ledger, self.folder = Ledger(folder / "ledger.db"), folder
        self.numbers, self.known = itertools.count(), {}
        for name, points in POINTS.items():
            np.save(folder / f"{name}.npy", points)

    def account(self, case):
        if case.account == "none":
            return None
        if case.account == "memory":
            return Accountant(GDP(9.0), adjacency=case.paid)
        name = f"data {next(self.numbers)}"
        return self.ledger.register(name, GDP(9.0), unit="person", adjacency=case.paid)

    def outcome(self, case, before=()):
        """Return "works" or "refused"; whatever is advised has to lead to what works."""
        assert case not in before, f"a circle: {before}"
        if case not in self.known:
            late, error = self.released(case)
            assert not late, f"charged, and then: {error!r}, {case}"
            others = [] if error is None else list(advised(case, str(error)))
            assert error is None or others, f"no advice: {error}, {case}"
            for other in others:
                assert other != case, f"advice that changes nothing: {error}, {case}"
                self.outcome(other, (*before, case))
            self.known[case] = "works" if error is None else "refused"
        return self.known[case]

    def released(self, case):
        account = self.account(case)
        try:
            return released(case, account, self.folder / f"{case.space}.npy")
        except RiemdpError as error:  # a search for a ball
            return account is not None and account.spent is not None, error


def cases(space, call, account):
    grid = itertools.product(
        ("replace-one", "add-remove"),
        (False, True),
        ("no", "public", "private"),
        ("array", "memmap", "chunks", "iterator"),
        (False, True),
    )
    for adjacency, users, weights, source, inside in grid:
        case = Case(space, call, adjacency, users, weights, source, account, inside)
        # what others than means take as an argument, and what an iterator will bring
        if weights != "no" and call not in MEANS and (not inside or weights == "private"):
            continue
        if inside and (source == "iterator" or not (users or weights != "no")):
            continue
        if inside and account == "none":  # as with an account that lasts no longer than this
            continue
        case = replace(case, paid=case.relation)
        yield case
        if account == "memory" and weights == "no" and not inside:
            yield replace(case, stated=not case.with_n)
            if users:
                yield replace(case, counted=not case.with_people)


@pytest.mark.fast("ledger-groups-spd")
@pytest.mark.parametrize("space", BALLS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("account", ["none", "memory", "ledger"])
def test_combinations_work_or_say_before_the_charge_what_does(space, call, account, tmp_path):
    follower = Follower(tmp_path)
    found = Counter(map(follower.outcome, cases(space, call, account)))
    print(space, call, account, dict(found))
    assert found["works"] > 0
