"""Stored releases of every kind: the same seed draws the same release."""

import copy

import pytest

import golden

STORED = golden.read()
CASES = {case.name: case for case in golden.cases()}
BITS = golden.environment() == STORED["environment"]


@pytest.mark.fast(40)
@pytest.mark.parametrize("name", STORED["documents"])
def test_a_stored_release_is_drawn_again(name):
    found = golden.drawn(CASES[name], STORED["inputs"])
    assert list(golden.differences(found, STORED["documents"][name], bits=BITS)) == []


def test_a_change_is_seen():
    document = STORED["documents"]["mean/LE3/tangent-gaussian"]
    assert list(golden.differences(document, document, bits=True)) == []
    for bits, wrong in ((True, 1), (False, golden.STEPS + 1)):
        changed = copy.deepcopy(document)
        changed["rounded"][0] += wrong
        assert len(list(golden.differences(changed, document, bits=bits))) == 1
        changed = copy.deepcopy(document)
        changed["header"]["queries"][0]["sigma"] *= 1 + 1e-8
        assert len(list(golden.differences(changed, document, bits=bits))) == 1
        changed = copy.deepcopy(document)
        del changed["header"]["proofs"]
        assert len(list(golden.differences(changed, document, bits=bits))) == 1
    near = copy.deepcopy(document)
    near["rounded"][0] += golden.STEPS
    assert list(golden.differences(near, document, bits=False)) == []
