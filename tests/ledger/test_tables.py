from dataclasses import fields

from riemdp.ledger._chain import Dataset, Row, Tip
from riemdp.ledger._tables import DATASETS, ENTRIES, TIPS


def test_a_row_has_a_column_for_each_field():
    for kind, table in ((Dataset, DATASETS), (Row, ENTRIES), (Tip, TIPS)):
        assert [field.name for field in fields(kind)] == list(table.c.keys())
    assert [column.name for column in ENTRIES.primary_key] == ["dataset", "seq"]
