"""Names that people tell apart: a second spelling of a name would be a second budget."""

from __future__ import annotations

import string
import unicodedata

from riemdp._errors import InvalidParameterError
from riemdp.ledger._entry import check_text

#: Cyrillic and Greek letters, in small letters, and digits, with the Latin ones that they are taken
#: for.
_LOOKALIKES = str.maketrans(
    "авгеһнікӏморстухјѕԁԛԝьαβγεζηικμνορστυχω01",
    "abrehhiklmopctyxjsdqwbabyezhikmnopotyxwol",
)
#: What the names of characters begin with that no letter of an alphabet is taken for.
_APART = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "COMBINING")
#: Letters and marks that are not seen.
_UNSEEN = ("FILLER", "SELECTOR", "JOINER", "INHERENT")


def checked_name(value: object, what: str) -> str:
    """Return a name as it is kept: in the normal form NFKC, with single spaces and none around.

    One that is not a text of at most 1000 characters, has characters that are not seen, or letters
    of two alphabets, is an :class:`InvalidParameterError`.
    """
    check_text(value, what)
    name = " ".join(unicodedata.normalize("NFKC", str(value)).split())
    check_text(name, what)
    scripts = set()
    for character in name:
        if character.isascii() and (character.isalnum() or character in f" {string.punctuation}"):
            scripts |= {"LATIN"} if character.isalpha() else set()
            continue
        called = unicodedata.name(character, "")
        seen = character.isalnum() or unicodedata.category(character).startswith("M")
        if not seen or any(word in called for word in _UNSEEN):
            raise InvalidParameterError(
                f"{what} must consist of letters, digits, spaces and ASCII punctuation: leave out "
                f"U+{ord(character):04X}"
            )
        if not called.startswith(_APART):
            scripts.add("ARABIC" if "ARABIC" in called else called.split()[0])
    if len(scripts) > 1:
        raise InvalidParameterError(
            f"{what} has letters of several alphabets ({', '.join(sorted(scripts))}), which look "
            "alike: write it in one"
        )
    return name


def looks_of(name: str) -> str:
    """Return what two names have alike that people do not tell apart."""
    return name.casefold().translate(_LOOKALIKES)
