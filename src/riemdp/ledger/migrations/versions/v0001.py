"""Make the tables, and the triggers that let them grow only.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_KEPT = ("riemdp_datasets", "riemdp_entries")
_TIPS = "riemdp_tips"
_MESSAGE = "the ledger is append-only"


def upgrade() -> None:
    """Make everything."""
    op.create_table(
        "riemdp_datasets",
        sa.Column("name", sa.Text, primary_key=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in (
                "total",
                "limits",
                "unit",
                "adjacency",
                "algorithm",
                "nonce",
                "created",
                "genesis",
            )
        ),
    )
    op.create_table(
        "riemdp_entries",
        sa.Column("dataset", sa.Text, sa.ForeignKey("riemdp_datasets.name"), primary_key=True),
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("charge_id", sa.Text, nullable=False, unique=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in (
                "kind",
                "label",
                "guarantee",
                "price",
                "parent",
                "created",
                "previous",
                "hash",
            )
        ),
    )
    op.create_table(
        _TIPS,
        sa.Column("dataset", sa.Text, sa.ForeignKey("riemdp_datasets.name"), primary_key=True),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("sums", sa.Text, nullable=False),
    )
    {"sqlite": _sqlite, "postgresql": _postgresql}[op.get_bind().dialect.name]()


def _sqlite() -> None:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{_MESSAGE}'); END"
    for table in _KEPT:
        for event in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} {refuse}"
            )
    op.execute(f"CREATE TRIGGER {_TIPS}_no_delete BEFORE DELETE ON {_TIPS} {refuse}")
    op.execute(
        f"CREATE TRIGGER {_TIPS}_moves_on BEFORE UPDATE ON {_TIPS} "
        f"WHEN NEW.dataset <> OLD.dataset OR NEW.seq <> OLD.seq + 1 {refuse}"
    )


def _postgresql() -> None:
    op.execute(
        "CREATE FUNCTION riemdp_ledger_refuses() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{_MESSAGE}'; END $$"
    )
    run = "EXECUTE FUNCTION riemdp_ledger_refuses()"
    for table in _KEPT:
        op.execute(
            f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW {run}"
        )
    for table in (*_KEPT, _TIPS):
        op.execute(
            f"CREATE TRIGGER {table}_not_emptied BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT {run}"
        )
    op.execute(f"CREATE TRIGGER {_TIPS}_kept BEFORE DELETE ON {_TIPS} FOR EACH ROW {run}")
    op.execute(
        f"CREATE TRIGGER {_TIPS}_moves_on BEFORE UPDATE ON {_TIPS} FOR EACH ROW "
        f"WHEN (NEW.dataset <> OLD.dataset OR NEW.seq <> OLD.seq + 1) {run}"
    )
