"""Tampering, and what finds it: the chain, its sums, and the releases since."""

import itertools
import json
import shutil
import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    LedgerTamperedError,
    PrivateMeans,
    PureDP,
    Release,
    private_ball,
    private_mean,
    private_means,
)
from riemdp._document import digest
from riemdp._part_document import encode
from riemdp.ledger import Ledger, _verify
from riemdp.ledger._chain import Chain, Row, read_amounts, read_sums, written_sums
from riemdp.ledger._store import append, read_state
from riemdp.privacy import Filter, added


@pytest.fixture
def paid(account):
    return [account.spend(PureDP(0.125), f"release {number}") for number in range(1, 5)]


def tampered(ledger, *statements):
    """Change the file as somebody does who knows about triggers."""
    with sqlite3.connect(ledger.backend.path) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in names.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
    connection.close()


SMALL_PRICE = '["0x1p-40"]'
SMALL = written_sums(added((0,), (2.0**-40,)))
TAMPERING = {
    "amount": (
        ["UPDATE riemdp_entries SET price = '[\"0x1p-40\"]' WHERE seq = 2"],
        {("entry changed", 2), ("entry changed", 3), ("entry changed", 4), ("tip changed", 4)},
    ),
    "guarantee": (
        ['UPDATE riemdp_entries SET guarantee = replace(guarantee, "0.125", "0.001") WHERE seq=2'],
        {("entry changed", 2)},
    ),
    "deleted": (
        ["DELETE FROM riemdp_entries WHERE seq = 2"],
        {
            ("entry missing", 2),
            ("entry changed", 3),
            ("entry changed", 4),
            ("tip changed", 4),
        },
    ),
    "order": (
        [
            "UPDATE riemdp_entries SET seq = 9 WHERE seq = 2",
            "UPDATE riemdp_entries SET seq = 2 WHERE seq = 3",
            "UPDATE riemdp_entries SET seq = 3 WHERE seq = 9",
        ],
        {("entry changed", 2), ("entry changed", 3), ("entry changed", 4)},
    ),
    "total": (
        ["UPDATE riemdp_datasets SET total = replace(total, '1.0', '9.0')"],
        {("registration changed", 0)},
    ),
    "tip": (
        [f"UPDATE riemdp_tips SET sums = '{SMALL}'"],
        {("tip changed", 4)},
    ),
    "limits": (
        ["UPDATE riemdp_datasets SET limits = '[5]'"],
        {("registration changed", 0)},
    ),
    "tip back": (
        ["UPDATE riemdp_tips SET seq = 3"],
        {("tip changed", 3)},
    ),
}
#: What the last entry and the tip alone do not show.
INSIDE = {"amount", "guarantee", "deleted", "order"}


@pytest.mark.parametrize("name", TAMPERING)
@pytest.mark.fast(10)
def test_tampering_is_found(name, ledger, account, paid):
    assert ledger.verify(paid).ok
    statements, expected = TAMPERING[name]
    tampered(ledger, *statements)
    found = ledger.verify()
    assert {(one.kind, one.seq) for one in found.findings} == expected
    assert not found.ok
    assert "findings" in str(found)
    before = ledger.export()
    if name in INSIDE:
        account.spend(PureDP(0.125), "what a spend relies on is whole")
    else:
        for one in (account, SimpleNamespace(spend=lambda *a: ledger.account("study"))):
            with pytest.raises(LedgerTamperedError):
                one.spend(PureDP(0.125), "x")
        assert ledger.export() == before


def believes_sums(ledger):
    """Control: a check that takes stored sums and hashes for what they say."""
    (study,) = ledger.export()["datasets"]
    rows = [Row(**entry) for entry in study["entries"]]
    linked = all(row.previous == before.hash for before, row in itertools.pairwise(rows))
    fits = Filter(PureDP(1.0)).covers(read_sums(study["tip"]["sums"]))
    return linked and fits and rows[-1].hash == study["tip"]["hash"]


@pytest.mark.parametrize("name", TAMPERING)
@pytest.mark.fast("amount", "tip", "deleted")
def test_control_a_trusted_sum_misses_tampering(name, ledger, paid):
    assert believes_sums(ledger)
    tampered(ledger, *TAMPERING[name][0])
    missed = {"amount", "guarantee", "total", "limits", "tip", "tip back"}
    assert believes_sums(ledger) == (name in missed)


