import hashlib
import hmac
import json
import random
from dataclasses import fields, replace

import pytest

from riemdp import InvalidParameterError, LedgerTamperedError
from riemdp.ledger._chain import (
    Chain,
    Dataset,
    Row,
    Tip,
    read_amounts,
    read_sums,
    written_amounts,
    written_sums,
)

DATASET = Dataset("study", "{}", '["0x1p0"]', "person", "replace-one", "sha256", "n", "now")
ROW = Row("study", 1, "id", "charge", "ü", "{}", '["0x1p0"]', "", "now", "prev")
KEY = b"0123456789abcdef"


def test_hashes_are_those_of_plain_json():
    values = ["riemdp-ledger/2", "entered", "g", "study", 1, "id", "charge", "ü", "{}"]
    values += ['["0x1p0"]', "", "now", "prev", "", '["1"]']
    text = json.dumps(values, separators=(",", ":")).encode()
    assert Chain(None).entry("g", ROW, '["1"]') == hashlib.sha256(text).hexdigest()
    assert Chain(KEY).entry("g", ROW, '["1"]') == hmac.new(KEY, text, "sha256").hexdigest()


@pytest.mark.parametrize("key", [None, KEY], ids=["sha256", "hmac"])
def test_every_field_counts(key):
    chain = Chain(key)
    for given, hashed in (
        (DATASET, chain.genesis),
        (ROW, lambda row: chain.entry("g", row, "[]")),
    ):
        seen = {hashed(given)}
        for field in fields(given):
            value = getattr(given, field.name)
            changed = replace(given, **{field.name: value + (1 if field.name == "seq" else "x")})
            seen.add(hashed(changed))
        assert len(seen) == len(fields(given))  # of all but the hash itself, and as it was
    assert len({chain.entry(g, ROW, s) for g in "ab" for s in "cd"}) == 4


def test_texts_cannot_change_places():
    chain = Chain(None)
    one, other = replace(ROW, label="a", guarantee="bc"), replace(ROW, label="ab", guarantee="c")
    assert chain.entry("g", one, "[]") != chain.entry("g", other, "[]")
    quoted = replace(ROW, label='a","b', guarantee="c")
    assert chain.entry("g", quoted, "[]") != chain.entry("g", replace(ROW, label="a"), "[]")


def test_a_tip_is_trusted_only_if_its_hash_can_be_made_again():
    chain = Chain(None)
    genesis = chain.genesis(DATASET)
    dataset = replace(DATASET, genesis=genesis)
    made = chain.entry(genesis, ROW, '["5"]')
    row, tip = replace(ROW, hash=made), Tip("study", 1, made, '["5"]')
    chain.check_tip(dataset, tip, row)
    chain.check_tip(dataset, Tip("study", 0, genesis, '["0"]'), None)
    for wrong in (
        (dataset, replace(tip, sums='["4"]'), row),
        (dataset, replace(tip, seq=2), row),
        (dataset, replace(tip, hash="x"), row),
        (dataset, tip, replace(row, price='["0x0p0"]')),
        (dataset, tip, replace(row, hash="x")),
        (replace(dataset, total="x"), tip, row),
        (replace(dataset, genesis="x"), tip, row),
        (dataset, tip, None),
        (dataset, Tip("study", 0, genesis, '["1"]'), None),
    ):
        with pytest.raises(LedgerTamperedError, match="hashes do not match"):
            chain.check_tip(*wrong)


def test_numbers_come_back_to_the_last_bit():
    source = random.Random(2)
    for _ in range(200):
        amounts = (source.random(), 5e-324, 1.7e308, 0.1)
        assert read_amounts(written_amounts(amounts)) == amounts
        sums = (source.getrandbits(2098), 0)
        assert read_sums(written_sums(sums)) == sums
    for text in ("5", "[5]", '{"a":"b"}'):
        with pytest.raises(InvalidParameterError):
            read_sums(text)
