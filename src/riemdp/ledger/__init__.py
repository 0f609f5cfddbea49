"""Accounts that outlive the process: a ledger of all that was charged, in a database.

They need the extra ``riemdp[ledger]``: SQLite for one machine, PostgreSQL for several.
"""

try:
    import importlib.metadata as _metadata

    import sqlalchemy as _sqlalchemy  # noqa: F401

    _metadata.version("alembic")  # which is slow to import, and needed for new tables alone
except ImportError as _error:
    raise ImportError(
        f'riemdp.ledger needs an extra ({_error}): pip install "riemdp[ledger]"'
    ) from _error

from riemdp.ledger._account import LedgerAccount, LedgerReservation
from riemdp.ledger._entry import Entry
from riemdp.ledger._ledger import Ledger
from riemdp.ledger._verify import Finding, Verification

__all__ = ["Entry", "Finding", "Ledger", "LedgerAccount", "LedgerReservation", "Verification"]
