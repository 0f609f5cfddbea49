"""Releases that are charged to a ledger: what they carry, and what is said of one that fails."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

from riemdp import (
    GDP,
    Accountant,
    Ball,
    BudgetExceededError,
    ConvergenceError,
    DatasetClosedError,
    DatasetExistsError,
    DatasetMismatchError,
    Euclidean,
    InvalidParameterError,
    LedgerSchemaError,
    LedgerUnavailableError,
    NetworkFileSystemError,
    NotOnManifoldError,
    PrivateMeans,
    Records,
    Release,
    ReleaseFailedError,
    RiemdpError,
    Sphere,
    UnsupportedNeighboursError,
    check,
    private_ball,
    private_directional_summary,
    private_mean,
    private_means,
    private_moments,
    private_procrustes_mean,
    private_rotation_mean,
    private_statistic,
    private_variance,
    verify,
)
from riemdp._discreet import unlogged
from riemdp.ledger import Ledger, _file_systems
from riemdp.ledger import _schema as schema
from riemdp.ledger._tables import DATASETS, ENTRIES, TIPS
from riemdp.privacy import Anchor
from riemdp.research import ConformalLaplace
from riemdp.statistics import (
    AddRemove,
    AddRemoveUser,
    ClassMoments,
    FrechetMean,
    GeometricMedian,
    HuberMean,
    ReplaceOne,
    ReplacePoint,
    TangentMean,
    weighted,
)

PLANE = Ball(Euclidean(2), np.zeros(2), 2.0)
NORTH = Ball(Sphere(2), np.array([0.0, 0.0, 1.0]), 0.5)
BUDGET = GDP(0.1)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


@pytest.fixture
def account(ledger):
    return ledger.register("study", GDP(1.0), unit="person", adjacency="replace-one")


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(60, 2))


def near_north(number=60):
    found = np.random.default_rng(1).normal(size=(number, 3)) * 0.1 + [0.0, 0.0, 1.0]
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def size_of(ledger):
    """Rows of each table, as they lie there."""
    with ledger.backend.reading() as connection:
        return tuple(
            connection.exec_driver_sql(f"SELECT count(*) FROM {table.name}").scalar_one()
            for table in (DATASETS, ENTRIES, TIPS)
        )


# ------------------------------------------------------------------------------------- anchors


def test_a_release_carries_its_charge_and_keeps_it_in_a_document(ledger, account, rows):
    release = private_mean(rows, PLANE, BUDGET, accountant=account)
    (entry,) = account.entries()
    assert release.anchor == entry.anchor
    assert (entry.label, entry.guarantee) == ("private_mean, riemannian-gaussian", BUDGET)
    again = Release.from_json(release.to_json())
    assert again.anchor == entry.anchor
    assert verify(again).passed
    assert json.loads(release.to_json())["anchor"] == {
        "dataset": "study", "seq": 1, "charge_id": entry.charge_id, "hash": entry.hash
    }  # fmt: skip
    assert ledger.verify([again]).ok
    assert ledger.verify([json.loads(release.to_json())]).ok
    part = replace(release, anchor=release.anchor._replace(part=1))  # it paid for one release
    assert [finding.kind for finding in ledger.verify([part]).findings] == ["no charge"]


def test_a_release_without_a_ledger_carries_none(rows):
    release = private_mean(rows, PLANE, BUDGET, accountant=Accountant(GDP(1.0)))
    assert release.anchor is None
    assert "anchor" not in json.loads(release.to_json())
    assert Release.from_json(release.to_json()).anchor is None


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "1"},
        {"seq": True},
        {"seq": 1.0},
        {"seq": -1},
        {"hash": 3},
        {"dataset": None},
        {"part": "first"},
        {"part": -1},
        {"more": 1},
    ],
)
def test_a_document_with_another_shape_of_anchor_is_refused(account, rows, change):
    document = json.loads(private_mean(rows, PLANE, BUDGET, accountant=account).to_json())
    document["anchor"].update(change)
    with pytest.raises(InvalidParameterError):
        Release.from_json(json.dumps(document))


def test_an_anchor_has_to_be_one(account, rows):
    release = private_mean(rows, PLANE, BUDGET, accountant=account)
    for wrong in ("study", ("study", 1, "a", "b"), release.anchor._replace(seq=True)):
        with pytest.raises(InvalidParameterError):
            replace(release, anchor=wrong)


def test_every_release_of_a_found_ball_has_an_entry_of_its_own(ledger, rows):
    account = ledger.register("wide", GDP(9.0), unit="person", adjacency="replace-one")
    far = Ball(Euclidean(2), np.zeros(2), 1e4)
    found = private_ball(np.repeat(rows, 20, axis=0), far, GDP(8.0), accountant=account)
    assert found.steps
    charge, *steps = account.entries()
    assert found.anchor == charge.anchor
    half = GDP(found.left.mu / 2)
    releases = [private_mean(np.repeat(rows, 20, axis=0), found, half) for _ in range(2)]
    paid = account.entries()[1 + len(steps) :]
    assert [release.anchor for release in releases] == [entry.anchor for entry in paid]
    assert {entry.parent for entry in (*steps, *paid)} == {charge.charge_id}
    assert ledger.verify(releases).ok
    adapted = private_mean(
        np.repeat(rows, 20, axis=0), far, GDP(2.0), method="adaptive", accountant=account
    )
    assert adapted.anchor == account.entries()[-1].anchor
    assert ledger.verify([*releases, adapted]).ok
    assert not ledger.verify([*releases, Release.from_json(releases[0].to_json())]).ok


def test_groups_share_a_charge_and_each_has_its_part(ledger, account, rows):
    means = private_means({"a": rows, "b": rows + 1.0}, PLANE, BUDGET, accountant=account)
    (entry,) = account.entries()
    assert means.anchor == entry.anchor
    assert [means[name].anchor.part for name in "ab"] == [1, 2]
    again = PrivateMeans.from_json(means.to_json())
    assert again.anchor == entry.anchor
    assert ledger.verify([again]).ok
    assert ledger.verify([again["a"], again["b"]]).ok
    twice = ledger.verify([again["a"], Release.from_json(means["a"].to_json())])
    assert [finding.kind for finding in twice.findings] == ["charge used twice"]
    third = replace(means["a"], anchor=entry.anchor._replace(part=3))
    assert [finding.kind for finding in ledger.verify([third]).findings] == ["no charge"]
    with pytest.raises(InvalidParameterError, match="charged elsewhere"):
        replace(means, groups=(means["a"], replace(means["b"], anchor=None)))


def complex_shapes():
    return np.random.default_rng(3).normal(size=(60, 4, 2))


RELEASES = {
    "statistic": functools.partial(private_statistic, FrechetMean()),
    "median": functools.partial(private_statistic, GeometricMedian(steps=1)),
    "huber": functools.partial(private_statistic, HuberMean(steps=1)),
    "moments": private_moments,
    "variance": private_variance,
}


@pytest.mark.parametrize("name", RELEASES)
def test_whatever_spends_has_an_anchor(ledger, account, rows, name):
    release = RELEASES[name](rows, PLANE, BUDGET, accountant=account)
    assert release.anchor == account.last
    assert ledger.verify([release]).ok
    with pytest.raises(ReleaseFailedError):
        RELEASES[name](np.full((60, 2), np.nan), PLANE, BUDGET, accountant=account)
    assert len(account.entries()) == 2


DIRECTIONS = {
    "directions": (private_directional_summary, near_north()),
    "rotations": (private_rotation_mean, np.broadcast_to(np.eye(3), (60, 3, 3)).copy()),
    "shapes": (private_procrustes_mean, complex_shapes()),
    "complex shapes": (private_procrustes_mean, complex_shapes() @ np.array([1.0, 1j])),
}


@pytest.mark.parametrize("name", DIRECTIONS)
def test_directions_are_opened_after_the_charge(account, name):
    function, points = DIRECTIONS[name]
    release = function(points, BUDGET, accountant=account)
    assert release.anchor == account.last
    with pytest.raises(ReleaseFailedError):
        function(np.full_like(points, np.nan), BUDGET, accountant=account)
    assert len(account.entries()) == 2
    with pytest.raises(NotOnManifoldError):
        function(np.full_like(points, np.nan), BUDGET)
    with pytest.raises(UnsupportedNeighboursError, match="add-remove-user"):
        function(points, BUDGET, accountant=account, users=list(range(60)))
    with pytest.raises(InvalidParameterError, match="people="):
        function(points, BUDGET, accountant=account, users=list(range(60)), n=60)
    assert len(account.entries()) == 2


def test_conformal_noise_has_an_anchor_too(ledger):
    account = ledger.register("circle", GDP(9.0), unit="person", adjacency="replace-one")
    private = functools.partial(
        ConformalLaplace.private,
        ball=NORTH,
        epsilon=2.0,
        nodes=200,
        sensitivity=1.0,
        accountant=account,
    )
    made = private(near_north())
    assert made.anchor == account.last
    with pytest.raises(ReleaseFailedError):
        private(np.zeros((60, 3)))
    assert len(account.entries()) == 2


def test_people_beside_a_search_or_weights_are_refused_before_the_charge(rows):
    whose, weights = np.arange(60) // 3, np.full(60, 0.5)
    account = Accountant(BUDGET)
    with pytest.raises(InvalidParameterError, match="the guarantee is about records"):
        private_mean(
            rows,
            PLANE,
            BUDGET,
            method="adaptive",
            users=whose,
            adjacency=ReplaceOne(),
            accountant=account,
        )
    assert account.spent is None
    records = Records(rows, users=whose, weights=weights)
    account = Accountant(BUDGET.under("add-remove-user"))
    with pytest.raises(InvalidParameterError, match="groups take no weights"):
        private_means({"a": records}, PLANE, BUDGET, adjacency=AddRemoveUser(2), accountant=account)
    with pytest.raises(InvalidParameterError, match="what people weigh"):
        private_statistic(
            weighted(TangentMean(), PLANE),
            records,
            PLANE,
            BUDGET,
            adjacency=AddRemoveUser(),
            accountant=account,
        )
    assert account.spent is None


# ------------------------------------------------------------------------------- charged first


class Failing(FrechetMean):
    """A mean that does not converge."""

    def check_records(self, records):
        raise ConvergenceError("the mean of row 17 did not converge")


def bad(points, row, value):
    found = points.copy()
    found[row] = value
    return found


def broken():
    """Ways in which data can be wrong, and the error that a trusted holder gets for each."""
    good = near_north()
    return {
        "a row is not finite": (bad(good, 7, np.nan), NotOnManifoldError),
        "a row is not on the manifold": (bad(good, 7, [0.0, 0.0, 2.0]), NotOnManifoldError),
        "rows have another shape": (lambda: good[:, :2], NotOnManifoldError),
        "there is no row at all": (lambda: np.empty((0, 3)), NotOnManifoldError),
        "there are others than were said": (lambda: good[:59], InvalidParameterError),
        "they are texts": (np.full((60, 3), "x"), NotOnManifoldError),
        "they have no shape": ([[0.0, 0.0, 1.0]] * 59 + [[1.0]], NotOnManifoldError),
        "they cannot be opened": (lambda: open("/nowhere/records.npy"), FileNotFoundError),
    }


@pytest.mark.fast(4)
@pytest.mark.parametrize("name", broken())
def test_what_is_wrong_with_data_is_not_said(account, name):
    points, told = broken()[name]
    said = {"n": 60} if callable(points) else {}
    before = account.remaining
    with pytest.raises(ReleaseFailedError) as opaque:
        private_mean(points, NORTH, BUDGET, accountant=account, **said)
    with pytest.raises(ReleaseFailedError) as other:
        private_mean(bad(near_north(), 3, np.inf), NORTH, BUDGET, accountant=account)
    assert str(opaque.value) == str(other.value)
    assert opaque.value.__cause__ is opaque.value.__context__ is None
    assert len(account.entries()) == 2
    assert account.remaining.mu < before.mu
    for ask in (private_mean, check):  # the controls
        with pytest.raises(told) as clear:
            ask(points, NORTH, BUDGET, **said)
    assert str(clear.value) != str(opaque.value)
    assert len(account.entries()) == 2


def test_what_fails_later_is_not_said_either(account, rows, monkeypatch):
    release = functools.partial(private_statistic, Failing(), rows, PLANE, BUDGET)
    with pytest.raises(ReleaseFailedError) as failed:
        release(accountant=account, allow_unproven=True)
    assert "17" not in str(failed.value)
    with pytest.raises(ConvergenceError):
        release(allow_unproven=True)
    assert len(account.entries()) == 1

    def out_of_memory(*_arguments, **_options):
        raise MemoryError("row 17")

    monkeypatch.setattr("riemdp.release._run.drawn", out_of_memory)
    with pytest.raises(ReleaseFailedError) as other:
        private_mean(rows, PLANE, BUDGET, accountant=account)
    assert str(other.value) == str(failed.value)
    assert len(account.entries()) == 2


def test_the_holder_of_the_data_can_read_why(account, capsys):
    class Lines(logging.Handler):
        def emit(self, record):
            lines.append(logging.Formatter().format(record))

    @contextlib.contextmanager
    def read_by(name):
        handler = Lines()
        logging.getLogger(name).addHandler(handler)
        yield
        logging.getLogger(name).removeHandler(handler)

    lines = []
    for name in ("", "riemdp"):  # where services read what all loggers write
        with read_by(name), pytest.raises(ReleaseFailedError):
            private_mean(bad(near_north(), 7, np.nan), NORTH, BUDGET, accountant=account)
    assert lines == []
    assert "row 7" not in "".join(capsys.readouterr())
    with read_by("riemdp.data_holder"), pytest.raises(ReleaseFailedError):
        private_mean(bad(near_north(), 7, np.nan), NORTH, BUDGET, accountant=account)
    with read_by("riemdp.data_holder"), unlogged(), pytest.raises(ReleaseFailedError):
        # while another thread reads a file
        private_mean(bad(near_north(), 7, np.nan), NORTH, BUDGET, accountant=account)
    found, other = lines
    assert "charge 3 of 'study'" in found
    assert "row 7" in found
    assert "row 7" in other


@pytest.mark.parametrize("fails", ["printing", "raising"])
def test_a_log_that_fails_tells_nothing(account, capsys, fails):
    class Full(logging.Handler):
        def emit(self, record):
            try:
                raise OSError("the disk is full")
            except OSError:
                if fails == "raising":
                    raise
                self.handleError(record)

    logger, handler = logging.getLogger("riemdp.data_holder"), Full()
    logger.addHandler(handler)
    try:
        with pytest.raises(ReleaseFailedError) as failed:
            private_mean(bad(near_north(), 7, np.nan), NORTH, BUDGET, accountant=account)
    finally:
        logger.removeHandler(handler)
    assert failed.value.__cause__ is failed.value.__context__ is None
    printed = "".join(capsys.readouterr())
    assert "row 7" not in printed
    assert ("disk is full" in printed) == (fails == "printing")


@pytest.mark.parametrize("last", [1.0, np.nan])
def test_warnings_while_records_are_opened_are_dropped(account, last):
    def records():
        warnings.warn("row 7 is odd", stacklevel=1)
        return bad(near_north(), 7, [0.0, 0.0, last])

    for payer, told in ((account, 0), (None, 1)):
        with warnings.catch_warnings(record=True) as said, contextlib.suppress(RiemdpError):
            warnings.simplefilter("always")
            private_mean(records, NORTH, BUDGET, accountant=payer, n=60)
        assert sum(each.category is UserWarning for each in said) == told


def test_what_public_arguments_rule_out_is_said_and_costs_nothing(ledger, account, rows):
    never = pytest.fail
    calls = [
        (InvalidParameterError, lambda: private_mean(never, PLANE, BUDGET, accountant=account)),
        (
            InvalidParameterError,
            lambda: private_mean(never, PLANE, BUDGET, users=never, accountant=account, n=9),
        ),
        (
            UnsupportedNeighboursError,
            lambda: private_mean(never, PLANE, BUDGET, users=never, accountant=account),
        ),
        (
            InvalidParameterError,
            lambda: private_mean(never, PLANE, BUDGET, accountant=account, n=0),
        ),
        (
            InvalidParameterError,
            lambda: private_mean(Records(rows, rows), PLANE, BUDGET, accountant=account),
        ),
        (
            InvalidParameterError,
            lambda: private_mean(never, PLANE, BUDGET, mechanism="x", accountant=account, n=9),
        ),
        (
            InvalidParameterError,
            lambda: private_mean(never, "a ball", BUDGET, accountant=account, n=9),
        ),
        (BudgetExceededError, lambda: private_mean(never, PLANE, GDP(2), accountant=account, n=9)),
        (
            InvalidParameterError,
            lambda: private_ball(never, PLANE, BUDGET, accountant=account),
        ),
        (
            InvalidParameterError,
            lambda: private_mean(
                never, PLANE, adjacency=AddRemove(), budget=BUDGET, accountant=account, n=9
            ),
        ),
    ]
    before = size_of(ledger)
    for error, call in calls:
        with pytest.raises(error):
            call()
    assert size_of(ledger) == before


def test_what_shapes_and_names_rule_out_costs_nothing_anywhere(account, rows):
    """Each entry point that charges first looks at names, lengths and shapes before."""
    two, few = {"a": rows, "b": rows + 1.0}, {"a": range(60), "b": range(60, 100)}
    calls = {
        "groups": (lambda: private_means(two, PLANE, BUDGET, ids=few, accountant=account), "ids"),
        "search": (lambda: private_ball(rows[:, :1], PLANE, BUDGET, accountant=account), "shape"),
        "people in a search": (
            lambda: private_ball(Records(rows, users=range(60)), PLANE, BUDGET, accountant=account),
            "add-remove-user",
        ),
        "names in a search": (
            lambda: private_ball(Records(rows, labels=range(60)), PLANE, BUDGET),
            "leave out labels",
        ),
        "conformal": (
            lambda: ConformalLaplace.private(
                Records(near_north(), users=range(60)), NORTH, 2.0, accountant=account
            ),
            "no users",
        ),
        "conformal shape": (
            lambda: ConformalLaplace.private(rows, NORTH, 2.0, accountant=account),
            "shape",
        ),
        "users of directions": (
            lambda: private_directional_summary(
                near_north(), BUDGET, users=[1] * 59, adjacency="add-remove", accountant=account
            ),
            "users must be one",
        ),
        "public sizes": (
            lambda: private_statistic(
                ClassMoments(("a", "b"), sizes=(10, 50)),
                Records(rows, labels=["a"] * 60),
                PLANE,
                BUDGET,
                adjacency=ReplacePoint(),
                accountant=Accountant(GDP(1.0), adjacency="replace-point"),
            ),
            "public sizes",
        ),
    }
    for name, (call, text) in calls.items():
        with pytest.raises(RiemdpError, match=text) as caught:
            call()
        assert not isinstance(caught.value, ReleaseFailedError), name
    assert account.entries() == ()


def test_records_may_be_opened_by_a_function(account, rows):
    opened = []

    def points():
        opened.append(len(account.entries()))
        return rows

    release = private_mean(points, PLANE, BUDGET, accountant=account, n=60)
    assert opened == [1]
    assert release.n == 60
    check(points, PLANE, BUDGET, n=60)
    assert opened == [1, 1]
    with_labels = Records(rows, covariates=np.ones(60))
    with pytest.raises(ReleaseFailedError):
        private_mean(lambda: with_labels, PLANE, BUDGET, accountant=account, n=60)


def test_an_account_that_ends_with_the_process_is_charged_first_too():
    account = Accountant(GDP(1.0))
    with pytest.raises(ReleaseFailedError):
        private_mean(bad(near_north(), 7, np.nan), NORTH, BUDGET, accountant=account)
    assert account.spent == BUDGET


def test_an_account_changes_nothing_but_what_is_said(account, rows):
    made = [
        private_mean(rows, PLANE, BUDGET, generator=np.random.default_rng(5), accountant=payer)
        for payer in (account, None)
    ]
    assert made[0].rounded == made[1].rounded
    assert made[0].value.tolist() == made[1].value.tolist()


def test_a_search_and_groups_fail_alike(ledger, rows):
    account = ledger.register("wide", GDP(9.0), unit="person", adjacency="replace-one")
    far = Ball(Euclidean(2), np.zeros(2), 1e4)
    wrong = bad(rows, 7, np.nan)
    twice, ids = {"a": rows, "b": rows.copy()}, dict.fromkeys("ab", np.arange(len(rows)))
    with pytest.raises(ReleaseFailedError) as searched:
        private_ball(wrong, far, GDP(1.0), accountant=account)
    with pytest.raises(ReleaseFailedError) as adapted:
        private_mean(wrong, far, GDP(1.0), method="adaptive", accountant=account)
    with pytest.raises(ReleaseFailedError) as grouped:
        private_means({"a": rows, "b": wrong}, PLANE, GDP(1.0), accountant=account)
    with pytest.raises(ReleaseFailedError) as same:
        private_means(twice, PLANE, GDP(1.0), ids=ids, accountant=account)
    assert len({str(error.value) for error in (searched, adapted, grouped, same)}) == 1
    assert len(account.entries()) == 4
    for ask in (private_means, check):
        with pytest.raises(InvalidParameterError, match="nobody may be in two groups"):
            ask(twice, PLANE, BUDGET, ids=ids)
    with pytest.raises(InvalidParameterError, match="share memory"):  # without a look at rows
        private_means({"a": rows, "b": rows}, PLANE, BUDGET, accountant=account)
    assert len(account.entries()) == 4


def test_a_ledger_that_fails_says_so_within_a_search(ledger, rows, monkeypatch):
    account = ledger.register("wide", GDP(9.0), unit="person", adjacency="replace-one")
    entered = type(account)._entered

    def failing(self, kind, *arguments):
        if kind == "step":
            raise LedgerUnavailableError("the disk is full")
        return entered(self, kind, *arguments)

    monkeypatch.setattr(type(account), "_entered", failing)
    far = Ball(Euclidean(2), np.zeros(2), 1e4)
    with pytest.raises(LedgerUnavailableError, match="full"):
        private_ball(np.repeat(rows, 20, axis=0), far, GDP(8.0), accountant=account)


# -------------------------------------------------------------------------------- refusals


def refused(ledger, release, error):
    """Nothing is drawn, nothing is opened, nothing is written."""
    before = size_of(ledger)
    opened = []

    def points():
        opened.append(points)
        return np.zeros((9, 2))

    with pytest.raises(error) as found:
        release(points)
    assert type(found.value) is error
    assert opened == []  # and so nothing is drawn about them
    assert size_of(ledger) == before


def test_a_total_is_never_exceeded(ledger, account, rows):
    private_mean(rows, PLANE, GDP(0.8), accountant=account)
    refused(
        ledger,
        lambda points: private_mean(points, PLANE, GDP(0.8), n=9, accountant=account),
        BudgetExceededError,
    )


def test_a_closed_data_set_pays_for_nothing(ledger, account):
    account.close()
    refused(
        ledger,
        lambda points: private_mean(points, PLANE, BUDGET, n=9, accountant=account),
        DatasetClosedError,
    )


def test_relations_are_not_mixed(ledger, account):
    pairs = ledger.register("pairs", GDP(1.0), unit="person", adjacency="add-remove")
    for one, neighbours in ((account, AddRemove()), (pairs, None)):
        refused(
            ledger,
            lambda points, one=one, neighbours=neighbours: private_mean(
                points,
                PLANE,
                BUDGET,
                n=9 if neighbours is None else None,
                adjacency=neighbours,
                accountant=one,
            ),
            UnsupportedNeighboursError,
        )


def test_units_are_not_mixed(ledger, rows):
    records = ledger.register("rows", GDP(1.0), unit="record", adjacency="replace-user")
    people = ledger.register("people", GDP(1.0), unit="person", adjacency="replace-user")
    refused(
        ledger,
        lambda points: private_mean(
            points, PLANE, BUDGET, people=9, users=points, accountant=records
        ),
        DatasetMismatchError,
    )
    users = [i // 2 for i in range(60)]
    release = private_mean(rows, PLANE, BUDGET, people=30, users=users, accountant=people)
    assert release.n == 30
    assert release.anchor == people.last


def test_a_second_registration_is_refused(ledger, account):
    del account
    for total in (GDP(1.0), GDP(0.5), GDP(5.0)):
        refused(
            ledger,
            lambda _, total=total: ledger.register(
                "study", total, unit="person", adjacency="replace-one"
            ),
            DatasetExistsError,
        )


def test_a_newer_schema_is_refused(ledger, account, monkeypatch):
    before = size_of(ledger)
    monkeypatch.setattr(schema, "VERSION", "0000")
    with pytest.raises(LedgerSchemaError, match="newer"):
        private_mean(pytest.fail, PLANE, BUDGET, n=9, accountant=account)
    monkeypatch.undo()
    assert size_of(ledger) == before


def test_a_network_file_system_is_refused(ledger, account, tmp_path, monkeypatch):
    before = size_of(ledger)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda1 / ext4 rw 0 0\nhost:/home {tmp_path} nfs4 rw 0 0\n")
    monkeypatch.setattr(_file_systems, "_MOUNTS", mounts)
    with pytest.raises(NetworkFileSystemError, match="nfs4"):
        private_mean(pytest.fail, PLANE, BUDGET, n=9, accountant=account)
    with pytest.raises(NetworkFileSystemError):
        Ledger(tmp_path / "new.db").register("a", GDP(1.0), unit="person", adjacency="replace-one")
    assert not (tmp_path / "new.db").exists()
    monkeypatch.undo()
    assert size_of(ledger) == before


# ------------------------------------------------------------------------------- estimators


def test_estimators_share_the_one_account(ledger, rows):
    sklearn = pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

    from riemdp.estimators import PrivateFrechetMean, PrivateMDM

    account = ledger.register("folds", GDP(2.0), unit="person", adjacency="replace-one")
    mdm = PrivateMDM(PLANE, GDP(1.0), ["a", "b"], accountant=account)
    labels = np.array(["a", "b"] * 30)
    cross_val_score(mdm, rows, labels, cv=KFold(4))  # four folds of GDP(1)
    assert account.remaining is None
    before = size_of(ledger)
    with pytest.raises(BudgetExceededError):
        cross_val_score(mdm, rows, labels, cv=KFold(2), error_score="raise")
    with pytest.raises(BudgetExceededError):
        GridSearchCV(mdm, {"base": ["public"]}, cv=KFold(2), error_score="raise").fit(rows, labels)
    assert size_of(ledger) == before

    more = ledger.register("more", GDP(0.12), unit="person", adjacency="replace-one")
    mean = PrivateFrechetMean(PLANE, BUDGET, accountant=more)
    assert sklearn.clone(mean).fit(rows).release_.anchor == more.last
    copied = pickle.loads(pickle.dumps(mean))
    with pytest.raises(BudgetExceededError):
        copied.fit(rows)
    assert copied.accountant.spent == BUDGET
    assert len(more.entries()) == 1


def test_estimators_are_told_how_many_people_there_are(ledger, rows):
    pytest.importorskip("sklearn")
    from riemdp.estimators import PrivateFrechetMean

    users = [i // 2 for i in range(60)]
    for adjacency, n in (("replace-user", 30), ("add-remove-user", None)):
        account = ledger.register(adjacency, GDP(1.0), unit="person", adjacency=adjacency)
        mean = PrivateFrechetMean(PLANE, BUDGET, accountant=account)
        assert mean.fit(rows, users=users, people=n).release_.n == n
        assert mean.release_.anchor == account.last
        with pytest.raises(ReleaseFailedError):
            mean.fit(bad(rows, 7, np.nan), users=users, people=n)
        assert len(account.entries()) == 2


def test_a_copied_account_is_the_same_account(ledger, account, rows):
    del ledger
    other = pickle.loads(pickle.dumps(account))
    release = private_mean(rows, PLANE, BUDGET, accountant=other)
    assert account.entries()[0].anchor == release.anchor == Anchor(*other.last)