def test_whoever_makes_all_hashes_anew_is_found_by_releases_or_a_key(ledger, account, paid):
    """Without a key the chain itself can be forged; what was released before cannot."""
    chain = Chain(None)
    (study,) = ledger.export()["datasets"]
    previous, sums, statements = study["genesis"], (0,), []
    for entry in study["entries"]:
        price = '["0x1p-40"]' if entry["seq"] == 2 else entry["price"]
        sums = added(sums, read_amounts(price))
        text = entry["guarantee"]
        if entry["seq"] == 2:  # a price that is not that of its guarantee would be found
            text = text.replace("0.125", repr(2.0**-40))
        row = Row(**{**entry, "price": price, "guarantee": text, "previous": previous})
        previous = chain.entry(study["genesis"], row, written_sums(sums))
        statements.append(
            f"UPDATE riemdp_entries SET price = '{price}', guarantee = '{text}', "
            f"previous = '{row.previous}', "
            f"hash = '{previous}' WHERE seq = {row.seq}"
        )
    statements.append(f"UPDATE riemdp_tips SET hash = '{previous}', sums = '{written_sums(sums)}'")
    tampered(ledger, *statements)
    assert ledger.verify().ok
    assert ledger.verify(paid[:1]).ok
    found = ledger.verify(paid).findings
    assert {(one.kind, one.seq) for one in found} == {("charge changed", n) for n in (2, 3, 4)}
    with pytest.raises(LedgerTamperedError, match="replaced, perhaps by a back-up"):
        account.spend(PureDP(0.125), "an account that remembers its last charge")


def test_a_forger_does_not_have_the_key(tmp_path):
    ledger = Ledger(tmp_path / "x.db", key=b"0123456789abcdef")
    account = ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")
    account.spend(PureDP(0.5), "x")
    (study,) = ledger.export()["datasets"]
    row = Row(**{**study["entries"][0], "price": '["0x1p-40"]'})
    forged = Chain(None).entry(study["genesis"], row, SMALL)
    tampered(
        ledger,
        f"UPDATE riemdp_entries SET price = '{row.price}', hash = '{forged}'",
        f"UPDATE riemdp_tips SET hash = '{forged}', sums = '{SMALL}'",
    )
    assert [one.kind for one in ledger.verify().findings] == ["entry changed"]


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.fast(2)
def test_a_restored_back_up_is_found_by_releases(goes_on, ledger, account, paid, tmp_path):
    copy = tmp_path / "back-up"
    shutil.copy(ledger.backend.path, copy)
    late = account.spend(PureDP(0.25), "after the back-up")
    shutil.copy(copy, ledger.backend.path)
    if goes_on:
        ledger.account("study").spend(PureDP(0.25), "another release")
    assert ledger.verify(paid).ok  # the chain is whole
    (found,) = ledger.verify([*paid, late]).findings
    assert (found.kind, found.seq) == ("older copy", 5)
    with pytest.raises(LedgerTamperedError, match="perhaps by a back-up"):
        account.spend(PureDP(0.125), "by whom remembers")


def test_releases_without_a_charge_of_their_own(ledger, account, paid):
    first, second = paid[0].anchor, SimpleNamespace(anchor=paid[1].anchor, guarantee=GDP(0.01))

    def kinds(*releases):
        return [one.kind for one in ledger.verify(releases).findings]

    assert kinds(first, paid[2], paid[3].anchor.document(), {"anchor": paid[1].anchor}) == []
    assert kinds(first._replace(dataset="other")) == ["no charge"]
    assert kinds(first._replace(charge_id="0" * 32)) == ["older copy"]
    assert kinds(first._replace(hash="0" * 64)) == ["charge changed"]
    assert kinds(first._replace(seq=77)) == ["older copy"]
    assert kinds(account.registered) == ["no charge"]
    assert kinds(SimpleNamespace(anchor=first), SimpleNamespace(anchor=first)) == [
        "charge used twice"
    ]
    assert kinds(second) == ["guarantee changed"]  # it means nothing for this total
    promised = [PureDP(0.125), PureDP(0.0625), PureDP(0.25), PureDP(0.1, adjacency="add-remove")]
    found = [kinds(SimpleNamespace(anchor=first, guarantee=one)) for one in promised]
    assert found == [[], [], ["guarantee changed"], ["guarantee changed"]]
    account.close()
    assert kinds(account.last) == ["no charge"]
    for uncharged in ({"header": {}}, {"anchor": None}, SimpleNamespace(guarantee=GDP(1.0))):
        assert kinds(uncharged) == ["no charge"]
    for nothing in (object(), {"value": 1}, {"anchor": 5}, None, "study"):
        with pytest.raises(InvalidParameterError):
            kinds(nothing)
    assert ledger.verify(paid).releases == 4


