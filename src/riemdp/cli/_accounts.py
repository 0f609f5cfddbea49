"""Ledgers, as options name them. Nothing of a database is imported before one is asked for."""

from __future__ import annotations

import contextlib
import logging
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riemdp._errors import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from riemdp.ledger import Ledger, LedgerAccount

#: Variable of the environment that names the ledger.
VARIABLE = "RIEMDP_LEDGER"
_URL_HELP = (
    "Ledger of what was charged: a file on a local disk, or postgresql+psycopg://user@host/database"
)
LedgerOption = Annotated[
    str | None, typer.Option("--ledger", envvar=VARIABLE, help=f"{_URL_HELP}.")
]
LedgerKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--ledger-key", envvar="RIEMDP_LEDGER_KEY", help="File with the secret key of the ledger."
    ),
]
DatasetOption = Annotated[
    str | None, typer.Option("--dataset", help="Data set of the ledger that is charged.")
]


def ledger_of(url: str | None, key: Path | None) -> Ledger:
    """Return the ledger that the options name; :class:`InvalidParameterError` if they name none."""
    if not url:
        raise InvalidParameterError(f"name the ledger: --ledger URL, or the variable {VARIABLE}")
    secret = None if key is None else key.read_bytes().rstrip(b"\r\n")
    try:
        from riemdp.ledger import Ledger
    except ImportError as error:
        raise InvalidParameterError(str(error)) from None
    return Ledger(url, key=secret)


def files_of(url: str | None, key: Path | None) -> tuple[Path, ...]:
    """Return the files that belong to a ledger, which no output may take the place of.

    They need not be there.
    """
    keys = () if key is None else (key,)
    scheme, separator, place = (url or "").partition("://")
    if not url or (separator and not scheme.startswith("sqlite")):
        return keys
    place = place.removeprefix("/") if separator else url
    return (*(Path(f"{place}{end}") for end in ("", "-journal", "-wal", "-shm")), *keys)


def account_of(
    url: str | None, key: Path | None, dataset: str | None, unit: str | None
) -> LedgerAccount | None:
    """Return the account that a command charges; None where no ledger is named.

    To name only one of ledger and data set is an error: what should be charged must not go
    uncharged.
    """
    if url is None:
        if dataset is not None or unit is not None:
            raise InvalidParameterError(
                f"--dataset and --unit are of a ledger: give --ledger URL, or set {VARIABLE}"
            )
        return None
    if dataset is None:
        raise InvalidParameterError(
            f"a ledger is named, by --ledger or by {VARIABLE}: say which data set is charged, "
            "--dataset NAME"
        )
    return ledger_of(url, key).account(dataset, unit=unit)


@contextlib.contextmanager
def details_in(path: Path | None) -> Iterator[None]:
    """Let the holder of the data read, in a file that nobody else can, why a release failed.

    A file that others can read is an :class:`InvalidParameterError`.
    """
    if path is None:
        yield
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags, 0o600), "a", encoding="utf-8") as opened:
        mode = os.fstat(opened.fileno()).st_mode
        if not stat.S_ISREG(mode) or (os.name == "posix" and mode & 0o077):
            raise InvalidParameterError(
                f"--details {path.name} must be a file that nobody but its owner can read: "
                "chmod 600, or name a new one"
            )
        logger = logging.getLogger("riemdp.data_holder")
        handler = logging.StreamHandler(opened)
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        logger.addHandler(handler)
        try:
            yield
        finally:
            logger.removeHandler(handler)
