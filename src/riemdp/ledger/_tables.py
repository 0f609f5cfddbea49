"""The tables, as queries see them; the scripts in ``migrations`` make them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, MetaData, Table, Text

METADATA = MetaData()


def _texts(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False) for name in names]


#: What was registered; never changed.
DATASETS = Table(
    "riemdp_datasets",
    METADATA,
    Column("name", Text, primary_key=True),
    *_texts("total", "limits", "unit", "adjacency", "algorithm", "nonce", "created", "genesis"),
)

#: What was charged; never changed, and numbered from 1 in each data set.
ENTRIES = Table(
    "riemdp_entries",
    METADATA,
    Column("dataset", Text, ForeignKey("riemdp_datasets.name"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("charge_id", Text, nullable=False, unique=True),
    *_texts("kind", "label", "guarantee", "price", "parent", "created", "previous", "hash"),
)

#: The last entry of each data set, and the exact sums of the prices up to it.
TIPS = Table(
    "riemdp_tips",
    METADATA,
    Column("dataset", Text, ForeignKey("riemdp_datasets.name"), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    *_texts("hash", "sums"),
)