def test_a_step_is_held_against_what_paid_for_it(ledger, account):
    reserved = account.reserve(PureDP(0.5), "search")
    step = reserved.spend(PureDP(0.25), "first")
    assert ledger.verify([step, reserved.entry]).ok
    approx = ledger.register("approx", ApproxDP(1.0, 1e-6), unit="person", adjacency="replace-one")
    taken = approx.reserve(ApproxDP(0.5, 1e-7), "search", GDP(0.05)).spend(GDP(0.01), "first")
    assert ledger.verify([taken]).ok  # of a definition that means nothing in the total's
    for guarantee, ok in ((PureDP(0.25), True), (PureDP(0.3), False), (PureDP(0.5), False)):
        release = SimpleNamespace(anchor=step.anchor, guarantee=guarantee)
        assert ledger.verify([release]).ok == ok
        header = {"guarantee": encode(guarantee)}
        document = {"anchor": step.anchor.document(), "header": header}
        assert ledger.verify([document]).ok == ok
    # with the receipt of a search, which all steps paid for
    for guarantee, part, ok in (
        (PureDP(0.5), PureDP(0.25), True),
        (PureDP(0.5), PureDP(0.3), False),
        (PureDP(0.5), GDP(0.01), False),
        (PureDP(0.6), PureDP(0.25), False),
    ):
        search = SimpleNamespace(release=part)
        release = SimpleNamespace(anchor=step.anchor, guarantee=guarantee, search=search)
        assert ledger.verify([release]).ok == ok
        document = {
            "anchor": step.anchor.document(),
            "header": {"guarantee": encode(guarantee)},
            "search": {"release": encode(part)},
        }
        assert ledger.verify([document]).ok == ok


def test_steps_of_a_search_pay_for_no_other_release(ledger, account):
    ball = Ball(Euclidean(2), [0.0, 0.0], 100.0)
    rows = np.random.default_rng(0).normal(3.0, 0.5, (4000, 2))
    found = private_ball(rows, ball, PureDP(0.9), accountant=account)
    own = [private_mean(rows, found)]
    assert ledger.verify(own).ok
    assert ledger.verify([json.loads(own[0].to_json())]).ok
    for entry in account.entries():
        if entry.kind == "step":
            other = replace(private_mean(rows, ball, PureDP(0.9)), anchor=entry.anchor)
            (finding,) = ledger.verify([other]).findings
            assert finding.kind == "guarantee changed"


def test_groups_are_releases_of_their_own(ledger, account):
    ball, rng = Ball(Euclidean(2), [0.0, 0.0], 1.0), np.random.default_rng(0)
    groups = {name: rng.normal(0.0, 0.3, (100, 2)) for name in "ab"}
    made = private_means(groups, ball, PureDP(0.5), accountant=account)
    document = json.loads(made.to_json())
    for honest in (made, document, list(made.groups)):
        assert ledger.verify(honest if isinstance(honest, list) else [honest]).ok
    more = json.loads(private_mean(groups["a"], ball, PureDP(0.5)).to_json())
    more["anchor"] = {**document["releases"][0]["anchor"], "part": 3}
    header = document["header"]
    forged = {
        **document,
        "header": {
            **header,
            "names": [*header["names"], "c"],
            "headers": [*header["headers"], digest(more["header"])],
        },
        "releases": [*document["releases"], more],
    }
    for given in (forged, PrivateMeans.from_json(json.dumps(forged))):
        (finding,) = ledger.verify([given]).findings
        assert finding.kind == "no charge"
    more["anchor"]["part"] = 1
    (finding,) = ledger.verify([forged]).findings
    assert finding.kind == "charge used twice"


def test_the_relation_of_a_document_counts(ledger, account):
    ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    made = private_mean(np.zeros((50, 2)), ball, PureDP(0.5), accountant=account, n=50)
    document = json.loads(made.to_json())
    assert ledger.verify([document]).ok
    document["header"]["neighbours"] = {"type": "replace-user", "contribution": 1}
    for given in (document, Release.from_json(json.dumps(document))):
        (finding,) = ledger.verify([given]).findings
        assert finding.kind == "guarantee changed"


