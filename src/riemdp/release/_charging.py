"""Accounts are charged before data are looked at, and nothing is said of what goes wrong then."""

from __future__ import annotations

import contextlib
import logging
from typing import TYPE_CHECKING, TypeVar

from riemdp._checks import shown
from riemdp._discreet import FROM_OUTSIDE, silence
from riemdp._errors import (
    DatasetMismatchError,
    InvalidParameterError,
    ReleaseFailedError,
    UnsupportedNeighboursError,
)
from riemdp._progress import uncounted
from riemdp.privacy import Anchor

if TYPE_CHECKING:
    from collections.abc import Callable

    from riemdp.privacy import Budget
    from riemdp.release._options import SupportsSpend
    from riemdp.statistics import Neighbours

T = TypeVar("T")

#: Where the holder of the data reads why a release failed. Nothing is written by default.
HOLDER = logging.getLogger("riemdp.data_holder")
HOLDER.addHandler(logging.NullHandler())
HOLDER.propagate = False  # a service may show, or send, what other loggers write
#: The one thing that is said of a release that failed after its charge.
_FAILED = (
    "the release failed after it was charged, and nothing was released; the charge stays. Why may "
    'tell of the data, so that only their holder reads it: in the logger "riemdp.data_holder", or '
    "before a release with riemdp.check"
)
#: A unit that is no person with several records.
_RECORD = "record"


def is_durable(accountant: object) -> bool:
    """Whether an account outlives the process, and is one of those of a ledger.

    Parameters
    ----------
    accountant : object
        Its attribute ``durable`` says so.

    Returns
    -------
    bool
    """
    return getattr(accountant, "durable", False) is True


def anchored(entry: object) -> Anchor | None:
    """Return the anchor of what an account gave back for a charge; None where it has none."""
    found = getattr(entry, "anchor", None)
    return found if isinstance(found, Anchor) else None


def charged(accountant: SupportsSpend | None, guarantee: Budget, label: str) -> Anchor | None:
    """Charge an account, where there is one, and return the anchor of the charge, if it has one."""
    return None if accountant is None else anchored(accountant.spend(guarantee, label))


def check_anchor(anchor: object) -> None:
    """Refuse what is no anchor that a document could state."""
    if not isinstance(anchor, Anchor):
        raise InvalidParameterError(f"anchor must be a riemdp.privacy.Anchor, got {shown(anchor)}")
    Anchor.from_document(anchor.document())


def check_relation(accountant: object, neighbours: Neighbours) -> None:
    """Refuse an account that adds up guarantees about other data sets, or about other units."""
    said = getattr(accountant, "adjacency", None)
    unsaid = said is None and neighbours.implies_replace_one and not is_durable(accountant)
    dry = accountant is None or isinstance(accountant, DryRun)
    if not (dry or unsaid or said == neighbours.adjacency):
        raise UnsupportedNeighboursError(
            f"{neighbours.name} does not promise a guarantee about {said or 'replace-one'} data "
            "sets, which this account adds up; release without one, or with one of that "
            f'adjacency: Accountant(total, adjacency="{neighbours.adjacency}")'
        )
    if "users" in neighbours.takes and getattr(accountant, "unit", None) == _RECORD:
        raise DatasetMismatchError(
            f"the account is of a data set whose unit is {_RECORD!r}, and {neighbours.title} is "
            "about people with all their records; register the data set with that unit"
        )


class DryRun:
    """Stands for an account in :func:`riemdp.check`: where one is charged records are read."""

    def spend(self, guarantee: Budget, label: str) -> None:
        """Charge nothing."""


class Checked(Exception):  # noqa: N818 -- what it tells is no error
    """The end of a dry run in which nothing was wrong."""


def after_charge(
    accountant: object,
    charge: Callable[[], Anchor | None],
    work: Callable[[Anchor | None], T],
    *,
    read: Callable[[], object],
    but: tuple[type[Exception], ...] = (),
) -> T:
    """Charge, and then do all that touches records.

    With an account whatever goes wrong from then on is one error; the errors ``but`` stay what they
    are, as they cannot tell of the data. Without one whoever calls holds the data, and is told. In
    a dry run records are read, and then :class:`Checked` is raised.
    """
    if isinstance(accountant, DryRun):
        read()
        raise Checked
    anchor = charge()
    if accountant is None:
        return work(anchor)
    return _failing_alike(lambda: work(anchor), anchor, (ReleaseFailedError, *FROM_OUTSIDE, *but))


def _failing_alike(
    work: Callable[[], T], anchor: Anchor | None, passes: tuple[type[BaseException], ...]
) -> T:
    """Do what a charge has paid for; whatever goes wrong is one error that tells nothing.

    Warnings are dropped: they may tell of the data as errors do. The anchor of the charge is for
    the holder of the data. The errors ``passes`` stay what they are; in place of every other one
    there is ``ReleaseFailedError``.
    """
    try:
        with silence(), uncounted(True):  # where it ends would tell why
            return work()
    except passes:
        raise
    except BaseException as error:  # an iterator of the caller's may end the process, or panic
        failure = error
    # Out of the handler: nothing that is raised, or printed by a log that fails, has this context.
    where = "" if anchor is None else f" (charge {anchor.seq} of {anchor.dataset!r})"
    with contextlib.suppress(Exception):  # a full disk of the holder's changes nothing here
        # not HOLDER.error: another thread may read a file, which switches logs off
        why = type(failure), failure, failure.__traceback__
        said = "a release failed after its charge%s"
        HOLDER.handle(
            HOLDER.makeRecord(HOLDER.name, logging.ERROR, __file__, 0, said, (where,), why)
        )
    del failure
    raise ReleaseFailedError(_FAILED)
