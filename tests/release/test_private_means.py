"""Disjoint groups: one account entry, whole budgets, and who is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    RDP,
    Accountant,
    ApproxDP,
    Ball,
    BudgetExceededError,
    Euclidean,
    InvalidParameterError,
    NotAttainableError,
    NotOnManifoldError,
    PrivateMeans,
    PureDP,
    Records,
    ReleaseFailedError,
    RiemdpError,
    Sphere,
    UnsupportedNeighboursError,
    private_mean,
    private_means,
)
from riemdp.release._run import Ready
from riemdp.statistics import AddRemove, Groups, RefinedMean, ReplaceOne, ReplaceUser, weighted

PLANE = Ball(Euclidean(2), [0.0, 0.0], 2.0)


def groups(sizes=(30, 40, 50), seed=0, ball=PLANE):
    rng = np.random.default_rng(seed)
    return {f"g{k}": ball.point(rng.normal(0.1 * k, 0.3, (n, ball.manifold.dim)))
            for k, n in enumerate(sizes)}  # fmt: skip


class Ledger:
    """An account that takes everything and remembers it."""

    def __init__(self):
        self.entries = []

    def spend(self, guarantee, label):
        self.entries.append((guarantee, label))


def test_five_means_spend_the_budget_of_one():
    with Accountant(PureDP(1.0)) as account:
        means = private_means(groups((20,) * 5), PLANE, PureDP(1.0), accountant=account)
        assert account.remaining is None
        assert [entry.guarantee for entry in account.ledger] == [PureDP(1.0)]
        with pytest.raises(BudgetExceededError):
            private_mean(groups()["g0"], PLANE, PureDP(1e-6), accountant=account)
    assert means.guarantee == PureDP(1.0)
    assert {release.guarantee for release in means.values()} == {PureDP(1.0)}
    assert (means.private, means.proven) == (True, True)
    assert all(found.passed for found in means.verify().values())
    # by themselves they are five releases
    with Accountant(PureDP(1.0)) as account:
        private_mean(groups((20,) * 5)["g0"], PLANE, PureDP(1.0), accountant=account)
        with pytest.raises(BudgetExceededError):
            private_mean(groups((20,) * 5)["g1"], PLANE, PureDP(1.0), accountant=account)


@pytest.mark.parametrize("ball", [PLANE, Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)], ids=str)
def test_each_group_is_released_as_by_itself(ball):
    data = groups(ball=ball)
    source = np.random.default_rng(7)
    means = private_means(data, ball, GDP(0.5), generator=np.random.default_rng(7))
    for name, points in data.items():
        assert means[name] == private_mean(points, ball, GDP(0.5), generator=source)
    assert not means.private
    assert any("seeded" in warning for warning in means.warnings)
    assert "  note " in str(means)
    assert list(means) == list(data) == list(means.names)
    np.testing.assert_array_equal(means.means[1], means["g1"].value)
    assert means.releases == dict(means)
    assert [release.n for release in means.values()] == [30, 40, 50]
    again = PrivateMeans.from_json(means.to_json())
    assert again.to_json() == means.to_json()
    assert again == PrivateMeans.from_json(means.to_json())
    assert hash(again) == hash(PrivateMeans.from_json(means.to_json()))
    assert again != means["g0"]


# Who is refused


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_equal_rows_of_two_groups_are_records_of_two_people(relation):
    """Discrete data have equal rows: that there are some must not show, at no charge."""
    data = {"a": np.eye(2)[[0, 1, 1]], "b": np.eye(2)[[1, 1, 0]]}
    ledger = Accountant(GDP(1.0), adjacency=relation)
    private_means(data, PLANE, GDP(1.0), adjacency=relation, accountant=ledger)
    ids = {"a": ["ann", "bob", "cyd"], "b": ["bob", "dan", "eve"]}
    with pytest.raises(InvalidParameterError, match="row 0 of group 'b' is of the same person"):
        private_means(data, PLANE, GDP(1.0), ids=ids)


def test_equal_rows_in_one_group_pass():
    data = groups()
    data["g1"][:] = data["g1"][0]
    private_means(data, PLANE, GDP(1.0))


def test_arrays_that_share_memory_are_refused():
    series = np.linspace(-1.0, 1.0, 40)
    windows = np.lib.stride_tricks.sliding_window_view(series, 2)
    with pytest.raises(InvalidParameterError, match="'a' and 'b' share memory"):
        private_means({"a": windows[::2], "b": windows[1::2]}, PLANE, GDP(1.0))
    rows = np.stack([series, series**3], axis=-1)
    private_means({"a": rows[:10], "b": rows[10:]}, PLANE, GDP(1.0))
    private_means({"a": rows[::2], "b": rows[1::2]}, PLANE, GDP(1.0))
    account = Accountant(GDP(1.0))  # by how arrays lie in memory alone: before the charge
    with pytest.raises(InvalidParameterError, match="'a' and 'b' share memory"):
        private_means({"a": rows[:20], "b": rows[19:]}, PLANE, GDP(1.0), accountant=account)
    copies = {"a": windows[::2].copy(), "b": windows[1::2].copy()}
    private_means(copies, PLANE, GDP(1.0), accountant=account)  # nothing was charged


def test_ids_that_records_bring_say_who_is_who():
    def records(**ids):
        return {name: Records(np.full((2, 2), 0.25), ids=own) for name, own in ids.items()}

    account = Ledger()
    with pytest.raises(
        InvalidParameterError, match="row 0 of group 'b' is of the same person"
    ) as e:
        private_means(records(a=["ann", "bob"], b=["bob", "cyd"]), PLANE, GDP(1.0))
    assert "bob" not in str(e.value)
    with pytest.raises(InvalidParameterError, match="group 'b' have no ids"):
        private_means(records(a=["ann", "bob"], b=None), PLANE, GDP(1.0), accountant=account)
    assert account.entries == []
    # equal rows of different people
    private_means(records(a=["ann", "bob"], b=["cyd", "dan"]), PLANE, GDP(1.0))
    # what is given beside them counts: these number the records of each group
    numbers = records(a=[0, 1], b=[0, 1])
    private_means(numbers, PLANE, GDP(1.0), ids={"a": ["ann", "bob"], "b": ["cyd", "dan"]})


@pytest.mark.parametrize("what", ["ids", "users"])
def test_what_is_opened_late_says_who_is_who(what):
    def records(first, second):
        rows = np.full((2, 2), 0.25)
        return {
            "a": Records(lambda: rows, **{what: lambda: first}),
            "b": Records(lambda: rows, **{what: lambda: second}),
        }

    account, n = Accountant(GDP(9.0)), {"a": 2, "b": 2}
    apart, together = records(["ann", "bob"], ["cyd", "dan"]), records(["ann", "bob"], ["bob", "x"])
    n = n if what == "ids" else None
    private_means(apart, PLANE, GDP(1.0), n=n)
    with pytest.raises(InvalidParameterError, match="nobody may be in two groups"):
        private_means(together, PLANE, GDP(1.0), n=n)
    if what == "ids":
        private_means(apart, PLANE, GDP(1.0), accountant=account, n=n)
        with pytest.raises(ReleaseFailedError):
            private_means(together, PLANE, GDP(1.0), accountant=account, n=n)
        beside = {name: Records(each.points) for name, each in apart.items()}
        private_means(beside, PLANE, GDP(1.0), ids={"a": [1, 2], "b": [3, 4]}, n=n)


def test_ids_say_who_is_who():
    data = groups((3, 4))
    data["g0"][0] = data["g1"][0]  # of two people
    ids = {"g0": [1, 2, "1"], "g1": np.array([3, 4, 5, 6])}
    means = private_means(data, PLANE, GDP(1.0), ids=ids)
    assert means.adjacency == "replace-one"
    with pytest.raises(
        InvalidParameterError, match=r"row 2 of group 'g1' is of the .* row 1 of group 'g0'"
    ):
        private_means(data, PLANE, GDP(1.0), ids={**ids, "g1": [3, 4, 2, 6]})
    with pytest.raises(InvalidParameterError, match=r"'g1': row 3 is of the same person as row 0"):
        private_means(data, PLANE, GDP(1.0), ids={**ids, "g1": [3, 4, 5, 3]})
    for wrong in ([1, 2], [1.5, 2, 3], 3):
        with pytest.raises(InvalidParameterError, match="group 'g0'"):
            private_means(data, PLANE, GDP(1.0), ids={**ids, "g0": wrong})
    for wrong in ({"g0": ids["g0"]}, ids["g0"], {**ids, "x": [1]}):
        with pytest.raises(InvalidParameterError, match="ids must"):
            private_means(data, PLANE, GDP(1.0), ids=wrong)


def test_people_with_many_records_are_in_one_group():
    data = groups((6, 4))
    users = {"g0": [1, 1, 2, 2, 2, 3], "g1": ["1", "1", 4, 5]}
    people = {"g1": 4, "g0": 3}
    means = private_means(data, PLANE, GDP(1.0), users=users, people=people)
    assert means.adjacency == "replace-user"
    assert means.guarantee == GDP(1.0, adjacency="replace-user")
    assert [release.n for release in means.values()] == [3, 4]
    as_records = {name: Records(points, users=users[name]) for name, points in data.items()}
    private = private_means(as_records, PLANE, GDP(1.0))
    assert private.adjacency == "add-remove-user"
    assert [release.n for release in private.values()] == [None, None]
    assert private["g0"].sigma == private["g1"].sigma
    same = private_means(data, PLANE, GDP(1.0), ids=users, people=people, adjacency=ReplaceUser())
    assert same.adjacency == "replace-user"
    with pytest.raises(InvalidParameterError, match=r"row 3 of group 'g1' .* row 5 of group 'g0'"):
        private_means(data, PLANE, GDP(1.0), users={**users, "g1": ["1", "1", 4, 3]})
    with pytest.raises(InvalidParameterError, match="not both"):
        private_means(data, PLANE, GDP(1.0), users=users, ids=users)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"adjacency": "replace-one"}, "people="),
        ({"n": {"g0": 3, "g1": 3}}, "^group 'g0': .*leave out n"),
        ({"people": 3}, "people must be a mapping"),
        ({"people": {"g0": 3}}, "names of the groups"),
        ({"people": {"g0": 3, "g1": None}}, "^group 'g1': .*people="),
        ({"people": {"g0": 3, "g1": 0}}, "^group 'g1': people"),
        ({"people": {"g0": 3, "g1": 3}, "adjacency": "add-remove"}, "leave out people"),
        ({"people": {"g0": 3, "g1": 3}, "users": None}, "users="),
    ],
)
def test_people_of_groups_are_stated_and_not_counted(options, said):
    data = groups((6, 4))
    users = {"g0": [1, 1, 2, 2, 2, 3], "g1": ["1", "1", 4, 5]}
    with Accountant(GDP(1.0), adjacency="replace-user") as account:
        with pytest.raises(InvalidParameterError, match=said):
            private_means(data, PLANE, GDP(1.0), accountant=account, **{"users": users, **options})
        assert account.spent is None
    with pytest.raises(InvalidParameterError, match=r"^group 'g1': .*more people"):
        private_means(data, PLANE, GDP(1.0), users=users, people={"g0": 3, "g1": 2})


def test_people_may_count_for_several_records():
    data = groups((60, 40))
    users = {name: np.arange(len(x)) // 2 + 100 * len(x) for name, x in data.items()}
    people = {"g0": 30, "g1": 20}
    means = private_means(data, PLANE, GDP(2.0), users=users, people=people, contribution=2)
    alone = private_mean(data["g0"], PLANE, GDP(2.0), users=users["g0"], people=30, contribution=2)
    assert means["g0"].statistic == alone.statistic
    assert means["g0"].sigma == alone.sigma
    assert means["g0"].neighbours == ReplaceUser(contribution=2)
    options = {"users": users, "people": people, "contribution": 2, "method": "refined"}
    means = private_means(data, PLANE, GDP(2.0), **options)
    assert means["g0"].statistic == weighted(RefinedMean(), PLANE)
    with pytest.raises(InvalidParameterError, match="users="):
        private_means(data, PLANE, GDP(2.0), contribution=2)


# Relations


def test_sizes_are_private_where_records_are_added():
    data = groups((300, 400)) | {"nobody": np.empty((0, 2))}
    means = private_means(data, PLANE, GDP(1.0), adjacency="add-remove")
    assert {release.n for release in means.values()} == {None}
    assert means.guarantee == GDP(1.0, adjacency="add-remove")
    scales = {release.sigma for release in means.values()}
    assert len(scales) == 1
    assert means["g0"].neighbours == AddRemove()
    again = PrivateMeans.from_json(means.to_json())
    assert again.guarantee == means.guarantee
    np.testing.assert_array_equal(again.means, means.means)
    with pytest.raises(NotOnManifoldError, match="group 'nobody'"):
        private_means(data, PLANE, GDP(1.0))


def test_neighbours_in_several_groups_are_refused():
    with pytest.raises(UnsupportedNeighboursError, match="several groups"):
        private_means(groups(), PLANE, GDP(1.0), adjacency=Groups(2))


def test_groups_of_two_records_would_not_compose_in_parallel():
    """A replacement in each of two groups of one record costs twice what two in one group do."""
    mean = private_mean([[0.0, 0.0]], PLANE, GDP(1.0)).offer.last.query
    within_one = Groups(2).sensitivity(mean, PLANE, 1, "distance")
    in_each_of_two = np.hypot(*2 * [ReplaceOne().sensitivity(mean, PLANE, 1, "distance")])
    assert in_each_of_two > 1.4 * within_one


# Budgets


def test_the_entry_is_the_weakest_budget():
    ledger = Ledger()
    budget = {"g0": GDP(0.5), "g1": GDP(1.0), "g2": GDP(0.25)}
    means = private_means(groups(), PLANE, budget, accountant=ledger)
    assert [guarantee for guarantee, _ in ledger.entries] == [GDP(1.0)] == [means.guarantee]
    assert {name: release.guarantee for name, release in means.items()} == budget
    with pytest.raises(InvalidParameterError, match="does not follow"):
        replace(means, guarantee=GDP(0.99))
    assert replace(means, guarantee=GDP(1.1)).guarantee == GDP(1.1)
    assert PrivateMeans.from_json(replace(means, guarantee=GDP(1.1)).to_json()).guarantee.mu == 1.1


@pytest.mark.parametrize(
    "pair",
    [
        (ApproxDP(1.0, 1e-6), ApproxDP(0.5, 1e-5)),
        (GDP(1.0), PureDP(1.0)),
        (RDP(2.0, 1.0), RDP(4.0, 5.0)),
        (GDP(1.0), GDP(1.0, adjacency="add-remove")),
    ],
    ids=str,
)
def test_budgets_without_a_weakest_one_are_refused(pair):
    with pytest.raises(InvalidParameterError, match="none of these budgets"):
        private_means(groups((20, 20)), PLANE, dict(zip(("g0", "g1"), pair, strict=True)))


def test_nothing_is_charged_where_one_group_fails():
    ledger = Ledger()
    data = groups()
    for wrong in (np.zeros((0, 2)), np.zeros((3, 3))):
        with pytest.raises(NotOnManifoldError, match=r"^group 'g2': "):
            private_means({**data, "g2": wrong}, PLANE, GDP(1.0), accountant=ledger)
    with pytest.raises(NotOnManifoldError, match=r"^group 'g2': "):
        private_means({**data, "g2": np.full((3, 2), np.nan)}, PLANE, GDP(1.0))
    with pytest.raises(RiemdpError, match=r"^group 'g0': "):
        private_means(data, PLANE, GDP(1.0), mechanism="none", accountant=ledger)
    fits = private_mean(data["g2"], PLANE, GDP(1.0), mechanism="tangent-gaussian").mechanism
    with pytest.raises(NotAttainableError, match=r"^group 'g0': "):  # which is smaller
        private_means(data, PLANE, GDP(1.0), mechanism=fits, accountant=ledger)
    assert ledger.entries == []


def test_the_account_is_charged_before_anything_is_drawn(monkeypatch):
    def broken(*arguments):
        raise RuntimeError("drawn")

    monkeypatch.setattr(Ready, "release", broken)
    with Accountant(GDP(2.0)) as account:
        with pytest.raises(ReleaseFailedError):
            private_means(groups(), PLANE, GDP(1.0), accountant=account)
        assert account.spent == GDP(1.0)


def test_people_who_come_with_their_records_are_in_one_group_too():
    data = groups(sizes=(4, 4))
    apart = {name: [f"{name} {row // 2}" for row in range(4)] for name in data}
    shared = {"g0": ["a", "a", "b", "b"], "g1": ["c", "c", "d", "b"]}

    def with_people(whose):
        return {name: Records(rows, users=whose[name]) for name, rows in data.items()}

    assert private_means(with_people(apart), PLANE, GDP(1.0)).adjacency == "add-remove-user"
    with pytest.raises(InvalidParameterError, match="row 3 of group 'g1' is of the same person"):
        private_means(with_people(shared), PLANE, GDP(1.0))
