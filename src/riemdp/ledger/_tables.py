"""The tables, as queries see them; the scripts in ``migrations`` make them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, MetaData, Table, Text

METADATA = MetaData()

#: What was registered; never changed.
DATASETS = Table(
    "riemdp_datasets",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("total", Text, nullable=False),
    Column("limits", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("adjacency", Text, nullable=False),
    Column("algorithm", Text, nullable=False),
    Column("nonce", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("genesis", Text, nullable=False),
)

#: What was charged; never changed, and numbered from 1 in each data set.
ENTRIES = Table(
    "riemdp_entries",
    METADATA,
    Column("dataset", Text, ForeignKey("riemdp_datasets.name"), primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("charge_id", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("guarantee", Text, nullable=False),
    Column("price", Text, nullable=False),
    Column("parent", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

#: The last entry of each data set, and the exact sums of the prices up to it.
TIPS = Table(
    "riemdp_tips",
    METADATA,
    Column("dataset", Text, ForeignKey("riemdp_datasets.name"), primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
    Column("sums", Text, nullable=False),
)
