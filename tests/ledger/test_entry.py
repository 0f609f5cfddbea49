import pytest

from riemdp import ApproxDP, InvalidParameterError, PureDP
from riemdp.ledger._chain import Row
from riemdp.ledger._entry import CLOSE, entry_of, read_budget, written_budget
from riemdp.privacy import Anchor

BUDGET = '{"epsilon":0.1,"type":"PureDP"}'
ROW = Row("study", 3, "id", "charge", "x", BUDGET, '["0x1p-3"]', "", "now", "p", "h")


def test_a_row_is_handed_out_as_an_entry():
    entry = entry_of(ROW, "add-remove")
    assert entry.guarantee == PureDP(0.1, adjacency="add-remove")
    assert entry.price == (0.125,)
    assert entry.anchor == Anchor("study", 3, "id", "h")
    closed = entry_of(Row(**{**vars(ROW), "kind": CLOSE, "guarantee": ""}), "add-remove")
    assert closed.guarantee is None


def test_budgets_come_back_to_the_last_bit():
    for budget in (ApproxDP(0.1 + 0.2, 1e-7), PureDP(5e-324), PureDP(1.7e308)):
        assert read_budget(written_budget(budget), "replace-one") == budget
    for text in ("5", '{"type":"Sphere","dim":2}', '{"type":"missing.Definition"}'):
        with pytest.raises(InvalidParameterError):
            read_budget(text, "replace-one")