def test_what_else_is_wrong(ledger, account, paid):
    account.close()
    closing = account.entries()[-1]
    tampered(
        ledger,
        "INSERT INTO riemdp_entries SELECT dataset, 6, 'x', 'charge', label, guarantee, "
        "'[\"0x1p3\"]', parent, created, hash, 'y' FROM riemdp_entries WHERE seq = 5",
    )
    found = {(one.kind, one.seq) for one in ledger.verify().findings}
    assert found == {
        ("entry changed", 6),
        ("charge after the end", 6),
        ("tip changed", 5),
        ("overspent", 5),
    }
    assert closing.kind == "close"
    tampered(ledger, "UPDATE riemdp_entries SET price = 'none' WHERE seq = 1")
    assert ("entry changed", 1) in {(one.kind, one.seq) for one in ledger.verify().findings}
    tampered(ledger, "UPDATE riemdp_entries SET label = x'00' WHERE seq = 1")
    (finding,) = ledger.verify().findings
    assert finding.kind == "entry changed"
    assert "label in riemdp_entries is no text" in finding.text


def test_many_findings_are_counted(ledger, paid, monkeypatch):
    tampered(ledger, "UPDATE riemdp_entries SET label = 'x'")
    assert len(ledger.verify().findings) == 4
    monkeypatch.setattr(_verify, "_MOST", 2)
    assert [one.text for one in ledger.verify().findings][-1] == "and 2 more"


UNREADABLE = {
    "no registration": ["DELETE FROM riemdp_datasets"],
    "no registration and no tip": ["DELETE FROM riemdp_datasets", "DELETE FROM riemdp_tips"],
    "no tip": ["DELETE FROM riemdp_tips"],
    "a label that is none": ["UPDATE riemdp_entries SET label = x'00' WHERE seq = 2"],
    "a price without end": [f"UPDATE riemdp_entries SET price = '{'[' * 100_000}'"],
    "a limit beyond float64": ["UPDATE riemdp_datasets SET limits = '[\"0x1p9999\"]'"],
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_found_and_stops_nothing(name, ledger, paid):
    assert ledger.verify().ok
    tampered(ledger, *UNREADABLE[name])
    found = Ledger(ledger.backend.path).verify([paid[0].anchor])
    assert not found.ok
    assert {one.dataset for one in found.findings} == {"study"}


def test_a_document_says_no_more_than_was_charged(ledger, paid):
    header = {"guarantee": {"type": "PureDP"}}
    document = {"anchor": paid[0].anchor.document(), "header": header}
    for epsilon, kinds in ((0.125, []), (0.25, ["guarantee changed"])):
        document["header"]["guarantee"]["epsilon"] = epsilon
        assert [one.kind for one in ledger.verify([document]).findings] == kinds
    document["header"]["guarantee"] = 3
    assert [one.kind for one in ledger.verify([document]).findings] == ["guarantee changed"]


def test_a_charge_of_groups_pays_for_no_other_release(ledger, account):
    anchor = account.spend(PureDP(0.125), "means of 2 groups").anchor
    whole = SimpleNamespace(anchor=anchor, guarantee=PureDP(0.125))
    parts = [
        SimpleNamespace(anchor=anchor._replace(part=part), guarantee=PureDP(0.125), mechanism="")
        for part in (1, 2)
    ]
    assert ledger.verify([whole, *parts]).ok
    other = SimpleNamespace(anchor=anchor, guarantee=PureDP(0.125), mechanism="")
    for extra in (other, {"anchor": anchor.document(), "mechanism": {}}):
        assert [one.kind for one in ledger.verify([*parts, extra]).findings] == ["no charge"]


FORGED = {
    "gives budget back": {"price": '["-0x1p-2"]'},
    "not that of its guarantee": {"price": SMALL_PRICE},
    "of no kind": {"kind": "refund"},
    "step of no charge": {"kind": "step", "parent": "nobody"},
    "": {},  # the control
}


@pytest.mark.parametrize("why", FORGED)
def test_an_entry_with_right_hashes_that_does_not_pay_is_found(why, ledger, account, paid):
    """As somebody writes it who may write to the tables, where there is no key."""
    with ledger.backend.engine.connect() as connection:
        ledger.backend.begin(connection, write=True)
        dataset, tip, last = read_state(connection, "study", lock=True)
        row = replace(last, seq=5, charge_id="forged", previous=tip.hash, **FORGED[why])
        sums = written_sums(added(read_sums(tip.sums), read_amounts(row.price)))
        row = replace(row, hash=ledger.chain.entry(dataset.genesis, row, sums))
        append(connection, tip, row, sums)
        connection.commit()
    found = ledger.verify().findings
    assert [(one.kind, one.seq) for one in found] == [("entry changed", 5)] * bool(why)
    assert all(why in one.text for one in found)
