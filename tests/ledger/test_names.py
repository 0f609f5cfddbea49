import unicodedata

import pytest

from riemdp import DatasetExistsError, DatasetMismatchError, InvalidParameterError, PureDP
from riemdp.ledger._names import checked_name, looks_of

WHO = {"unit": "person", "adjacency": "replace-one"}
ZERO_WIDTH, JOINER, FILLER, SELECTOR = "\u200b", "\u034f", "\u3164", "\ufe0f"


@pytest.mark.parametrize(
    "other",
    [
        "s",
        "s ",
        " s",
        "\u00a0s",
        "s\n",
        "S",
        "\uff53",
        "\u017f",
        "\u0455",
        "\u0405",
        "\u2002s\u3000",
    ],
    ids=ascii,
)
def test_one_name_has_one_budget(ledger, other):
    """Of white space, width, long s, and the Cyrillic dze."""
    ledger.register("s", PureDP(1.0), **WHO)
    with pytest.raises(DatasetExistsError, match="second budget"):
        ledger.register(other, PureDP(1.0), **WHO)
    assert ledger.datasets() == ("s",)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("study one", "study  one"),
        ("caf\u00e9", "cafe\u0301"),
        ("\u0441\u0430\u0441\u0435", "cace"),  # all of it Cyrillic
        ("\u03c1\u03bf\u03c1", "pop"),  # all of it Greek
        ("stra\u00dfe", "STRASSE"),
        ("\u30a2", "\uff71"),
        ("study 10", "study lO"),
    ],
    ids=ascii,
)
def test_names_that_look_alike_are_one(ledger, name, other):
    for first, second in ((name, other), (other, name)):
        assert looks_of(checked_name(first, "name")) == looks_of(checked_name(second, "name"))
    ledger.register(name, PureDP(1.0), **WHO)
    with pytest.raises(DatasetExistsError, match="second budget"):
        ledger.register(other, PureDP(1.0), **WHO)


@pytest.mark.parametrize("what", ["name", "unit", "adjacency"])
@pytest.mark.parametrize(
    "text",
    [
        "per\u0455on",
        "st\u03c5dy",
        f"stu{ZERO_WIDTH}dy",
        f"stu{JOINER}dy",
        f"study{FILLER}",
        f"study{SELECTOR}",
        "study\u202e",
        "\u0430dmin 1",
        " \u2003 ",
        "study \U0001f600",
        "study\ue000",
        "study\x07",
        "study\u2014one",
        "\u2800",
    ],
    ids=ascii,
)
def test_other_characters_and_mixed_alphabets_are_refused(ledger, what, text):
    given = {"name": "study", **WHO, what: text}
    with pytest.raises(InvalidParameterError, match=what):
        ledger.register(given.pop("name"), PureDP(1.0), **given)
    assert not ledger.backend.path.exists()


NAMES = [
    "tremor-2026",
    "Tremor (2026), right hand: EEG/EMG_1.b",
    "\u0438\u0441\u0441\u043b\u0435\u0434\u043e\u0432\u0430\u043d\u0438\u0435 2026",
    "\u03bc\u03b5\u03bb\u03ad\u03c4\u03b7",
    "\u7814\u7a76\u30c7\u30fc\u30bf 2026 \u306e EEG",
    "\uc5f0\uad6c",
    "\u0905\u0927\u094d\u092f\u092f\u0928",
    "\u062f\u0631\u0627\u0633\u0629 \u0661",
    "\u1eb9\u0301k\u1ecd\u0301",
    "\u00c5ngstr\u00f6m",
]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_of_any_language_stay_as_they_are(ledger, name):
    assert unicodedata.is_normalized("NFKC", name)
    assert checked_name(name, "name") == name
    account = ledger.register(name, PureDP(1.0), **WHO)
    account.spend(PureDP(0.5), "x")
    assert ledger.account(f" {name} ").name == account.name == name
    assert ledger.verify([account.last]).ok


def test_different_names_look_different():
    assert len({looks_of(name) for name in NAMES}) == len(NAMES)
    for one, other in (
        ("study1", "study2"),
        ("a-b", "ab"),
        ("a b", "ab"),
        ("Muller", "M\u00fcller"),
    ):
        assert looks_of(one) != looks_of(other)


def test_units_are_compared_as_they_are_kept(ledger):
    account = ledger.register(" s", PureDP(1.0), unit="person ", adjacency=" replace-one")
    assert (account.name, account.unit, account.adjacency) == ("s", "person", "replace-one")
    assert ledger.account("s", unit=" person", adjacency="replace-one ").unit == "person"
    with pytest.raises(DatasetMismatchError):
        ledger.account("s", unit="record")
    account.spend(PureDP(0.5), "x")
    assert ledger.verify().ok
